//! The values of a configuration file, each checked where it is read, so that an error has a line and a column.
//!
//! serde_json gives an error the place at which a visitor raised it. A check made after the value was read would get
//! the place where the object around it ends, so every check here is inside a visitor.

use crate::model::time::MAX_DURATION_MS;
use crate::model::{LaneName, Name};
use crate::store::object::Object;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

/// A value that is one JSON number or string.
pub(super) trait Scalar: Sized {
    /// What it should be, to end the sentence "expected …".
    const EXPECTED: &'static str;
    /// Takes a whole number.
    fn whole(_number: u64) -> Option<Self> {
        None
    }
    /// Takes a number with a fraction, or one too large for `whole`.
    fn fraction(_number: f64) -> Option<Self> {
        None
    }
    /// Takes a string; the error says what is wrong with it. `Ok(None)` means that no string is right.
    fn text(_text: &str) -> Result<Option<Self>, String> {
        Ok(None)
    }
}

/// A checked scalar.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Is<T>(pub(super) T);

impl<'de, T: Scalar> Deserialize<'de> for Is<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ScalarVisitor(PhantomData))
    }
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<T: Scalar> Visitor<'_> for ScalarVisitor<T> {
    type Value = Is<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Is<T>, E> {
        let wrong = || E::invalid_value(Unexpected::Unsigned(number), &self);
        T::whole(number).map(Is).ok_or_else(wrong)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Is<T>, E> {
        Err(E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Is<T>, E> {
        let wrong = || E::invalid_value(Unexpected::Float(number), &self);
        T::fraction(number).map(Is).ok_or_else(wrong)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Is<T>, E> {
        match T::text(text) {
            Ok(Some(value)) => Ok(Is(value)),
            Ok(None) => Err(E::invalid_type(Unexpected::Str(text), &self)),
            Err(message) => Err(E::custom(message)),
        }
    }
}

/// The version of the file's format.
pub(super) struct Version;

impl Scalar for Version {
    const EXPECTED: &'static str = "version 1, the only one this luzia knows";
    fn whole(number: u64) -> Option<Self> {
        (number == 1).then_some(Self)
    }
}

/// How many at once.
pub(super) struct Count(pub(super) u32);

impl Scalar for Count {
    const EXPECTED: &'static str = "a whole number from 1 to 4294967295";
    fn whole(number: u64) -> Option<Self> {
        let count = u32::try_from(number).ok()?;
        (count >= 1).then_some(Self(count))
    }
}

/// A tier's share of the grants.
pub(super) struct Share(pub(super) u32);

impl Scalar for Share {
    const EXPECTED: &'static str = "a share, a whole number from 1 to 1000000";
    fn whole(number: u64) -> Option<Self> {
        let share = u32::try_from(number).ok()?;
        (1..=1_000_000).contains(&share).then_some(Self(share))
    }
}

/// How many bytes the logs of a task may take; 0 for no limit.
pub(super) struct Room(pub(super) u64);

impl Scalar for Room {
    const EXPECTED: &'static str = "a number of bytes from 1048576 (1 MiB) to 2^53, or 0 for no limit";
    fn whole(number: u64) -> Option<Self> {
        (number == 0 || (1 << 20..=1 << 53).contains(&number)).then_some(Self(number))
    }
}

/// A user's weight.
pub(super) struct Weight(pub(super) u32);

impl Scalar for Weight {
    const EXPECTED: &'static str = "a weight, a whole number from 1 to 1000";
    fn whole(number: u64) -> Option<Self> {
        let weight = u32::try_from(number).ok()?;
        (1..=1000).contains(&weight).then_some(Self(weight))
    }
}

/// A length of time, given in seconds and kept in milliseconds.
pub(super) struct Time(pub(super) u64);

impl Scalar for Time {
    const EXPECTED: &'static str = "a number of seconds from 0.001 to 100 years (3153600000)";

    fn whole(number: u64) -> Option<Self> {
        let ms = number.checked_mul(1000)?;
        (1..=MAX_DURATION_MS).contains(&ms).then_some(Self(ms))
    }

    fn fraction(number: f64) -> Option<Self> {
        let ms = (number * 1000.0).round();
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let value = (ms >= 1.0 && ms <= MAX_DURATION_MS as f64).then_some(Self(ms as u64));
        value
    }
}

/// A name that is kept as text: of a project, or of an account.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text(pub(super) String);

impl Scalar for Text {
    const EXPECTED: &'static str = "a name";
    fn text(text: &str) -> Result<Option<Self>, String> {
        let name = Name::new(text).map_err(|error| error.to_string())?;
        Ok(Some(Self(name.as_str().to_owned())))
    }
}

/// The name of a user.
pub(super) struct UserName(pub(super) Name);

impl Scalar for UserName {
    const EXPECTED: &'static str = "the name of a user";
    fn text(text: &str) -> Result<Option<Self>, String> {
        let name = Name::new(text).map_err(|error| error.to_string())?;
        Ok(Some(Self(name)))
    }
}

/// An absolute path, in which `{project}` and `{user}` may stand for names.
pub(super) struct Directory(pub(super) String);

impl Scalar for Directory {
    const EXPECTED: &'static str = "the absolute path of a directory";
    fn text(text: &str) -> Result<Option<Self>, String> {
        if !text.starts_with('/') {
            return Err(format!("{text:?} is not an absolute path"));
        }
        if text.chars().any(char::is_control) {
            return Err(format!("{text:?} holds control characters"));
        }
        let rest = text.replace("{project}", "").replace("{user}", "");
        if rest.contains(['{', '}']) {
            return Err(format!("{text:?} holds braces that are neither {{project}} nor {{user}}"));
        }
        Ok(Some(Self(text.to_owned())))
    }
}

/// The command for `--prompt`.
pub(super) struct Agent(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Agent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(AgentVisitor)
    }
}

struct AgentVisitor;

impl<'de> Visitor<'de> for AgentVisitor {
    type Value = Agent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings such as [\"claude\", \"-p\", \"{prompt}\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Agent, A::Error> {
        let mut argv: Vec<String> = Vec::new();
        while let Some(item) = seq.next_element::<String>()? {
            if item.contains('\0') {
                return Err(Error::custom("an argument cannot hold a NUL character"));
            }
            argv.push(item);
        }
        match argv.split_first() {
            None => Err(Error::custom("the agent's command is empty")),
            Some((program, _)) if program.is_empty() || program.contains("{prompt}") => {
                Err(Error::custom("the agent's command does not name a program"))
            }
            Some(_) => Ok(Agent(argv)),
        }
    }
}

/// Rules by lane or pattern, under the one spelling that a lane's name has (`lane:cron` is `cron`).
pub(super) struct Lanes<T>(pub(super) BTreeMap<String, T>);

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lanes<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(LanesVisitor(PhantomData))
    }
}

struct LanesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LanesVisitor<T> {
    type Value = Lanes<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with lanes as keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Lanes<T>, A::Error> {
        let mut lanes = BTreeMap::new();
        while let Some(given) = map.next_key::<String>()? {
            let name = lane_or_pattern(&given).map_err(Error::custom)?;
            if lanes.contains_key(&name) {
                let message = format!("{given:?} is a second name of the lane {name:?}");
                return Err(Error::custom(message));
            }
            lanes.insert(name, map.next_value::<Object<T>>()?.0);
        }
        Ok(Lanes(lanes))
    }
}

/// The one spelling of a lane's name, or of a pattern that ends in `*`.
fn lane_or_pattern(given: &str) -> Result<String, String> {
    let wrong = |why: String| format!("{given:?} is not a lane: {why}");
    let Some(prefix) = given.strip_suffix('*') else {
        if given.contains('*') {
            return Err(wrong("a \"*\" can only be its last character".to_owned()));
        }
        let lane = LaneName::parse(given).map_err(|error| wrong(error.to_string()))?;
        return Ok(lane.to_string());
    };
    if prefix.contains('*') {
        return Err(wrong("a \"*\" can only be its last character".to_owned()));
    }
    if prefix == "lane:" {
        return Err(wrong("no pattern stands for all lanes without a kind".to_owned()));
    }
    // The pattern is right when some name that it stands for is right.
    let example = LaneName::parse(&format!("{prefix}x")).map_err(|error| wrong(error.to_string()))?;
    let example = example.to_string();
    let prefix = example.strip_suffix('x').unwrap_or(&example);
    Ok(format!("{prefix}*"))
}

/// Any JSON text in which no object has a key twice.
pub(super) struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Unique, A::Error> {
        while seq.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(Error::custom(format!("the key {key:?} is given twice")));
            }
            keys.insert(key);
            map.next_value::<Unique>()?;
        }
        Ok(Unique)
    }
}

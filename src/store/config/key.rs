//! A key of the configuration: how its value is checked, taken and shown, and what luzia-config(5) says of it.

use super::kind::{Kind, milliseconds, words};
use crate::model::Name;
use serde_json::{Map, Value, json};

/// A key of an object that is read into a `T`. A dot in its name leads into an inner object.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Takes a value that was checked.
    set: fn(&mut T, &Value),
    /// Gives the value as it is written; null where none is set.
    get: fn(&T) -> Value,
    pub(super) words: Words,
}

/// What luzia-config(5) and the schema say of a key.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// What it does, as sentences.
    pub(super) meaning: &'static str,
    /// When a changed value takes effect.
    pub(super) effect: &'static str,
    /// A value as JSON.
    pub(super) example: &'static str,
    /// The default in words, where it is not the value that the built-in configuration shows.
    pub(super) default: Option<&'static str>,
}

/// The effect of a key that does not name another.
pub(super) const NEXT_COMMAND: &str = "with the next command, and in a daemon or supervisor with its next pass";

pub(super) const fn key<T>(name: &'static str, kind: Kind, set: fn(&mut T, &Value), get: fn(&T) -> Value) -> Key<T> {
    Key { name, kind, set, get, words: Words { meaning: "", effect: NEXT_COMMAND, example: "", default: None } }
}

/// Documents a key: what it does, when a change takes effect, and a value as JSON.
pub(super) const fn says<T>(
    mut key: Key<T>,
    meaning: &'static str,
    effect: &'static str,
    example: &'static str,
) -> Key<T> {
    (key.words.meaning, key.words.effect, key.words.example) = (meaning, effect, example);
    key
}

/// Names a default that is no single value.
pub(super) const fn by_default<T>(mut key: Key<T>, words: &'static str) -> Key<T> {
    key.words.default = Some(words);
    key
}

impl<T> Key<T> {
    /// The value in `from` as it is written; null where none is set.
    pub(super) fn value_in(&self, from: &T) -> Value {
        (self.get)(from)
    }

    /// Checks a value and takes it; null stands for what is not said.
    pub(super) fn read(&self, into: &mut T, value: &Value) -> Result<(), String> {
        if !value.is_null() {
            self.kind.check(value)?;
            (self.set)(into, value);
        }
        Ok(())
    }
}

/// What is set, as it is written.
pub(super) fn to_json<T>(keys: &[Key<T>], from: &T) -> Value {
    let mut out = Map::new();
    for key in keys {
        let value = key.value_in(from);
        if value.is_null() {
            continue;
        }
        match key.name.split_once('.') {
            None => out.insert(key.name.to_owned(), value),
            Some((group, name)) => {
                let group = out.entry(group).or_insert_with(|| json!({}));
                group.as_object_mut().and_then(|group| group.insert(name.to_owned(), value))
            }
        };
    }
    Value::Object(out)
}

pub(super) fn objects<T>(all: &std::collections::BTreeMap<String, T>, keys: &[Key<T>]) -> Value {
    all.iter().map(|(name, one)| (name.clone(), to_json(keys, one))).collect::<Map<_, _>>().into()
}

/// Reads options of the command line, each with the key of the file that it stands for. An error names the option: `--max`
/// for `max`, `--lock-timeout` for `lock_timeout_seconds`.
pub(super) fn read_options<T>(keys: &[Key<T>], options: &[(&str, &str)], into: &mut T) -> Result<(), String> {
    for (name, text) in options {
        let option = name.strip_suffix("_seconds").unwrap_or(name).replace('_', "-");
        let known = keys.iter().find(|key| key.name == *name);
        let key = known.ok_or_else(|| format!("there is no rule \"{option}\""))?;
        let value = key.kind.value_of(text);
        let shown: String = text.chars().take(80).collect();
        key.read(into, &value).map_err(|why| match key.kind.explains() {
            true => format!("--{option}: {why}"),
            false => format!("--{option} is {}, not {shown:?}", key.kind.written()),
        })?;
    }
    Ok(())
}

pub(super) fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or_default()
}

pub(super) fn whole(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}

pub(super) fn word<T: Copy>(words: &[(&str, T)], value: &Value) -> Option<T> {
    words.iter().find(|(word, _)| *value == *word).map(|(_, meant)| *meant)
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn names(value: &Value) -> Vec<Name> {
    words(value).unwrap_or_default().iter().filter_map(|name| Name::new(name).ok()).collect()
}

pub(super) fn known(names: &[Name]) -> Value {
    match names {
        [] => Value::Null,
        names => names.iter().map(Name::as_str).collect(),
    }
}

pub(super) fn texts(value: &Value) -> Vec<String> {
    words(value).unwrap_or_default()
}

pub(super) fn patterns(patterns: &[String]) -> Value {
    if patterns.is_empty() { Value::Null } else { json!(patterns) }
}

pub(super) fn time(value: &Value) -> u64 {
    milliseconds(value).unwrap_or_default()
}

/// Milliseconds as a number of seconds, whole where it is whole.
pub(super) fn seconds(ms: u64) -> Value {
    if ms.is_multiple_of(1000) {
        return json!(ms / 1000);
    }
    // Exact to the millisecond: accepted times are far below 2^53 milliseconds.
    #[allow(clippy::cast_precision_loss)]
    let ms = ms as f64;
    json!(ms / 1000.0)
}

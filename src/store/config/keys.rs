//! The keys of the configuration file: a row for each, by which it is checked, read and shown.

use crate::model::Name;
use crate::model::config::{Config, Contexts, LaneRule, Project};
use crate::model::time::MAX_DURATION_MS;
use serde_json::{Map, Value, json};

/// A key of an object that is read into a `T`. A dot in its name leads into an inner object.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    kind: Kind,
    /// Takes a value that was checked.
    set: fn(&mut T, &Value),
    /// Gives the value as it is written; null where none is set.
    get: fn(&T) -> Value,
}

/// What a value may be.
#[derive(Clone, Copy)]
enum Kind {
    Version,
    Flag,
    /// A whole number from 1 to the second, in words the first.
    Whole(&'static str, u32),
    /// A number of bytes, or 0 for no limit.
    Room,
    /// A number of seconds, kept in milliseconds.
    Seconds,
    Text,
    /// One of a few words, as the first string lists them.
    Word(&'static str, &'static [&'static str]),
    /// A name, and whose.
    Name(&'static str),
    /// A list of names.
    Names,
    /// A list of patterns of commands.
    Patterns,
    /// An absolute path, in which `{project}` and `{user}` may stand for names.
    Directory,
    /// A program and its arguments.
    Command,
    /// An object with names of the user's choice as keys.
    Objects,
}

const COUNT: Kind = Kind::Whole("a whole number from 1 to 4294967295", u32::MAX);
const SHARE: Kind = Kind::Whole("a share, a whole number from 1 to 1000000", 1_000_000);
const WEIGHT: Kind = Kind::Whole("a weight, a whole number from 1 to 1000", 1000);

const fn key<T>(name: &'static str, kind: Kind, set: fn(&mut T, &Value), get: fn(&T) -> Value) -> Key<T> {
    Key { name, kind, set, get }
}

/// The file itself. What `projects` and `lanes` hold is read by [`PROJECT`] and [`RULE`].
pub(super) const FILE: &[Key<Config>] = &[
    key("$schema", Kind::Text, |_, _| {}, |_| Value::Null),
    key("v", Kind::Version, |_, _| {}, |_| Value::Null),
    key(
        "per_user_serialization.enabled",
        Kind::Flag,
        |config, value| config.serialize_users = flag(value),
        |config| json!(config.serialize_users),
    ),
    key(
        "per_user_serialization.lock_timeout_seconds",
        Kind::Seconds,
        |config, value| config.lock_timeout_ms = time(value),
        |config| seconds(config.lock_timeout_ms),
    ),
    key("slots.max", COUNT, |config, value| config.slots_max = whole(value), |config| json!(config.slots_max)),
    key("projects", Kind::Objects, |_, _| {}, |config| objects(&config.projects, PROJECT)),
    key("lanes", Kind::Objects, |_, _| {}, |config| objects(&config.lanes, RULE)),
    key("tier_shares.high", SHARE, |it, value| it.tier_shares[0] = whole(value), |it| json!(it.tier_shares[0])),
    key("tier_shares.normal", SHARE, |it, value| it.tier_shares[1] = whole(value), |it| json!(it.tier_shares[1])),
    key("tier_shares.low", SHARE, |it, value| it.tier_shares[2] = whole(value), |it| json!(it.tier_shares[2])),
    key("retention.days", COUNT, |it, value| it.retention_days = whole(value), |it| json!(it.retention_days)),
    key("retention.tasks", COUNT, |it, value| it.retention_tasks = whole(value), |it| json!(it.retention_tasks)),
    key(
        "poll_interval_seconds",
        Kind::Seconds,
        |config, value| config.poll_interval_ms = time(value),
        |config| seconds(config.poll_interval_ms),
    ),
    key(
        "logs.max_bytes",
        Kind::Room,
        |it, value| it.logs_max_bytes = value.as_u64().unwrap_or_default(),
        |it| json!(it.logs_max_bytes),
    ),
    key(
        "dispatch.contexts",
        Kind::Word("\"same\" or \"any\"", &["same", "any"]),
        |it, value| it.contexts = if value == "any" { Contexts::Any } else { Contexts::Same },
        |it| json!(it.contexts.word()),
    ),
    key("users.known", Kind::Names, |it, value| it.users_known = names(value), |it| known(&it.users_known)),
    key("mcp.allow", Kind::Patterns, |it, value| it.mcp_allow = texts(value), |it| patterns(&it.mcp_allow)),
    key("mcp.env", Kind::Patterns, |it, value| it.mcp_env = texts(value), |it| patterns(&it.mcp_env)),
    key("allow_root", Kind::Flag, |it, value| it.allow_root = flag(value), |it| json!(it.allow_root)),
    key("allow_loader_env", Kind::Flag, |it, value| it.allow_loader_env = flag(value), |it| json!(it.allow_loader_env)),
];

/// A project.
pub(super) const PROJECT: &[Key<Project>] = &[
    key(
        "user",
        Kind::Name("the name of a user"),
        |project, value| project.user = value.as_str().and_then(|name| Name::new(name).ok()),
        |project| json!(project.user.as_ref().map(Name::as_str)),
    ),
    key("conductor_dir", Kind::Directory, |it, value| it.conductor_dir = text(value), |it| json!(it.conductor_dir)),
    key("agent", Kind::Command, |it, value| it.agent = words(value), |it| json!(it.agent)),
    key("run_as", Kind::Name("a name"), |it, value| it.run_as = text(value), |it| json!(it.run_as)),
];

/// The rule of a lane or of a pattern of lanes.
pub(super) const RULE: &[Key<LaneRule>] = &[
    key("max", COUNT, |rule, value| rule.max = Some(whole(value)), |rule| json!(rule.max)),
    key("weight", WEIGHT, |rule, value| rule.weight = Some(whole(value)), |rule| json!(rule.weight)),
    key(
        "lock_timeout_seconds",
        Kind::Seconds,
        |rule, value| rule.lock_timeout_ms = Some(time(value)),
        |rule| rule.lock_timeout_ms.map_or(Value::Null, seconds),
    ),
];

impl<T> Key<T> {
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
        let value = (key.get)(from);
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

fn objects<T>(all: &std::collections::BTreeMap<String, T>, keys: &[Key<T>]) -> Value {
    all.iter().map(|(name, one)| (name.clone(), to_json(keys, one))).collect::<Map<_, _>>().into()
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Self::Version => "version 1, the only one this luzia knows",
            Self::Flag => "a boolean",
            Self::Whole(what, _) | Self::Name(what) | Self::Word(what, _) => what,
            Self::Seconds => "a number of seconds from 0.001 to 100 years (3153600000)",
            Self::Room => "a number of bytes from 1048576 (1 MiB) to 2^53, or 0 for no limit",
            Self::Text => "a string",
            Self::Names => "a list of names of users such as [\"alice\", \"bob\"]",
            Self::Patterns => "a list of patterns such as [\"cargo *\", \"make\"]",
            Self::Directory => "the absolute path of a directory",
            Self::Command => "a list of strings such as [\"claude\", \"-p\", \"{prompt}\"]",
            Self::Objects => "an object",
        }
    }

    fn check(self, value: &Value) -> Result<(), String> {
        let is_right = match (self, value) {
            (Self::Version, _) => *value == json!(1),
            (Self::Whole(_, most), _) => value.as_u64().is_some_and(|number| (1..=most.into()).contains(&number)),
            (Self::Seconds, _) => milliseconds(value).is_some(),
            (Self::Room, _) => value.as_u64().is_some_and(|bytes| bytes == 0 || (1 << 20..=1 << 53).contains(&bytes)),
            (Self::Word(_, words), _) => value.as_str().is_some_and(|word| words.contains(&word)),
            (Self::Name(_), Value::String(text)) => {
                return Name::new(text).map(drop).map_err(|error| error.to_string());
            }
            (Self::Names, Value::Array(items)) => {
                let names = || items.iter().map(|item| item.as_str().and_then(|name| Name::new(name).ok()));
                !items.is_empty() && names().all(|name| name.is_some())
            }
            (Self::Patterns, Value::Array(items)) => {
                !items.is_empty() && items.iter().all(|item| item.as_str().is_some_and(is_pattern))
            }
            (Self::Directory, Value::String(text)) => return check_directory(text),
            (Self::Command, _) if words(value).is_some() => return check_command(&words(value).unwrap_or_default()),
            (Self::Flag, Value::Bool(_)) | (Self::Text, Value::String(_)) | (Self::Objects, Value::Object(_)) => true,
            _ => false,
        };
        if is_right { Ok(()) } else { Err(unexpected(value, self.expected())) }
    }
}

/// Says that a value is not what it should be.
pub(super) fn unexpected(value: &Value, expected: &str) -> String {
    let found = match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("{text:?}"),
        scalar => scalar.to_string(),
    };
    format!("expected {expected}, not {found}")
}

fn check_directory(text: &str) -> Result<(), String> {
    if !text.starts_with('/') {
        return Err(format!("{text:?} is not an absolute path"));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{text:?} holds control characters"));
    }
    if text.replace("{project}", "").replace("{user}", "").contains(['{', '}']) {
        return Err(format!("{text:?} holds braces that are neither {{project}} nor {{user}}"));
    }
    Ok(())
}

fn check_command(argv: &[String]) -> Result<(), String> {
    if argv.iter().any(|argument| argument.contains('\0')) {
        return Err("an argument cannot hold a NUL character".to_owned());
    }
    match argv.first() {
        None => Err("the agent's command is empty".to_owned()),
        Some(program) if program.is_empty() || program.contains("{prompt}") => {
            Err("the agent's command does not name a program".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or_default()
}

fn whole(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

fn names(value: &Value) -> Vec<Name> {
    words(value).unwrap_or_default().iter().filter_map(|name| Name::new(name).ok()).collect()
}

fn known(names: &[Name]) -> Value {
    match names {
        [] => Value::Null,
        names => names.iter().map(Name::as_str).collect(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    words(value).unwrap_or_default()
}

fn patterns(patterns: &[String]) -> Value {
    if patterns.is_empty() { Value::Null } else { json!(patterns) }
}

fn is_pattern(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn time(value: &Value) -> u64 {
    milliseconds(value).unwrap_or_default()
}

/// The milliseconds of a number of seconds within the limits.
fn milliseconds(value: &Value) -> Option<u64> {
    let ms = match value.as_u64() {
        Some(seconds) => seconds.checked_mul(1000)?,
        None => {
            let ms = (value.as_f64()? * 1000.0).round();
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let whole = (ms >= 1.0 && ms <= MAX_DURATION_MS as f64).then_some(ms as u64)?;
            whole
        }
    };
    (1..=MAX_DURATION_MS).contains(&ms).then_some(ms)
}

/// Milliseconds as a number of seconds, whole where it is whole.
fn seconds(ms: u64) -> Value {
    if ms.is_multiple_of(1000) {
        return json!(ms / 1000);
    }
    // Exact to the millisecond: accepted times are far below 2^53 milliseconds.
    #[allow(clippy::cast_precision_loss)]
    let ms = ms as f64;
    json!(ms / 1000.0)
}

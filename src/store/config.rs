//! The configuration file: JSON text in, [`Config`] and warnings out, and back.
//!
//! Opens no file. What is wrong is refused with the line and column at which it stands; what is merely unknown is kept
//! out of the way with a warning, so that a newer configuration can be read by an older luzia.

use super::object::Object;
use crate::model::config::{Config, LaneRule, Project};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use values::{Agent, Count, Directory, Is, Lanes, Room, Share, Text, Time, Unique, UserName, Version, Weight};

mod values;

/// A configuration that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The values, with defaults for what the text does not say.
    pub config: Config,
    /// A sentence for each key that has no effect.
    pub warnings: Vec<String>,
}

/// Why a configuration was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ConfigError {
    /// What is wrong, without the place.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1; just behind what is wrong.
    pub column: usize,
}

/// Reads a configuration. A key given twice, a wrong type or a wrong value is an error; an unknown key is a warning.
pub fn parse(text: &[u8]) -> Result<Parsed, ConfigError> {
    let at_start = |message: &str| ConfigError { message: message.to_owned(), line: 1, column: 1 };
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(at_start("the file begins with a byte order mark; save it as UTF-8 without one"));
    }
    if text.trim_ascii().is_empty() {
        return Err(at_start("the file is empty; write {} for the built-in defaults"));
    }
    // Twice: serde sees a key given twice only where it knows the key, and then not in maps.
    serde_json::from_slice::<Unique>(text).map_err(ConfigError::from)?;
    let mut warnings = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let file: Object<File> = serde_ignored::deserialize(&mut reader, |path| {
        warnings.push(unknown_key(&keys_of(&path)));
    })?;
    let config = file.0.into_config();
    if config.lanes.get("global").is_some_and(|r| r.max.is_some()) {
        warnings.push("\"lanes.global.max\" has no effect; set \"slots.max\"".to_owned());
    }
    Ok(Parsed { config, warnings })
}

/// A configuration as JSON, for `config show`: every value in effect, and [`parse`] reads it back.
pub fn to_json(config: &Config) -> Value {
    let [high, normal, low] = config.tier_shares;
    let projects: Map<String, Value> =
        config.projects.iter().map(|(name, project)| (name.clone(), project_json(project))).collect();
    let lanes: Map<String, Value> = config.lanes.iter().map(|(name, rule)| (name.clone(), rule_json(rule))).collect();
    json!({
        "per_user_serialization": {
            "enabled": config.serialize_users,
            "lock_timeout_seconds": seconds(config.lock_timeout_ms),
        },
        "slots": { "max": config.slots_max },
        "projects": projects,
        "lanes": lanes,
        "tier_shares": { "high": high, "normal": normal, "low": low },
        "retention": { "days": config.retention_days, "tasks": config.retention_tasks },
        "logs": { "max_bytes": config.logs_max_bytes },
        "poll_interval_seconds": seconds(config.poll_interval_ms),
        "allow_root": config.allow_root,
        "allow_loader_env": config.allow_loader_env,
    })
}

/// The file as it is written. Every member may be missing.
#[derive(Deserialize, Default)]
#[serde(default)]
struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    #[serde(rename = "v")]
    _version: Option<Is<Version>>,
    per_user_serialization: Object<PerUser>,
    slots: Object<Slots>,
    projects: BTreeMap<Is<Text>, Object<ProjectFile>>,
    lanes: Lanes<RuleFile>,
    tier_shares: Object<Shares>,
    retention: Object<Retention>,
    logs: Object<Logs>,
    poll_interval_seconds: Option<Is<Time>>,
    allow_root: bool,
    allow_loader_env: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PerUser {
    enabled: Option<bool>,
    lock_timeout_seconds: Option<Is<Time>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Slots {
    max: Option<Is<Count>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Shares {
    high: Option<Is<Share>>,
    normal: Option<Is<Share>>,
    low: Option<Is<Share>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Retention {
    days: Option<Is<Count>>,
    tasks: Option<Is<Count>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Logs {
    max_bytes: Option<Is<Room>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ProjectFile {
    user: Option<Is<UserName>>,
    conductor_dir: Option<Is<Directory>>,
    agent: Option<Agent>,
    run_as: Option<Is<Text>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RuleFile {
    max: Option<Is<Count>>,
    weight: Option<Is<Weight>>,
    lock_timeout_seconds: Option<Is<Time>>,
}

impl File {
    fn into_config(self) -> Config {
        let default = Config::default();
        let (users, shares) = (self.per_user_serialization.0, self.tier_shares.0);
        let [high, normal, low] = default.tier_shares;
        let share = |given: Option<Is<Share>>, default| given.map_or(default, |share| share.0.0);
        let time = |given: Option<Is<Time>>, default| given.map_or(default, |time| time.0.0);
        let projects = self.projects.into_iter();
        let lanes = self.lanes.0.into_iter();
        Config {
            serialize_users: users.enabled.unwrap_or(default.serialize_users),
            lock_timeout_ms: time(users.lock_timeout_seconds, default.lock_timeout_ms),
            slots_max: self.slots.0.max.map_or(default.slots_max, |max| max.0.0),
            projects: projects.map(|(name, project)| (name.0.0, project.0.into_project())).collect(),
            lanes: lanes.map(|(name, rule)| (name, rule.into_rule())).collect(),
            tier_shares: [share(shares.high, high), share(shares.normal, normal), share(shares.low, low)],
            retention_days: self.retention.0.days.map_or(default.retention_days, |days| days.0.0),
            retention_tasks: self.retention.0.tasks.map_or(default.retention_tasks, |tasks| tasks.0.0),
            logs_max_bytes: self.logs.0.max_bytes.map_or(default.logs_max_bytes, |room| room.0.0),
            poll_interval_ms: time(self.poll_interval_seconds, default.poll_interval_ms),
            allow_root: self.allow_root,
            allow_loader_env: self.allow_loader_env,
        }
    }
}

impl ProjectFile {
    fn into_project(self) -> Project {
        Project {
            user: self.user.map(|user| user.0.0),
            conductor_dir: self.conductor_dir.map(|dir| dir.0.0),
            agent: self.agent.map(|agent| agent.0),
            run_as: self.run_as.map(|account| account.0.0),
        }
    }
}

impl RuleFile {
    fn into_rule(self) -> LaneRule {
        LaneRule {
            max: self.max.map(|max| max.0.0),
            weight: self.weight.map(|weight| weight.0.0),
            lock_timeout_ms: self.lock_timeout_seconds.map(|time| time.0.0),
        }
    }
}

impl From<serde_json::Error> for ConfigError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        Self {
            message: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
            line: line.max(1),
            column: column.max(1),
        }
    }
}

/// The keys that lead to a value, outermost first.
fn keys_of(path: &serde_ignored::Path<'_>) -> Vec<String> {
    use serde_ignored::Path;
    let (parent, key) = match path {
        Path::Root => return Vec::new(),
        Path::Seq { parent, index } => (parent, Some(index.to_string())),
        Path::Map { parent, key } => (parent, Some(key.clone())),
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => (parent, None),
    };
    let mut keys = keys_of(parent);
    keys.extend(key);
    keys
}

/// The warning for a key that means nothing, with the nearest key that would mean something there.
fn unknown_key(keys: &[String]) -> String {
    let (wrong, parents) = match keys.split_last() {
        Some((wrong, parents)) => (wrong.as_str(), parents),
        None => ("", keys),
    };
    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
    let known: &[&str] = match parents.as_slice() {
        [] => &[
            "per_user_serialization",
            "slots",
            "projects",
            "lanes",
            "tier_shares",
            "retention",
            "logs",
            "poll_interval_seconds",
            "allow_root",
            "allow_loader_env",
        ],
        ["per_user_serialization"] => &["enabled", "lock_timeout_seconds"],
        ["slots"] => &["max"],
        ["retention"] => &["days", "tasks"],
        ["logs"] => &["max_bytes"],
        ["tier_shares"] => &["high", "normal", "low"],
        ["projects", _] => &["user", "conductor_dir", "agent", "run_as"],
        ["lanes", _] => &["max", "weight", "lock_timeout_seconds"],
        _ => &[],
    };
    let full = keys.join(".");
    // A word far longer than any key is near none, and the comparison takes room for the product of both lengths.
    let comparable = if wrong.len() <= 64 { known } else { &[] };
    let nearest = comparable
        .iter()
        .map(|key| (strsim::damerau_levenshtein(wrong, key), *key))
        .min()
        .filter(|(distance, key)| *distance <= key.len().max(3) / 3);
    match nearest {
        Some((_, key)) => format!("unknown key {full:?} has no effect; did you mean {key:?}?"),
        None => format!("unknown key {full:?} has no effect"),
    }
}

/// Milliseconds as a number of seconds, whole where it is whole.
fn seconds(ms: u64) -> Value {
    if ms.is_multiple_of(1000) {
        json!(ms / 1000)
    } else {
        // Exact to the millisecond: accepted times are far below 2^53 milliseconds.
        #[allow(clippy::cast_precision_loss)]
        let ms = ms as f64;
        json!(ms / 1000.0)
    }
}

fn project_json(project: &Project) -> Value {
    let mut out = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.insert(key.to_owned(), value);
        }
    };
    set("user", project.user.as_ref().map(|u| json!(u.as_str())));
    set("conductor_dir", project.conductor_dir.as_ref().map(|d| json!(d)));
    set("agent", project.agent.as_ref().map(|a| json!(a)));
    set("run_as", project.run_as.as_ref().map(|a| json!(a)));
    Value::Object(out)
}

fn rule_json(rule: &LaneRule) -> Value {
    let mut out = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.insert(key.to_owned(), value);
        }
    };
    set("max", rule.max.map(|max| json!(max)));
    set("weight", rule.weight.map(|weight| json!(weight)));
    set("lock_timeout_seconds", rule.lock_timeout_ms.map(seconds));
    Value::Object(out)
}

#[cfg(test)]
mod tests;

//! The configuration file: JSON text in, [`Config`] and warnings out, and back.
//!
//! Opens no file. A wrong value is refused with its line and column. An unknown key is ignored with a warning, so that an
//! older luzia can read a newer configuration.

use crate::model::config::{Clash, Config, LaneRule, Project, SlotsFrom};
use crate::model::{LaneName, Name};
use key::Key;
use keys::{FILE, PROJECT, RULE};
use kind::unexpected;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

mod key;
mod keys;
mod kind;
mod reference;
mod text;

pub use key::RuleOption;
pub use reference::{KeyPage, reference, schema};

/// Number of keys without effect that are named.
const MOST_WARNINGS: usize = 100;

/// A configuration that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The values, with defaults for the keys that the text does not set.
    pub config: Config,
    /// A sentence for each key that has no effect.
    pub warnings: Vec<String>,
}

/// Why a configuration was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ConfigError {
    /// The fault, without its place.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1; just behind the fault.
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
    let file = text::read(text)?;
    let mut reader = Reader::default();
    let config = reader.file(&file).map_err(|message| {
        let key = reader.path.join(".");
        let message = if key.is_empty() { message } else { format!("{key:?}: {message}") };
        let error = text::error_at(text, &reader.path, &message);
        error.map_or_else(|| at_start(&message), ConfigError::from)
    })?;
    let Reader { warnings, not_named, .. } = reader;
    let at_its_place = |(path, message): (Vec<String>, String)| match text::error_at(text, &path, &message) {
        Some(error) => format!("line {} column {}: {message}", error.line(), error.column()),
        None => message,
    };
    let mut warnings: Vec<String> = warnings.into_iter().map(at_its_place).collect();
    if not_named > 0 {
        warnings.push(format!("{not_named} more keys have no effect"));
    }
    if config.lanes.get("global").is_some_and(|rule| rule.max.is_some()) {
        warnings.push("\"lanes.global.max\" has no effect; set \"slots.max\"".to_owned());
    }
    Ok(Parsed { config, warnings })
}

/// A configuration as JSON, for `config show`: every value in effect, and [`parse`] reads it back.
pub fn to_json(config: &Config) -> Value {
    key::to_json(FILE, config)
}

/// The rules of lanes as the configuration writes them under `lanes`.
pub(crate) fn rules_to_json(rules: &BTreeMap<String, LaneRule>) -> Value {
    key::objects(rules, RULE)
}

/// One rule as the configuration writes it.
pub(crate) fn rule_json(rule: &LaneRule) -> Value {
    key::to_json(RULE, rule)
}

/// Reads the output of [`rules_to_json`]; null means no rules.
pub(crate) fn rules_from_json(rules: &Value) -> Result<BTreeMap<String, LaneRule>, String> {
    if rules.is_null() {
        return Ok(BTreeMap::new());
    }
    let members = rules.as_object().ok_or_else(|| unexpected(rules, "an object"))?;
    let read = |(name, rule): (&String, &Value)| {
        let mut read = LaneRule::default();
        Reader::default().object(rule, RULE, "", &mut read)?;
        Ok((lane_or_pattern(name)?, read))
    };
    members.iter().map(read).collect()
}

/// Reads the options of `lanes set`: pairs of a key of a rule and a text (`("max", "3")`, `("lock_timeout_seconds", "10m")`).
pub(crate) fn rule_from_options(options: &[(&str, &str)]) -> Result<LaneRule, String> {
    let mut rule = LaneRule::default();
    key::read_options(RULE, options, &mut rule)?;
    Ok(rule)
}

/// The options of `lanes set`, each with the name of its key, in the order of the table.
pub fn rule_options() -> impl Iterator<Item = (&'static str, RuleOption)> {
    RULE.iter().filter_map(|key| Some((key.name, key.option?)))
}

/// The member of a rule as people read it; empty if it is not set.
pub fn rule_text(rule: &LaneRule, name: &str) -> String {
    RULE.iter().find(|key| key.name == name).map(|key| key.kind.text(&(key.get)(rule))).unwrap_or_default()
}

/// A rule without the members of some keys.
pub(crate) fn rule_without(rule: &LaneRule, names: &[&str]) -> LaneRule {
    let mut left = LaneRule::default();
    for key in RULE.iter().filter(|key| !names.contains(&key.name)) {
        // This key accepted the value of the rule before.
        let _ = key.read(&mut left, &key.value_in(rule));
    }
    left
}

/// Reads objects by their keys. After an error, `path` leads to the wrong value.
#[derive(Default)]
struct Reader {
    /// The keys that lead to the value that is read.
    path: Vec<String>,
    /// Each warning with the keys that lead to its subject.
    warnings: Vec<(Vec<String>, String)>,
    /// Number of further keys without effect.
    not_named: usize,
}

impl Reader {
    fn file(&mut self, file: &Value) -> Result<Config, String> {
        let mut config = Config::default();
        self.object(file, FILE, "", &mut config)?;
        if file["slots"]["max"].is_number() {
            config.slots_from = SlotsFrom::File;
        }
        for (name, project) in inner(file, "projects") {
            self.path = vec!["projects".to_owned(), name.clone()];
            let name = Name::new(name).map_err(|error| error.to_string())?;
            let mut read = Project::default();
            self.object(project, PROJECT, "", &mut read)?;
            config.projects.insert(name.as_str().to_owned(), read);
        }
        for (given, rule) in inner(file, "lanes") {
            self.path = vec!["lanes".to_owned(), given.clone()];
            let lane = lane_or_pattern(given)?;
            if config.lanes.contains_key(&lane) {
                return Err(format!("{given:?} is a second name of the lane {lane:?}"));
            }
            let mut read = LaneRule::default();
            self.object(rule, RULE, "", &mut read)?;
            if let Some(wrong) = read.wrong_for(&lane) {
                return Err(wrong);
            }
            config.lanes.insert(lane, read);
        }
        self.path = vec!["lanes".to_owned()];
        // `doctor` reports keys without effect; a file that has been accepted stays accepted.
        let mut contradictions = config.contradictions().into_iter();
        if let Some(wrong) = contradictions.find(|found| found.clash != Clash::NoBudget) {
            return Err(wrong.to_string());
        }
        Ok(config)
    }

    /// Reads the keys whose names begin with `group`, as `slots.`, which may be nothing.
    fn object<T>(&mut self, value: &Value, keys: &[Key<T>], group: &str, into: &mut T) -> Result<(), String> {
        let members = value.as_object().ok_or_else(|| unexpected(value, "an object"))?;
        // The names that are allowed here, each with a key that has it.
        let known = || keys.iter().filter_map(|key| Some((key.name.strip_prefix(group)?.split('.').next()?, key)));
        for (name, value) in members {
            self.path.push(name.clone());
            match known().find(|(known, _)| known == name) {
                Some((_, key)) if key.name.len() == group.len() + name.len() => key.read(into, value)?,
                Some(_) => self.object(value, keys, &format!("{group}{name}."), into)?,
                None if self.warnings.len() == MOST_WARNINGS => self.not_named += 1,
                None => {
                    let warning = unknown_key(&self.path, name, known().map(|(known, _)| known));
                    self.warnings.push((self.path.clone(), warning));
                }
            }
            self.path.pop();
        }
        Ok(())
    }
}

fn inner<'a>(file: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    file.get(name).and_then(Value::as_object).into_iter().flat_map(Map::iter)
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

/// The one spelling of a lane's name, or of a pattern that ends in `*`.
pub(crate) fn lane_or_pattern(given: &str) -> Result<String, String> {
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
    // The pattern is right when some name that it matches is right.
    let example = LaneName::parse(&format!("{prefix}x")).map_err(|error| wrong(error.to_string()))?;
    let example = example.to_string();
    let prefix = example.strip_suffix('x').unwrap_or(&example);
    Ok(format!("{prefix}*"))
}

/// The warning for an unknown key, with the nearest known key of the same place.
fn unknown_key<'a>(path: &[String], wrong: &str, known: impl Iterator<Item = &'a str>) -> String {
    let full = path.join(".");
    // A word far longer than any key is near none, and the comparison allocates the product of both lengths.
    let nearest = known
        .filter(|key| wrong.len() <= 64 && key.len() > 1)
        .map(|key| (strsim::damerau_levenshtein(wrong, key), key))
        .min()
        .filter(|(distance, key)| *distance <= key.len().max(3) / 3);
    match nearest {
        Some((_, key)) => format!("unknown key {full:?} has no effect; did you mean {key:?}?"),
        None => format!("unknown key {full:?} has no effect"),
    }
}

#[cfg(test)]
mod tests;

//! A key of the configuration: how its value is checked, taken and shown, and its text in luzia-config(5).

use super::kind::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A key of an object that is read into a `T`. A dot in its name leads into an inner object.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Sets a checked value, in its plain form.
    pub(super) set: fn(&mut T, &Value),
    /// Gives the value in its plain form; null if none is set.
    pub(super) get: fn(&T) -> Value,
    pub(super) words: Words,
    pub(super) option: Option<RuleOption>,
}

/// The option of `lanes set` that gives a member of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleOption {
    /// The word, e.g. `lock-timeout`.
    pub word: &'static str,
    /// The name of the option's value, e.g. `DUR`.
    pub value: &'static str,
    /// The line of the option in the help.
    pub help: &'static str,
    /// The column of the option in the table of lanes, in capitals. The limit has a column of its own, and a range is shown
    /// among the values.
    pub title: Option<&'static str>,
}

/// Text of a key in luzia-config(5) and in the schema.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// Effect of the key, as sentences.
    pub(super) meaning: &'static str,
    /// Moment at which a changed value takes effect.
    pub(super) effect: &'static str,
    /// A value as JSON.
    pub(super) example: &'static str,
    /// The default in words, where it is not the value that the built-in configuration shows.
    pub(super) default: Option<&'static str>,
}

/// The effect of a key that does not name another.
pub(super) const NEXT_COMMAND: &str = "with the next command, and in a daemon or supervisor with its next pass";

impl<T> Key<T> {
    /// The value in `from` as it is written; null if none is set.
    pub(super) fn value_in(&self, from: &T) -> Value {
        self.kind.shown((self.get)(from))
    }

    /// Checks a value and takes it; null means that the key is not set.
    pub(super) fn read(&self, into: &mut T, value: &Value) -> Result<(), String> {
        if !value.is_null() {
            self.kind.check(value)?;
            (self.set)(into, &self.kind.plain(value));
        }
        Ok(())
    }
}

/// The set values, in the form of the file.
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

/// Reads options of the command line, each with the name of its key. An error names the option.
pub(super) fn read_options<T>(keys: &[Key<T>], options: &[(&str, &str)], into: &mut T) -> Result<(), String> {
    for (name, text) in options {
        let known = keys.iter().find(|key| key.name == *name);
        let known = known.and_then(|key| Some((key, key.option?.word)));
        let (key, option) = known.ok_or_else(|| format!("there is no rule {name:?}"))?;
        let value = key.kind.value_of(text);
        let shown: String = text.chars().take(80).collect();
        key.read(into, &value).map_err(|why| match key.kind.explains() {
            true => format!("--{option}: {why}"),
            false => format!("--{option} is {}, not {shown:?}", key.kind.written()),
        })?;
    }
    Ok(())
}

/// Takes a plain value that was checked.
pub(super) fn take<'a, F: Deserialize<'a>>(into: &mut F, value: &'a Value) {
    if let Ok(read) = F::deserialize(value) {
        *into = read;
    }
}

/// Gives the plain value of a field; null for an empty list, which no key admits.
pub(super) fn give(field: &impl Serialize) -> Value {
    match serde_json::to_value(field) {
        Ok(Value::Array(items)) if items.is_empty() => Value::Null,
        given => given.unwrap_or_default(),
    }
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

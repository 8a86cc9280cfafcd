//! Values of configuration keys: the check, the words and the JSON Schema of each kind.

use super::key::seconds;
use crate::model::Name;
use crate::model::capacity::{Budget, Gate, MOST_CPUS, SlotValues};
use crate::model::config::Rate;
use crate::model::time::{MAX_DURATION_MS, format_duration, parse_duration};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The kind of a value.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Version,
    Flag,
    /// A whole number from 1 to the second, in words the first.
    Whole(&'static str, u32),
    /// A whole number from 0 to the second, in words the first.
    Number(&'static str, u32),
    /// A number of grants in a time, e.g. `10/1m`.
    Rate,
    /// A list of the values of the slots of a lane.
    Values,
    /// The ports of the slots of a lane, e.g. `4000-4099`.
    Range,
    /// A condition of the host, e.g. `load>1.5 | mem<10%`.
    Gate,
    /// A number of processors, or `auto`.
    Budget,
    /// A command for `/bin/sh -c`.
    Shell,
    /// A number of bytes, or 0 for no limit.
    Room,
    /// A number of seconds, kept in milliseconds.
    Seconds,
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A name; the text describes it.
    Name(&'static str),
    /// A list of names.
    Names,
    /// A list of patterns of commands.
    Patterns,
    /// An absolute path, in which `{project}` and `{user}` are replaced by names.
    Directory,
    /// A program and its arguments.
    Command,
    /// An object with names of the user's choice as keys.
    Objects,
}

impl Kind {
    /// The form in words, e.g. `a boolean`.
    pub(super) fn expected(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Word(words) => return listed(words).into(),
            Self::Version => "version 1, the only one this luzia knows",
            Self::Flag => "a boolean",
            Self::Whole(what, _) | Self::Number(what, _) | Self::Name(what) => what,
            Self::Rate => "a rate such as \"10/1m\", of 1 to 10000 grants in at most 31 days",
            Self::Values => "a list of different texts such as [\"emulator-5556\", \"emulator-5558\"]",
            Self::Range => "a range of ports such as \"4000-4099\"",
            Self::Gate => "a condition such as \"psi.memory>20 | load>1.5 | mem<10%\"",
            Self::Budget => "a number of processors from 1 to 4096, or auto",
            Self::Shell => "a command for /bin/sh",
            Self::Seconds => "a number of seconds from 0.001 to 100 years (3153600000)",
            Self::Room => "a number of bytes from 1048576 (1 MiB) to 2^53, or 0 for no limit",
            Self::Text => "a string",
            Self::Names => "a list of names of users such as [\"alice\", \"bob\"]",
            Self::Patterns => "a list of patterns such as [\"cargo *\", \"make\"]",
            Self::Directory => "the absolute path of a directory",
            Self::Command => "a list of strings such as [\"claude\", \"-p\", \"{prompt}\"]",
            Self::Objects => "an object",
        })
    }

    /// Refuses a value of another form.
    pub(super) fn check(self, value: &Value) -> Result<(), String> {
        let is_right = match (self, value) {
            (Self::Version, _) => *value == json!(1),
            (Self::Whole(_, most), _) => value.as_u64().is_some_and(|number| (1..=most.into()).contains(&number)),
            (Self::Number(_, most), _) => value.as_u64().is_some_and(|number| number <= most.into()),
            (Self::Seconds, _) => milliseconds(value).is_some(),
            (Self::Rate, _) => value.as_str().and_then(Rate::parse).is_some(),
            (Self::Values, _) if words(value).is_some() => {
                return SlotValues::list(words(value).unwrap_or_default()).map(drop);
            }
            (Self::Range, Value::String(text)) => return SlotValues::ports(text).map(drop),
            (Self::Gate, Value::String(text)) => return Gate::parse(text).map(drop),
            (Self::Budget, _) => self.plain(value).as_str().and_then(Budget::parse).is_some(),
            (Self::Shell, Value::String(text)) => is_pattern(text),
            (Self::Room, _) => value.as_u64().is_some_and(|bytes| bytes == 0 || (1 << 20..=1 << 53).contains(&bytes)),
            (Self::Word(words), _) => value.as_str().is_some_and(|word| words.contains(&word)),
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
        if is_right { Ok(()) } else { Err(unexpected(value, &self.expected())) }
    }

    /// The form in JSON Schema. It admits null, which means that a key is left out. A rule about the inside of a text is
    /// weaker here than in [`Kind::check`].
    pub(super) fn schema(self) -> Value {
        let name = json!({ "type": "string", "minLength": 1, "maxLength": 1024 });
        let list = |item: Value| json!({ "type": ["array", "null"], "minItems": 1, "items": item });
        match self {
            Self::Version => json!({ "enum": [1, null] }),
            Self::Flag => json!({ "type": ["boolean", "null"] }),
            Self::Whole(_, most) => json!({ "type": ["integer", "null"], "minimum": 1, "maximum": most }),
            Self::Number(_, most) => json!({ "type": ["integer", "null"], "minimum": 0, "maximum": most }),
            Self::Rate => json!({ "type": ["string", "null"], "pattern": "^[0-9]+/[0-9a-z. ]+$" }),
            Self::Values => list(json!({ "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^,]+$" })),
            Self::Range => json!({ "type": ["string", "null"], "pattern": "^[0-9]{1,5}-[0-9]{1,5}$" }),
            Self::Gate => json!({ "type": ["string", "null"], "pattern": "[<>]", "maxLength": 400 }),
            Self::Budget => json!({ "anyOf": [
                { "type": ["integer", "null"], "minimum": 1, "maximum": MOST_CPUS },
                { "type": "string", "pattern": "^(auto|[0-9]{1,4})$" },
            ] }),
            Self::Shell => json!({ "type": ["string", "null"], "pattern": "\\S" }),
            Self::Room => json!({
                "type": ["integer", "null"], "minimum": 0, "maximum": 1_u64 << 53,
                "not": { "type": "integer", "minimum": 1, "exclusiveMaximum": 1 << 20 },
            }),
            Self::Seconds => {
                json!({ "type": ["number", "null"], "minimum": 0.001, "maximum": MAX_DURATION_MS / 1000 })
            }
            Self::Text => json!({ "type": ["string", "null"] }),
            Self::Word(words) => {
                let words: Vec<Value> = words.iter().map(|word| json!(word)).chain([Value::Null]).collect();
                json!({ "enum": words })
            }
            Self::Name(_) => json!({ "type": ["string", "null"], "minLength": 1, "maxLength": 1024 }),
            Self::Names => list(name),
            Self::Patterns => list(json!({ "type": "string", "pattern": "\\S" })),
            Self::Directory => json!({ "type": ["string", "null"], "pattern": "^/" }),
            Self::Command => list(json!({ "type": "string" })),
            Self::Objects => json!({ "type": ["object", "null"] }),
        }
    }
}

impl Kind {
    /// A value of the file as the model keeps it: a time in milliseconds, a number of processors as a text.
    pub(super) fn plain(self, value: &Value) -> Value {
        match (self, value) {
            (Self::Seconds, _) => json!(milliseconds(value)),
            (Self::Budget, Value::Number(number)) => json!(number.to_string()),
            _ => value.clone(),
        }
    }

    /// A value of the model as the file has it; [`Kind::plain`] reads it back.
    pub(super) fn shown(self, value: Value) -> Value {
        match (self, &value) {
            (Self::Seconds, Value::Number(ms)) => ms.as_u64().map_or(Value::Null, seconds),
            (Self::Budget, Value::String(text)) => text.parse::<u32>().map_or(value, |number| json!(number)),
            _ => value,
        }
    }

    /// A value of the model for people; empty for a value that is not set or is false.
    pub(super) fn text(self, value: &Value) -> String {
        match value {
            Value::Number(ms) if matches!(self, Self::Seconds) => ms.as_u64().map(format_duration).unwrap_or_default(),
            Value::String(text) => text.clone(),
            Value::Array(_) => words(value).unwrap_or_default().join(","),
            Value::Null | Value::Bool(false) => String::new(),
            other => other.to_string(),
        }
    }

    /// The text of a command-line option, as the value that the file would have.
    pub(super) fn value_of(self, text: &str) -> Value {
        match self {
            Self::Seconds => parse_duration(text).map_or_else(|_| json!(text), seconds),
            Self::Whole(..) | Self::Number(..) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
            }
            Self::Values => text.split(',').collect(),
            Self::Flag if matches!(text, "true" | "false") => json!(text == "true"),
            _ => json!(text),
        }
    }

    /// Whether the error of its check says more than the expected form.
    pub(super) fn explains(self) -> bool {
        matches!(self, Self::Values | Self::Range | Self::Gate)
    }

    /// The right form of a command-line option, for the error about a wrong one.
    pub(super) fn written(self) -> Cow<'static, str> {
        match self {
            Self::Flag => "true or false".into(),
            Self::Seconds => "a duration from 1ms to 100 years, such as 30s or 10m".into(),
            other => other.expected(),
        }
    }
}

/// Words in quotes, e.g. `"auto", "on" or "off"`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// The error for a value of the wrong form.
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

fn is_pattern(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// The milliseconds of a number of seconds within the limits.
pub(super) fn milliseconds(value: &Value) -> Option<u64> {
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

/// The texts of a list; `None` for anything else.
pub(super) fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

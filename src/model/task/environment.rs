//! The environment of a task, and its members in a record: `env` for text, `env_hex` for bytes that are not UTF-8.

use crate::model::name::{from_hex, hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Variables and their values, as bytes; shared by the tasks of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Environment {
    /// These variables.
    Known(Arc<[(Vec<u8>, Vec<u8>)]>),
    /// The record was read without its variables. It has none to look at, and cannot be written.
    Unread,
}

impl Default for Environment {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<(Vec<u8>, Vec<u8>)>> for Environment {
    fn from(variables: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        Self::Known(variables.into())
    }
}

impl Deref for Environment {
    type Target = [(Vec<u8>, Vec<u8>)];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Known(variables) => variables,
            Self::Unread => &[],
        }
    }
}

/// The variables of git that belong to one repository, as `git rev-parse --local-env-vars` lists them. git sets them for its
/// hooks. With them, a command in another directory would work on the repository of that hook.
pub const OF_ONE_REPOSITORY: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

#[derive(Serialize, Deserialize, Default)]
struct Members<'a> {
    #[serde(default)]
    env: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// As hex digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env_hex: Vec<(String, String)>,
}

pub(super) fn serialize<S: Serializer>(env: &Environment, to: S) -> Result<S::Ok, S::Error> {
    if *env == Environment::Unread {
        return Err(ser::Error::custom("the record was read without its environment"));
    }
    let mut members = Members::default();
    for (key, value) in env.iter() {
        match (std::str::from_utf8(key), std::str::from_utf8(value)) {
            (Ok(key), Ok(value)) => members.env.push((key.into(), value.into())),
            _ => members.env_hex.push((hex(key), hex(value))),
        }
    }
    members.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Environment, D::Error> {
    let members = Members::deserialize(from)?;
    let bytes = |text: Cow<'_, str>| text.into_owned().into_bytes();
    let mut env: Vec<_> = members.env.into_iter().map(|(key, value)| (bytes(key), bytes(value))).collect();
    for (key, value) in &members.env_hex {
        let bytes = |text: &str| {
            let shown: String = text.chars().take(40).collect();
            from_hex(text).ok_or_else(|| de::Error::custom(format_args!("\"{shown}\" is not hexadecimal")))
        };
        env.push((bytes(key)?, bytes(value)?));
    }
    let bad = |(key, value): &(Vec<u8>, Vec<u8>)| {
        key.is_empty() || key.contains(&b'=') || key.contains(&0) || value.contains(&0)
    };
    if env.iter().any(bad) {
        return Err(de::Error::custom("its environment has an impossible variable"));
    }
    Ok(env.into())
}

//! The environment of a task, and its members in a record: `env` for text, `env_hex` for bytes that are not UTF-8.

use crate::model::name::{from_hex, hex};
use crate::model::record::Shared;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::borrow::Cow;
use std::ops::Deref;

/// Variables and their values, as bytes; shared by the tasks of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Environment {
    /// The variables themselves.
    Known(Shared<Variables>),
    /// The record was read without its variables. It must not be looked at or written.
    Unread,
}

/// Variables and their values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variables {
    all: Vec<(Vec<u8>, Vec<u8>)>,
    /// The variables that are not text, as hex digits.
    others: Vec<(String, String)>,
}

/// A variable with its value, if both are text.
fn as_text((key, value): &(Vec<u8>, Vec<u8>)) -> Option<(&str, &str)> {
    Some((str::from_utf8(key).ok()?, str::from_utf8(value).ok()?))
}

impl Serialize for Variables {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.all.iter().filter_map(as_text))
    }
}

impl Default for Environment {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<(Vec<u8>, Vec<u8>)>> for Environment {
    fn from(variables: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        let others = variables.iter().filter(|variable| as_text(variable).is_none());
        let others = others.map(|(key, value)| (hex(key), hex(value))).collect();
        Self::Known(Variables { all: variables, others }.into())
    }
}

impl Deref for Environment {
    type Target = [(Vec<u8>, Vec<u8>)];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Known(variables) => &variables.all,
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

#[derive(Serialize, Deserialize)]
struct Members<'a, T> {
    #[serde(default)]
    env: T,
    /// As hex digits.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    env_hex: Cow<'a, [(String, String)]>,
}

pub(super) fn serialize<S: Serializer>(env: &Environment, to: S) -> Result<S::Ok, S::Error> {
    let Environment::Known(env) = env else {
        return Err(ser::Error::custom("the record was read without its environment"));
    };
    Members { env, env_hex: Cow::Borrowed(&env.others) }.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Environment, D::Error> {
    let members = Members::<Vec<(String, String)>>::deserialize(from)?;
    let bytes = String::into_bytes;
    let mut env: Vec<_> = members.env.into_iter().map(|(key, value)| (bytes(key), bytes(value))).collect();
    for (key, value) in &*members.env_hex {
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

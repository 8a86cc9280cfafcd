//! Hooks: commands that luzia runs when an event happens (`hook add`).

use crate::model::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The action of a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// It runs a command without changes.
    Command(Vec<String>),
    /// It posts to a URL with curl(1).
    Url(String),
}

/// The members of a record that describe the action of a hook.
#[derive(Serialize, Deserialize)]
struct Members<C, U> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<U>,
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Command(argv) => Members { command: Some(argv), url: None::<&str> }.serialize(to),
            Self::Url(url) => Members { command: None::<&[String]>, url: Some(url) }.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Members::<Vec<String>, String>::deserialize(from)? {
            Members { command: Some(argv), url: None } if !argv.is_empty() => Ok(Self::Command(argv)),
            Members { command: None, url: Some(url) } => Ok(Self::Url(url)),
            _ => Err(D::Error::custom("a hook has neither a command nor a URL, or both")),
        }
    }
}

/// One hook.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hook {
    /// Its name, by which it is removed.
    pub name: String,
    /// The event that triggers it.
    pub event: String,
    /// Its action.
    #[serde(flatten)]
    pub action: Action,
    /// Only for tasks and the lane of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only for events of this lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Its time limit, in milliseconds.
    pub timeout_ms: u64,
    /// The directory in which it was added, and in which its command runs.
    pub cwd: String,
    /// The time at which it was added.
    pub added_at: Timestamp,
    /// The caller that added it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The variable that marks a process that runs for a hook. luzia runs no hooks for events of such a process.
pub const HOOK_VARIABLE: &str = "LUZIA_HOOK";
/// The time limit of a hook without one of its own.
pub const HOOK_TIMEOUT_MS: u64 = 30_000;

impl Hook {
    /// Program and arguments. The payload arrives on standard input.
    pub fn argv(&self) -> Vec<String> {
        match &self.action {
            Action::Command(argv) => argv.clone(),
            Action::Url(url) => {
                let seconds = self.timeout_ms.div_ceil(1000).max(1).to_string();
                let words = ["curl", "--fail", "--silent", "--show-error", "--globoff", "--max-time", &seconds];
                let body = [
                    "--request",
                    "POST",
                    "--header",
                    "Content-Type: application/json",
                    "--data-binary",
                    "@-",
                    "--url",
                    url,
                ];
                words.into_iter().chain(body).map(str::to_owned).collect()
            }
        }
    }
}

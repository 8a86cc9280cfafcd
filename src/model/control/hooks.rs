//! Hooks: what people want to be run when something happens (`hook add`).

use crate::model::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a hook does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// It runs a command, as it stands.
    Command(Vec<String>),
    /// It posts to a URL, by curl(1).
    Url(String),
}

/// The members of a record that tell what a hook does.
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
    /// The event that it is for.
    pub event: String,
    /// What it does.
    #[serde(flatten)]
    pub action: Action,
    /// Only for tasks and the lane of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only for events of this lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// The directory in which it was added, and in which its command runs.
    pub cwd: String,
    /// When it was added.
    pub added_at: Timestamp,
    /// Who added it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The variable that tells a process that it runs for a hook. luzia runs no hooks for what happens there.
pub const HOOK_VARIABLE: &str = "LUZIA_HOOK";
/// How long a hook may take that does not say.
pub const HOOK_TIMEOUT_MS: u64 = 30_000;

impl Hook {
    /// Program and arguments. The payload comes on standard input.
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

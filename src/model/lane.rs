//! Lanes: named queues `kind:key`, their slots, and the meaning of a `USER|LANE` argument (`Target`).
//!
//! `ThingKind` lists the things outside luzia that have a lane of their own: a repository, a branch, a work tree, a port, a
//! database, a directory.

use super::name::{Name, NameError};
use super::record::words;
use super::task::TaskId;
use std::fmt;

/// Lanes that exist without configuration; as a bare word they mean the lane, not a user (contract, section 4).
pub const BUILT_IN: [&str; 4] = ["main", "cron", "subagent", "global"];
/// The longest valid kind, in bytes. It keeps every lock file's name under 255 bytes.
pub const MAX_KIND_BYTES: usize = 64;

/// The name of a lane: a kind of `[a-z][a-z0-9-]*` and a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneName {
    kind: String,
    key: Name,
}

/// The reason that a lane's name was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LaneError {
    /// The key is not a name.
    #[error(transparent)]
    Key(#[from] NameError),
    /// The kind has characters that are invalid in a kind.
    #[error("a lane's kind is a lower-case word such as `thread`, not \"{0}\"")]
    Kind(String),
}

impl LaneName {
    /// The prefix of the name of a schedule in arguments that also take a lane, as in `pause cron:NAME`. It is not a kind of lane.
    pub const SCHEDULE: &'static str = "cron";

    /// A lane of a given kind.
    pub fn new(kind: &str, key: Name) -> Result<Self, LaneError> {
        let head = kind.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        let tail = kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if head && tail && kind.len() <= MAX_KIND_BYTES {
            Ok(Self { kind: kind.to_owned(), key })
        } else {
            Err(LaneError::Kind(kind.chars().take(80).collect()))
        }
    }

    /// The lane `user:<name>`.
    pub fn user(user: &Name) -> Self {
        Self { kind: "user".into(), key: user.clone() }
    }

    /// The lane `thread:<id>`.
    pub fn thread(id: &Name) -> Self {
        Self { kind: "thread".into(), key: id.clone() }
    }

    /// The lane of all running tasks (`slots.max`).
    pub fn global() -> Self {
        Self::bare("global")
    }

    /// Parses `kind:key`; a bare word `w` is the lane `lane:w`.
    pub fn parse(text: &str) -> Result<Self, LaneError> {
        match text.split_once(':') {
            Some((kind, key)) => Self::new(kind, Name::new(key)?),
            None => Self::new("lane", Name::new(text)?),
        }
    }

    /// The kind, as `user` in `user:alice`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The key, as `alice` in `user:alice`.
    pub fn key(&self) -> &Name {
        &self.key
    }

    /// Whether this is a user's lane.
    pub fn is_user(&self) -> bool {
        self.kind == "user"
    }

    /// Whether this is the lane of all running tasks.
    pub fn is_global(&self) -> bool {
        self.is_bare("global")
    }

    /// Whether this is the lane that a bare word means.
    pub fn is_bare(&self, word: &str) -> bool {
        self.kind == "lane" && self.key.as_str() == word
    }

    /// Whether this lane orders its tasks: users, threads and sessions keep the order in which work was given.
    pub fn is_key_lane(&self) -> bool {
        matches!(self.kind.as_str(), "user" | "thread" | "session")
    }

    /// Whether this lane is only a number of slots, without an order of its own.
    pub fn is_capacity_lane(&self) -> bool {
        !self.is_key_lane() && !self.is_global()
    }

    /// The lane as part of a file name: `<kind>_<encoded key>`. The first `_` ends the kind.
    pub fn stem(&self) -> String {
        stem(&self.kind, &self.key)
    }

    /// The stem of the lane of a user.
    pub fn user_stem(user: &Name) -> String {
        stem("user", user)
    }

    /// The lane of a stem; `None` if the key is hashed or the stem is not one of ours.
    pub fn from_stem(stem: &str) -> Option<Self> {
        let (kind, key) = stem.split_once('_')?;
        Self::new(kind, Name::decoded(key)?).ok()
    }

    fn bare(word: &str) -> Self {
        Self { kind: "lane".into(), key: Name::new(word).expect("a built-in lane's name is a name") }
    }
}

fn stem(kind: &str, key: &Name) -> String {
    [kind, "_", &key.encoded()].concat()
}

super::record::as_text!(LaneName, |text| Self::parse(text));

impl fmt::Display for LaneName {
    /// Writes the form that [`LaneName::parse`] parses as this lane. It leaves out the kind `lane` only if the key has no `:`.
    /// Otherwise `lane:user:bob` would be parsed as bob's own lane.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == "lane" && !self.key.as_str().contains(':') {
            return write!(f, "{}", self.key);
        }
        write!(f, "{}:{}", self.kind, self.key)
    }
}

/// Whether a stem is the one of a user's lane.
pub fn is_user_stem(stem: &str) -> bool {
    stem.starts_with("user_")
}

/// The name of one slot's lock file without its ending: slot 0 is the lane's stem, further slots add `@<n>`.
pub fn slot_stem(lane_stem: &str, slot: u32) -> String {
    if slot == 0 { lane_stem.to_owned() } else { format!("{lane_stem}@{slot}") }
}

/// Splits a lock file's stem into the lane's stem and the slot; `None` for names that are not ours.
pub fn split_slot_stem(stem: &str) -> Option<(&str, u32)> {
    match stem.split_once('@') {
        None => Some((stem, 0)),
        Some((lane, slot)) => {
            let number: u32 = slot.parse().ok()?;
            (number > 0 && number.to_string() == slot).then_some((lane, number))
        }
    }
}

/// The thing that a `TASK|USER|LANE` argument names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// `task_12` or `12`.
    Task(TaskId),
    /// A lane; a bare word is a user's.
    Lane(LaneName),
}

impl Target {
    /// Parses `USER|LANE`: `kind:key` is a lane, and a bare word is a user unless it is a built-in lane.
    pub fn lane(text: &str) -> Result<LaneName, LaneError> {
        if text.contains(':') || BUILT_IN.contains(&text) {
            LaneName::parse(text)
        } else {
            Ok(LaneName::user(&Name::new(text)?))
        }
    }

    /// Parses `TASK|USER|LANE`: `task_N` or digits are a task.
    pub fn any(text: &str) -> Result<Self, LaneError> {
        match TaskId::parse(text) {
            Some(task) => Ok(Self::Task(task)),
            None => Self::lane(text).map(Self::Lane),
        }
    }
}

/// The kinds of things that `luzia name` knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThingKind {
    /// A git repository: the lane `git:<16 hex digits>` of its common directory.
    GitDir,
    /// A branch of a remote: the lane `ref:<remote>#<branch>`.
    GitRef,
    /// A work tree of git: the lane `tree:<16 hex digits>`.
    Tree,
    /// A TCP port: the lane `port:<number>`.
    Port,
    /// A database: the lane `db:<URL without account>` or `db:<16 hex digits>/<file>`.
    Db,
    /// A directory: the lane `dir:<16 hex digits>`.
    Dir,
}

words!(ThingKind {
    GitDir = "git-dir",
    GitRef = "git-ref",
    Tree = "tree",
    Port = "port",
    Db = "db",
    Dir = "dir",
});

impl fmt::Display for ThingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests;

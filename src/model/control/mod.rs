//! Settings that people change while luzia runs, in addition to the configuration.
//!
//! `Control` has the rules of lanes (`lanes set`), the holds (`pause`), and the requests of tasks that make room for themselves
//! (`Preempt`, `--preempt`). `Hook` is a command that luzia runs, or a URL to which it posts, when an event happens (`hook add`).

use super::config::{Config, LaneRule, SlotsFrom};
use super::lane::LaneName;
use super::record::as_text;
use super::task::Task;
use crate::model::Timestamp;
use crate::model::record::{as_word, words};
use crate::model::task::TaskId;
use crate::model::time::MAX_DURATION_MS;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// All settings that were made at run time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Control {
    /// Rules of lanes and of patterns. A member that is set here wins over the one in the configuration.
    pub lanes: BTreeMap<String, LaneRule>,
    /// Holds in force, and holds that ended not long ago.
    pub holds: Vec<Hold>,
    /// The tasks that make room for themselves.
    pub preempts: Vec<Preempt>,
}

/// The tasks that a hold keeps from starting.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Held {
    /// Every task of the host.
    All,
    /// The tasks of a user, or those that take a lane.
    Lane(LaneName),
    /// The tasks of all users or lanes whose names begin with this text.
    Pattern(String),
}

/// One `pause`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hold {
    /// The tasks that the hold keeps from starting.
    #[serde(rename = "what")]
    pub held: Held,
    /// The time at which the hold began.
    pub since: Timestamp,
    /// The time at which the hold ends by itself, or was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The reason, in words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The requester.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The hold of one task, in its record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskHold {
    /// The time at which the hold began.
    pub since: Timestamp,
    /// The time at which the hold ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The reason, in words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The requester.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The rest of the time of `--start-within`, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_left_ms: Option<u64>,
}

impl TaskHold {
    /// Whether the hold is in force at a moment.
    pub fn stands(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

impl Task {
    /// Whether the task has a hold of its own in force at a moment.
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.stands(now))
    }

    /// The moment at which a pass must look at it again while it is parked: it is due, and no hold of its own is in force.
    /// `None` if no moment wakes it.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        match &self.hold {
            None => self.due_at,
            Some(hold) => hold.until.map(|until| self.due_at.map_or(until, |due| due.max(until))),
        }
    }
}

impl Hold {
    /// Whether the hold is in force at a moment.
    pub fn stands(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

impl Held {
    /// Parses the form that [`Held::text`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        if let Some(prefix) = text.strip_suffix('*') {
            return Some(Self::Pattern(prefix.to_owned()));
        }
        LaneName::parse(text).ok().map(Self::Lane)
    }

    /// `*` for the host, a lane, or a pattern that ends in `*`.
    pub fn text(&self) -> String {
        self.to_string()
    }

    /// Whether the hold covers this lane.
    pub fn is_of(&self, lane: &LaneName) -> bool {
        match self {
            Self::All => true,
            Self::Lane(own) => own == lane,
            Self::Pattern(prefix) => lane.to_string().starts_with(prefix.as_str()),
        }
    }
}

as_text!(Held, |text| Self::parse(text).ok_or_else(|| format!("\"{text}\" is not a lane")));

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Lane(lane) => write!(f, "{lane}"),
            Self::Pattern(prefix) => write!(f, "{prefix}*"),
        }
    }
}

impl Control {
    /// The configuration with the rules that were set at run time. The limit of `global` is `slots.max`.
    pub fn over(&self, config: &Config) -> Config {
        let mut all = config.clone();
        for (lane, set) in &self.lanes {
            if let Some(max) = set.max.filter(|_| lane == "global") {
                (all.slots_max, all.slots_from) = (max, SlotsFrom::Set);
            }
            let rule = all.lanes.entry(lane.clone()).or_default();
            *rule = set.clone().or(rule);
        }
        all
    }

    /// The holds that are in force at a moment.
    pub fn standing(&self, now: Timestamp) -> impl Iterator<Item = &Hold> {
        self.holds.iter().filter(move |hold| hold.stands(now))
    }
}

/// The action on the holder of a lane that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// luzia cancels the task.
    End,
    /// luzia queues the task again in its old place; no attempt is spent.
    Requeue,
}

words!(How { End = "end", Requeue = "requeue" });

as_word!(How, Self::word, Self::parse, "is not a way to preempt");

/// A length of time that a process can wait for.
fn bounded<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<u64>::deserialize(from)?.map(|ms| ms.min(MAX_DURATION_MS)))
}

/// The request of one task, from its acceptance to its start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Preempt {
    /// The task that needs the room.
    pub task: TaskId,
    /// The action on the holders.
    pub how: How,
    /// The time between SIGTERM and SIGKILL, in milliseconds; if absent, the holder's own time applies.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Whether work of other users may be ended or queued again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others: bool,
    /// The requester.
    pub by: String,
}

/// The action of a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The hook runs a command without changes.
    Command(Vec<String>),
    /// The hook posts to a URL with curl(1).
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
    /// The name of the hook, by which it is removed.
    pub name: String,
    /// The event that triggers the hook.
    pub event: String,
    /// The action of the hook.
    #[serde(flatten)]
    pub action: Action,
    /// Only for tasks and the lane of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only for events of this lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The time limit of the hook, in milliseconds.
    pub timeout_ms: u64,
    /// The directory in which the hook was added, and in which its command runs.
    pub cwd: String,
    /// The time at which the hook was added.
    pub added_at: Timestamp,
    /// The caller that added the hook.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_set_at_run_time_wins_by_member_and_the_more_specific_name_still_wins() {
        let mut config = Config::default();
        let rule = |max, weight| LaneRule { max, weight, ..LaneRule::default() };
        config.lanes.insert("user:alice".into(), rule(Some(2), Some(3)));
        let mut control = Control::default();
        control.lanes.insert("user:*".into(), rule(Some(5), None));
        control.lanes.insert("global".into(), rule(Some(9), None));
        let lane = |text: &str| LaneName::parse(text).expect("a lane");
        let all = control.over(&config);
        assert_eq!((all.limit(&lane("user:alice")), all.limit(&lane("user:bob")), all.slots_max), (2, 5, 9));
        control.lanes.insert("user:alice".into(), rule(Some(7), None));
        let all = control.over(&config);
        assert_eq!((all.limit(&lane("user:alice")), all.lanes["user:alice"].weight), (7, Some(3)));
    }

    #[test]
    fn what_is_held_reads_back_and_means_what_it_says() {
        let lane = LaneName::parse("thread:7").expect("a lane");
        for (text, is_of) in [("*", true), ("thread:7", true), ("thread:*", true), ("user:*", false), ("build", false)]
        {
            let held = Held::parse(text).expect("it reads");
            assert_eq!((held.text().as_str(), held.is_of(&lane)), (text, is_of));
        }
        assert_eq!(Held::parse("Thread:7"), None);
    }
}

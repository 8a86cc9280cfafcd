//! Settings that people change while luzia runs, in addition to the configuration: rules of lanes (`lanes set`) and holds
//! (`pause`).

pub mod hooks;
mod preempt;

pub use preempt::{How, Preempt};

use super::config::{Config, LaneRule, SlotsFrom};
use super::lane::LaneName;
use super::record::as_text;
use super::task::Task;
use super::time::Timestamp;
use serde::{Deserialize, Serialize};
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
    /// The tasks that it keeps from starting.
    #[serde(rename = "what")]
    pub held: Held,
    /// The time at which it began.
    pub since: Timestamp,
    /// The time at which it ends by itself, or was ended.
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
    /// The time at which it began.
    pub since: Timestamp,
    /// The time at which it ends by itself.
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
    /// Whether it is in force at a moment.
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
    /// Whether it is in force at a moment.
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

    /// Whether it covers this lane.
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

//! What few tasks ask for. A record that has none of it has no member for it.

use super::state::Outcome;
use super::{Task, TaskId};
use crate::model::config::WARN_AFTER_MS;
use crate::model::record::{as_word, note, words};
use crate::model::{LaneName, Name, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};

/// The first pause between two attempts of a task that names none, in milliseconds (S2.20).
pub const FIRST_BACKOFF_MS: u64 = 2000;
/// The longest pause between two attempts of a task that names none, in milliseconds (X19).
pub const LONGEST_BACKOFF_MS: u64 = 3_600_000;

/// The greatest number of slots that a task takes of a lane.
pub const MOST_SLOTS: u32 = 1000;

/// How a task has to end before another one that comes after it may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// It completed (`--after`).
    Completed,
    /// It ended, in whatever way (`--after-any`).
    Any,
    /// It failed, or a time limit ended it (`--after-failed`).
    Failed,
}

impl Wanted {
    /// The option.
    pub fn option(self) -> &'static str {
        match self {
            Self::Completed => "--after",
            Self::Any => "--after-any",
            Self::Failed => "--after-failed",
        }
    }
}

/// What an interruption of the command means: its supervisor or the host went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnInterrupt {
    /// As a failure: another attempt follows where one is left.
    #[default]
    Retry,
    /// No attempt follows: the command must not run twice.
    Fail,
}

words!(OnInterrupt { Retry = "retry", Fail = "fail" });

as_word!(OnInterrupt, Self::word, Self::parse, "says nothing of interruptions");

/// Of a member that may be null.
fn or_default<'de, D: Deserializer<'de>>(from: D) -> Result<OnInterrupt, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn is_default(on_interrupt: &OnInterrupt) -> bool {
    *on_interrupt == OnInterrupt::default()
}

/// Tasks that belong together and run one after another (S3.F3).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    #[serde(rename = "group")]
    pub name: Name,
    /// The first of its tasks: the others take their turn as if they had been queued right behind it.
    #[serde(rename = "group_first")]
    pub first: TaskId,
}

/// A moment by the boot clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DueBoot {
    /// The boot.
    pub boot_id: String,
    /// Milliseconds since that boot.
    pub at_ms: u64,
}

/// What was asked for beside what every task has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Terms {
    /// Of the tasks it comes after, those that may end in any way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_any: Vec<TaskId>,
    /// Of the tasks it comes after, those that must fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_failed: Vec<TaskId>,
    /// The task that it came after, and that ended in another way than was wanted: the reason of its own end.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub failed_dependency: Option<TaskId>,
    /// The digest of its work tree when it was queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Whether the digest is taken again when its command has ended (`--stable`).
    #[serde(rename = "stable", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stable: bool,
    /// Whether the work tree was another one then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_changed: Option<bool>,
    /// The first pause between two attempts, in milliseconds; each later one is twice as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The longest pause between two attempts, in milliseconds.
    #[serde(rename = "max_backoff_ms", skip_serializing_if = "Option::is_none")]
    pub most_backoff_ms: Option<u64>,
    /// What an interruption means.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub on_interrupt: OnInterrupt,
    /// A shell command that is run once when the task is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_finish: Option<String>,
    /// After how long its wait for its lanes is told, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_after_ms: Option<u64>,
    /// A shell command that is run once when its wait is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_wait: Option<String>,
    /// Of how many of a million starts the prompt and the answer are logged.
    #[serde(rename = "log_sample_ppm", skip_serializing_if = "Option::is_none")]
    pub log_sample: Option<u32>,
    /// When its delay ends by the boot clock. `due_at` is the same moment by the wall clock, and counts alone after a reboot.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub due_boot: Option<DueBoot>,
    /// How it ended before it was retried, the last end last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Outcome>,
    /// The task whose variables it began with.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub reuses: Option<TaskId>,
    /// How many slots it takes of each capacity lane that it names, where that is more than one (`--slots`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_count: Option<u32>,
    /// The message that it answers (S0.22).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The channel by which that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl Task {
    /// How many slots of one of its lanes the task takes: all of them, or none.
    pub fn slots_of(&self, lane: &LaneName) -> u32 {
        self.terms.slot_count.filter(|_| lane.is_capacity_lane()).unwrap_or(1)
    }

    /// How a task has to end before this one may start, which comes after it.
    pub fn wanted(&self, before: TaskId) -> Wanted {
        if self.terms.after_any.contains(&before) {
            Wanted::Any
        } else if self.terms.after_failed.contains(&before) {
            Wanted::Failed
        } else {
            Wanted::Completed
        }
    }

    /// The moment at which its wait is told, where it has a time of its own for that.
    pub fn warns_at(&self) -> Option<Timestamp> {
        let Terms { warn_after_ms, on_wait, .. } = &self.terms;
        let after = warn_after_ms.or(on_wait.as_ref().map(|_| WARN_AFTER_MS))?;
        Some(self.due_since().plus_ms(i64::try_from(after).unwrap_or(i64::MAX)))
    }
}

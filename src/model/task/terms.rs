//! Options that few tasks use.
//!
//! A record has members only for the options in use (`Terms`). `Stepwise` is the progress of a task whose command is started once
//! per step, until a step calls `luzia finish` (`--stepwise`).

use super::granted::Granted;
use super::state::Outcome;
use super::{Status, Task, TaskId};
use crate::model::config::WARN_AFTER_MS;
use crate::model::record::{as_word, is_default, note, words};
use crate::model::{LaneName, Name, Timestamp, record};
use serde::{Deserialize, Deserializer, Serialize};

/// The first pause between two attempts of a task that names none, in milliseconds (S2.20).
pub const FIRST_BACKOFF_MS: u64 = 2000;
/// The longest pause between two attempts of a task that names none, in milliseconds (X19).
pub const LONGEST_BACKOFF_MS: u64 = 3_600_000;

/// The greatest number of slots of a lane that a task takes.
pub const MOST_SLOTS: u32 = 1000;

/// The way in which a task has to end before a later task may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// The task completed (`--after`).
    Completed,
    /// The task ended in any way.
    Any,
    /// The task failed, or a time limit ended it (`--after-failed`).
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

/// The meaning of an interruption of the command: its supervisor or the host went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnInterrupt {
    /// A failure: another attempt follows if one is left.
    #[default]
    Retry,
    /// No attempt follows: the command must not run twice.
    Fail,
}

words!(OnInterrupt { Retry = "retry", Fail = "fail" });

as_word!(OnInterrupt, Self::word, Self::parse, "is not a value of on_interrupt");

/// Parses a member that may be null.
fn or_default<'de, D: Deserializer<'de>>(from: D) -> Result<OnInterrupt, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Tasks that belong together and run one after another (S3.F3).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// The name of the group.
    #[serde(rename = "group")]
    pub name: Name,
    /// The first of the group's tasks. The others take their turn as if they had been queued right behind it.
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

/// Options of a task beyond those that every task has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Terms {
    /// The tasks that this task comes after and that may end in any way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_any: Vec<TaskId>,
    /// The tasks that this task comes after and that must fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_failed: Vec<TaskId>,
    /// The task that this task came after, if that task did not end in the wanted way: the reason of its own end.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub failed_dependency: Option<TaskId>,
    /// The digest of the task's work tree at the time it was queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Whether the supervisor takes the digest again when the command has ended (`--stable`).
    #[serde(rename = "stable", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stable: bool,
    /// Whether the digest of the work tree was different then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_changed: Option<bool>,
    /// The first pause between two attempts, in milliseconds; each later one is twice as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The longest pause between two attempts, in milliseconds.
    #[serde(rename = "max_backoff_ms", skip_serializing_if = "Option::is_none")]
    pub most_backoff_ms: Option<u64>,
    /// The meaning of an interruption.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub on_interrupt: OnInterrupt,
    /// A shell command to run once when the task is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_finish: Option<String>,
    /// Time after which the task's wait for its lanes is reported, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_after_ms: Option<u64>,
    /// A shell command to run once when the task's wait is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_wait: Option<String>,
    /// Number of starts in a million for which the prompt and the answer are logged.
    #[serde(rename = "log_sample_ppm", skip_serializing_if = "Option::is_none")]
    pub log_sample: Option<u32>,
    /// The end of the task's delay by the boot clock. `due_at` is the same moment by the wall clock; after a reboot, only
    /// `due_at` counts.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub due_boot: Option<DueBoot>,
    /// The ends of the task before each retry, the last one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Outcome>,
    /// The task with whose variables this task began.
    #[serde(default, deserialize_with = "note", skip_serializing_if = "Option::is_none")]
    pub reuses: Option<TaskId>,
    /// Number of slots that the task takes of each capacity lane that it names, if more than one (`--slots`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_count: Option<u32>,
    /// The message that the task answers (S0.22).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The channel of that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The grants of another scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted: Option<Granted>,
}

impl Task {
    /// Number of slots of one of its lanes that the task takes: it takes all of them, or none.
    pub fn slots_of(&self, lane: &LaneName) -> u32 {
        self.terms.slot_count.filter(|_| lane.is_capacity_lane()).unwrap_or(1)
    }

    /// The way in which task `before` has to end before this task may start.
    pub fn wanted(&self, before: TaskId) -> Wanted {
        if self.terms.after_any.contains(&before) {
            Wanted::Any
        } else if self.terms.after_failed.contains(&before) {
            Wanted::Failed
        } else {
            Wanted::Completed
        }
    }

    /// The moment at which the task's wait is reported, if the task has its own time for that.
    pub fn warns_at(&self) -> Option<Timestamp> {
        let Terms { warn_after_ms, on_wait, .. } = &self.terms;
        let after = warn_after_ms.or(on_wait.as_ref().map(|_| WARN_AFTER_MS))?;
        Some(self.due_since().plus_ms(i64::try_from(after).unwrap_or(i64::MAX)))
    }
}

/// The most steps of a task that names no limit.
pub const MOST_STEPS: u32 = 1000;
/// The most steps that a task may be given.
pub const MOST_STEPS_EVER: u32 = 1_000_000;
/// The most steps that one claim may be given.
pub const MOST_PER_RUN: u32 = 10_000;

/// Progress of a stepwise task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stepwise {
    /// The number of the step that runs or comes next, from 0.
    pub step: u32,
    /// Greatest number of steps.
    #[serde(rename = "max_steps")]
    pub most: u32,
    /// Greatest number of steps of one claim.
    #[serde(rename = "steps_per_run", default = "one")]
    pub per_run: u32,
    /// One command for each step (`--steps`); empty if every step runs the command of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Vec<String>>,
    /// The names of these steps, each empty for a step without a name; the list is empty if no step has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The highest number of the task's mail that was reported to a step.
    #[serde(default)]
    pub seen_mail: u64,
    /// Results of the last run of its command.
    #[serde(default, deserialize_with = "record::object", skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRun>,
}

fn one() -> u32 {
    1
}

/// Results of one run of a stepwise command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastRun {
    /// Whether the newest record of that run was made by `luzia step`.
    #[serde(rename = "tool", default)]
    pub is_tool: bool,
    /// The exit code, 128+N for signal N.
    pub exit_code: i32,
    /// The end of the run's standard output; for a `luzia step`, the beginning.
    pub result: String,
    /// Number of bytes of the output that `result` leaves out.
    #[serde(default, skip_serializing_if = "record::is_default")]
    pub left_out: u64,
}

/// The end of a task in its own words (`luzia finish`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finish {
    /// `Completed` or `Failed`.
    pub status: Status,
    /// One sentence for people.
    pub summary: Option<String>,
    /// The data for the parent and for `luzia show`, as JSON text.
    pub data: Option<String>,
}

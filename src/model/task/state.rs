//! The state of a task, its end, and its wait without a process.
//!
//! `TaskState` is the state, and `Outcome` the end. `TaskWait` has the lanes and the time of a task that waits for an event
//! without a process.

use crate::model::lane::LaneName;
use crate::model::lock::LockId;
use crate::model::record::{as_word, object, words};
use crate::model::time::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The state of a task, with the members that only that state has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// Accepted, not started.
    Pending,
    /// A dispatcher has claimed the task, or its command runs.
    Running {
        /// The wait from which the task was claimed, until its start is recorded. A claim without a start goes back to that
        /// wait.
        from: Option<TaskWait>,
    },
    /// Waits for an event. With a wait it has no process; without one, a process of the task waits.
    Waiting(Option<TaskWait>),
    /// The task is over.
    Over(Outcome),
}

impl TaskState {
    /// The command of the task runs, or is about to.
    pub const RUNNING: Self = Self::Running { from: None };

    /// The state as a word.
    pub fn status(&self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Running { .. } => Status::Running,
            Self::Waiting(_) => Status::Waiting,
            Self::Over(outcome) => outcome.end.status(),
        }
    }

    /// The wait of the task without a process, if it has one.
    pub fn into_wait(self) -> Option<TaskWait> {
        match self {
            Self::Running { from: wait } | Self::Waiting(wait) => wait,
            Self::Pending | Self::Over(_) => None,
        }
    }
}

/// The members of a record that describe a state together.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "W: Deserialize<'de>, O: Deserialize<'de>"))]
struct Members<W, O> {
    status: Status,
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    wait: Option<W>,
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    outcome: Option<O>,
}

impl Serialize for TaskState {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (wait, outcome) = match self {
            Self::Pending => (None, None),
            Self::Running { from: wait } | Self::Waiting(wait) => (wait.as_ref(), None),
            Self::Over(outcome) => (None, Some(outcome)),
        };
        Members { status: self.status(), wait, outcome }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for TaskState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Members { status, wait, outcome } = Members::<TaskWait, Outcome>::deserialize(from)?;
        match (status, outcome) {
            (Status::Pending, None) => Ok(Self::Pending),
            (Status::Running, None) => Ok(Self::Running { from: wait }),
            (Status::Waiting, None) => Ok(Self::Waiting(wait)),
            (_, Some(outcome)) if outcome.end.status() == status => Ok(Self::Over(outcome)),
            (_, Some(_)) if status.is_final() => Err(D::Error::custom("its state is not that of its outcome")),
            _ => Err(D::Error::custom("its state and its outcome contradict each other")),
        }
    }
}

/// The four ways to end. Only an explicit `retry` leaves them (S1.11).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EndState {
    /// The command ended with 0.
    Completed,
    /// The command ended with another code, or could not run.
    Failed,
    /// A time limit ended the task.
    Timeout,
    /// A cancel ended the task.
    Cancelled,
}

impl EndState {
    /// The state of a task with this end.
    pub fn status(self) -> Status {
        match self {
            Self::Completed => Status::Completed,
            Self::Failed => Status::Failed,
            Self::Timeout => Status::Timeout,
            Self::Cancelled => Status::Cancelled,
        }
    }

    fn word(self) -> &'static str {
        self.status().word()
    }

    fn parse(word: &str) -> Option<Self> {
        Status::parse(word).and_then(Self::of)
    }

    /// The end of a state; `None` for the three states of a task that is not over.
    pub fn of(status: Status) -> Option<Self> {
        match status {
            Status::Completed => Some(Self::Completed),
            Status::Failed => Some(Self::Failed),
            Status::Timeout => Some(Self::Timeout),
            Status::Cancelled => Some(Self::Cancelled),
            Status::Pending | Status::Running | Status::Waiting => None,
        }
    }
}

/// The seven states (S1.1). "Stale", "orphan", "overdue" and "stuck" are computed on request, never stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Status {
    /// Accepted, not started.
    Pending,
    /// A dispatcher has claimed the task, or its command runs.
    Running,
    /// Waits for an event.
    Waiting,
    /// The command of the task ended with 0.
    Completed,
    /// The command of the task ended with another code, or could not run.
    Failed,
    /// A time limit ended the task.
    Timeout,
    /// A cancel ended the task.
    Cancelled,
}

words!(Status {
    Pending = "pending",
    Running = "running",
    Waiting = "waiting",
    Completed = "completed",
    Failed = "failed",
    Timeout = "timeout",
    Cancelled = "cancelled",
});

impl Status {
    /// Whether only an explicit `retry` leaves this state (S1.11).
    pub fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Timeout | Self::Cancelled => true,
            Self::Pending | Self::Running | Self::Waiting => false,
        }
    }
}

as_word!(Status, Self::word, Self::parse, "is not a state");
as_word!(EndState, Self::word, Self::parse, "is not a final state");

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The end of a task (S1.35–S1.38).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// One of the four ways.
    #[serde(rename = "status")]
    pub end: EndState,
    /// The time of the end.
    pub completed_at: Timestamp,
    /// The exit code of the command, if it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// One sentence for people.
    pub summary: String,
    /// The data that the task hands on (`finish --data`), as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The error, for `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The name of the canceller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// The reason for the cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// Run time of the command, in milliseconds; `None` if it never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_ms: Option<u64>,
    /// The number of the `luzia step` at which it failed, from 0.
    #[serde(rename = "failed_step", skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

impl Outcome {
    /// `success`, `failure`, `timeout` or `cancelled` (S1.35–S1.38).
    pub fn result_type(&self) -> &'static str {
        match self.end {
            EndState::Completed => "success",
            EndState::Failed => "failure",
            EndState::Timeout => "timeout",
            EndState::Cancelled => "cancelled",
        }
    }
}

/// The wait of a task whose record is in `waiting`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskWait {
    /// The time at which the wait runs out.
    pub until: Timestamp,
    /// The lanes that the task keeps during the wait, each with the id of its lock there.
    #[serde(default, serialize_with = "write_kept", deserialize_with = "read_kept")]
    pub kept: Vec<(LaneName, LockId)>,
    /// Whether the task waits for its children, and so lends them its lanes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lends: bool,
}

impl TaskWait {
    /// Whether the task keeps a lock.
    pub fn keeps(&self, lane_stem: &str, lock_id: &str) -> bool {
        self.kept.iter().any(|(lane, kept)| lane.stem() == lane_stem && kept.0 == lock_id)
    }
}

#[derive(Serialize, Deserialize)]
struct Kept<L, I> {
    lane: L,
    lock_id: I,
}

fn write_kept<S: Serializer>(kept: &[(LaneName, LockId)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(kept.iter().map(|(lane, lock_id)| Kept { lane, lock_id }))
}

fn read_kept<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(LaneName, LockId)>, D::Error> {
    let kept = Vec::<Kept<LaneName, LockId>>::deserialize(from)?;
    Ok(kept.into_iter().map(|Kept { lane, lock_id }| (lane, lock_id)).collect())
}

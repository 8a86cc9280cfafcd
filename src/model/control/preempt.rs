//! A task that makes room for itself (`--preempt`).

use crate::model::record::{as_word, words};
use crate::model::task::TaskId;
use crate::model::time::MAX_DURATION_MS;
use serde::{Deserialize, Deserializer, Serialize};

/// The action on the holder of a lane that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// luzia cancels it.
    End,
    /// luzia queues it again in its old place; no attempt is spent.
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

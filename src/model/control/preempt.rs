//! A task that makes room for itself (`--preempt`).

use super::super::task::TaskId;

/// What becomes of the holder of a lane that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// It is cancelled.
    End,
    /// It is queued again in its old place; no attempt is spent.
    Requeue,
}

impl How {
    /// Every one, in the order of the help.
    pub const ALL: [Self; 2] = [Self::End, Self::Requeue];

    /// The word on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Requeue => "requeue",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.word() == word)
    }
}

/// The wish of one task, from its acceptance to its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preempt {
    /// The task that needs the room.
    pub task: TaskId,
    /// What becomes of the holders.
    pub how: How,
    /// The time between SIGTERM and SIGKILL, in milliseconds; the holder's own when absent.
    pub grace_ms: Option<u64>,
    /// Whether work of somebody else may be ended or queued again.
    pub others: bool,
    /// Who asked for it.
    pub by: String,
}

//! Relation of an existing lock to a claimant of its lane.

use crate::model::evidence::Verdict;
use crate::model::{LockKind, LockRecord, TaskId};

/// The claimant of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// `task_<n>`, or a name.
    pub holder: &'a str,
    /// The kind of its lock, by which luzia will judge its life.
    pub kind: LockKind,
    /// The key of its session.
    pub session: Option<&'a str>,
}

/// An existing lock, as seen under its guard.
#[derive(Clone, Copy, Debug)]
pub struct Met<'a> {
    /// Whether its holder lives.
    pub verdict: &'a Verdict,
    /// The contents of its sidecar; `None` if it is invalid.
    pub record: Option<&'a LockRecord>,
    /// The task that its lock file names, if the sidecar is missing or damaged.
    pub named: Option<TaskId>,
    /// The task of a stale lock, if something of that task must still be recovered.
    pub to_recover: Option<TaskId>,
}

/// Relation of a lock to a claimant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The claimant holds it itself, and it is refreshed.
    Own,
    /// Its holder lives.
    Living,
    /// No process or lease holds it any more.
    Breakable,
    /// Its holder is dead, and must be recovered before the lane is free.
    Dead(TaskId),
}

/// Returns the relation of a lock to a claimant. It is pure, and callers call it only under the guard.
pub type Stands = fn(&Claimant<'_>, &Met<'_>) -> Standing;

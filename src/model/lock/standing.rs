//! How a lock that is there stands towards somebody who wants its lane.

use crate::model::evidence::Verdict;
use crate::model::{LockKind, LockRecord, TaskId};

/// Who wants a lane.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// `task_<n>`, or a name.
    pub holder: &'a str,
    /// How its life will be judged.
    pub kind: LockKind,
    /// The key of its session.
    pub session: Option<&'a str>,
}

/// A lock that is there, as it was seen under its guard.
#[derive(Clone, Copy, Debug)]
pub struct Met<'a> {
    /// Whether its holder lives.
    pub verdict: &'a Verdict,
    /// What its sidecar says; `None` where it does not read.
    pub record: Option<&'a LockRecord>,
    /// The task that its lock file names, where the sidecar is missing or damaged.
    pub named: Option<TaskId>,
    /// The task of a stale lock of which something is left to recover.
    pub to_recover: Option<TaskId>,
}

/// How a lock stands towards a claimant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is the claimant's own, and is refreshed.
    Own,
    /// Its holder lives.
    Living,
    /// Nobody holds it any more.
    Breakable,
    /// Its holder is dead, and must be recovered before the lane is free.
    Dead(TaskId),
}

/// Tells how a lock stands; pure, and asked only under the guard.
pub type Stands = fn(&Claimant<'_>, &Met<'_>) -> Standing;

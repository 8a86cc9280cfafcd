//! What is asked of the locks, and the answers.

use crate::model::capacity::{Occupied, SlotValues};
use crate::model::config::Rate;
use crate::model::lock::standing::Stands;
use crate::model::{Grant, Identity, LaneName, LockKind, Reason, TaskId, Timestamp, Who};
use crate::store::{Hold, LockView};

/// One lane that is wanted, with its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNeed {
    /// The lane.
    pub lane: LaneName,
    /// How many may hold it at once.
    pub limit: u32,
    /// How many of its slots are wanted: all of them, or none.
    pub count: u32,
    /// Its lock timeout, in milliseconds.
    pub timeout_ms: u64,
    /// How often it is granted at most.
    pub rate: Option<Rate>,
    /// Of `global`: the lanes that have slots to themselves, and how many, without those that are asked for together with it.
    pub kept: Vec<(LaneName, u32)>,
    /// What its slots stand for, in a lane whose slots have names.
    pub values: Option<SlotValues>,
    /// Whether its gate is shut: then nothing new is granted in it, but what a holder lends may be borrowed.
    pub is_shut: bool,
    /// Whether tasks and commands in it have shares of processors.
    pub shares_cpus: bool,
}

impl LaneNeed {
    /// A lane with a limit and no other rule.
    pub fn new(lane: LaneName, limit: u32, timeout_ms: u64) -> Self {
        Self {
            lane,
            limit,
            count: 1,
            timeout_ms,
            rate: None,
            kept: Vec::new(),
            values: None,
            is_shut: false,
            shares_cpus: false,
        }
    }
}

/// Why a lane that has room grants nothing now. Nobody who holds a lock of it changes that, so it is tried again by a timer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotNow {
    /// Its gate is shut.
    Shut(LaneName),
    /// What no holder has is used by strangers.
    Occupied(LaneName, Occupied),
    /// It has fewer slots than are wanted.
    Narrow(LaneName),
}

impl NotNow {
    /// The lane.
    pub fn lane(&self) -> &LaneName {
        match self {
            Self::Shut(lane) | Self::Occupied(lane, _) | Self::Narrow(lane) => lane,
        }
    }
}

/// Who wants which lanes. The lanes stand in the order in which they are taken.
#[derive(Clone, Debug)]
pub struct Request {
    /// The lanes: all are taken, or none.
    pub needs: Vec<LaneNeed>,
    /// `task_<n>`, or a name.
    pub holder: String,
    /// How the holder's life will be judged. For `Task` the caller holds the task's `supervisor.lock`.
    pub kind: LockKind,
    /// A time to live of its own, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// The process to record.
    pub process: Identity,
    /// Whether a lease ends with that process.
    pub pid_watched: bool,
    /// What the sidecar says of the requester.
    pub who: Who,
    /// Whether the lock files are synced, to survive a power cut.
    pub durable: bool,
    /// The tasks that wait for the holder to be, and so lend it their lanes: its parent, then those that wait for the parent.
    pub lenders: Vec<TaskId>,
    /// Who may refresh or break a lock that is there.
    pub stands: Stands,
}

/// A lock that was removed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// The lane.
    pub lane: LaneName,
    /// Its slot.
    pub slot: u32,
    /// The grant that was ended, when it is known.
    pub lock_id: Option<String>,
    /// Who held it, when it is known.
    pub holder: Option<String>,
    /// The reason of the verdict; `None` for a release by the holder or by hand.
    pub why: Option<Reason>,
    /// Milliseconds since its last refresh.
    pub age_ms: u64,
}

impl Break {
    /// A lock that its holder gave back.
    pub fn by_holder(lane: &LaneName, slot: u32, lock_id: String, holder: String) -> Self {
        Self { lane: lane.clone(), slot, lock_id: Some(lock_id), holder: Some(holder), why: None, age_ms: 0 }
    }
}

/// The answer to a request.
pub enum Acquired {
    /// All lanes are held now.
    Granted {
        /// The grants, in the order of the request.
        grants: Vec<Grant>,
        /// The lanes among them of which the holder had a live lease, which was refreshed.
        refreshed: Vec<LaneName>,
        /// Stale locks that were broken on the way.
        broken: Vec<Break>,
        /// For kind `process`: the open lock files with their kernel locks, which the command inherits. For kind `session`: those
        /// that the acquirer keeps until the keeper of the session has them.
        files: Vec<Hold>,
    },
    /// This holder had a live lease of every lane; each was refreshed and keeps its lock id and fence.
    Refreshed(Vec<Grant>),
    /// A lane is full. Nothing was changed.
    Held(Box<LockView>),
    /// A lane has room, and its rate does not allow a grant before a moment. Nothing was changed.
    Limited {
        /// The lane.
        lane: LaneName,
        /// When it may be granted again.
        until: Timestamp,
    },
    /// What is left of `global` is kept for other lanes. Nothing was changed.
    Kept,
    /// The lanes are free, but in this one it is the turn of somebody who waits in its line, or of a task. Nothing was changed.
    Behind(LaneName),
    /// A lane has room and grants nothing all the same. Nothing was changed.
    NotNow(NotNow),
    /// A dead task holds a lane; it must be recovered first, because its command may still live. Nothing was changed.
    NeedsRecovery(TaskId),
}

/// Which lock is to be released.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The grant of this name.
    LockId(String),
    /// The lock of this holder.
    Holder(String),
    /// Any holder.
    Anybody,
}

/// The answer to a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Released {
    /// The lane was free.
    Free,
    /// It is free now.
    Removed(Break),
    /// Somebody else holds it. Nothing was changed.
    NotYours(Box<LockView>),
    /// A living process holds it. Nothing was changed.
    Living(Box<LockView>),
    /// A dead task holds it, and must be recovered first.
    NeedsRecovery(TaskId),
}

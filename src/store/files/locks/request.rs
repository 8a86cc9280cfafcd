//! Requests to the locks, and the answers.

use crate::model::capacity::{Occupied, SlotValues};
use crate::model::config::Rate;
use crate::model::lock::Stands;
use crate::model::task::GrantedSlot;
use crate::model::{Grant, Identity, LaneName, LockKind, Reason, TaskId, Timestamp, Who};
use crate::store::{Hold, LockView};

/// One lane that is wanted, with its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNeed {
    /// The lane.
    pub lane: LaneName,
    /// Number of holders that the lane may have at once.
    pub limit: u32,
    /// Number of the lane's slots that are wanted: all of them, or none.
    pub count: u32,
    /// The lock timeout of the lane, in milliseconds.
    pub timeout_ms: u64,
    /// The greatest rate of the lane's grants.
    pub rate: Option<Rate>,
    /// For `global`: the lanes that have slots to themselves, and their numbers, without lanes that are requested together
    /// with it.
    pub kept: Vec<(LaneName, u32)>,
    /// The values of the lane's slots, in a lane whose slots have names.
    pub values: Option<SlotValues>,
    /// Whether the lane's gate is shut: then nothing new is granted in it, but a request may borrow from a holder that
    /// lends.
    pub is_shut: bool,
    /// Whether tasks and commands in the lane have shares of processors.
    pub shares_cpus: bool,
    /// The slots that another scheduler has granted: these are taken, and no others.
    pub granted: Vec<GrantedSlot>,
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
            granted: Vec::new(),
        }
    }
}

/// Reason why a lane that has room grants nothing now. The end of a holder does not change that, so a timer tries again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotNow {
    /// The gate of the lane is shut.
    Shut(LaneName),
    /// Strangers use the values that no holder has.
    Occupied(LaneName, Occupied),
    /// The lane has fewer slots than are wanted.
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

/// A request of a holder for lanes. The lanes are in the order in which they are taken.
#[derive(Clone, Debug)]
pub struct Request {
    /// The lanes: all are taken, or none.
    pub needs: Vec<LaneNeed>,
    /// `task_<n>`, or a name.
    pub holder: String,
    /// The way in which the holder's life will be judged. For `Task` the caller holds the task's `supervisor.lock`.
    pub kind: LockKind,
    /// A time to live of its own, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// The process to record.
    pub process: Identity,
    /// Whether a lease ends with that process.
    pub pid_watched: bool,
    /// The requester, as the sidecar names it.
    pub who: Who,
    /// Whether the lock files are synced, to survive a power cut.
    pub durable: bool,
    /// The tasks that wait for the future holder, and so lend it their lanes: its parent, then those that wait for the
    /// parent.
    pub lenders: Vec<TaskId>,
    /// The right to refresh or break an existing lock.
    pub stands: Stands,
}

/// A lock that was removed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// The lane.
    pub lane: LaneName,
    /// The slot of the lock.
    pub slot: u32,
    /// The grant that was ended, when it is known.
    pub lock_id: Option<String>,
    /// The holder of the lock, when it is known.
    pub holder: Option<String>,
    /// The reason of the verdict; `None` for a release by the holder or by hand.
    pub why: Option<Reason>,
    /// Milliseconds since the lock's last refresh.
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
        /// The lanes among them in which the holder had a live lease, which was refreshed.
        refreshed: Vec<LaneName>,
        /// Stale locks that were broken on the way.
        broken: Vec<Break>,
        /// For kind `process`: the open lock files with their kernel locks, which the command inherits. For kind `session`: those
        /// that the acquirer keeps until the keeper of the session has them.
        files: Vec<Hold>,
    },
    /// This holder had a live lease of every lane; each was refreshed and keeps its lock id and fence.
    Refreshed(Vec<Grant>),
    /// A lane cannot be had. Nothing was changed.
    Denied(Denial),
}

/// The reason that a request gets none of its lanes.
pub enum Denial {
    /// A lane is full.
    Held(Box<LockView>),
    /// A lane has room, and its rate does not allow a grant before a moment.
    Limited {
        /// The lane.
        lane: LaneName,
        /// The moment from which the lane may be granted again.
        until: Timestamp,
    },
    /// The free slots of `global` are kept for other lanes.
    Kept,
    /// The lanes are free, but in this one it is the turn of a waiter in its line, or of a task.
    Behind(LaneName),
    /// A gate is shut, or other programs use the values of a lane's slots.
    NotNow(NotNow),
    /// A dead task must be recovered first, because its command may still live.
    NeedsRecovery(TaskId),
    /// The grant of this lane is used up, and another scheduler must renew it.
    NoGrant(LaneName),
}

/// The lock that is to be released.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The grant with this lock id.
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
    /// The lock is free now.
    Removed(Break),
    /// Another holder has the lock. Nothing was changed.
    NotYours(Box<LockView>),
    /// A living process holds the lock. Nothing was changed.
    Living(Box<LockView>),
    /// A dead task holds the lock, and must be recovered first.
    NeedsRecovery(TaskId),
}

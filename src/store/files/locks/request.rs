//! What is asked of the locks, and the answers.

use crate::model::evidence::Reason;
use crate::model::lock::Grant;
use crate::model::{Identity, LaneName, LockKind, TaskId, Who};
use crate::os::Handle;
use crate::store::files::locks::list::LockView;

/// One lane that is wanted, with its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNeed {
    /// The lane.
    pub lane: LaneName,
    /// How many may hold it at once.
    pub limit: u32,
    /// Its lock timeout, in milliseconds.
    pub timeout_ms: u64,
}

/// Who wants which lanes. The lanes stand in the order in which they are taken.
#[derive(Clone, PartialEq, Eq, Debug)]
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
    /// What the sidecar says of whoever asks.
    pub who: Who,
    /// Whether the lock files are synced, to survive a power cut.
    pub durable: bool,
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

/// The answer to a request.
pub enum Acquired {
    /// All lanes are held now.
    Granted {
        /// The grants, in the order of the request.
        grants: Vec<Grant>,
        /// Stale locks that were broken on the way.
        broken: Vec<Break>,
        /// For kind `process`: the open lock files with their kernel locks, which the command inherits. For kind `session`: those
        /// that the acquirer keeps until the keeper of the session has them.
        files: Vec<Box<dyn Handle>>,
    },
    /// The same holder had a live lease; it was refreshed and keeps its lock id and fence.
    Refreshed(Grant),
    /// A lane is full. Nothing was changed.
    Held(Box<LockView>),
    /// The lanes are free, but in one of them it is the turn of somebody who waits in its line, or of a task. Nothing was
    /// changed.
    Behind,
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
    /// Whoever holds it.
    Whoever,
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

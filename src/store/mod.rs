//! FACTS: what is on disk. Every public verb is one whole transaction with a named commit point; the room is told what
//! to do and never decides: the judge of stale locks and the limits come as arguments.

mod batch;
pub(crate) mod conductor;
pub mod config;
pub(crate) mod counter;
mod debris;
mod duty;
mod error;
pub(crate) mod events;
mod guard;
mod inspect;
mod known;
mod layout;
mod lifecycle;
mod lock_retry;
mod locks;
mod log_notes;
mod look;
mod object;
mod order;
mod origin;
mod outside;
mod parked;
mod pending;
mod prune;
mod publish;
mod record;
mod record_context;
mod refresh;
mod release;
pub(crate) mod rundir;
mod shortage;
pub(crate) mod sidecar;
pub(crate) mod spelling;
mod spool;
pub mod statedir;
mod survey;
mod turn;

pub use conductor::{ClaimedMeta, Conductor};
pub use conductor::{STDERR_LOG, STDOUT_LOG};
pub use duty::Duty;
pub use error::StoreError;
pub use events::{Event, EventSink};
pub use inspect::{Moded, Purpose};
pub use lifecycle::{Claim, Claimed, Ending, Found, Next, Removed};
pub use locks::{Acquired, Break, LaneNeed, Release, Released, Request, broken};
pub use log_notes::{LogNote, LogNotes};
pub use look::{LockIndex, LockView, lock_state};
pub use order::KeySlot;
pub use outside::Changes;
pub use pending::Head;
pub(crate) use record::decode_named;
pub use record::{DEFAULT_GRACE_MS, decode_task, encode_task};
pub use refresh::Kept;
pub use release::{By, Cleanup, GivenBack};
pub use rundir::{CancelRequest, Started};
pub use shortage::Short;
pub use spool::Place;
pub use survey::{Counts, Problem, Survey};

use crate::model::Identity;
use crate::os::{Clock, Processes, Vfs};
use std::sync::Arc;

/// The version written into every file; a higher one is refused, never rewritten.
pub const FORMAT_VERSION: u64 = 1;
/// The largest record read or written, in bytes.
pub const MAX_RECORD_BYTES: u64 = 4 * 1024 * 1024;

/// The state directory, through which everything on disk is read and changed.
#[derive(Clone)]
pub struct Store {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) procs: Arc<dyn Processes>,
    pub(crate) me: Identity,
    pub(crate) uid: u32,
    pub(crate) turn: turn::Turn,
    pub(crate) journal: events::Journal,
    pub(crate) known: known::Known,
    /// How many records the folder of a lane holds.
    pub(crate) lane_holds: usize,
}

impl Store {
    /// The store in an open state directory.
    pub fn new(vfs: Arc<dyn Vfs>, clock: Arc<dyn Clock>, procs: Arc<dyn Processes>) -> Self {
        let (me, uid) = (procs.me(), procs.uid());
        Self {
            vfs,
            clock,
            procs,
            me,
            uid,
            turn: turn::Turn::default(),
            journal: events::Journal::default(),
            known: known::Known::default(),
            lane_holds: pending::LANE_HOLDS,
        }
    }

    /// The path of the state directory, for messages and for the environment of tasks.
    pub fn state_dir(&self) -> &str {
        self.vfs.root()
    }
}

/// A task for the tests of other rooms.
#[cfg(test)]
pub(crate) mod tests_support {
    pub(crate) use super::record::tests::task;
}

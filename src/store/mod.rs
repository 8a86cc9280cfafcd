//! FACTS: the state on disk (`Spool`).
//!
//! Every public verb is one whole transaction with a named commit point. The room gets its orders and never decides: the judge of
//! stale locks and the limits come as arguments. `Site` is the basis of every command and every supervisor: the host, its local
//! folders and its store.

pub(crate) mod conductor;
pub mod config;
mod error;
pub(crate) mod files;
pub(crate) mod journal;
mod outside;
pub(crate) mod run_dir;
pub mod state_dir;

pub use crate::model::record::FORMAT_VERSION;
use crate::os::{Clock, Host, Processes, Vfs};
pub use conductor::{ClaimedMeta, Conductor, STDERR_LOG, STDOUT_LOG};
pub use error::{Result, StoreError, Thing};
pub use files::capacity::Shares;
pub use files::disk::fsck::{Moded, Purpose};
pub(crate) use files::disk::publish::Disk;
pub(crate) use files::disk::task_record::{KnownMembers, Part, decode_named};
pub use files::disk::task_record::{OF_A_START, decode_task, encode_task};
pub(crate) use files::disk::{file_name, json_object, layout};
pub use files::dispatchers::lending::Lending;
pub use files::dispatchers::standby::Standby;
pub use files::dispatchers::{Duty, Presence};
pub use files::granted::Taken;
pub use files::granted::seen::StoreSeen;
pub use files::locks::acquire::broken;
pub(crate) use files::locks::bucket::Guards;
pub(crate) use files::locks::line::turns::FreedBy;
pub use files::locks::line::turns::Owed;
pub use files::locks::line::{InLine, LineWaiter};
pub(crate) use files::locks::list::{Limits, slots_in};
pub use files::locks::list::{LockIndex, LockView, lock_state};
pub use files::locks::loans::Loans;
pub use files::locks::refresh::Kept;
pub use files::locks::release::{By, Cleanup, GivenBack};
pub use files::locks::request::{Acquired, Break, Denial, LaneNeed, NotNow, Release, Released, Request};
pub use files::locks::session::{KeeperAnswer, SessionLock};
pub(crate) use files::prune::remove_tree;
pub use files::queue::accept::Place;
pub(crate) use files::queue::accept::Told;
pub use files::queue::claim::{Claim, Claimed, Judges};
pub use files::queue::heads::{Heads, HeadsSizes, HeadsView};
pub use files::queue::lifecycle::{Ending, Found, Removed};
pub use files::queue::markers::{KeySlot, Timers};
pub use files::queue::pending::{Head, QueueIndex};
pub use files::queue::query::{Counts, Problem, Survey};
pub use files::running::{CancelRequest, RunPause, Started};
pub use files::schedules::ScheduleBook;
pub use files::steps::done::StepRecord;
pub use files::steps::waits::{DoneWait, LateCommand, Mail, OpenWait, OutputEnd, OutputWatch, Waiter, Waits};
pub use files::steps::{Beat, Document, Vars, var_text};
pub use journal::{Add, Event, EventLine, EventReader, KINDS, ReadEvent, SEGMENT_BYTES, Segment, is_kind};
pub use outside::{Changes, Hold};
pub use run_dir::log_notes::{LogNote, LogNotes};
pub use run_dir::{RunDir, Short};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

/// The largest record read or written, in bytes.
pub const MAX_RECORD_BYTES: u64 = 4 * 1024 * 1024;

/// The state directory, through which everything on disk is read and changed.
#[derive(Clone)]
pub struct Spool {
    disk: Disk,
    pub(crate) run_dir: RunDir,
    pub(crate) turn: files::dispatchers::Turn,
    pub(crate) journal: journal::Journal,
    pub(crate) told: journal::hooks::Told,
    pub(crate) known: files::disk::known::Known,
    pub(crate) known_members: KnownMembers,
    pub(crate) seen: Arc<Mutex<files::queue::pending::Seen>>,
    /// The content of `format` that was found to be valid.
    pub(crate) format: Arc<OnceLock<Vec<u8>>>,
    pub(crate) parsed: files::locks::sidecar::Parsed,
    pub(crate) owes_pass: files::locks::line::turns::Debt,
    /// Number of records that the folder of a lane holds.
    pub(crate) lane_holds: usize,
    pub(crate) heads: HeadsSizes,
}

impl Deref for Spool {
    type Target = Disk;

    fn deref(&self) -> &Disk {
        &self.disk
    }
}

impl Spool {
    /// The store in an open state directory.
    pub fn new(vfs: Arc<dyn Vfs>, clock: Arc<dyn Clock>, procs: Arc<dyn Processes>) -> Self {
        let host = Host::new(vfs, clock, procs);
        let disk = Disk::of(&host);
        Self {
            run_dir: RunDir::on(disk.clone()),
            disk,
            turn: files::dispatchers::Turn::default(),
            journal: journal::Journal::default(),
            told: journal::hooks::Told::default(),
            known: files::disk::known::Known::default(),
            known_members: KnownMembers::default(),
            seen: Arc::default(),
            format: Arc::default(),
            parsed: files::locks::sidecar::Parsed::default(),
            owes_pass: files::locks::line::turns::Debt::default(),
            lane_holds: files::queue::pending::LANE_HOLDS,
            heads: HeadsSizes::default(),
        }
    }
}

/// A host, its local folders, and its store: cheap handles, which may be cloned.
#[derive(Clone)]
pub struct Site {
    /// This host.
    pub host: Host,
    /// The local part of the tasks that run on this host.
    pub run_dir: RunDir,
    /// The store of tasks, locks and all other lasting records.
    pub store: Arc<Spool>,
}

impl From<Spool> for Site {
    fn from(store: Spool) -> Self {
        Self { host: store.host.clone(), run_dir: store.run_dir.clone(), store: Arc::new(store) }
    }
}

/// A task for the tests of other rooms.
#[cfg(test)]
pub(crate) mod tests_support {
    pub(crate) use crate::store::files::disk::task_record::tests::task;
}

//! Processes that make passes: their presence, their turn and the duty, the `run`s that stand by, and the waiters for children.
//!
//! `Presence` is the presence of a dispatcher. Daemons, drains and waiting `run`s hold shared kernel locks, so other processes
//! see that a task would be started. One lock is for the whole state directory, one for the dispatchers of a sandbox: those of
//! another sandbox start none of its tasks (contract P9).
//!
//! `take_turn` waits for the turn of a dispatcher. The process that has the turn releases the lanes of a task that ended and
//! claims the next ones, without another dispatcher between the two. So each dispatcher finds the slot that it freed itself. Only
//! the number of processes of a queue depends on the turn: a process that does not get it in time goes on without it.
//!
//! Of all `run`s whose tasks wait, one has the duty (`Duty`) and makes the passes. The others stand by (`standby.rs`), so that n
//! of them cost one pass for each change and not n. A `run` that finds no place to stand by asks for the duty from time to time.
//! The waiters for children are in `lending.rs`.

pub(crate) mod lending;
pub(crate) mod standby;

use crate::model::{SandboxId, Task};
use crate::os::{Handle, Vfs};
use crate::store::files::disk::lock_retry::BackOff;
use crate::store::{Changes, Result, Spool, layout};
use standby::HolderPipe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The presence of a dispatcher, visible to other processes while it lives.
pub struct Presence {
    _anywhere: Box<dyn Handle>,
    here: Box<dyn Handle>,
    vfs: Arc<dyn Vfs>,
    path: String,
}

impl Drop for Presence {
    fn drop(&mut self) {
        // The last dispatcher of a sandbox removes its file: a sandbox that is used once leaves nothing behind.
        if self.here.try_lock(false).unwrap_or(false) {
            let _ = self.vfs.unlink(&self.path);
        }
        let _ = self.here.unlock();
    }
}

impl Spool {
    /// Takes the locks that long-running dispatchers of a sandbox share.
    pub fn join_dispatchers(&self, sandbox: &SandboxId) -> Result<Presence> {
        let anywhere = self.locked(layout::DISPATCHERS, true)?;
        let path = layout::dispatchers_of(sandbox);
        let here = self.locked_by_name(&path, true)?;
        Ok(Presence { _anywhere: anywhere, here, vfs: Arc::clone(&self.vfs), path })
    }

    /// Whether a daemon, a `run` or a `dispatch --drain` is at work: in a sandbox, or in any.
    pub fn has_dispatcher(&self, sandbox: Option<&SandboxId>) -> Result<bool> {
        let path = sandbox.map_or_else(|| layout::DISPATCHERS.to_owned(), layout::dispatchers_of);
        self.is_held(&path, false)
    }
}

/// Time for which a process waits for its turn, in milliseconds. A process that was stopped in its turn delays others no
/// longer.
const PATIENCE_MS: u64 = 20;
const PAUSE_MOST_US: u64 = 800;

/// The turn of this process, while it has it.
pub(crate) type Turn = Arc<Mutex<Option<Box<dyn Handle>>>>;

impl Spool {
    /// Waits for the turn and takes it, unless this process already has it.
    pub fn take_turn(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            *turn = self.wait_for_turn();
        }
    }

    /// Gives the turn up, if this process has it.
    pub fn end_turn(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut turn) = turn {
            // An explicit unlock, because a process that was started meanwhile may have a copy of the descriptor for an
            // instant.
            let _ = turn.unlock();
        }
    }

    fn wait_for_turn(&self) -> Option<Box<dyn Handle>> {
        let mut turn = self.open_or_make(layout::TURN).ok()?;
        let mut back_off = BackOff::new(self, PATIENCE_MS, PAUSE_MOST_US);
        while !turn.try_lock(false).ok()? {
            if !back_off.pause(self) {
                return None;
            }
        }
        Some(turn)
    }
}

/// Sleep of a `run` that stands by without a place, before it asks for the duty again.
const STANDBY: Duration = Duration::from_secs(2);
/// Sleep between two requests for the duty when the kernel gives no further watch.
const STANDBY_UNWATCHED: Duration = Duration::from_millis(500);

/// The duty, held while this value lives. Its file goes with it: a sandbox that is used once leaves nothing behind.
pub struct Duty {
    handle: Box<dyn Handle>,
    vfs: Arc<dyn Vfs>,
    path: String,
    /// The pipe that standing-by `run`s watch; `None` before this process waits itself, and when no pipe can be made.
    shown: Option<HolderPipe>,
}

impl Drop for Duty {
    fn drop(&mut self) {
        // The names are removed while no other process can have made them anew.
        if let Some(shown) = &self.shown {
            shown.hide(self.vfs.as_ref());
        }
        let _ = self.vfs.unlink(&self.path);
        // An explicit unlock, because a process that was started meanwhile may have a copy of the descriptor for an instant.
        let _ = self.handle.unlock();
        // The pipe ends afterwards, so the process that it wakes finds the duty free.
        if let Some(shown) = self.shown.take() {
            shown.end(self.vfs.as_ref());
        }
    }
}

impl Spool {
    /// Takes the duty among the processes of one sandbox, since only these can start each other's tasks; `None` while another
    /// process has it.
    pub fn try_duty(&self, sandbox: &SandboxId) -> Result<Option<Duty>> {
        let path = layout::duty(sandbox);
        let handle = self.try_locked_by_name(&path)?;
        Ok(handle.map(|handle| Duty { handle, vfs: Arc::clone(&self.vfs), path, shown: None }))
    }

    /// Shows the standing-by `run`s that this process has the duty, so that its end wakes one of them.
    pub fn show_duty(&self, duty: &mut Duty, sandbox: &SandboxId) {
        if duty.shown.is_none() {
            duty.shown = self.show_holder(sandbox);
        }
    }

    /// Watches the record of a pending task, and no file that other tasks change.
    pub fn watch_record(&self, task: &Task) -> Result<Changes> {
        let path = self.pending_path(task.priority, &task.queue(), task.id)?;
        Ok(self.changes_of(path.as_deref()))
    }

    /// Sleeps until the watched record moves or the duty may have become free.
    pub fn stand_by(&self, record: &mut Changes) {
        let longest = if record.is_watching() { STANDBY } else { STANDBY_UNWATCHED };
        record.wait_unless_signalled(longest);
    }
}

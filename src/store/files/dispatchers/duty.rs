//! The duty: of all `run`s whose tasks wait, one makes the passes. The others stand by (`standby.rs`), so that n of them cost
//! one pass for each change and not n. A `run` that finds no place to stand by asks for the duty from time to time.

use crate::model::{SandboxId, Task};
use crate::os::{Handle, Vfs};
use crate::store::files::dispatchers::standby::HolderPipe;
use crate::store::{Changes, Result, Spool, layout};
use std::sync::Arc;
use std::time::Duration;

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

//! The duty: of all `run`s whose tasks wait, one makes the passes. The others stand by: they sleep until their own record
//! moves, so that n of them cost one pass for each change and not n.

use crate::model::{SandboxId, Task};
use crate::os::{Handle, Vfs};
use crate::store::Store;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::layout;
use crate::store::outside::Changes;
use std::sync::Arc;
use std::time::Duration;

/// How long a `run` that stands by sleeps before it asks for the duty again. A successor of a killed one comes that soon.
const STANDBY: Duration = Duration::from_secs(2);
/// The same where the kernel gives no further watch.
const STANDBY_UNWATCHED: Duration = Duration::from_millis(500);

/// The duty, held while this lives. Its file goes with it: a sandbox that is used once leaves nothing behind.
pub struct Duty {
    handle: Box<dyn Handle>,
    vfs: Arc<dyn Vfs>,
    path: String,
}

impl Drop for Duty {
    fn drop(&mut self) {
        let _ = self.vfs.unlink(&self.path);
        // In words, because a process that was started meanwhile may have a copy of the descriptor for an instant.
        let _ = self.handle.unlock();
    }
}

impl Store {
    /// Takes the duty among the processes of one sandbox, which alone can start each other's tasks; `None` while another
    /// process has it.
    pub fn try_duty(&self, sandbox: &SandboxId) -> Result<Option<Duty>> {
        let path = layout::duty(sandbox);
        loop {
            let mut handle = self.open_or_make(&path)?;
            if !handle.try_lock(false).map_err(StoreError::io("lock", &path))? {
                return Ok(None);
            }
            // The last holder removes the file; a lock on a removed file excludes nobody.
            if handle.meta().map_err(StoreError::io("look at", &path))?.links > 0 {
                return Ok(Some(Duty { handle, vfs: Arc::clone(&self.vfs), path }));
            }
        }
    }

    /// Watches the record of a pending task, and nothing that others change.
    pub fn watch_record(&self, task: &Task) -> Result<Changes> {
        let path = self.pending_path(task.priority, &task.queue(), task.id)?;
        Ok(self.changes_of(path.as_deref()))
    }

    /// Whether the record of a pending task is still in its lane.
    pub fn is_in_its_lane(&self, task: &Task) -> Result<bool> {
        self.is_pending(task)
    }

    /// Sleeps until the watched record moves or the duty may have become free.
    pub fn stand_by(&self, record: &mut Changes) {
        let longest = if record.is_watching() { STANDBY } else { STANDBY_UNWATCHED };
        record.wait_unless_signalled(longest);
    }
}

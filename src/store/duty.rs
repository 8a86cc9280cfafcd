//! The duty: of all `run`s whose tasks wait, one makes the passes. The others stand by: they sleep until their own record
//! moves, so that n of them cost one pass for each change and not n.

use super::error::{Result, StoreError};
use super::outside::Changes;
use super::{Store, layout};
use crate::model::{LaneName, Task};
use crate::os::Handle;
use std::time::Duration;

/// How long a `run` that stands by sleeps before it asks for the duty again. A successor of a killed one comes that soon.
const STANDBY: Duration = Duration::from_secs(2);
/// The same where the kernel gives no further watch.
const STANDBY_UNWATCHED: Duration = Duration::from_millis(500);

/// The duty, held while this lives.
pub struct Duty(Box<dyn Handle>);

impl Drop for Duty {
    fn drop(&mut self) {
        // In words, because a process that was started meanwhile may have a copy of the descriptor for an instant.
        let _ = self.0.unlock();
    }
}

impl Store {
    /// Takes the duty; `None` while another process has it.
    pub fn try_duty(&self) -> Result<Option<Duty>> {
        let mut handle = self.open_or_make(layout::DUTY)?;
        let is_mine = handle.try_lock(false).map_err(StoreError::io("lock", layout::DUTY))?;
        Ok(is_mine.then_some(Duty(handle)))
    }

    /// Watches the record of a pending task, and nothing that others change.
    pub fn watch_record(&self, task: &Task) -> Result<Changes> {
        let stem = LaneName::user(&task.user).stem();
        let path = self.pending_path(task.priority, &stem, task.id)?;
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

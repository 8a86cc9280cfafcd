//! How parked tasks leave their place, and what would have woken them. Whoever retries a task, or queues it again after a
//! failed attempt, sets its marks and timers before its record stands among the parked ones. So these are removed only by
//! who holds the task's `supervisor.lock` and sees that it is not about to be parked.

use super::error::{Result, StoreError};
use super::publish::Publication;
use super::spool::Place;
use super::{Store, layout};
use crate::model::{TaskId, Timestamp};

impl Store {
    /// Moves a parked task to its lane durably, now that nothing keeps it, and removes what would have woken it. False when
    /// it is not parked any more, or somebody acts for it.
    pub fn unpark(&self, id: TaskId) -> Result<bool> {
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(false) };
        let Some((Place::Parked, task)) = self.find(id)? else {
            self.let_go(id, lock)?;
            return Ok(false);
        };
        self.mark_order(&task)?;
        let moved = match self.publish_pending(&layout::parked(id), &task) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let is_moved = match moved {
            Some((spot, Publication::Placed { first_made })) => {
                // What it was parked for is forgotten next, and only that would find it again in its old place.
                self.sync_published(&spot, layout::PENDING, first_made)?;
                self.sync_parked(id)?;
                true
            }
            Some((_, Publication::Taken)) | None => {
                self.unmark_order(&task)?;
                false
            }
        };
        self.sweep_parked(id)?;
        if is_moved {
            for dependency in &task.after {
                self.clear_after(id, *dependency)?;
            }
            if let Some(at) = task.due_at {
                self.clear_timer(id, at)?;
            }
        }
        self.let_go(id, lock)?;
        self.ring();
        Ok(is_moved)
    }

    /// Removes the mark that a task waits for another one, when it does not.
    pub fn forget_after(&self, id: TaskId, dependency: TaskId) -> Result<()> {
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(()) };
        if !matches!(self.place_of(id)?, Some(Place::Parked) | None) {
            self.clear_after(id, dependency)?;
        }
        self.let_go(id, lock)
    }

    /// Removes a timer that rang, when its task is not parked, or will be woken by the end of another one.
    pub fn forget_timer(&self, id: TaskId, at: Timestamp) -> Result<()> {
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(()) };
        let is_needed = match self.find(id)? {
            Some((Place::Parked, task)) => task.after.is_empty(),
            Some((Place::Pending | Place::Running | Place::Waiting | Place::Done, _)) => false,
            None => true,
        };
        if !is_needed {
            self.clear_timer(id, at)?;
        }
        self.let_go(id, lock)
    }
}

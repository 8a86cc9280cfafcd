//! Departure of parked tasks from their place, and the marks and timers that would have woken them. A process that retries a
//! task, or queues it again after a failed attempt, sets its marks and timers before its record is among the parked ones. So
//! only a process that holds the task's `supervisor.lock` removes these, after it has seen that the task is not about to be
//! parked.

use crate::model::{Task, TaskId, Timer, Timestamp};
use crate::store::files::disk::publish::Publication;
use crate::store::{Place, Result, Spool, StoreError, layout};

impl Spool {
    /// Moves a parked task to its lane durably, now that nothing keeps it, and removes its marks and timers. False when it is
    /// no longer parked, or another process holds its lock.
    pub fn unpark(&self, id: TaskId) -> Result<bool> {
        let is_moved = self.under_its_lock(id, |found| match found {
            Some((Place::Parked, task)) if !task.is_held(self.host.clock.now()) => self.move_to_its_lane(&task),
            _ => Ok(false),
        })?;
        if is_moved {
            self.ring();
        }
        Ok(is_moved)
    }

    /// Removes the mark that a task waits for another one, when it does not.
    pub fn forget_after(&self, id: TaskId, dependency: TaskId) -> Result<()> {
        self.under_its_lock(id, |found| match found {
            Some((Place::Parked, _)) | None => Ok(()),
            Some(_) => self.clear_after(id, dependency),
        })
    }

    /// Removes a timer that rang, when its task is not parked, or will be woken by the end of another one.
    pub fn forget_timer(&self, id: TaskId, at: Timestamp) -> Result<()> {
        self.under_its_lock(id, |found| match found {
            None => Ok(()),
            Some((Place::Parked, task)) if task.after.is_empty() => Ok(()),
            Some(_) => self.clear_timer(&Timer::of(id, at)),
        })
    }

    /// Looks for a task under its lock, and acts on it; does nothing when another process holds the lock.
    fn under_its_lock<T: Default>(
        &self,
        id: TaskId,
        act: impl FnOnce(Option<(Place, Task)>) -> Result<T>,
    ) -> Result<T> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(T::default()) };
        let done = act(self.find(id)?)?;
        self.let_go(id, lock)?;
        Ok(done)
    }

    fn move_to_its_lane(&self, task: &Task) -> Result<bool> {
        self.mark_order(task)?;
        let moved = match self.publish_pending(&layout::parked(task.id), task) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let is_moved = match moved {
            Some((spot, Publication::Placed { first_made })) => {
                // The caller next removes its marks and timers, and only these would find the task again in its old place.
                self.sync_published(&spot, layout::PENDING, first_made)?;
                self.sync_removal(&layout::parked(task.id))?;
                for dependency in &task.after {
                    self.clear_after(task.id, *dependency)?;
                }
                if let Some(at) = task.wakes_at() {
                    self.clear_timer(&Timer::of(task.id, at))?;
                }
                true
            }
            Some((_, Publication::Taken)) | None => {
                self.unmark_order(task)?;
                false
            }
        };
        self.sweep_parked(task.id)?;
        Ok(is_moved)
    }
}

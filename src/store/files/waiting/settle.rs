//! Moves of a task to `waiting`, and out of it without a start.

use crate::model::{Task, TaskId, Timer, Timestamp};
use crate::store::{Hold, Place, Removed, Result, Spool, layout};

impl Spool {
    /// Moves the result of a run that ended with a wait to `waiting`, after its lanes were kept or released. Two timers are
    /// set before the record is in its place: one of now, for an event that came meanwhile, and one of the end of the wait's
    /// time. Idempotent; the lock goes last.
    pub(crate) fn settle_waiting(&self, task: &Task, lock: Hold) -> Result<()> {
        let (id, result) = (task.id, layout::result(task.id));
        if self.meta(&result)?.is_some() {
            self.set_timer(&Timer::of(id, self.host.now()))?;
            if let Some(wait) = task.wait() {
                self.set_timer(&Timer::of(id, wait.until))?;
                self.mark_lent(task, wait)?;
            }
            if let Some(done) = self.find_done(id)? {
                self.unlink(&done)?;
                self.sync_removal(&done)?;
            }
            self.leave_pending_for_good(task)?;
            self.leave_parked(id)?;
            // A running copy would take precedence over a waiting one.
            self.unlink(&layout::running(id))?;
            self.sync_dir(layout::RUNNING)?;
            self.rename(&result, &layout::waiting(id))?;
            self.sync_dir(layout::WAITING)?;
            self.sync_dir(layout::RUNNING)?;
        }
        self.unlink(&layout::running(id))?;
        self.stay_waiting(id, lock)?;
        self.ring();
        Ok(())
    }

    /// Removes the remains of a run, or of a failed claim, of a task in `waiting`. The lock goes last.
    pub fn stay_waiting(&self, id: TaskId, lock: Hold) -> Result<()> {
        self.remove_run_dir(id)?;
        drop(lock);
        Ok(())
    }

    /// Takes a task in `waiting` for a verb that ends it without starting it.
    pub fn take_waiting(&self, id: TaskId) -> Result<Removed> {
        self.take_if(id, |place| Ok(place == Place::Waiting && self.is_at_rest(id)?))
    }

    /// Whether the record of a task is in `waiting`.
    pub fn stands_waiting(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::waiting(id))?.is_some() && matches!(self.place_of(id)?, Some(Place::Waiting)))
    }

    /// Whether the record is in `waiting`, and nothing of an earlier run is left. The caller holds its `supervisor.lock`.
    pub fn waits_at_rest(&self, id: TaskId) -> Result<bool> {
        Ok(self.stands_waiting(id)? && self.is_at_rest(id)? && self.cancel_request(id)?.is_none())
    }

    /// Lets a waiting task rest until its next timer: removes those that rang, unless its mailbox holds other events than the
    /// caller has `seen`. Works under the lock of the mailbox, in which `deliver` sets a timer: no event is missed.
    pub fn has_rest(&self, id: TaskId, rang: &[Timestamp], seen: &[u64]) -> Result<bool> {
        let _locked = self.lock_steps(id)?;
        if self.mail_numbers(id)? != seen {
            return Ok(false);
        }
        for at in rang {
            self.clear_timer(&Timer::of(id, *at))?;
        }
        Ok(true)
    }

    /// Sets a timer for a task in `waiting`, before an event is put into its mailbox. The caller has the lock of the mailbox.
    pub(crate) fn wake_waiting(&self, id: TaskId) -> Result<()> {
        if self.meta(&layout::waiting(id))?.is_some() {
            self.set_timer(&Timer::of(id, self.host.now()))?;
            self.ring();
        }
        Ok(())
    }

    /// Whether nothing of an earlier run is left that recovery would need.
    pub(crate) fn is_at_rest(&self, id: TaskId) -> Result<bool> {
        Ok(self.read_result(id)?.is_none() && self.started(id)?.is_none() && !self.run_dir.is_tree_locked(id)?)
    }
}

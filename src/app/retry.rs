//! `retry`: puts a finished task back in the queue, in its old place, as a further attempt of the same task.

use super::keyed::take_again;
use super::{App, AppError, Kind};
use crate::model::{Status, Task, TaskId};
use crate::policy::lifecycle::{self, Trigger};
use crate::store::{Ending, Event, Place};

impl App {
    /// Queues a finished task again.
    pub fn retry(&self, id: TaskId) -> Result<Task, AppError> {
        let task = self.existing(id)?;
        if lifecycle::next(task.status, Trigger::Retry).is_none() {
            return Err(AppError::new(
                Kind::No,
                "TASK_NOT_OVER",
                format!("{id} is {}, so there is nothing to retry", task.status),
            )
            .next(format!("luzia show {id}")));
        }
        let busy =
            || AppError::new(Kind::Busy, "TASK_BUSY", format!("somebody acts for {id} right now")).hint("try again");
        let lock = self.store.take_supervisor_lock(id)?.ok_or_else(busy)?;
        let Some((Place::Done, task)) = self.store.find(id)? else { return Err(busy()) };
        let again = Task {
            status: Status::Pending,
            outcome: None,
            due_at: None,
            start_by: None,
            after: Vec::new(),
            claims: 0,
            // One more attempt than were spent, whatever the limit was.
            retries: task.retries.max(task.failures),
            ..task
        };
        let key = again.key.as_deref().map(|key| self.store.enter_key(key)).transpose()?;
        let _key = key.map(|slot| take_again(slot, id)).transpose()?;
        let ending = Ending { task: again };
        if let Err(error) = self.store.record_ending(&ending, None) {
            // Nothing may begin again after an answer that says it could not be asked for.
            let _ = self.store.withdraw_ending(id, lock);
            return Err(error.into());
        }
        // From here on it is retried, whoever brings it to its end.
        self.store.note(&Event::of("retried", &ending.task));
        self.show_outside(&ending.task);
        self.store.settle(&ending, lock).map_err(|error| {
            AppError::from(error).hint("it is retried all the same: the next pass brings it to its place")
        })?;
        Ok(ending.task)
    }

    /// Its directory waits where those of other attempts to come do. What is wrong there never holds a task up.
    fn show_outside(&self, task: &Task) {
        let Ok(Some(conductor)) = self.store.conductor(&task.conductor_dir, false) else { return };
        if let Err(error) = conductor.close_late(task) {
            self.store.note(&Event::of("conductor_failed", task).saying(error.to_string()));
        }
    }
}

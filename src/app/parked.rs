//! Tasks outside the scan: not due, after others, or with a moment by which they must have started. A pass looks at
//! timers that fired and at dependencies that ended, never at all parked tasks.

use super::{App, AppError};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::ending::{Happened, conclude};
use crate::store::{Ending, Place, Removed};
use crate::supervise::finish;

/// After how long a timer whose task never appeared is forgotten, in milliseconds.
const FORGET_TIMER_MS: i64 = 3_600_000;

impl App {
    /// Moves tasks whose time has come; gives the moment of the next timer.
    pub(super) fn wake_parked(&self) -> Result<Option<Timestamp>, AppError> {
        let now = self.store.now();
        let (due, next) = self.store.timers(now)?;
        for (id, at) in due {
            match self.store.find(id)? {
                Some((Place::Pending | Place::Parked, task)) if task.start_by.is_some_and(|limit| limit <= now) => {
                    self.end_unstarted(id, &Happened::StartedTooLate)?;
                    self.store.clear_timer(id, at)?;
                }
                Some((Place::Parked, task)) => {
                    self.unpark_if_free(&task, now)?;
                    self.store.clear_timer(id, at)?;
                }
                Some(_) => self.store.clear_timer(id, at)?,
                None if now.ms_since(at) > FORGET_TIMER_MS => self.store.clear_timer(id, at)?,
                None => {}
            }
        }
        for (dependency, waiting) in self.store.dependencies()? {
            if self.find(dependency)?.is_none_or(|(place, _)| place == Place::Done) {
                self.wake_dependents(&waiting)?;
            }
        }
        Ok(next)
    }

    /// Looks again at tasks that waited for another one to be over.
    pub(super) fn wake_dependents(&self, waiting: &[TaskId]) -> Result<(), AppError> {
        let now = self.store.now();
        for id in waiting {
            let Some((Place::Parked, task)) = self.store.find(*id)? else {
                self.forget_dependencies(*id)?;
                continue;
            };
            self.unpark_if_free(&task, now)?;
        }
        Ok(())
    }

    /// Removes the marks of a task that does not wait any more, once their other side is over.
    fn forget_dependencies(&self, id: TaskId) -> Result<(), AppError> {
        let Some((_, task)) = self.store.find(id)? else { return Ok(()) };
        for dependency in &task.after {
            self.store.clear_after(id, *dependency)?;
        }
        Ok(())
    }

    fn unpark_if_free(&self, task: &Task, now: Timestamp) -> Result<(), AppError> {
        if let Some(at) = task.due_at.filter(|at| *at > now) {
            let _ = at;
            return Ok(());
        }
        for dependency in &task.after {
            match self.store.find(*dependency)? {
                Some((Place::Done, other)) if other.status == Status::Completed => {}
                Some((Place::Done, _)) | None => {
                    return self.end_unstarted(task.id, &Happened::DependencyFailed(dependency.to_string()));
                }
                Some(_) => return Ok(()),
            }
        }
        if self.store.unpark(task)? {
            for dependency in &task.after {
                self.store.clear_after(task.id, *dependency)?;
            }
        }
        Ok(())
    }

    /// Ends a task that has not started. Nothing happens when it is not pending any more.
    pub(super) fn end_unstarted(&self, id: TaskId, happened: &Happened) -> Result<(), AppError> {
        if let Removed::Taken(task, lock) = self.store.take_pending(id)? {
            self.end_taken(&task, lock, happened)?;
        }
        Ok(())
    }

    pub(super) fn end_taken(
        &self,
        task: &Task,
        lock: Box<dyn crate::os::Handle>,
        happened: &Happened,
    ) -> Result<Task, AppError> {
        let ending = Ending { task: conclude(task, happened, self.store.now(), None) };
        self.store.record_ending(&ending)?;
        let finished = finish(&self.store, &ending, lock)?;
        self.wake_dependents(&finished.dependents)?;
        Ok(ending.task)
    }
}

//! Tasks outside the scan: not due, after others, or with a moment by which they must have started. A pass looks at
//! timers that fired and at dependencies that ended, never at all parked tasks.

use crate::app::pass::Pass;
use crate::app::queue::accepted::although;
use crate::app::{App, AppError};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::outcome::{Happened, conclude};
use crate::store::{Ending, Place, Removed, StoreError};
use crate::supervise::finish;

/// After how long a timer whose task never appeared is forgotten, in milliseconds.
const FORGET_TIMER_MS: i64 = 3_600_000;

impl App {
    /// Moves tasks whose time has come; gives the moment of the next timer.
    pub(crate) fn wake_parked(&self, pass: &mut Pass) -> Result<Option<Timestamp>, AppError> {
        let now = self.store.now();
        let (due, next) = self.store.timers(now)?;
        for (id, at) in due {
            match self.find_or_set_aside(id, pass)? {
                Some((Place::Pending | Place::Parked, task)) if task.start_by.is_some_and(|limit| limit <= now) => {
                    let is_settled = self.end_unstarted(id, &Happened::StartedTooLate)?;
                    if is_settled {
                        self.store.clear_timer(id, at)?;
                    }
                }
                Some((Place::Parked, task)) => {
                    let is_settled = self.unpark_if_free(&task, now, pass)?;
                    if !is_settled {
                        self.store.forget_timer(id, at)?;
                    }
                }
                Some((_, task)) if task.start_by == Some(at) => self.store.clear_timer(id, at)?,
                Some(_) => self.store.forget_timer(id, at)?,
                None if now.ms_since(at) > FORGET_TIMER_MS => self.store.clear_timer(id, at)?,
                None => {}
            }
        }
        for (dependency, waiting) in self.store.dependencies()? {
            if self.find_or_set_aside(dependency, pass)?.is_none_or(|(place, _)| place == Place::Done) {
                self.wake_those(dependency, &waiting, pass)?;
            }
        }
        Ok(next)
    }

    /// A task and its place. A damaged record is set aside, and one of a newer luzia is left alone: neither keeps the
    /// tasks of others waiting.
    fn find_or_set_aside(&self, id: TaskId, pass: &mut Pass) -> Result<Option<(Place, Task)>, AppError> {
        match self.store.find(id) {
            Err(StoreError::Newer { path, version }) => {
                pass.leave(id, StoreError::Newer { path, version }.to_string(), 1);
                Ok(None)
            }
            Err(StoreError::Corrupt { path, why }) => {
                // The record of a running task is its supervisor's, which knows better how the task ended.
                if self.store.is_supervised(id)? {
                    return Ok(None);
                }
                let wrong = StoreError::Corrupt { path: path.clone(), why };
                self.store.set_aside(&path, &wrong)?;
                pass.set_aside.push(wrong.to_string());
                Ok(None)
            }
            other => Ok(other?),
        }
    }

    /// Looks again at tasks that waited for another one to be over.
    pub(crate) fn wake_dependents(&self, over: TaskId, waiting: &[TaskId]) -> Result<(), AppError> {
        self.wake_those(over, waiting, &mut Pass::default())
    }

    fn wake_those(&self, over: TaskId, waiting: &[TaskId], pass: &mut Pass) -> Result<(), AppError> {
        let now = self.store.now();
        for id in waiting {
            match self.find_or_set_aside(*id, pass)? {
                Some((Place::Parked, task)) => drop(self.unpark_if_free(&task, now, pass)?),
                Some(_) => self.store.forget_after(*id, over)?,
                None => {}
            }
        }
        Ok(())
    }

    /// True when it is not parked any more, and nothing is left that would wake it.
    fn unpark_if_free(&self, task: &Task, now: Timestamp, pass: &mut Pass) -> Result<bool, AppError> {
        if task.due_at.is_some_and(|at| at > now) {
            return Ok(false);
        }
        for dependency in &task.after {
            match self.find_or_set_aside(*dependency, pass)? {
                Some((Place::Done, other)) if other.status == Status::Completed => {}
                Some((Place::Done, _)) | None => {
                    return self.end_unstarted(task.id, &Happened::DependencyFailed(dependency.to_string()));
                }
                Some(_) => return Ok(false),
            }
        }
        Ok(self.store.unpark(task.id)?)
    }

    /// Ends a task that has not started. Nothing happens when it is not pending any more; false when somebody acts for it.
    pub(crate) fn end_unstarted(&self, id: TaskId, happened: &Happened) -> Result<bool, AppError> {
        match self.store.take_pending(id)? {
            Removed::Taken(task, lock) => drop(self.end_taken(&task, lock, happened)?),
            Removed::NotPending => {}
            Removed::Busy => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn end_taken(
        &self,
        task: &Task,
        lock: Box<dyn crate::os::Handle>,
        happened: &Happened,
    ) -> Result<Task, AppError> {
        let ending = Ending { task: conclude(task, happened, self.store.now(), None) };
        if let Err(error) = self.store.record_ending(&ending, None) {
            let withdrawn = self.store.withdraw_ending(task.id, lock);
            return Err(self.not_recorded(task.id, error.into(), &withdrawn));
        }
        let stands = format!("{} is {}", task.id, ending.task.status);
        let finished = finish(&self.store, &ending, lock).map_err(|error| although(&stands, error.into()))?;
        self.wake_dependents(task.id, &finished.dependents).map_err(|error| although(&stands, error))?;
        Ok(ending.task)
    }
}

//! `list`, `show` and `list-locks`: tasks and locks as they are.

use crate::app::{App, AppError};
use crate::model::{LaneName, Status, Task, TaskId};
use crate::policy::admission::Obstacle;
use crate::policy::staleness::judge;
use crate::store::{LockView, Place, Started};

/// Which tasks are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Finished ones too.
    pub all: bool,
    /// Only these states, when there are any.
    pub states: Vec<Status>,
    /// Only of this user.
    pub user: Option<crate::model::Name>,
    /// Only with this lane.
    pub lane: Option<LaneName>,
    /// Only running ones that nobody watches.
    pub stuck: bool,
}

/// Why nobody watches a running task. Derived when asked, never stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// Its supervisor is dead and its command lives on.
    Orphan,
    /// Its supervisor is dead.
    Dead,
    /// Its supervisor, the process of this number, is stopped (SIGSTOP).
    Stopped(u32),
}

/// Everything known about one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The task.
    pub task: Task,
    /// Its recorded start, while it runs.
    pub started: Option<Started>,
    /// Why it does not start, while it waits.
    pub obstacle: Option<Obstacle>,
    /// Why nobody watches it, while it runs.
    pub stuck: Option<Stuck>,
}

impl App {
    /// Gives every wanted task to `sink`, started ones first, then pending ones by number, then finished ones, and records
    /// that do not read as errors; `sink` says whether to go on.
    pub fn list(&self, filter: &Filter, sink: &mut dyn FnMut(Result<Task, AppError>) -> bool) -> Result<(), AppError> {
        if !self.store.has_layout()? {
            return Ok(());
        }
        let wants = |status: Status| {
            let is_asked = if filter.states.is_empty() {
                filter.all || !status.is_final()
            } else {
                filter.states.contains(&status)
            };
            is_asked && (!filter.stuck || status == Status::Running)
        };
        let is_wanted = |task: &Task| {
            wants(task.status)
                && filter.user.as_ref().is_none_or(|user| task.user == *user)
                && filter.lane.as_ref().is_none_or(|lane| task.all_lanes().contains(lane))
                && (!filter.stuck || matches!(self.stuck(task), Ok(Some(_))))
        };
        let mut seen = std::collections::HashSet::new();
        let wants_started = wants(Status::Running) || wants(Status::Waiting);
        let mut places = Vec::new();
        if wants_started {
            places.push(self.store.started_tasks());
        }
        if wants(Status::Pending) {
            places.push(self.store.pending_tasks(filter.user.as_ref())?);
        }
        if wants_started && wants(Status::Pending) {
            // Those that were started while the queue was listed.
            places.push(self.store.started_tasks());
        }
        if Status::ALL.into_iter().any(|status| status.is_final() && wants(status)) {
            places.push(self.store.done_tasks()?);
        }
        for found in places.into_iter().flatten() {
            // A task that moves while we look may be met twice.
            let wanted = !found.as_ref().is_ok_and(|task| !is_wanted(task) || !seen.insert(task.id));
            if wanted && !sink(found.map_err(AppError::from)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Why nobody watches a task that runs, by its record; `None` when somebody does, or it does not run.
    pub fn stuck(&self, task: &Task) -> Result<Option<Stuck>, AppError> {
        if task.status != Status::Running {
            return Ok(None);
        }
        if self.store.is_supervised(task.id)? {
            return Ok(self.store.stopped_supervisor(task.id)?.map(Stuck::Stopped));
        }
        // It may have come to its end since its record was read.
        let is_running = matches!(self.store.find(task.id)?, Some((Place::Running, _)));
        if !is_running || self.store.is_supervised(task.id)? {
            return Ok(None);
        }
        Ok(Some(if self.store.is_tree_locked(task.id)? { Stuck::Orphan } else { Stuck::Dead }))
    }

    /// Everything known about a task.
    pub fn show(&self, id: TaskId) -> Result<Shown, AppError> {
        let task = self.existing(id)?;
        let started = if task.status == Status::Running { self.store.started(id)?.flatten() } else { None };
        let waits = matches!(task.status, Status::Pending | Status::Running);
        let obstacle = if waits { self.first_obstacle(&task)? } else { None };
        let stuck = self.stuck(&task)?;
        Ok(Shown { task, started, obstacle, stuck })
    }

    /// The supervisor of a running task.
    pub fn supervisor_pid(&self, task: &Task) -> Result<Option<u32>, AppError> {
        if task.status != Status::Running {
            return Ok(None);
        }
        Ok(self.store.started(task.id)?.flatten().map(|started| started.supervisor.pid))
    }

    /// Every lock, in the order of their last refresh.
    pub fn locks(&self) -> Result<Vec<LockView>, AppError> {
        if !self.store.has_layout()? {
            return Ok(Vec::new());
        }
        Ok(self.store.all_locks(|lane| self.config().lock_timeout_ms(lane), judge)?)
    }
}

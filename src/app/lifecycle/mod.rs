//! Tasks without a process: how they begin, their changes, their ends, and the tasks that an end wakes. Nothing here starts a task.
//!
//! Changes of tasks that have not started.
//!
//! Results of a pass.

pub(crate) mod end;

use crate::app::error::although;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::schedule::Resumed;
use crate::policy::witness::Blind;
use crate::store::{Event, Removed};
use serde_json::json;

/// The event of a task that is accepted.
pub(crate) fn enqueued(task: &Task) -> Event {
    let mut data = json!({ "priority": task.priority.number(), "work": task.work() });
    if task.due_at.is_some() || !task.after.is_empty() || task.hold.is_some() {
        data["delayed"] = true.into();
    }
    if let Some(parent) = task.parent {
        data["parent"] = parent.to_string().into();
    }
    if let Some(granted) = &task.terms.granted {
        data["token"] = granted.token.to_string().into();
    }
    Event::of("enqueued", task).in_lane_of(task).with(data)
}

/// Changes a task that has not started, durably, and returns it as it is then.
pub(crate) fn change_waiting(
    app: &App,
    id: TaskId,
    event: &'static str,
    change: impl FnOnce(&Task) -> Result<Task, AppError>,
) -> Result<Task, AppError> {
    let status = app.existing(id)?.status();
    if status != Status::Pending {
        return Err(not_waiting(id, status));
    }
    let (task, lock) = match app.store.take_pending(id)? {
        Removed::Taken(task, lock) => (task, lock),
        Removed::NotPending => return Err(not_waiting(id, app.existing(id)?.status())),
        Removed::Busy => {
            let message = format!("{id} starts or ends right now");
            return Err(AppError::new(Code::TaskBusy, message)
                .hint("nothing was changed; try again")
                .next(format!("luzia show {id}")));
        }
    };
    let changed = match change(&task) {
        Ok(changed) => changed,
        Err(error) => {
            app.store.withdraw_ending(id, lock)?;
            return Err(error);
        }
    };
    let mut stands = false;
    let mut note = || {
        stands = true;
        app.store.note(&Event::of(event, &changed).in_lane_of(&changed));
    };
    match app.store.change_pending(&task, changed.clone(), lock, &mut note) {
        Ok(()) => Ok(changed),
        Err(error) if stands => Err(although(&format!("{id} is changed"), error.into())),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn not_waiting(id: TaskId, status: Status) -> AppError {
    let message = format!("{id} is {status}, and only a task that has not started can be changed");
    AppError::new(Code::TaskNotPending, message).hint("nothing was changed").next(format!("luzia show {id}"))
}

/// Results of a pass.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pass {
    /// The tasks that the pass started.
    pub started: Vec<TaskId>,
    /// The pids of the supervisors that the pass started.
    pub supervisors: Vec<u32>,
    /// Tasks that the pass recovered, or for which it started a supervisor that recovers them.
    pub recovered: Vec<TaskId>,
    /// Records that the pass set aside, with their faults.
    pub set_aside: Vec<String>,
    /// Errors that kept slots of schedules from being made. The next pass tries again.
    pub not_made: Vec<String>,
    /// Records of a newer luzia, which the pass left alone.
    pub left: Vec<Left>,
    /// Dead tasks that the pass left alone, because this process cannot see their processes.
    pub unseen: Vec<Unseen>,
    /// Number of supervisors that did not come to the start of their task, or to its recovery.
    pub in_vain: u32,
    /// The moment at which the next parked task is due.
    pub next_due: Option<Timestamp>,
    /// Whether the pass may start tasks.
    pub(in crate::app) may_start: bool,
    /// Whether the process writes a new hint of heads after the pass.
    pub(in crate::app) renews_heads: bool,
    /// Waiting tasks that are ready to go on.
    pub(in crate::app) ready: Vec<Ready>,
}

/// A record of a newer luzia. It stays as it is, and tasks of others still run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// Its task.
    pub task: TaskId,
    /// The file, and its version.
    pub what: String,
    /// Number of tasks of the queue that cannot start because of the record, its own task included.
    pub blocked: u64,
}

impl Pass {
    /// Whether the pass found nothing to do.
    pub(in crate::app) fn is_quiet(&self) -> bool {
        self.started.is_empty() && self.recovered.is_empty()
    }

    /// Puts the tasks that left the queue before an error into its message.
    pub(in crate::app) fn beside(&self, error: AppError) -> AppError {
        let names: Vec<String> = self.started.iter().map(ToString::to_string).collect();
        if names.is_empty() {
            return error;
        }
        let names = names.join(", ");
        error
            .reworded(|why| format!("{names} left the queue to start, but the pass did not go on: {why}"))
            .hint("what left the queue goes on; `luzia dispatch` makes the next pass")
    }

    /// Asks for the next pass at the moment `at` or earlier.
    pub(in crate::app) fn comes_again(&mut self, at: Timestamp) {
        self.next_due = Some(self.next_due.map_or(at, |due| due.min(at)));
    }

    pub(in crate::app) fn leave(&mut self, task: TaskId, what: String, blocked: u64) {
        if self.left.iter().all(|left| left.task != task) {
            self.left.push(Left { task, what, blocked });
        }
    }
}

/// A task without a supervisor that only a process elsewhere can recover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unseen {
    /// The task.
    pub task: TaskId,
    /// Why it cannot be recovered here.
    pub why: Blind,
}

impl Unseen {
    /// A sentence for people: the task, and the way to recover it.
    pub fn text(&self) -> String {
        format!("{} has lost its supervisor; {}", self.task, self.why.reason().text())
    }
}

/// A task that is ready to go on, and its timers that rang.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ready {
    pub task: Resumed,
    pub due: Vec<Timestamp>,
}

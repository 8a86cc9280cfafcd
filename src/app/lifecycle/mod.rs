//! Tasks without a process: their begin, their changes, their ends, and the tasks that an end wakes.
//! Nothing here starts a task. `enqueued` is the event of an accepted task, and `change_waiting` changes a task that has not
//! started. `Pass` holds the results of a pass. `request_end` ends a task without a process; a running task is asked to end, and
//! its supervisor ends it. `wake_dependents` looks again at the tasks that waited for an end.

use crate::app::admission::borrowers_of;
use crate::app::error::{although, not_recorded};
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::outcome::{Happened, conclude};
use crate::policy::requests::{Met, met};
use crate::policy::schedule::Resumed;
use crate::policy::witness::Blind;
use crate::store::{CancelRequest, Ending, Event, Hold, Place, Removed, StoreError};
use crate::supervise::finish;
use serde_json::json;
use std::time::Duration;

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The task: the new one, or with `--on-conflict skip` the one that has the key.
    pub task: Task,
    /// Whether a task was created.
    pub created: bool,
}

/// The event of a task that is accepted.
pub(crate) fn enqueued(task: &Task) -> Event {
    enqueued_to_do(task, task.work())
}

/// Like [`enqueued`], for a task whose digest of work is known.
pub(crate) fn enqueued_to_do(task: &Task, work: String) -> Event {
    let mut data = json!({ "priority": task.priority.number(), "work": work });
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
    let seen = app.existing(id)?;
    if seen.status() != Status::Pending {
        return Err(not_waiting(id, seen.status()));
    }
    let busy = || {
        AppError::new(Code::TaskBusy, format!("{id} starts or ends right now"))
            .hint("nothing was changed; try again")
            .next(format!("luzia show {id}"))
    };
    if let Some(fleet) = &app.fleet {
        let changed = change(&seen)?;
        return if fleet.change_waiting(&seen, &changed)? { Ok(changed) } else { Err(busy()) };
    }
    let (task, lock) = match app.store.take_pending(id)? {
        Removed::Taken(task, lock) => (task, lock),
        Removed::NotPending => return Err(not_waiting(id, app.existing(id)?.status())),
        Removed::Busy => return Err(busy()),
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
            .hint("tasks that left the queue go on; `luzia dispatch` makes the next pass")
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

/// A record of a newer luzia. It stays as it is, and tasks of others still run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// The task with the record.
    pub task: TaskId,
    /// The file, and its version.
    pub what: String,
    /// Number of tasks of the queue that cannot start because of the record, its own task included.
    pub blocked: u64,
}

/// A task without a supervisor that only a process elsewhere can recover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unseen {
    /// The task.
    pub task: TaskId,
    /// The reason why the task cannot be recovered here.
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

/// The caller in a request of a pass or of a supervisor.
const BY: &str = "luzia";
/// The reason for the end of a borrower.
const UNWAITED: &str = "it ran in the lanes of its parent, which waits for it no longer";

/// Asks for the end of a task without waiting for it. False if another process acts for the task right now, so that the
/// caller must ask again.
pub(crate) fn request_end(app: &App, id: TaskId, request: &CancelRequest) -> Result<bool, AppError> {
    let task = app.existing(id)?;
    match task.status() {
        Status::Pending => Ok(cancel_pending(app, id, request)?.is_some()),
        Status::Waiting if app.store.stands_waiting(id)? => Ok(cancel_resting(app, id, request)?.is_some()),
        Status::Running | Status::Waiting => {
            let is_asked = ask_to_end(app, &task, request)?;
            wake_supervisor(app, id)?;
            Ok(is_asked)
        }
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => Err(over(&task)),
    }
}

/// Cancels a task that has not started; `None` if it is not pending any more, or another process acts for it right now.
pub(crate) fn cancel_pending(app: &App, id: TaskId, request: &CancelRequest) -> Result<Option<Task>, AppError> {
    cancel_taken(app, app.store.take_pending(id)?, request)
}

/// Like `cancel_pending`, for a task that waits for an event without a process.
pub(crate) fn cancel_resting(app: &App, id: TaskId, request: &CancelRequest) -> Result<Option<Task>, AppError> {
    cancel_taken(app, app.store.take_waiting(id)?, request)
}

fn cancel_taken(app: &App, removed: Removed, request: &CancelRequest) -> Result<Option<Task>, AppError> {
    match removed {
        Removed::Taken(task, lock) => {
            app.store.note(&asked_event("cancelled", &task, request));
            let happened = Happened::Cancelled { by: request.by.clone(), reason: request.reason.clone() };
            end_taken(app, &task, lock, &happened).map(Some)
        }
        Removed::NotPending => Ok(None),
        Removed::Busy => {
            app.host.sleep(Duration::from_millis(2));
            Ok(None)
        }
    }
}

/// Asks the supervisor of a running task to end it. False if the task no longer runs.
pub(crate) fn ask_to_end(app: &App, task: &Task, request: &CancelRequest) -> Result<bool, AppError> {
    let is_asked = app.store.request_cancel(task.id, request)?;
    if is_asked {
        app.store.note(&asked_event("cancel_requested", task, request));
    }
    Ok(is_asked)
}

fn asked_event(name: &'static str, task: &Task, request: &CancelRequest) -> Event {
    Event::of(name, task).with(json!({ "by": request.by, "reason": request.reason }))
}

pub(crate) fn over(task: &Task) -> AppError {
    AppError::new(Code::TaskOver, format!("{} is over already: {}", task.id, task.status()))
        .hint("only a retry changes the state of a finished task")
        .next(format!("luzia show {}", task.id))
}

/// Asks a borrower to end; false if the caller must ask again.
pub(crate) fn ask_borrower(app: &App, id: TaskId, grace_ms: Option<u64>) -> Result<bool, AppError> {
    match request_end(app, id, &CancelRequest { grace_ms, ..CancelRequest::by(BY, UNWAITED) }) {
        Err(error) if error.code() == Code::TaskOver => Ok(true),
        other => other,
    }
}

/// Asks all borrowers in the lanes of a waiting task to end, because the time of its wait ran out.
pub(crate) fn ask_borrowers(app: &App, task: &Task) -> Result<(), AppError> {
    borrowers_of(app, task)?.into_iter().try_for_each(|id| ask_borrower(app, id, None).map(drop))
}

/// A task and its place. A damaged record is set aside, and one of a newer luzia is left alone: neither blocks the tasks of
/// others.
pub(crate) fn find_or_set_aside(app: &App, id: TaskId, pass: &mut Pass) -> Result<Option<(Place, Task)>, AppError> {
    match app.store.find(id) {
        Err(newer @ StoreError::Newer { .. }) => {
            pass.leave(id, newer.to_string(), 1);
            Ok(None)
        }
        Err(wrong @ StoreError::Corrupt { .. }) => {
            // The record of a running task is its supervisor's, which knows better how the task ended.
            if app.run_dir.is_supervised(id)? {
                return Ok(None);
            }
            app.store.set_aside(&wrong)?;
            pass.set_aside.push(wrong.to_string());
            Ok(None)
        }
        other => Ok(other?),
    }
}

/// Looks again at the tasks that waited for the end of the task `over`.
pub(crate) fn wake_dependents(app: &App, over: TaskId, waiting: &[TaskId]) -> Result<(), AppError> {
    wake_those(app, over, waiting, &mut Pass::default())
}

pub(crate) fn wake_those(app: &App, over: TaskId, waiting: &[TaskId], pass: &mut Pass) -> Result<(), AppError> {
    let now = app.host.now();
    for id in waiting {
        match find_or_set_aside(app, *id, pass)? {
            Some((place, task)) if place != Place::Done && ends_with(&task, over) => {
                let why = format!("its parent {over} is over");
                if request_end(app, *id, &CancelRequest::by(BY, &why))? {
                    app.store.clear_after(*id, over)?;
                }
            }
            Some((Place::Parked, task)) => drop(unpark_if_free(app, &task, now, pass)?),
            Some(_) => app.store.forget_after(*id, over)?,
            None => {}
        }
    }
    Ok(())
}

/// Ends a task with a dependency that can never be met, and moves a due task without an open dependency into its queue.
/// False if the task stays where it is.
pub(crate) fn unpark_if_free(app: &App, task: &Task, now: Timestamp, pass: &mut Pass) -> Result<bool, AppError> {
    if task.due_at.is_some_and(|at| at > now) {
        return Ok(false);
    }
    let mut is_open = false;
    for dependency in &task.after {
        let before = find_or_set_aside(app, *dependency, pass)?.map(|(_, other)| other.status());
        match met(task.wanted(*dependency), before) {
            Met::Yes => {}
            Met::NotYet => is_open = true,
            Met::Never => return end_unstarted(app, task.id, &Happened::DependencyFailed(*dependency)),
        }
    }
    if is_open { Ok(false) } else { Ok(app.store.unpark(task.id)?) }
}

/// Ends a task that has not started. Does nothing if it is not pending any more; false if another process acts for it.
pub(crate) fn end_unstarted(app: &App, id: TaskId, happened: &Happened) -> Result<bool, AppError> {
    match app.store.take_pending(id)? {
        Removed::Taken(task, lock) => drop(end_taken(app, &task, lock, happened)?),
        Removed::NotPending => {}
        Removed::Busy => return Ok(false),
    }
    Ok(true)
}

pub(crate) fn end_taken(app: &App, task: &Task, lock: Hold, happened: &Happened) -> Result<Task, AppError> {
    let ending = Ending::of(conclude(task, happened, app.host.now(), None));
    if let Err(error) = app.store.record_ending(&ending, None) {
        let withdrawn = app.store.withdraw_ending(task.id, lock);
        return Err(not_recorded(task.id, error.into(), &withdrawn));
    }
    let stands = format!("{} is {}", task.id, ending.task().status());
    let finished = finish(&app.site(), &ending, lock).map_err(|error| although(&stands, error.into()))?;
    wake_dependents(app, task.id, &finished.dependents).map_err(|error| although(&stands, error))?;
    Ok(ending.into_task())
}

/// Whether a task is to be cancelled at the end of another one (`--on-parent-death cancel`).
fn ends_with(task: &Task, over: TaskId) -> bool {
    task.ends_with_parent && task.parent == Some(over)
}

//! `cancel`: ends tasks, or keeps them from starting. For a running task it is a durable request that its supervisor
//! carries out.

use super::accepted::after_asking_to_end;
use crate::app::locks::cleanup::recover_now;
use crate::app::pass::wake::end_taken;
use crate::app::processes::stopped_supervisor;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId};
use crate::os::Signal;
use crate::policy::lifecycle;
use crate::policy::lifecycle::Trigger;
use crate::policy::outcome::Happened;
use crate::store::{CancelRequest, Changes, Event, Place, Removed};
use serde_json::json;
use std::time::Duration;

/// How long a cancel waits for the end beyond the grace, in milliseconds.
const PATIENCE_MS: u64 = 10_000;
/// How long a cancel waits for a change at most before it looks again: the death of a supervisor changes no file.
const LOOK: Duration = Duration::from_millis(100);

/// Cancels a task and waits until it is over. A task that is over already is refused, and stays as it is (S1.11).
pub fn cancel(app: &App, id: TaskId, by: &str, reason: Option<&str>, grace_ms: Option<u64>) -> Result<Task, AppError> {
    cancel_and_wait(app, id, by, reason, grace_ms).map_err(|error| after_asking_to_end(app, id, error))
}

fn cancel_and_wait(
    app: &App,
    id: TaskId,
    by: &str,
    reason: Option<&str>,
    grace_ms: Option<u64>,
) -> Result<Task, AppError> {
    let task = app.existing(id)?;
    if lifecycle::next(task.status(), Trigger::Cancel).is_none() {
        return Err(over(&task));
    }
    let grace = grace_ms.unwrap_or(task.grace_ms);
    let begin = app.host.boot_ms();
    let mut is_asked = false;
    let mut changes = None;
    loop {
        match app.store.find(id)? {
            None => return app.existing(id),
            Some((Place::Done, task)) if task.status() == Status::Cancelled => return Ok(task),
            // It ended in another way before the request was carried out.
            Some((Place::Done, task)) => return Err(over(&task)),
            Some((Place::Pending | Place::Parked, _)) => {
                if let Some(task) = cancel_pending(app, id, by, reason)? {
                    return Ok(task);
                }
                // A result that nobody brought to its end may stand beside it.
                if !app.run_dir.is_supervised(id)? {
                    recover_now(app, id)?;
                }
            }
            Some((Place::Waiting, _)) => {
                if let Some(task) = cancel_unstarted(app, id, by, reason, take_resting)? {
                    return Ok(task);
                }
                if !app.run_dir.is_supervised(id)? {
                    recover_now(app, id)?;
                }
            }
            Some((Place::Running, task)) => {
                if !is_asked {
                    is_asked = ask_to_end(app, &task, by, reason, grace_ms)?;
                }
                wait_for_end(app, id, &mut changes)?;
            }
        }
        if app.host.boot_ms().saturating_sub(begin) > grace.saturating_add(PATIENCE_MS) {
            return Err(AppError::new(Code::CancelPending, format!("{id} does not end, although it was asked to"))
                .hint("the request is durable; it ends as soon as its processes die")
                .next(format!("luzia explain {id}")));
        }
    }
}

/// Asks for the end of a task without waiting for it. False when somebody acts for it right now, so that it is to be asked
/// for again.
pub(crate) fn request_end(
    app: &App,
    id: TaskId,
    by: &str,
    reason: Option<&str>,
    grace_ms: Option<u64>,
) -> Result<bool, AppError> {
    let task = app.existing(id)?;
    match task.status() {
        Status::Pending => Ok(cancel_pending(app, id, by, reason)?.is_some()),
        Status::Waiting if app.store.stands_waiting(id)? => {
            Ok(cancel_unstarted(app, id, by, reason, take_resting)?.is_some())
        }
        Status::Running | Status::Waiting => {
            let is_asked = ask_to_end(app, &task, by, reason, grace_ms)?;
            if let Some(Some(started)) = app.store.started(id)? {
                app.host.signal(&started.supervisor, Signal::Wake);
            }
            Ok(is_asked)
        }
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => Err(over(&task)),
    }
}

/// Cancels a task that has not started; `None` when it is not pending any more, or somebody acts for it right now.
pub(crate) fn cancel_pending(app: &App, id: TaskId, by: &str, reason: Option<&str>) -> Result<Option<Task>, AppError> {
    cancel_unstarted(app, id, by, reason, |app, id| Ok(app.store.take_pending(id)?))
}

fn take_resting(app: &App, id: TaskId) -> Result<Removed, AppError> {
    Ok(app.store.take_waiting(id)?)
}

/// Cancels a task that has no process, as `take` takes it; `None` when it cannot be taken now.
fn cancel_unstarted(
    app: &App,
    id: TaskId,
    by: &str,
    reason: Option<&str>,
    take: impl Fn(&App, TaskId) -> Result<Removed, AppError>,
) -> Result<Option<Task>, AppError> {
    let happened = Happened::Cancelled { by: by.to_owned(), reason: reason.map(str::to_owned) };
    match take(app, id)? {
        Removed::Taken(task, lock) => {
            app.store.note(&Event::of("cancelled", &task).with(json!({ "by": by, "reason": reason })));
            end_taken(app, &task, lock, &happened).map(Some)
        }
        Removed::NotPending => Ok(None),
        Removed::Busy => {
            app.host.sleep(Duration::from_millis(2));
            Ok(None)
        }
    }
}

fn ask_to_end(app: &App, task: &Task, by: &str, reason: Option<&str>, grace_ms: Option<u64>) -> Result<bool, AppError> {
    let request = CancelRequest { by: by.to_owned(), reason: reason.map(str::to_owned), grace_ms, requeue: false };
    if !app.store.request_cancel(task.id, &request)? {
        return Ok(false);
    }
    app.store.note(&Event::of("cancel_requested", task).with(json!({ "by": by, "reason": reason })));
    Ok(true)
}

/// Tells the supervisor to look at the request; a task without one is recovered, which honours the request. A wake-up
/// and no SIGTERM, which would interrupt another task when the supervisor has gone on to one.
fn wait_for_end(app: &App, id: TaskId, changes: &mut Option<Changes>) -> Result<(), AppError> {
    if !app.run_dir.is_supervised(id)? {
        return recover_now(app, id);
    }
    // Before the signal, so that no end is missed.
    let changes = changes.get_or_insert_with(|| app.store.watch());
    match app.store.started(id)? {
        Some(Some(started)) => {
            app.host.signal(&started.supervisor, Signal::Wake);
            changes.wait(LOOK);
            if let Some(pid) = stopped_supervisor(app, id)? {
                return Err(stopped(id, pid, "end"));
            }
        }
        // The supervisor looks for a request before it starts the command.
        Some(None) | None => app.host.sleep(Duration::from_millis(5)),
    }
    Ok(())
}

/// The error of a request to a supervisor that does nothing.
pub(super) fn stopped(id: TaskId, supervisor: u32, to: &str) -> AppError {
    let message = format!("{id} was asked to {to}, but its supervisor, process {supervisor}, is stopped");
    AppError::new(Code::SupervisorStopped, message)
        .hint("the request is durable; it is carried out when the supervisor is continued")
        .next(format!("kill -CONT {supervisor}"))
}

pub(super) fn over(task: &Task) -> AppError {
    AppError::new(Code::TaskOver, format!("{} is over already: {}", task.id, task.status()))
        .hint("nothing leaves this state but a retry")
        .next(format!("luzia show {}", task.id))
}

//! Durable requests to the supervisor of a task, and the wait until it has carried one out. `cancel` ends tasks, or keeps them
//! from starting.

use crate::app::fleet::Fleet;
use crate::app::lifecycle::{ask_to_end, cancel_pending, cancel_resting, over};
use crate::app::pass::recovery::recover_now;
use crate::app::processes::stopped_supervisor;
use crate::app::{App, AppError, Code, Kind};
use crate::model::{Status, Task, TaskId};
use crate::os::Signal;
use crate::policy::lifecycle::{Trigger, next};
use crate::policy::outcome::{Happened, conclude};
use crate::store::{Changes, Place};
use std::time::Duration;

pub use crate::store::CancelRequest;

/// Time that a cancel waits for the end beyond the grace, in milliseconds.
const PATIENCE_MS: u64 = 10_000;
/// Longest time for which a cancel waits for a change before it looks again: the death of a supervisor changes no file.
const LOOK: Duration = Duration::from_millis(100);

/// Cancels a task and waits until it is over. A task that is over already is refused, and stays as it is (S1.11).
pub fn cancel(app: &App, id: TaskId, request: &CancelRequest) -> Result<Task, AppError> {
    if let Some(fleet) = &app.fleet {
        return cancel_shared(app, &**fleet, id, request);
    }
    cancel_and_wait(app, id, request).map_err(|error| after_asking_to_end(app, id, error))
}

/// Cancels a task of several hosts: one that no host has ends at once, and the host of another one is asked to end it.
fn cancel_shared(app: &App, fleet: &dyn Fleet, id: TaskId, request: &CancelRequest) -> Result<Task, AppError> {
    let task = app.existing(id)?;
    if next(task.status(), Trigger::Cancel).is_none() {
        return Err(over(&task));
    }
    let happened = Happened::Cancelled { by: request.by.clone(), reason: request.reason.clone() };
    let (begin, mut task, mut host) = (app.host.boot_ms(), task, None);
    loop {
        // A host may take the task between the two questions, or give it back.
        if host.is_none() {
            let ended = conclude(&task, &happened, app.host.now(), None);
            if fleet.end_queued(&ended)? {
                return Ok(ended);
            }
            host = fleet.wish_end(id, request)?;
        }
        task = app.existing(id)?;
        match task.status() {
            Status::Cancelled => return Ok(task),
            status if status.is_final() => return Err(over(&task)),
            _ => {}
        }
        let grace = request.grace_ms.unwrap_or(task.grace_ms);
        if app.host.boot_ms().saturating_sub(begin) > grace.saturating_add(PATIENCE_MS) {
            return Err(not_ended(id, host.as_deref()));
        }
        app.host.sleep(LOOK);
    }
}

/// The error of a task that does not end in time, although its host was asked to end it.
fn not_ended(id: TaskId, host: Option<&str>) -> AppError {
    let Some(host) = host else {
        return AppError::new(Code::TaskBusy, format!("hosts take {id} and give it back")).hint("try again");
    };
    AppError::new(Code::CancelPending, format!("{id} does not end, although host {host} was asked to end it"))
        .hint("the request stays: the host carries it out when it answers, and the task ends when that host is lost")
        .next(format!("luzia show {id}"))
}

fn cancel_and_wait(app: &App, id: TaskId, request: &CancelRequest) -> Result<Task, AppError> {
    let task = app.existing(id)?;
    if next(task.status(), Trigger::Cancel).is_none() {
        return Err(over(&task));
    }
    let grace = request.grace_ms.unwrap_or(task.grace_ms);
    let begin = app.host.boot_ms();
    let mut is_asked = false;
    let mut changes = None;
    loop {
        match app.store.find(id)? {
            None => return app.existing(id),
            Some((Place::Done, task)) if task.status() == Status::Cancelled => return Ok(task),
            // The task ended in another way before the request was carried out.
            Some((Place::Done, task)) => return Err(over(&task)),
            Some((place @ (Place::Pending | Place::Parked | Place::Waiting), _)) => {
                let cancel = if place == Place::Waiting { cancel_resting } else { cancel_pending };
                if let Some(task) = cancel(app, id, request)? {
                    return Ok(task);
                }
                // A result that no supervisor has brought to its end may be beside it.
                if !app.run_dir.is_supervised(id)? {
                    recover_now(app, id)?;
                }
            }
            Some((Place::Running, task)) => {
                if !is_asked {
                    is_asked = ask_to_end(app, &task, request)?;
                }
                await_supervisor(app, id, &mut changes, LOOK, "end")?;
            }
        }
        if app.host.boot_ms().saturating_sub(begin) > grace.saturating_add(PATIENCE_MS) {
            return Err(AppError::new(Code::CancelPending, format!("{id} was asked to end and has not ended yet"))
                .hint("the request is durable; it ends as soon as its processes die")
                .next(format!("luzia explain {id}")));
        }
    }
}

/// Wakes the supervisor to look at a request, and waits for a change or for the time of a `look`; `to` says what it was asked to
/// do. A task without a supervisor is recovered, which honours a cancel. No SIGTERM is sent: it would interrupt another task if
/// the supervisor has gone on to one.
pub(crate) fn await_supervisor(
    app: &App,
    id: TaskId,
    changes: &mut Option<Changes>,
    look: Duration,
    to: &str,
) -> Result<(), AppError> {
    if !app.run_dir.is_supervised(id)? {
        return recover_now(app, id);
    }
    // Before the signal, so that nothing is missed.
    let changes = changes.get_or_insert_with(|| app.store.watch());
    let Some(Some(started)) = app.store.started(id)? else {
        // The supervisor looks for a request before it starts the command.
        app.host.sleep(Duration::from_millis(5));
        return Ok(());
    };
    app.host.signal(&started.supervisor, Signal::Wake);
    changes.wait(look);
    let Some(pid) = stopped_supervisor(app, id)? else { return Ok(()) };
    Err(AppError::new(
        Code::SupervisorStopped,
        format!("{id} was asked to {to}, but its supervisor, process {pid}, is stopped"),
    )
    .hint("the request is durable; it is carried out when the supervisor is continued")
    .next(format!("kill -CONT {pid}")))
}

/// The error of a cancel that fails: it says what has become of the request.
fn after_asking_to_end(app: &App, id: TaskId, error: AppError) -> AppError {
    let is_cancelled = app.find(id).map(|found| found.is_some_and(|(_, task)| task.status() == Status::Cancelled));
    let is_asked = app.store.cancel_request(id).map(|request| request.is_some());
    let (stands, hint) = match (is_cancelled, is_asked) {
        (Ok(true), _) => ("is cancelled", "the task is cancelled; there is no need to cancel it again"),
        (_, Ok(true)) => ("was asked to end", "the request stands; its supervisor or the next pass carries it out"),
        (Ok(false), Ok(false)) => return error,
        _ => ("may have been asked to end", "look at the task before you go on"),
    };
    after_asking(id, stands, hint, error)
}

/// The error of a request that may be in force: it says so. An error that says so is left alone.
pub(crate) fn after_asking(id: TaskId, stands: &str, hint: &str, error: AppError) -> AppError {
    let is_told = matches!(error.code(), Code::CancelPending | Code::PausePending | Code::SupervisorStopped);
    if is_told || matches!(error.kind(), Kind::No | Kind::NotFound | Kind::Bug) {
        return error;
    }
    error.reworded(|why| format!("{id} {stands}, but {why}")).hint(hint).with_next([format!("luzia explain {id}")])
}

//! `cancel`: ends tasks, or keeps them from starting. For a running task it is a durable request that its supervisor
//! carries out.

use super::accepted::after_asking_to_end;
use crate::app::lifecycle::end::{ask_to_end, cancel_pending, cancel_resting, over};
use crate::app::locks::cleanup::recover_now;
use crate::app::processes::stopped_supervisor;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId};
use crate::os::Signal;
use crate::policy::lifecycle::{Trigger, next};
use crate::store::{Changes, Place};
use std::time::Duration;

pub use crate::store::CancelRequest;

/// Time that a cancel waits for the end beyond the grace, in milliseconds.
const PATIENCE_MS: u64 = 10_000;
/// Longest time for which a cancel waits for a change before it looks again: the death of a supervisor changes no file.
const LOOK: Duration = Duration::from_millis(100);

/// Cancels a task and waits until it is over. A task that is over already is refused, and stays as it is (S1.11).
pub fn cancel(app: &App, id: TaskId, request: &CancelRequest) -> Result<Task, AppError> {
    cancel_and_wait(app, id, request).map_err(|error| after_asking_to_end(app, id, error))
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

/// Wakes the supervisor to look at the request. A task without a supervisor is recovered, which honours the request. No SIGTERM
/// is sent: it would interrupt another task if the supervisor has gone on to one.
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

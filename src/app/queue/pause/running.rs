//! `pause` and `resume` of a running task: a durable request, which its supervisor carries out. The answer waits until the task
//! is stopped, or goes on.

use crate::app::ask::{after_asking, await_supervisor};
use crate::app::fleet::refuse_local;
use crate::app::lifecycle::over;
use crate::app::queue::pause::{Changed, Wish, as_hold, pause_waiting};
use crate::app::{App, AppError, Code};
use crate::model::control::TaskHold;
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::store::Place;
use std::time::Duration;

/// Time that the supervisor may take, in milliseconds.
const PATIENCE_MS: u64 = 10_000;
/// Longest wait for a change before the next look: the supervisor's sign changes no folder.
const LOOK: Duration = Duration::from_millis(5);

/// A request to a supervisor.
struct Asked<'a> {
    id: TaskId,
    request: &'a TaskHold,
    /// Whether the task is to stop, and not to go on.
    stops: bool,
}

/// The result of a look.
enum Come {
    /// The request is carried out.
    Done,
    /// The task does not run any more.
    Left(Status),
    Waits,
}

/// Stops the processes of a task that runs, until a moment or until `resume`.
pub(super) fn pause_running(app: &App, id: TaskId, wish: &Wish, now: Timestamp) -> Result<Changed, AppError> {
    refuse_local([(app.fleet.is_some(), "a pause of a running task")])?;
    let task = app.existing(id)?;
    let before = app.store.run_pause(id)?.filter(|pause| pause.hold.stands(now));
    let since = before.map_or(now, |pause| pause.hold.since);
    let Wish { until, reason, by } = wish.clone();
    let request = TaskHold { since, until, reason, by, start_left_ms: None };
    match ask(app, &Asked { id, request: &request, stops: true })? {
        None => Ok(Changed::by(id.to_string(), as_hold(&task, &request))),
        // The task is queued again: then it is kept from starting.
        Some(Status::Pending) => pause_waiting(app, id, wish, now),
        Some(_) => Err(over(&app.existing(id)?)),
    }
}

/// Lets a stopped task go on.
pub(super) fn resume_running(app: &App, task: &Task, now: Timestamp) -> Result<Changed, AppError> {
    refuse_local([(app.fleet.is_some(), "a pause of a running task")])?;
    let id = task.id;
    let Some(pause) = app.store.run_pause(id)? else { return Ok(Changed::unchanged(id.to_string())) };
    let hold = as_hold(task, &pause.hold);
    let request = TaskHold { until: Some(now), ..pause.hold };
    ask(app, &Asked { id, request: &request, stops: false })?;
    Ok(Changed::by(id.to_string(), hold))
}

/// Sends a supervisor a request, and waits until it is carried out. Returns the state of a task that no longer runs.
fn ask(app: &App, asked: &Asked) -> Result<Option<Status>, AppError> {
    let mut is_recorded = false;
    ask_and_wait(app, asked, &mut is_recorded).map_err(|error| {
        let stands = if is_recorded { "was asked" } else { "may have been asked" };
        let stands = format!("{stands} to {}", words(asked.stops));
        after_asking(asked.id, &stands, "look at the task before you go on", error)
    })
}

fn ask_and_wait(app: &App, asked: &Asked, is_recorded: &mut bool) -> Result<Option<Status>, AppError> {
    let begin = app.host.boot_ms();
    let mut changes = None;
    loop {
        match look_at_pause(app, asked, is_recorded)? {
            Come::Done => return Ok(None),
            Come::Left(status) => return Ok(Some(status)),
            Come::Waits => {}
        }
        await_supervisor(app, asked.id, &mut changes, LOOK, words(asked.stops))?;
        if app.host.boot_ms().saturating_sub(begin) > PATIENCE_MS {
            let message = format!("{} was asked to {}, and has not done so yet", asked.id, words(asked.stops));
            return Err(AppError::new(Code::PausePending, message)
                .hint("the request is durable; its supervisor carries it out")
                .next(format!("luzia explain {}", asked.id)));
        }
    }
}

fn look_at_pause(app: &App, asked: &Asked, is_recorded: &mut bool) -> Result<Come, AppError> {
    let Some((place, task)) = app.store.find(asked.id)? else {
        return Ok(Come::Left(app.existing(asked.id)?.status()));
    };
    if !matches!(place, Place::Running | Place::Waiting) {
        // A result that no supervisor has brought to its end may be beside it.
        if place != Place::Done && app.run_dir.is_supervised(asked.id)? {
            return Ok(Come::Waits);
        }
        return Ok(Come::Left(task.status()));
    }
    if place == Place::Waiting && !app.run_dir.is_supervised(asked.id)? {
        return Err(no_process(asked.id));
    }
    let now = app.host.now();
    match app.store.run_pause(asked.id)? {
        // A later pause has other words. Only the stop of the task counts.
        Some(pause) if asked.stops && *is_recorded && pause.hold.stands(now) => {
            return Ok(if pause.is_in_effect { Come::Done } else { Come::Waits });
        }
        // Its end has come, or another caller has resumed it meanwhile.
        Some(_) | None if asked.stops && *is_recorded && asked.request.until.is_some_and(|until| until <= now) => {
            return Ok(Come::Done);
        }
        None if !asked.stops => return Ok(Come::Done),
        Some(_) if !asked.stops && *is_recorded => return Ok(Come::Waits),
        Some(_) | None => {}
    }
    *is_recorded = app.store.request_pause(asked.id, asked.request)?;
    Ok(Come::Waits)
}

/// The error of a request to a task without a process.
fn no_process(id: TaskId) -> AppError {
    AppError::new(Code::TaskWaits, format!("{id} waits for an event without a process"))
        .hint(
            "no process of the task runs, so nothing was stopped; a pause of its user or of its lane holds the task \
             when the event comes",
        )
        .next(format!("luzia explain {id}"))
}

fn words(stops: bool) -> &'static str {
    if stops { "stand still" } else { "go on" }
}

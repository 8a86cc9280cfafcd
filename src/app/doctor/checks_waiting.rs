//! Tasks that wait without a process: whether a process will look at each.

use crate::app::admission::reach::has_dispatcher;
use crate::app::doctor::{Finding, Found};
use crate::app::waits::open_wait;
use crate::app::{App, AppError};
use crate::model::{Task, TaskId, Timer, Timestamp};
use crate::store::{Place, StoreError};
use std::collections::BTreeSet;

/// Time that a dispatcher may take to act on the end of a time, in milliseconds.
const AT_WORK_MS: i64 = 10_000;

pub(super) fn waiting(app: &App) -> Found {
    let (mut found, mut damaged) = (Vec::new(), BTreeSet::new());
    for task in app.store.started_tasks().filter_map(Result::ok).filter(|task| task.wait().is_some()) {
        if app.store.stands_waiting(task.id)?
            && let Err(wrong @ StoreError::Corrupt { .. }) = app.store.waits(task.id)
        {
            let message = format!("what {} waits for does not read: {wrong}", task.id);
            let hint = "luzia doctor --fix lets it fail at the next pass; then luzia retry";
            found.push(Finding::problem(message, format!("{hint} {} --from-start begins it anew", task.id)));
            damaged.insert(task.id);
        }
    }
    for (id, until) in overdue(app)? {
        let message = format!("{id} waits and is overdue: its time ran out at {until}, and nothing has acted on it");
        found.push(Finding::warn(message, format!("luzia dispatch; luzia explain {id} says what it waits for")));
        damaged.insert(id);
    }
    for (task, _) in unwatched(app)?.iter().filter(|(task, _)| !damaged.contains(&task.id)) {
        let message = format!("{} waits and lacks its timer", task.id);
        let hint = "luzia doctor --fix sets it again; the event that it waits for does so, too";
        found.push(Finding::problem(message, hint));
    }
    Ok(found)
}

/// The tasks without a process whose time has run out, if no process at work is about to act on it.
pub(super) fn overdue(app: &App) -> Result<Vec<(TaskId, Timestamp)>, AppError> {
    let slack = if has_dispatcher(app)? { AT_WORK_MS } else { 0 };
    let mut found = Vec::new();
    for task in app.store.started_tasks().filter_map(Result::ok).filter(|task| task.wait().is_some()) {
        // Another check reports damaged waits.
        let open = open_wait(app, task.id).ok().flatten();
        let until = open.and_then(|open| Timestamp::parse(&open.until));
        found.extend(until.filter(|until| until.plus_ms(slack) <= app.host.now()).map(|until| (task.id, until)));
    }
    Ok(found)
}

/// The tasks in `waiting` that lack a timer, with the timers to set. A task whose wait is over needs a timer that is due,
/// which stays until the task is claimed. Any other task needs one for the end of its time.
pub(super) fn unwatched(app: &App) -> Result<Vec<(Task, Vec<Timestamp>)>, AppError> {
    let mut found = Vec::new();
    for task in app.store.started_tasks().whole().filter_map(Result::ok) {
        let Some(wait) = task.wait().cloned() else { continue };
        if !app.store.stands_waiting(task.id)? {
            continue;
        }
        let now = app.host.now();
        // Damaged waits end the task at the next look.
        let is_open = app.store.waits(task.id).is_ok_and(|waits| waits.open.is_some());
        let due: BTreeSet<_> = app.store.timers(now)?.due.into_iter().map(|(id, _)| id).collect();
        let has_timer = due.contains(&task.id) || (is_open && app.store.has_timer(&Timer::of(task.id, wait.until))?);
        // The timers of a task are removed when a pass has claimed it, so it must still be there after the look.
        let is_same = app.store.find(task.id)?.is_some_and(|(place, now)| place == Place::Waiting && now == task);
        if !has_timer && is_same && !app.run_dir.is_supervised(task.id)? {
            found.push((task, vec![now, wait.until]));
        }
    }
    Ok(found)
}

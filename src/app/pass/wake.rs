//! Tasks outside the scan: not due, after others, or with a moment by which they must start. A pass looks at timers that fired
//! and at dependencies that ended, never at all parked tasks. Timers that are due fire at the next command, too (S1.51). They
//! start nothing: dispatchers do.

use super::resumed::see_to_wait;
use crate::app::cron::slots::make_due_slots;
use crate::app::lifecycle::{Pass, change_waiting, end_unstarted, find_or_set_aside, unpark_if_free, wake_those};
use crate::app::processes::wake_supervisor;
use crate::app::wait_warnings::warn_of_task;
use crate::app::{App, AppError, config_reload};
use crate::model::{Task, TaskId, Timer, Timestamp};
use crate::policy::hold::{pause_of, start_limit};
use crate::policy::outcome::Happened;
use crate::store::Place;
use std::collections::BTreeMap;

/// Time after which a timer whose task never appeared is forgotten, in milliseconds.
const FORGET_TIMER_MS: i64 = 3_600_000;

/// Largest drift of the two clocks before a delay is put right, in milliseconds.
const CLOCK_SLACK_MS: i64 = 1000;

/// Longest time without a look at a paused task that has to start by some moment, in milliseconds: a resume sets no timer.
const LOOK_WHILE_PAUSED_MS: i64 = 60_000;

/// Lets due timers fire. A command that asks for something else does not fail because of them. The next pass does what cannot be
/// done now, e.g. in a state directory that cannot be written. Returns the faults of records that were set aside.
pub fn fire_timers(app: &App) -> Vec<String> {
    if app.fleet.is_some() {
        // The timers of this host are for its own processes.
        return Vec::new();
    }
    let mut pass = Pass::default();
    let _ = fire_due_timers(app, &mut pass);
    pass.set_aside
}

fn fire_due_timers(app: &App, pass: &mut Pass) -> Result<(), AppError> {
    if !app.store.is_timer_due()? || !app.store.has_layout()? {
        return Ok(());
    }
    // Inside a task its own supervisor makes the pass.
    match &app.inside {
        Some(inside) if wake_supervisor(app, inside.task)? => Ok(()),
        _ => wake_parked(app, pass).map(drop),
    }
}

/// Moves tasks that are due; returns the moment of the next timer.
pub(crate) fn wake_parked(app: &App, pass: &mut Pass) -> Result<Option<Timestamp>, AppError> {
    let now = app.host.now();
    let mut timers = app.store.timers(now)?;
    let mut is_moved = false;
    for id in &timers.later {
        let parked = find_or_set_aside(app, *id, pass)?.filter(|(place, _)| *place == Place::Parked);
        is_moved |= parked.is_some_and(|(_, task)| follow_boot_clock(app, &task));
    }
    if is_moved {
        timers = app.store.timers(now)?;
    }
    let next = timers.next;
    let mut waiting: BTreeMap<TaskId, Vec<Timestamp>> = BTreeMap::new();
    for (id, at) in timers.due {
        match find_or_set_aside(app, id, pass)? {
            Some((place @ (Place::Pending | Place::Parked), task)) if task.start_by.is_some_and(|by| by <= at) => {
                let is_over = look_at_start_limit(app, &task, at, now)?;
                if !is_over && place == Place::Parked {
                    unpark_if_free(app, &task, now, pass)?;
                }
            }
            Some((Place::Pending, task)) if task.warns_at() == Some(at) => {
                warn_of_task(app, &task, pass)?;
                app.store.clear_timer(&Timer::of(id, at))?;
            }
            Some((Place::Parked, task)) if follow_boot_clock(app, &task) => {
                app.store.clear_timer(&Timer::of(id, at))?
            }
            Some((Place::Parked, task)) => {
                let is_settled = unpark_if_free(app, &task, now, pass)?;
                if !is_settled {
                    app.store.forget_timer(id, at)?;
                }
            }
            Some((Place::Waiting, _)) => waiting.entry(id).or_default().push(at),
            Some((_, task)) if task.start_by == Some(at) => app.store.clear_timer(&Timer::of(id, at))?,
            Some(_) => app.store.forget_timer(id, at)?,
            None if now.ms_since(at) > FORGET_TIMER_MS => app.store.clear_timer(&Timer::of(id, at))?,
            None => {}
        }
    }
    for (id, due) in waiting {
        if let Some((Place::Waiting, task)) = find_or_set_aside(app, id, pass)? {
            see_to_wait(app, &task, &due, pass)?;
        }
    }
    let slot = make_due_slots(app, &timers.schedules, now, pass);
    for (dependency, waiting) in app.store.dependencies()? {
        if find_or_set_aside(app, dependency, pass)?.is_none_or(|(place, _)| place == Place::Done) {
            wake_those(app, dependency, &waiting, pass)?;
        }
    }
    Ok(next.into_iter().chain(slot).min())
}

/// Puts the due time of a delay right after the wall clock was set in this boot; true if the due time has changed. The next pass
/// looks again at a task for which another process acts right now.
fn follow_boot_clock(app: &App, task: &Task) -> bool {
    let Some(due) = task.due_at else { return false };
    let right = task.terms.due_boot.as_ref().and_then(|due| app.host.by_wall_clock(due));
    let Some(right) = right.filter(|right| right.ms_since(due).abs() > CLOCK_SLACK_MS) else { return false };
    change_waiting(app, task.id, "clock_moved", |task| Ok(Task { due_at: Some(right), ..task.clone() })).is_ok()
}

/// Ends a task whose start limit has passed. Paused time does not count, so a pause moves the timer to a later moment. True if
/// the task has ended, or if another process acts for it.
fn look_at_start_limit(app: &App, task: &Task, at: Timestamp, now: Timestamp) -> Result<bool, AppError> {
    let control = config_reload::control(app);
    let later = match start_limit(task, &control.holds, now) {
        Some(limit) if limit <= now => {
            if end_unstarted(app, task.id, &Happened::StartedTooLate)? {
                app.store.clear_timer(&Timer::of(task.id, at))?;
            }
            return Ok(true);
        }
        Some(limit) => limit,
        None => {
            let end = pause_of(task, &control.holds, now).and_then(|pause| pause.until);
            let soon = Timestamp(now.0.saturating_add(LOOK_WHILE_PAUSED_MS));
            end.map_or(soon, |end| end.min(soon))
        }
    };
    app.store.set_timer(&Timer::of(task.id, later))?;
    app.store.clear_timer(&Timer::of(task.id, at))?;
    Ok(false)
}

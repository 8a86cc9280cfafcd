//! Checks of tasks without a process, of schedules, and of damaged files that were set aside.
//! `waiting` checks for each task that waits without a process whether a process will look at it. `schedules` checks for each
//! schedule whether it is valid, and whether a process will look at its next slot. `zones` compares the host's database of time
//! zones with luzia's own. `set_aside` reports the damaged files; `Aside` is the former kind of each, and `aside_hint` the
//! remedy. Finished work is never queued again.

use crate::app::admission::has_dispatcher;
use crate::app::cron::local_zone;
use crate::app::doctor::{Finding, Found};
use crate::app::waits::open_wait;
use crate::app::{App, AppError};
use crate::model::calendar::{Schedule, Zone};
use crate::model::sorted::sort_by;
use crate::model::{ScheduleKey, Task, TaskId, Timer, Timestamp};
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
            let message = format!("the record of the wait of {} cannot be read: {wrong}", task.id);
            let hint = "luzia doctor --fix makes the task fail at the next pass; then luzia retry";
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
        let hint = "luzia doctor --fix sets it again; the awaited event does so, too";
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

/// Time for which the slot of a schedule may be due before that is reported, in milliseconds: an hour.
const LATE_MS: i64 = 3_600_000;

pub(super) fn schedules(app: &App) -> Found {
    let (mut found, now) = (Vec::new(), app.host.now());
    for schedule in app.store.schedules()? {
        match schedule {
            Ok(schedule) => found.extend(late(&schedule, now)),
            Err(error @ StoreError::Corrupt { .. }) => {
                let hint =
                    "its slots make no tasks; luzia sets the file aside at the next slot; add the schedule again";
                found.push(Finding::problem(error.to_string(), hint));
            }
            Err(error) => found.push(Finding::error(&error.into())),
        }
    }
    for (schedule, at) in untimed(app)? {
        let message = format!("no timer is set for the slot {at} of the schedule \"{}\"", schedule.name);
        found.push(Finding::problem(message, "luzia doctor --fix sets its timer again"));
    }
    Ok(found)
}

fn late(schedule: &Schedule, now: Timestamp) -> Option<Finding> {
    let next = schedule.next.filter(|next| now.ms_since(*next) > LATE_MS)?;
    let message = format!("the schedule \"{}\" has been due since {next}", schedule.name);
    Some(Finding::warn(message, "nobody makes a pass; luzia dispatch or luzia daemon does"))
}

/// The schedules whose next slot has no timer, with that slot.
pub(super) fn untimed(app: &App) -> Result<Vec<(Schedule, Timestamp)>, AppError> {
    let mut found = Vec::new();
    for schedule in app.store.schedules()?.into_iter().flatten() {
        let Some(next) = schedule.next else { continue };
        let key = ScheduleKey::of(&schedule.name);
        // A pass may just have made the slot: it is looked at again.
        if app.store.has_timer(&Timer::of(&key, next))?
            || app.store.schedule_at(&key).ok().flatten() != Some(schedule.clone())
        {
            continue;
        }
        if !app.store.has_timer(&Timer::of(&key, next))? {
            found.push((schedule, next));
        }
    }
    Ok(found)
}

/// Period over which the databases of time zones are compared, in milliseconds: two years.
const ZONES_AHEAD_MS: i64 = 2 * 365 * 86_400_000;

/// The zones of schedules and of this host whose rules differ between the host's database and luzia's own. Other hosts, and
/// sandboxes without the database, read a time in such a zone in another way.
pub(super) fn zones(app: &App) -> Found {
    let now = app.host.now();
    let mut zones = vec![local_zone(app)];
    zones.extend(app.store.schedules()?.into_iter().flatten().filter_map(|schedule| Zone::parse(&schedule.zone).ok()));
    sort_by(&mut zones, |a, b| a.name().cmp(b.name()));
    zones.dedup_by(|a, b| a.name() == b.name());
    let differs = |zone: &Zone| {
        let at = zone.differs_at(now, now.plus_ms(ZONES_AHEAD_MS))?;
        let message = format!("the host's time zone database and luzia's own differ for {} from {at} on", zone.name());
        Some(Finding::warn(message, "luzia uses that of the host; update tzdata or luzia"))
    };
    Ok(zones.iter().filter_map(differs).collect())
}

pub(super) fn set_aside(app: &App) -> Found {
    let tell = |path: &String| {
        let (message, hint) = (format!("\"{path}\" is damaged and was set aside"), aside_hint(app, path)?);
        let hint = format!("{hint}; then move the file away");
        Ok(match is_lost(app, path)? {
            true => Finding::problem(message, hint),
            false => Finding::warn(message, hint),
        })
    };
    app.store.set_aside_records()?.iter().map(tell).collect()
}

/// Whether a file that was set aside is a task that was accepted and has not come to its end.
fn is_lost(app: &App, path: &str) -> Result<bool, AppError> {
    match Aside::of(path) {
        Aside::Queued(id) | Aside::Started(id) => Ok(app.store.find(id)?.is_none()),
        Aside::Over | Aside::Memory(_) => Ok(false),
        Aside::Other => Ok(true),
    }
}

/// The remedy for a file that was set aside.
pub(crate) fn aside_hint(app: &App, path: &str) -> Result<String, AppError> {
    Ok(match Aside::of(path) {
        Aside::Queued(id) | Aside::Started(id) if app.store.find(id)?.is_some() => {
            format!("another record of {id} stands, and nothing is to be queued again: luzia show {id}")
        }
        Aside::Queued(_) => "it was accepted and will not run: read it, and queue the work again".to_owned(),
        Aside::Started(id) => {
            format!("{id} had started: read the record, see how far its command came, and queue only what is missing")
        }
        Aside::Over => "the task was over: nothing is to be queued again".to_owned(),
        Aside::Memory(id) => {
            format!(
                "{id} has its variables and steps of before the damage; nothing is to be queued again: luzia show {id}"
            )
        }
        Aside::Other => "read it".to_owned(),
    })
}

/// The former kind of a file that was set aside, by its name: that of its old path, with `_` between the folders.
enum Aside {
    Queued(TaskId),
    Started(TaskId),
    Over,
    /// The memory of a task.
    Memory(TaskId),
    Other,
}

impl Aside {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let number = |text: &str| text.parse().ok().map(TaskId);
        let id = name.rsplit_once(".json").and_then(|(record, _)| number(record.rsplit('_').next()?));
        let kind = name.strip_prefix("spool_").and_then(|rest| rest.split('_').next());
        match (kind, id) {
            (Some("steps"), _) => {
                let id = name.strip_prefix("spool_steps_").and_then(|rest| number(rest.split('_').next()?));
                id.map_or(Self::Other, Self::Memory)
            }
            (Some("pending" | "parked"), Some(id)) => Self::Queued(id),
            (Some("running" | "waiting"), Some(id)) => Self::Started(id),
            (Some("done"), _) => Self::Over,
            _ => Self::Other,
        }
    }
}

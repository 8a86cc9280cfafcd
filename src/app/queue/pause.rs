//! `pause` and `resume`: keep the host, a user, a lane, a pattern of lanes or a task from starting, and lift that again. A hold
//! of a user or a lane is one line in `spool/control.json`, so it costs the others nothing however many tasks wait. A hold of a
//! task is stored in its record, which is parked outside the scan.

mod running;
mod shared;

use crate::app::cron::pausable_schedule;
use crate::app::lifecycle::change_waiting;
use crate::app::{App, AppError, Code, config_reload};
use crate::model::control::{Held, Hold, TaskHold};
use crate::model::{LaneName, Status, Target, Task, TaskId, Timestamp};
use crate::store::Event;
use running::{pause_running, resume_running};
use serde_json::json;

/// Time for which a hold that ended is remembered: its time does not count against `--start-within`.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// The object that a command line names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A task.
    Task(TaskId),
    /// The host, a user, a lane or a pattern.
    Lanes(Held),
}

impl What {
    /// The task, when one is named.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Task(id) => Some(*id),
            Self::Lanes(_) => None,
        }
    }
}

/// The hold that `pause` asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wish {
    /// The moment at which the pause ends by itself.
    pub until: Option<Timestamp>,
    /// The reason.
    pub reason: Option<String>,
    /// The caller.
    pub by: Option<String>,
}

/// The result of `pause` or `resume` for one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// `task_<n>`, `*` for the host, a lane or a pattern.
    pub what: String,
    /// The hold that is in force, or that was lifted.
    pub hold: Option<Hold>,
    /// Whether anything was changed.
    pub is_changed: bool,
}

impl Changed {
    /// Nothing was changed.
    fn unchanged(what: String) -> Self {
        Self { what, hold: None, is_changed: false }
    }

    /// A hold was set or ended.
    fn by(what: String, hold: Hold) -> Self {
        Self { what, hold: Some(hold), is_changed: true }
    }
}

/// Reads a `USER|LANE|TASK` argument, or a pattern of lanes that ends in `*`.
pub fn pausable(app: &App, text: &str) -> Result<What, AppError> {
    if text == "*" {
        return Err(AppError::usage("\"*\" alone is not a pattern of lanes").hint("to name every task, use --all"));
    }
    if let Some(schedule) = pausable_schedule(app, text)? {
        return Ok(schedule);
    }
    if text.ends_with('*') {
        let pattern = crate::store::config::lane_or_pattern(text).map_err(|why| {
            AppError::usage(why).hint("a pattern is the beginning of a lane and a *, e.g. user:* or session:telegram:*")
        })?;
        let prefix = pattern.strip_suffix('*').unwrap_or(&pattern);
        return Ok(What::Lanes(Held::Pattern(prefix.to_owned())));
    }
    Ok(match app.target(text)? {
        Target::Task(id) => What::Task(id),
        Target::Lane(lane) => What::Lanes(Held::Lane(lane)),
    })
}

/// Refuses a pause that would be over before it begins.
pub fn check_wish(app: &App, wish: &Wish) -> Result<(), AppError> {
    if wish.until.is_some_and(|until| until <= app.host.now()) {
        return Err(AppError::usage("--until names a moment that has passed").hint("nothing was paused"));
    }
    Ok(())
}

/// Whether a task is paused by itself, and not by a hold of its user, its lanes or the host.
pub fn is_paused_itself(app: &App, task: &Task) -> bool {
    match task.status() {
        Status::Pending => task.is_held(app.host.now()),
        Status::Running | Status::Waiting => matches!(app.store.run_pause(task.id), Ok(Some(_))),
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => false,
    }
}

/// Keeps tasks from starting. Running tasks go on, except a task that is named: its processes are stopped.
pub fn pause(app: &App, what: &What, wish: &Wish) -> Result<Changed, AppError> {
    let now = app.host.now();
    match (what, &app.fleet) {
        (What::Task(id), _) => pause_task(app, *id, wish, now),
        (What::Lanes(held), Some(fleet)) => shared::pause(app, &**fleet, held, wish),
        (What::Lanes(held), None) => {
            app.store.prepare()?;
            let hold = app.store.change_control::<_, AppError>(|control| {
                control.holds.retain(|hold| hold.until.is_none_or(|until| now.ms_since(until) < KEPT_MS));
                let standing = control.holds.iter().position(|hold| hold.held == *held && hold.stands(now));
                let since = standing.map_or(now, |at| control.holds.remove(at).since);
                let Wish { until, reason, by } = wish.clone();
                let hold = Hold { held: held.clone(), since, until, reason, by };
                control.holds.push(hold.clone());
                Ok(hold)
            })?;
            note_hold(app, "paused", &hold);
            Ok(Changed::by(held.text(), hold))
        }
    }
}

/// Lets tasks start again. A pattern means every hold of a lane whose name begins so; a pattern without such a hold is refused.
pub fn resume(app: &App, what: &What) -> Result<Vec<Changed>, AppError> {
    let now = app.host.now();
    let held = match (what, &app.fleet) {
        (What::Task(id), _) => return resume_task(app, *id, now).map(|changed| vec![changed]),
        (What::Lanes(held), Some(fleet)) => return shared::resume(&**fleet, held),
        (What::Lanes(held), None) => held,
    };
    let is_meant = |hold: &Hold| {
        hold.stands(now)
            && match held {
                Held::Pattern(prefix) => hold.held != Held::All && hold.held.text().starts_with(prefix.as_str()),
                one => hold.held == *one,
            }
    };
    if !config_reload::control(app).holds.iter().any(is_meant) {
        return nothing_paused(held);
    }
    let ended = app.store.change_control::<_, AppError>(|control| {
        let mut ended = Vec::new();
        for hold in control.holds.iter_mut().filter(|hold| is_meant(hold)) {
            ended.push(hold.clone());
            hold.until = Some(now);
        }
        Ok(ended)
    })?;
    ended.iter().for_each(|hold| note_hold(app, "resumed", hold));
    Ok(ended.into_iter().map(|hold| Changed::by(hold.held.text(), hold)).collect())
}

/// The answer of a `resume` that finds no hold.
fn nothing_paused(held: &Held) -> Result<Vec<Changed>, AppError> {
    match held {
        Held::Pattern(_) => {
            let message = format!("nothing that \"{}\" matches is paused", held.text());
            Err(AppError::new(Code::NotPaused, message)
                .hint("`luzia status` shows what is paused")
                .next("luzia status"))
        }
        _ => Ok(vec![Changed::unchanged(held.text())]),
    }
}

fn pause_task(app: &App, id: TaskId, wish: &Wish, now: Timestamp) -> Result<Changed, AppError> {
    match app.existing(id)?.status() {
        Status::Running | Status::Waiting => return pause_running(app, id, wish, now),
        Status::Pending => {}
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => {
            return Err(crate::app::lifecycle::over(&app.existing(id)?));
        }
    }
    match pause_waiting(app, id, wish, now) {
        // The task has started meanwhile.
        Err(error) if error.code() == Code::TaskNotPending => pause_running(app, id, wish, now),
        paused => paused,
    }
}

pub(super) fn pause_waiting(app: &App, id: TaskId, wish: &Wish, now: Timestamp) -> Result<Changed, AppError> {
    let task = change_waiting(app, id, "paused", |task| {
        let since = task.hold.as_ref().filter(|_| task.is_held(now)).map_or(now, |hold| hold.since);
        let left = left_to_start(task, now);
        let Wish { until, reason, by } = wish.clone();
        let hold = TaskHold { since, until, reason, by, start_left_ms: left.filter(|_| until.is_none()) };
        // The time of `--start-within` goes on when the hold ends.
        let start_by = until.zip(left).map(|(until, left)| until.plus_ms(i64::try_from(left).unwrap_or(i64::MAX)));
        Ok(Task { hold: Some(hold), start_by, ..task.clone() })
    })?;
    let hold = task.hold.as_ref().map(|hold| as_hold(&task, hold));
    Ok(Changed { hold, is_changed: true, ..Changed::unchanged(id.to_string()) })
}

fn resume_task(app: &App, id: TaskId, now: Timestamp) -> Result<Changed, AppError> {
    let task = app.existing(id)?;
    if matches!(task.status(), Status::Running | Status::Waiting) {
        return resume_running(app, &task, now);
    }
    let Some(hold) = task.hold.clone().filter(|_| task.status() == Status::Pending && task.is_held(now)) else {
        return Ok(Changed::unchanged(id.to_string()));
    };
    change_waiting(app, id, "resumed", |task| {
        let left = left_to_start(task, now);
        let start_by = left.map(|left| now.plus_ms(i64::try_from(left).unwrap_or(i64::MAX)));
        Ok(Task { hold: None, start_by, ..task.clone() })
    })?;
    Ok(Changed::by(id.to_string(), as_hold(&task, &hold)))
}

fn note_hold(app: &App, name: &'static str, hold: &Hold) {
    let data = json!({
        "what": hold.held.text(),
        "until": hold.until.map(|at| at.to_string()),
        "reason": hold.reason,
        "by": hold.by,
    });
    let mut event = Event::new(name).with(data);
    if let Held::Lane(lane) = &hold.held {
        event = event.in_lane(lane);
    }
    app.store.note(&event);
}

/// The time that is left of `--start-within`, in milliseconds.
fn left_to_start(task: &Task, now: Timestamp) -> Option<u64> {
    let kept = task.hold.as_ref().and_then(|hold| hold.start_left_ms);
    let from = match &task.hold {
        Some(hold) if task.is_held(now) => hold.until.unwrap_or(now),
        _ => now,
    };
    kept.or_else(|| task.start_by.map(|by| by.saturating_ms_since(from)))
}

pub(super) fn as_hold(task: &Task, hold: &TaskHold) -> Hold {
    Hold {
        held: Held::Lane(LaneName::user(&task.user)),
        since: hold.since,
        until: hold.until,
        reason: hold.reason.clone(),
        by: hold.by.clone(),
    }
}

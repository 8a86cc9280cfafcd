//! `release`: gives a lane back; with `--force`, ends a living holder first.

use super::reentrancy::{is_of_own_session, keeps};
use super::session::end_session_lease;
use super::waiting::pass_for_waiting;
use super::waiting::pass_if_owed;
use crate::app::ask::cancel;
use crate::app::config_reload::config;
use crate::app::pass::recovery::{recover_by_force, recover_now};
use crate::app::query::explain;
use crate::app::{App, AppError, Code, Kind, lane_word};
use crate::model::evidence::{Reason, Verdict};
use crate::model::time::format_duration;
use crate::model::{Identity, LaneName, LockKind, TaskId, Timestamp};
use crate::os::Signal;
use crate::policy::staleness::judge;
use crate::store::{Break, By, CancelRequest, Event, LockView, Release, Released, broken};
use serde_json::json;
use std::time::Duration;

/// Time between SIGTERM and SIGKILL for a holder that is ended by force.
const FORCE_GRACE: Duration = Duration::from_secs(10);

/// The answer to a release.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Given {
    /// The lock that was released; `None` when the lane was free.
    pub lock: Option<Break>,
    /// The keeper of the lane: the task or the `luzia lock` inside which this process runs, for which nothing was released.
    pub kept_by: Option<String>,
    /// Lines for `-v`, in the words of their source.
    pub log: Vec<String>,
    /// The process that starts the task waiting for the lane, if this process may not.
    pub waiting: Option<String>,
}

/// Releases a lane, and makes a pass if a task waits for it.
pub fn release(
    app: &App,
    lane: &LaneName,
    holder: Option<&str>,
    lock_id: Option<&str>,
    force: bool,
) -> Result<Given, AppError> {
    let mut given = give_back(app, lane, holder, lock_id, force)?;
    if given.lock.is_some() {
        given.waiting = pass_for_waiting(app, std::slice::from_ref(lane));
    }
    Ok(given)
}

fn give_back(
    app: &App,
    lane: &LaneName,
    holder: Option<&str>,
    lock_id: Option<&str>,
    force: bool,
) -> Result<Given, AppError> {
    let holder = holder.map(|name| app.holder_name(name)).transpose()?;
    let mut which = match (lock_id, &holder) {
        (Some(id), _) => Release::LockId(id.to_owned()),
        (None, Some(holder)) => Release::Holder(holder.clone()),
        (None, None) => Release::Anybody,
    };
    if let (Some(id), Some(holder)) = (lock_id, &holder)
        && !id.starts_with(&format!("{holder}_"))
    {
        return Err(AppError::usage(format!("\"{id}\" is not a lock id of {holder}")));
    }
    if let Some(keeper) = if force { None } else { keeps(app, lane, &which)? } {
        return Ok(Given { kept_by: Some(keeper), ..Given::default() });
    }
    // A caller that ends the holder first does not speak for it.
    let by = if force || which == Release::Anybody { By::Anybody } else { By::Holder };
    let mut ended = None;
    for _ in 0..10 {
        let released = app.store.release(lane, &which, by, config(app).lock_timeout_ms(lane), judge)?;
        pass_if_owed(app, lane);
        match released {
            // A holder that was ended has given its lock back itself, and the lane may already belong to the next one.
            Released::Free | Released::NotYours(_) if ended.is_some() => {
                let line = ended.as_ref().and_then(|lock| released_line(lane, holder_of(lock)));
                return Ok(Given { log: line.into_iter().collect(), lock: ended, ..Given::default() });
            }
            Released::Free => return Ok(Given::default()),
            Released::Removed(lock) => return Ok(self::released(app, lock)),
            Released::NotYours(view) => {
                let error = held_error(lane, &view, app.host.now());
                return Err(error.with_kind(Kind::No).with_code(Code::NotTheHolder));
            }
            Released::NeedsRecovery(task) if force => recover_by_force(app, task)?,
            Released::NeedsRecovery(task) => recover_now(app, task)?,
            Released::Living(view) if force && !matches!(view.verdict, Verdict::Refused { .. }) => {
                end_holder(app, &view)?;
                let lock = Break { why: None, ..broken(lane, &view) };
                // Only this holder was to be ended, never the holder after it.
                which = lock.lock_id.clone().map_or(which, Release::LockId);
                ended = Some(lock);
            }
            Released::Living(view) => {
                let is_stopped = explain::holder_of(app, &view).stopped.is_some();
                return Err(living_error(app, lane, &view, is_stopped));
            }
        }
    }
    Err(AppError::new(Code::HolderLives, format!("the holder of lane \"{lane}\" has not ended yet"))
        .next(format!("luzia explain {}", lane_word(lane))))
}

pub(crate) fn released(app: &App, lock: Break) -> Given {
    let holder = holder_of(&lock);
    let line = released_line(&lock.lane, holder);
    let event = Event::new("lock_released").for_lock(&lock.lane);
    let event = event.with(json!({ "lock_id": lock.lock_id, "holder": holder }));
    app.store.note(&Event { message: line.clone(), ..event });
    Given { log: line.into_iter().collect(), lock: Some(lock), ..Given::default() }
}

/// Ends a living holder: a task by a durable cancel, a process by SIGTERM and, after a grace, SIGKILL.
fn end_holder(app: &App, view: &LockView) -> Result<(), AppError> {
    let Some(record) = view.record() else {
        return Err(AppError::new(Code::HolderUnknown, "the holder is unknown, so it cannot be ended"));
    };
    if record.kind == LockKind::Session {
        return end_session_lease(app, view);
    }
    if matches!(record.kind, LockKind::Task | LockKind::Wait) {
        let task = record.task_id.as_deref().and_then(TaskId::parse);
        if let Some(task) = task {
            match cancel(app, task, &CancelRequest::by("luzia release --force", "its lane was released by force")) {
                // The task has ended by itself meanwhile.
                Err(error) if error.code() == Code::TaskOver => {}
                ended => drop(ended?),
            }
        }
        return Ok(());
    }
    let (Some(pid), Some(start), Some(boot_id)) = (record.pid, record.pid_start, record.boot_id.clone()) else {
        return Err(AppError::new(Code::HolderUnknown, "the sidecar names no process to end"));
    };
    let process = Identity { pid, start, boot_id };
    // The sidecar of a `luzia lock` is believed only about a process that has the lock file open.
    let is_holder = |user: &Identity| (user.pid, user.start) == (process.pid, process.start);
    if record.kind != LockKind::Process || users_of(app, view)?.iter().any(is_holder) {
        app.host.signal(&process, Signal::Term);
        if !app.host.await_death(&process, FORCE_GRACE) {
            app.host.signal(&process, Signal::Kill);
            app.host.await_death(&process, FORCE_GRACE);
        }
    }
    // The command of `luzia lock` may have outlived it: a process that still has the lock file open is ended too.
    end_lock_holders(app, view)
}

/// The living processes that have the lock file open.
fn users_of(app: &App, view: &LockView) -> Result<Vec<Identity>, AppError> {
    let users = view.lane.as_ref().map(|lane| app.store.lock_file_users(lane, view.slot));
    Ok(users.transpose()?.unwrap_or_default())
}

fn end_lock_holders(app: &App, view: &LockView) -> Result<(), AppError> {
    for _ in 0..1000 {
        let left = users_of(app, view)?;
        if left.is_empty() {
            break;
        }
        for process in &left {
            app.host.signal(process, Signal::Kill);
        }
        app.host.sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn holder_of(lock: &Break) -> &str {
    lock.holder.as_deref().unwrap_or("unknown")
}

/// `[MessageService] Thread 123 lock released by execution 100` for a thread's lane (S0.31).
pub(crate) fn released_line(lane: &LaneName, holder: &str) -> Option<String> {
    let by = execution(holder);
    (lane.kind() == "thread").then(|| format!("[MessageService] Thread {} lock released by execution {by}", lane.key()))
}

/// The name of a holder in a log line about threads: the bare number of a task, any other name as it is (S0.30, S0.31).
pub(crate) fn execution(holder: &str) -> &str {
    holder.strip_prefix("task_").unwrap_or(holder)
}

/// The holder of a lane: its name, the moment of its grant, whether it lives, and the evidence for that (P7).
pub fn held_text(lane: &LaneName, view: &LockView, now: Timestamp) -> String {
    let holder = view.shown().unwrap_or_else(|| "an unknown holder".to_owned());
    let since = view.record().and_then(|record| record.acquired_at);
    let age = since.map_or(view.age_ms, |at| now.saturating_ms_since(at));
    let why = view.verdict.why().text();
    format!("lane \"{lane}\" is held by {holder} for {}: {why}", format_duration(age))
}

/// The error of a lane that is held: [`held_text`] and what would change it (P7).
pub fn held_error(lane: &LaneName, view: &LockView, now: Timestamp) -> AppError {
    let message = held_text(lane, view, now);
    let expiry = match view.record().filter(|record| matches!(record.kind, LockKind::Lease | LockKind::Foreign)) {
        Some(record) => record.expires_at.map(|at| format!("; its lease runs out at {at}")).unwrap_or_default(),
        None => String::new(),
    };
    AppError::new(Code::LockHeld, message)
        .hint(format!("wait for it, or look closer with luzia explain {}{expiry}", lane_word(lane)))
        .next(format!("luzia explain {}", lane_word(lane)))
        .next(next_command(view.holder(), &view.verdict))
}

/// The command that goes on from a lane that is held. It never ends, releases or re-routes work that lives (P10).
pub fn next_command(holder: Option<&str>, verdict: &Verdict) -> String {
    match (verdict, holder.filter(|name| name.starts_with("task_"))) {
        // A lease may have the name of a task that luzia never ran.
        (Verdict::Live { why, .. }, Some(task)) if why.is_living_process() && *why != Reason::SessionLives => {
            format!("luzia wait {task}")
        }
        (Verdict::Live { .. }, _) => "luzia list-locks".to_owned(),
        (Verdict::Stale { .. }, _) => "luzia cleanup-stale".to_owned(),
        (Verdict::Refused { .. }, _) => "luzia doctor".to_owned(),
    }
}

/// The command that takes a lane by force. A holder that lives and is within its time has no such command (P10). `lane` is an
/// argument of a command.
pub fn forceful_command(lane: &str, holder: Option<&str>, verdict: &Verdict, is_stopped: bool) -> Option<String> {
    let is_late = matches!(verdict, Verdict::Live { overdue: true, .. });
    let is_session = matches!(verdict, Verdict::Live { why: Reason::SessionLives, .. });
    (is_late || is_stopped).then(|| match holder.filter(|name| name.starts_with("task_") && !is_session) {
        Some(task) => format!("luzia cancel {task}"),
        None => format!("luzia release {lane} --force"),
    })
}

/// The refusal to release the lane of a living holder. Its first hint waits or looks. Force is listed apart, and only if the
/// holder is late or stopped (P10).
pub(crate) fn living_error(app: &App, lane: &LaneName, view: &LockView, is_stopped: bool) -> AppError {
    let word = lane_word(lane);
    let hint = match view.record().map(|record| record.kind) {
        Some(LockKind::Lease) => "the holder itself releases it, by its name or with --lock-id".to_owned(),
        Some(LockKind::Session) if is_of_own_session(app, view) => {
            format!("it is a lease of your own session: `luzia release {word} --session` gives it back")
        }
        Some(LockKind::Session) => {
            format!("the lane is free when that session ends, or gives it back: `luzia release {word} --session`")
        }
        _ => "the lane is free when the holder ends; nothing was changed".to_owned(),
    };
    held_error(lane, view, app.host.now())
        .with_kind(Kind::No)
        .with_code(Code::HolderLives)
        .hint(hint)
        .overriding(forceful_command(&word, view.holder(), &view.verdict, is_stopped))
}

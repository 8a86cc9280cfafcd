//! The keeper of a session: a process that holds the kernel locks of the session's leases and watches the agent's process.
//! At the end of that process, or when the keeper is asked to end, the keeper gives the leases back. If the keeper is killed, the
//! kernel frees its locks, which proves to every process that the leases are over.

use crate::app::config_reload::{config, lock_timeouts};
use crate::app::locks::release::released_line;
use crate::app::locks::waiting::pass_for_waiting;
use crate::app::{App, AppError};
use crate::model::{Identity, LaneName};
use crate::store::{Event, SessionLock};
use serde_json::json;
use std::time::Duration;

/// The shortest time between two refreshes, in milliseconds.
const SHORTEST_MS: u64 = 50;

/// Longest time until the next look whether the locks are still there, in milliseconds. Not every process that releases a
/// lock reports that. A lock file whose names another program has all removed is free until its keeper sees it.
const LOOK_MS: u64 = 1000;

/// Keeps the leases of a session until it is over. This process was started with the lock of the keeper as its standard
/// input.
pub fn keep_session(
    app: &App,
    key: &str,
    pid: u32,
    start: u64,
    is_told_to_end: &mut dyn FnMut() -> bool,
) -> Result<(), AppError> {
    let Some(_lock) = app.store.become_keeper(key)? else { return Ok(()) };
    let process = Identity { pid, start, boot_id: app.host.identity().boot_id };
    let mut changes = app.store.session_changes(key, &process)?;
    let (mut held, mut refreshed_ms) = (Vec::<SessionLock>::new(), None);
    let why = loop {
        app.store.take_wanted(key, &mut held)?;
        forget_those_gone(app, key, &mut held)?;
        end_those_over(app, key, &mut held)?;
        if is_told_to_end() {
            break "told_to_end";
        }
        if app.host.await_death(&process, Duration::ZERO) {
            break "agent_ended";
        }
        if held.is_empty() && app.store.leave_session(key)? {
            return Ok(());
        }
        let now = app.host.boot_ms();
        let every_ms = every_ms(app, &held);
        let is_due = refreshed_ms.is_none_or(|since: u64| now >= since.saturating_add(every_ms));
        if is_due || held.iter().any(|lock| app.store.has_lost_file(&lock.grant)) {
            refresh_all(app, &mut held);
            refreshed_ms = Some(now);
        }
        changes.wait(until_next(app, &held, refreshed_ms.unwrap_or(now).saturating_add(every_ms)));
    };
    end_session(app, key, why, held)
}

/// Drops the locks that another process released or broke.
fn forget_those_gone(app: &App, key: &str, held: &mut Vec<SessionLock>) -> Result<(), AppError> {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for mut lock in held.drain(..) {
        if app.store.is_in_force(&mut lock) { kept.push(lock) } else { gone.push(lock) }
    }
    *held = kept;
    gone.iter().try_for_each(|lock| app.store.forget_session_lock(key, lock))?;
    Ok(())
}

/// Ends the leases whose time to live has passed.
fn end_those_over(app: &App, key: &str, held: &mut Vec<SessionLock>) -> Result<(), AppError> {
    let now = app.host.now();
    let (over, kept): (Vec<_>, Vec<_>) = held.drain(..).partition(|lock| lock.ends_at().is_some_and(|end| now > end));
    *held = kept;
    let lanes: Vec<LaneName> = over.iter().map(|lock: &SessionLock| lock.grant.lane.clone()).collect();
    let ended = over.into_iter().try_for_each(|lock| end_one(app, key, lock, "ttl_passed").map(drop));
    pass_for_waiting(app, &lanes);
    ended
}

fn refresh_all(app: &App, held: &mut [SessionLock]) {
    for lock in held {
        let timeout_ms = config(app).lock_timeout_ms(&lock.grant.lane);
        // A lock that is refreshed late is overdue for a moment, and stays held.
        let _ = app.store.refresh_session_lock(lock, timeout_ms);
    }
}

/// The time between two refreshes by the rules as they are now, in milliseconds: a third of the shortest timeout.
fn every_ms(app: &App, held: &[SessionLock]) -> u64 {
    let timeout_ms = lock_timeouts(app);
    let shortest = held.iter().map(|lock| timeout_ms(&lock.grant.lane)).min();
    (shortest.unwrap_or(u64::from(u32::MAX)) / 3).max(SHORTEST_MS)
}

fn until_next(app: &App, held: &[SessionLock], due_ms: u64) -> Duration {
    let now = app.host.now();
    let ends = held.iter().filter_map(SessionLock::ends_at);
    let end_ms = ends.map(|end| end.saturating_ms_since(now).saturating_add(1)).min();
    let due_ms = due_ms.saturating_sub(app.host.boot_ms());
    Duration::from_millis(end_ms.unwrap_or(u64::MAX).min(due_ms).min(LOOK_MS))
}

fn end_one(app: &App, key: &str, lock: SessionLock, why: &str) -> Result<bool, AppError> {
    let (agent, grant) = (lock.agent().map(str::to_owned), lock.grant.clone());
    let Some(ended) = app.store.end_session_lock(key, lock)? else { return Ok(false) };
    let holder = ended.holder.as_deref().unwrap_or_default();
    let data = json!({
        "lock_id": grant.lock_id.0, "fence": grant.fence.0, "holder": holder, "session": key, "agent": agent, "why": why,
    });
    let message = released_line(&grant.lane, holder);
    app.store.note(&Event { message, ..Event::new("lock_released").for_lock(&grant.lane).with(data) });
    Ok(true)
}

fn end_session(app: &App, key: &str, why: &str, held: Vec<SessionLock>) -> Result<(), AppError> {
    let agent = held.iter().find_map(|lock| lock.agent().map(str::to_owned));
    let mut lanes = Vec::new();
    for lock in held {
        let lane = lock.grant.lane.clone();
        if end_one(app, key, lock, why)? {
            lanes.push(lane);
        }
    }
    let names: Vec<String> = lanes.iter().map(LaneName::to_string).collect();
    let data = json!({ "session": key, "agent": agent, "why": why, "lanes": names });
    app.store.note(&Event::new("session_ended").with(data));
    // A caller that asks from now on starts another keeper.
    app.store.leave_session(key)?;
    pass_for_waiting(app, &lanes);
    Ok(())
}

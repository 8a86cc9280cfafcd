//! `guard`: runs a command only while the lock of its caller is in force (P5), in each of its lanes. The lock is checked
//! under the guard of its lane before the command starts, and once a second while the command runs. A lease is refreshed
//! meanwhile.

use super::acquire::{lanes_to_take, lanes_where};
use crate::app::config_reload::lock_timeouts;
use crate::app::fleet::leases;
use crate::app::locks::lock::{End, grant_variables, not_started, wait_for};
use crate::app::{App, AppError, Code, lane_word};
use crate::model::lock::{Grant, loan};
use crate::model::task::FIRST_GRANTED;
use crate::model::{Fence, LaneName, LockId, LockKind};
use crate::os::{InPlace, Signal, Woken};
use crate::store::{Event, LockView};
use crate::supervise::Keeper;
use serde_json::json;
use std::time::Duration;

/// Interval between two checks of the lock while the command runs.
const LOOK: Duration = Duration::from_secs(1);
/// Time between SIGTERM and SIGKILL for a command that lost its lock, in milliseconds.
const GRACE_MS: u64 = 5000;

/// The lock that must be in force.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Guarded {
    /// `--lane`; without one, every lane in which the lock in `LUZIA_LOCK_ID` is in force.
    pub lanes: Vec<LaneName>,
    /// `--fence`: the lock with this very fence.
    pub fence: Option<u64>,
    /// `LUZIA_LOCK_ID`.
    pub lock_id: Option<String>,
    /// `LUZIA_FENCE`.
    pub env_fence: Option<u64>,
}

/// The result of a guarded command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardEnd {
    /// The end of the command.
    pub end: End,
    /// The reason why the command was ended: its lock was lost.
    pub lost: Option<String>,
}

/// A lock that is guarded.
struct Held {
    grant: Grant,
    view: LockView,
}

/// Runs a command as long as the lock is in force.
pub fn guard(app: &App, asked: &Guarded, command: &[String]) -> Result<GuardEnd, AppError> {
    let held = guarded(app, asked)?;
    let ttl_ms = |lane: &LaneName| held.iter().find(|one| one.grant.lane == *lane)?.view.record()?.ttl_ms;
    let by_lane = lock_timeouts(app);
    let timeout_ms = |lane: &LaneName| ttl_ms(lane).unwrap_or_else(|| by_lane(lane));
    let site = app.site();
    let mut keepers: Vec<Keeper> = Vec::new();
    for one in held.iter().filter(|one| one.view.record().is_some_and(|record| record.kind == LockKind::Lease)) {
        let holder = one.view.holder().unwrap_or_default().to_owned();
        // From now on the lease cannot run out, however little time was left.
        let _ = app.store.keep_lock(LockKind::Lease, &holder, &one.grant, timeout_ms(&one.grant.lane));
        keepers.push(Keeper::new(&site, LockKind::Lease, holder, std::slice::from_ref(&one.grant), &timeout_ms));
    }
    let first = held.first().map(|one| &one.grant);
    let env: Vec<(String, String)> =
        first.into_iter().flat_map(grant_variables).map(|(name, value)| (name.to_owned(), value)).collect();
    let name = command.first().map_or("", String::as_str);
    let place = InPlace { argv: command, env: &env, cwd: None, has_input: true, held: Vec::new(), output: None };
    let mut child = app.host.start_here(place).map_err(|error| not_started(name, &error))?;
    let mut lost: Option<(String, u64)> = None;
    loop {
        keepers.iter_mut().for_each(Keeper::keep);
        held.iter().for_each(|one| extend_shared(app, one));
        let time = keepers.iter().map(Keeper::time_left).min().unwrap_or(LOOK).min(LOOK);
        if let Woken::Exited(exit) = wait_for(child.as_mut(), name, Some(time))? {
            return Ok(GuardEnd { end: exit.into(), lost: lost.map(|(why, _)| why) });
        }
        match &lost {
            Some((_, since)) if app.host.boot_ms().saturating_sub(*since) >= GRACE_MS => {
                drop(child.signal(Signal::Kill));
            }
            Some(_) => {}
            None => {
                if let Some(why) = first_lost(app, &held)? {
                    drop(child.signal(Signal::Term));
                    lost = Some((why, app.host.boot_ms()));
                }
            }
        }
    }
}

/// Extends a lease of a store that a task of this host keeps, once half of it is over. Where that fails, the lock is lost in time.
fn extend_shared(app: &App, held: &Held) {
    let keeper = held.view.task().filter(|id| *id >= FIRST_GRANTED);
    keeper.into_iter().for_each(|id| drop(leases::extend_in_time(app, id)));
}

/// Reports the first lock that is not in force any more, and returns the reason.
fn first_lost(app: &App, held: &[Held]) -> Result<Option<String>, AppError> {
    for Held { grant, .. } in held {
        if let Some(why) = is_lost(app, grant)? {
            let what = json!({ "lock_id": grant.lock_id.0, "fence": grant.fence.0 });
            app.store.note(&Event::new("guard_lost").in_lane(&grant.lane).with(what));
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// The requested locks, each in force, in the order in which their lanes are taken.
fn guarded(app: &App, asked: &Guarded) -> Result<Vec<Held>, AppError> {
    let lanes = lanes_to_take(guarded_lanes(app, asked)?)?;
    lanes.into_iter().map(|lane| guarded_in(app, lane, asked)).collect()
}

/// The requested lock in a lane, in force.
fn guarded_in(app: &App, lane: LaneName, asked: &Guarded) -> Result<Held, AppError> {
    let views = app.holders(&lane)?;
    let own = app.inside.as_ref().map(|inside| inside.task.to_string());
    let is_meant = |view: &&LockView| {
        let Some(record) = view.record() else { return false };
        match (asked.fence, &asked.lock_id, &own) {
            (Some(fence), ..) => record.fence == Some(Fence(fence)),
            (None, Some(id), _) if record.lock_id.as_ref() == Some(id) => true,
            // A task has a lock of its own in each of its lanes.
            (None, _, Some(own)) => record.kind == LockKind::Task && record.task_id.as_ref() == Some(own),
            (None, None, None) => record.fence == asked.env_fence.map(Fence),
            (None, Some(_), None) => false,
        }
    };
    let found = views.iter().find(is_meant);
    let (Some(view), Some(lock_id), Some(fence)) =
        (found, found.and_then(LockView::lock_id), found.and_then(LockView::fence))
    else {
        return Err(not_current(&lane, asked, &views));
    };
    let above = |other: &&LockView| {
        other.slot > view.slot && loan::root(other.slot) == loan::root(view.slot) && other.verdict.is_live()
    };
    if !view.verdict.is_live() || views.iter().any(|other| above(&other)) {
        return Err(not_current(&lane, asked, &views));
    }
    let value = view.record().and_then(|record| record.value.clone());
    let lock_id = LockId(lock_id.to_owned());
    Ok(Held { grant: Grant { lane, slot: view.slot, lock_id, fence, value, has_share: false }, view: view.clone() })
}

/// The lanes to guard: the named ones, else all lanes of the lock in the environment, or the lane of a fence.
fn guarded_lanes(app: &App, asked: &Guarded) -> Result<Vec<LaneName>, AppError> {
    if asked.lanes.len() > 1 && asked.fence.is_some() {
        let error = AppError::usage("a --fence belongs to one lane, and several lanes are named");
        return Err(error.hint("leave --fence out: LUZIA_LOCK_ID names the lock of all lanes; nothing was run"));
    }
    if !asked.lanes.is_empty() {
        return Ok(asked.lanes.clone());
    }
    let wanted = |view: &LockView| match (asked.fence, &asked.lock_id, asked.env_fence) {
        (Some(fence), ..) | (None, None, Some(fence)) => view.fence() == Some(Fence(fence)),
        (None, Some(id), _) => view.lock_id() == Some(id.as_str()),
        (None, None, None) => false,
    };
    if asked.lock_id.is_none() && asked.fence.is_none() && asked.env_fence.is_none() {
        return Err(AppError::usage("no fence is given: neither --fence nor LUZIA_FENCE is set".to_owned())
            .hint("a task and `luzia lock` set LUZIA_FENCE for their command; `luzia acquire --json` prints the fence of a lease"));
    }
    // Several slots of a lane are one lock of it, and a lock that is over guards nothing.
    let lanes = lanes_where(app, |view| wanted(view) && view.verdict.is_live())?;
    if !lanes.is_empty() {
        return Ok(lanes);
    }
    let what = match (asked.fence, &asked.lock_id) {
        (None, Some(id)) => format!("lock {id}"),
        (fence, _) => format!("fence {}", fence.or(asked.env_fence).unwrap_or_default()),
    };
    Err(lost_error(format!("{what} is not in force any more; nothing was run")).next("luzia list-locks"))
}

fn not_current(lane: &LaneName, asked: &Guarded, views: &[LockView]) -> AppError {
    let what = match (asked.fence, &asked.lock_id) {
        (Some(fence), _) => format!("fence {fence}"),
        (None, Some(id)) => format!("lock {id}"),
        (None, None) => "the lock".to_owned(),
    };
    let why = match views.iter().filter(|view| view.verdict.is_live()).max_by_key(|view| view.slot) {
        Some(view) => format!("{} holds the lane now", told(view)),
        None => "nobody holds the lane now".to_owned(),
    };
    let message = format!("{what} is not in force in lane \"{lane}\": {why}; nothing was run");
    lost_error(message).next(format!("luzia explain {}", lane_word(lane)))
}

/// The holder of a lane, and its fence.
fn told(view: &LockView) -> String {
    let fence = view.fence().map(|fence| format!(" with fence {fence}"));
    format!("{}{}", view.shown().unwrap_or_else(|| "somebody".to_owned()), fence.unwrap_or_default())
}

/// Why a lock is not in force any more, while its command runs.
fn is_lost(app: &App, grant: &Grant) -> Result<Option<String>, AppError> {
    if app.store.current_grant(&grant.lane, &grant.lock_id.0)?.is_some() {
        return Ok(None);
    }
    let views = app.holders(&grant.lane)?;
    let now = views.iter().find(|view| view.verdict.is_live()).map(|view| format!("{} holds it now", told(view)));
    let now = now.unwrap_or_else(|| "nobody holds it now".to_owned());
    Ok(Some(format!("lock {} of lane \"{}\" was lost: {now}", grant.lock_id, grant.lane)))
}

fn lost_error(message: String) -> AppError {
    AppError::new(Code::FenceLost, message).hint("take the lane again before you go on with the work")
}

//! One run of a task: verify the claim, launch, watch, kill, record the result, end.

use super::finish::{Finished, close_outside, give_back};
use super::keep::Keeper;
use super::kill::{Root, end_tree, shorter_grace};
use super::launch::{Launched, launch};
use super::logs::LogKeeper;
use super::recover::{recover, seen};
use super::{HEARTBEAT, STRAGGLER_GRACE_MS, Surroundings, elapsed_ms};
use crate::model::lock::Grant;
use crate::model::{LaneName, LockKind, Task, TaskId};
use crate::os::{Child, Exit, Handle, Signal, Woken};
use crate::policy::outcome::{Happened, conclude};
use crate::policy::recovery::{Action, Standing, action};
use crate::store::{CancelRequest, Claimed, Ending, Event, Found, Short, Store, StoreError};
use serde_json::json;
use std::time::Duration;

/// Why a run was interrupted by SIGTERM to its supervisor.
pub(super) const TOLD_TO_END: &str = "its supervisor was told to end";

/// Why a watched run stopped.
enum Stop {
    Exited(Exit),
    TimedOut,
    Cancelled(CancelRequest),
    Interrupted,
}

/// What came of an attempt.
struct Attempted {
    happened: Happened,
    /// For how long the command ran.
    ran_ms: Option<u64>,
    /// The file for the result, of a command that was launched.
    result: Option<Box<dyn Handle>>,
}

impl Attempted {
    fn not_launched(happened: Happened) -> Self {
        Self { happened, ran_ms: None, result: None }
    }
}

/// Supervises one claimed task from its claim to its durable end. `lock` is its `supervisor.lock`, handed over by the
/// dispatcher. `None`: the task was recovered into the queue, was over already, or belongs to somebody else.
pub fn run(around: &mut Surroundings, id: TaskId, lock: Box<dyn Handle>) -> Result<Option<Finished>, StoreError> {
    let found = around.store.look_abandoned(id, lock)?;
    run_found(around, id, found, None)
}

/// The same for a task that this very process has claimed.
pub fn run_claimed(around: &mut Surroundings, claimed: Claimed) -> Result<Option<Finished>, StoreError> {
    let Claimed { task, lock, grants, .. } = claimed;
    let id = task.id;
    let found = around.store.look_claimed(task, lock)?;
    run_found(around, id, found, Some(grants))
}

fn run_found(
    around: &mut Surroundings,
    id: TaskId,
    found: Found,
    grants: Option<Vec<Grant>>,
) -> Result<Option<Finished>, StoreError> {
    let store = around.store;
    // Whoever claimed it: a queued copy of a task that is over may have been claimed.
    let claim = seen(&found);
    if claim.standing != Standing::Running || action(claim) != Action::Unclaim {
        return recover(store, id, found, &[]);
    }
    let Some(mut task) = found.task else { return Ok(None) };
    let lanes = task.all_lanes();
    let grants = match grants {
        Some(grants) => grants,
        None => store.adopt(id, &lanes)?,
    };
    let has_all = lanes.iter().all(|lane| grants.iter().any(|grant| grant.lane == *lane));
    let mut keeper = Keeper::new(store, LockKind::Task, id.to_string(), &grants, around.timeout_ms);
    let attempted = if has_all {
        attempt(around, &mut task, &grants, &mut keeper)?
    } else {
        Attempted::not_launched(Happened::NeverLaunched)
    };
    end(&task, attempted, &grants, found.lock, (store, &mut keeper)).map(Some)
}

/// Runs the command of a task whose lanes are held, unless it is cancelled.
fn attempt(
    around: &mut Surroundings,
    task: &mut Task,
    grants: &[Grant],
    keeper: &mut Keeper,
) -> Result<Attempted, StoreError> {
    let store = around.store;
    let Launched { mut child, result } = match launch(around, task, grants, keeper)? {
        Ok(launched) => launched,
        Err(happened) => return Ok(Attempted::not_launched(happened)),
    };
    let mut spared = Vec::new();
    let mut logs = LogKeeper::new(store, task, around.logs_max_bytes);
    let stop = watch(around, task, child.as_mut(), &mut logs, &mut spared, keeper)?;
    let now = store.now();
    let ran_ms = task.last_start.as_ref().map(|start| elapsed_ms(start.at, now));
    let happened = stop_tree((store, keeper), task, child, stop, &mut logs, &spared)?;
    logs.finish();
    Ok(Attempted { happened, ran_ms, result: Some(result) })
}

pub(super) fn cancelled(request: CancelRequest) -> Happened {
    Happened::Cancelled { by: request.by, reason: request.reason }
}

/// Records what happened and brings it to its end. A full disk does not lose a result: it is tried until it succeeds,
/// and the lanes stay held meanwhile. Only a state directory that is gone ends it.
fn end(
    task: &Task,
    attempted: Attempted,
    grants: &[Grant],
    lock: Box<dyn Handle>,
    (store, keeper): (&Store, &mut Keeper),
) -> Result<Finished, StoreError> {
    let Attempted { happened, ran_ms, mut result } = attempted;
    let ending = Ending { task: conclude(task, &happened, store.now(), ran_ms) };
    let mut pause = Duration::from_millis(50);
    while let Err(error) = store.record_ending(&ending, result.take()) {
        if !store.is_still_there().unwrap_or(true) || happened == Happened::GivenBack {
            // The state directory was removed, and there is nothing left in which the result could be written; or there is
            // none, and whoever comes next takes the claim back.
            return Err(error);
        }
        store.show_shortage(task.id, Some(Short::Result));
        store.note(&Event::of("result_failed", task).saying(error.to_string()));
        store.sleep(pause.min(keeper.time_left()));
        keeper.keep();
        pause = (pause * 2).min(Duration::from_secs(5));
    }
    let status = ending.task.status.word();
    store.note(
        &Event::of("ended", task)
            .in_lane(&LaneName::user(&task.user))
            .with(json!({ "status": status, "ran_ms": ran_ms })),
    );
    let closed = close_outside(store, &ending.task);
    // The pass that our caller makes then gives it up.
    store.take_turn();
    give_back(store, &ending, closed.as_ref(), grants, lock)
}

/// Watches the command until it ends, its time is over, or somebody wants it to end.
fn watch(
    around: &mut Surroundings,
    task: &Task,
    child: &mut dyn Child,
    logs: &mut LogKeeper<'_>,
    spared: &mut Vec<u32>,
    keeper: &mut Keeper,
) -> Result<Stop, StoreError> {
    let store = around.store;
    let begin = store.boot_ms();
    loop {
        keeper.keep();
        if let Some(request) = store.cancel_request(task.id)? {
            return Ok(Stop::Cancelled(request));
        }
        let passed = store.boot_ms().saturating_sub(begin);
        let left = task.timeout_ms.map(|limit| limit.saturating_sub(passed));
        if left == Some(0) {
            return Ok(Stop::TimedOut);
        }
        let time = left.map_or(HEARTBEAT, |left| HEARTBEAT.min(Duration::from_millis(left))).min(keeper.time_left());
        let woken = logs.wait(child, time).map_err(|source| StoreError::Io {
            action: "wait for the command of",
            path: task.id.to_string(),
            source,
        })?;
        match woken {
            Woken::Exited(exit) => return Ok(Stop::Exited(exit)),
            Woken::Terminate if store.cancel_request(task.id)?.is_none() => {
                around.is_told_to_end = true;
                return Ok(Stop::Interrupted);
            }
            // A wake-up announces a request to cancel, or asks for a pass.
            Woken::Pass if store.cancel_request(task.id)?.is_none() => spared.extend((around.pass)()),
            Woken::TimeUp => store.beat(task.id),
            Woken::Pass | Woken::Terminate | Woken::Interrupt | Woken::Wrote => {}
        }
    }
}

/// Ends the tree in the order of `supervision.md` and says what happened. The command is let go of when its group will not
/// be signalled any more: then a supervisor without a child knows that the tree is dead.
fn stop_tree(
    (store, keeper): (&Store, &mut Keeper),
    task: &Task,
    mut child: Box<dyn Child>,
    stop: Stop,
    logs: &mut LogKeeper<'_>,
    spared: &[u32],
) -> Result<Happened, StoreError> {
    let me = store.identity();
    let root = Root { began_by: Some(&me), state_dir: store.state_dir() };
    let happened = match stop {
        Stop::Exited(exit) => {
            drop(child);
            let left = end_tree(store, task.id, &root, STRAGGLER_GRACE_MS, spared, &mut || keeper.keep())?;
            if left > 0 {
                let told = format!("{left} of its processes still ran when its command ended, and were ended");
                store.note(&Event::of("background_ended", task).saying(told).with(json!({ "processes": left })));
            }
            return Ok(match exit {
                Exit::Code(code) => Happened::Exited(code),
                Exit::Signal(signal) => Happened::Killed(signal),
            });
        }
        Stop::TimedOut => (Happened::TimedOut, task.grace_ms),
        Stop::Cancelled(request) => {
            let grace_ms = request.grace_ms.unwrap_or(task.grace_ms);
            (cancelled(request), grace_ms)
        }
        Stop::Interrupted => (Happened::Interrupted(TOLD_TO_END.to_owned()), task.grace_ms),
    };
    let (happened, mut grace_ms) = happened;
    let _ = child.signal(Signal::Term);
    let begin = store.boot_ms();
    loop {
        let left = grace_ms.saturating_sub(store.boot_ms().saturating_sub(begin));
        if left == 0 {
            let _ = child.signal(Signal::Kill);
            break;
        }
        keeper.keep();
        match logs.wait(child.as_mut(), Duration::from_millis(left).min(keeper.time_left())) {
            Ok(Woken::Exited(_)) => break,
            // A second request may be more impatient than the first.
            Ok(_) => grace_ms = shorter_grace(store, task.id, grace_ms)?,
            Err(source) => {
                return Err(StoreError::Io { action: "wait for the command of", path: task.id.to_string(), source });
            }
        }
    }
    let left = grace_ms.saturating_sub(store.boot_ms().saturating_sub(begin));
    drop(child);
    end_tree(store, task.id, &root, left, spared, &mut || keeper.keep())?;
    Ok(happened)
}

//! One run of a task: verify the claim, launch, watch, kill, record the result, end.

use super::course::Care;
use super::course::deadline::Deadline;
use super::course::{asks_to_end, compare, judge, log_prompt, log_response, name_failed_step, or_wait, output_before};
use super::finish::{Finished, close_outside, ended_events, give_back};
use super::hooks;
use super::keep::Keeper;
use super::kill::{Root, end_tree, shorter_grace};
use super::launch::{Launched, launch};
use super::limits::lift;
use super::logs::LogKeeper;
use super::pause::Pausing;
use super::recover::{recover, seen};
use super::{HEARTBEAT, STRAGGLER_GRACE_MS, Surroundings, delayed};
use crate::model::lock::Grant;
use crate::model::{Group, LaneName, LockKind, Status, Task, TaskId};
use crate::os::{Child, Exit, Signal, Woken};
use crate::policy::outcome::{Happened, conclude};
use crate::policy::recovery::{Action, Standing, action};
use crate::store::{CancelRequest, Claimed, Ending, Event, Found, Hold, Short, Site, StoreError};
use serde_json::json;
use std::time::Duration;

/// Reason of a run's end by SIGTERM to its supervisor.
pub(super) const TOLD_TO_END: &str = "its supervisor was told to end";

/// Reason of the end of a run whose command asked to be started again.
const WAITS: &str = "it waits for an event";

/// The exit code of an `await` that timed out.
const WAIT_TIMED_OUT: i32 = 124;

/// Reason why a watched run stopped.
enum Stop {
    Exited(Exit),
    TimedOut,
    Cancelled(CancelRequest),
    Interrupted,
    /// The command waits for an event, and must be started again when it has come.
    Waits,
    /// The lease of the host ends.
    CutOff,
}

/// Results of an attempt.
struct Attempted {
    happened: Happened,
    /// Duration of the command.
    ran_ms: Option<u64>,
    /// The file for the result, of a command that was launched.
    result: Option<Hold>,
    /// Data for the hooks at the end of the task.
    hooks: Option<hooks::Place>,
    /// Whether the run ended without the slots that it had given up. Then no further process may start for the task.
    is_away: bool,
}

impl Attempted {
    fn not_launched(happened: Happened) -> Self {
        Self { happened, ran_ms: None, result: None, hooks: None, is_away: false }
    }
}

/// Supervises one claimed task from its claim to its durable end. `lock` is its `supervisor.lock`, handed over by the
/// dispatcher. `None`: the task was recovered into the queue, was already finished, or belongs to another process.
pub fn run(around: &mut Surroundings, id: TaskId, lock: Hold) -> Result<Option<Finished>, StoreError> {
    let found = around.site.store.look_abandoned(id, lock)?;
    run_found(around, id, found, None)
}

/// Like `run`, for a task that this very process has claimed.
pub fn run_claimed(around: &mut Surroundings, claimed: Claimed) -> Result<Option<Finished>, StoreError> {
    let Claimed { task, lock, grants, .. } = claimed;
    let id = task.id;
    let found = around.site.store.look_claimed(task, lock)?;
    run_found(around, id, found, Some(grants))
}

fn run_found(
    around: &mut Surroundings,
    id: TaskId,
    found: Found,
    grants: Option<Vec<Grant>>,
) -> Result<Option<Finished>, StoreError> {
    let site = around.site;
    // The recovery table is asked about its own claim, too: a queued copy of a finished task may have been claimed.
    let claim = seen(&found);
    if claim.standing != Standing::Running || action(claim) != Action::Unclaim {
        return recover(site, id, found, &[]);
    }
    let Some(mut task) = found.task else { return Ok(None) };
    let lanes = task.all_lanes();
    let grants = match grants {
        Some(grants) => grants,
        None => site.store.adopt(id, &lanes)?,
    };
    let held = |lane: &LaneName| grants.iter().filter(|grant| grant.lane == *lane).count();
    let has_all = lanes.iter().all(|lane| u32::try_from(held(lane)).is_ok_and(|held| held >= task.slots_of(lane)));
    let mut keeper = Keeper::new(site, LockKind::Task, id.to_string(), &grants, around.timeout_ms);
    keeper.deadline = Deadline::of(site, &task);
    let attempted = if has_all {
        attempts(around, &mut task, &mut keeper)?
    } else {
        Attempted::not_launched(Happened::NeverLaunched)
    };
    end(&task, attempted, found.lock, (site, &mut keeper)).map(Some)
}

/// Runs the command of a task, and for a stepwise task as many steps as one claim may take (`--steps-per-run`).
fn attempts(around: &mut Surroundings, task: &mut Task, keeper: &mut Keeper) -> Result<Attempted, StoreError> {
    let per_run = task.stepwise.as_ref().map_or(1, |stepwise| stepwise.per_run);
    let mut taken = 1;
    loop {
        let attempted = attempt(around, task, keeper)?;
        let has_ended =
            attempted.happened != Happened::StepDone || taken >= per_run || around.is_told_to_end || attempted.is_away;
        if has_ended || around.site.store.cancel_request(task.id)?.is_some() {
            return Ok(attempted);
        }
        match super::course::go_on(around.site, task) {
            // The end of the run waits for a host that is short of a resource; the next step would not.
            Err(error) if error.is_shortage() => return Ok(attempted),
            went => went?,
        }
        taken += 1;
    }
}

/// Runs the command of a task whose lanes are held, unless it is cancelled.
fn attempt(around: &mut Surroundings, task: &mut Task, keeper: &mut Keeper) -> Result<Attempted, StoreError> {
    let site = around.site;
    let grants = keeper.grants().to_vec();
    let from = output_before(site, task);
    let Launched { mut child, mut share, result, hooks, group } = match launch(around, task, &grants, keeper)? {
        Ok(launched) => launched,
        Err(happened) => return Ok(Attempted::not_launched(happened)),
    };
    log_prompt(site, task);
    let mut spared = Vec::new();
    let mut logs = LogKeeper::new(site, task, around.logs_max_bytes);
    let mut pausing = Pausing::of(group.clone());
    let mut care = Care { keeper, share: share.as_mut(), pausing: &mut pausing, has_lent: false, away: None };
    let stop = watch(around, task, child.as_mut(), &mut logs, &mut spared, &mut care)?;
    let has_lent = care.has_lent || care.away.is_some();
    let is_away = care.away.take().is_some_and(|mut away| {
        away.stay(site);
        true
    });
    if has_lent {
        // The waiters for the children of the task end with its command, and leave the children alone.
        site.run_dir.show_ending(task.id);
    }
    let now = site.host.now();
    // Stopped processes did not run.
    let paused_ms = pausing.paused_ms(site);
    let ran_ms = task.last_start.as_ref().map(|start| now.saturating_ms_since(start.at).saturating_sub(paused_ms));
    if pausing.is_paused() {
        // A pause ends with the command that it stopped.
        let _ = site.store.end_pause(task.id);
    }
    let happened = stop_tree((site, keeper, &mut pausing), task, (child, group.as_ref()), stop, &mut logs, &spared)?;
    if has_lent {
        site.run_dir.show_shortage(task.id, None);
    }
    if is_away {
        site.run_dir.end_away(task.id)?;
    }
    if let Some(group) = &group {
        site.host.remove_group(group);
    }
    logs.finish();
    let happened = judge((site, keeper), task, happened, (from, ran_ms));
    let happened = or_wait(site, task, happened)?;
    log_response(site, task, from);
    compare(around, task, keeper);
    Ok(Attempted { happened, ran_ms, result: Some(result), hooks, is_away })
}

/// Result of a request to end: a task that makes room for another one is queued again.
pub(super) fn cancelled(request: CancelRequest) -> Happened {
    if request.requeue {
        return Happened::Preempted;
    }
    Happened::Cancelled { by: request.by, reason: request.reason }
}

/// Records the result of a run and carries its end out. A full disk does not lose a result: the write is tried until it
/// succeeds, and the lanes stay held meanwhile. Only a removed state directory ends the tries.
fn end(
    task: &Task,
    attempted: Attempted,
    lock: Hold,
    (site, keeper): (&Site, &mut Keeper),
) -> Result<Finished, StoreError> {
    let Attempted { happened, ran_ms, mut result, hooks, .. } = attempted;
    let mut concluded = delayed(site, conclude(task, &happened, site.host.now(), ran_ms), &happened);
    name_failed_step(site, &mut concluded);
    let ending = Ending::of(concluded);
    let mut pause = Duration::from_millis(50);
    while let Err(error) = site.store.record_ending(&ending, result.take()) {
        if !site.store.is_still_there().unwrap_or(true) || happened == Happened::GivenBack {
            // The state directory was removed, and no place is left for the result; or there is no result, and the next pass
            // takes the claim back.
            return Err(error);
        }
        site.run_dir.show_shortage(task.id, Some(Short::Result));
        site.store.note(&Event::of("result_failed", task).saying(error.to_string()));
        keeper.pause(pause.min(keeper.time_left()));
        pause = (pause * 2).min(Duration::from_secs(5));
    }
    site.store.note_all(&mut ended_events(&happened, ending.task(), ran_ms).into_iter());
    if let Some(place) = hooks {
        hooks::after(site, ending.task(), &place, keeper)?;
    }
    if ending.task().status() == Status::Completed {
        lift(site, ending.task());
    }
    let closed = close_outside(site, ending.task());
    // The caller's pass then gives the turn up.
    site.store.take_turn();
    give_back(site, &ending, closed.as_ref(), keeper.grants(), lock)
}

/// Watches the command until it ends, its time is over, or a request asks it to end.
fn watch(
    around: &mut Surroundings,
    task: &Task,
    child: &mut dyn Child,
    logs: &mut LogKeeper<'_>,
    spared: &mut Vec<u32>,
    care: &mut Care,
) -> Result<Stop, StoreError> {
    let site = around.site;
    let begin = site.host.boot_ms();
    let mut beat_ms = begin;
    loop {
        care.keep(child);
        if care.keeper.is_cut_off() {
            return Ok(Stop::CutOff);
        }
        if let Some(request) = site.store.cancel_request(task.id)? {
            return Ok(Stop::Cancelled(request));
        }
        if care.take_back(around, task) {
            spared.extend((around.pass)());
        }
        let Some(time) = care.time_left(site, task, begin) else { return Ok(Stop::TimedOut) };
        let woken = logs.wait(child, time).map_err(StoreError::io("wait for the command of", &task.id.to_string()))?;
        match woken {
            Woken::Exited(exit) => return Ok(Stop::Exited(exit)),
            Woken::Terminate if site.store.cancel_request(task.id)?.is_none() => {
                around.is_told_to_end = true;
                return Ok(Stop::Interrupted);
            }
            // A wake-up announces a request to cancel, to pause or to go on, or asks for a pass.
            Woken::Pass if site.store.cancel_request(task.id)?.is_none() => {
                if asks_to_end(site, task.id, task.starts) {
                    return Ok(Stop::Waits);
                }
                care.pausing.heed(site, task, spared);
                care.see_to_slots(site, task, spared);
                spared.extend((around.pass)());
                care.see_to_waiters(around, task, (child, spared), false);
            }
            Woken::Gone => {
                care.see_to_waiters(around, task, (child, spared), true);
                spared.extend((around.pass)());
            }
            Woken::TimeUp if care.is_wanting() && !is_beat_due(site, beat_ms) => {}
            // A share of processors is looked after more often.
            Woken::TimeUp if care.share.is_some() && !care.pausing.is_paused() && !is_beat_due(site, beat_ms) => {}
            Woken::TimeUp if asks_to_end(site, task.id, task.starts) => return Ok(Stop::Waits),
            Woken::TimeUp => {
                beat_ms = site.host.boot_ms();
                site.run_dir.beat(task.id);
                care.see_to_slots(site, task, spared);
                care.see_to_waiters(around, task, (child, spared), true);
                care.pausing.heed(site, task, spared);
            }
            Woken::Token => care.share.iter_mut().for_each(|share| share.has_token(child)),
            Woken::Pass | Woken::Terminate | Woken::Interrupt | Woken::Wrote => {}
        }
    }
}

fn is_beat_due(site: &Site, last_ms: u64) -> bool {
    u128::from(site.host.boot_ms().saturating_sub(last_ms)) >= HEARTBEAT.as_millis()
}

/// Ends the tree in the order of `supervision.md` and returns the result. The command is let go of when no further signal
/// goes to its group: then a supervisor without a child knows that the tree is dead.
fn stop_tree(
    (site, keeper, pausing): (&Site, &mut Keeper, &mut Pausing),
    task: &Task,
    (mut child, group): (Box<dyn Child>, Option<&Group>),
    stop: Stop,
    logs: &mut LogKeeper<'_>,
    spared: &[u32],
) -> Result<Happened, StoreError> {
    let me = site.host.identity();
    let root = Root { group, has_outsiders: task.keeps_lanes(), ..Root::here(site, &me) };
    let happened = match stop {
        Stop::Exited(exit) => {
            pausing.wake(site);
            drop(child);
            let left = end_tree(site, task.id, &root, STRAGGLER_GRACE_MS, spared, keeper)?;
            if left > 0 {
                let told = format!("{left} of its processes still ran when its command ended, and were ended");
                site.store.note(&Event::of("background_ended", task).saying(told).with(json!({ "processes": left })));
            }
            return Ok(match exit {
                // Its script has passed on that a wait timed out (S1.32).
                Exit::Code(WAIT_TIMED_OUT) if site.store.has_wait_failed(task.id, task.starts) => Happened::TimedOut,
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
        Stop::Waits => (Happened::Interrupted(WAITS.to_owned()), task.grace_ms),
        Stop::CutOff => (Happened::CutOff, task.grace_ms),
    };
    let (happened, mut grace_ms) = happened;
    let _ = child.signal(keeper.end_signal());
    // Stopped processes take the signal when they go on.
    pausing.wake(site);
    let begin = site.host.boot_ms();
    loop {
        keeper.keep_beside(child.as_mut());
        let left = grace_ms.saturating_sub(site.host.boot_ms().saturating_sub(begin));
        let left = keeper.deadline.grace_ms(site, left);
        if left == 0 {
            let _ = child.signal(Signal::Kill);
            break;
        }
        match logs.wait(child.as_mut(), Duration::from_millis(left).min(keeper.time_left())) {
            Ok(Woken::Exited(_)) => break,
            // A second request may be more impatient than the first.
            Ok(_) => grace_ms = shorter_grace(site, task.id, grace_ms)?,
            Err(source) => return Err(StoreError::io("wait for the command of", &task.id.to_string())(source)),
        }
    }
    let left = grace_ms.saturating_sub(site.host.boot_ms().saturating_sub(begin));
    drop(child);
    end_tree(site, task.id, &root, left, spared, keeper)?;
    Ok(happened)
}

//! The end of a run, in the order of `supervision.md`: result, `meta.json`, lanes (the user's last), record. Each step
//! is idempotent; the next process after a crash does the rest. The tree is dead before any of it begins.

use super::family::tell_parent;
use crate::model::lock::Grant;
use crate::model::task::EndState;
use crate::model::{Status, Task, TaskId};
use crate::policy::analytics::tally::goal_of;
use crate::policy::analytics::trace::span_of;
use crate::policy::lifecycle::{Effect, effects};
use crate::policy::outcome::Happened;
use crate::store::{Conductor, Ending, Event, Hold, Site, StoreError};
use serde_json::{Value, json};

/// Data of a finished end, for the work that follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The task.
    pub id: TaskId,
    /// The task as it ended, or is queued again.
    pub task: Task,
    /// Tasks that waited for this one to be over.
    pub dependents: Vec<TaskId>,
}

/// The outward record of a task that ended, and its place, if that is known.
pub struct Closed {
    conductor: Conductor,
    place: Option<&'static str>,
}

/// Carries a recorded end out: outward record, lanes, place. The lock goes last.
pub fn finish(site: &Site, ending: &Ending, lock: Hold) -> Result<Finished, StoreError> {
    if let Some(told) = completed_event(ending.task()) {
        site.store.note(&told);
    }
    let closed = close_outside(site, ending.task());
    give_back(site, ending, closed.as_ref(), &[], lock)
}

/// Closes the outward record. Its directory belongs to people and other programs: a fault there never holds a lane.
pub fn close_outside(site: &Site, task: &Task) -> Option<Closed> {
    let conductor = site.run_dir.conductor(&task.conductor_dir, false).ok().flatten()?;
    let place = conductor.close_task(task).unwrap_or_else(|error| {
        site.store.note(&Event::of("conductor_failed", task).saying(error.to_string()));
        None
    });
    Some(Closed { conductor, place })
}

/// Gives the lanes back and puts the record in its place. `known` are the grants of the claim that the caller knows.
pub fn give_back(
    site: &Site,
    ending: &Ending,
    closed: Option<&Closed>,
    known: &[Grant],
    lock: Hold,
) -> Result<Finished, StoreError> {
    let task = ending.task();
    let to = match ending {
        Ending::Waiting(_) => Status::Waiting,
        Ending::Requeued(_) => Status::Pending,
        Ending::Over(task) => task.status(),
    };
    let effects = effects(to);
    let released = match task.wait().filter(|_| effects.contains(&Effect::KeepLanes)) {
        Some(wait) => site.store.keep_for_wait(task, wait)?,
        None => {
            let leases = site.store.release_leases(task.id)?;
            [leases, site.store.release_task(task.id, &task.all_lanes(), known)?].concat()
        }
    };
    let threads = released.iter().filter(|lock| lock.lane.kind() == "thread").count();
    let lanes: Vec<String> = released.iter().map(|lock| lock.lane.to_string()).collect();
    let mut event = Event::of("released", task).with(json!({ "lanes": lanes, "threads": threads }));
    if threads > 0 {
        event = event.saying(format!("[AgentGraph] Released locks on {threads} thread(s) for execution {}", task.id.0));
    }
    site.store.note(&event);
    let keeps_none = task.wait().is_none_or(|wait| wait.kept.is_empty());
    if let Some(Closed { conductor, place }) = closed.filter(|_| keeps_none) {
        let _ = conductor.mark_released(task, *place);
    }
    if effects.contains(&Effect::TellParent) {
        tell_parent(site, task)?;
    }
    let dependents = site.store.settle(ending, lock)?;
    site.store.note_all(&mut over_events(task).into_iter());
    Ok(Finished { id: task.id, task: task.clone(), dependents })
}

/// Events after the last process of a task has ended, in the words and the order of S1.48.
pub fn ended_events(happened: &Happened, task: &Task, ran_ms: Option<u64>) -> Vec<Event> {
    let (exit_code, signal) = match happened {
        Happened::Exited(code) => (Some(*code), None),
        Happened::Killed(signal) => (None, Some(*signal)),
        _ => (None, None),
    };
    let mut data = json!({ "status": task.status().word(), "ran_ms": ran_ms });
    for (name, value) in [("exit_code", exit_code), ("signal", signal)] {
        if let Some(value) = value {
            data[name] = value.into();
        }
    }
    let ended = Event::of("ended", task).in_lane_of(task).with(data);
    let Some(outcome) = task.outcome() else { return vec![ended] };
    let result = outcome.result_type();
    let ended = ended.saying(format!("Execution {} completed with result: {result}", task.id.0));
    std::iter::once(ended).chain(completed_event(task)).collect()
}

/// The event of the end of a task that another task asked for.
fn completed_event(task: &Task) -> Option<Event> {
    let (outcome, parent) = (task.outcome()?, task.parent?);
    let data = json!({ "parent": parent.to_string(), "result": outcome.result_type() });
    Some(Event::of("agent_completed", task).saying("Emitting AGENT_COMPLETED event").with(data))
}

/// Events after the lanes of a task are free and its record has its place.
fn over_events(task: &Task) -> Vec<Event> {
    let status = task.status().word();
    let of = |name, data| Event::of(name, task).in_lane_of(task).with(data);
    if let (None, Some(wait)) = (task.outcome(), task.wait()) {
        let kept: Vec<String> = wait.kept.iter().map(|(lane, _)| lane.to_string()).collect();
        return vec![of("parked", json!({ "until": wait.until.to_string(), "kept": kept }))];
    }
    let Some(outcome) = task.outcome() else {
        let data = json!({ "status": status, "failures": task.failures });
        return alert(task).into_iter().chain([of("requeued", data)]).collect();
    };
    let span = span_of(task);
    let mut data = json!({
        "status": status,
        "created_at": task.created_at.to_string(),
        "attempts": task.failures.saturating_add(u32::from(outcome.end == EndState::Completed)),
        "starts": task.starts,
        "work": task.work(),
        "traceparent": span.traceparent(),
    });
    let goal = Some(goal_of(task)).filter(|goal| !goal.is_empty());
    let is_cut_off = task.terms.granted.as_ref().is_some_and(|granted| granted.is_cut_off);
    let failed = task.terms.failed_dependency.map(|_| "DependencyFailed");
    let reason = is_cut_off.then_some("HostCutOff").or(failed);
    let members = [
        ("ran_ms", outcome.ran_ms.map(Value::from)),
        ("exit_code", outcome.exit_code.map(Value::from)),
        ("signal", outcome.signal.map(Value::from)),
        ("goal", goal.map(Value::from)),
        ("parent", task.parent.map(|parent| parent.to_string().into())),
        ("parent_span", span.parent.map(Value::from)),
        ("tracestate", variable(task, b"TRACESTATE").map(Value::from)),
        ("subject_changed", task.terms.subject_changed.map(Value::from)),
        ("reason", reason.map(Value::from)),
        ("on_finish", task.terms.on_finish.as_ref().map(|_| true.into())),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            data[name] = value;
        }
    }
    alert(task).into_iter().chain([of("finished", data)]).collect()
}

/// The text of a variable that was captured with the task.
fn variable<'a>(task: &'a Task, name: &[u8]) -> Option<&'a str> {
    let (_, value) = task.env.iter().find(|(key, _)| key == name)?;
    std::str::from_utf8(value).ok().filter(|value| !value.is_empty())
}

/// From this number of failed attempts on, each one alerts (S2.18).
const ALERT_FROM: u32 = 3;

fn alert(task: &Task) -> Option<Event> {
    let failed = !matches!(task.status(), Status::Completed | Status::Cancelled);
    (failed && task.failures >= ALERT_FROM).then(|| {
        let said = format!("{} has failed {} times", task.id, task.failures);
        Event::of("alert", task).saying(said).with(json!({ "failures": task.failures }))
    })
}

//! Tasks that make room for themselves (`--preempt`). A pass starts them before all others of their priority. It asks the holders
//! of their lanes to end or to go back into the queue. Each wish is recorded (`spool/control.json`), so a process that is killed
//! on the way leaves the rest to the next pass.

use super::claim::{Answer, At, Attempt, Starts, hand_over};
use crate::app::admission::turns::{Queues, queues_of};
use crate::app::admission::{may_start, situation_queued};
use crate::app::capacity::limited_until;
use crate::app::config_reload::config;
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError, config_reload};
use crate::model::control::{How, Preempt};
use crate::model::lock::loan;
use crate::model::{Priority, Status, Task, TaskId, Timestamp, Who};
use crate::policy::admission::first_obstacle;
use crate::policy::agent;
use crate::policy::agent::{Sides, is_foreign};
use crate::policy::preempt::{Full, Holds, Rival, choose};
use crate::store::{CancelRequest, Event, Head, LockView, Place};
use serde_json::json;

/// Number of parents of a task that are looked at.
const MOST_PARENTS: u32 = 64;

/// Starts the tasks that make room for themselves, as far as they can start, and asks for room for the others.
pub(super) fn start_preempting(app: &App, starts: &mut Starts) -> Result<(), AppError> {
    let control = config_reload::control(app);
    let mut over = Vec::new();
    for wish in &control.preempts {
        match app.store.find(wish.task) {
            Ok(Some((Place::Pending, task))) if task.starts == 0 => {
                if may_start(app, &task) && is_next(app, &task)? && try_preempting(app, &task, wish, starts)? {
                    over.push(wish);
                }
            }
            // The task is paused, not due, or comes after others.
            Ok(Some((Place::Parked, task))) if task.starts == 0 => {}
            // The pass over its queue sets a damaged record aside.
            Err(_) => {}
            Ok(_) => over.push(wish),
        }
    }
    if !over.is_empty() {
        app.store.change_control::<_, AppError>(|control| {
            control.preempts.retain(|one| !over.iter().any(|wish| wish.task == one.task));
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether no task of a higher priority takes its turn before a task. Tasks of the same priority do not count.
pub(crate) fn is_next(app: &App, task: &Task) -> Result<bool, AppError> {
    let comes_before = |first: Option<Priority>| first.is_some_and(|first| first < task.priority);
    let first = |queues: Queues| queues.into_values().filter_map(|turns| Some(turns.first()?.0)).min();
    if task.takes_user_lane && comes_before(first(queues_of(app, task)?)) {
        return Ok(false);
    }
    for lane in task.lanes.iter().filter(|lane| lane.is_key_lane()) {
        if comes_before(app.store.first_in(lane, task.priority.tier())?.map(|(first, _)| first)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Tries to start a task before all others of its priority. True if the task was started.
fn try_preempting(app: &App, task: &Task, wish: &Preempt, starts: &mut Starts) -> Result<bool, AppError> {
    let head = Head { queue: task.queue(), priority: task.priority, id: task.id };
    let attempt = Attempt { at: At::Queue(&head), lenders: None, admit: &|task| admits_passing(app, task) };
    let answer = attempt.claim(app, starts.pass)?;
    if let Answer::Held(task, _) = &answer {
        let until = ask_for_room(app, task, wish)?;
        until.into_iter().for_each(|until| starts.pass.comes_again(until));
    }
    let Answer::Claimed(claimed) = answer else { return Ok(false) };
    hand_over(app, claimed, starts).map(|()| true)
}

/// Whether only its lanes, and other tasks of its priority, keep a task from starting.
pub(crate) fn admits_passing(app: &App, task: &Task) -> bool {
    first_obstacle(task, &situation_queued(app, task)).is_none()
}

/// Asks the holders of the lanes of a task to make room, if that frees all these lanes. An earlier request is left alone: it may
/// be a cancel. If the rate of a lane keeps the task anyway, asks no holder and returns the end of that bar.
pub(crate) fn ask_for_room(app: &App, task: &Task, wish: &Preempt) -> Result<Option<Timestamp>, AppError> {
    for lane in task.all_lanes() {
        if let Some(until) = limited_until(app, &lane)? {
            return Ok(Some(until));
        }
    }
    let Ok(chosen) = choose(task.priority, wish.others, &full_lanes(app, task)?) else { return Ok(None) };
    for id in chosen {
        let request = CancelRequest {
            by: wish.by.clone(),
            reason: Some(format!("preempted by {}", wish.task)),
            grace_ms: wish.grace_ms,
            requeue: wish.how == How::Requeue,
        };
        if app.store.cancel_request(id)?.is_some() || !app.store.request_cancel(id, &request)? {
            continue;
        }
        tell_preempted(app, id, wish)?;
    }
    Ok(None)
}

fn tell_preempted(app: &App, holder: TaskId, wish: &Preempt) -> Result<(), AppError> {
    let holder = app.existing(holder)?;
    let data = json!({ "by": wish.task.to_string(), "how": wish.how.word() });
    app.store.note(&Event::of("preempted", &holder).in_lane_of(&holder).with(data));
    wake_supervisor(app, holder.id).map(drop)
}

/// The lanes of a task that are full, with their living holders.
pub(crate) fn full_lanes(app: &App, task: &Task) -> Result<Vec<Full>, AppError> {
    let mut full = Vec::new();
    for lane in task.all_lanes() {
        let views = app.holders(&lane)?;
        let living: Vec<&LockView> = views.iter().filter(|view| !view.verdict.is_stale()).collect();
        if loan::holders(living.iter().map(|view| view.slot)) >= config(app).limit(&lane) {
            let holder = |view: &&LockView| rival(app, task, view);
            let holders = living.iter().map(holder).collect::<Result<_, _>>()?;
            full.push(Full { lane, holders });
        }
    }
    Ok(full)
}

fn rival(app: &App, task: &Task, view: &LockView) -> Result<Holds, AppError> {
    let other = || Holds::Other(view.shown().unwrap_or_else(|| "an unknown holder".to_owned()));
    let Some(id) = view.task() else { return Ok(other()) };
    let Some((_, holder)) = app.find(id)?.filter(|(_, holder)| matches!(holder.status(), Status::Running)) else {
        return Ok(other());
    };
    let same_agent = is_same_work(task, &holder);
    let sides = Sides { same_agent, caller: task.user.as_str(), holder: Some(holder.user.as_str()) };
    Ok(Holds::Task(Rival {
        id,
        priority: holder.priority,
        since: holder.last_start.as_ref().map_or(holder.created_at, |start| start.at),
        is_foreign: is_foreign(sides),
        is_around: has_above(app, task, id)?,
        is_asked: app.store.cancel_request(id)?.is_some(),
    }))
}

/// Whether a task is above another one, or around this process, which asks for it.
fn has_above(app: &App, task: &Task, holder: TaskId) -> Result<bool, AppError> {
    if app.inside.as_ref().is_some_and(|inside| inside.task == holder) {
        return Ok(true);
    }
    let mut parent = task.parent;
    for _ in 0..MOST_PARENTS {
        match parent {
            Some(id) if id == holder => return Ok(true),
            Some(id) => parent = app.find(id)?.and_then(|(_, task)| task.parent),
            None => return Ok(false),
        }
    }
    // Tasks do not nest so deep; the holder is left alone.
    Ok(true)
}

/// Whether the same agent or process asked for two tasks; `None` where too little is known.
fn is_same_work(task: &Task, holder: &Task) -> Option<bool> {
    let who = |task: &Task| Who::of(task.agent.as_ref(), &[], None);
    agent::is_same(&who(task), &who(holder)).or_else(|| {
        let is_same = task.asked_by.as_ref()? == holder.asked_by.as_ref()?;
        (is_same || task.agent.is_some()).then_some(is_same)
    })
}

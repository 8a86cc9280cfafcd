//! Requests for tasks from inside a task, or from inside the command of `luzia lock`: a command that runs as a part of the task
//! around it, and waits that would wait for themselves, which are refused (S4.16, X27).

use crate::app::admission::{is_lent_by, lenders_if_waited, lenders_of, may_borrow};
use crate::app::config_reload::follow_config;
use crate::app::lifecycle::cancel_pending;
use crate::app::locks::lock::{Care, End, run_here};
use crate::app::locks::reentrancy::{Own, Stuck, own, own_session, reentrant, stuck_on};
use crate::app::query::cycles::{cycle_with, deadlock, refuse_ring_of_tasks, ring_text};
use crate::app::queue::enqueue::{Caller, task_of};
use crate::app::{App, AppError, lane_word};
use crate::model::{LaneName, Member, Status, Task, TaskId};
use crate::os::InPlace;
use crate::request::TaskRequest;
use crate::request::members::option_of;
use crate::request::values::ParentDeath;
use crate::store::CancelRequest;
use std::collections::BTreeSet;

/// A command that the task around it ran as a part of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RanWithin {
    /// The task.
    pub task: Task,
    /// The end of the command.
    pub end: End,
}

/// Runs a command as a part of the task around it. That task must hold every lane that the command needs (contract, section
/// 4), and be of the same project and account. The request must not ask for anything that only a task of its own can have.
/// `None` if the command must be queued.
pub fn run_within(app: &App, new: &TaskRequest, caller: &Caller) -> Result<Option<RanWithin>, AppError> {
    let Some(inside) = &app.inside else { return Ok(None) };
    if only_of_a_task(new).is_some() {
        return Ok(None);
    }
    let Some((_, own)) = app.find(inside.task)? else { return Ok(None) };
    let task = task_of(app, new, caller)?;
    if (&task.project, &task.run_as) != (&own.project, &own.run_as) {
        return Ok(None);
    }
    for lane in task.all_lanes() {
        if reentrant(app, &lane)?.is_none() {
            return Ok(None);
        }
    }
    let pair = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let env: Vec<(String, String)> = new.env.iter().filter_map(|text| text.split_once('=')).map(pair).collect();
    let exit = run_here(
        app,
        InPlace {
            argv: &task.command,
            env: &env,
            cwd: new.cwd.as_ref().map(|_| task.cwd.as_str()),
            has_input: false,
            held: Vec::new(),
            output: None,
        },
        Care::default(),
        &|_| {},
    )?;
    Ok(Some(RanWithin { task: own, end: exit.into() }))
}

/// Refuses to enqueue and wait for a task that cannot start until the waiter ends.
pub fn refuse_waiting_inside(app: &App, new: &TaskRequest, caller: &Caller) -> Result<(), AppError> {
    let Some(own) = own(app)? else { return Ok(()) };
    let task = task_of(app, new, caller)?;
    let lenders = if task.waited_for { lenders_if_waited(app, &task)? } else { Vec::new() };
    let Some(stuck) = waits_for_us(app, &own, &task, &lenders)? else { return refuse_ring(app, &task) };
    let hint = match only_of_a_task(new) {
        Some(option) if app.inside.is_some() => {
            format!("leave {option} out: `run` then runs it inside this task, if this task holds all of its lanes")
        }
        Some(_) | None => "queue the task without waiting for it, or run the command directly".to_owned(),
    };
    let error = match stuck {
        Stuck::Around(why) => {
            let error = deadlock(format!("{why}, and would wait for a task that needs it")).hint(hint);
            error.next(format!("luzia explain {}", lane_word(&LaneName::user(&task.user))))
        }
        Stuck::Session(lane) => own_session(&lane),
    };
    Err(error)
}

/// Refuses a new task that would be waited for, if that closes a ring of tasks that wait for each other.
fn refuse_ring(app: &App, task: &Task) -> Result<(), AppError> {
    let Some(ring) = cycle_with(app, task)? else { return Ok(()) };
    let of_ring = ring.iter().filter_map(|member| match member {
        Member::Task(id) if id.0 > 0 => Some(*id),
        _ => None,
    });
    let first = of_ring.chain(task.parent).next();
    let error = deadlock(format!("these would wait for each other for ever: {}", ring_text(&ring)))
        .hint("nothing was queued; queue it without waiting for it, or run the command directly");
    Err(error.next(first.map_or_else(|| "luzia list-locks".to_owned(), |id| format!("luzia explain {id}"))))
}

/// Like `refuse_waiting_inside`, for tasks that are queued already: all of them are waited for, or with `any` one of them.
pub fn refuse_waiting_for(app: &App, ids: &[TaskId], any: bool) -> Result<(), AppError> {
    let Some(own) = own(app)? else { return Ok(()) };
    // If the rules are invalid, no wait is refused.
    if follow_config(app).is_err() {
        return Ok(());
    }
    let stuck = ids.iter().map(|id| waits_for_itself(app, &own, *id)).collect::<Result<Vec<_>, _>>()?;
    let is_refused = if any { stuck.iter().all(Option::is_some) } else { stuck.iter().any(Option::is_some) };
    match stuck.into_iter().flatten().next().filter(|_| is_refused) {
        None if any => Ok(()),
        None => refuse_ring_of_tasks(app, ids),
        Some((stuck, would)) => Err(stuck.error(&would, "go on without the wait")),
    }
}

/// Like `refuse_waiting_for`, for a task that the caller has just queued: it is taken out of the queue again.
pub fn refuse_or_take_back(app: &App, id: TaskId) -> Result<(), AppError> {
    let Err(error) = refuse_waiting_for(app, &[id], false) else { return Ok(()) };
    match cancel_pending(app, id, &CancelRequest::by("luzia", "its caller would wait for itself"))? {
        Some(_) => Err(error),
        // The task has started, so the lane was given back meanwhile.
        None => Ok(()),
    }
}

/// Refuses to wait until the queue is empty, if a task of it could not start before. Of very many tasks only the first are
/// checked.
pub(crate) fn refuse_draining_inside(app: &App) -> Result<(), AppError> {
    const MOST: usize = 1000;
    let Some(own) = own(app)? else { return Ok(()) };
    for task in app.store.pending_tasks(None)?.take(MOST).filter_map(Result::ok) {
        if let Some(stuck) = waits_for_us(app, &own, &task, &lenders_of(app, &task)?)? {
            let would = format!(", and would wait for {}, which needs it", task.id);
            return Err(stuck.error(&would, "`luzia dispatch` starts what can start now"));
        }
    }
    Ok(())
}

/// Why a wait for a queued task would never end, with the words for the error.
fn waits_for_itself(app: &App, own: &Own, id: TaskId) -> Result<Option<(Stuck, String)>, AppError> {
    if app.inside.as_ref().is_some_and(|inside| inside.task == id) {
        let why = format!("{id} runs this command, and would wait for itself");
        return Ok(Some((Stuck::Around(why), String::new())));
    }
    let task = app.existing(id)?;
    if task.status() != Status::Pending {
        return Ok(None);
    }
    let lenders = if may_borrow(app, &task) { lenders_if_waited(app, &task)? } else { Vec::new() };
    let stuck = waits_for_us(app, own, &task, &lenders)?;
    Ok(stuck.map(|stuck| (stuck, format!(", and would wait for {id}, which needs it"))))
}

/// Why a task that has not started cannot start before the holder around this process is over, or its session gives a lane
/// back. It borrows what its lenders hold.
fn waits_for_us(app: &App, own: &Own, task: &Task, lenders: &[Task]) -> Result<Option<Stuck>, AppError> {
    let is_lent = is_lent_by(lenders);
    let inside = app.inside.as_ref().map(|inside| inside.task);
    let mut before = vec![task.clone()];
    let mut seen = BTreeSet::new();
    while let Some(task) = before.pop() {
        for lane in task.all_lanes().into_iter().filter(|lane| !is_lent(lane)) {
            let stuck = stuck_on(app, own, &lane, task.slots_of(&lane))?;
            if stuck.is_some() {
                return Ok(stuck);
            }
        }
        for id in task.after.iter().filter(|id| seen.insert(**id)) {
            if inside == Some(*id) {
                return Ok(Some(Stuck::Around(format!("{id} must be over first"))));
            }
            before.extend(app.find(*id)?.map(|(_, other)| other).filter(|other| other.status() == Status::Pending));
        }
    }
    Ok(None)
}

/// Whether a part of another task can have a member of a request.
fn is_of_a_part(member: &str) -> bool {
    let lanes = matches!(member, "user" | "project" | "lanes" | "threads" | "repo" | "tree");
    let command = matches!(member, "label" | "env" | "cwd" | "shell" | "no_check" | "command");
    lanes || command || matches!(member, "priority" | "hold" | "parent" | "on_parent_death")
}

/// The first option that a part of another task cannot have.
fn only_of_a_task(new: &TaskRequest) -> Option<String> {
    let ends_with_parent = new.on_parent_death == Some(ParentDeath::Cancel);
    let others = [("--group-output", new.is_grouped), ("--on-parent-death", ends_with_parent)];
    let other = others.into_iter().find(|(_, is_asked)| *is_asked).map(|(option, _)| option.to_owned());
    let given = new.given().into_iter().find(|member| !is_of_a_part(member));
    given.map(|member| option_of(&member)).or(other)
}

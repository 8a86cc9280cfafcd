//! Recovery of tasks that have lost their supervisor: by a pass, or by a verb that waits until their lanes are free. A task whose
//! processes cannot be seen from here is left to a process that can recover it.

use super::start_supervisor;
use crate::app::lifecycle::{Pass, Unseen, wake_dependents};
use crate::app::{App, AppError, Code, lane_word, pass};
use crate::model::{Task, TaskId};
use crate::policy::recovery::{Action, action, needs_supervisor, needs_witness};
use crate::policy::witness::{Blind, witness};
use crate::store::Found;
use crate::supervise::{recover, seen};
use std::time::Duration;

/// Applies the recovery table to every task in flight without a supervisor.
pub(super) fn recover_dead(app: &App, pass: &mut Pass, between: &mut dyn FnMut()) -> Result<(), AppError> {
    let ids = app.store.unsupervised()?;
    app.recovering.borrow_mut().retain(|id| ids.contains(id));
    for id in ids {
        between();
        match recover_one(app, id, pass) {
            Ok(true) => pass.recovered.push(id),
            Ok(false) => {}
            Err(error) if error.code() == Code::RecordNewer => pass.leave(id, error.to_string(), 0),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Recovers one task. If that takes a kill or a wait, a supervisor of its own does it. False if another process acts for the
/// task.
pub(crate) fn recover_one(app: &App, id: TaskId, pass: &mut Pass) -> Result<bool, AppError> {
    let Some(found) = app.store.find_abandoned(id)? else { return Ok(false) };
    if let Some(why) = blindness(app, id, &found)? {
        if pass.unseen.iter().all(|unseen| unseen.task != id) {
            pass.unseen.push(Unseen { task: id, why });
        }
        return Ok(false);
    }
    recover_found(app, id, found, pass)
}

/// Recovers a task whose processes can be seen from here, or for which a person has vouched.
fn recover_found(app: &App, id: TaskId, found: Found, pass: &mut Pass) -> Result<bool, AppError> {
    let what = seen(&found);
    if needs_supervisor(what) {
        start_supervisor(app, &["supervise", "--recover"], id, found.lock, pass)?;
        // The supervisor that was started for this task before has not recovered it.
        pass.in_vain += u32::from(!app.recovering.borrow_mut().insert(id));
        return Ok(true);
    }
    if let Some(finished) = recover(&app.site(), id, found, &[])? {
        pass.in_vain += u32::from(action(what) == Action::Unclaim);
        wake_dependents(app, id, &finished.dependents)?;
    }
    Ok(true)
}

/// Waits until the supervisors that recover these tasks have ended, so that their lanes are free afterwards. A command that
/// does not die is waited for as long as its grace, no longer.
pub(crate) fn await_recovery(app: &App, ids: &[TaskId]) -> Result<(), AppError> {
    let begin = app.host.boot_ms();
    for id in ids {
        let grace_ms = app.find(*id)?.map_or(0, |(_, task)| task.grace_ms);
        while app.run_dir.is_supervised(*id)?
            && !runs_again(app, *id)?
            && app.host.boot_ms().saturating_sub(begin) < grace_ms + 10_000
        {
            app.host.sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Whether the supervisor that started a task lives. The supervisor of a task to be recovered is dead, and the process that
/// recovers the task records no start.
fn runs_again(app: &App, id: TaskId) -> Result<bool, AppError> {
    let started = app.store.started(id)?.flatten();
    Ok(started.is_some_and(|started| {
        let who = started.supervisor;
        who.boot_id == app.host.identity().boot_id && app.host.probe(who.pid).proves_life_of(who.start)
    }))
}

/// Recovers one dead task and waits for it, so that its lanes can be had.
pub(crate) fn recover_now(app: &App, id: TaskId) -> Result<(), AppError> {
    let Some(found) = app.store.find_abandoned(id)? else { return await_recovery(app, &[id]) };
    if let Some(why) = blindness(app, id, &found)? {
        // No pass will ever see processes with unknown ids: only a person can tell whether they live.
        let task = found.task.as_ref().filter(|_| why == Blind::UnknownPids);
        let lane = task.and_then(|task| task.all_lanes().first().map(lane_word));
        let force = lane.map(|lane| format!("luzia release {lane} --force"));
        return Err(unseen(&Unseen { task: id, why }).overriding(force));
    }
    let must_kill = needs_supervisor(seen(&found));
    drop(found);
    let mut pass = Pass::default();
    if app.inside.is_some() && must_kill {
        // Inside a task nothing is started; its own supervisor makes the pass that recovers.
        pass::pass(app)?;
    } else {
        recover_one(app, id, &mut pass)?;
    }
    await_recovery(app, &[id])
}

/// Recovers a dead task on the word of the person who releases its lane by force: its processes cannot be seen from here. A
/// task whose `tree.lock` is held certainly lives, so the word does not count.
pub(crate) fn recover_by_force(app: &App, id: TaskId) -> Result<(), AppError> {
    let Some(found) = app.store.find_abandoned(id)? else { return await_recovery(app, &[id]) };
    match blindness(app, id, &found)? {
        Some(why) if found.is_tree_locked => return Err(unseen(&Unseen { task: id, why })),
        Some(_) if app.inside.is_none() => {}
        Some(_) | None => {
            drop(found);
            return recover_now(app, id);
        }
    }
    recover_found(app, id, found, &mut Pass::default())?;
    await_recovery(app, &[id])
}

/// The reason why this process cannot tell whether the processes of a task are dead; `None` if it need not, or can.
fn blindness(app: &App, id: TaskId, found: &Found) -> Result<Option<Blind>, AppError> {
    if !needs_witness(seen(found)) {
        return Ok(None);
    }
    blindness_by(app, id, found.task.as_ref())
}

/// Like `blindness`, for a task that was started and has lost its supervisor.
pub(crate) fn blindness_of(app: &App, task: &Task) -> Result<Option<Blind>, AppError> {
    blindness_by(app, task.id, Some(task))
}

fn blindness_by(app: &App, id: TaskId, task: Option<&Task>) -> Result<Option<Blind>, AppError> {
    let witness = witness(&app.host.outlook(app.store.origin_of(id, task)?));
    if witness.blindness().is_none() {
        return Ok(None);
    }
    let group = app.store.started(id)?.flatten().and_then(|started| started.group);
    Ok(witness.with_group(group.map(|group| app.host.look_at_group(&group))).blindness())
}

/// The error of a task that cannot be recovered from here: the process that can recover it, and the way to see it.
fn unseen(task: &Unseen) -> AppError {
    let hint = match task.why {
        Blind::UnknownPids => "its lanes stay held, and its record stays; nothing was changed",
        Blind::ForeignProc | Blind::OtherPids | Blind::OtherUsers => {
            "its lanes stay held, and its record stays, until somebody who sees its processes makes a pass"
        }
    };
    AppError::new(Code::NotSeenFromHere, task.text()).hint(hint).next(format!("luzia explain {}", task.task))
}

//! Waiting tasks in a pass, and children that borrow the lanes of a waiting parent.
//! `see_to_wait` looks at a task whose timer rang. `start_resumed` and `try_resumed` start the tasks whose wait is over, before
//! new work of their priority (`policy::schedule`). A task whose lanes are full waits on, and its timer stays due for the next
//! pass (X16). `start_borrowers` starts the tasks for whose end their parents wait, in the lanes of the parents, before all
//! others of a pass but those that preempt, and without slots of their own. A parent lends its lanes as long as a process waits for the child. After that
//! the child is a task like any other.

use super::claim::{Answer, At, Attempt, Starts, hand_over};
use crate::app::admission::turns::{current_weights, turns_in_session};
use crate::app::admission::{
    Firsts, borrowers_of, is_lent_by, lenders_of, may_start, situation_alone, unfinished_before,
};
use crate::app::capacity::shut;
use crate::app::config_reload::follow_config;
use crate::app::lifecycle::{Pass, Ready};
use crate::app::pass::trying::Tried;
use crate::app::pass::{Hand, recover_one, start_supervisor};
use crate::app::processes::wake_supervisor;
use crate::app::waits::resting::{Looked, look_at_wait, note_resumed};
use crate::app::{App, AppError};
use crate::model::{LaneName, Priority, QueueName, Task, TaskId, Timer, Timestamp};
use crate::policy::admission::{Situation, first_obstacle};
use crate::policy::schedule::Resumed;
use crate::store::{Event, Head, Place};
use std::cell::RefCell;

/// Looks at a waiting task whose timers rang. A task that must run a command gets a supervisor, if this pass may start one.
pub(super) fn see_to_wait(app: &App, task: &Task, due: &[Timestamp], pass: &mut Pass) -> Result<(), AppError> {
    match look_at_wait(app, task.id, due, false)? {
        Looked::Waits | Looked::Over => {}
        Looked::Ready => pass.ready.push(Ready { task: as_resumed(task), due: due.to_vec() }),
        Looked::NeedsCommand(lock) if pass.may_start => {
            start_supervisor(app, &["supervise", "--recover"], task.id, lock, pass)?;
        }
        Looked::NeedsCommand(lock) => app.store.stay_waiting(task.id, lock)?,
    }
    Ok(())
}

fn as_resumed(task: &Task) -> Resumed {
    let queue = task.queue();
    let takes_user_lane = QueueName::parse(&queue).is_none_or(|name| name.takes_user_lane());
    Resumed { priority: task.priority, id: task.id, user: task.user.clone(), queue: queue.into(), takes_user_lane }
}

/// Starts the tasks that are ready to go on where no new work competes with them, the first by priority and number first.
pub(super) fn start_resumed(app: &App, starts: &mut Starts) -> Result<(), AppError> {
    let mut ready: Vec<(Priority, TaskId)> =
        starts.pass.ready.iter().map(|ready| (ready.task.priority, ready.task.id)).collect();
    ready.sort_unstable();
    for (_, id) in ready {
        if matches!(try_resumed(app, id, starts)?, Tried::NoSlot) {
            break;
        }
    }
    Ok(())
}

/// Tries to start a task that is ready to go on.
pub(super) fn try_resumed(app: &App, id: TaskId, starts: &mut Starts) -> Result<Tried, AppError> {
    let ready = starts.pass.ready.iter().find(|ready| ready.task.id == id);
    let due = ready.map(|ready| ready.due.clone()).unwrap_or_default();
    let Some((Place::Waiting, task)) = app.store.find(id)? else { return Ok(Tried::Blocked) };
    if !may_start(app, &task) {
        return Ok(Tried::Blocked);
    }
    let lenders = lenders_of(app, &task)?;
    let admit = |task: &Task| admits_resumed(app, task);
    let attempt = Attempt { at: At::Wait(id), lenders: Some(&lenders), admit: &admit };
    let answer = attempt.claim(app, starts.pass)?;
    if let Answer::Held(_, view) = &answer
        && view.lane.as_ref().is_some_and(LaneName::is_global)
    {
        return Ok(Tried::NoSlot);
    }
    let Answer::Claimed(claimed) = answer else { return Ok(Tried::Blocked) };
    for at in &due {
        app.store.clear_timer(&Timer::of(id, *at))?;
    }
    note_resumed(app, &claimed.task);
    let weights = current_weights(app, &claimed.task);
    hand_over(app, claimed, starts)?;
    Ok(Tried::Started(weights))
}

/// Admission for a task that goes on: no task comes before it in its lanes, and no task runs in those that it has lent.
fn admits_resumed(app: &App, task: &Task) -> bool {
    if !borrowers_of(app, task).is_ok_and(|borrowers| borrowers.is_empty()) {
        return false;
    }
    let is_ready = app.store.waits(task.id).is_ok_and(|waits| waits.open.is_none() && !waits.is_failed());
    // The lanes that the task kept need no grant. The claim checks the gates of the other lanes.
    let situation = situation_alone(app, task);
    is_ready && first_obstacle(task, &situation).is_none()
}

/// Looks at tasks to which an event was sent, and starts those that have what they waited for. No other task of the queue is
/// started. The next pass does what fails here, because their timers stay due.
pub(crate) fn resume_addressed(app: &App, ids: &[TaskId]) -> Result<(), AppError> {
    let mut waiting = Vec::new();
    for id in ids {
        match app.store.find(*id)? {
            Some((Place::Waiting, task)) => waiting.push(task),
            // The supervisor of the task is dead: when the task is recovered its wait goes on.
            Some((Place::Running, _)) if app.inside.is_none() && !app.run_dir.is_supervised(*id)? => {
                recover_one(app, *id, &mut Pass::default())?;
            }
            _ => {}
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    if let Some(inside) = &app.inside
        && wake_supervisor(app, inside.task)?
    {
        return Ok(());
    }
    follow_config(app)?;
    app.store.hooks()?;
    let mut pass = Pass { may_start: true, ..Pass::default() };
    let due = app.store.timers(app.host.now())?.due;
    for task in waiting {
        let own: Vec<Timestamp> = due.iter().filter(|(id, _)| *id == task.id).map(|(_, at)| *at).collect();
        see_to_wait(app, &task, &own, &mut pass)?;
    }
    let hand = &mut Hand { is_free: false, is_fit: &|| false, claimed: None, between: &mut || {} };
    start_resumed(app, &mut Starts { pass: &mut pass, hand, seen: RefCell::default() })?;
    app.host.reap();
    Ok(())
}

/// Starts the children that can borrow their lanes.
pub(super) fn start_borrowers(app: &App, starts: &mut Starts) -> Result<(), AppError> {
    for id in app.store.lent_to()? {
        // The pass over its queue sets a damaged record aside.
        let Ok(Some((Place::Pending, task))) = app.store.find(id) else { continue };
        if !may_start(app, &task) {
            continue;
        }
        let lenders = lenders_of(app, &task)?;
        if !lenders.is_empty() && comes_first(app, &task, &lenders)? {
            try_borrower(app, &task, &lenders, starts)?;
        }
    }
    Ok(())
}

/// Whether no task of its session comes before a child. True if it takes no user lane, or borrows it.
fn comes_first(app: &App, task: &Task, lenders: &[Task]) -> Result<bool, AppError> {
    let is_lent = is_lent_by(lenders);
    Ok(!task.takes_user_lane
        || is_lent(&LaneName::user(&task.user))
        || turns_in_session(app, task)?.first().is_none_or(|first| *first >= task.turn()))
}

fn try_borrower(app: &App, task: &Task, lenders: &[Task], starts: &mut Starts) -> Result<(), AppError> {
    let head = Head { queue: task.queue(), priority: task.priority, id: task.id };
    let admit = |task: &Task| admits_borrower(app, task, lenders);
    let attempt = Attempt { at: At::Queue(&head), lenders: Some(lenders), admit: &admit };
    let Answer::Claimed(claimed) = attempt.claim(app, starts.pass)? else { return Ok(()) };
    note_loans(app, &claimed, lenders);
    // The process that waits may have died before it could report that.
    wake_supervisor(app, lenders[0].id)?;
    hand_over(app, claimed, starts)
}

fn admits_borrower(app: &App, task: &Task, lenders: &[Task]) -> bool {
    let is_lent = is_lent_by(lenders);
    let Ok(mut first_in_lane) = Firsts::default().before(&app.store, task) else { return false };
    first_in_lane.retain(|(lane, _)| !is_lent(lane));
    let situation = Situation {
        unfinished: unfinished_before(app, task),
        first_in_lane,
        shut: shut(app, task.all_lanes().iter().filter(|lane| !is_lent(lane)), true),
        ..situation_alone(app, task)
    };
    first_obstacle(task, &situation).is_none()
}

fn note_loans(app: &App, claimed: &crate::store::Claimed, lenders: &[Task]) {
    use crate::model::lock::loan::is_loan;
    let (id, parent) = (claimed.task.id, lenders[0].id);
    let mut notes = claimed.grants.iter().filter(|grant| is_loan(grant.slot)).map(|grant| {
        let data = serde_json::json!({ "from": parent.to_string(), "lock_id": grant.lock_id.0 });
        let event = Event::of("borrowed", &claimed.task).in_lane(&grant.lane).with(data);
        if grant.lane.kind() != "thread" {
            return event;
        }
        let thread = grant.lane.key();
        event.saying(format!(
            "[MessageService] Execution {} inheriting lock from parent {} on thread {thread}",
            id.0, parent.0
        ))
    });
    app.store.note_all(&mut notes);
}

//! Requests that make room for themselves (`--preempt`): the question before, and the wish that passes carry out.

use crate::app::admission::may_start;
use crate::app::config_reload::follow_control;
use crate::app::lifecycle::Accepted;
use crate::app::locks::consent::{Question, foreign_question, question_of};
use crate::app::pass::preempt::{admits_passing, ask_for_room, full_lanes, is_next};
use crate::app::queue::enqueue::{Caller, after_accepting, enqueue, task_of};
use crate::app::{App, AppError, Code, config_reload, lane_word};
use crate::model::control::{How, Preempt};
use crate::model::{LaneName, Task};
use crate::policy::preempt::{Refusal, choose};
use crate::request::TaskRequest;
use crate::store::Place;

fn room_for_several() -> AppError {
    AppError::usage("--preempt makes room for one slot of a lane, not for several")
}

/// The way in which room is made for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// The treatment of the holders.
    pub how: How,
    /// The time between SIGTERM and SIGKILL, in milliseconds; the holder's own when absent.
    pub grace_ms: Option<u64>,
    /// Whether work of others may be ended or queued again.
    pub others: bool,
}

/// The question to ask before room is made for a task, if that would end or interrupt work of others. An error if no room can be
/// made.
pub fn room_question(app: &App, new: &TaskRequest, caller: &Caller, how: How) -> Result<Option<Question>, AppError> {
    let task = task_of(app, new, caller)?;
    if task.terms.slot_count.is_some() {
        return Err(room_for_several().hint("leave --preempt out: the task then waits for its slots"));
    }
    if !app.store.has_layout()? {
        return Ok(None);
    }
    let full = full_lanes(app, &task)?;
    let chosen = match choose(task.priority, false, &full) {
        Err(Refusal::Foreign(..)) => choose(task.priority, true, &full).map_err(|why| refused(&why))?,
        own => {
            let account = caller.accounts.own().unwrap_or_default();
            return foreign_question(app, verb_of(how), &own.map_err(|why| refused(&why))?, &account);
        }
    };
    question_of(app, verb_of(how), &chosen).map(Some)
}

/// Refuses to give several slots to a task that makes room for itself: it would end others for one slot after another.
pub(crate) fn refuse_room_for_several(app: &App, task: &Task) -> Result<(), AppError> {
    follow_control(app)?;
    let makes_room = config_reload::control(app).preempts.iter().any(|wish| wish.task == task.id);
    if task.terms.slot_count.is_none() || !makes_room {
        return Ok(());
    }
    Err(room_for_several()
        .hint("nothing was changed; queue another task without --preempt")
        .next(format!("luzia explain {}", task.id)))
}

/// Accepts a request and makes room for it.
pub fn enqueue_preempting(app: &App, new: &TaskRequest, caller: &Caller, room: Room) -> Result<Accepted, AppError> {
    let accepted = enqueue(app, new, caller)?;
    if accepted.created {
        let Room { how, grace_ms, others } = room;
        let task = accepted.task.id;
        let by = app.agent.as_ref().map_or_else(|| accepted.task.user.to_string(), |agent| agent.name.clone());
        preempt_for(app, &accepted.task, Preempt { task, how, grace_ms, others, by })
            .map_err(|error| after_accepting(app, task, error))?;
    }
    Ok(accepted)
}

/// Records that a task makes room for itself, and asks for that room. Commit point is the sync of `spool`.
fn preempt_for(app: &App, task: &Task, wish: Preempt) -> Result<(), AppError> {
    app.store.change_control::<_, AppError>(|control| {
        control.preempts.retain(|one| one.task != task.id);
        control.preempts.push(wish.clone());
        Ok(())
    })?;
    follow_control(app)?;
    // A task that is paused, not due or after others asks for room when a pass meets it in the queue.
    if let Some((Place::Pending, task)) = app.store.find(task.id)?
        && admits_passing(app, &task)
        && may_start(app, &task)
        && is_next(app, &task)?
    {
        ask_for_room(app, &task, &wish)?;
    }
    Ok(())
}

fn verb_of(how: How) -> &'static str {
    match how {
        How::End => "end",
        How::Requeue => "interrupt",
    }
}

/// The error of a preemption that is not possible now.
fn refused(why: &Refusal) -> AppError {
    let (lane, message, next): (&LaneName, String, String) = match why {
        Refusal::NoTask(lane, holder) => (
            lane,
            format!("{holder} holds it, and only a task can be preempted"),
            format!("luzia explain {}", lane_word(lane)),
        ),
        Refusal::Higher(lane, id) => {
            (lane, format!("{id} holds it and has a higher priority"), format!("luzia explain {id}"))
        }
        Refusal::Foreign(lane, id) => {
            (lane, format!("{id} holds it and belongs to somebody else"), format!("luzia explain {id}"))
        }
        Refusal::Around(lane, id) => {
            (lane, format!("{id} holds it, and the new task would run inside {id}"), format!("luzia explain {id}"))
        }
    };
    AppError::new(Code::NotPreempted, format!("no room can be made in lane \"{lane}\": {message}"))
        .hint("nothing was queued; without --preempt the task would wait for its turn")
        .next(next)
}

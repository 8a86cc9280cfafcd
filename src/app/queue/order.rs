//! `move`: puts a task before others. The order of a session's tasks is priority, then number, so a move is a change of priority.

use crate::app::admission::turns::{has_other_sessions, turns_in_session};
use crate::app::lifecycle::{change_waiting, not_waiting};
use crate::app::{App, AppError, Code};
use crate::model::{Priority, Status, Task, TaskId};

/// The tasks before which a task is to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Before every task of its session, and of its threads.
    First,
    /// Before this task.
    Before(TaskId),
}

/// The result of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The task as it is now.
    pub task: Task,
    /// The priority of the task before the move, if it has changed.
    pub priority_before: Option<Priority>,
    /// Set if the other tasks belong to other users or sessions, so that fair share decides which task starts first.
    pub takes_turns_with: Option<Others>,
}

/// The others with which a task takes turns by fair share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Others {
    /// Other users.
    Users,
    /// Other sessions, else projects, of the task's user.
    Sessions,
}

/// Gives a waiting task the least urgent priority with which it comes before others.
pub fn move_task(app: &App, id: TaskId, goal: Goal) -> Result<Moved, AppError> {
    let task = app.existing(id)?;
    if task.status() != Status::Pending {
        return Err(not_waiting(id, task.status()));
    }
    let (place, takes_turns_with) = match goal {
        Goal::First => (first_place(app, &task)?, has_other_sessions(app, &task)?.then_some(Others::Sessions)),
        Goal::Before(other) if other == id => {
            return Err(AppError::usage(format!("{other} cannot come before itself")).hint("nothing was changed"));
        }
        Goal::Before(other) => {
            let other = app.existing(other)?;
            (Some(place_before(&task, &other)?), takes_turns_with(&task, &other))
        }
    };
    let stays = |task| Moved { task, priority_before: None, takes_turns_with };
    let Some(place) = place else { return Ok(stays(task)) };
    let wanted = if (place.0, task.turn().1.0) < place {
        place.0
    } else {
        place.0.number().checked_sub(1).and_then(Priority::new).ok_or_else(|| nothing_before(&task, place.1))?
    };
    if wanted >= task.priority {
        return Ok(stays(task));
    }
    let moved = change_waiting(app, id, "edited", |task| Ok(Task { priority: wanted, ..task.clone() }))?;
    Ok(Moved { priority_before: Some(task.priority), ..stays(moved) })
}

/// The place of the first task with which a task takes turns; `None` if there is no such task.
fn first_place(app: &App, task: &Task) -> Result<Option<(Priority, TaskId)>, AppError> {
    let others = turns_in_session(app, task)?.into_iter().filter(|(_, (_, id))| *id != task.id);
    let mut first = others.map(|(priority, (place, _))| (priority, place)).next();
    for lane in task.lanes.iter().filter(|lane| lane.is_key_lane()) {
        let others = crate::model::Tier::ALL.into_iter().map(|tier| app.store.first_in(lane, tier));
        for (priority, (place, id)) in others.collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
            first = first.into_iter().chain((id != task.id).then_some((priority, place))).min();
        }
    }
    Ok(first)
}

/// The place of another task, if it waits in a lane of the first one.
fn place_before(task: &Task, other: &Task) -> Result<(Priority, TaskId), AppError> {
    let has_common = task.all_lanes().iter().any(|lane| !lane.is_global() && other.all_lanes().contains(lane));
    let why = match other.status() {
        Status::Pending if has_common => return Ok((other.priority, other.turn().1.0)),
        Status::Pending => "they have no lane in common".to_owned(),
        status => format!("{} is {status}", other.id),
    };
    Err(AppError::new(Code::NotInLine, format!("{why}, so {} comes neither before nor after it", task.id))
        .hint("nothing was changed")
        .next(format!("luzia list -u {}", crate::app::shell_word(&task.user))))
}

/// Whether two tasks are ordered by shares: only in a thread or session lane priority and number order all tasks.
fn takes_turns_with(task: &Task, other: &Task) -> Option<Others> {
    if task.lanes.iter().any(|lane| lane.is_key_lane() && other.lanes.contains(lane)) {
        return None;
    }
    let of_sessions = (task.share != other.share).then_some(Others::Sessions);
    if task.user == other.user { of_sessions } else { Some(Others::Users) }
}

fn nothing_before(task: &Task, other: TaskId) -> AppError {
    let message = format!("{other} has priority 0, and is older than {}: nothing comes before it", task.id);
    AppError::new(Code::NothingBefore, message)
        .hint("`luzia edit` can make the other task less urgent; nothing was changed")
        .next(format!("luzia explain {other}"))
}

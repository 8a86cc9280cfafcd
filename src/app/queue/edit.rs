//! `edit`: changes a task that has not started. It keeps its number, so it keeps its place among those of its priority.

use super::doors::check_command;
use super::terms::moments::{due_by_boot_clock, due_of};
use crate::app::lifecycle::change_waiting;
use crate::app::names::lane_option;
use crate::app::queue::enqueue::priority_of;
use crate::app::queue::preempt::refuse_room_for_several;
use crate::app::queue::terms::{check_slots, count_of, with_ruled_lanes};
use crate::app::steps::words::check_places;
use crate::app::{App, AppError};
use crate::model::{LaneName, Task, TaskId};
use crate::request::{EditRequest, TaskRequest};

/// Refuses a request without a change.
pub fn check(edit: &EditRequest) -> Result<(), AppError> {
    if *edit != (EditRequest { no_check: edit.no_check, ..EditRequest::default() }) {
        return Ok(());
    }
    Err(AppError::usage("no change is given")
        .hint("give --priority, --in, --at, --lane, --slots, --label, or a command after --")
        .next("luzia edit --help"))
}

/// Changes a task that has not started.
pub fn edit(app: &App, id: TaskId, edit: &EditRequest) -> Result<Task, AppError> {
    check(edit)?;
    change_waiting(app, id, "edited", |task| edited(app, task, edit))
}

fn edited(app: &App, task: &Task, edit: &EditRequest) -> Result<Task, AppError> {
    let mut new = task.clone();
    if edit.priority.is_some() {
        new.priority = priority_of(edit.priority)?;
    }
    let moment = TaskRequest { delay: edit.delay.clone(), at: edit.at.clone(), ..TaskRequest::default() };
    if edit.delay.is_some() || edit.at.is_some() {
        new.due_at = due_of(app, &moment, app.host.now())?;
        new.terms.due_boot = due_by_boot_clock(app, &moment)?;
    }
    if !edit.lanes.is_empty() {
        new.lanes = lanes_instead(app, task, &edit.lanes)?;
    }
    if edit.slots.is_some() {
        new.terms.slot_count = count_of(edit.slots)?;
        refuse_room_for_several(app, &new)?;
    }
    if edit.slots.is_some() || !edit.lanes.is_empty() {
        check_slots(app, &new)?;
    }
    if let Some(label) = &edit.label {
        new.label = Some(label.clone()).filter(|label| !label.is_empty());
    }
    if !edit.command.is_empty() {
        new.command.clone_from(&edit.command);
        new.stdin = None;
        check_places(&new)?;
        let request = TaskRequest { no_check: edit.no_check, command: edit.command.clone(), ..TaskRequest::default() };
        check_command(app, &request, &new)?;
    }
    Ok(new)
}

fn lanes_instead(app: &App, task: &Task, texts: &[String]) -> Result<Vec<LaneName>, AppError> {
    let own = LaneName::user(&task.user);
    let mut lanes = Vec::new();
    for text in texts {
        let lane = lane_option(app, text, Some(&task.cwd))?;
        if lane.is_user() && lane != own {
            let message = format!("{} is a task of \"{}\", and \"{lane}\" is another user's lane", task.id, task.user);
            return Err(AppError::usage(message).hint("queue a task for that user; nothing was changed"));
        }
        lanes.push(lane);
    }
    lanes.retain(|lane| *lane != own && !lane.is_global());
    if lanes.is_empty() && !task.takes_user_lane {
        return Err(AppError::usage("a task without its user's lane needs another lane").hint("nothing was changed"));
    }
    with_ruled_lanes(app, lanes, task.project.as_ref(), task.goal.as_deref())
}

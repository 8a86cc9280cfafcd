//! After `release`, `luzia lock` or a session has given a lane back: one pass, if a queued task waits for that lane (S0.23).

use crate::app::admission::reach::{is_near, may_start};
use crate::app::config_reload::follow_config;
use crate::app::pass::pass;
use crate::app::{App, AppError};
use crate::model::{LaneName, QueueName, TaskId, Tier};
use crate::store::{Event, Place};

/// Makes a pass if a task waits for one of these lanes, which are free now. Returns a sentence if only a process of another
/// sandbox may start that task. An error does not fail the verb: the lanes are free.
pub(crate) fn pass_for_waiting(app: &App, lanes: &[LaneName]) -> Option<String> {
    let made = next_in(app, lanes).and_then(|next| match next {
        Some((id, false)) => Ok(Some(format!(
            "{id} waits for what is free now, and was queued in another sandbox: `luzia dispatch` there starts it"
        ))),
        Some((_, true)) => pass(app).map(|_| None),
        None => Ok(None),
    });
    made.unwrap_or_else(|error| {
        app.store.note(&Event::new("pass_failed").saying(error.to_string()));
        None
    })
}

/// A task that waits for one of the lanes, and whether this process may start it; one that it may start is preferred.
fn next_in(app: &App, lanes: &[LaneName]) -> Result<Option<(TaskId, bool)>, AppError> {
    let queues = app.store.lanes_with_work()?;
    if queues.values().all(|queues| queues.is_empty()) {
        return Ok(None);
    }
    follow_config(app)?;
    let mut found = None;
    let mut see = |id: TaskId, is_near: bool| {
        found = found.filter(|(_, was_near)| *was_near || !is_near).or(Some((id, is_near)));
        is_near
    };
    // The first tasks of thread and session lanes are known by their marks.
    for lane in lanes.iter().filter(|lane| lane.is_key_lane() && !lane.is_user()) {
        for tier in Tier::ALL {
            let Some((_, (_, id))) = app.store.first_in(lane, tier)? else { continue };
            let task = app.store.find(id).ok().flatten().filter(|(place, _)| *place == Place::Pending);
            if task.is_some_and(|(_, task)| see(id, may_start(app, &task))) {
                return Ok(found);
            }
        }
    }
    // For the other lanes, the names of queues give the users, and the first task of each queue gives its capacity lanes.
    let has_capacity = lanes.iter().any(LaneName::is_capacity_lane);
    for (queue, priority) in queues.values().flatten() {
        let Some(name) = QueueName::parse(queue) else { continue };
        let is_of_user = |lane: &LaneName| lane.is_user() && name.takes_user_lane() && lane.stem() == name.user_stem;
        let has_all = lanes.iter().any(is_of_user);
        if !has_all && !has_capacity {
            continue;
        }
        let Some(head) = app.store.head_from(*priority, queue)? else { continue };
        let is_meant = |lane: &LaneName| lane.is_capacity_lane() && lanes.contains(lane);
        let waits = has_all || app.store.peek(&head).is_some_and(|task| task.lanes.iter().any(is_meant));
        if waits && see(head.id, is_near(app, queue)?) {
            return Ok(found);
        }
    }
    Ok(found)
}

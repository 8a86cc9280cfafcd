//! Tasks without a process: how they begin, their changes, their ends, and the tasks that an end wakes. Nothing here starts a task.

pub(crate) mod change;
pub(crate) mod end;
pub mod report;

use crate::model::Task;
use crate::store::Event;
use serde_json::json;

/// The event of a task that is accepted.
pub(crate) fn enqueued(task: &Task) -> Event {
    let mut data = json!({ "priority": task.priority.number(), "work": task.work() });
    if task.due_at.is_some() || !task.after.is_empty() || task.hold.is_some() {
        data["delayed"] = true.into();
    }
    if let Some(parent) = task.parent {
        data["parent"] = parent.to_string().into();
    }
    if let Some(granted) = &task.terms.granted {
        data["token"] = granted.token.to_string().into();
    }
    Event::of("enqueued", task).in_lane_of(task).with(data)
}

//! The admission of a task, apart from its lanes and the tasks in line with it.

use super::reach::context_differences;
use crate::app::App;
use crate::app::capacity::gates;
use crate::app::config_reload::{config, control};
use crate::model::{Task, TaskId};
use crate::policy::admission::{Situation, narrow};
use crate::policy::context::life::Life;
use crate::policy::hold::pause_of;
use crate::store::Place;

/// Obstacles of a task besides its lanes, its gates and other tasks: its pause, and another sandbox.
pub(crate) fn situation_alone(app: &App, task: &Task) -> Situation {
    let now = app.host.now();
    Situation {
        now,
        paused: pause_of(task, &control(app).holds, now),
        unfinished: Vec::new(),
        context: context_differences(app, task),
        origin: (Life::Unseen, false),
        newer: None,
        ahead: 0,
        first_in_lane: Vec::new(),
        shut: Vec::new(),
        narrow: narrow(task, |lane| config(app).limit(lane)),
        booked: None,
        lanes: Vec::new(),
        has_dispatcher: true,
    }
}

/// Like `situation_alone`, with the tasks that a queued task comes after and the gates of all its lanes.
pub(crate) fn situation_queued(app: &App, task: &Task) -> Situation {
    Situation {
        unfinished: unfinished_before(app, task),
        shut: gates::shut(app, task.all_lanes().iter(), true),
        ..situation_alone(app, task)
    }
}

/// The unfinished tasks that a task comes after. A task that is gone or damaged blocks no other task: a parked task is ended
/// because of it, and a queued task was let in before.
pub(crate) fn unfinished_before(app: &App, task: &Task) -> Vec<TaskId> {
    let is_open = |id: &TaskId| matches!(app.store.find(*id), Ok(Some((place, _))) if place != Place::Done);
    task.after.iter().copied().filter(is_open).collect()
}

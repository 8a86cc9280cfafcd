//! The admission of a task, apart from its lanes and the tasks in line with it.

use super::reach::context_differences;
use crate::app::App;
use crate::app::capacity::gates;
use crate::app::config_reload::{config, control};
use crate::model::{LaneName, Task, TaskId};
use crate::policy::admission::{Situation, narrow};
use crate::policy::hold::pause_of;
use crate::policy::lease::{Due, cut};
use crate::store::Place;

/// Obstacles of a task besides its lanes, its gates and other tasks: its pause, and another sandbox.
pub(crate) fn situation_alone(app: &App, task: &Task) -> Situation {
    let now = app.host.now();
    Situation {
        now,
        paused: pause_of(task, &control(app).holds, now),
        context: context_differences(app, task),
        no_grant: missing_grant(app, task),
        narrow: narrow(task, |lane| config(app).limit(lane)),
        ..Situation::default()
    }
}

/// The grant that a task lacks: the lease of the host, or that of a lane that it does not keep. An error counts as no lease.
fn missing_grant(app: &App, task: &Task) -> Option<Option<LaneName>> {
    let granted = task.terms.granted.as_ref()?;
    let lease = app.store.host_lease().ok().flatten();
    let cut = cut(lease.as_ref(), app.host.boot(), granted.session, task.grace_ms);
    if cut.due(app.host.boot_ms()) != Due::No {
        return Some(None);
    }
    let is_kept = |lane: &LaneName| task.wait().is_some_and(|wait| wait.kept.iter().any(|(kept, _)| kept == lane));
    let used = app.store.used_grants(task).unwrap_or_default();
    used.into_iter().find(|lane| !is_kept(lane)).map(Some)
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

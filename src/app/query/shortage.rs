//! Claimed tasks that do nothing: they are paused, or their start or result waits for a host that is short of space.

use crate::app::{App, AppError, Pause};
use crate::model::control::TaskHold;
use crate::model::{Status, Task};
use crate::os::FileSystem;
use crate::policy::admission::{Obstacle, Room};
use crate::store::{LockView, RunPause, Short};
use std::path::Path;

/// The reason why a claimed task does nothing, as its supervisor shows it; `None` if it runs, or is not supervised.
pub fn standstill(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    if task.status() != Status::Running {
        return Ok(None);
    }
    let Some(short) = app.run_dir.shortage(task.id)? else { return paused_run(app, task) };
    let mut rooms = vec![room(app.store_path().to_owned(), app.store.file_system()?)];
    let logs = Path::new(&task.conductor_dir);
    // Its logs may be on another file system. `doctor` reports the faults there.
    if short == Short::Start
        && !logs.starts_with(app.store_path())
        && let Some((path, system)) = logs.ancestors().find_map(|path| system_of(app, path))
    {
        rooms.push(room(path, system));
    }
    Ok(Some(match short {
        Short::Start => Obstacle::StartWaits { rooms },
        Short::Result => Obstacle::ResultWaits { rooms },
    }))
}

/// The pause of a task whose processes are stopped for it.
fn paused_run(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    let now = app.host.now();
    let stands = |pause: &RunPause| pause.is_in_effect && pause.hold.stands(now);
    let Some(pause) = app.store.run_pause(task.id)?.filter(stands) else { return Ok(None) };
    let TaskHold { since, until, reason, by, .. } = pause.hold;
    let pause = Pause { what: task.id.to_string(), since, until, reason, by };
    Ok(app.run_dir.is_supervised(task.id)?.then_some(Obstacle::Paused { pause }))
}

fn system_of(app: &App, path: &Path) -> Option<(String, FileSystem)> {
    let path = path.to_str()?;
    let conductor = app.run_dir.conductor(path, false).ok().flatten()?;
    Some((path.to_owned(), conductor.file_system().ok()?))
}

/// Whether the task that holds a lock waits for space, so that nothing but space ends it.
pub(crate) fn is_short(app: &App, view: &LockView) -> bool {
    view.task().is_some_and(|id| matches!(app.run_dir.shortage(id), Ok(Some(_))))
}

fn room(path: String, system: FileSystem) -> Room {
    Room { path, name: system.name, free_bytes: system.free_bytes, free_inodes: system.free_inodes }
}

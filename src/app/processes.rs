//! Facts about the processes of a task.

use crate::app::{App, AppError};
use crate::model::TaskId;
use crate::os::Signal;
use crate::store::StoreError;

/// Whether this process belongs to the tree of a running task: below its supervisor, or with its `tree.lock` open. The
/// environment alone is no proof: the end of the task does not wait for every process that has it.
pub(crate) fn is_in_tree(app: &App, task: TaskId) -> Result<bool, StoreError> {
    let supervisor = app.store.started(task)?.flatten().map(|started| started.supervisor);
    if supervisor.is_some_and(|process| app.host.procs.descends_from(&process)) {
        return Ok(true);
    }
    Ok(app.run_dir.tree_ident(task)?.is_some_and(|file| app.host.procs.has_open(file)))
}

/// The pid of the supervisor of a task, when that is stopped and still has the task.
pub(crate) fn stopped_supervisor(app: &App, id: TaskId) -> Result<Option<u32>, StoreError> {
    let supervisor = app.store.started(id)?.flatten().map(|started| started.supervisor);
    let Some(stopped) = supervisor.filter(|process| app.host.is_stopped(process)) else { return Ok(None) };
    Ok(app.run_dir.is_supervised(id)?.then_some(stopped.pid))
}

/// Wakes the supervisor of a task, so that it makes a pass. False if the task has no supervisor: the task is over, and this
/// process only has its environment.
pub(crate) fn wake_supervisor(app: &App, task: TaskId) -> Result<bool, AppError> {
    if !app.run_dir.is_supervised(task)? {
        return Ok(false);
    }
    if let Some(Some(started)) = app.store.started(task)? {
        app.host.signal(&started.supervisor, Signal::Wake);
    }
    Ok(true)
}

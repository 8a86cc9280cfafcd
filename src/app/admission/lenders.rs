//! The tasks that lend a child their lanes: its parent, while a process waits for the child in the name of the parent, and so on.

use crate::app::{App, AppError};
use crate::model::lock::loan::{is_loan, root};
use crate::model::{LaneName, Status, Task, TaskId};
use crate::policy::loans::lenders;
use crate::store::{LockIndex, Place};
use std::collections::BTreeSet;

/// Whether this process waits for a task in the name of its parent: it runs in the parent, or the task was queued so.
pub(crate) fn may_borrow(app: &App, task: &Task) -> bool {
    let is_inside = app.inside.as_ref().is_some_and(|inside| Some(inside.task) == task.parent);
    !task.no_inherit && task.status() == Status::Pending && (task.waited_for || is_inside)
}

/// The tasks that lend a task their lanes: its parent, when a process waits for the task, and so on.
pub(crate) fn lenders_of(app: &App, task: &Task) -> Result<Vec<Task>, AppError> {
    if task.parent.is_none() || task.no_inherit {
        return Ok(Vec::new());
    }
    lenders_by(app, task, &|id| Ok(app.store.is_lent_to(id)?))
}

/// Like `lenders_of`, for a task for which a process is about to wait.
pub(crate) fn lenders_if_waited(app: &App, task: &Task) -> Result<Vec<Task>, AppError> {
    lenders_by(app, task, &|id| Ok(id == task.id || app.store.is_lent_to(id)?))
}

type IsWaitedFor<'a> = dyn Fn(TaskId) -> Result<bool, AppError> + 'a;

fn lenders_by(app: &App, task: &Task, is_waited_for: &IsWaitedFor<'_>) -> Result<Vec<Task>, AppError> {
    lenders(task, is_waited_for, &|id| Ok(app.find(id)?.map(|(_, task)| task)))
}

/// Whether a lane is one that the lenders hold.
pub(crate) fn is_lent_by(lenders: &[Task]) -> impl Fn(&LaneName) -> bool {
    let lent: BTreeSet<LaneName> = lenders.iter().flat_map(Task::all_lanes).collect();
    move |lane| lent.contains(lane)
}

/// The tasks that run in lanes of a task: those with a lock above one of its own, children of its children included.
pub(crate) fn borrowers_of(app: &App, task: &Task) -> Result<BTreeSet<TaskId>, AppError> {
    let mut borrowers = BTreeSet::new();
    let locks = if app.store.has_layout()? { app.store.lock_index()? } else { LockIndex::default() };
    for lane in task.all_lanes() {
        let views = app.holders_in(&locks, &lane)?;
        let held: Vec<(u32, TaskId)> =
            views.iter().filter_map(|view| Some((view.slot, TaskId::parse(view.holder()?)?))).collect();
        for (slot, id) in held.iter().filter(|(slot, id)| is_loan(*slot) && *id != task.id) {
            let is_above = |own: &&(u32, TaskId)| own.1 == task.id && root(own.0) == root(*slot) && own.0 < *slot;
            let lives = || Ok::<_, AppError>(app.find(*id)?.is_some_and(|(place, _)| place != Place::Done));
            if held.iter().any(|own| is_above(&own)) && lives()? {
                borrowers.insert(*id);
            }
        }
    }
    Ok(borrowers)
}

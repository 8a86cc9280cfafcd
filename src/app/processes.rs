//! Facts about the processes of a task, and about the process that asks for it.

use crate::app::{App, AppError};
use crate::model::process::INITIAL_PID_NAMESPACE;
use crate::model::{Task, TaskId, Who};
use crate::os::Signal;
use crate::policy::agent::{agent_above, is_same as is_same_agent, may_be_agent, process_key};
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

/// Whether a task is this process's own by its place in the tree of tasks.
pub(crate) fn is_around_or_child(app: &App, task: &Task) -> bool {
    let inside = app.inside.as_ref().map(|inside| inside.task);
    inside.is_some_and(|own| own == task.id || task.parent == Some(own))
}

/// The key by which a later call recognizes the process that asked. An agent has a name or a session instead.
pub(crate) fn asked_by(app: &App, pid: u32) -> Option<String> {
    match app.agent {
        Some(_) => None,
        None if pid == app.host.identity().pid => own_key(app).clone(),
        None => key_of_process(app, pid),
    }
}

/// The key of this process.
fn own_key(app: &App) -> &Option<String> {
    app.own_key.get_or_init(|| key_of_process(app, app.host.identity().pid))
}

/// Whether the caller is the one that asked for work; `None` where too little is known.
pub(crate) fn is_same(app: &App, holder: &Who, asked_by: Option<&str>) -> Option<bool> {
    if let Some(is_same) = is_same_agent(&app.who(&[]), holder) {
        return Some(is_same);
    }
    let asked_by = asked_by?;
    let is_same = own_key(app).as_deref() == Some(asked_by);
    // Two plain processes of one account may well be one person's.
    (is_same || app.agent.is_some()).then_some(is_same)
}

/// Whether the caller asked for a task: the same session of an agent, else the same agent. Plain processes of one account
/// count as one person.
pub(crate) fn is_own_task(app: &App, task: &Task) -> bool {
    let holder = Who::of(task.agent.as_ref(), &[], None);
    let same_agent = is_same(app, &holder, task.asked_by.as_deref());
    is_around_or_child(app, task) || same_agent.unwrap_or(app.agent.is_some() == task.agent.is_some())
}

/// The key of the process that asked for the work of a process of this account: that of its agent, if no session is named.
pub(crate) fn key_of_process(app: &App, pid: u32) -> Option<String> {
    let namespace = app.host.own_origin().pid_namespace;
    let above = app.host.ancestors(pid, &may_be_agent);
    let agent = &agent_above(&above, namespace == Some(INITIAL_PID_NAMESPACE))?.process;
    Some(process_key(agent, namespace.unwrap_or(0)))
}

/// The key of the caller's session, if only the agent's process gives it.
pub(crate) fn agent_key(app: &App) -> Option<String> {
    key_of_process(app, app.host.identity().pid)
}

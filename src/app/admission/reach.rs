//! The queues that this process may start: those of a sandbox that is compatible with its own, or all of them if the
//! configuration says so (`dispatch.contexts`, contract P9).

use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::config::Contexts;
use crate::model::record::Shared;
use crate::model::{Limits, NamedSandbox, QueueName, SandboxId, Task};
use crate::policy::context::{Difference, differences};
use crate::store::Place;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sandbox of this process, and the facts about others. Neither changes while the process lives.
#[derive(Default)]
pub(crate) struct Reach {
    own: Option<(Arc<NamedSandbox>, Shared<Limits>)>,
    known: BTreeMap<SandboxId, bool>,
}

/// The sandbox of this process and the limits that it gives to its children.
pub(crate) fn own_context(app: &App) -> (Arc<NamedSandbox>, Shared<Limits>) {
    let mut reach = app.reach.borrow_mut();
    let own = reach.own.get_or_insert_with(|| {
        let context = app.host.context();
        (Arc::new(NamedSandbox::from(context.sandbox.clone())), context.limits.clone().into())
    });
    own.clone()
}

/// Differences between the sandbox of a task and that of this process; empty if this process may start the task.
pub(crate) fn context_differences(app: &App, task: &Task) -> Vec<Difference> {
    match (&task.sandbox, config(app).contexts) {
        (None, _) | (_, Contexts::Any) => Vec::new(),
        (Some(theirs), Contexts::Same) => differences(own_context(app).0.sandbox(), theirs.sandbox()),
    }
}

/// Whether this process may start a task.
pub fn may_start(app: &App, task: &Task) -> bool {
    context_differences(app, task).is_empty()
}

/// Whether this process may start the pending tasks of a queue. Of a sandbox that is new to this process, only the record of
/// the first task is read.
pub(crate) fn is_near(app: &App, queue: &str) -> Result<bool, AppError> {
    let Some(sandbox) = QueueName::parse(queue).and_then(|name| name.sandbox) else { return Ok(true) };
    if config(app).contexts == Contexts::Any || own_context(app).0.id() == &sandbox {
        return Ok(true);
    }
    if let Some(known) = app.reach.borrow().known.get(&sandbox) {
        return Ok(*known);
    }
    // A record that is gone or damaged does not name its sandbox; a claim by that sandbox finds it. An empty queue does not
    // name it either: a task that is not pending names its sandbox itself (`may_start`).
    let Some(task) = app.store.any_of_queue(queue)? else { return Ok(false) };
    let is_near = may_start(app, &task);
    if task.sandbox.as_ref().is_some_and(|named| named.id() == &sandbox) {
        app.reach.borrow_mut().known.insert(sandbox, is_near);
    }
    Ok(is_near)
}

/// Whether a daemon, a drain or a waiting `run` is at work that would start what this process may start.
pub fn has_waiting_dispatcher(app: &App) -> Result<bool, AppError> {
    match config(app).contexts {
        Contexts::Any => Ok(app.store.has_dispatcher(None)?),
        Contexts::Same => Ok(app.store.has_dispatcher(Some(own_context(app).0.id()))?),
    }
}

/// Whether anything would start pending tasks: a daemon, a `run`, or a running task whose supervisor makes a pass.
pub fn has_dispatcher(app: &App) -> Result<bool, AppError> {
    if has_waiting_dispatcher(app)? {
        return Ok(true);
    }
    for id in app.store.in_flight()? {
        // `doctor` reports a damaged record; the question about another task does not fail because of it.
        let runs = matches!(app.store.find(id), Ok(Some((Place::Running, task))) if context_differences(app, &task).is_empty());
        if runs && app.run_dir.is_supervised(id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

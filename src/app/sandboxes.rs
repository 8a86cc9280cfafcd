//! Tasks that were queued in another sandbox: whether that sandbox lives, how many tasks there are, and how the caller takes
//! one into its own context (contract P9).

use super::config_reload::config;
use crate::app::admission::{context_differences, has_dispatcher, is_near, own_context};
use crate::app::lifecycle::change_waiting;
use crate::app::{App, AppError, Code};
use crate::model::config::Contexts;
use crate::model::{NamedSandbox, QueueName, SandboxId, Status, Surroundings, Task, TaskId};
use crate::policy::context::{Life, is_private, life};
use std::collections::BTreeMap;

/// The life of other sandboxes, as of the first question.
#[derive(Default)]
pub(crate) struct Sandboxes {
    around: Option<Surroundings>,
    known: BTreeMap<SandboxId, Life>,
}

impl Sandboxes {
    /// Whether a sandbox lives.
    pub(crate) fn life(&mut self, app: &App, theirs: &NamedSandbox) -> Result<Life, AppError> {
        if let Some(known) = self.known.get(theirs.id()) {
            return Ok(*known);
        }
        let around = self.around.get_or_insert_with(|| app.host.sandboxes());
        let is_dispatched = app.store.has_dispatcher(Some(theirs.id()))?;
        let found = life(own_context(app).0.sandbox(), theirs.sandbox(), is_dispatched, around);
        self.known.insert(theirs.id().clone(), found);
        Ok(found)
    }
}

/// The first task of each queue of another sandbox, by the state of the sandbox.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Elsewhere {
    /// The sandbox lives.
    pub lives: Vec<TaskId>,
    /// The tasks whose sandbox has ended.
    pub ended: Vec<TaskId>,
    /// This process cannot see whether the sandbox lives.
    pub unseen: Vec<TaskId>,
}

/// Some ids in words.
pub fn named(ids: &[TaskId]) -> String {
    let names: Vec<String> = ids.iter().take(MOST_NAMED).map(TaskId::to_string).collect();
    let more = if ids.len() > MOST_NAMED { " and others" } else { "" };
    names.join(", ") + more
}

/// Number of ids that a sentence names.
const MOST_NAMED: usize = 5;

/// Number of queues that are looked at. Each costs the record of one task.
const MOST_QUEUES: usize = 200;

/// Whether only a process of this sandbox would start the tasks queued here, and no such process is at work.
pub fn starts_only_here(app: &App) -> Result<bool, AppError> {
    if app.fleet.is_some() {
        return Ok(false);
    }
    let is_alone = config(app).contexts == Contexts::Same && is_private(own_context(app).0.sandbox());
    Ok(is_alone && app.inside.is_none() && !has_dispatcher(app)?)
}

/// The queues with pending tasks that this process may not start, and whether all pending tasks are in such queues.
pub fn elsewhere(app: &App) -> Result<(Elsewhere, bool), AppError> {
    let (mut found, mut is_all, mut sandboxes) = (Elsewhere::default(), true, Sandboxes::default());
    if !app.store.has_layout()? {
        return Ok((found, false));
    }
    let lanes = app.store.lanes_with_work()?;
    let mut queues: Vec<&String> = lanes.values().flat_map(BTreeMap::keys).collect();
    queues.sort_unstable();
    queues.dedup();
    is_all &= queues.len() <= MOST_QUEUES;
    for queue in queues.into_iter().take(MOST_QUEUES) {
        let has_sandbox = QueueName::parse(queue).is_some_and(|name| name.sandbox.is_some());
        if !has_sandbox || is_near(app, queue)? {
            is_all = false;
            continue;
        }
        // `doctor` reports a damaged record.
        let Some(task) = app.store.any_of_queue(queue)? else { continue };
        let Some(theirs) = &task.sandbox else { continue };
        match sandboxes.life(app, theirs)? {
            Life::Lives => found.lives.push(task.id),
            Life::Ended => found.ended.push(task.id),
            Life::Unseen => found.unseen.push(task.id),
        }
    }
    [&mut found.lives, &mut found.ended, &mut found.unseen].into_iter().for_each(|ids| ids.sort_unstable());
    let is_any = [&found.lives, &found.ended, &found.unseen].iter().any(|ids| !ids.is_empty());
    Ok((found, is_all && is_any))
}

/// Takes a task that was queued in another sandbox into the context of this process. It keeps its place, its attempts and
/// its key. `None` where this process may start the task anyway, or the task has started. Refused while its sandbox lives.
pub fn take_here(app: &App, id: TaskId) -> Result<Option<Task>, AppError> {
    let task = app.existing(id)?;
    let differences = context_differences(app, &task);
    let Some(theirs) = task.sandbox.as_ref().filter(|_| !differences.is_empty()) else { return Ok(None) };
    match task.status() {
        Status::Pending => {}
        Status::Waiting => {
            let message = format!("{id} waits for an event, and goes on in the sandbox in which it was queued");
            return Err(AppError::new(Code::SandboxLives, message)
                .hint("only a task that is pending can be taken into another context; nothing was changed")
                .next(format!("luzia explain {id}")));
        }
        _ => return Ok(None),
    }
    if Sandboxes::default().life(app, theirs)? == Life::Lives {
        let what: Vec<String> = differences.iter().map(crate::app::Difference::text).collect();
        let message = format!("the sandbox of {id} lives, and a pass there starts it (different: {})", what.join(", "));
        return Err(AppError::new(Code::SandboxLives, message)
            .hint("run `luzia dispatch` or a daemon in that sandbox; nothing was changed")
            .next(format!("luzia wait {id}")));
    }
    let (sandbox, limits) = own_context(app);
    let into = |task: &Task| Ok(Task { sandbox: Some(sandbox), limits: Some(limits), ..task.clone() });
    change_waiting(app, id, "taken_here", into).map(Some)
}

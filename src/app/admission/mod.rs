//! The conditions of a task's start apart from room in its lanes: its sandbox, its pause, the tasks before it, its turn, and the
//! tasks that lend it their lanes.
//! Nothing here starts a task. `Firsts` holds the first tasks in lanes that tasks of several users have, looked up once for many
//! tasks. `lenders_of` gives the tasks that lend a child their lanes: its parent, while a process waits for the child in the name
//! of the parent, then the parent of that parent, and so on. `situation_alone` gives the obstacles of a task apart from its lanes
//! and the tasks in line with it; `situation_queued` adds the tasks before it and the gates of its lanes. `is_near` and
//! `may_start` tell which queues and tasks this process may start: those of a sandbox that is compatible with its own, or all of
//! them if the configuration says so (`dispatch.contexts`, contract P9).

pub mod turns;

use crate::app::capacity::shut;
use crate::app::config_reload::{config, control};
use crate::app::{App, AppError};
use crate::model::config::Contexts;
use crate::model::lock::loan::{is_loan, root};
use crate::model::record::Shared;
use crate::model::{LaneName, Limits, NamedSandbox, QueueName, SandboxId, Status, Task, TaskId, Tier, Turn};
use crate::policy::admission::{Situation, narrow};
use crate::policy::context::{Difference, differences};
use crate::policy::hold::pause_of;
use crate::policy::lease::{Due, cut};
use crate::policy::loans::lenders;
use crate::store::{LockIndex, Place, Spool, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The first task of a tier in a key lane, for those that were asked for.
#[derive(Default)]
pub(crate) struct Firsts(BTreeMap<(LaneName, Tier), Option<Turn>>);

impl Firsts {
    /// The further key lanes of a task in which another task comes first, each with that task.
    pub(crate) fn before(&mut self, store: &Spool, task: &Task) -> Result<Vec<(LaneName, TaskId)>, StoreError> {
        let mut before = Vec::new();
        for lane in task.lanes.iter().filter(|lane| lane.is_key_lane()) {
            let place = (lane.clone(), task.priority.tier());
            let first = match self.0.get(&place) {
                Some(known) => *known,
                None => *self.0.entry(place).or_insert(store.first_in(lane, task.priority.tier())?),
            };
            let other = first.filter(|first| *first < task.turn());
            before.extend(other.map(|(_, (_, id))| (lane.clone(), id)));
        }
        Ok(before)
    }

    /// Forgets a task that has left the queue: another one comes first in its lanes.
    pub(crate) fn forget(&mut self, task: &Task) {
        for lane in &task.lanes {
            self.0.remove(&(lane.clone(), task.priority.tier()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

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

/// Obstacles of a task besides its lanes, its gates and other tasks: its pause, and another sandbox.
pub(crate) fn situation_alone(app: &App, task: &Task) -> Situation {
    let now = app.host.now();
    Situation {
        now,
        paused: pause_of(task, &control(app).holds, now),
        context: context_differences(app, task),
        no_grant: missing_grant(app, task),
        narrow: narrow(task, |lane| app.limit_for(task, lane)),
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
        shut: shut(app, task.all_lanes().iter(), true),
        ..situation_alone(app, task)
    }
}

/// The unfinished tasks that a task comes after. A task that is gone or damaged blocks no other task: a parked task is ended
/// because of it, and a queued task was let in before.
pub(crate) fn unfinished_before(app: &App, task: &Task) -> Vec<TaskId> {
    let is_open = |id: &TaskId| matches!(app.store.find(*id), Ok(Some((place, _))) if place != Place::Done);
    task.after.iter().copied().filter(is_open).collect()
}

/// The sandbox of this process, and the facts about others. Neither changes while the process lives.
#[derive(Default)]
pub(crate) struct Reach {
    own: Option<(Arc<NamedSandbox>, Shared<Limits>)>,
    known: BTreeMap<SandboxId, bool>,
    /// The sandbox that was compared last, and its differences: many tasks in turn share theirs.
    compared: Option<(Arc<NamedSandbox>, Vec<Difference>)>,
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
        (Some(theirs), Contexts::Same) => {
            let own = own_context(app).0;
            let mut reach = app.reach.borrow_mut();
            let compared = reach.compared.take().filter(|(known, _)| Arc::ptr_eq(known, theirs));
            let compare = || (Arc::clone(theirs), differences(own.sandbox(), theirs.sandbox()));
            reach.compared.insert(compared.unwrap_or_else(compare)).1.clone()
        }
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

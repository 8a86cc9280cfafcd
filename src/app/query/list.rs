//! `list`, `show` and `list-locks`: tasks and locks as they are.

use super::explain::first_obstacle;
use super::lanes::Named;
use crate::app::breaks::by_rule;
use crate::app::config_reload::config;
use crate::app::fleet::Sink;
use crate::app::processes::stopped_supervisor;
use crate::app::waits::as_seen;
use crate::app::{App, AppError};
use crate::model::{LaneName, Status, Task, TaskId, Timestamp};
use crate::policy::admission::Obstacle;
use crate::policy::staleness::judge;
use crate::store::{LineWaiter, LockView, Place, Started};
use std::collections::BTreeMap;

/// The tasks that are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Finished ones too.
    pub all: bool,
    /// Only these states, when there are any.
    pub states: Vec<Status>,
    /// Only of this user.
    pub user: Option<crate::model::Name>,
    /// Only with such a lane.
    pub lane: Option<Named>,
    /// Only of this project.
    pub project: Option<crate::model::Name>,
    /// Only with this label.
    pub label: Option<String>,
    /// Only with this key.
    pub key: Option<String>,
    /// Only tasks whose command has this text in it.
    pub command: Option<String>,
    /// Only tasks whose latest moment is this one or a later one.
    pub since: Option<Timestamp>,
    /// Only tasks whose latest moment is an earlier one.
    pub until: Option<Timestamp>,
    /// Only running ones that no process watches.
    pub stuck: bool,
}

impl Filter {
    /// Whether anything but the state of a task decides.
    fn is_narrow(&self) -> bool {
        *self != Self { all: self.all, states: self.states.clone(), ..Self::default() }
    }

    /// Whether a task matches by its record, apart from its state.
    fn means(&self, task: &Task) -> bool {
        let is = |wanted: &Option<String>, own: &Option<String>| wanted.is_none() || wanted == own;
        self.user.as_ref().is_none_or(|user| task.user == *user)
            && self.project.as_ref().is_none_or(|project| task.project.as_ref() == Some(project))
            && self
                .lane
                .as_ref()
                .is_none_or(|wanted| task.all_lanes().iter().any(|lane| wanted.means(&lane.to_string())))
            && is(&self.label, &task.label)
            && is(&self.key, &task.key)
            && self.command.as_ref().is_none_or(|text| task.command.join(" ").contains(text.as_str()))
            && self.since.is_none_or(|since| latest(task) >= since)
            && self.until.is_none_or(|until| latest(task) < until)
    }
}

/// The latest moment in the life of a task so far: its end, its start, or when it was queued.
pub fn latest(task: &Task) -> Timestamp {
    let over = task.outcome().map(|outcome| outcome.completed_at);
    let started = task.last_start.as_ref().map(|start| start.at);
    over.or(started).unwrap_or(task.created_at).max(task.created_at)
}

/// The tasks that a list did not show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unshown {
    /// There is no queue in the state directory yet.
    NoQueue,
    /// Tasks that the filters left out, perhaps.
    Filtered,
    /// This many tasks that are over.
    Finished(u64),
}

/// The reason why no process watches a running task. Derived when asked, never stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// The supervisor of the task is dead and its command lives on.
    Orphan,
    /// The supervisor of the task is dead.
    Dead,
    /// The supervisor of the task, the process of this number, is stopped (SIGSTOP).
    Stopped(u32),
    /// The wait of the task ran out at this moment, and nothing has followed for an hour (S1.44).
    Expired(Timestamp),
}

/// Time without a change after which a task whose wait ran out is stuck, in milliseconds.
const EXPIRED_MS: i64 = 3_600_000;

/// Everything known about one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The task.
    pub task: Task,
    /// The recorded start of the task, while it runs.
    pub started: Option<Started>,
    /// Why the task does not start, while it waits.
    pub obstacle: Option<Obstacle>,
    /// The reason why no process watches the task, while it runs.
    pub stuck: Option<Stuck>,
}

/// The waiters in lines, by their lanes.
pub type Waiting = BTreeMap<String, Vec<LineWaiter>>;

/// The waiters for a lane with `lock` or `acquire`, in their order.
pub fn waiters(app: &App, lane: &LaneName) -> Result<Vec<LineWaiter>, AppError> {
    if app.fleet.is_none() && app.store.has_layout()? { Ok(app.store.waiters(lane)?) } else { Ok(Vec::new()) }
}

/// The waiters for any lane with `lock` or `acquire`.
pub fn all_waiters(app: &App) -> Result<Waiting, AppError> {
    let lanes = if app.fleet.is_none() && app.store.has_layout()? { app.store.lanes_with_line()? } else { Vec::new() };
    let mut waiting = Waiting::new();
    for lane in lanes {
        let waiters = app.store.waiters(&lane)?;
        if !waiters.is_empty() {
            waiting.insert(lane.to_string(), waiters);
        }
    }
    Ok(waiting)
}

/// Gives every wanted task to `sink`: started ones first, then pending ones by number, then finished ones. A damaged record
/// is given as an error. `sink` returns whether to continue.
pub fn list(app: &App, filter: &Filter, sink: Sink) -> Result<(), AppError> {
    if app.fleet.is_none() && !app.store.has_layout()? {
        return Ok(());
    }
    let wants = |status: Status| {
        let is_asked =
            if filter.states.is_empty() { filter.all || !status.is_final() } else { filter.states.contains(&status) };
        is_asked && (!filter.stuck || matches!(status, Status::Running | Status::Waiting))
    };
    let is_wanted = |task: &Task| {
        wants(task.status()) && filter.means(task) && (!filter.stuck || matches!(stuck(app, task), Ok(Some(_))))
    };
    let mut seen = std::collections::HashSet::new();
    if let Some(fleet) = &app.fleet {
        return fleet.tasks(&wants, filter.user.as_ref(), &mut |found| {
            let wanted = !found.as_ref().is_ok_and(|task| !is_wanted(task) || !seen.insert(task.id));
            !wanted || sink(found)
        });
    }
    let wants_started = wants(Status::Running) || wants(Status::Waiting);
    let mut places = Vec::new();
    if wants_started {
        places.push(app.store.started_tasks());
    }
    if wants(Status::Pending) {
        places.push(app.store.pending_tasks(filter.user.as_ref())?);
    }
    if wants_started && wants(Status::Pending) {
        // The tasks that were started while the queue was listed.
        places.push(app.store.started_tasks());
    }
    if Status::ALL.into_iter().any(|status| status.is_final() && wants(status)) {
        places.push(app.store.done_tasks()?);
    }
    for found in places.into_iter().flatten().map(|found| found.map(|task| as_seen(app, task))) {
        // A task that moves while we look may be met twice.
        let wanted = !found.as_ref().is_ok_and(|task| !is_wanted(task) || !seen.insert(task.id));
        if wanted && !sink(found.map_err(AppError::from)) {
            return Ok(());
        }
    }
    Ok(())
}

/// The tasks that an empty list left out.
pub fn unshown(app: &App, filter: &Filter) -> Result<Unshown, AppError> {
    if app.fleet.is_some() {
        return Ok(Unshown::Filtered);
    }
    if !app.store.has_layout()? {
        return Ok(Unshown::NoQueue);
    }
    if filter.is_narrow() || !filter.states.is_empty() {
        return Ok(Unshown::Filtered);
    }
    Ok(Unshown::Finished(if filter.all { 0 } else { app.store.finished_count()? }))
}

/// Why no process watches a running task, by its record. `None` if the task does not run, or if a process watches it.
pub fn stuck(app: &App, task: &Task) -> Result<Option<Stuck>, AppError> {
    // The host of a task of several hosts watches it.
    if app.fleet.is_some() || !matches!(task.status(), Status::Running | Status::Waiting) {
        return Ok(None);
    }
    if app.run_dir.is_supervised(task.id)? {
        let stopped = stopped_supervisor(app, task.id)?.map(Stuck::Stopped);
        return Ok(match stopped {
            None if task.status() == Status::Waiting => expired(app, task.id)?,
            stopped => stopped,
        });
    }
    // The task may have come to its end since its record was read.
    let is_running = matches!(app.store.find(task.id)?, Some((Place::Running, _)));
    if !is_running || app.run_dir.is_supervised(task.id)? {
        return Ok(None);
    }
    Ok(Some(if app.run_dir.is_tree_locked(task.id)? { Stuck::Orphan } else { Stuck::Dead }))
}

/// The moment since which the wait of a task is over, if nothing has followed.
fn expired(app: &App, id: TaskId) -> Result<Option<Stuck>, AppError> {
    let Some(open) = app.store.open_wait(id)? else { return Ok(None) };
    let Some(until) = Timestamp::parse(&open.until) else { return Ok(None) };
    let beat = app.store.last_beat(id)?.map(|beat| beat.at);
    let is_old = |at: Timestamp| app.host.now().ms_since(at) >= EXPIRED_MS;
    Ok((is_old(until) && beat.is_none_or(is_old)).then_some(Stuck::Expired(until)))
}

/// Everything known about a task.
pub fn show(app: &App, id: TaskId) -> Result<Shown, AppError> {
    let task = app.existing(id)?;
    let started =
        if task.status() == Status::Running && app.fleet.is_none() { app.store.started(id)?.flatten() } else { None };
    let waits = matches!(task.status(), Status::Pending | Status::Running);
    let obstacle = if waits { first_obstacle(app, &task)? } else { None };
    let task = as_seen(app, task);
    let stuck = stuck(app, &task)?;
    Ok(Shown { task, started, obstacle, stuck })
}

/// The supervisor of a running task.
pub fn supervisor_pid(app: &App, task: &Task) -> Result<Option<u32>, AppError> {
    if app.fleet.is_some() || !matches!(task.status(), Status::Running | Status::Waiting) {
        return Ok(None);
    }
    let started = app.store.started(task.id)?.flatten().filter(|started| !started.is_elsewhere());
    Ok(started.map(|started| started.supervisor.pid))
}

/// Every lock, in the order of their last refresh.
pub fn locks(app: &App) -> Result<Vec<LockView>, AppError> {
    if let Some(fleet) = &app.fleet {
        return fleet.holds(None);
    }
    if !app.store.has_locks()? {
        return Ok(Vec::new());
    }
    let views = app.store.all_locks(&|lane| config(app).lock_timeout_ms(lane), judge)?;
    Ok(views.into_iter().map(|view| by_rule(app, view)).collect())
}

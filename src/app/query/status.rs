//! `status`: the queue, the slots and the locks at a glance.

use crate::app::admission::has_dispatcher;
use crate::app::breaks::by_rule;
use crate::app::config_reload::{config, control};
use crate::app::fleet::lanes::holds;
use crate::app::fleet::{Fleet, FleetCounts, FleetHost};
use crate::app::query::explain;
use crate::app::query::explain::Front;
use crate::app::sandboxes::Elsewhere;
use crate::app::waits::as_seen;
use crate::app::{App, AppError, sandboxes};
use crate::model::config::SlotsFrom;
use crate::model::control::Hold;
use crate::model::lock::loan;
use crate::model::{LaneName, Status, Task, TaskId, Timestamp};
use crate::policy::staleness::judge;
use crate::store::{Counts, Head, LockView};
use std::collections::BTreeMap;

/// Slots and their use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Number of slots.
    pub max: u32,
    /// The source of that number.
    pub from: SlotsFrom,
    /// Slots held by living tasks.
    pub used: u32,
    /// Running tasks by project.
    pub by_project: BTreeMap<String, u64>,
    /// Running tasks by user.
    pub by_user: BTreeMap<String, u64>,
}

/// Everything at a glance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overview {
    /// Number of waiting tasks, by tier.
    pub counts: Counts,
    /// The pauses in force.
    pub pauses: Vec<Hold>,
    /// The slots.
    pub capacity: Capacity,
    /// The locks of all lanes but global that were looked at.
    pub locks: Vec<LockView>,
    /// Number of further locks.
    pub unseen_locks: usize,
    /// The tasks that run or wait for an event.
    pub active: Vec<Task>,
    /// Number of records that were set aside.
    pub set_aside: usize,
    /// Whether a process is at work that would start pending tasks.
    pub has_dispatcher: bool,
    /// The front of the queue.
    pub front: Front,
    /// The tasks that were queued in other sandboxes, and whether nothing else is pending.
    pub elsewhere: (Elsewhere, bool),
    /// The pending task that has waited longest, and the moment since which it is due.
    pub oldest: Option<(TaskId, Timestamp)>,
    /// Ends of tasks in the last hour.
    pub recent: Recent,
}

/// Ends of tasks in a period, by the event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recent {
    /// Completed.
    pub completed: u64,
    /// Failed, or ended by a time limit.
    pub failed: u64,
    /// Cancelled.
    pub cancelled: u64,
}

const HOUR_MS: i64 = 3_600_000;

fn is_active(status: Status) -> bool {
    matches!(status, Status::Running | Status::Waiting)
}

impl Capacity {
    fn count(&mut self, task: &Task) {
        *self.by_user.entry(task.user.to_string()).or_insert(0) += 1;
        if let Some(project) = &task.project {
            *self.by_project.entry(project.to_string()).or_insert(0) += 1;
        }
    }
}

/// The slots and their use.
pub fn capacity(app: &App) -> Result<Capacity, AppError> {
    Ok(capacity_and_active(app)?.0)
}

fn capacity_and_active(app: &App) -> Result<(Capacity, Vec<Task>), AppError> {
    if let Some(fleet) = &app.fleet {
        return capacity_of_hosts(&**fleet);
    }
    let config = config(app);
    let (by_project, by_user) = (BTreeMap::new(), BTreeMap::new());
    let mut capacity = Capacity { max: config.slots_max, from: config.slots_from, used: 0, by_project, by_user };
    let mut active = Vec::new();
    if !app.store.has_layout()? {
        return Ok((capacity, active));
    }
    // `doctor` reports a damaged record.
    for task in app.store.started_tasks().filter_map(Result::ok).filter(|task| is_active(task.status())) {
        capacity.count(&task);
        active.push(as_seen(app, task));
    }
    let holders = app.holders(&LaneName::global())?;
    let living = holders.iter().filter(|view| !view.verdict.is_stale());
    capacity.used = loan::holders(living.map(|view| view.slot));
    Ok((capacity, active))
}

/// The moment since which a pending task has waited: since it was queued, or due.
fn waits_since(app: &App, head: &Head) -> Option<(TaskId, Timestamp)> {
    // `doctor` reports a damaged record.
    app.store.peek(head).map(|task| (head.id, task.due_since()))
}

/// The slots of all living hosts and their use.
fn capacity_of_hosts(fleet: &dyn Fleet) -> Result<(Capacity, Vec<Task>), AppError> {
    let mut active = Vec::new();
    // `list` reports a damaged record.
    fleet.tasks(&is_active, None, &mut |found| {
        active.extend(found.ok());
        true
    })?;
    let living: Vec<FleetHost> = fleet.hosts()?.into_iter().filter(|host| host.is_alive).collect();
    let used = living.iter().fold(0_u32, |sum, host| sum.saturating_add(u32::try_from(host.tasks).unwrap_or(u32::MAX)));
    let max = living.iter().fold(used, |sum, host| sum.saturating_add(host.free));
    let from = SlotsFrom::Hosts(u32::try_from(living.len()).unwrap_or(u32::MAX));
    let (by_project, by_user) = (BTreeMap::new(), BTreeMap::new());
    let mut capacity = Capacity { max, from, used, by_project, by_user };
    active.iter().for_each(|task| capacity.count(task));
    Ok((capacity, active))
}

/// All hosts at a glance.
fn overview_of_hosts(fleet: &dyn Fleet) -> Result<Overview, AppError> {
    let (capacity, active) = capacity_of_hosts(fleet)?;
    let FleetCounts { waiting: counts, oldest, recent: [completed, failed, cancelled] } = fleet.counts()?;
    let oldest = oldest.map(|id| fleet.find(id)).transpose()?.flatten();
    let is_living = matches!(capacity.from, SlotsFrom::Hosts(1..));
    let front = match &oldest {
        Some(task) => fleet.obstacle(task)?.map(|obstacle| (task.id, obstacle.word())),
        None => None,
    };
    Ok(Overview {
        counts,
        pauses: holds(fleet)?,
        capacity,
        locks: fleet.holds(None)?,
        unseen_locks: 0,
        active,
        set_aside: 0,
        has_dispatcher: is_living,
        front: Front { first: front, ..Front::default() },
        elsewhere: (Elsewhere::default(), false),
        oldest: oldest.map(|task| (task.id, task.due_since())),
        recent: Recent { completed, failed, cancelled },
    })
}

/// Ends of tasks since a moment.
fn recent(app: &App, since: Timestamp) -> Result<Recent, AppError> {
    let mut recent = Recent::default();
    app.store.visit_events(since, &mut |event| {
        let kind = event.line.get("event").and_then(|kind| kind.as_str());
        let status = || event.line.get("data")?.get("status")?.as_str().and_then(Status::parse);
        match (kind, if kind == Some("finished") { status() } else { None }) {
            (Some("finished"), Some(Status::Completed)) => recent.completed += 1,
            (Some("finished"), Some(Status::Failed | Status::Timeout)) => recent.failed += 1,
            (Some("finished"), Some(Status::Cancelled)) => recent.cancelled += 1,
            _ => {}
        }
        true
    })?;
    Ok(recent)
}

/// Everything at a glance, with a look at `most_locks` locks of users at most.
pub fn overview(app: &App, most_locks: usize) -> Result<Overview, AppError> {
    if let Some(fleet) = &app.fleet {
        return overview_of_hosts(&**fleet);
    }
    let has_layout = app.store.has_layout()?;
    let (capacity, active) = capacity_and_active(app)?;
    let timeout_ms = |lane: &LaneName| config(app).lock_timeout_ms(lane);
    let (locks, unseen_locks) =
        if app.store.has_locks()? { app.store.shown_locks(most_locks, &timeout_ms, judge)? } else { (Vec::new(), 0) };
    let counts = if has_layout { app.store.counts()? } else { Counts::default() };
    Ok(Overview {
        oldest: counts.oldest.as_ref().and_then(|head| waits_since(app, head)),
        recent: if has_layout { recent(app, app.host.now().plus_ms(-HOUR_MS))? } else { Recent::default() },
        counts,
        pauses: control(app).standing(app.host.now()).cloned().collect(),
        capacity,
        locks: locks.into_iter().map(|view| by_rule(app, view)).collect(),
        unseen_locks,
        active,
        set_aside: if has_layout { app.store.set_aside_records()?.len() } else { 0 },
        has_dispatcher: has_layout && has_dispatcher(app)?,
        front: explain::front(app)?,
        elsewhere: sandboxes::elsewhere(app)?,
    })
}

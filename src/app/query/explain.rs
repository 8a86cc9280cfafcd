//! `explain`: the reasons why a task or a lane waits. Admission returns every reason, by the same function that dispatch
//! asks.

use crate::app::admission::turns::{Known, first_of_user};
use crate::app::admission::{
    Firsts, has_dispatcher, has_waiting_dispatcher, is_lent_by, is_near, lenders_of, situation_alone, unfinished_before,
};
use crate::app::capacity::{Bars, bars, limited_until, occupied, shut};
use crate::app::config_reload::config;
use crate::app::pass::recovery::blindness_of;
use crate::app::processes::{is_own_task, stopped_supervisor};
use crate::app::query::cycles::{cycle_in, cycle_of};
use crate::app::query::details::{evidence_of, is_short, standstill};
use crate::app::query::lanes::{MOST_COUNTED, lanes_of};
use crate::app::query::order::{Order, head};
use crate::app::query::{list, shared};
use crate::app::sandboxes::Sandboxes;
use crate::app::waits::{as_seen, is_resume_ready, lanes_wanted};
use crate::app::{App, AppError};
use crate::model::evidence::Reason;
use crate::model::lock::loan::{Lent, lendable, lent};
use crate::model::{Identity, LaneName, LockKind, Member, Status, Target, Task, TaskId, Tier, Timestamp};
use crate::policy::admission::{Holder, LaneNow, Obstacle, Situation, before_lanes, obstacles};
use crate::policy::witness::Blind;
use crate::store::{LineWaiter, LockIndex, LockView, Place, QueueIndex};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Number of lanes with work that are searched for a task that only lacks a pass.
const LANES_LOOKED_AT: usize = 32;

/// The answer for a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskWhy {
    /// The task.
    pub task: Task,
    /// Every reason why the task does not start, in the order in which dispatch meets them.
    pub obstacles: Vec<Obstacle>,
    /// The lanes of the task as they are.
    pub lanes: Vec<LaneNow>,
    /// For a task that is neither pending nor over.
    pub supervisor: Option<Supervisor>,
}

/// The supervisor of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supervisor {
    /// The process of the supervisor, once it has started the command.
    pub pid: Option<u32>,
    /// Whether the supervisor lives.
    pub is_alive: bool,
    /// Whether the supervisor is stopped (SIGSTOP): then no process watches the task.
    pub is_stopped: bool,
    /// Why a dead one's task cannot be recovered from here.
    pub blind: Option<Blind>,
}

/// The answer for a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneWhy {
    /// The lane as it is.
    pub lane: LaneNow,
    /// Number of tasks that wait for their turn in the lane; 0 for a lane without an order of its own.
    pub pending: u64,
    /// The first task that waits for the lane.
    pub first: Option<TaskId>,
    /// The reasons why that first task waits.
    pub obstacles: Vec<Obstacle>,
    /// The waiters with `lock` or `acquire`.
    pub waiters: Vec<LineWaiter>,
    /// The bars of the lane, apart from its holders.
    pub bars: Bars,
    /// The members of a ring of waits that keeps it from becoming free.
    pub ring: Option<Vec<Member>>,
}

/// The front of the queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Front {
    /// The first task at the head of a lane, in the best tier that has one, that waits for something, and the word for that.
    pub first: Option<(TaskId, &'static str)>,
    /// A task that could start, but that no running process would start: running tasks make a pass only when they end.
    pub needs_pass: Option<TaskId>,
    /// Whether the tasks that were looked at are paused, so that no pass starts them.
    pub is_paused: bool,
}

/// The answer of `explain`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// For a task.
    Task(Box<TaskWhy>),
    /// For a user or a lane.
    Lane(Box<LaneWhy>),
}

/// The wait of a task that would be tried now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// For nothing, or for what all tasks of its user wait for: the lane of the user, a slot, a pass.
    Shared,
    /// For a capacity lane, so that others of its user may pass it.
    Capacity,
    /// For something else, which keeps the others of its tier as well.
    Own,
}

/// The task of a record that a newer version wrote, and what is known of the record.
type Newer = Option<(TaskId, String)>;

/// Finds the reasons why tasks and lanes wait, as of the moment at which this was made. Facts that many tasks share are
/// looked up once.
pub struct Reasons<'a> {
    pub(super) app: &'a App,
    pub(super) locks: LockIndex,
    /// The order of the next pass, once it was needed.
    pub(super) order: Option<Order>,
    lanes: BTreeMap<LaneName, LaneNow>,
    /// The queues that have pending tasks, once they were needed.
    pub(super) index: Option<Rc<QueueIndex>>,
    /// By queue and tier: the order of the tasks that take turns with those of the queue.
    pub(super) turns: BTreeMap<(String, Tier), Rc<Known>>,
    /// By queue and tier: the first record, if this version cannot read it.
    newer: BTreeMap<(String, Tier), Newer>,
    firsts: Firsts,
    /// The tasks that the next pass would try, and their waits.
    pub(super) waits: BTreeMap<TaskId, Wait>,
    /// The waits of tasks that the next pass would try. A start that would prevent the start of another task counts as a
    /// wait.
    pub(super) tried_waits: BTreeMap<TaskId, Wait>,
    /// Whether a dispatcher runs, and whether one runs or a task does.
    has_dispatcher: [Option<bool>; 2],
    sandboxes: Sandboxes,
}

impl Reasons<'_> {
    /// The first reason why a pending task does not start, or a running one waits for space, for the REASON column; `None`
    /// when it would start at the next pass, or runs.
    pub fn first_obstacle(&mut self, task: &Task) -> Result<Option<Obstacle>, AppError> {
        if let Some(fleet) = &self.app.fleet {
            return fleet.obstacle(task);
        }
        if task.status() == Status::Running {
            return standstill(self.app, task);
        }
        let ahead = self.ahead_now(task)?;
        let alone = self.situation_before_lanes(task, ahead)?;
        // Most tasks of a long list wait for others of their user, and their lanes need no look.
        if let Some(first) = before_lanes(task, &alone).next() {
            return Ok(Some(first));
        }
        let situation = self.situation_with_lanes(task, alone)?;
        Ok(obstacles(task, &situation).next())
    }

    /// For a task that is not queued: the number of tasks that would come before it, and every reason why it would not start.
    pub(crate) fn preview(&mut self, task: &Task) -> Result<(u64, Vec<Obstacle>), AppError> {
        let situation = Situation { booked: self.booked_before_new(task)?, ..self.situation(task)? };
        Ok((situation.ahead, obstacles(task, &situation).collect()))
    }

    /// The facts that admission needs about a pending task.
    fn situation(&mut self, task: &Task) -> Result<Situation, AppError> {
        let ahead = self.ahead_now(task)?;
        let alone = self.situation_before_lanes(task, ahead)?;
        self.situation_with_lanes(task, alone)
    }

    /// Number of tasks for which a pending task waits now; 0 for a task that has no turn yet, or whose user's lane is lent to
    /// it.
    fn ahead_now(&mut self, task: &Task) -> Result<u64, AppError> {
        let unfinished = unfinished_before(self.app, task);
        if is_parked(task, &unfinished, self.app.host.now()) {
            return Ok(0);
        }
        let lenders = lenders_of(self.app, task)?;
        let goes_before = task.takes_user_lane && is_lent_by(&lenders)(&LaneName::user(&task.user));
        if goes_before { Ok(0) } else { self.ahead_of(task) }
    }

    /// Completes `situation_before_lanes` with the lanes, and with whether a process would start the task.
    fn situation_with_lanes(&mut self, task: &Task, alone: Situation) -> Result<Situation, AppError> {
        let is_parked = is_parked(task, &alone.unfinished, alone.now);
        let booked = if is_parked { None } else { self.booked_before(task)? };
        let mut situation = Situation { booked, ..self.with_lanes(task, alone)? };
        // The task may wait for a running task, whose supervisor makes a pass at its end. A task that waits for nothing else
        // needs a process that makes a pass now. No event reports an idle host, or a port that becomes free: only a process
        // that looks again by itself starts the task then.
        let first = obstacles(task, &situation).next();
        let waits =
            first.is_some_and(|first| !matches!(first, Obstacle::HostBusy { .. } | Obstacle::SlotOccupied { .. }));
        situation.lacks_dispatcher = !self.has_dispatcher(waits)?;
        Ok(situation)
    }

    /// Like `situation`, with so many tasks that come before it, if a process would start it.
    pub(super) fn situation_after(&mut self, task: &Task, ahead: u64) -> Result<Situation, AppError> {
        let alone = self.situation_before_lanes(task, ahead)?;
        self.with_lanes(task, alone)
    }

    /// The facts about a pending task that come before those of its lanes, with so many tasks that come before it.
    fn situation_before_lanes(&mut self, task: &Task, ahead: u64) -> Result<Situation, AppError> {
        let newer = if ahead > 0 { self.newer_before(task)? } else { None };
        let mut alone = situation_alone(self.app, task);
        if let (Some(theirs), false) = (&task.sandbox, alone.context.is_empty()) {
            alone.origin = (self.sandboxes.life(self.app, theirs)?, is_own_task(self.app, task));
        }
        Ok(Situation { unfinished: unfinished_before(self.app, task), newer, ahead, ..alone })
    }

    /// Adds the lanes of a task, as they are, to the facts that come before them.
    fn with_lanes(&mut self, task: &Task, alone: Situation) -> Result<Situation, AppError> {
        let lenders = lenders_of(self.app, task)?;
        let is_lent = is_lent_by(&lenders);
        let mut first_in_lane = self.firsts.before(&self.app.store, task)?;
        first_in_lane.retain(|(lane, _)| !is_lent(lane));
        let (all_lanes, mut lanes) = (task.all_lanes(), self.lanes_now(task)?);
        let kept = self.app.kept_for_others(&all_lanes);
        let ids: Vec<TaskId> = lenders.iter().map(|task| task.id).collect();
        // A claim takes the lanes first and moves the record then: a task is not in its own way.
        let own = task.id.to_string();
        for lane in &mut lanes {
            let keeps = !kept.is_empty() && lane.lane.is_global();
            lane.kept = if keeps { self.app.store.kept_in(&self.locks, &kept)? } else { 0 };
            lane.holders.retain(|holder| holder.name.as_deref() != Some(own.as_str()));
            let living = lane.holders.iter().filter(|holder| !holder.verdict.is_stale());
            let living = living.map(|holder| (holder.slot, holder.name.as_deref().and_then(TaskId::parse)));
            (lane.lent, lane.wanted) = (lent(living.clone(), &ids), task.slots_of(&lane.lane));
            if let Lent::By(_) = lane.lent {
                lane.wanted = lane.wanted.saturating_sub(lendable(living, &ids));
            }
        }
        let shut = shut(self.app, all_lanes.iter().filter(|lane| !is_lent(lane)), false);
        Ok(Situation { first_in_lane, shut, lanes, ..alone })
    }

    /// The reasons why a waiting task that has what it waited for does not go on: no task comes before it, but its lanes may
    /// be full.
    fn of_resumed(&mut self, task: &Task) -> Result<Vec<Obstacle>, AppError> {
        if !is_resume_ready(self.app, task.id)? {
            return Ok(Vec::new());
        }
        let situation = self.situation(task)?;
        let mut situation = Situation { ahead: 0, newer: None, first_in_lane: Vec::new(), ..situation };
        if let Some(wanted) = lanes_wanted(self.app, task.id) {
            // A pause does not keep a task that has a process from going on.
            (situation.paused, situation.lacks_dispatcher) = (None, false);
            situation.lanes.retain(|now| wanted.contains(&now.lane));
        }
        Ok(obstacles(task, &situation).collect())
    }

    /// The record of a newer version that is first in the lane of a task's user, for a task that does not come first.
    fn newer_before(&mut self, task: &Task) -> Result<Newer, AppError> {
        let place = (task.queue(), task.priority.tier());
        if let Some(known) = self.newer.get(&place) {
            return Ok(known.clone());
        }
        let first = self.turns.get(&place).and_then(|known| known.first());
        let head = match first.map(|first| head(&place.0, first)) {
            Some(head) => Some(head),
            None => self.app.store.head(place.1, &place.0)?,
        };
        // A task whose wait is known has a record that this version reads.
        let unread = head.filter(|head| !self.tried_waits.contains_key(&head.id));
        let newer = unread.and_then(|head| Some((head.id, self.app.store.newer_head(&head)?.to_string())));
        self.newer.insert(place, newer.clone());
        Ok(newer)
    }

    fn lanes_now(&mut self, task: &Task) -> Result<Vec<LaneNow>, AppError> {
        task.all_lanes().iter().map(|lane| self.lane_now(lane)).collect()
    }

    fn lane_now(&mut self, lane: &LaneName) -> Result<LaneNow, AppError> {
        if let Some(known) = self.lanes.get(lane) {
            return Ok(known.clone());
        }
        let views = self.app.holders_in(&self.locks, lane)?;
        let holders = views.iter().map(|view| holder_of(self.app, view)).collect();
        let limit = config(self.app).limit(lane);
        let rate = config(self.app).rate(lane);
        let until = limited_until(self.app, lane)?;
        let occupied = occupied(self.app, lane, &views);
        let now = LaneNow { limited: rate.zip(until), occupied, ..LaneNow::new(lane.clone(), limit, holders) };
        self.lanes.insert(lane.clone(), now.clone());
        Ok(now)
    }

    fn has_dispatcher(&mut self, or_running_task: bool) -> Result<bool, AppError> {
        let place = &mut self.has_dispatcher[usize::from(or_running_task)];
        let known = match (*place, or_running_task) {
            (Some(known), _) => known,
            (None, true) => has_dispatcher(self.app)?,
            (None, false) => self.app.store.has_layout()? && has_waiting_dispatcher(self.app)?,
        };
        *place = Some(known);
        Ok(known)
    }
}

/// Looks at the locks once, for the reasons of any number of tasks.
pub fn reasons(app: &App) -> Result<Reasons<'_>, AppError> {
    let locks = if app.store.has_locks()? { app.store.lock_index()? } else { LockIndex::default() };
    Ok(Reasons {
        app,
        locks,
        order: None,
        lanes: BTreeMap::new(),
        index: None,
        turns: BTreeMap::new(),
        newer: BTreeMap::new(),
        firsts: Firsts::default(),
        waits: BTreeMap::new(),
        tried_waits: BTreeMap::new(),
        has_dispatcher: [None; 2],
        sandboxes: Sandboxes::default(),
    })
}

/// Whether a pending task has no turn yet: it is not due, is held, or comes after these unfinished tasks.
fn is_parked(task: &Task, unfinished: &[TaskId], now: Timestamp) -> bool {
    task.due_at.is_some_and(|at| at > now) || task.is_held(now) || !unfinished.is_empty()
}

/// As [`Reasons::first_obstacle`], for one task.
pub fn first_obstacle(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    reasons(app)?.first_obstacle(task)
}

/// Finds why a task, or the first task in a lane, does not run.
pub fn explain(app: &App, target: &Target) -> Result<Why, AppError> {
    if let Some(fleet) = &app.fleet {
        return shared::explain(app, &**fleet, target);
    }
    match target {
        Target::Task(id) => explain_task(app, *id, &mut reasons(app)?).map(|why| Why::Task(Box::new(why))),
        Target::Lane(lane) => explain_lane(app, lane).map(|why| Why::Lane(Box::new(why))),
    }
}

/// Every reason why a pending task of this host does not start.
pub(super) fn of_pending(app: &App, task: &Task) -> Result<Vec<Obstacle>, AppError> {
    let situation = reasons(app)?.situation(task)?;
    Ok(obstacles(task, &situation).collect())
}

fn explain_task(app: &App, id: TaskId, reasons: &mut Reasons<'_>) -> Result<TaskWhy, AppError> {
    let task = app.existing(id)?;
    if task.status() != Status::Pending {
        if task.status().is_final() {
            return Ok(TaskWhy { task, obstacles: Vec::new(), lanes: Vec::new(), supervisor: None });
        }
        if task.wait().is_some() && !app.run_dir.is_supervised(id)? {
            let obstacles = reasons.of_resumed(&task)?;
            return Ok(TaskWhy { lanes: reasons.lanes_now(&task)?, task, obstacles, supervisor: None });
        }
        let pid = app.store.started(id)?.flatten().map(|started| started.supervisor.pid);
        let is_alive = app.run_dir.is_supervised(id)?;
        if !is_alive && app.existing(id)?.status() != task.status() {
            // The task came to its end meanwhile.
            return explain_task(app, id, reasons);
        }
        let is_stopped = stopped_supervisor(app, id)?.is_some();
        let blind = if is_alive || pid.is_none() { None } else { blindness_of(app, &task)? };
        let supervisor = Some(Supervisor { pid, is_alive, is_stopped, blind });
        let lanes = reasons.lanes_now(&task)?;
        let cycle = cycle_of(app, id)?.map(|members| Obstacle::Cycle { members });
        let ready = reasons.of_resumed(&task)?;
        let obstacles = cycle.into_iter().chain(standstill(app, &task)?).chain(ready).collect();
        return Ok(TaskWhy { task: as_seen(app, task), obstacles, lanes, supervisor });
    }
    let situation = reasons.situation(&task)?;
    let cycle = cycle_of(app, id)?.map(|members| Obstacle::Cycle { members });
    let obstacles = cycle.into_iter().chain(obstacles(&task, &situation)).collect();
    Ok(TaskWhy { task, obstacles, lanes: situation.lanes, supervisor: None })
}

fn explain_lane(app: &App, lane: &LaneName) -> Result<LaneWhy, AppError> {
    let mut reasons = reasons(app)?;
    let now = reasons.lane_now(lane)?;
    let bars = bars(app, lane, &app.holders_in(&reasons.locks, lane)?)?;
    let mut why =
        LaneWhy { lane: now, pending: 0, first: None, obstacles: Vec::new(), waiters: Vec::new(), bars, ring: None };
    if !app.store.has_layout()? {
        return Ok(why);
    }
    why.waiters = list::waiters(app, lane)?;
    if lane.is_capacity_lane() {
        (why.pending, why.first) = waiting_for(app, lane)?;
    } else {
        why.pending = if lane.is_user() { app.store.lane_depth(lane)? } else { app.store.waiting_in(lane)? };
        let first = |tier| match lane.is_user() {
            true => first_of_user(app, lane.key(), tier),
            false => Ok(app.store.first_in(lane, tier)?.map(|(_, (_, id))| id)),
        };
        why.first = Tier::ALL.into_iter().map(first).find_map(Result::transpose).transpose()?;
    }
    if let Some(first) = why.first {
        why.obstacles = explain_task(app, first, &mut reasons)?.obstacles;
    }
    why.obstacles.retain(|obstacle| !matches!(obstacle, Obstacle::Cycle { .. }));
    why.ring = cycle_in(app, lane)?;
    Ok(why)
}

/// Number of tasks that wait for a lane without an order of its own, of the first that wait at all, and the one whose turn comes first.
fn waiting_for(app: &App, lane: &LaneName) -> Result<(u64, Option<TaskId>), AppError> {
    let (mut count, mut first) = (0, None);
    for task in app.store.pending_tasks(None)?.take(MOST_COUNTED).filter_map(Result::ok) {
        let is_due = |id: TaskId| app.find(id).map(|found| found.is_some_and(|(place, _)| place == Place::Pending));
        if !lanes_of(&task).contains(lane) || !is_due(task.id)? {
            continue;
        }
        let place = task.group.as_ref().map_or(task.id, |group| group.first);
        let turn = (task.priority.tier().index(), task.priority.number(), place, task.id);
        count += 1;
        first = first.into_iter().chain([turn]).min();
    }
    Ok((count, first.map(|(_, _, _, id)| id)))
}

/// A lock as admission sees it.
pub fn holder_of(app: &App, view: &LockView) -> Holder {
    let record = view.record();
    let process = record.filter(|record| matches!(record.kind, LockKind::Task | LockKind::Process));
    let process = process.and_then(|record| {
        Some(Identity { pid: record.pid?, start: record.pid_start?, boot_id: record.boot_id.clone()? })
    });
    Holder {
        slot: view.slot,
        name: view.holder().map(str::to_owned),
        shown: view.shown(),
        who: record.map(|record| record.who.clone()).unwrap_or_default(),
        lock_id: view.lock_id().map(str::to_owned),
        since: record.and_then(|record| record.acquired_at),
        expires_at: record.and_then(|record| record.expires_at),
        age_ms: view.age_ms,
        verdict: view.verdict.clone(),
        is_short: is_short(app, view),
        left_behind: matches!(view.verdict.why(), Reason::LeftBehind | Reason::HostLives | Reason::HostSilent)
            .then(|| evidence_of(app, view)),
        stopped: process.filter(|process| app.host.is_stopped(process)).map(|process| process.pid),
    }
}

/// The front of the queue, as far as a few lanes show it.
pub fn front(app: &App) -> Result<Front, AppError> {
    let mut front = Front::default();
    if !app.store.has_layout()? {
        return Ok(front);
    }
    let has_dispatcher = has_waiting_dispatcher(app)?;
    let mut reasons = reasons(app)?;
    let lanes = app.store.lanes_with_work()?;
    let stems = lanes.iter().flat_map(|(tier, lanes)| lanes.keys().map(move |stem| (*tier, stem)));
    let mut are_paused = None;
    for (tier, stem) in stems.take(LANES_LOOKED_AT) {
        if !is_near(app, stem)? {
            continue;
        }
        // The pass that meets a damaged record reports it.
        let Some(task) = app.store.head(tier, stem)?.and_then(|head| app.store.peek(&head)) else { continue };
        let obstacle = reasons.first_obstacle(&task)?;
        let is_paused = matches!(obstacle, Some(Obstacle::Paused { .. }));
        are_paused = Some(are_paused.unwrap_or(true) && is_paused);
        if let (None, Some(obstacle)) = (&front.first, &obstacle) {
            front.first = Some((task.id, obstacle.word()));
        }
        if obstacle == Some(Obstacle::NoDispatcher) {
            front.needs_pass = Some(task.id);
        }
        if front.first.is_some() && (has_dispatcher || front.needs_pass.is_some()) {
            break;
        }
    }
    front.is_paused = are_paused.unwrap_or(false);
    Ok(front)
}

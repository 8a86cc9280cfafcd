//! Tasks and `luzia lock`s that wait for each other for ever: nested runs, waits and locks whose lanes are held by those that
//! wait for them. The rule is `policy::cycles`; this file finds the waits.

use crate::app::admission::{lenders_if_waited, lenders_of, may_borrow, unfinished_before};
use crate::app::config_reload::config;
use crate::app::processes::is_in_tree;
use crate::app::query::list;
use crate::app::{App, AppError, Code, lane_word};
use crate::model::lock::loan::{Lent, holders, lendable, lent, root};
use crate::model::process::Probe;
use crate::model::{LaneName, LockKind, Member, Status, Task, TaskId};
use crate::policy::cycles::{Need, Waits};
use crate::store::{Lending, LockIndex, LockView, Request};
use std::collections::{BTreeMap, BTreeSet};

/// Number of queued tasks that are looked at.
const MOST: usize = 1000;

/// The slots of a lane that living holders have, with those whose own waits are known.
type Slots = Vec<(u32, Option<Member>)>;

/// Everything that has to be known of the tasks, at one moment.
struct World<'a> {
    app: &'a App,
    locks: LockIndex,
    queued: Vec<Task>,
    /// The slots of lanes with their holders.
    living: BTreeMap<LaneName, Slots>,
}

/// A wait that has not begun: for tasks, or for lanes.
#[derive(Clone, Copy, Default)]
struct New<'a> {
    /// A task that would be queued and waited for; its number is 0.
    task: Option<&'a Task>,
    /// The members that would wait.
    members: &'a [Member],
    /// A new wait for all of these tasks.
    tasks: &'a [TaskId],
    /// A new wait for some slots of these lanes.
    lanes: &'a [(LaneName, u32)],
}

/// The members of a ring that keeps a task from its end.
pub fn cycle_of(app: &App, id: TaskId) -> Result<Option<Vec<Member>>, AppError> {
    Ok(waits(app, New::default())?.cycle(Member::Task(id)))
}

/// Like `cycle_of`, for a task that would be queued and waited for; its number is 0. The `luzia lock`s around this process would
/// wait for it as well. `None` where nothing is around this process.
pub(crate) fn cycle_with(app: &App, new: &Task) -> Result<Option<Vec<Member>>, AppError> {
    let members = locks_around(app)?;
    if members.is_empty() && !new.waited_for {
        return Ok(None);
    }
    let new_wait = New { task: Some(new), members: &members, tasks: &[new.id], ..New::default() };
    Ok(waits(app, new_wait)?.cycle(Member::Task(new.id)))
}

/// Records that the `luzia lock`s around this process wait for tasks, as long as the result is kept. A wait that closes a ring
/// is refused: of two that begin at once, at least one sees the other.
pub(crate) fn await_in_locks(app: &App, ids: &[TaskId]) -> Result<Vec<Lending>, AppError> {
    await_as(app, &locks_around(app)?, ids)
}

/// Like `await_in_locks`, for the task around this process, too. A process that only looks records nothing for a task.
pub(crate) fn await_around(app: &App, ids: &[TaskId]) -> Result<Vec<Lending>, AppError> {
    let mut members = locks_around(app)?;
    if let Some(task) = app.inside.as_ref().map(|inside| inside.task)
        && is_in_tree(app, task)?
    {
        members.push(Member::Task(task));
    }
    await_as(app, &members, ids)
}

fn await_as(app: &App, members: &[Member], ids: &[TaskId]) -> Result<Vec<Lending>, AppError> {
    let mut marks = Vec::new();
    for (member, id) in members.iter().flat_map(|member| ids.iter().map(move |id| (*member, *id))) {
        match app.store.await_task(member, id).map_err(AppError::from) {
            Ok(mark) => marks.push(mark),
            // A sandbox that may not write there waits all the same; no other process sees this wait.
            Err(error) if matches!(error.code(), Code::ReadOnly | Code::NoPermission) => {}
            Err(error) => return Err(error),
        }
    }
    if !members.is_empty() && !ids.is_empty() {
        refuse_ring_of_tasks(app, ids)?;
    }
    Ok(marks)
}

/// The `luzia lock`s inside which this process runs.
fn locks_around(app: &App) -> Result<Vec<Member>, AppError> {
    if !app.has_holder || app.fleet.is_some() || !app.store.has_layout()? {
        return Ok(Vec::new());
    }
    let members = around(app, app.host.identity().pid, &[], &list::locks(app)?).into_iter();
    Ok(members.filter(|member| matches!(member, Member::Lock(_))).collect())
}

/// Every ring of members that wait for each other for ever, each once.
pub fn cycles(app: &App) -> Result<Vec<Vec<Member>>, AppError> {
    let waits = waits(app, New::default())?;
    let mut seen: BTreeSet<BTreeSet<Member>> = BTreeSet::new();
    let rings = waits.stuck().into_iter().filter_map(|id| waits.cycle(id));
    Ok(rings.filter(|ring| seen.insert(ring.iter().copied().collect())).collect())
}

/// The ring that keeps the holders of a lane.
pub(crate) fn cycle_in(app: &App, lane: &LaneName) -> Result<Option<Vec<Member>>, AppError> {
    let members: Vec<Member> = app.holders(lane)?.iter().filter_map(member_of).collect();
    if members.is_empty() {
        return Ok(None);
    }
    let waits = waits(app, New::default())?;
    Ok(members.into_iter().find_map(|member| waits.cycle(member)))
}

/// Refuses a wait for lanes inside a task or a `luzia lock` when that closes a ring.
pub(crate) fn refuse_ring_of_lanes(app: &App, request: &Request) -> Result<(), AppError> {
    let lanes: Vec<(LaneName, u32)> = request.needs.iter().map(|need| (need.lane.clone(), need.count)).collect();
    let next = format!("luzia explain {}", lanes.first().map_or_else(String::new, |(lane, _)| lane_word(lane)));
    refuse_ring(app, New { lanes: &lanes, ..New::default() }, &next)
}

/// Refuses a wait for tasks inside a task or a `luzia lock` when that closes a ring.
pub(crate) fn refuse_ring_of_tasks(app: &App, ids: &[TaskId]) -> Result<(), AppError> {
    let next = format!("luzia explain {}", ids.first().map_or_else(String::new, TaskId::to_string));
    refuse_ring(app, New { tasks: ids, ..New::default() }, &next)
}

fn refuse_ring(app: &App, new: New<'_>, next: &str) -> Result<(), AppError> {
    if !app.has_holder || !app.store.has_layout()? {
        return Ok(());
    }
    let members = around(app, app.host.identity().pid, &started(app)?, &list::locks(app)?);
    let waits = waits(app, New { members: &members, ..new })?;
    let Some(ring) = members.iter().find_map(|member| waits.cycle(*member)) else { return Ok(()) };
    Err(deadlock(format!("these would wait for each other for ever: {}", ring_text(&ring)))
        .hint("luzia did not wait; give back the lanes that this process holds, or go on without the wait")
        .next(next))
}

/// The running tasks, each with its supervisor.
fn started(app: &App) -> Result<Vec<(TaskId, u32)>, AppError> {
    let mut started = Vec::new();
    for id in app.store.in_flight()? {
        started.extend(app.store.started(id)?.flatten().map(|start| (id, start.supervisor.pid)));
    }
    Ok(started)
}

/// The tasks and the `luzia lock`s inside which a process runs, as far as `/proc` shows them.
fn around(app: &App, pid: u32, started: &[(TaskId, u32)], locks: &[LockView]) -> Vec<Member> {
    let above: BTreeSet<u32> = app.host.ancestors(pid, &|_| false).iter().map(|above| above.process.pid).collect();
    let tasks = started.iter().filter(|(_, supervisor)| above.contains(supervisor)).map(|(id, _)| Member::Task(*id));
    let mut members: BTreeSet<Member> = tasks.collect();
    let holders = locks.iter().filter(|view| view.record().is_some_and(|record| record.kind == LockKind::Process));
    members.extend(
        holders.filter_map(member_of).filter(|member| matches!(member, Member::Lock(pid) if above.contains(pid))),
    );
    if pid == app.host.identity().pid {
        let own = app.inside.as_ref().map(|inside| inside.task);
        members.extend(own.filter(|own| is_in_tree(app, *own).unwrap_or(false)).map(Member::Task));
    }
    members.into_iter().collect()
}

/// The holder of a lock, if the waits of that holder are known.
fn member_of(view: &LockView) -> Option<Member> {
    let record = view.record().filter(|_| !view.verdict.is_stale())?;
    match (view.holder().and_then(TaskId::parse), record.kind, record.pid) {
        (Some(id), ..) => Some(Member::Task(id)),
        (None, LockKind::Process, Some(pid)) => Some(Member::Lock(pid)),
        _ => None,
    }
}

/// The waits of all members. Without a process that waits inside a task or a `luzia lock` there is nothing to find: then each
/// member ends by itself.
fn waits(app: &App, new: New<'_>) -> Result<Waits, AppError> {
    let mut waits = Waits::default();
    if !app.store.has_layout()? {
        return Ok(waits);
    }
    // `doctor` reports a damaged record.
    let running = app.store.started_tasks().filter_map(Result::ok).filter(|task| task.status() == Status::Running);
    let queued: Vec<Task> = app.store.pending_tasks(None)?.filter_map(Result::ok).take(MOST).collect();
    let mut has_waits = false;
    for task in running.chain(queued.iter().cloned()).chain(new.task.cloned()) {
        let is_waited_for = task.waited_for && (task.id.0 == 0 || has_waiter(app, &task))
            || task.parent.is_some() && app.store.is_lent_to(task.id)?;
        if let Some(parent) = task.parent.filter(|_| is_waited_for) {
            waits.add(Member::Task(parent), Need::of(task.id));
            has_waits = true;
        }
    }
    let will_be = new.members.iter().flat_map(|member| new.tasks.iter().map(|id| (*member, *id)));
    for (member, id) in app.store.awaited()?.into_iter().chain(will_be) {
        waits.add(member, Need::of(id));
        has_waits = true;
    }
    let mut world = World { app, locks: app.store.lock_index()?, queued, living: BTreeMap::new() };
    let mut wanted: Vec<(Member, LaneName, u32)> = Vec::new();
    for (lane, count) in new.lanes {
        wanted.extend(new.members.iter().map(|member| (*member, lane.clone(), *count)));
    }
    let lines = list::all_waiters(app)?;
    if !lines.is_empty() {
        let (started, locks) = (started(app)?, list::locks(app)?);
        for (lane, waiters) in lines {
            let Ok(lane) = LaneName::parse(&lane) else { continue };
            let members = waiters.iter().flat_map(|waiter| around(app, waiter.pid, &started, &locks));
            wanted.extend(members.map(|member| (member, lane.clone(), 1)));
        }
    }
    for (member, lane, count) in wanted {
        let mut living = world.living(&lane)?;
        living.retain(|(_, holder)| *holder != Some(member));
        missing(&living, count, config(app).limit(&lane)).into_iter().for_each(|need| waits.add(member, need));
        has_waits = true;
    }
    if has_waits {
        for task in world.queued.clone().iter().chain(new.task) {
            let will_be_lent = new.tasks.contains(&task.id) && may_borrow(app, task);
            for need in world.needs_of(task, will_be_lent)? {
                waits.add(Member::Task(task.id), need);
            }
        }
    }
    Ok(waits)
}

/// Whether the process that queued a task and waits for it lives, as far as its pid shows.
fn has_waiter(app: &App, task: &Task) -> bool {
    !matches!(app.host.probe(task.created_by_pid), Probe::Gone | Probe::Zombie)
}

impl World<'_> {
    fn needs_of(&mut self, task: &Task, will_be_lent: bool) -> Result<Vec<Need>, AppError> {
        let mut needs: Vec<Need> = unfinished_before(self.app, task).into_iter().map(Need::of).collect();
        // The waiter says so a moment after the task is queued.
        let is_waited_for = will_be_lent || task.waited_for && (task.id.0 == 0 || has_waiter(self.app, task));
        let lenders = match (is_waited_for, task.id.0) {
            (true, _) => lenders_if_waited(self.app, task)?,
            (false, 0) => Vec::new(),
            (false, _) => lenders_of(self.app, task)?,
        };
        let ids: Vec<TaskId> = lenders.iter().map(|task| task.id).collect();
        for lane in task.all_lanes() {
            // A claim takes the lanes first and moves the record then: a task is not in its own way.
            let mut living = self.living(&lane)?;
            living.retain(|(_, holder)| *holder != Some(Member::Task(task.id)));
            let mut wanted = task.slots_of(&lane);
            let by_task = |holder: Option<Member>| match holder {
                Some(Member::Task(id)) => Some(id),
                _ => None,
            };
            let tasks: Vec<(u32, Option<TaskId>)> =
                living.iter().map(|(slot, holder)| (*slot, by_task(*holder))).collect();
            match lent(tasks.iter().copied(), &ids) {
                Lent::No => needs.extend(self.first_in(&lane, task).map(Need::of)),
                // Slots that are not lent count as held by others.
                Lent::By(_) => wanted = wanted.saturating_sub(lendable(tasks.iter().copied(), &ids)),
                Lent::Taken(slot) => {
                    let holder = tasks.into_iter().find(|(at, _)| *at == slot);
                    needs.extend(holder.and_then(|(_, holder)| holder).map(Need::of));
                    continue;
                }
            }
            needs.extend(missing(&living, wanted, config(self.app).limit(&lane)));
        }
        Ok(needs)
    }

    /// The queued task that comes before a task in a lane that keeps an order.
    fn first_in(&self, lane: &LaneName, task: &Task) -> Option<TaskId> {
        let tier = task.priority.tier();
        let is_before = |other: &&Task| {
            let is_parked = other.due_at.is_some() || !other.after.is_empty();
            // Sessions take turns in the lane of their user.
            let takes_turns = lane.is_user() && other.share != task.share;
            !is_parked && !takes_turns && other.priority.tier() == tier && other.all_lanes().contains(lane)
        };
        let before = self.queued.iter().filter(|_| lane.is_key_lane()).filter(is_before);
        let first = before.map(Task::turn).min()?;
        // A task that is about to be queued comes last.
        let last = TaskId(u64::MAX);
        let own = if task.id.0 == 0 { (task.priority, (last, last)) } else { task.turn() };
        (first < own).then_some(first.1.1)
    }

    /// The slots of a lane that living holders have.
    fn living(&mut self, lane: &LaneName) -> Result<Slots, AppError> {
        if let Some(known) = self.living.get(lane) {
            return Ok(known.clone());
        }
        let views = self.app.holders_in(&self.locks, lane)?;
        let living = views.iter().filter(|view| !view.verdict.is_stale());
        let living: Slots = living.map(|view| (view.slot, member_of(view))).collect();
        self.living.insert(lane.clone(), living.clone());
        Ok(living)
    }
}

/// The members that must be over before a lane has so many free slots. `None` if it has them, or if enough of its holders are
/// no tasks: those end by themselves.
fn missing(living: &[(u32, Option<Member>)], wanted: u32, limit: u32) -> Option<Need> {
    if wanted == 0 {
        return None;
    }
    let missing = holders(living.iter().map(|(slot, _)| *slot)).saturating_add(wanted).saturating_sub(limit);
    // A lender is not over before its borrower is.
    let lowest = living.iter().filter(|(slot, _)| !living.iter().any(|(at, _)| at < slot && root(*at) == root(*slot)));
    let of: Vec<Option<Member>> = lowest.map(|(_, holder)| *holder).collect();
    let tasks: Vec<Member> = of.iter().flatten().copied().collect();
    let count = usize::try_from(missing).unwrap_or(usize::MAX).saturating_sub(of.len() - tasks.len());
    (count > 0).then_some(Need { holders: tasks, count })
}

/// The error of a wait that would never end.
pub(crate) fn deadlock(message: String) -> AppError {
    AppError::new(Code::Deadlock, message)
}

/// Describes the waits of a ring.
pub fn ring_text(members: &[Member]) -> String {
    let mut text = members.first().map_or_else(String::new, Member::to_string);
    for at in 1..=members.len() {
        text += &format!(" waits for {}", members[at % members.len()]);
        if at < members.len() {
            text += ", which";
        }
    }
    text
}

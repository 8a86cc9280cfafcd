//! Tasks that wait for each other for ever: nested runs whose lanes are held by those who wait for them. The rule is
//! `policy::cycles`; this file says who waits for whom.

use crate::app::config_reload::config;
use crate::app::pass::borrowers::{lenders_if_waited, lenders_of};
use crate::app::pass::situation::unfinished_before;
use crate::app::{App, AppError};
use crate::model::lock::loan::{Lent, holders, lendable, lent, root};
use crate::model::process::Probe;
use crate::model::{LaneName, Status, Task, TaskId};
use crate::policy::cycles::{Need, Waits};
use crate::store::LockIndex;
use std::collections::{BTreeMap, BTreeSet};

/// How many queued tasks are looked at.
const MOST: usize = 1000;

/// The slots of a lane that living holders have, with those that are tasks.
type Slots = Vec<(u32, Option<TaskId>)>;

/// Everything that has to be known of the tasks, at one moment.
struct World<'a> {
    app: &'a App,
    locks: LockIndex,
    queued: Vec<Task>,
    /// The slots of lanes with their holders.
    living: BTreeMap<LaneName, Slots>,
}

/// The tasks that wait for each other for ever and keep a task from its end.
pub fn cycle_of(app: &App, id: TaskId) -> Result<Option<Vec<TaskId>>, AppError> {
    Ok(waits(app, None)?.cycle(id))
}

/// Like `cycle_of`, for a task that would be queued and waited for; its number is 0.
pub(crate) fn cycle_with(app: &App, new: &Task) -> Result<Option<Vec<TaskId>>, AppError> {
    Ok(waits(app, Some(new))?.cycle(new.id))
}

/// Every ring of tasks that wait for each other for ever, each once.
pub fn cycles(app: &App) -> Result<Vec<Vec<TaskId>>, AppError> {
    let waits = waits(app, None)?;
    let mut seen: BTreeSet<BTreeSet<TaskId>> = BTreeSet::new();
    let rings = waits.stuck().into_iter().filter_map(|id| waits.cycle(id));
    Ok(rings.filter(|ring| seen.insert(ring.iter().copied().collect())).collect())
}

/// Who waits for whom. Without a task that waits for one it has queued there is nothing to be known: then each running
/// task ends by itself.
fn waits(app: &App, new: Option<&Task>) -> Result<Waits, AppError> {
    let mut waits = Waits::default();
    if !app.store.has_layout()? {
        return Ok(waits);
    }
    // A record that does not read is `doctor`'s to report.
    let running = app.store.started_tasks().filter_map(Result::ok).filter(|task| task.status() == Status::Running);
    let queued: Vec<Task> = app.store.pending_tasks(None)?.filter_map(Result::ok).take(MOST).collect();
    let mut has_parents = false;
    for task in running.chain(queued.iter().cloned()).chain(new.cloned()) {
        let is_waited_for = task.waited_for && (task.id.0 == 0 || has_waiter(app, &task))
            || task.parent.is_some() && app.store.is_lent_to(task.id)?;
        if let Some(parent) = task.parent.filter(|_| is_waited_for) {
            waits.add(parent, Need::of(task.id));
            has_parents = true;
        }
    }
    if !has_parents {
        return Ok(waits);
    }
    let locks = app.store.lock_index()?;
    let mut world = World { app, locks, queued, living: BTreeMap::new() };
    for task in world.queued.clone().iter().chain(new) {
        for need in world.needs_of(task)? {
            waits.add(task.id, need);
        }
    }
    Ok(waits)
}

/// Whether the process that queued a task and waits for it lives, as far as its number tells.
fn has_waiter(app: &App, task: &Task) -> bool {
    !matches!(app.host.probe(task.created_by_pid), Probe::Gone | Probe::Zombie)
}

impl World<'_> {
    fn needs_of(&mut self, task: &Task) -> Result<Vec<Need>, AppError> {
        let mut needs: Vec<Need> = unfinished_before(self.app, task).into_iter().map(Need::of).collect();
        // The waiter says so a moment after the task is queued.
        let is_waited_for = task.waited_for && (task.id.0 == 0 || has_waiter(self.app, task));
        let lenders = match (is_waited_for, task.id.0) {
            (true, _) => lenders_if_waited(self.app, task)?,
            (false, 0) => Vec::new(),
            (false, _) => lenders_of(self.app, task)?,
        };
        let ids: Vec<TaskId> = lenders.iter().map(|task| task.id).collect();
        for lane in task.all_lanes() {
            // A claim takes the lanes first and moves the record then: a task is not in its own way.
            let mut living = self.living(&lane)?;
            living.retain(|(_, holder)| *holder != Some(task.id));
            let mut wanted = task.slots_of(&lane);
            match lent(living.iter().copied(), &ids) {
                Lent::No => needs.extend(self.first_in(&lane, task).map(Need::of)),
                // What is not lent is taken as by others.
                Lent::By(_) => wanted = wanted.saturating_sub(lendable(living.iter().copied(), &ids)),
                Lent::Taken(slot) => {
                    let holder = living.into_iter().find(|(at, _)| *at == slot);
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
        let living: Slots = living.map(|view| (view.slot, view.holder().and_then(TaskId::parse))).collect();
        self.living.insert(lane.clone(), living.clone());
        Ok(living)
    }
}

/// What must be over before a lane has so many free slots; `None` when it has them, or when enough of its holders are no tasks:
/// those end by themselves.
fn missing(living: &[(u32, Option<TaskId>)], wanted: u32, limit: u32) -> Option<Need> {
    if wanted == 0 {
        return None;
    }
    let missing = holders(living.iter().map(|(slot, _)| *slot)).saturating_add(wanted).saturating_sub(limit);
    // A lender is not over before its borrower is.
    let lowest = living.iter().filter(|(slot, _)| !living.iter().any(|(at, _)| at < slot && root(*at) == root(*slot)));
    let of: Vec<Option<TaskId>> = lowest.map(|(_, holder)| *holder).collect();
    let tasks: Vec<TaskId> = of.iter().flatten().copied().collect();
    let count = usize::try_from(missing).unwrap_or(usize::MAX).saturating_sub(of.len() - tasks.len());
    (count > 0).then_some(Need { holders: tasks, count })
}

/// Says who waits for whom in a ring.
pub fn ring_text(members: &[TaskId]) -> String {
    let name = |id: TaskId| if id.0 == 0 { "the new task".to_owned() } else { id.to_string() };
    let mut text = members.first().map_or_else(String::new, |first| name(*first));
    for at in 1..=members.len() {
        text += &format!(" waits for {}", name(members[at % members.len()]));
        if at < members.len() {
            text += ", which";
        }
    }
    text
}

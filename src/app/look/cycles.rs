//! Tasks that wait for each other for ever: nested runs whose lanes are held by those who wait for them. The rule is
//! `policy::cycles`; this file says who waits for whom.

use crate::app::{App, AppError, lock_state};
use crate::model::lock::loan::{self, Lent, lent, root};
use crate::model::process::Probe;
use crate::model::{LaneName, Status, Task, TaskId};
use crate::policy::cycles::{Need, Waits};
use crate::store::LockIndex;
use std::collections::{BTreeMap, BTreeSet};

/// How many queued tasks are looked at.
const MOST: usize = 1000;

/// Everything that has to be known of the tasks, at one moment.
struct World<'a> {
    app: &'a App,
    locks: LockIndex,
    queued: Vec<Task>,
    /// By lane and wanted slots.
    needs: BTreeMap<(LaneName, u32), Vec<Need>>,
}

impl App {
    /// The tasks that wait for each other for ever and keep a task from its end.
    pub fn cycle_of(&self, id: TaskId) -> Result<Option<Vec<TaskId>>, AppError> {
        Ok(self.waits(None)?.cycle(id))
    }

    /// Like `cycle_of`, for a task that would be queued and waited for; its number is 0.
    pub(crate) fn cycle_with(&self, new: &Task) -> Result<Option<Vec<TaskId>>, AppError> {
        Ok(self.waits(Some(new))?.cycle(new.id))
    }

    /// Every ring of tasks that wait for each other for ever, each once.
    pub fn cycles(&self) -> Result<Vec<Vec<TaskId>>, AppError> {
        let waits = self.waits(None)?;
        let mut seen: BTreeSet<BTreeSet<TaskId>> = BTreeSet::new();
        let rings = waits.stuck().into_iter().filter_map(|id| waits.cycle(id));
        Ok(rings.filter(|ring| seen.insert(ring.iter().copied().collect())).collect())
    }

    /// Who waits for whom. Without a task that waits for one it has queued there is nothing to be known: then each running
    /// task ends by itself.
    fn waits(&self, new: Option<&Task>) -> Result<Waits, AppError> {
        let mut waits = Waits::default();
        if !self.store.has_layout()? {
            return Ok(waits);
        }
        // A record that does not read is `doctor`'s to report.
        let running = self.store.started_tasks().filter_map(Result::ok).filter(|task| task.status == Status::Running);
        let queued: Vec<Task> = self.store.pending_tasks(None)?.filter_map(Result::ok).take(MOST).collect();
        let mut has_parents = false;
        for task in running.chain(queued.iter().cloned()).chain(new.cloned()) {
            let is_waited_for = task.waited_for && (task.id.0 == 0 || self.has_waiter(&task))
                || task.parent.is_some() && self.store.is_lent_to(task.id)?;
            if let Some(parent) = task.parent.filter(|_| is_waited_for) {
                waits.add(parent, vec![task.id]);
                has_parents = true;
            }
        }
        if !has_parents {
            return Ok(waits);
        }
        let locks = self.store.lock_index()?;
        let mut world = World { app: self, locks, queued, needs: BTreeMap::new() };
        for task in world.queued.clone().iter().chain(new) {
            for need in world.needs_of(task)? {
                waits.add(task.id, need);
            }
        }
        Ok(waits)
    }

    /// Whether the process that queued a task and waits for it lives, as far as its number tells.
    fn has_waiter(&self, task: &Task) -> bool {
        !matches!(self.host.probe(task.created_by_pid), Probe::Gone | Probe::Zombie)
    }
}

impl World<'_> {
    fn needs_of(&mut self, task: &Task) -> Result<Vec<Need>, AppError> {
        let mut needs: Vec<Need> = self.app.unfinished_before(task).into_iter().map(|before| vec![before]).collect();
        // The waiter says so a moment after the task is queued.
        let is_waited_for = task.waited_for && (task.id.0 == 0 || self.app.has_waiter(task));
        let lenders = match (is_waited_for, task.id.0) {
            (true, _) => self.app.lenders_if_waited(task)?,
            (false, 0) => Vec::new(),
            (false, _) => self.app.lenders_of(task)?,
        };
        let ids: Vec<TaskId> = lenders.iter().map(|task| task.id).collect();
        for lane in task.all_lanes() {
            // A claim takes the lanes first and moves the record then: a task is not in its own way.
            let mut living = self.living(&lane)?;
            living.retain(|(_, holder)| *holder != Some(task.id));
            match lent(living.iter().copied(), &ids) {
                Lent::No => {}
                Lent::By(_) => continue,
                Lent::Taken(slot) => {
                    let holder = living.into_iter().find(|(at, _)| *at == slot);
                    needs.extend(holder.and_then(|(_, holder)| holder).map(|holder| vec![holder]));
                    continue;
                }
            }
            needs.extend(self.first_in(&lane, task).map(|first| vec![first]));
            // A claim takes the lanes first and moves the record then: a task is not in its own way.
            let of_lane = self.needs_in(&lane, task.slots_of(&lane))?;
            needs.extend(of_lane.into_iter().filter(|holders| !holders.contains(&task.id)));
        }
        Ok(needs)
    }

    /// The queued task that comes before a task in a lane that keeps an order.
    fn first_in(&self, lane: &LaneName, task: &Task) -> Option<TaskId> {
        let tier = task.priority.tier();
        let is_before = |other: &&Task| {
            let is_parked = other.due_at.is_some() || !other.after.is_empty();
            !is_parked && other.priority.tier() == tier && other.all_lanes().contains(lane)
        };
        let before = self.queued.iter().filter(|_| lane.is_key_lane()).filter(is_before);
        let first = before.map(Task::turn).min()?;
        // A task that is about to be queued comes last.
        let last = TaskId(u64::MAX);
        let own = if task.id.0 == 0 { (task.priority, (last, last)) } else { task.turn() };
        (first < own).then_some(first.1.1)
    }

    /// The slots of a lane that living holders have, with those that are tasks.
    fn living(&self, lane: &LaneName) -> Result<Vec<(u32, Option<TaskId>)>, AppError> {
        let views = self.app.holders_in(&self.locks, lane)?;
        let living = views.iter().filter(|view| lock_state(&view.verdict) != "stale");
        Ok(living.map(|view| (view.slot, view.holder().and_then(TaskId::parse))).collect())
    }

    /// The tasks of which one must be over before a lane has so many free slots, and each alone where all must; nothing when it
    /// has them, or another holder.
    fn needs_in(&mut self, lane: &LaneName, wanted: u32) -> Result<Vec<Need>, AppError> {
        let place = (lane.clone(), wanted);
        if let Some(known) = self.needs.get(&place) {
            return Ok(known.clone());
        }
        let (living, limit) = (self.living(lane)?, self.app.config().limit(lane));
        let is_full = loan::holders(living.iter().map(|(slot, _)| *slot)).saturating_add(wanted) > limit;
        // A lender is not over before its borrower is.
        let lowest =
            living.iter().filter(|(slot, _)| !living.iter().any(|(at, _)| at < slot && root(*at) == root(*slot)));
        let needs: Vec<Need> = match (is_full, wanted >= limit) {
            (false, _) => Vec::new(),
            (true, true) => lowest.filter_map(|(_, holder)| *holder).map(|holder| vec![holder]).collect(),
            (true, false) => lowest.map(|(_, holder)| *holder).collect::<Option<Need>>().into_iter().collect(),
        };
        self.needs.insert(place, needs.clone());
        Ok(needs)
    }
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

//! The order of the next pass, for the reasons of tasks: the tasks that it would try, and the starts that these would prevent.
//! It is the order of `app::pass` without the claims. `booked_before` gives the task whose start would be prevented by the start
//! of another one. `ahead_of` gives the number of tasks of its user for which a task waits, by the reasons why they wait. `tree`
//! gives a task, the tasks that it has queued, and theirs.

use super::explain::{Reasons, Wait};
use crate::app::admission::turns::{Known, MOST_AHEAD, current_weights, queues_among};
use crate::app::config_reload::config;
use crate::app::pass::candidates;
use crate::app::pass::candidates::Bookings;
use crate::app::query::events::{ActionLine, ends_of_runs};
use crate::app::query::list::{Filter, list};
use crate::app::waits::{Memory, as_seen, memory};
use crate::app::{App, AppError, Obstacle};
use crate::model::sorted::sort_by_key;
use crate::model::{Task, TaskId, Turn};
use crate::policy::admission::{Booked, obstacles};
use crate::policy::beyond::{MOST_TRIED, may_pass};
use crate::policy::fair::Ledger;
use crate::policy::schedule::{Candidate, Round};
use crate::store::{Head, QueueIndex};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The findings of the next pass, as far as it was followed.
#[derive(Default)]
pub(super) struct Order {
    /// The rest of the pass; `None` at its end.
    round: Option<Round<Box<Ledger>>>,
    /// For each task of a capacity lane that would be tried: the task whose start it would prevent.
    tried: BTreeMap<TaskId, Option<Booked>>,
    /// The bookings at the end.
    bookings: Bookings,
}

impl Reasons<'_> {
    /// The task whose start would be prevented by the start of a task.
    pub(super) fn booked_before(&mut self, task: &Task) -> Result<Option<Booked>, AppError> {
        if !task.lanes.iter().any(|lane| lane.is_capacity_lane()) {
            return Ok(None);
        }
        let order = self.order_until(Some(task.id))?;
        Ok(order.tried.get(&task.id).cloned().flatten())
    }

    /// Like `booked_before`, for a task that is not queued and would be tried last.
    pub(super) fn booked_before_new(&mut self, task: &Task) -> Result<Option<Booked>, AppError> {
        let found = self.booked_before(task)?;
        let app = self.app;
        let order = self.order_until(None)?;
        Ok(found.or_else(|| order.bookings.against(app, task)))
    }

    /// Follows the next pass until a task was tried, or to its end.
    fn order_until(&mut self, id: Option<TaskId>) -> Result<&Order, AppError> {
        let mut order = match self.order.take() {
            Some(order) => order,
            None => self.begun_order()?,
        };
        while !id.is_some_and(|id| order.tried.contains_key(&id)) {
            let Some(candidate) = order.round.as_mut().and_then(Round::next) else { break };
            let started = self.would_start(&candidate, &mut order)?;
            if let (Some(task), Some(round)) = (started, &mut order.round) {
                round.started(candidate, current_weights(self.app, &task));
            }
        }
        Ok(self.order.insert(order))
    }

    fn begun_order(&self) -> Result<Order, AppError> {
        let app = self.app;
        if !app.store.has_layout()? {
            return Ok(Order::default());
        }
        let ledger = app.store.ledger()?.as_deref().and_then(Ledger::from_text).unwrap_or_default();
        let (free, _) = candidates::heads(app, &app.store.lanes_with_work()?, &self.locks, &ledger)?;
        let round = Round::new(Box::new(ledger), config(app).tier_shares, free, app.host.now());
        Ok(Order { round: Some(round), ..Order::default() })
    }

    /// The task of a queue that a pass would start, as `try_lane` finds it.
    fn would_start(&mut self, candidate: &Candidate, order: &mut Order) -> Result<Option<Task>, AppError> {
        let heads = self.app.store.first_in_tier(candidate.priority, &candidate.queue, MOST_TRIED + 1)?;
        let Some((first, others)) = heads.split_first() else { return Ok(None) };
        let (task, is_full) = self.tried(first, order)?;
        if !is_full || !candidate.takes_user_lane {
            return Ok(task);
        }
        let mut passed = vec![first.id];
        for head in others {
            if !may_pass(&passed, head.id) {
                break;
            }
            let (task, is_full) = self.tried(head, order)?;
            if !is_full {
                return Ok(task);
            }
            passed.push(head.id);
        }
        Ok(None)
    }

    /// The task if it would start, and whether a capacity lane keeps it.
    fn tried(&mut self, head: &Head, order: &mut Order) -> Result<(Option<Task>, bool), AppError> {
        let Some(task) = self.app.store.peek(head) else { return Ok((None, false)) };
        if task.lanes.is_empty() {
            return Ok((Some(task), false));
        }
        let wait = self.own_wait(&task)?;
        let booked = order.bookings.against(self.app, &task);
        let is_booked = booked.is_some();
        order.tried.insert(head.id, booked);
        match wait {
            Wait::Own => Ok((None, false)),
            Wait::Shared if !is_booked => Ok((Some(task), false)),
            Wait::Shared | Wait::Capacity => {
                order.bookings.book(self.app, &task)?;
                Ok((None, true))
            }
        }
    }
}

impl Reasons<'_> {
    /// Number of tasks of its user for which a task waits. A pass tries each queue and each tier by itself, so tasks of
    /// another one count unless none of them could start now. Tasks of its own do not count if all wait for capacity lanes
    /// and it may pass them (`policy::beyond`). Then it starts in the turn of the first of them.
    pub(super) fn ahead_of(&mut self, task: &Task) -> Result<u64, AppError> {
        let mut known = self.known_of(task)?;
        if known.find(task).is_none() {
            let index = self.index()?;
            let queues = queues_among(self.app, &index, task)?;
            known = Rc::new(Known::with(self.app, task, queues)?);
        }
        let Some((at, number)) = known.find(task) else { return Ok(0) };
        let (mut ahead, mut count) = (known.ahead(at, number), 0);
        if let Some((queue, own)) = ahead.next().filter(|(_, own)| !own.is_empty()) {
            let mut passes = task.takes_user_lane && own.len() <= MOST_TRIED && may_pass(&ids(own), task.id);
            for turn in own.iter().take(MOST_TRIED) {
                passes = passes && self.wait_of(&head(queue, *turn))? == Wait::Capacity;
            }
            if passes {
                drop(ahead);
                ahead = known.ahead(at, 0);
                ahead.next();
            } else {
                count = own.len() as u64;
            }
        }
        for (queue, turns) in ahead {
            let stuck = turns.is_empty() || self.is_stuck(queue, turns, task.takes_user_lane)?;
            count += if stuck { 0 } else { turns.len() as u64 };
        }
        Ok(count.min(MOST_AHEAD))
    }

    fn index(&mut self) -> Result<Rc<QueueIndex>, AppError> {
        let known = match &self.index {
            Some(known) => Rc::clone(known),
            None => Rc::new(self.app.store.queue_index()?),
        };
        self.index = Some(Rc::clone(&known));
        Ok(known)
    }

    /// The order of the tasks that take turns with a task.
    fn known_of(&mut self, task: &Task) -> Result<Rc<Known>, AppError> {
        let place = (task.queue(), task.priority.tier());
        if let Some(known) = self.turns.get(&place) {
            return Ok(Rc::clone(known));
        }
        let index = self.index()?;
        let queues = queues_among(self.app, &index, task)?;
        let known = Rc::new(Known::of(self.app, &task.user, &place.0, queues, place.1)?);
        self.turns.insert(place, Rc::clone(&known));
        Ok(known)
    }

    /// Whether none of the first tasks of a queue in a tier could start if the lane of the user and a slot were free.
    fn is_stuck(&mut self, queue: &str, turns: &[Turn], takes_user_lane: bool) -> Result<bool, AppError> {
        let first = ids(&turns[..turns.len().min(MOST_TRIED + 2)]);
        for (at, id) in first.iter().enumerate() {
            let is_tried = at == 0 || takes_user_lane && at <= MOST_TRIED && may_pass(&first[..at], *id);
            match self.wait_of(&head(queue, turns[at]))? {
                _ if !is_tried => return Ok(true),
                Wait::Shared => return Ok(false),
                Wait::Own => return Ok(true),
                Wait::Capacity => {}
            }
        }
        Ok(true)
    }

    /// The wait of a task that would be tried now.
    fn wait_of(&mut self, head: &Head) -> Result<Wait, AppError> {
        if let Some(known) = self.tried_waits.get(&head.id) {
            return Ok(*known);
        }
        // A damaged record does not fail the answer for other tasks.
        let Some(task) = self.app.store.peek(head) else { return Ok(Wait::Shared) };
        let wait = match self.own_wait(&task)? {
            Wait::Shared if self.booked_before(&task)?.is_some() => Wait::Capacity,
            wait => wait,
        };
        self.tried_waits.insert(head.id, wait);
        Ok(wait)
    }

    /// Like `wait_of`, whatever other starts its start would prevent.
    pub(super) fn own_wait(&mut self, task: &Task) -> Result<Wait, AppError> {
        if let Some(known) = self.waits.get(&task.id) {
            return Ok(*known);
        }
        let situation = self.situation_after(task, 0)?;
        let wait = match obstacles(task, &situation).next() {
            None | Some(Obstacle::NoDispatcher | Obstacle::UserLockHeld { .. }) => Wait::Shared,
            Some(Obstacle::LaneFull { lane, .. }) if lane.is_global() => Wait::Shared,
            Some(obstacle) if obstacle.is_of_capacity() => Wait::Capacity,
            Some(_) => Wait::Own,
        };
        self.waits.insert(task.id, wait);
        Ok(wait)
    }
}

fn ids(turns: &[Turn]) -> Vec<TaskId> {
    turns.iter().map(|(_, (_, id))| *id).collect()
}

/// The head of a queue whose first task has this turn.
pub(super) fn head(queue: &str, (priority, (_, id)): Turn) -> Head {
    Head { queue: queue.to_owned(), priority, id }
}

/// A task in its family.
#[derive(Clone, PartialEq, Debug)]
pub struct Branch {
    /// The task.
    pub task: Task,
    /// The depth of the task below the first one.
    pub depth: usize,
    /// Whether the task is the last child of its parent.
    pub is_last: bool,
    /// The memory of the task: its steps.
    pub memory: Option<Memory>,
    /// The runs of the task's command, if it takes steps: each as its end (S2.7).
    pub runs: Vec<ActionLine>,
}

/// A task and its descendants, each before its children. Children are in the order of their numbers.
pub fn tree(app: &App, root: TaskId) -> Result<Vec<Branch>, AppError> {
    let root = as_seen(app, app.existing(root)?);
    let mut children: BTreeMap<TaskId, Vec<Task>> = BTreeMap::new();
    list(app, &Filter { all: true, ..Filter::default() }, &mut |found| {
        // `doctor` reports a damaged record.
        if let Ok(task) = found
            && let Some(parent) = task.parent
        {
            children.entry(parent).or_default().push(task);
        }
        true
    })?;
    let (mut branches, mut open) = (Vec::new(), vec![(root, 0, true)]);
    while let Some((task, depth, is_last)) = open.pop() {
        let mut own = children.remove(&task.id).unwrap_or_default();
        sort_by_key(&mut own, |child| std::cmp::Reverse(child.id));
        let is_lowest = |at: usize| at == 0;
        open.extend(own.into_iter().enumerate().map(|(at, child)| (child, depth + 1, is_lowest(at))));
        let memory = memory(app, task.id)?;
        let runs = if task.stepwise.is_some() { ends_of_runs(app, task.id)? } else { Vec::new() };
        branches.push(Branch { task, depth, is_last, memory, runs });
    }
    Ok(branches)
}

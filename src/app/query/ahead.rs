//! The tasks before a task: the number of those of its user, and the reasons why they wait.

use super::explain::{Reasons, Wait};
use crate::app::admission::turns::{Known, MOST_AHEAD, queues_among};
use crate::app::{AppError, Obstacle};
use crate::model::{Task, TaskId, Turn};
use crate::policy::admission::obstacles;
use crate::policy::beyond::{MOST_TRIED, may_pass};
use crate::store::{Head, QueueIndex};
use std::rc::Rc;

fn ids(turns: &[Turn]) -> Vec<TaskId> {
    turns.iter().map(|(_, (_, id))| *id).collect()
}

fn head(queue: &str, (priority, (_, id)): Turn) -> Head {
    Head { queue: queue.to_owned(), priority, id }
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
        let known = Rc::new(Known::of(self.app, &task.user, queues, place.1)?);
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

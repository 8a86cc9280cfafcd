//! Who comes before a task: how many tasks of its user, and for what those wait.

use super::explain::{Reasons, Wait};
use crate::app::foresee::turns::{MOST_AHEAD, before, queues_of};
use crate::app::{AppError, Obstacle};
use crate::model::{Task, TaskId, Turn};
use crate::policy::admission::obstacles;
use crate::policy::beyond::{MOST_TRIED, may_pass};
use crate::store::Place;
use std::rc::Rc;

impl Reasons<'_> {
    /// How many tasks of its user a task waits for. A pass tries each queue and each tier by itself, so those of another one
    /// count unless none of them could start now. Those of its own do not count where all wait for capacity lanes, and it may
    /// pass them (`policy::beyond`); then it starts in the turn of the first of them.
    pub(super) fn ahead_of(&mut self, task: &Task) -> Result<u64, AppError> {
        let queue = task.queue();
        if !self.turns.contains_key(&queue) {
            self.turns.insert(queue.clone(), Rc::new(queues_of(self.app, task)?));
        }
        let queues = Rc::clone(&self.turns[&queue]);
        let ids = |turns: &[Turn]| turns.iter().map(|(_, (_, id))| *id).collect::<Vec<TaskId>>();
        let (own, mut others) = before(self.app, task, &queues, task.turn())?;
        let mut count = own.len() as u64;
        if let Some(first) = own.first().filter(|_| count < MOST_AHEAD) {
            let own = ids(&own);
            let mut passes = task.takes_user_lane && own.len() <= MOST_TRIED && may_pass(&own, task.id);
            for id in &own {
                passes = passes && self.wait_of(*id)? == Wait::Capacity;
            }
            if passes {
                count = 0;
                others = before(self.app, task, &queues, *first)?.1;
            }
        }
        for turns in others {
            let stuck = self.is_stuck(&ids(&turns), task.takes_user_lane)?;
            count += if stuck { 0 } else { turns.len() as u64 };
        }
        Ok(count.min(MOST_AHEAD))
    }

    /// Whether none of the first tasks of a user in a tier could start if the lane of the user and a slot were free.
    fn is_stuck(&mut self, tasks: &[TaskId], takes_user_lane: bool) -> Result<bool, AppError> {
        for (at, id) in tasks.iter().enumerate() {
            let is_tried = at == 0 || takes_user_lane && at <= MOST_TRIED && may_pass(&tasks[..at], *id);
            match self.wait_of(*id)? {
                _ if !is_tried => return Ok(true),
                Wait::Shared => return Ok(false),
                Wait::Own => return Ok(true),
                Wait::Capacity => {}
            }
        }
        Ok(true)
    }

    /// For what a task would wait that is tried now.
    fn wait_of(&mut self, id: TaskId) -> Result<Wait, AppError> {
        let wait = self.own_wait_of(id)?;
        let task = if wait == Wait::Shared { self.app.find(id).ok().flatten() } else { None };
        let is_booked = task.map_or(Ok(None), |(_, task)| self.booked_before(&task))?.is_some();
        Ok(if is_booked { Wait::Capacity } else { wait })
    }

    /// As `wait_of`, whomever its start would keep from another start.
    pub(super) fn own_wait_of(&mut self, id: TaskId) -> Result<Wait, AppError> {
        if let Some(known) = self.waits.get(&id) {
            return Ok(*known);
        }
        // A record that does not read is no reason to fail for the others.
        let Ok(Some((Place::Pending, task))) = self.app.find(id) else { return Ok(Wait::Shared) };
        let situation = self.situation_after(&task, 0)?;
        let wait = match obstacles(&task, &situation).next() {
            None | Some(Obstacle::NoDispatcher | Obstacle::UserLockHeld { .. }) => Wait::Shared,
            Some(Obstacle::LaneFull { lane, .. }) if lane.is_global() => Wait::Shared,
            Some(obstacle) if obstacle.is_of_capacity() => Wait::Capacity,
            Some(_) => Wait::Own,
        };
        self.waits.insert(id, wait);
        Ok(wait)
    }
}

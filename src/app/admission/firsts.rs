//! The first tasks in lanes that tasks of several users have, looked up once for many tasks.

use crate::model::{LaneName, Task, TaskId, Tier, Turn};
use crate::store::{Spool, StoreError};
use std::collections::BTreeMap;

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

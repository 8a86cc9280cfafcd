//! `status`: the queue, the slots and the locks at a glance.

use crate::app::look::explain::Front;
use crate::app::{App, AppError};
use crate::model::evidence::Verdict;
use crate::model::{LaneName, Task};
use crate::policy::staleness::judge;
use crate::store::{Counts, LockView};
use std::collections::BTreeMap;

/// Slots and who uses them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Capacity {
    /// `slots.max`.
    pub max: u32,
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
    /// How many tasks wait, by tier.
    pub counts: Counts,
    /// The slots.
    pub capacity: Capacity,
    /// The locks of users that were looked at.
    pub user_locks: Vec<LockView>,
    /// How many more there are.
    pub unseen_locks: usize,
    /// The tasks that run or wait for an event.
    pub active: Vec<Task>,
    /// How many records were set aside.
    pub set_aside: usize,
    /// Whether anything would start pending tasks.
    pub has_dispatcher: bool,
    /// What stands first in the queue.
    pub front: Front,
}

impl App {
    /// The slots and who uses them.
    pub fn capacity(&self) -> Result<Capacity, AppError> {
        Ok(self.capacity_and_active()?.0)
    }

    fn capacity_and_active(&self) -> Result<(Capacity, Vec<Task>), AppError> {
        let mut capacity = Capacity { max: self.config().slots_max, ..Capacity::default() };
        let mut active = Vec::new();
        if !self.store.has_layout()? {
            return Ok((capacity, active));
        }
        for task in self.store.started_tasks() {
            // A record that does not read is `doctor`'s to report.
            let Ok(task) = task else { continue };
            if task.status.is_final() || task.status == crate::model::Status::Pending {
                continue;
            }
            *capacity.by_user.entry(task.user.to_string()).or_insert(0) += 1;
            if let Some(project) = &task.project {
                *capacity.by_project.entry(project.to_string()).or_insert(0) += 1;
            }
            active.push(task);
        }
        let holders = self.holders(&LaneName::global())?;
        let living = holders.iter().filter(|view| !matches!(view.verdict, Verdict::Stale { .. })).count();
        capacity.used = u32::try_from(living).unwrap_or(u32::MAX);
        Ok((capacity, active))
    }

    /// Everything at a glance, with a look at `most_locks` locks of users at most.
    pub fn overview(&self, most_locks: usize) -> Result<Overview, AppError> {
        let has_layout = self.store.has_layout()?;
        let (capacity, active) = self.capacity_and_active()?;
        let timeout_ms = |lane: &LaneName| self.config().lock_timeout_ms(lane);
        let (user_locks, unseen_locks) =
            if has_layout { self.store.user_locks(most_locks, timeout_ms, judge)? } else { (Vec::new(), 0) };
        Ok(Overview {
            counts: if has_layout { self.store.counts()? } else { Counts::default() },
            capacity,
            user_locks,
            unseen_locks,
            active,
            set_aside: if has_layout { self.store.set_aside_records()?.len() } else { 0 },
            has_dispatcher: has_layout && self.has_dispatcher()?,
            front: self.front()?,
        })
    }
}

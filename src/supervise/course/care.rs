//! Care for a running command: its locks, its share of processors, its pause, and the slots that it gives up while it waits.

use super::away::{Away, Back, LOOK};
use crate::model::Task;
use crate::os::Child;
use crate::store::Site;
use crate::supervise::cpus::CpuShare;
use crate::supervise::keep::Keeper;
use crate::supervise::pause::Pausing;
use crate::supervise::{HEARTBEAT, Surroundings};
use std::time::Duration;

/// The parts that a supervisor keeps while a command runs: its locks, and its share of processors.
pub(in crate::supervise) struct Care<'a, 'k> {
    pub(in crate::supervise) keeper: &'a mut Keeper<'k>,
    pub(in crate::supervise) share: Option<&'a mut CpuShare>,
    pub(in crate::supervise) pausing: &'a mut Pausing,
    /// Whether any process has waited for a child of the task, or for an event.
    pub(in crate::supervise) has_lent: bool,
    /// The slots that the task has given up while it waits.
    pub(in crate::supervise) away: Option<Away>,
}

impl Care<'_, '_> {
    pub(in crate::supervise) fn keep(&mut self, child: &mut dyn Child) {
        self.keeper.keep_beside(child);
        if let Some(share) = &mut self.share {
            share.keep(child);
        }
    }

    /// Notices the ends of waiters for children of the task or for an event, and ends the children that no longer have a waiter.
    pub(in crate::supervise) fn see_to_waiters(
        &mut self,
        around: &Surroundings,
        task: &Task,
        (child, spared): (&mut dyn Child, &[u32]),
        in_any_case: bool,
    ) {
        let waiters = (around.loans)(task.id, in_any_case || self.has_lent);
        self.has_lent |= !waiters.is_empty();
        child.heed_ends(waiters);
        if self.away.is_some() {
            // A waiter that ended before it was watched.
            self.see_to_slots(around.site, task, spared);
        }
    }

    pub(in crate::supervise) fn is_wanting(&self) -> bool {
        self.away.as_ref().is_some_and(Away::is_wanted)
    }

    /// Gives slots up when a process of the task waits for an event, and asks for them again when none waits any more.
    pub(in crate::supervise) fn see_to_slots(&mut self, site: &Site, task: &Task, spared: &[u32]) {
        let Ok(has_waiter) = site.store.has_waiter(task.id) else { return };
        let is_open = has_waiter && site.store.open_in(task.id, task.starts).is_some();
        match &mut self.away {
            // After a read or write error the task keeps its slots.
            None if is_open => self.away = Away::begin(site, task, self.keeper).unwrap_or_default(),
            None => {}
            Some(away) if is_open => {
                away.stay(site);
                self.pausing.has_slots(site);
            }
            Some(away) => {
                away.want_back(task);
                if !has_waiter {
                    // The waiting process was killed, and its script may go on.
                    self.pausing.lacks_slots(site, task, spared);
                }
            }
        }
    }

    /// Takes back the slots that are asked for. True when a pass is due.
    pub(in crate::supervise) fn take_back(&mut self, around: &Surroundings, task: &Task) -> bool {
        let Some(away) = self.away.as_mut().filter(|away| away.is_wanted()) else { return false };
        let back = away.take_back(around.site, around.wants, task, self.keeper);
        if back == Back::Has {
            self.away = None;
            self.pausing.has_slots(around.site);
        }
        // Other tasks gave way to it, and there may be room for them.
        back != Back::Waits
    }

    /// Time that the supervisor may wait before it looks again; `None` if the time limit of the task has passed. The time
    /// limit does not count while the task is paused.
    pub(in crate::supervise) fn time_left(&self, site: &Site, task: &Task, begin: u64) -> Option<Duration> {
        let share = self.share.as_ref().map_or(Duration::MAX, |share| share.time_left());
        let look = if self.is_wanting() { LOOK } else { Duration::MAX };
        let time = HEARTBEAT.min(self.keeper.time_left()).min(share).min(self.pausing.time_left(site)).min(look);
        let Some(limit) = task.timeout_ms.filter(|_| !self.pausing.is_paused()) else { return Some(time) };
        let passed = site.host.boot_ms().saturating_sub(begin).saturating_sub(self.pausing.paused_ms(site));
        (passed < limit).then(|| time.min(Duration::from_millis(limit - passed)))
    }
}

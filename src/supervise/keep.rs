//! Keeps the locks of a living holder. It refreshes them in time, so that only a lock whose holder is stopped, hung or dead
//! becomes overdue (X1), and notices a sidecar or a lock file that was lost (X22). A failure is tried again; the locks stay held.

use super::HEARTBEAT;
use super::course::deadline::Deadline;
use crate::model::lock::Grant;
use crate::model::{LaneName, LockKind, Task};
use crate::os::{Child, Signal};
use crate::policy::lease::Due;
use crate::store::{Event, Hold, Kept, Site};
use std::time::Duration;

/// The shortest time between two refreshes, in milliseconds.
const SHORTEST_MS: u64 = 50;
/// The longest time until a failed refresh is tried again, in milliseconds.
const LATE_MS: u64 = 1000;

/// The longest time until a removed lock file is noticed, in milliseconds.
const LOOK_MS: u64 = 1000;

/// The locks of one holder, and the times at which they are due.
pub struct Keeper<'a> {
    site: &'a Site,
    kind: LockKind,
    holder: String,
    grants: Vec<Grant>,
    timeout_ms: &'a dyn Fn(&LaneName) -> u64,
    /// The time between two refreshes, in milliseconds: a third of the shortest timeout.
    every_ms: u64,
    /// The time of the next refresh, by the boot clock.
    due_ms: u64,
    /// The time of the next look at the sidecars, by the boot clock.
    look_ms: u64,
    /// The time of the next look at the lock files, by the boot clock.
    files_ms: u64,
    /// The locks of a `luzia lock` that were made anew.
    again: Vec<Hold>,
    /// The end of the host's lease, for a granted task.
    pub(super) deadline: Deadline,
}

/// The timeout of no lock.
fn never(_: &LaneName) -> u64 {
    u64::MAX
}

impl<'a> Keeper<'a> {
    /// A keeper of locks that were taken or refreshed just now.
    pub fn new(
        site: &'a Site,
        kind: LockKind,
        holder: String,
        grants: &[Grant],
        timeout_ms: &'a dyn Fn(&LaneName) -> u64,
    ) -> Self {
        let (every_ms, now) = (every_ms(grants, timeout_ms), site.host.boot_ms());
        let (due_ms, look_ms) = (now.saturating_add(every_ms), now.saturating_add(beat_ms()));
        let files_ms = now.saturating_add(LOOK_MS);
        let (grants, again) = (grants.to_vec(), Vec::new());
        let deadline = Deadline::default();
        Self { site, kind, holder, grants, timeout_ms, every_ms, due_ms, look_ms, files_ms, again, deadline }
    }

    /// A keeper of a task whose locks this process does not keep. It only knows the deadline of the task.
    pub(super) fn without_locks(site: &'a Site, task: Option<&Task>) -> Self {
        let deadline = task.map(|task| Deadline::of(site, task)).unwrap_or_default();
        Self { deadline, ..Self::new(site, LockKind::Task, String::new(), &[], &never) }
    }

    /// Time that the holder may wait for something else.
    pub fn time_left(&self) -> Duration {
        let next = self.due_ms.min(self.look_ms).min(self.files_ms);
        let time = Duration::from_millis(next.saturating_sub(self.site.host.boot_ms()));
        time.min(self.deadline.time_left(self.site))
    }

    /// Whether the deadline of the task asks for its end.
    pub(super) fn is_cut_off(&self) -> bool {
        self.deadline.due(self.site) != Due::No
    }

    /// The signal that ends a process of the task now: SIGKILL where the deadline has passed.
    pub(super) fn end_signal(&self) -> Signal {
        if self.deadline.due(self.site) == Due::Over { Signal::Kill } else { Signal::Term }
    }

    /// Does the work that is due, and lets the deadline end the waits for a child.
    pub(super) fn keep_beside(&mut self, child: &mut dyn Child) {
        self.keep();
        self.deadline.heeded_by(child);
    }

    /// Waits, and no longer than until the deadline asks for an action. Then does the work that is due.
    pub(super) fn pause(&mut self, time: Duration) {
        self.deadline.sleep(self.site, time);
        self.keep();
    }

    /// The locks.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Stops refreshing the locks of some lanes: they are given up.
    pub fn let_go(&mut self, lanes: &[LaneName]) {
        self.grants.retain(|grant| !lanes.contains(&grant.lane));
    }

    /// Refreshes further locks, which were taken just now.
    pub fn take_on(&mut self, grants: Vec<Grant>) {
        self.grants.extend(grants);
    }

    /// Does the work that is due. If no work is due, only asks for the time.
    pub fn keep(&mut self) {
        self.deadline.look(self.site);
        let now = self.site.host.boot_ms();
        if now >= self.files_ms {
            self.files_ms = now.saturating_add(LOOK_MS);
            if self.grants.iter().any(|grant| self.site.store.has_lost_file(grant)) {
                self.make_again();
                self.look_ms = now;
            }
            // A rule may have been set since.
            let every_ms = every_ms(&self.grants, self.timeout_ms);
            if every_ms < self.every_ms {
                self.due_ms = self.due_ms.saturating_sub(self.every_ms - every_ms);
            }
            self.every_ms = every_ms;
        }
        if now < self.due_ms.min(self.look_ms) {
            return;
        }
        self.look_ms = now.saturating_add(beat_ms());
        if now >= self.due_ms || self.grants.iter().any(|grant| self.site.store.has_lost_sidecar(grant)) {
            let is_late = !self.refresh();
            let wait = if is_late { self.every_ms.min(LATE_MS) } else { self.every_ms };
            self.due_ms = self.site.host.boot_ms().saturating_add(wait);
        }
    }

    /// Makes locks anew that another program removed. A lease may have been released by its holder, so it does not come back.
    fn make_again(&mut self) {
        if !matches!(self.kind, LockKind::Task | LockKind::Process) {
            return;
        }
        let store = &self.site.store;
        for grant in &self.grants {
            // A failure is tried again at the next look.
            let made = store.make_lock_again(self.kind, &self.holder, grant, (self.timeout_ms)(&grant.lane));
            self.again.extend(made.ok().flatten().filter(|_| self.kind == LockKind::Process));
        }
    }

    /// Refreshes the locks. False when one of them must be tried again soon.
    fn refresh(&self) -> bool {
        let mut is_done = true;
        for grant in &self.grants {
            match self.site.store.keep_lock(self.kind, &self.holder, grant, (self.timeout_ms)(&grant.lane)) {
                Ok(Kept::Refreshed | Kept::NotOurs) => {}
                Ok(Kept::Rebuilt) => {
                    let data = serde_json::json!({ "lock_id": grant.lock_id.0, "holder": self.holder });
                    self.site.store.note(&Event::new("sidecar_rebuilt").in_lane(&grant.lane).with(data));
                }
                Ok(Kept::Busy) | Err(_) => is_done = false,
            }
        }
        is_done
    }
}

/// A third of the shortest timeout of some lanes, in milliseconds.
fn every_ms(grants: &[Grant], timeout_ms: &dyn Fn(&LaneName) -> u64) -> u64 {
    let shortest = grants.iter().map(|grant| timeout_ms(&grant.lane)).min().unwrap_or(u64::MAX);
    (shortest / 3).max(SHORTEST_MS)
}

fn beat_ms() -> u64 {
    u64::try_from(HEARTBEAT.as_millis()).unwrap_or(u64::MAX)
}

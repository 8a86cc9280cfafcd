//! The deadline of a granted task: the end of the host's lease. Each loop of a supervisor takes it. It reads the lease whenever
//! the loop looks, and a timer of the boot clock ends the waits of the loop. A local task has none, which costs no system call.

use crate::model::task::Word;
use crate::model::{HostLease, Task};
use crate::os::Child;
use crate::policy::lease::{Cut, Due, cut};
use crate::store::Site;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// The deadline of one task.
#[derive(Default)]
pub struct Deadline(Option<Box<Lease>>);

/// The lease as the supervisor of one task knows it.
struct Lease {
    boot: u128,
    session: Word,
    grace_ms: u64,
    /// The last lease that was read whole. After an error it holds until its end.
    known: Option<HostLease>,
    cut: Cut,
    /// The moment of the timer, and the timer.
    armed: Option<(u64, Option<Arc<File>>)>,
}

impl Deadline {
    /// The deadline of a task.
    pub fn of(site: &Site, task: &Task) -> Self {
        let lease = task.terms.granted.as_ref().map(|granted| Lease {
            boot: site.host.boot(),
            session: granted.session,
            grace_ms: task.grace_ms,
            known: None,
            cut: Cut::default(),
            armed: None,
        });
        let mut deadline = Self(lease.map(Box::new));
        deadline.look(site);
        deadline
    }

    /// Reads the lease again, and sets the timer to the next moment.
    pub(in crate::supervise) fn look(&mut self, site: &Site) {
        let Some(lease) = &mut self.0 else { return };
        if let Ok(Some(read)) = site.store.host_lease() {
            lease.known = Some(read);
        }
        lease.cut = cut(lease.known.as_ref(), lease.boot, lease.session, lease.grace_ms);
        let next = lease.cut.next(site.host.boot_ms());
        if next != lease.armed.as_ref().map(|(at, _)| *at) {
            lease.armed = next.map(|at| (at, site.host.timer(at)));
        }
    }

    /// The effect of the lease now.
    pub fn due(&self, site: &Site) -> Due {
        self.0.as_ref().map_or(Due::No, |lease| lease.cut.due(site.host.boot_ms()))
    }

    /// Time until the next moment, as the lease was at the last look.
    pub(in crate::supervise) fn time_left(&self, site: &Site) -> Duration {
        let next = self.0.as_ref().and_then(|lease| lease.cut.next(site.host.boot_ms()));
        next.map_or(Duration::MAX, |at| Duration::from_millis(at.saturating_sub(site.host.boot_ms())))
    }

    /// Time until every process must be dead, in milliseconds, and no more than `most_ms`.
    pub fn grace_ms(&self, site: &Site, most_ms: u64) -> u64 {
        let left = |lease: &Lease| lease.cut.kill_ms.saturating_sub(site.host.boot_ms());
        self.0.as_ref().map_or(most_ms, |lease| left(lease).min(most_ms))
    }

    /// Lets the timer end the waits for a child.
    pub(in crate::supervise) fn heeded_by(&self, child: &mut dyn Child) {
        if let Some(lease) = &self.0 {
            child.heed_timer(lease.armed.as_ref().and_then(|(_, timer)| timer.clone()));
        }
    }

    /// Waits, and no longer than until the next moment.
    pub(in crate::supervise) fn sleep(&self, site: &Site, time: Duration) {
        match self.0.as_ref().and_then(|lease| lease.armed.as_ref()) {
            Some((_, Some(timer))) => site.host.sleep_beside(time, timer),
            _ => site.host.sleep(time.min(self.time_left(site))),
        }
    }
}

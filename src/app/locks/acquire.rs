//! `acquire`, `renew` and `check`: leases for scripts, and the question whether a lane could be had.

use crate::app::locks::release::{execution, held_error};
use crate::app::locks::waiting::{Bar, barred_error, behind_error};
use crate::app::{App, AppError, Kind};
use crate::model::evidence::Verdict;
use crate::model::lock::{Grant, loan};
use crate::model::process::Probe;
use crate::model::{Identity, LaneName, LockKind, Name, Timestamp, Who};
use crate::policy::staleness::judge;
use crate::store::{Event, Hold, LockView, Request};

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The lane.
    pub lane: LaneName,
    /// Who will hold it: `--task`.
    pub holder: String,
    /// How long to wait, in milliseconds.
    pub wait_ms: u64,
    /// A time to live of its own, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// The process whose end ends the lease.
    pub pid: Option<u32>,
    /// Synced, to survive a power cut.
    pub durable: bool,
}

/// A lease that was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leased {
    /// The grant.
    pub grant: Grant,
    /// Whether it was held already by the same holder.
    pub refreshed: bool,
    /// Lines for `-v`, in the words of their source.
    pub log: Vec<String>,
}

/// The answer of `check`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The lane.
    pub lane: LaneName,
    /// How many may hold it.
    pub limit: u32,
    /// Everything that occupies it.
    pub holders: Vec<LockView>,
    /// From when its rate allows a grant, when it does not now.
    pub limited_until: Option<Timestamp>,
}

impl Checked {
    /// Those holders that are not proven dead.
    pub fn living(&self) -> impl Iterator<Item = &LockView> {
        self.holders.iter().filter(|view| !matches!(view.verdict, Verdict::Stale { .. }))
    }

    /// Whether the next acquirer would get it.
    pub fn is_free(&self) -> bool {
        self.has_room() && self.limited_until.is_none()
    }

    /// Whether fewer hold it than may.
    pub fn has_room(&self) -> bool {
        loan::holders(self.living().map(|view| view.slot)) < self.limit
    }
}

impl App {
    /// Takes a lease, waiting for the lane as long as was asked. `tell` takes the lines that say for whom it waits.
    pub fn acquire(&self, lease: &Lease, tell: &mut dyn FnMut(&str)) -> Result<Leased, AppError> {
        let holder = self.holder_name(&lease.holder)?;
        Name::new(&holder).map_err(|error| AppError::usage(format!("--task: {error}")))?;
        if lease.ttl_ms == Some(0) {
            return Err(AppError::usage("--ttl must be longer than 0"));
        }
        if let Some(grant) = self.reentrant(&lease.lane)? {
            return Ok(Leased { grant, refreshed: true, log: Vec::new() });
        }
        let process = self.process_of(lease.pid)?;
        self.store.prepare()?;
        let request = Request {
            needs: vec![self.need(&lease.lane)],
            holder: holder.clone(),
            kind: LockKind::Lease,
            ttl_ms: lease.ttl_ms,
            process,
            pid_watched: lease.pid.is_some(),
            who: Who { asked_by: self.asked_by(self.host.identity().pid), ..self.who(&[]) },
            durable: lease.durable,
            lenders: Vec::new(),
        };
        let mut log = Vec::new();
        let begun_ms = self.host.boot_ms();
        match self.acquire_waiting(&request, Some(lease.wait_ms), tell, &mut log)? {
            Waited::Granted(grant, _) => {
                self.note_acquired(&grant, &holder, begun_ms);
                Ok(Leased { grant, refreshed: false, log })
            }
            Waited::Refreshed(grant) => Ok(Leased { grant, refreshed: true, log }),
            Waited::Behind => Err(behind_error(&lease.lane)),
            Waited::Barred(bar) => Err(barred_error(&bar, self.host.now())),
            Waited::Held(view) => {
                let mut error = held_error(&lease.lane, &view, self.host.now());
                if let Some(line) = locked_line(&lease.lane, view.holder(), &holder) {
                    self.store.note(&Event::new("lock_refused").in_lane(&lease.lane).saying(line.clone()));
                    log.push(line);
                }
                error.0.log = log;
                Err(error)
            }
        }
    }

    /// Tells that a lane was taken that has been waited for since a moment of the boot clock.
    pub(crate) fn note_acquired(&self, grant: &Grant, holder: &str, begun_ms: u64) {
        let waited_ms = self.host.boot_ms().saturating_sub(begun_ms);
        let lock = (grant.lock_id.0.as_str(), grant.fence.0);
        let data = serde_json::json!({ "lock_id": lock.0, "fence": lock.1, "holder": holder, "waited_ms": waited_ms });
        let mut event = Event::new("lock_acquired").in_lane(&grant.lane).with(data);
        event.user = grant.lane.is_user().then(|| grant.lane.key().to_string());
        self.store.note(&event);
    }

    pub(crate) fn note_lock(&self, name: &'static str, grant: &Grant, holder: &str, message: Option<String>) {
        let data = serde_json::json!({ "lock_id": grant.lock_id.0, "fence": grant.fence.0, "holder": holder });
        let mut event = Event::new(name).in_lane(&grant.lane).with(data);
        event.user = grant.lane.is_user().then(|| grant.lane.key().to_string());
        event.message = message;
        self.store.note(&event);
    }

    pub(crate) fn process_of(&self, pid: Option<u32>) -> Result<Identity, AppError> {
        let Some(pid) = pid else { return Ok(self.host.identity()) };
        match self.host.probe(pid) {
            Probe::Alive { start } => Ok(Identity { pid, start, boot_id: self.host.identity().boot_id }),
            Probe::Gone | Probe::Zombie | Probe::Unknown => {
                Err(AppError::usage(format!("there is no living process {pid}"))
                    .hint("--pid $$ names the calling shell"))
            }
        }
    }

    /// Extends a lease by its lock id.
    pub fn renew(&self, lane: &LaneName, lock_id: &str) -> Result<Grant, AppError> {
        let lost = |view: Option<&LockView>| lost_error(lane, lock_id, view, self.host.now());
        let views = self.holders(lane)?;
        let is_it = |view: &&LockView| view.lock_id() == Some(lock_id);
        let Some(view) = views.iter().find(is_it) else { return Err(lost(views.first())) };
        if let Some(grant) = self.reentrant(lane)?.filter(|grant| grant.lock_id.0 == lock_id) {
            return Ok(grant);
        }
        let Some(record) = view.record().filter(|record| record.kind == LockKind::Lease) else {
            return Err(AppError::new(
                Kind::No,
                "NOT_A_LEASE",
                format!("\"{lock_id}\" is no lease, and needs no renewal"),
            ));
        };
        if matches!(view.verdict, Verdict::Stale { .. }) {
            return Err(lost(Some(view)));
        }
        let request = Request {
            needs: vec![self.need(lane)],
            holder: record.task_id.clone().unwrap_or_default(),
            kind: LockKind::Lease,
            ttl_ms: None,
            process: self.host.identity(),
            pid_watched: false,
            who: Who::default(),
            durable: false,
            lenders: Vec::new(),
        };
        // The look and the refresh are two transactions; the refresh itself compares again, under the guard.
        match self.store.refresh(&request, lock_id, judge)? {
            Some(grant) => Ok(grant),
            None => Err(lost(None)),
        }
    }

    /// Whether the next acquirer would get a lane.
    pub fn check(&self, lane: &LaneName) -> Result<Checked, AppError> {
        let holders = self.holders(lane)?;
        let limited_until = self.limited_until(lane)?;
        Ok(Checked { lane: lane.clone(), limit: self.config().limit(lane), holders, limited_until })
    }

    /// The moment from which the rate of a lane allows a grant; `None` when it does now.
    pub(crate) fn limited_until(&self, lane: &LaneName) -> Result<Option<Timestamp>, AppError> {
        let rate = self.config().rate(lane);
        Ok(rate.map_or(Ok(None), |rate| self.store.granted_again(lane, rate))?)
    }
}

/// A lease that is no longer there to be renewed: who has the lane now, or why the lease is over.
fn lost_error(lane: &LaneName, lock_id: &str, view: Option<&LockView>, now: Timestamp) -> AppError {
    let (now_text, next) = match view {
        Some(view) if view.lock_id() == Some(lock_id) => {
            let (Verdict::Live { why, .. } | Verdict::Stale { why, .. } | Verdict::Refused { why }) = &view.verdict;
            (format!(": {}", why.text()), Vec::new())
        }
        Some(view) => {
            let held = held_error(lane, view, now);
            (format!("; {}", held.0.message), held.0.next)
        }
        None => (String::new(), Vec::new()),
    };
    let mut error =
        AppError::new(Kind::No, "LOCK_LOST", format!("lane \"{lane}\" is not held by \"{lock_id}\"{now_text}"))
            .hint("stop the work it protected, and acquire it again");
    error.0.next = next;
    error
}

/// What came of waiting for a lane.
pub(crate) enum Waited {
    /// It is held now; with the open lock files for kind `process`.
    Granted(Grant, Vec<Hold>),
    /// A lease was refreshed.
    Refreshed(Grant),
    /// The time is over, and the lane is held.
    Held(Box<LockView>),
    /// The time is over, and others go first in a lane that is free.
    Behind,
    /// The time is over, and a rule of a lane that is free keeps it.
    Barred(Bar),
}

/// `[MessageService] Thread 123 locked by execution 100, cannot acquire for 101` (S0.30).
pub fn locked_line(lane: &LaneName, holder: Option<&str>, wanted_by: &str) -> Option<String> {
    (lane.kind() == "thread").then(|| {
        format!(
            "[MessageService] Thread {} locked by execution {}, cannot acquire for {}",
            lane.key(),
            execution(holder.unwrap_or("unknown")),
            execution(wanted_by)
        )
    })
}

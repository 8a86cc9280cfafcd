//! `acquire`, `renew` and `check`: leases for scripts, and the question whether a lane could be had.

use crate::app::locks::cleanup::{broken_event, stale_line};
use crate::app::locks::release::{execution, held_error};
use crate::app::{App, AppError, Kind};
use crate::model::evidence::Verdict;
use crate::model::lock::Grant;
use crate::model::process::Probe;
use crate::model::{Identity, LaneName, LockKind, Name, Timestamp, Who};
use crate::policy::staleness::judge;
use crate::store::{Acquired, Event, LockView, Request, StoreError};
use std::time::Duration;

/// How long a waiter sleeps at most between two looks, in milliseconds.
const LONGEST_PAUSE_MS: u64 = 200;

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
}

impl Checked {
    /// Those holders that are not proven dead.
    pub fn living(&self) -> impl Iterator<Item = &LockView> {
        self.holders.iter().filter(|view| !matches!(view.verdict, Verdict::Stale { .. }))
    }

    /// Whether the next acquirer would get it.
    pub fn is_free(&self) -> bool {
        u32::try_from(self.living().count()).unwrap_or(u32::MAX) < self.limit
    }
}

impl App {
    /// Takes a lease, waiting for the lane as long as was asked.
    pub fn acquire(&self, lease: &Lease) -> Result<Leased, AppError> {
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
            who: self.who(&[]),
            durable: lease.durable,
        };
        let mut log = Vec::new();
        match self.acquire_waiting(&request, Some(lease.wait_ms), &mut log)? {
            Waited::Granted(grant, _) => {
                self.note_lock("lock_acquired", &grant, &holder, None);
                Ok(Leased { grant, refreshed: false, log })
            }
            Waited::Refreshed(grant) => Ok(Leased { grant, refreshed: true, log }),
            Waited::Held(view) => {
                let mut error = held_error(&lease.lane, &view, self.store.now());
                if let Some(line) = locked_line(&lease.lane, view.holder(), &holder) {
                    self.store.note(&Event::new("lock_refused").in_lane(&lease.lane).saying(line.clone()));
                    log.push(line);
                }
                error.0.log = log;
                Err(error)
            }
        }
    }

    pub(crate) fn note_lock(&self, name: &'static str, grant: &Grant, holder: &str, message: Option<String>) {
        let data = serde_json::json!({ "lock_id": grant.lock_id.0, "fence": grant.fence.0, "holder": holder });
        let mut event = Event::new(name).in_lane(&grant.lane).with(data);
        event.user = grant.lane.is_user().then(|| grant.lane.key().to_string());
        event.message = message;
        self.store.note(&event);
    }

    pub(crate) fn process_of(&self, pid: Option<u32>) -> Result<Identity, AppError> {
        let Some(pid) = pid else { return Ok(self.store.identity()) };
        match self.store.probe(pid) {
            Probe::Alive { start } => Ok(Identity { pid, start, boot_id: self.store.identity().boot_id }),
            Probe::Gone | Probe::Zombie | Probe::Unknown => {
                Err(AppError::usage(format!("there is no living process {pid}"))
                    .hint("--pid $$ names the calling shell"))
            }
        }
    }

    /// Tries to take the lanes until they are granted or the time is over (`None`: for ever).
    pub(crate) fn acquire_waiting(
        &self,
        request: &Request,
        wait_ms: Option<u64>,
        log: &mut Vec<String>,
    ) -> Result<Waited, AppError> {
        let begin = self.store.boot_ms();
        let mut changes = None;
        let mut recoveries = 0;
        loop {
            let answer = match self.store.acquire(request, judge) {
                // A wait without a limit never ends because others hold the guard; a limited one ends with its limit.
                Err(StoreError::GuardBusy { .. })
                    if wait_ms.is_none_or(|limit| self.store.boot_ms().saturating_sub(begin) < limit) =>
                {
                    continue;
                }
                other => other?,
            };
            let view = match answer {
                Acquired::Granted { grants, broken, files } => {
                    for stale in &broken {
                        self.store.note(&broken_event(stale));
                        log.extend(stale_line(stale));
                    }
                    let grant = grants.into_iter().next().ok_or_else(|| no_lane(request))?;
                    return Ok(Waited::Granted(grant, files));
                }
                Acquired::Refreshed(grant) => return Ok(Waited::Refreshed(grant)),
                Acquired::Held(view) => view,
                Acquired::NeedsRecovery(task) if recoveries < 10 => {
                    recoveries += 1;
                    self.recover_now(task)?;
                    continue;
                }
                Acquired::NeedsRecovery(task) => {
                    return Err(AppError::new(
                        Kind::Busy,
                        "RECOVERY_PENDING",
                        format!("{task} is dead, but its processes do not end"),
                    )
                    .hint("a lane is not given again while a process of its former holder lives")
                    .next(format!("luzia explain {task}")));
                }
            };
            let passed = self.store.boot_ms().saturating_sub(begin);
            let left = wait_ms.map_or(u64::MAX, |limit| limit.saturating_sub(passed));
            if left == 0 || self.is_own_session(&view) {
                return Ok(Waited::Held(view));
            }
            // A watch that starts now may have missed a release: look once more before waiting on it.
            let Some(changes) = &mut changes else {
                changes = Some(self.store.watch_locks());
                continue;
            };
            let pause = Duration::from_millis(left.min(LONGEST_PAUSE_MS));
            changes.wait(pause);
        }
    }

    /// Extends a lease by its lock id.
    pub fn renew(&self, lane: &LaneName, lock_id: &str) -> Result<Grant, AppError> {
        let lost = |view: Option<&LockView>| lost_error(lane, lock_id, view, self.store.now());
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
            process: self.store.identity(),
            pid_watched: false,
            who: Who::default(),
            durable: false,
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
        Ok(Checked { lane: lane.clone(), limit: self.config().limit(lane), holders })
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
    Granted(Grant, Vec<Box<dyn crate::os::Handle>>),
    /// A lease was refreshed.
    Refreshed(Grant),
    /// The time is over.
    Held(Box<LockView>),
}

fn no_lane(request: &Request) -> AppError {
    AppError::new(Kind::Bug, "BUG", format!("a request of {} named no lane", request.holder))
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

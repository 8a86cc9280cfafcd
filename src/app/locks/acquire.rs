//! `acquire`, `renew` and `check`: leases for scripts, and the check whether a lane is free.

use super::reentrancy::{reentrant, refuse_second_user};
use crate::app::capacity::{Bars, bars};
use crate::app::config_reload::config;
use crate::app::locks::release::{execution, held_error};
use crate::app::locks::waiting::acquire_waiting;
use crate::app::processes::asked_by;
use crate::app::query::list;
use crate::app::query::shared::{HeldLane, held_lane};
use crate::app::{App, AppError, Code};
use crate::model::lock::{Grant, loan};
use crate::model::sorted::sort_by_key;
use crate::model::{Identity, LaneName, LockKind, Name, Status, Task, TaskId, Timestamp, Who};
use crate::policy::lane_set::lane_set;
use crate::policy::staleness::judge;
use crate::store::{Event, Hold, LockView, Request};
use std::collections::BTreeSet;

/// A request for leases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The lanes, as `lanes_to_take` gives them: all are taken, or none.
    pub lanes: Vec<LaneName>,
    /// The name of the holder: `--task`.
    pub holder: String,
    /// Longest wait, in milliseconds.
    pub wait_ms: u64,
    /// A time to live of its own, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// The process whose end ends the lease.
    pub pid: Option<u32>,
    /// Synced, to survive a power cut.
    pub durable: bool,
}

/// The leases that were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Leased {
    /// The grants, in the order of the lanes.
    pub grants: Vec<Grant>,
    /// The lanes that the same holder, or the task around this process, had already.
    pub refreshed: Vec<LaneName>,
    /// Lines for `-v`, in the words of their source.
    pub log: Vec<String>,
}

/// The answer of `check`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The lane.
    pub lane: LaneName,
    /// Number of holders that the lane may have.
    pub limit: u32,
    /// Everything that occupies the lane.
    pub holders: Vec<LockView>,
    /// The bars of the lane, apart from its holders.
    pub bars: Bars,
}

impl Checked {
    /// The holders that are not proven dead.
    pub fn living(&self) -> impl Iterator<Item = &LockView> {
        self.holders.iter().filter(|view| !view.verdict.is_stale())
    }

    /// Whether the next acquirer would get the lane.
    pub fn is_free(&self) -> bool {
        self.has_room() && self.bars.is_none()
    }

    /// Whether the lane has fewer holders than it may have.
    pub fn has_room(&self) -> bool {
        loan::holders(self.living().map(|view| view.slot)) < self.limit
    }
}

impl Leased {
    /// The distinct ids of the locks, that of the first lane first: locks that were taken together have one id.
    pub fn lock_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for grant in &self.grants {
            if !ids.contains(&grant.lock_id.0.as_str()) {
                ids.push(&grant.lock_id.0);
            }
        }
        ids
    }
}

/// The lanes of a request, by what the task around this process holds.
pub(crate) struct Around {
    /// The lanes that the task holds already.
    pub held: Vec<Grant>,
    /// The other lanes, in their order.
    pub wanted: Vec<LaneName>,
}

/// The lanes that one request names, in the order in which they are taken. A lane that is named twice, a second user and too
/// many lanes are refused.
pub fn lanes_to_take(named: Vec<LaneName>) -> Result<Vec<LaneName>, AppError> {
    lane_set(named).map_err(|wrong| {
        AppError::usage(wrong.to_string()).hint("nothing was changed; name each lane once, and one user at most")
    })
}

/// Separates the lanes that the task around this process holds from those that are still to be taken.
pub(crate) fn split_by_holder(app: &App, lanes: &[LaneName]) -> Result<Around, AppError> {
    let mut around = Around { held: Vec::new(), wanted: Vec::new() };
    for lane in lanes {
        match reentrant(app, lane)? {
            Some(grant) => around.held.push(grant),
            None => around.wanted.push(lane.clone()),
        }
    }
    refuse_second_user(app, &around.wanted)?;
    Ok(around)
}

/// Checks the words of a lease, and separates its lanes as [`split_by_holder`] does.
pub(crate) fn split_lease(app: &App, lease: &Lease, holder: &str) -> Result<Around, AppError> {
    Name::new(holder).map_err(|error| AppError::usage(format!("--task: {error}")))?;
    if lease.ttl_ms == Some(0) {
        return Err(AppError::usage("--ttl must be longer than 0"));
    }
    split_by_holder(app, &lease.lanes)
}

/// Takes leases of all lanes or of none, waiting as long as was asked. `tell` gets the lines that say for whom it waits.
pub fn acquire(app: &App, lease: &Lease, tell: &mut dyn FnMut(&str)) -> Result<Leased, AppError> {
    let holder = app.holder_name(&lease.holder)?;
    let around = split_lease(app, lease, &holder)?;
    if around.wanted.is_empty() {
        return Ok(around.leased(&lease.lanes, Granted::default()));
    }
    let process = process_of(app, lease.pid)?;
    app.store.prepare()?;
    mark_leases_of_task(app, &holder)?;
    let request = Request {
        ttl_ms: lease.ttl_ms,
        process,
        pid_watched: lease.pid.is_some(),
        who: Who { asked_by: asked_by(app, app.host.identity().pid), ..app.who(&[]) },
        durable: lease.durable,
        ..app.request(app.needs(&around.wanted), LockKind::Lease, holder)
    };
    let begun_ms = app.host.boot_ms();
    let granted = acquire_waiting(app, &request, Some(lease.wait_ms), tell, &|full| {
        let note = |lane: &LaneName, line: &str| app.store.note(&Event::new("lock_refused").in_lane(lane).saying(line));
        Ok(full.locked_lines(&request.holder, note))
    })?;
    note_granted_now(app, &granted, &request.holder, begun_ms);
    Ok(around.leased(&lease.lanes, granted))
}

/// A lease that a task takes under its own name while it runs ends with the task.
fn mark_leases_of_task(app: &App, holder: &str) -> Result<(), AppError> {
    let Some(id) = TaskId::parse(holder) else { return Ok(()) };
    let has_run = |task: &Task| matches!(task.status(), Status::Running | Status::Waiting);
    if !app.find(id).is_ok_and(|found| found.is_some_and(|(_, task)| has_run(&task))) {
        return Ok(());
    }
    match app.store.mark_leases(id).map_err(AppError::from) {
        // In a sandbox that may write only in `locks`, the lease ends by its time.
        Err(error) if matches!(error.code(), Code::NoPermission | Code::ReadOnly) => Ok(()),
        marked => marked,
    }
}

/// Reports the lanes that were taken, and not those that were only refreshed.
pub(crate) fn note_granted_now(app: &App, granted: &Granted, holder: &str, begun_ms: u64) {
    for grant in granted.taken() {
        note_acquired(app, grant, holder, begun_ms);
    }
}

/// Reports that a lane was taken, after a wait since a moment of the boot clock.
pub(crate) fn note_acquired(app: &App, grant: &Grant, holder: &str, begun_ms: u64) {
    let waited_ms = app.host.boot_ms().saturating_sub(begun_ms);
    let lock = (grant.lock_id.0.as_str(), grant.fence.0);
    let data = serde_json::json!({ "lock_id": lock.0, "fence": lock.1, "holder": holder, "waited_ms": waited_ms });
    app.store.note(&Event::new("lock_acquired").for_lock(&grant.lane).with(data));
}

pub(crate) fn note_lock(app: &App, name: &'static str, grant: &Grant, holder: &str, message: Option<String>) {
    let data = serde_json::json!({ "lock_id": grant.lock_id.0, "fence": grant.fence.0, "holder": holder });
    app.store.note(&Event { message, ..Event::new(name).for_lock(&grant.lane).with(data) });
}

pub(crate) fn process_of(app: &App, pid: Option<u32>) -> Result<Identity, AppError> {
    let Some(pid) = pid else { return Ok(app.host.identity()) };
    app.host.living(pid).ok_or_else(|| {
        AppError::usage(format!("there is no living process {pid}")).hint("--pid $$ names the calling shell")
    })
}

/// The lanes that have a lock of some kind, each once.
pub(super) fn lanes_where(app: &App, wanted: impl Fn(&LockView) -> bool) -> Result<Vec<LaneName>, AppError> {
    let locks = list::locks(app)?.into_iter().filter(wanted);
    let lanes: BTreeSet<LaneName> = locks.filter_map(|view| view.lane).collect();
    Ok(lanes.into_iter().collect())
}

/// Extends leases by their lock id: in the named lanes, or, if none is named, in all lanes of the lock. Returns the extended
/// leases, and the first error among the others.
pub fn renew_all(app: &App, lanes: &[LaneName], lock_id: &str) -> Result<(Vec<Grant>, Option<AppError>), AppError> {
    let mut named = lanes.to_vec();
    if named.is_empty() {
        named = lanes_to_take(lanes_where(app, |view| view.lock_id() == Some(lock_id))?)?;
    }
    if named.is_empty() {
        let error = AppError::new(Code::LockLost, format!("no lane is held by \"{lock_id}\""));
        return Err(error
            .hint("stop the work that the lock protected, then acquire the lane again")
            .next("luzia list-locks"));
    }
    let (mut grants, mut failed) = (Vec::new(), None);
    for lane in &named {
        match renew(app, lane, lock_id) {
            Ok(grant) => grants.push(grant),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Ok((grants, failed))
}

/// Extends a lease by its lock id.
fn renew(app: &App, lane: &LaneName, lock_id: &str) -> Result<Grant, AppError> {
    let lost = |view: Option<&LockView>| lost_error(lane, lock_id, view, app.host.now());
    let views = app.holders(lane)?;
    let is_it = |view: &&LockView| view.lock_id() == Some(lock_id);
    let Some(view) = views.iter().find(is_it) else { return Err(lost(views.first())) };
    if let Some(grant) = reentrant(app, lane)?.filter(|grant| grant.lock_id.0 == lock_id) {
        return Ok(grant);
    }
    let Some(record) = view.record().filter(|record| record.kind == LockKind::Lease) else {
        return Err(AppError::new(Code::NotALease, format!("\"{lock_id}\" is not a lease, and needs no renewal")));
    };
    if view.verdict.is_stale() {
        return Err(lost(Some(view)));
    }
    let request = app.request(vec![app.need(lane)], LockKind::Lease, record.task_id.clone().unwrap_or_default());
    // The look and the refresh are two transactions; the refresh itself compares again, under the guard.
    match app.store.refresh(&request, lock_id, judge)? {
        Some(grant) => Ok(grant),
        None => Err(lost(None)),
    }
}

/// Whether the next acquirer would get a lane.
pub fn check(app: &App, lane: &LaneName) -> Result<Checked, AppError> {
    if let Some(fleet) = &app.fleet {
        let HeldLane { limit, bars, holders } = held_lane(&**fleet, lane)?;
        return Ok(Checked { lane: lane.clone(), limit, holders, bars });
    }
    let holders = app.holders(lane)?;
    let bars = bars(app, lane, &holders)?;
    Ok(Checked { lane: lane.clone(), limit: config(app).limit(lane), holders, bars })
}

/// The error of a lease that can no longer be renewed: it names the present holder of the lane, or the reason why the lease
/// is over.
pub(crate) fn lost_error(lane: &LaneName, lock_id: &str, view: Option<&LockView>, now: Timestamp) -> AppError {
    let (now_text, next) = match view {
        Some(view) if view.lock_id() == Some(lock_id) => (format!(": {}", view.verdict.why().text()), Vec::new()),
        Some(view) => {
            let held = held_error(lane, view, now);
            (format!("; {held}"), held.refusal().next.clone())
        }
        None => (String::new(), Vec::new()),
    };
    AppError::new(Code::LockLost, format!("lane \"{lane}\" is not held by \"{lock_id}\"{now_text}"))
        .hint("stop the work that the lock protected, then acquire the lane again")
        .with_next(next)
}

/// The grants of a request.
#[derive(Default)]
pub(crate) struct Granted {
    /// In the order of the request.
    pub grants: Vec<Grant>,
    /// The lanes whose lease was only refreshed.
    pub refreshed: Vec<LaneName>,
    /// For kinds `process` and `session`: the open lock files of the lanes that were taken, in their order.
    pub files: Vec<Hold>,
    /// Lines for `-v`, in the words of their source.
    pub log: Vec<String>,
}

impl Granted {
    /// The grants that were taken now.
    pub fn taken(&self) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(|grant| !self.refreshed.contains(&grant.lane))
    }
}

impl Around {
    /// The lanes that the task around holds together with the granted ones, in the order of the lanes.
    pub fn leased(self, lanes: &[LaneName], granted: Granted) -> Leased {
        let mut leased = Leased { grants: self.held, refreshed: granted.refreshed, log: granted.log };
        leased.refreshed.extend(leased.grants.iter().map(|grant| grant.lane.clone()));
        leased.grants.extend(granted.grants);
        sort_by_key(&mut leased.grants, |grant| lanes.iter().position(|lane| *lane == grant.lane));
        leased
    }
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

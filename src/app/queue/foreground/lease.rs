//! `acquire`, `renew` and `release` with a store of several hosts. A task of this host keeps the lanes of a lease: its own command, the
//! keeper, waits until the lease is given back or has run out. So the end of the lease of the host, and a cancel from any host, end
//! the lease.

use super::{Wait, begun, end, grants, keeper_of, left_behind, lost, mark, own_line};
use crate::app::ask::cancel;
use crate::app::fleet::lanes::shortest_timeout_ms;
use crate::app::fleet::leases::{Term, begin, extend, finish, term};
use crate::app::fleet::{Fleet, local_only, refuse_local};
use crate::app::locks::acquire::{Granted, Lease, Leased, lost_error, note_granted_now, process_of, split_lease};
use crate::app::locks::reentrancy::{keeps, reentrant};
use crate::app::locks::release::{Given, held_error, living_error, released};
use crate::app::queue::enqueue::{Caller, enqueue};
use crate::app::{App, AppError, Code, Kind, Obstacle};
use crate::model::lock::Grant;
use crate::model::task::{Environment, KEEP_LEASE, LeaseOf};
use crate::model::{Identity, LaneName, LockKind, Task, TaskId};
use crate::store::{CancelRequest, LockView, Release, broken};
use std::collections::BTreeSet;
use std::time::Duration;

/// Longest time between two looks of a keeper whose lease has not begun.
const SOON: Duration = Duration::from_secs(1);
/// Longest time between two looks of a keeper at its lease.
const LOOK: Duration = Duration::from_secs(60);
const UNDONE: &str = "nothing was taken";

/// A request for leases of all hosts.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The leases.
    pub lease: &'a Lease,
    /// A note for people.
    pub label: Option<&'a str>,
    /// The program of this process.
    pub program: &'a str,
}

/// Takes leases of all lanes or of none. `tell` gets the first reason of a wait.
pub fn acquire_shared(
    app: &App,
    fleet: &dyn Fleet,
    caller: Caller,
    wanted: Wanted<'_>,
    tell: &mut dyn FnMut(&Obstacle, &Task),
) -> Result<Leased, AppError> {
    let lease = wanted.lease;
    let has_global = lease.lanes.iter().any(LaneName::is_global);
    refuse_local([(lease.durable, "--durable"), (has_global, "the lane \"global\"")])?;
    let holder = app.holder_name(&lease.holder)?;
    let mut around = split_lease(app, lease, &holder)?;
    let (mut own, mut free) = (Vec::new(), Vec::new());
    for lane in std::mem::take(&mut around.wanted) {
        match own_lease(app, fleet, &lane, &holder)? {
            Some(found) => own.push(found),
            None => free.push(lane),
        }
    }
    let mut granted = Granted::default();
    if !free.is_empty() {
        let begun_ms = app.host.boot_ms();
        granted.grants = take(app, fleet, caller, (wanted, &holder), &free, tell)?;
        note_granted_now(app, &granted, &holder, begun_ms);
    }
    let keepers: BTreeSet<TaskId> = own.iter().map(|(id, _)| *id).collect();
    keepers.into_iter().try_for_each(|id| extended(app, fleet, id, lease.ttl_ms, &own))?;
    for (_, view) in &own {
        granted.refreshed.extend(view.lane.clone());
        granted.grants.extend(grant_of(view));
    }
    Ok(around.leased(&lease.lanes, granted))
}

/// The lease of a lane that the same holder has on this host.
fn own_lease(
    app: &App,
    fleet: &dyn Fleet,
    lane: &LaneName,
    holder: &str,
) -> Result<Option<(TaskId, LockView)>, AppError> {
    let of_holder =
        fleet.keepers(Some(lane))?.into_iter().find(|(_, view)| is_lease(view) && view.holder() == Some(holder));
    let Some((id, view)) = of_holder.filter(|(_, view)| view.lock_id().is_some()) else { return Ok(None) };
    Ok(app.store.find(id)?.is_some().then_some((id, view)))
}

fn is_lease(view: &LockView) -> bool {
    view.record().is_some_and(|record| record.kind == LockKind::Lease)
}

fn grant_of(view: &LockView) -> Option<Grant> {
    Some(view.record()?.grant(view.lane.as_ref()?, view.slot))
}

/// Queues a keeper for lanes that this holder does not have, and waits until it holds them.
fn take(
    app: &App,
    fleet: &dyn Fleet,
    caller: Caller,
    (wanted, holder): (Wanted<'_>, &str),
    lanes: &[LaneName],
    tell: &mut dyn FnMut(&Obstacle, &Task),
) -> Result<Vec<Grant>, AppError> {
    let lease = wanted.lease;
    let watched = lease.pid.map(|pid| process_of(app, Some(pid))).transpose()?;
    let ttl_ms = match lease.ttl_ms {
        Some(ttl_ms) => ttl_ms,
        None => shortest_timeout_ms(app, fleet, lanes)?,
    };
    let kept = LeaseOf { holder: holder.to_owned(), caller: app.host.identity(), watched };
    let command = own_line(app, wanted.program, KEEP_LEASE, &kept.words()).collect();
    let request = keeper_of(lanes, wanted.label.map(str::to_owned), command);
    let bare = Caller { env: Environment::default(), cwd: Ok("/".to_owned()), ..caller };
    let id = enqueue(app, &request, &bare)?.task.id;
    let wait = Wait { longest_ms: Some(lease.wait_ms), undone: UNDONE };
    let taken = begun(app, fleet, id, wait, tell).and_then(|_| begin_lease(app, fleet, id, lanes, ttl_ms));
    let taken = taken.map_err(|error| left_behind(error, UNDONE));
    if taken.is_err() {
        // The keeper ends with this process at the latest; one that holds the lanes already ends now.
        let _ = cancel(app, id, &CancelRequest::by("luzia acquire", UNDONE));
    }
    taken
}

/// Begins the lease of a keeper that holds the lanes, for this host and for all others.
fn begin_lease(
    app: &App,
    fleet: &dyn Fleet,
    id: TaskId,
    lanes: &[LaneName],
    ttl_ms: u64,
) -> Result<Vec<Grant>, AppError> {
    let grants = grants(app, id, lanes, UNDONE)?;
    begin(app, id, ttl_ms)?;
    let lock_id = grants.first().map(|grant| grant.lock_id.to_string()).unwrap_or_default();
    let lives = app.run_dir.is_tree_locked(id)?;
    if !fleet.note_lease(id, &lock_id, app.host.now().plus_ms(signed(ttl_ms)))? || !lives {
        return Err(lost(format!("{id}, which was to keep the lanes, has ended"), UNDONE));
    }
    Ok(grants)
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// Extends the lease that a task keeps. An error if it is over, or if another host has it.
fn extended(
    app: &App,
    fleet: &dyn Fleet,
    id: TaskId,
    ttl_ms: Option<u64>,
    views: &[(TaskId, LockView)],
) -> Result<(), AppError> {
    let Some((_, view)) = views.iter().find(|(keeper, _)| *keeper == id) else { return Ok(()) };
    let (Some(lane), Some(lock_id)) = (&view.lane, view.lock_id()) else { return Ok(()) };
    if app.store.find(id)?.is_none() {
        let host = view.record().and_then(|record| record.host.clone()).unwrap_or_default();
        return Err(local_only("the renewal of a lease").hint(format!("host \"{host}\" has it; renew it there")));
    }
    if let Some(Term { ttl_ms, .. }) = extend(app, id, ttl_ms)?
        && fleet.note_lease(id, lock_id, app.host.now().plus_ms(signed(ttl_ms)))?
    {
        return Ok(());
    }
    Err(lost_error(lane, lock_id, None, app.host.now()))
}

/// Extends leases by their lock id: in the named lanes, or, if none is named, in all lanes of the lock. Returns the extended leases, and
/// the first error among the others.
pub fn renew_shared(
    app: &App,
    fleet: &dyn Fleet,
    lanes: &[LaneName],
    lock_id: &str,
) -> Result<(Vec<Grant>, Option<AppError>), AppError> {
    let all = fleet.keepers(None)?;
    let own: Vec<_> = all.iter().filter(|(_, view)| view.lock_id() == Some(lock_id)).cloned().collect();
    let mut named = lanes.to_vec();
    if named.is_empty() {
        named.extend(own.iter().filter_map(|(_, view)| view.lane.clone()));
        named.dedup();
    }
    if named.is_empty() {
        let error = AppError::new(Code::LockLost, format!("no lane is held by \"{lock_id}\""));
        return Err(error
            .hint("stop the work that the lock protected, then acquire the lane again")
            .next("luzia list-locks"));
    }
    let (mut grants, mut failed) = (Vec::new(), None);
    for lane in &named {
        let renewed = match own.iter().find(|(_, view)| view.lane.as_ref() == Some(lane)) {
            Some((id, view)) => extended(app, fleet, *id, None, &own).map(|()| grant_of(view)),
            None => reentrant(app, lane).and_then(|grant| match grant.filter(|grant| grant.lock_id.0 == lock_id) {
                Some(grant) => Ok(Some(grant)),
                None => {
                    let other = all.iter().find(|(_, view)| view.lane.as_ref() == Some(lane));
                    Err(lost_error(lane, lock_id, other.map(|(_, view)| view), app.host.now()))
                }
            }),
        };
        match renewed {
            Ok(grant) => grants.extend(grant),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Ok((grants, failed))
}

/// The locks of a release.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name of the holder.
    pub holder: Option<&'a str>,
    /// The lock id.
    pub lock_id: Option<&'a str>,
    /// `--force`.
    pub force: bool,
}

/// Releases lanes: ends the leases that hold them, with `force` any task. Gives an answer for each lane, in their order.
pub fn release_shared(
    app: &App,
    fleet: &dyn Fleet,
    lanes: &[LaneName],
    which: Named<'_>,
) -> Result<Vec<Result<Given, AppError>>, AppError> {
    let meant = lanes.iter().map(|lane| meant(app, fleet, lane, lanes, which)).collect::<Vec<_>>();
    let mut ended = BTreeSet::new();
    for one in meant.iter().flatten() {
        if let Meant::Holder(id, view) = one
            && ended.insert(*id)
        {
            end_lease(app, fleet, *id, is_lease(view))?;
        }
    }
    let told = |(lane, one): (&LaneName, Result<Meant, AppError>)| match one? {
        Meant::Holder(_, view) => Ok(released(app, broken(lane, &view))),
        Meant::Nobody(given) => Ok(given),
    };
    Ok(lanes.iter().zip(meant).map(told).collect())
}

/// The object of the release of a lane.
enum Meant {
    /// The task that has the lane.
    Holder(TaskId, LockView),
    /// Nothing is to be released: the answer.
    Nobody(Given),
}

/// The object of the release of a lane. An error if its holder is not to be ended.
fn meant(
    app: &App,
    fleet: &dyn Fleet,
    lane: &LaneName,
    lanes: &[LaneName],
    Named { holder, lock_id, force }: Named<'_>,
) -> Result<Meant, AppError> {
    refuse_local([(lane.is_global(), "the lane \"global\"")])?;
    let holder = holder.map(|name| app.holder_name(name)).transpose()?;
    let release = match (lock_id, &holder) {
        (Some(id), _) => Release::LockId(id.to_owned()),
        (None, Some(holder)) => Release::Holder(holder.clone()),
        (None, None) => Release::Anybody,
    };
    if let Some(keeper) = if force { None } else { keeps(app, lane, &release)? } {
        return Ok(Meant::Nobody(Given { kept_by: Some(keeper), ..Given::default() }));
    }
    let views = fleet.keepers(Some(lane))?;
    let Some((_, first)) = views.first() else { return Ok(Meant::Nobody(Given::default())) };
    let is_meant = |view: &LockView| {
        lock_id.is_none_or(|id| view.lock_id() == Some(id))
            && holder.as_deref().is_none_or(|name| view.holder() == Some(name))
    };
    let Some((id, view)) = views.iter().find(|(_, view)| is_meant(view)) else {
        let error = held_error(lane, first, app.host.now());
        return Err(error.with_kind(Kind::No).with_code(Code::NotTheHolder));
    };
    let task = app.existing(*id)?;
    let is_open = task.lease().is_some_and(|lease| lease.watched.is_none() || release != Release::Anybody);
    if !is_open && !force {
        return Err(living_error(app, lane, view, false));
    }
    let others: Vec<LaneName> = task.all_lanes().into_iter().filter(|other| !other.is_global()).collect();
    if is_lease(view) && others.iter().any(|other| !lanes.contains(other)) {
        let all: Vec<String> = others.iter().map(|other| format!("-l {other}")).collect();
        return Err(local_only("the release of one of several lanes that were taken together")
            .hint(format!("nothing was released; name all of them: {}", all.join(" "))));
    }
    Ok(Meant::Holder(*id, view.clone()))
}

/// Ends the task that keeps a lane. That of a lease of this host is let go, and completes.
fn end_lease(app: &App, fleet: &dyn Fleet, id: TaskId, is_lease: bool) -> Result<(), AppError> {
    if is_lease && let Some(started) = app.store.started(id)?.flatten() {
        finish(app, id)?;
        end(app, fleet, id, &mark(app, id, &started))?;
    }
    match cancel(app, id, &CancelRequest::by("luzia release", "its lane was released")) {
        Err(error) if error.code() == Code::TaskOver => Ok(()),
        ended => ended.map(drop),
    }
}

/// Keeps the lanes of the task around this process until its lease is over, or until a process on which it depends has ended.
pub fn keep_lease(app: &App, kept: &LeaseOf, is_told_to_end: &mut dyn FnMut() -> bool) -> Result<(), AppError> {
    let Some(id) = app.inside.as_ref().map(|inside| inside.task) else { return Ok(()) };
    let lives = |process: &Identity| !app.host.await_death(process, Duration::ZERO);
    let mut begun = app.store.watch_steps(id, &kept.caller)?;
    let mut changes = app.store.watch_steps(id, kept.watched.as_ref().unwrap_or(&app.host.identity()))?;
    while !is_told_to_end() && kept.watched.as_ref().is_none_or(lives) {
        match term(app, id)? {
            None if lives(&kept.caller) => begun.wait(SOON),
            // It may have begun just before the end of its caller.
            None if term(app, id)?.is_some() => {}
            None | Some(Term { end_ms: 0, .. }) => break,
            Some(Term { end_ms, .. }) => {
                let left = Duration::from_millis(end_ms.saturating_sub(app.host.boot_ms()).saturating_add(1));
                changes.wait(left.min(LOOK));
            }
        }
    }
    Ok(())
}

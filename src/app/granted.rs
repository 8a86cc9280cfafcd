//! Verbs for a scheduler of several hosts, which grants tasks to this one. Its agent calls them in process; no command line
//! leads to them. Each is one transaction of the store, and a repetition changes nothing.

use crate::app::lifecycle::{change_waiting, enqueued, not_waiting, request_end, wake_dependents};
use crate::app::pass::{self, Pass, recover_one};
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError, Code};
use crate::model::task::{FIRST_GRANTED, Granted, Word};
use crate::model::{HostLease, Status, Task, TaskId};
use crate::policy::lease::{Due, cut};
use crate::store::{CancelRequest, Removed, Taken};
use crate::supervise::{kill_leftovers, recover};
use std::time::Duration;

/// Longest time between two looks of the watcher at the lease.
const LOOK: Duration = Duration::from_secs(1);
/// Time between two looks of the watcher while granted tasks end.
const AGAIN: Duration = Duration::from_millis(100);
/// Longest time until the processes of a host that leaves have ended, in milliseconds.
const LEAVE_MS: u64 = 20_000;

/// Makes the state directory ready for granted tasks, with space for every later lease.
pub fn prepare_host(app: &App) -> Result<(), AppError> {
    app.store.prepare()?;
    Ok(app.store.prepare_lease()?)
}

/// Renews the lease of the host. `sent_ms` is the boot clock before the request for the renewal was sent: the scheduler counts
/// from a later moment.
pub fn renew_lease(app: &App, session: Word, sent_ms: u64, length_ms: u64) -> Result<(), AppError> {
    let end_ms = sent_ms.saturating_add(length_ms);
    Ok(app.store.write_lease(&HostLease { boot: app.host.boot(), session, end_ms, length_ms })?)
}

/// Ends the lease now, because the scheduler has refused to renew it. The supervisors kill their granted tasks at once.
pub fn end_lease(app: &App, session: Word) -> Result<(), AppError> {
    app.store.write_lease(&HostLease { boot: app.host.boot(), session, end_ms: 0, length_ms: 0 })?;
    for id in app.store.granted_in_flight()? {
        wake_supervisor(app, id)?;
    }
    Ok(())
}

/// Ends all that the agent of a host has left: its lease, its granted tasks, and their watcher. The agent must have ended.
pub fn leave_store(app: &App) -> Result<(), AppError> {
    let Some(lease) = app.store.host_lease()? else { return Ok(()) };
    end_lease(app, lease.session)?;
    let until = app.host.boot_ms() + LEAVE_MS;
    while app.host.boot_ms() < until {
        if app.store.take_lease_watch()?.is_some() && app.store.granted_in_flight()?.is_empty() {
            return Ok(());
        }
        app.host.sleep(AGAIN);
    }
    let message = format!("tasks in \"{}\" have not ended yet", app.store_path());
    Err(AppError::new(Code::RecoveryPending, message).hint("try again"))
}

/// Accepts a task under the number, the token and the grants of the scheduler. A pass starts it.
pub fn accept_granted(app: &App, task: &Task) -> Result<Taken, AppError> {
    if task.id < FIRST_GRANTED || task.terms.granted.is_none() {
        return Err(AppError::usage(format!("{} is not a task of another scheduler", task.id)));
    }
    Ok(app.store.accept_granted(task, &enqueued)?)
}

/// Asks for the end of a granted task without waiting for it. False if the caller must ask again.
pub fn cancel_granted(app: &App, id: TaskId, token: Word, request: &CancelRequest) -> Result<bool, AppError> {
    of_token(app, id, token)?;
    request_end(app, id, request)
}

/// Gives a granted task that has not started, or that waits without a process, new grants. False if another process acts for
/// the task right now, so that the caller must ask again.
pub fn renew_grants(app: &App, id: TaskId, token: Word, granted: Granted) -> Result<bool, AppError> {
    let task = of_token(app, id, token)?;
    if task.status() == Status::Pending {
        return match change_waiting(app, id, "edited", |task| Ok(task.clone().with_grants(granted))) {
            Err(error) if error.code() == Code::TaskBusy => Ok(false),
            changed => changed.map(|_| true),
        };
    }
    match app.store.take_waiting(id)? {
        Removed::Taken(task, lock) => {
            app.store.change_resting(&task.with_grants(granted), lock)?;
            Ok(true)
        }
        Removed::NotPending => Err(not_waiting(id, task.status())),
        Removed::Busy => Ok(false),
    }
}

/// The granted tasks that are over and whose ends the scheduler does not know, each with its record.
pub fn unposted_ends(app: &App) -> Result<Vec<Task>, AppError> {
    app.store.unposted()?.into_iter().map(|id| app.existing(id)).collect()
}

/// Notes that the scheduler knows the end of a granted task: then pruning may remove it.
pub fn posted(app: &App, id: TaskId, token: Word) -> Result<(), AppError> {
    of_token(app, id, token)?;
    Ok(app.store.mark_posted(id)?)
}

/// Starts the watcher of the lease, unless one lives. The agent calls this with each renewal.
pub fn start_watcher(app: &App) -> Result<(), AppError> {
    if let Some(lock) = app.store.take_lease_watch()? {
        let args: Vec<String> = app.same_place.iter().cloned().chain(["watch-lease".to_owned()]).collect();
        app.run_dir.launch_supervisor(&args, lock)?;
    }
    app.host.reap();
    Ok(())
}

/// Watches the lease until it has ended and no granted task is in flight. Agent and supervisors may all be killed: at the end of
/// the lease this process kills the trees that have no supervisor. This process was started with the lock of the watch as its
/// standard input.
pub fn watch_lease(app: &App) -> Result<(), AppError> {
    let Some(_lock) = app.store.become_lease_watcher()? else { return Ok(()) };
    loop {
        let lease = app.store.host_lease().ok().flatten();
        let (boot, now) = (app.host.boot(), app.host.boot_ms());
        let cut = lease.map(|lease| cut(Some(&lease), boot, lease.session, lease.length_ms)).unwrap_or_default();
        let due = cut.due(now);
        if due != Due::No {
            // After an error the next look tries again.
            let _ = end_orphans(app, due);
            if due == Due::Over && app.store.granted_in_flight().is_ok_and(|ids| ids.is_empty()) {
                return pass::pass(app).map(drop);
            }
        }
        let pause = if due == Due::No { LOOK } else { AGAIN };
        match cut.next(now).and_then(|at| app.host.timer(at)) {
            Some(timer) => app.host.sleep_beside(pause, &timer),
            None => app.host.sleep(pause),
        }
        app.host.reap();
    }
}

/// Ends the granted tasks that have no supervisor. In the last part of the lease each gets one that recovers it; after that all
/// trees get SIGKILL first, and then one after the other is brought to its end.
fn end_orphans(app: &App, due: Due) -> Result<(), AppError> {
    let mut orphans = app.store.unsupervised()?;
    orphans.retain(|id| *id >= FIRST_GRANTED);
    if due != Due::Over {
        return orphans.into_iter().try_for_each(|id| recover_one(app, id, &mut Pass::default()).map(drop));
    }
    let mut found = Vec::new();
    for id in orphans {
        if let Some(orphan) = app.store.find_abandoned(id)? {
            kill_leftovers(&app.site(), id)?;
            found.push((id, orphan));
        }
    }
    for (id, orphan) in found {
        if let Some(ended) = recover(&app.site(), id, orphan, &[])? {
            wake_dependents(app, id, &ended.dependents)?;
        }
    }
    Ok(())
}

/// Gives this host numbers for the children of granted tasks. Those of an earlier block that no child has are given up.
pub fn give_numbers(app: &App, first: TaskId, count: u64) -> Result<(), AppError> {
    let last = first.0.checked_add(count).filter(|_| first >= FIRST_GRANTED && count > 0);
    let wrong = || AppError::usage(format!("{first} is not a number of another scheduler"));
    Ok(app.store.give_numbers(first, last.ok_or_else(wrong)? - 1)?)
}

/// The number of a new task. That of a child of a granted task comes from the scheduler.
pub(crate) fn new_number(app: &App, parent: Option<TaskId>) -> Result<TaskId, AppError> {
    if parent.is_none_or(|id| id < FIRST_GRANTED) {
        return Ok(app.store.reserve_ids(1)?);
    }
    let none = || {
        AppError::new(Code::LocalOnly, "a task of a store of several hosts queues no further one")
            .hint("`luzia run` in the lanes of this task works; other tasks are queued from outside of it; nothing was queued")
    };
    app.store.take_number()?.ok_or_else(none)
}

/// A new task as the child of its parent: the child of a granted task ends with the same lease.
pub(crate) fn of_parent(app: &App, task: Task) -> Result<Task, AppError> {
    let Some(parent) = task.parent.filter(|id| *id >= FIRST_GRANTED) else { return Ok(task) };
    let granted = app.existing(parent)?.terms.granted;
    Ok(match granted {
        Some(granted) => task.with_grants(granted.of_child()),
        None => task,
    })
}

/// The granted task of an assignment. The word of an earlier assignment is refused.
fn of_token(app: &App, id: TaskId, token: Word) -> Result<Task, AppError> {
    let task = app.existing(id)?;
    if task.terms.granted.as_ref().is_some_and(|granted| granted.token == token) {
        return Ok(task);
    }
    Err(AppError::new(Code::TaskNotFound, format!("{id} does not belong to the assignment {token}"))
        .hint("nothing was changed; the scheduler assigned the task anew")
        .next(format!("luzia show {id}")))
}

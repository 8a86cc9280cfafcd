//! The end of a loan. A child runs in the lanes of its parent while a process waits for it in the name of the parent. A wait
//! that ends before the child ends the child first, so parent and child never work at once in one lane (decision 256).

use crate::app::admission::{borrowers_of, may_borrow};
use crate::app::lifecycle::ask_borrower;
use crate::app::processes::wake_supervisor;
use crate::app::waits::came::means_child;
use crate::app::{App, AppError, Code};
use crate::model::{Task, TaskId};
use crate::os::TreeMark;
use crate::store::{Lending, Place, StoreError};
use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

/// Longest sleep between two looks at the borrowers.
const LOOK: Duration = Duration::from_millis(200);
/// The longest chain of parents that is followed.
const MOST_PARENTS: usize = 1000;

/// Begins a wait for each of the tasks that may borrow from its parent, and asks for a pass.
pub(crate) fn lend_to(app: &App, ids: impl Iterator<Item = TaskId>) -> Result<Vec<Lending>, AppError> {
    let (mut lendings, mut parents) = (Vec::new(), BTreeSet::new());
    for id in ids {
        let Some((_, task)) = app.find(id)? else { continue };
        if let Some(parent) = task.parent.filter(|_| may_borrow(app, &task)) {
            lendings.push(app.store.lend_to(id)?);
            parents.insert(parent);
        }
    }
    if !lendings.is_empty() {
        // Its loans end before this process does.
        app.host.procs.catch_ends();
    }
    parents.into_iter().try_for_each(|parent| wake_supervisor(app, parent).map(drop))?;
    Ok(lendings)
}

/// Like `lend_to`, for the queued children of a task that match a filter; `lent` has the children already waited for.
pub(crate) fn lend_to_children(
    app: &App,
    parent: TaskId,
    filter: &[(String, String)],
    mut lent: Vec<Lending>,
) -> Result<Vec<Lending>, AppError> {
    let mut children = Vec::new();
    // `doctor` reports a damaged record.
    for task in app.store.pending_tasks(None)?.filter_map(Result::ok) {
        let is_new = lent.iter().all(|lending| lending.child() != task.id);
        let is_child = task.parent == Some(parent) && means_child(filter, task.id);
        children.extend((is_child && is_new).then_some(task.id));
    }
    remind_lenders(app, &lent)?;
    lent.extend(lend_to(app, children.into_iter())?);
    Ok(lent)
}

/// Asks the supervisors of the parents of waiting children for a pass: an earlier request may have been lost.
pub(crate) fn remind_lenders(app: &App, lent: &[Lending]) -> Result<(), AppError> {
    let parents: BTreeSet<TaskId> = lent
        .iter()
        .filter_map(|lending| app.find(lending.child()).ok().flatten())
        .filter(|(place, _)| *place == Place::Pending)
        .filter_map(|(_, task)| task.parent)
        .collect();
    parents.into_iter().try_for_each(|parent| wake_supervisor(app, parent).map(drop))
}

/// Ends the loans of a wait. If it `is_over`, the borrowers come to their end by themselves, and are asked to end only at a moment
/// of the boot clock or after a signal. Else they are asked at once. A child that has not started runs on its own later.
pub(crate) fn end_loans(app: &App, lent: Vec<Lending>, is_over: bool, until_ms: Option<u64>) -> Result<(), AppError> {
    let kept = stop_lending(app, lent)?;
    let (mut asks, mut grace_ms, mut stop) = (!is_over, None, None);
    let mut asked = BTreeSet::new();
    let mut changes = app.store.watch();
    loop {
        let open = still_borrow(app, &kept)?;
        if open.is_empty() {
            break;
        }
        if let Some(signal) = app.host.procs.asked_to_end() {
            if stop.replace(signal).is_some() {
                // A caller that asks twice does not wait for the grace.
                (grace_ms, asked) = (Some(0), BTreeSet::new());
            }
            asks = true;
        }
        asks |= until_ms.is_some_and(|until| app.host.boot_ms() >= until);
        for id in open.iter().filter(|_| asks) {
            if !asked.contains(id) && ask_borrower(app, *id, grace_ms)? {
                asked.insert(*id);
            }
            if let Some(parent) = app.find(*id)?.and_then(|(_, task)| task.parent)
                && !app.run_dir.is_supervised(*id)?
            {
                // A pass recovers it.
                wake_supervisor(app, parent)?;
            }
        }
        changes.wait(LOOK);
    }
    drop(kept);
    stop.map_or(Ok(()), |signal| Err(die_of(app, signal)))
}

/// For a process that waits: if a signal has asked it to end, ends the loans of its wait first, and does not return. A task
/// that is ended as a whole ends its waits without their children.
pub(crate) fn heed_signals(app: &App, lent: &mut Vec<Lending>) -> Result<(), AppError> {
    if lent.is_empty() {
        return Ok(());
    }
    let Some(signal) = app.host.procs.asked_to_end() else { return Ok(()) };
    if !is_ending(app)? {
        end_loans(app, std::mem::take(lent), false, None)?;
    }
    Err(die_of(app, signal))
}

/// Whether the task around this process is ended as a whole.
pub(crate) fn is_ending(app: &App) -> Result<bool, AppError> {
    Ok(match &app.inside {
        Some(inside) => app.run_dir.is_ending(inside.task)? || app.store.cancel_request(inside.task)?.is_some(),
        None => false,
    })
}

pub(crate) fn die_of(app: &App, signal: i32) -> AppError {
    app.host.procs.die_of(signal);
    AppError::new(Code::WaitTimedOut, format!("signal {signal} ended the wait"))
}

/// Ends the waits for children that have not started; gives those for children that may run in the lanes of their parents.
fn stop_lending(app: &App, lent: Vec<Lending>) -> Result<Vec<Lending>, AppError> {
    let mut kept = Vec::new();
    for mut lending in lent {
        let child = lending.child();
        if !lending.is_sole()? {
            // Another process waits for it.
            continue;
        }
        if !has_begun(app, child)? {
            drop(lending);
            // A pass that has seen the wait holds the lock of the child until it has started it.
            if !has_begun(app, child)? {
                continue;
            }
            lending = app.store.lend_to(child)?;
        }
        kept.push(lending);
    }
    Ok(kept)
}

fn has_begun(app: &App, id: TaskId) -> Result<bool, AppError> {
    let rests = matches!(app.find(id)?, None | Some((Place::Pending | Place::Parked, _)));
    Ok(!rests || app.run_dir.is_supervised(id)?)
}

/// The waited-for children, and their children, that run in lanes of the parents, or are about to.
fn still_borrow(app: &App, lent: &[Lending]) -> Result<BTreeSet<TaskId>, AppError> {
    let (mut open, mut parents) = (BTreeSet::new(), BTreeSet::new());
    let children: BTreeSet<TaskId> = lent.iter().map(Lending::child).collect();
    for child in &children {
        match app.find(*child)? {
            Some((Place::Pending | Place::Parked, _)) if app.run_dir.is_supervised(*child)? => {
                open.insert(*child);
            }
            Some((_, task)) => parents.extend(task.parent),
            None => {}
        }
    }
    for parent in parents {
        let Some((_, task)) = app.find(parent)? else { continue };
        for id in borrowers_of(app, &task)? {
            if line_of(app, id)?.iter().any(|one| children.contains(&one.id)) {
                open.insert(id);
            }
        }
    }
    Ok(open)
}

/// A task, its parent, and so on.
fn line_of(app: &App, id: TaskId) -> Result<Vec<Task>, AppError> {
    let (mut line, mut next) = (Vec::new(), Some(id));
    while let Some(id) = next.filter(|_| line.len() < MOST_PARENTS) {
        let Some((_, task)) = app.find(id)? else { break };
        next = task.parent.filter(|parent| *parent < id);
        line.push(task);
    }
    Ok(line)
}

/// For the supervisor of a task: ends, without a grace, the borrowers in its lanes for which no process waits any more.
/// Returns files that become readable when one of the waiting processes ends. The next call repeats what failed.
pub(crate) fn see_to_loans(app: &App, id: TaskId, in_any_case: bool) -> Vec<File> {
    let mut ends = Vec::new();
    let lent = app.store.lent_to().unwrap_or_default();
    if lent.is_empty() && !in_any_case {
        return ends;
    }
    // First, so that a waiter that dies meanwhile is either seen to be dead below, or wakes the caller.
    for child in lent {
        let is_own = matches!(app.store.find(child), Ok(Some((_, task))) if task.parent == Some(id));
        ends.extend(if is_own { end_of_waiter(app, child).unwrap_or_default() } else { None });
    }
    if let Ok(Some((_, task))) = app.store.find(id) {
        for borrower in borrowers_of(app, &task).unwrap_or_default() {
            if is_waited_for(app, borrower, id).is_ok_and(|is| !is) {
                let _ = ask_borrower(app, borrower, Some(0));
            }
        }
    }
    ends
}

/// Whether a process waits for each task of the line from a borrower up to a task in whose lanes it runs. A parent that is
/// over waits for no child, and its child goes on in its place.
fn is_waited_for(app: &App, borrower: TaskId, in_lanes_of: TaskId) -> Result<bool, AppError> {
    let line = line_of(app, borrower)?;
    for (at, task) in line.iter().enumerate() {
        let is_last = task.parent == Some(in_lanes_of);
        let is_orphan = !is_last && line.get(at + 1).is_none_or(|parent| parent.status().is_final());
        if !is_orphan && !app.store.is_lent_to(task.id)? {
            return Ok(false);
        }
        if is_last {
            break;
        }
    }
    Ok(true)
}

/// A file that becomes readable when a process that waits for a child ends.
fn end_of_waiter(app: &App, child: TaskId) -> Result<Option<File>, AppError> {
    app.store.loan_file(child)?.map_or(Ok(None), |file| end_of_holder(app, file))
}

/// A file that becomes readable when a process of a task that waits for an event ends.
pub(crate) fn end_of_await(app: &App, id: TaskId) -> Result<Option<File>, AppError> {
    if !app.store.has_waiter(id)? {
        return Ok(None);
    }
    app.store.waiter_file(id)?.map_or(Ok(None), |file| end_of_holder(app, file))
}

/// A file that becomes readable when the process that has locked a file ends.
fn end_of_holder(app: &App, file: (u64, u64)) -> Result<Option<File>, AppError> {
    let named = app.host.procs.lock_holder(file).and_then(|pid| app.host.living(pid));
    // On some file systems /proc/locks names another device than stat(2) does.
    let open_by = TreeMark { tree_lock: Some(file), ..TreeMark::default() };
    let wrong = StoreError::io("look for processes that wait for", "a child or an event");
    let waiter = match named {
        Some(waiter) => Some(waiter),
        None => app.host.tree(&open_by, &[]).map_err(wrong)?.pop(),
    };
    let Some(waiter) = waiter else { return Ok(None) };
    Ok(app
        .host
        .procs
        .end_of(&waiter)
        .map_err(StoreError::io("watch a process that waits for", "a child or an event"))?)
}

//! How a loan ends. A child runs in the lanes of its parent while somebody waits for it in the name of the parent. A wait that ends
//! before the child ends the child first, so parent and child never work at once in one lane (decision 256).

use super::queue::cancel::request_end;
use super::steps::wait::unused_mail;
use crate::app::look::list::{Filter, list};
use crate::app::processes::wake_supervisor;
use crate::app::steps::came::is_meant;
use crate::app::{App, AppError, Code};
use crate::model::lock::loan::{is_loan, root};
use crate::model::process::Probe;
use crate::model::{Identity, Task, TaskId};
use crate::os::TreeMark;
use crate::store::{Lending, LockIndex, Mail, OpenWait, Place, StoreError, Waits};
use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

/// How long is slept without a look at the borrowers.
const LOOK: Duration = Duration::from_millis(200);
/// The longest chain of parents that is followed.
const MOST_PARENTS: usize = 1000;
/// Who asked for the end of a borrower.
const BY: &str = "luzia";
/// Why a borrower is ended.
const UNWAITED: &str = "it ran in the lanes of its parent, which waits for it no longer";

/// The children of a task that are not over, by their numbers; as far as a wait for their ends is for them.
pub fn open_children(app: &App, id: TaskId, filter: &[(String, String)]) -> Result<Vec<Task>, AppError> {
    let mut children: Vec<Task> = Vec::new();
    // A record that does not read is `doctor`'s to report.
    list(app, &Filter::default(), &mut |found| {
        children.extend(found.ok().filter(|task| task.parent == Some(id)));
        true
    })?;
    let is_wanted = |task: &Task| filter.iter().all(|(name, value)| name != "child" || *value == task.id.to_string());
    children.retain(is_wanted);
    children.sort_unstable_by_key(|task| task.id);
    Ok(children)
}

/// How many ends of children a wait for all of them expects: of those that are not over, and those that were told of and ended no
/// wait. At least one; where a filter looks at more than the child, one.
pub(crate) fn ends_expected(app: &App, id: TaskId, waits: &Waits, open: &OpenWait) -> Result<u32, AppError> {
    if open.filter.iter().any(|(name, _)| name != "child") {
        return Ok(1);
    }
    // In this order: the end of a child is told before the child is over.
    let children = open_children(app, id, &open.filter)?;
    let told: Vec<Mail> = unused_mail(app, id, waits)?.into_iter().filter(|mail| is_meant(mail, open)).collect();
    let is_told = |child: &Task| {
        told.iter().any(|mail| mail.data.get("child").and_then(|name| name.as_str()) == Some(&*child.id.to_string()))
    };
    let count = told.len() + children.iter().filter(|child| !is_told(child)).count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

/// The tasks that run in lanes of a task: those with a lock above one of its own, children of its children included.
pub(crate) fn borrowers_of(app: &App, task: &Task) -> Result<BTreeSet<TaskId>, AppError> {
    let mut borrowers = BTreeSet::new();
    let locks = if app.store.has_layout()? { app.store.lock_index()? } else { LockIndex::default() };
    for lane in task.all_lanes() {
        let views = app.holders_in(&locks, &lane)?;
        let held: Vec<(u32, TaskId)> =
            views.iter().filter_map(|view| Some((view.slot, TaskId::parse(view.holder()?)?))).collect();
        for (slot, id) in held.iter().filter(|(slot, id)| is_loan(*slot) && *id != task.id) {
            let is_above = |own: &&(u32, TaskId)| own.1 == task.id && root(own.0) == root(*slot) && own.0 < *slot;
            let lives = || Ok::<_, AppError>(app.find(*id)?.is_some_and(|(place, _)| place != Place::Done));
            if held.iter().any(|own| is_above(&own)) && lives()? {
                borrowers.insert(*id);
            }
        }
    }
    Ok(borrowers)
}

/// Ends the loans of a wait that is over. With a reason the borrowers are asked to end; without one they come to their end by
/// themselves, until a moment of the boot clock or a signal. A child that has not started runs on its own later.
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
                // Who asks twice does not wait for the grace.
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

/// For a process that waits: when a signal has asked it to end, ends the loans of its wait first, and then does not return.
/// A task that is ended as a whole ends its waits without their children.
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

/// Asks a borrower to end; false when it is to be asked again.
fn ask_borrower(app: &App, id: TaskId, grace_ms: Option<u64>) -> Result<bool, AppError> {
    match request_end(app, id, BY, Some(UNWAITED), grace_ms) {
        Err(error) if error.code() == Code::TaskOver => Ok(true),
        other => other,
    }
}

/// Asks all who run in the lanes of a waiting task to end, because the time of its wait ran out.
pub(crate) fn ask_borrowers(app: &App, task: &Task) -> Result<(), AppError> {
    borrowers_of(app, task)?.into_iter().try_for_each(|id| ask_borrower(app, id, None).map(drop))
}

/// Ends the waits for children that have not started; gives those for children that may run in the lanes of their parents.
fn stop_lending(app: &App, lent: Vec<Lending>) -> Result<Vec<Lending>, AppError> {
    let mut kept = Vec::new();
    for mut lending in lent {
        let child = lending.child();
        if !lending.is_sole()? {
            // Somebody else waits for it.
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

/// Which of the waited-for children, and of theirs, run in lanes of the parents, or are about to.
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

/// For the supervisor of a task: ends, without a grace, those who run in its lanes and for whom nobody waits any more. Gives
/// what becomes readable when one of those who wait ends. What fails is done at the next call.
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

/// Whether somebody waits for each task of the line from a borrower up to a task in whose lanes it runs. A parent that is over
/// waits for nobody, and its child goes on in its place.
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

/// What becomes readable when a process that waits for a child ends.
fn end_of_waiter(app: &App, child: TaskId) -> Result<Option<File>, AppError> {
    app.store.loan_file(child)?.map_or(Ok(None), |file| end_of_holder(app, file))
}

/// What becomes readable when a process of a task ends that waits for an event.
pub(crate) fn end_of_await(app: &App, id: TaskId) -> Result<Option<File>, AppError> {
    if !app.store.has_waiter(id)? {
        return Ok(None);
    }
    app.store.waiter_file(id)?.map_or(Ok(None), |file| end_of_holder(app, file))
}

/// What becomes readable when the process ends that has locked a file.
fn end_of_holder(app: &App, file: (u64, u64)) -> Result<Option<File>, AppError> {
    let named = app.host.procs.lock_holder(file).and_then(|pid| match app.host.probe(pid) {
        Probe::Alive { start } => Some(Identity { pid, start, boot_id: app.host.identity().boot_id }),
        Probe::Gone | Probe::Zombie | Probe::Unknown => None,
    });
    // On some file systems /proc/locks names another device than stat(2) does.
    let open_by = TreeMark { tree_lock: Some(file), ..TreeMark::default() };
    let wrong = StoreError::io("look for those who wait for", "a child or an event");
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

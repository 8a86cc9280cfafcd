//! `retry`: puts a finished task back in the queue, in its old place, as a further attempt of the same task. It waits again
//! for the tasks it comes after, so a chain that is retried as a whole runs in its order.

use crate::app::error::{although, not_recorded};
use crate::app::fleet::{Fleet, refuse_local};
use crate::app::queue::idempotency::take_again;
use crate::app::steps::words::check_places;
use crate::app::{App, AppError, Code};
use crate::model::task::{Outcome, TaskState, Terms};
use crate::model::{Status, Task, TaskId};
use crate::policy::lifecycle;
use crate::policy::lifecycle::Trigger;
use crate::policy::requests::{Met, met};
use crate::store::{Ending, Event, Place};
use std::collections::BTreeSet;

/// Number of earlier ends that a task remembers.
const MOST_ENDS: usize = 20;

/// The relation of a retried task to the tasks it comes after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The task waits for the tasks before it that are not over.
    Kept,
    /// The task forgets the tasks before it, for this attempt and all that follow.
    Dropped,
}

/// The memory of its earlier starts that a retried task keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remembered {
    /// The variables, finished steps and waits of the task.
    Kept,
    /// Only the events that were sent to the task.
    Dropped,
}

/// Queues a finished task again.
pub fn retry(app: &App, id: TaskId, order: Order, memory: Remembered) -> Result<Task, AppError> {
    if let Some(fleet) = &app.fleet {
        return retry_shared(&**fleet, id, order);
    }
    let task = app.existing(id)?;
    check(&task)?;
    let comes_after = if order == Order::Kept { task.comes_after.clone() } else { Vec::new() };
    let after = still_before(app, &task, &comes_after)?;
    let busy = || AppError::new(Code::TaskBusy, format!("another process changes {id} right now")).hint("try again");
    let lock = app.run_dir.take_supervisor_lock(id)?.ok_or_else(busy)?;
    let Some((Place::Done, task)) = app.store.find(id)? else { return Err(busy()) };
    let again = again(task, comes_after, after);
    let key = again.key.as_deref().map(|key| app.store.enter_key(key)).transpose()?;
    let _key = key.map(|slot| take_again(slot, id)).transpose()?;
    if memory == Remembered::Dropped {
        app.store.forget_steps(id)?;
    }
    let ending = Ending::of(again);
    if let Err(error) = app.store.record_ending(&ending, None) {
        // After an answer that the retry could not be requested, the task must not begin again.
        let withdrawn = app.store.withdraw_ending(id, lock);
        return Err(not_recorded(id, error.into(), &withdrawn));
    }
    // From here on the task is retried, whichever process brings it to its end.
    app.store.note(&Event::of("retried", ending.task()));
    show_outside(app, ending.task());
    let settled = app.store.settle(&ending, lock).map_err(AppError::from);
    settled.map_err(|error| although(&format!("{id} is queued again"), error))?;
    Ok(ending.into_task())
}

/// Queues a finished task of several hosts again. It begins anew wherever it runs: what it remembered is on the host that had it.
fn retry_shared(fleet: &dyn Fleet, id: TaskId, order: Order) -> Result<Task, AppError> {
    refuse_local([(order == Order::Dropped, "--no-after")])?;
    let queued = fleet.requeue(id, &|task| {
        check(&task)?;
        match task.status() {
            Status::Completed => Err(not_kept(id, "has completed")),
            _ => Ok(again(task, Vec::new(), Vec::new())),
        }
    })?;
    match queued {
        Some(task) => Ok(task),
        None => Err(not_kept(id, &format!("ended more than {} ago", fleet.kept()?))),
    }
}

fn not_kept(id: TaskId, how: &str) -> AppError {
    let message = format!("{id} {how}, and the store does not keep the environment of such a task");
    AppError::new(Code::TaskOver, message)
        .hint("`luzia enqueue` queues its command as a new task")
        .next(format!("luzia show {id}"))
}

/// Refuses a task that is not over, or whose command cannot be started.
fn check(task: &Task) -> Result<(), AppError> {
    let (id, status) = (task.id, task.status());
    if lifecycle::next(status, Trigger::Retry).is_none() {
        let message = format!("{id} is {status}, so there is nothing to retry");
        return Err(AppError::new(Code::TaskNotOver, message).next(format!("luzia show {id}")));
    }
    check_places(task)
}

/// The task as it waits again. It comes after some tasks, of which those of `after` are not over.
fn again(task: Task, comes_after: Vec<TaskId>, after: Vec<TaskId>) -> Task {
    Task {
        state: TaskState::Pending,
        // A task that started has met its moment; the due time since was that of a pause between attempts.
        due_at: task.due_at.filter(|_| task.starts == 0),
        start_by: None,
        after,
        comes_after,
        claims: 0,
        // One more attempt than were spent, whatever the limit was.
        retries: task.retries.max(task.failures),
        terms: Terms { failed_dependency: None, subject_changed: None, earlier: with_end(&task), ..task.terms },
        ..task
    }
}

/// The earlier ends of a task, and its last one, without the data that it handed on.
fn with_end(task: &Task) -> Vec<Outcome> {
    let last = task.outcome().map(|outcome| Outcome { data: None, ..outcome.clone() });
    let mut ends: Vec<Outcome> = task.terms.earlier.iter().cloned().chain(last).collect();
    let first = ends.len().saturating_sub(MOST_ENDS);
    ends.drain(..first);
    ends
}

/// The unfinished tasks that a task comes after. An error if one has ended in another way than wanted: the task could never start.
fn still_before(app: &App, task: &Task, comes_after: &[TaskId]) -> Result<Vec<TaskId>, AppError> {
    let mut open = Vec::new();
    for before in comes_after {
        let found = app.find(*before)?.map(|(_, other)| other);
        let is_met = met(task.wanted(*before), found.as_ref().map(|other| other.status()));
        match found {
            _ if is_met == Met::Yes => {}
            Some(other) if other.status().is_final() => {
                let how = format!("is {}", other.status());
                return Err(out_of_order(task.id, *before, &how)
                    .hint(format!("retry the chain, or use --no-after: {} then waits for no other task", task.id))
                    .next(format!("luzia retry {}", chain_to(app, task)?)));
            }
            Some(_) => open.push(*before),
            // The other task was pruned since, and it had completed if this one ever started.
            None if task.starts > 0 => {}
            None => {
                return Err(out_of_order(task.id, *before, "is gone")
                    .hint("the record of that task was removed, so its end is unknown; --no-after retries without it")
                    .next(format!("luzia retry --no-after {}", task.id)));
            }
        }
    }
    Ok(open)
}

/// The task, and all tasks it comes after that are over and did not complete, as arguments.
fn chain_to(app: &App, task: &Task) -> Result<String, AppError> {
    let (mut chain, mut open) = (BTreeSet::from([task.id]), task.comes_after.clone());
    while let Some(id) = open.pop() {
        let failed = app
            .find(id)?
            .map(|(_, other)| other)
            .filter(|other| other.status().is_final() && other.status() != Status::Completed);
        if let Some(other) = failed.filter(|other| chain.insert(other.id)) {
            open.extend(other.comes_after);
        }
    }
    Ok(chain.iter().map(TaskId::to_string).collect::<Vec<_>>().join(" "))
}

/// Puts the directory of a retried task where those of other attempts to come wait. A fault there never delays a task.
fn show_outside(app: &App, task: &Task) {
    let Ok(Some(conductor)) = app.run_dir.conductor(&task.conductor_dir, false) else { return };
    if let Err(error) = conductor.close_late(task) {
        app.store.note(&Event::of("conductor_failed", task).saying(error.to_string()));
    }
}

fn out_of_order(id: TaskId, before: TaskId, how: &str) -> AppError {
    AppError::new(Code::DependencyFailed, format!("{id} comes after {before}, which {how}"))
}

//! Keys: names by which a repeated request is recognized. A key is taken as long as a task that has it is unfinished.

use super::terms::prepare_terms;
use crate::app::ask::cancel;
use crate::app::fleet::{Fleet, InTheWay, SharedTask};
use crate::app::granted::new_number;
use crate::app::lifecycle::Accepted;
use crate::app::lifecycle::cancel_pending;
use crate::app::locks::consent::foreign_question;
use crate::app::queue::enqueue::accept;
use crate::app::queue::terms::moments::duration;
use crate::app::waits::as_seen;
use crate::app::{App, AppError, Code};
use crate::model::{Status, Task, TaskId};
use crate::request::TaskRequest;
use crate::request::values::OnConflict;
use crate::store::{CancelRequest, KeySlot, Place, StoreError};
use std::collections::BTreeSet;

/// Accepts a request with a key, or acts as requested if an unfinished task has the key.
pub(crate) fn enqueue_keyed(app: &App, mut task: Task, new: &TaskRequest) -> Result<Accepted, AppError> {
    let key = task.key.clone().unwrap_or_default();
    let on_conflict = new.on_conflict.unwrap_or_default();
    let fresh_ms = duration("fresh", new.fresh.as_deref())?;
    // Of several waiting tasks the last one is replaced; the others stay beside it.
    let mut beside: Vec<TaskId> = Vec::new();
    loop {
        let mut slot = app.store.enter_key(&key)?;
        let mut unfinished = Vec::new();
        for id in slot.holders()? {
            let found = app.store.find(id)?;
            unfinished
                .extend(found.filter(|(place, other)| *place != Place::Done && other.key.as_deref() == Some(&*key)));
        }
        let ids: Vec<TaskId> = unfinished.iter().map(|(_, other)| other.id).collect();
        let last = unfinished.iter().find(|(_, other)| !beside.contains(&other.id));
        match (last, on_conflict) {
            (None, OnConflict::Join) if let Some(other) = just_ended(app, &key, fresh_ms)? => {
                return Ok(Accepted { task: other, created: false });
            }
            (None, _) | (Some(_), OnConflict::Queue) => {
                task.id = new_number(app, task.parent)?;
                let _group = prepare_terms(app, &mut task, new)?;
                slot.assign(&[&[task.id], &ids[..]].concat())?;
                accept(app, std::slice::from_ref(&task))?;
                return Ok(Accepted { task, created: true });
            }
            (Some((_, other)), OnConflict::Skip | OnConflict::Join) => {
                return Ok(Accepted { task: as_seen(app, other.clone()), created: false });
            }
            (Some((_, other)), OnConflict::Reject) => {
                return Err(key_taken(&as_seen(app, other.clone())));
            }
            (Some((_, last)), OnConflict::Replace) => {
                drop(slot);
                let by = task.user.as_str();
                let (waiting, running): (Vec<_>, Vec<_>) =
                    unfinished.iter().partition(|(place, _)| matches!(place, Place::Pending | Place::Parked));
                running.iter().try_for_each(|(_, other)| check_replaced(app, other, &key, by))?;
                // The waiting task goes first, so that it does not start when the running one has ended.
                if waiting.iter().any(|(_, other)| other.id == last.id) {
                    let replaced = cancel_pending(app, last.id, &CancelRequest::by(by, "replaced"));
                    replaced.map_err(|error| not_replaced(app, last.id, error))?;
                }
                running.iter().try_for_each(|(_, other)| replace(app, other, by))?;
                beside = waiting.iter().map(|(_, other)| other.id).filter(|id| *id != last.id).collect();
            }
        }
    }
}

/// The error of a request that is rejected for a task with its key.
fn key_taken(other: &Task) -> AppError {
    let key = other.key.as_deref().unwrap_or_default();
    AppError::new(Code::KeyTaken, format!("{} has the key \"{key}\" and is {}", other.id, other.status()))
        .hint("wait for it; --on-conflict queue puts the new task behind it")
        .next(format!("luzia show {}", other.id))
}

/// Queues tasks in a store, all or none. Tasks that replace those with their keys are queued once these are over. Everything is checked
/// before the first of these is ended.
pub(crate) fn enqueue_shared(
    app: &App,
    fleet: &dyn Fleet,
    mut tasks: Vec<SharedTask>,
) -> Result<Vec<Accepted>, AppError> {
    check_own_keys(&tasks)?;
    loop {
        let older = match fleet.enqueue(&tasks)? {
            Ok(accepted) => return Ok(accepted),
            Err(InTheWay::Rejects(other)) => {
                return Err(key_taken(&app.existing(other)?).reworded(|why| format!("{why}; nothing was queued")));
            }
            Err(InTheWay::Older(older)) => older,
        };
        let mut unfinished = Vec::new();
        for id in older {
            unfinished.extend(Some(app.existing(id)?).filter(|other| !other.status().is_final()));
        }
        let mut ends = Vec::new();
        for new in tasks.iter_mut().filter(|new| new.on_conflict == OnConflict::Replace) {
            let (by, key) = (new.task.user.as_str(), new.task.key.as_deref());
            let of_key = || unfinished.iter().filter(|other| other.key.as_deref() == key);
            let is_waiting = |other: &&Task| other.status() == Status::Pending;
            for running in of_key().filter(|other| !is_waiting(other)) {
                check_replaced(app, running, key.unwrap_or_default(), by)?;
            }
            // Of several waiting tasks the last one is replaced; the others stay beside it.
            let last = of_key().map(|other| other.id).max();
            let (kept, ended): (Vec<&Task>, _) =
                of_key().partition(|other| is_waiting(other) && Some(other.id) != last);
            // The waiting task goes first, so that it does not start when the running one has ended.
            ends.extend(ended.into_iter().rev().map(|other| (other, by.to_owned())));
            new.beside.extend(kept.into_iter().map(|other| other.id));
        }
        for (other, by) in ends {
            replace(app, other, &by)?;
        }
    }
}

/// Refuses a task that is in the way of another one of its request.
fn check_own_keys(tasks: &[SharedTask]) -> Result<(), AppError> {
    let mut keys = BTreeSet::new();
    for SharedTask { task, on_conflict, .. } in tasks {
        let is_new = task.key.as_deref().is_none_or(|key| keys.insert(key));
        if !is_new && matches!(on_conflict, OnConflict::Reject | OnConflict::Replace) {
            return Err(AppError::new(Code::KeyTaken, "two lines have one key; nothing was queued")
                .hint("queue them one after the other"));
        }
    }
    Ok(())
}

/// The task with a key that ended last, less than `fresh_ms` ago, and whose answer stands for the work. A cancelled task has no
/// answer, and a task whose work tree moved has the answer of another tree.
fn just_ended(app: &App, key: &str, fresh_ms: Option<u64>) -> Result<Option<Task>, AppError> {
    let Some(fresh_ms) = fresh_ms else { return Ok(None) };
    let since = app.host.now().plus_ms(-i64::try_from(fresh_ms).unwrap_or(i64::MAX));
    let member = format!("\"key\":{}", serde_json::Value::from(key));
    let counts = |task: &Task| {
        let answers = matches!(task.status(), Status::Completed | Status::Failed | Status::Timeout);
        answers && task.key.as_deref() == Some(key) && task.terms.subject_changed != Some(true)
    };
    Ok(app.store.last_ended(&member, since, &counts)?)
}

/// Refuses to end a task that runs for others, or around this process.
fn check_replaced(app: &App, other: &Task, key: &str, by: &str) -> Result<(), AppError> {
    let refuse = |why: &str, hint: &str| {
        Err(AppError::new(Code::KeyRuns, format!("{} has the key \"{key}\" and {why}", other.id))
            .hint(hint)
            .next(format!("luzia wait {}", other.id)))
    };
    if is_inside(app, other.id)? {
        return refuse(
            "runs this process, which would end with it",
            "another key, or --on-conflict queue, puts the new task beside it; nothing was queued",
        );
    }
    // The new task takes its turn in the name of this user.
    if foreign_question(app, "end", &[other.id], by)?.is_some() {
        return refuse(
            "runs for somebody else",
            "`luzia cancel` asks before it ends the work of others; nothing was queued",
        );
    }
    Ok(())
}

/// Ends a running task in favour of a new one.
fn replace(app: &App, other: &Task, by: &str) -> Result<(), AppError> {
    match cancel(app, other.id, &CancelRequest::by(by, "replaced")) {
        // The task came to its end by itself.
        Err(error) if error.code() == Code::TaskOver => Ok(()),
        ended => ended.map(drop).map_err(|error| not_replaced(app, other.id, error)),
    }
}

/// Whether this process runs inside a task, or inside one that it has asked for.
fn is_inside(app: &App, id: TaskId) -> Result<bool, AppError> {
    let mut around = app.inside.as_ref().map(|inside| inside.task);
    while let Some(task) = around {
        if task == id {
            return Ok(true);
        }
        around = app.find(task)?.and_then(|(_, task)| task.parent);
    }
    Ok(false)
}

/// The error of a replacement that failed when it took the older task out of the queue: it names the place of that task.
fn not_replaced(app: &App, older: TaskId, error: AppError) -> AppError {
    let stands = match app.find(older) {
        Ok(Some((_, task))) => format!("{older} is {}", task.status()),
        Ok(None) | Err(_) => format!("the state of {older} is unknown"),
    };
    error.reworded(|why| format!("nothing was queued, and {stands}: {why}")).next(format!("luzia show {older}"))
}

/// A task that is retried has its key again, until it is over.
pub(crate) fn take_again(mut slot: KeySlot<'_>, id: TaskId) -> Result<KeySlot<'_>, StoreError> {
    let mut holders = slot.holders()?;
    if !holders.contains(&id) {
        holders.insert(0, id);
        slot.assign(&holders)?;
    }
    Ok(slot)
}

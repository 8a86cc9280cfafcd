//! A task that leaves its host: its record, and the end of its run.

use crate::app::{App, AppError};
use crate::fleet::tasks::{number_of, split};
use crate::fleet::{Database, Given, sql};
use crate::model::task::{TaskState, TaskVersion};
use crate::model::{Task, Timestamp};
use crate::policy::outcome::{Happened, conclude};
use crate::store::{CancelRequest, STDERR_LOG, STDOUT_LOG};
use serde_json::Value;

/// Bytes of the output of a task that are kept in the database.
const TAIL_BYTES: u64 = 64 * 1024;
/// The caller in requests of the agent.
pub(super) const BY: &str = "luzia";
/// The reason in its request for the end, on its host, of a task that goes on with new grants. The record of that end has it, so an
/// agent that is killed before it has told the database, or has no answer from it, cancels no task.
pub(super) const GIVEN_BACK: &str = "its next attempt needs new grants";

/// A task that leaves its host, as the database takes it.
pub(in crate::fleet) struct Left {
    pub id: i64,
    state: &'static str,
    ending: Option<&'static str>,
    record: String,
    due_ms: Option<i64>,
    /// The end of its run, in one word.
    how: &'static str,
    begun_ms: Option<i64>,
    ended_ms: Option<i64>,
}

impl Left {
    /// A task after a run that ended at a moment by the clock of its host. Without one the host was lost, or has lost the task.
    pub fn of(after: &Task, ended: Option<Timestamp>) -> Result<Self, AppError> {
        let (is_over, word) = (after.status().is_final(), after.status().word());
        let is_interrupted = ended.is_none() || is_cut_off(after);
        Ok(Self {
            id: number_of(after.id),
            state: if is_over { "e" } else { "q" },
            ending: is_over.then_some(word),
            record: split(&bare(after))?.0,
            due_ms: after.due_at.filter(|_| !is_over).map(|at| at.0),
            how: if is_interrupted { "interrupted" } else { word },
            begun_ms: after.last_start.as_ref().map(|start| start.at.0),
            ended_ms: ended.map(|at| at.0),
        })
    }

    /// The values that `leave` and `reap` take.
    pub fn values(&self) -> [&Given<'_>; 7] {
        [&self.state, &self.ending, &self.record, &self.due_ms, &self.how, &self.begun_ms, &self.ended_ms]
    }
}

/// Lets a task leave its host by `ask`. The database has no answer for one that would wait again although its end was asked for: that one
/// leaves cancelled.
pub(in crate::fleet) fn leave(
    database: &Database,
    after: &Task,
    ended: Option<Timestamp>,
    ask: &mut dyn FnMut(&Left) -> Result<Option<bool>, AppError>,
) -> Result<bool, AppError> {
    let left = Left::of(after, ended)?;
    if let Some(has_left) = ask(&left)? {
        return Ok(has_left);
    }
    let how = left.how;
    let over = Left { how, ..Left::of(&cancelled(database, after)?, ended)? };
    Ok(ask(&over)?.unwrap_or_default())
}

/// A task that waits, as the cancel that was asked for ends it.
pub(super) fn cancelled(database: &Database, task: &Task) -> Result<Task, AppError> {
    let row = database.with(|client| client.query_one(sql::END_ASKED, &[&number_of(task.id)]))?;
    let CancelRequest { by, reason, .. } = request_of(row.get::<_, Option<&str>>(0).unwrap_or_default());
    Ok(conclude(task, &Happened::Cancelled { by, reason }, database.host.now(), None))
}

/// The request of a cancel from another host.
pub(super) fn request_of(args: &str) -> CancelRequest {
    let args: Value = serde_json::from_str(args).unwrap_or_default();
    let text = |name: &str| args.get(name).and_then(Value::as_str).map(str::to_owned);
    CancelRequest {
        by: text("by").unwrap_or_else(|| BY.to_owned()),
        reason: text("reason"),
        grace_ms: args.get("grace_ms").and_then(Value::as_u64),
        requeue: false,
    }
}

/// The record of a task without its grants, which belong to one assignment.
pub(in crate::fleet) fn bare(task: &Task) -> Task {
    let mut task = Task { v: TaskVersion::Plain, ..task.clone() };
    task.terms.granted = None;
    task
}

/// Whether the end of the lease has ended the last run of a task.
pub(in crate::fleet) fn is_cut_off(task: &Task) -> bool {
    task.terms.granted.as_ref().is_some_and(|granted| granted.is_cut_off)
}

/// The task that goes on with new grants, if this is the record of its end on this host.
pub(super) fn given_back(task: &Task) -> Option<Task> {
    let is_of = |text: &Option<String>, word| text.as_deref() == Some(word);
    let end = task.outcome()?;
    (is_of(&end.cancelled_by, BY) && is_of(&end.cancel_reason, GIVEN_BACK))
        .then(|| Task { state: TaskState::Pending, ..task.clone() })
}

/// The last part of the output of a task: standard output, then standard error. Empty where it cannot be read.
pub(super) fn tail(app: &App, task: &Task) -> Vec<u8> {
    let Ok(Some(conductor)) = app.run_dir.conductor(&task.conductor_dir, false) else { return Vec::new() };
    let mut tail = Vec::new();
    for name in [STDOUT_LOG, STDERR_LOG] {
        let Some(mut log) = conductor.read_log(task.id, name).ok().flatten() else { continue };
        let size = log.meta().map_or(0, |meta| meta.size);
        let most = TAIL_BYTES / 2;
        let part = log.read_part(size.saturating_sub(most), usize::try_from(most).unwrap_or(usize::MAX));
        tail.extend(part.unwrap_or_default());
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;

    #[test]
    fn a_task_that_was_given_back_waits_as_before_and_a_cancelled_one_does_not() {
        let waiting = Task { retries: 3, failures: 1, claims: 2, due_at: Some(Timestamp(7)), ..task(3) };
        let ended = |by: &str, reason: &str| {
            let happened = Happened::Cancelled { by: by.to_owned(), reason: Some(reason.to_owned()) };
            conclude(&waiting, &happened, Timestamp(9), None)
        };
        assert_eq!(given_back(&ended(BY, GIVEN_BACK)), Some(waiting.clone()));
        for (by, reason) in [("alice", GIVEN_BACK), (BY, "the store has assigned it anew")] {
            assert_eq!(given_back(&ended(by, reason)), None, "{by} {reason}");
        }
        assert_eq!(given_back(&waiting), None);
    }
}

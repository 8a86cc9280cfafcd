//! A task that leaves its host: its record, and the end of its run.

use crate::app::AppError;
use crate::fleet::Given;
use crate::fleet::tasks::{number_of, split};
use crate::model::task::TaskVersion;
use crate::model::{Task, Timestamp};

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

//! The room of this host for further tasks, as the database counts it.

use super::Known;
use crate::app::config_reload::config;
use crate::app::waits::as_seen;
use crate::app::{App, AppError};
use crate::model::lock::loan;
use crate::model::{LaneName, Status, Task, TaskId};
use crate::store::LockView;
use std::collections::{BTreeMap, BTreeSet};

/// Number of further tasks that this host could take, with those that count as assigned in the database, which takes them off itself.
/// A task has its slot of this host from its grant until the database knows its end, so that the room of an end is never told before
/// the end: other hosts may wait for its lanes, and room alone would go to other users.
pub(super) fn room(tasks: &BTreeMap<TaskId, Known>, app: &App) -> Result<u32, AppError> {
    let holders = app.holders(&LaneName::global())?;
    let living: Vec<&LockView> = holders.iter().filter(|view| !view.verdict.is_stale()).collect();
    let has_slot: BTreeSet<TaskId> = living.iter().filter_map(|view| view.task()).collect();
    let (mut taken, mut assigned) = (loan::holders(living.iter().map(|view| view.slot)), 0);
    for (id, known) in tasks {
        assigned += u32::from(!known.is_told);
        // One that waits for an event may have given up its slot. One that ends gives it up before its record is over.
        let goes_on = || app.find(*id).map(|found| found.is_some_and(|(_, task)| !is_waiting(app, task)));
        if !has_slot.contains(id) && (known.told_starts.is_none() || goes_on()?) {
            taken += 1;
        }
    }
    Ok(config(app).slots_max.saturating_sub(taken).saturating_add(assigned))
}

fn is_waiting(app: &App, task: Task) -> bool {
    as_seen(app, task).status() == Status::Waiting
}

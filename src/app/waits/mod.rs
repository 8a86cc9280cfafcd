//! The memory of a task about its waits for events, and the look at tasks that wait without a process. Nothing here waits.

pub(crate) mod came;
pub mod output;
pub(crate) mod resting;
pub mod tail;

use crate::app::{App, AppError};
use crate::model::sorted::sort_by_key;
use crate::model::task::TaskState;
use crate::model::{LaneName, Status, Task, TaskId};
use crate::store::{DoneWait, LateCommand, Mail, OpenWait, StepRecord as Step, Vars, Waits};
use came::{is_meant, waits_shown};

/// Number of events without a match that are shown.
const MOST_SHOWN: usize = 5;

/// The memory of a task between its starts.
#[derive(Clone, PartialEq, Debug)]
pub struct Memory {
    /// The variables of the task; `None` if they are damaged.
    pub vars: Option<Vars>,
    /// The steps of the task that have ended, in their order, each with whether it is done.
    pub steps: Vec<(Step, bool)>,
    /// Number of events that were sent to the task.
    pub mail: usize,
    /// The commands for the end of the time of a wait that were begun.
    pub commands: Vec<LateCommand>,
    /// The waits of the task that are over.
    pub waits: Vec<DoneWait>,
}

/// The memory of a task. `None` if the task has stored nothing.
pub fn memory(app: &App, id: TaskId) -> Result<Option<Memory>, AppError> {
    if !app.store.has_steps(id)? {
        return Ok(None);
    }
    let vars = app.store.vars(id).ok().map(|read| read.value);
    // The verbs that need damaged files report them.
    let done = app.store.steps_done(id).unwrap_or_default().into_iter().map(|step| (step, true));
    let failed = app.store.steps_failed(id).unwrap_or_default().into_iter().map(|step| (step, false));
    let mut steps: Vec<(Step, bool)> = done.chain(failed).collect();
    sort_by_key(&mut steps, |(step, _)| step.number);
    let Waits { commands, done: waits, .. } = waits_shown(app, id)?;
    Ok(Some(Memory { vars, steps, mail: app.store.mail_numbers(id)?.len(), commands, waits }))
}

/// The task as it is seen: a task with a process that waits for an event is `waiting`.
pub(crate) fn as_seen(app: &App, task: Task) -> Task {
    let waits = task.status() == Status::Running
        && (matches!(app.store.open_wait(task.id), Ok(Some(_))) || lanes_wanted(app, task.id).is_some());
    if waits { Task { state: TaskState::Waiting(None), ..task } } else { task }
}

/// The lanes that a running task has given up for a wait that is over.
pub(crate) fn lanes_wanted(app: &App, id: TaskId) -> Option<Vec<LaneName>> {
    if !app.store.has_waiter(id).is_ok_and(|has| has) {
        return None;
    }
    let waits = app.store.waits(id).ok().filter(|waits| waits.open.is_none())?;
    app.run_dir.away(id, u32::try_from(waits.start).ok()?).ok().flatten()
}

/// The open wait of a task, with a process that waits or without.
pub fn open_wait(app: &App, id: TaskId) -> Result<Option<OpenWait>, AppError> {
    match app.store.open_wait(id)? {
        Some(open) => Ok(Some(open)),
        None if app.store.stands_waiting(id)? => Ok(app.store.waits(id)?.open),
        None => Ok(None),
    }
}

/// Whether a task has what it waited for, and waits for its lanes (X16).
pub fn is_resume_ready(app: &App, id: TaskId) -> Result<bool, AppError> {
    if !app.store.stands_waiting(id)? {
        return Ok(lanes_wanted(app, id).is_some());
    }
    // Damaged waits end the task, and keep no list from being shown.
    Ok(app.store.waits(id).is_ok_and(|waits| waits.open.is_none() && !waits.is_failed()))
}

/// The mail of a task that no finished wait has taken.
pub(crate) fn unused_mail(app: &App, id: TaskId, waits: &Waits) -> Result<Vec<Mail>, AppError> {
    let is_used = |number: &u64| waits.done.iter().any(|done| done.mail.contains(number));
    let numbers: Vec<u64> = app.store.mail_numbers(id)?.into_iter().filter(|number| !is_used(number)).collect();
    mail_of(app, id, &numbers)
}

/// Why a task still waits: its wait, and the last events that came and did not match (S1.49).
pub fn wait_why(app: &App, id: TaskId) -> Result<Option<(OpenWait, Vec<Mail>)>, AppError> {
    let Some(open) = open_wait(app, id)? else { return Ok(None) };
    let unused = unused_mail(app, id, &app.store.waits(id)?)?;
    let mut others: Vec<Mail> = unused.into_iter().filter(|mail| !is_meant(mail, &open)).collect();
    others.drain(..others.len().saturating_sub(MOST_SHOWN));
    Ok(Some((open, others)))
}

pub(crate) fn mail_of(app: &App, id: TaskId, numbers: &[u64]) -> Result<Vec<Mail>, AppError> {
    let found = numbers.iter().map(|number| Ok(app.store.mail(id, *number)?));
    found.filter_map(Result::transpose).collect()
}

//! Terms that few requests use: conditions on other tasks, work that is not done twice, groups, and the meaning of an attempt.

pub mod dependencies;
pub(crate) mod env;
mod groups;
pub mod moments;
pub(super) mod reuse;
pub mod ruled;
pub(super) mod slots;
mod subject;

use super::idempotency::enqueue_keyed;
use crate::app::config_reload::config;
use crate::app::granted::new_number;
use crate::app::queue::enqueue::{Accepted, accept, name};
use crate::app::queue::terms::moments::positive;
use crate::app::{App, AppError, Code};
use crate::model::task::Terms;
use crate::model::task::terms::{FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS};
use crate::model::{Config, Task, TaskId};
use crate::request::TaskRequest;
use crate::request::values::OnConflict;
use crate::store::{Event, KeySlot};
use dependencies::tasks_named;
use groups::join_group;
use serde_json::json;

/// The longest command of `--on-finish`, in bytes.
const MOST_COMMAND_BYTES: usize = 64 * 1024;

/// Number of retries of each step of a task that names no number (X19).
const STEP_RETRIES: u32 = 3;

/// The retries of a task that names no number: 3 for each step of one that was queued, else none.
pub(crate) fn default_retries(new: &TaskRequest) -> u32 {
    let has_steps = new.stepwise || new.steps.is_some();
    if has_steps && !new.is_run { STEP_RETRIES } else { 0 }
}

/// Whether a line of a batch is accepted by itself, because data under its number is looked up and written for it.
pub(crate) fn stands_alone(task: &Task, new: &TaskRequest) -> bool {
    task.key.is_some() || new.group.is_some() || new.reuse.is_some() || task.terms.granted.is_some()
}

/// The terms of a task, and its key. Its group is known only when it has a number.
pub(crate) fn terms_of(
    app: &App,
    new: &TaskRequest,
    command: &[String],
    cwd: &str,
) -> Result<(Terms, Option<String>), AppError> {
    let needs_subject = new.stable || new.key.as_deref() == Some(subject::TREE_KEY);
    if new.fresh.is_some() && new.on_conflict != Some(OnConflict::Join) {
        return Err(AppError::usage("--fresh is for --on-conflict join"));
    }
    if let Some(text) = &new.group {
        name("group", text)?;
    }
    if let Some(text) = &new.reuse {
        reuse::goal_of(text, new.goal.as_deref())?;
    }
    let Config { backoff_ms, most_backoff_ms, on_interrupt, .. } = *config(app);
    let terms = Terms {
        after_any: tasks_named(app, &new.after_any)?,
        after_failed: tasks_named(app, &new.after_failed)?,
        due_boot: moments::due_by_boot_clock(app, new)?,
        subject: needs_subject.then(|| app.surroundings.subject(cwd)).transpose()?,
        is_stable: new.stable,
        backoff_ms: unusual(positive("backoff", new.backoff.as_deref())?.unwrap_or(backoff_ms), FIRST_BACKOFF_MS),
        most_backoff_ms: unusual(
            positive("max-backoff", new.max_backoff.as_deref())?.unwrap_or(most_backoff_ms),
            LONGEST_BACKOFF_MS,
        ),
        on_interrupt: new.on_interrupt.unwrap_or(on_interrupt),
        on_finish: new.on_finish.clone(),
        warn_after_ms: positive("warn-after", new.warn_after.as_deref())?,
        on_wait: new.on_wait.clone(),
        slot_count: slots::count_of(new.slots)?,
        message: new.message.clone(),
        channel: new.channel.clone(),
        log_sample: new.log_sample.as_deref().map(sample).transpose()?,
        ..Terms::default()
    };
    for (option, line) in [("on-finish", &terms.on_finish), ("on-wait", &terms.on_wait)] {
        if line.as_deref().is_some_and(|line| line.contains('\0') || line.len() > MOST_COMMAND_BYTES) {
            return Err(AppError::usage(format!("a command of --{option} has at most {MOST_COMMAND_BYTES} bytes")));
        }
    }
    let key = subject::key_of(new, command, cwd, terms.subject.as_deref())?;
    Ok((terms, key))
}

/// Accepts a task by itself, under a number of its own or by its key.
pub(crate) fn accept_alone(app: &App, mut task: Task, new: &TaskRequest) -> Result<Accepted, AppError> {
    if task.key.is_some() {
        return enqueue_keyed(app, task, new);
    }
    task.id = new_number(app, task.parent)?;
    let _group = prepare_terms(app, &mut task, new)?;
    accept(app, std::slice::from_ref(&task))?;
    Ok(Accepted { task, created: true })
}

/// Prepares a task that has its number and is not accepted yet. The returned slot keeps others out of its group until its record
/// is stored.
pub(crate) fn prepare_terms<'a>(
    app: &'a App,
    task: &mut Task,
    new: &TaskRequest,
) -> Result<Option<KeySlot<'a>>, AppError> {
    reuse::reuse(app, task, new)?;
    join_group(app, task, new)
}

/// Reports tasks that other tasks have requested (S2.34).
pub(crate) fn note_children(app: &App, tasks: &[Task]) {
    let spawned = |task: &Task| {
        let data = json!({ "child": task.id.to_string(), "parent": task.parent?.to_string() });
        Some(Event::of("spawned", task).with(data))
    };
    if tasks.iter().any(|task| task.parent.is_some()) {
        app.store.note_all(&mut tasks.iter().filter_map(spawned));
    }
}

/// A value that is not the usual one: records have the others only.
fn unusual(value: u64, usual: u64) -> Option<u64> {
    (value != usual).then_some(value)
}

/// Refuses a task that says it borrows lanes, unless it is a child for which a process waits (S0.19).
pub(crate) fn check_inherit(new: &TaskRequest, parent: Option<TaskId>, is_waited_for: bool) -> Result<(), AppError> {
    if !new.inherit || parent.is_some() && is_waited_for {
        return Ok(());
    }
    let why = if parent.is_some() { "nobody waits for it (--wait)" } else { "it is no child (--parent)" };
    Err(AppError::new(Code::NoLoan, format!("the task cannot borrow the lanes of a parent: {why}"))
        .hint("without --inherit it waits for its lanes in the queue; nothing was queued"))
}

/// Reads a share, from 0 to 1, as parts of a million.
fn sample(text: &str) -> Result<u32, AppError> {
    let wrong = || {
        AppError::usage(format!("--log-sample {}: the range is 0 to 1", text.escape_default()))
            .hint("--log-sample 0.1 logs one of ten")
    };
    let share: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.0..=1.0).contains(&share) {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
    Ok((share * 1_000_000.0).round() as u32)
}

//! What few requests ask for: conditions of other tasks, work that is not done twice, groups, and what an attempt means.

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
use crate::app::queue::enqueue::{Accepted, NewTask, accept, name};
use crate::app::queue::terms::moments::positive;
use crate::app::{App, AppError, Code, Kind};
use crate::model::task::terms::{FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS};
use crate::model::task::{OnInterrupt, Terms};
use crate::model::{Config, Task, TaskId};
use crate::store::{Event, KeySlot};
use dependencies::tasks_named;
use groups::join_group;
use serde_json::json;

/// The longest command of `--on-finish`, in bytes.
const MOST_COMMAND_BYTES: usize = 64 * 1024;

/// What few requests have, as it came in.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewTerms {
    /// `--after-any`, repeated.
    pub after_any: Vec<String>,
    /// `--after-failed`, repeated.
    pub after_failed: Vec<String>,
    /// `--fresh`.
    pub fresh: Option<String>,
    /// `--stable`.
    pub is_stable: bool,
    /// `--group`.
    pub group: Option<String>,
    /// `--backoff`.
    pub backoff: Option<String>,
    /// `--max-backoff`.
    pub most_backoff: Option<String>,
    /// `--on-interrupt`.
    pub on_interrupt: Option<OnInterrupt>,
    /// `--on-finish`.
    pub on_finish: Option<String>,
    /// `--warn-after`.
    pub warn_after: Option<String>,
    /// `--on-wait`.
    pub on_wait: Option<String>,
    /// `--log-sample`.
    pub log_sample: Option<String>,
    /// `--reuse`.
    pub reuse: Option<String>,
    /// `--message`.
    pub message: Option<String>,
    /// `--channel`.
    pub channel: Option<String>,
    /// `--slots`.
    pub slots: Option<u32>,
    /// `--inherit`: it must be able to borrow the lanes of its parent.
    pub must_inherit: bool,
    /// Whether `run` asks, whose caller sees a failure at once.
    pub is_run: bool,
}

/// How often a step of a task is tried again that names no number (X19).
const STEP_RETRIES: u32 = 3;

/// The retries of a task that names no number: 3 for each step of one that was queued, else none.
pub(crate) fn default_retries(new: &NewTask) -> u32 {
    let has_steps = new.is_stepwise || new.steps.is_some();
    if has_steps && !new.terms.is_run { STEP_RETRIES } else { 0 }
}

/// Whether a line of a batch is accepted by itself: something is looked up and written for it under its number.
pub(crate) fn stands_alone(task: &Task, new: &NewTask) -> bool {
    task.key.is_some() || new.terms.group.is_some() || new.terms.reuse.is_some()
}

/// The terms of a task, and its key. Its group is known only when it has a number.
pub(crate) fn terms_of(
    app: &App,
    new: &NewTask,
    command: &[String],
    cwd: &str,
) -> Result<(Terms, Option<String>), AppError> {
    let asked = &new.terms;
    let needs_subject = asked.is_stable || new.key.as_deref() == Some(subject::TREE_KEY);
    if asked.fresh.is_some() && new.on_conflict != Some(crate::app::OnConflict::Join) {
        return Err(AppError::usage("--fresh is for --on-conflict join"));
    }
    if let Some(text) = &asked.group {
        name("group", text)?;
    }
    if let Some(text) = &asked.reuse {
        reuse::goal_of(text, new.goal.as_deref())?;
    }
    let Config { backoff_ms, most_backoff_ms, on_interrupt, .. } = *config(app);
    let terms = Terms {
        after_any: tasks_named(app, &asked.after_any)?,
        after_failed: tasks_named(app, &asked.after_failed)?,
        due_boot: moments::due_by_boot_clock(app, new)?,
        subject: needs_subject.then(|| app.surroundings.subject(cwd)).transpose()?,
        is_stable: asked.is_stable,
        backoff_ms: unusual(positive("backoff", asked.backoff.as_deref())?.unwrap_or(backoff_ms), FIRST_BACKOFF_MS),
        most_backoff_ms: unusual(
            positive("max-backoff", asked.most_backoff.as_deref())?.unwrap_or(most_backoff_ms),
            LONGEST_BACKOFF_MS,
        ),
        on_interrupt: asked.on_interrupt.unwrap_or(on_interrupt),
        on_finish: asked.on_finish.clone(),
        warn_after_ms: positive("warn-after", asked.warn_after.as_deref())?,
        on_wait: asked.on_wait.clone(),
        slot_count: slots::count_of(asked.slots)?,
        message: asked.message.clone(),
        channel: asked.channel.clone(),
        log_sample: asked.log_sample.as_deref().map(sample).transpose()?,
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

/// Accepts a line of a batch by itself.
pub(crate) fn accept_alone(app: &App, mut task: Task, new: &NewTask) -> Result<Accepted, AppError> {
    if task.key.is_some() {
        return enqueue_keyed(app, task, new);
    }
    accept_new(app, &mut task, new)?;
    Ok(Accepted { task, created: true })
}

/// What is done for a task that has its number and is not accepted yet. What is given back keeps others out of its group
/// until its record stands.
pub(crate) fn prepare_terms<'a>(app: &'a App, task: &mut Task, new: &NewTask) -> Result<Option<KeySlot<'a>>, AppError> {
    reuse::reuse(app, task, new)?;
    join_group(app, task, new)
}

/// Tells of tasks that others have asked for (S2.34).
pub(crate) fn note_children(app: &App, tasks: &[Task]) {
    let spawned = |task: &Task| {
        let data = json!({ "child": task.id.to_string(), "parent": task.parent?.to_string() });
        Some(Event::of("spawned", task).with(data))
    };
    if tasks.iter().any(|task| task.parent.is_some()) {
        app.store.note_all(&mut tasks.iter().filter_map(spawned));
    }
}

/// Gives a task its number and accepts it.
pub(crate) fn accept_new(app: &App, task: &mut Task, new: &NewTask) -> Result<(), AppError> {
    task.id = app.store.reserve_ids(1)?;
    let _group = prepare_terms(app, task, new)?;
    accept(app, std::slice::from_ref(task))
}

/// A value that is not the usual one: records have the others only.
fn unusual(value: u64, usual: u64) -> Option<u64> {
    (value != usual).then_some(value)
}

/// Refuses a task that says it borrows lanes and is no child that somebody waits for (S0.19).
pub(crate) fn check_inherit(new: &NewTask, parent: Option<TaskId>, is_waited_for: bool) -> Result<(), AppError> {
    if !new.terms.must_inherit || parent.is_some() && is_waited_for {
        return Ok(());
    }
    let why = if parent.is_some() { "nobody waits for it (--wait)" } else { "it is no child (--parent)" };
    Err(AppError::new(Kind::No, Code::NoLoan, format!("the task cannot borrow the lanes of a parent: {why}"))
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

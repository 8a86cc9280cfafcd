//! The children for whose ends a task waits, and `await output` outside of all tasks.
//! `await_child` is `enqueue --wait` inside a task: the task waits for its child as `await agent --match child=ID` does, in the
//! state `waiting`, and gets the variables of the child's end (S1.22). `ends_expected` gives the number of ends that a wait for
//! all children expects. `await_output` stores nothing of its wait.

use super::wait::{WaitOrder, await_within};
use crate::app::pass::wake::fire_timers;
use crate::app::query::list::{Filter, list};
use crate::app::steps::wait::{OUTPUT_PAUSE, WaitEnd};
use crate::app::waits::came::{is_end_of, is_meant, means_child, take_in_vars, vars_of};
use crate::app::waits::output::{Looked, OutputOrder, OutputReader};
use crate::app::waits::unused_mail;
use crate::app::{App, AppError, Code};
use crate::model::sorted::sort_by_key;
use crate::model::{Task, TaskId};
use crate::policy::steps::waits::{OnTimeout, WaitEvent, WaitKind};
use crate::store::{Mail, OpenWait, Waits};
use std::time::Duration;

/// No wait for a child lasts longer: ten years, in milliseconds.
const LONGEST_MS: u64 = 10 * 365 * 24 * 3_600_000;

/// Waits for a child of the task around this process. False where the task is no child of it, or where another process of the parent
/// waits: then `take_result` sets the variables later.
pub fn await_child(app: &App, child: &Task, say: &mut dyn FnMut(&str)) -> Result<bool, AppError> {
    let Some(parent) = parent_here(app, child) else { return Ok(false) };
    let order = WaitOrder {
        name: None,
        around: None,
        kind: WaitKind::Agent,
        event: WaitKind::Agent.event().to_owned(),
        time_ms: LONGEST_MS,
        on_timeout: OnTimeout::Continue,
        timeout_command: None,
        filter: vec![("child".to_owned(), child.id.to_string())],
        expect: 1,
        ends_run: false,
        output: None,
    };
    match await_within(app, &order, 0, &mut |_| say(&format!("luzia: {parent} waits for {}", child.id))) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.code(), Code::WaitsAlready | Code::TaskNotRunning | Code::TaskOver) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the variables of the end of a child for which no wait was open.
pub fn take_result(app: &App, child: &Task) -> Result<(), AppError> {
    let Some(parent) = parent_here(app, child) else { return Ok(()) };
    let (Some((_, task)), waits) = (app.find(parent)?, app.store.waits(parent)?) else { return Ok(()) };
    let unused = unused_mail(app, parent, &waits)?;
    let mail: Vec<Mail> = unused.into_iter().filter(|mail| is_end_of(mail, child.id)).collect();
    if mail.is_empty() { Ok(()) } else { take_in_vars(app, &task, vars_of(WaitKind::Agent, &mail, None)) }
}

/// The task around this process, if a task is its child.
fn parent_here(app: &App, child: &Task) -> Option<TaskId> {
    app.inside.as_ref().map(|inside| inside.task).filter(|id| child.parent == Some(*id))
}

/// The unfinished children of a task that match the filter of a wait, in the order of their numbers.
pub fn open_children(app: &App, id: TaskId, filter: &[(String, String)]) -> Result<Vec<Task>, AppError> {
    let mut children: Vec<Task> = Vec::new();
    // `doctor` reports a damaged record.
    list(app, &Filter::default(), &mut |found| {
        children.extend(found.ok().filter(|task| task.parent == Some(id) && means_child(filter, task.id)));
        true
    })?;
    sort_by_key(&mut children, |task| task.id);
    Ok(children)
}

/// Number of ends that a wait for all children expects: unfinished children, and reported ends that ended no wait. At least
/// one. Exactly one if the filter names more than the child.
pub(crate) fn ends_expected(app: &App, id: TaskId, waits: &Waits, open: &OpenWait) -> Result<u32, AppError> {
    if open.filter.iter().any(|(name, _)| name != "child") {
        return Ok(1);
    }
    // In this order: the end of a child is reported before the child is over.
    let children = open_children(app, id, &open.filter)?;
    let told: Vec<Mail> = unused_mail(app, id, waits)?.into_iter().filter(|mail| is_meant(mail, open)).collect();
    let is_told = |child: &Task| told.iter().any(|mail| is_end_of(mail, child.id));
    let count = told.len() + children.iter().filter(|child| !is_told(child)).count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

/// Refuses to wait for output that a task cannot wait for.
pub(super) fn check_output(app: &App, order: &OutputOrder, of: Option<TaskId>) -> Result<(), AppError> {
    if of == Some(order.task) {
        return Err(AppError::usage(format!("{} cannot wait for its own output", order.task))
            .hint("--task names another task, e.g. one that this task has queued"));
    }
    app.existing(order.task).map(drop)
}

/// Waits for output of a task, outside of all tasks. Nothing of the wait is stored, and it begins with the present content of the
/// logs.
pub fn await_output(
    app: &App,
    order: &OutputOrder,
    time_ms: u64,
    say: &mut dyn FnMut(&str),
) -> Result<WaitEnd, AppError> {
    check_output(app, order, None)?;
    let watch = order.watch(&Waits::default());
    let mut reader = OutputReader::new(&watch).map_err(AppError::usage)?;
    let (begin, mut changes) = (app.host.boot_ms(), app.store.watch());
    say(&format!("luzia: waits for {}", order.name()));
    let (task, mail) = (order.task, Vec::new());
    let mut end = WaitEnd {
        task,
        mail,
        is_timed_out: false,
        is_failed: false,
        is_remembered: false,
        is_missed: false,
        output: None,
    };
    loop {
        let _ = fire_timers(app);
        let again = match reader.look(app) {
            Looked::Over(event, seen) => {
                (end.is_missed, end.output) = (event == WaitEvent::Gone, Some(seen));
                return Ok(end);
            }
            Looked::Again(ms) => Duration::from_millis(ms),
        };
        let left = time_ms.saturating_sub(app.host.boot_ms().saturating_sub(begin));
        if left == 0 {
            (end.is_timed_out, end.is_failed) = (true, true);
            return Ok(end);
        }
        let left = Duration::from_millis(left);
        changes.wait(again.clamp(Duration::from_millis(1), OUTPUT_PAUSE).min(left));
    }
}

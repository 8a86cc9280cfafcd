//! `await output` outside of all tasks.

use crate::app::pass::wake::fire_timers;
use crate::app::steps::wait::{OUTPUT_PAUSE, WaitEnd};
use crate::app::waits::output::{Looked, OutputOrder, OutputReader};
use crate::app::{App, AppError};
use crate::model::TaskId;
use crate::policy::steps::waits::WaitEvent;
use crate::store::Waits;
use std::time::Duration;

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

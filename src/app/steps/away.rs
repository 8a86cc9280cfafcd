//! The return of a process that has waited: it returns when its task again has the slots that it gave up meanwhile.

use crate::app::loans::{die_of, is_ending};
use crate::app::processes::wake_supervisor;
use crate::app::{App, AppError};
use crate::model::{LaneName, TaskId};
use crate::store::Waiter;
use std::time::Duration;

/// Time before the first message, and interval of requests to the supervisor, in milliseconds.
const SILENT_MS: u64 = 300;
const ASK_AGAIN_MS: u64 = 5000;

/// Returns when a task has all its lanes in this start. `say` gets one message if that takes time.
pub(super) fn come_back(app: &App, id: TaskId, start: u64, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
    let (mut changes, mut asked_ms, mut is_told) = (app.run_dir.watch(id), None, false);
    while let Some(lanes) = app.run_dir.away(id, u32::try_from(start).unwrap_or(u32::MAX))? {
        if let Some(signal) = app.host.procs.asked_to_end() {
            // The supervisor stops a process that goes on without its slots.
            return Err(die_of(app, signal));
        }
        let now = app.host.boot_ms();
        let passed = asked_ms.map(|asked: u64| now.saturating_sub(asked));
        if passed.is_none_or(|passed| passed >= ASK_AGAIN_MS) {
            wake_supervisor(app, id)?;
            asked_ms = Some(now);
        } else if !is_told && passed.is_some_and(|passed| passed >= SILENT_MS) {
            let lanes: Vec<String> = lanes.iter().map(LaneName::to_string).collect();
            say(&format!("luzia: {id} has what it waited for, and waits for its place in {}", lanes.join(", ")));
            is_told = true;
        }
        changes.wait(Duration::from_millis(if is_told { ASK_AGAIN_MS } else { SILENT_MS }));
    }
    Ok(())
}

/// For a process that a signal asks to end. Its wait stays as it is, the task takes its slots back, and then the process ends.
/// Does not return if no signal came.
pub(super) fn leave(app: &App, (id, start): (TaskId, u64), signal: i32, waiter: Waiter) -> Result<AppError, AppError> {
    if !is_ending(app)? {
        app.store.leave_wait(waiter)?;
        come_back(app, id, start, &mut |_| {})?;
    }
    Ok(die_of(app, signal))
}

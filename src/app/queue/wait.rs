//! `wait`: blocks until tasks are over. It looks again at each file event, and after `LONGEST_PAUSE` at the latest.

use crate::app::loans::{end_loans, heed_signals, lend_to, remind_lenders};
use crate::app::pass::wake::fire_timers;
use crate::app::processes::wake_supervisor;
use crate::app::query::cycles::await_around;
use crate::app::{App, AppError, Code};
use crate::model::sorted::sort_by_key;
use crate::model::{Status, Task, TaskId};
use crate::store::Changes;
use std::time::Duration;

/// Interval at which a waiter asks the parent of a child for a pass, in milliseconds.
const REMIND_MS: u64 = 5000;
/// Longest sleep of a waiter between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// The pause between two looks at the tasks of several hosts, which no file announces.
const SHARED_PAUSE: Duration = Duration::from_millis(200);

/// Waits until all of the tasks are over and returns them, or with `any` returns the one that was over first. `on_look` gets
/// each unfinished task at each look, and whether its state is another one than before.
pub fn wait(
    app: &App,
    ids: &[TaskId],
    any: bool,
    timeout_ms: Option<u64>,
    on_look: &mut dyn FnMut(&Task, bool),
) -> Result<Vec<Task>, AppError> {
    app.fleet.iter().for_each(|fleet| fleet.be_patient(timeout_ms));
    for id in ids {
        app.existing(*id)?;
    }
    let mut lent = lend_to(app, ids.iter().copied())?;
    let _awaited = await_around(app, if any { &[] } else { ids })?;
    let begin = app.host.boot_ms();
    let mut reminded_ms = begin;
    let mut last: Vec<Option<Status>> = vec![None; ids.len()];
    let mut changes = app.store.watch();
    loop {
        heed_signals(app, &mut lent)?;
        let _ = fire_timers(app);
        let mut over = Vec::new();
        for (id, last) in ids.iter().zip(&mut last) {
            if last.is_some_and(Status::is_final) && !any {
                over.push(app.existing(*id)?);
                continue;
            }
            let task = app.existing(*id)?;
            let is_new = last.replace(task.status()) != Some(task.status());
            on_look(&task, is_new);
            if task.status().is_final() {
                over.push(task);
            }
        }
        if over.len() == ids.len() || any && !over.is_empty() {
            if any {
                sort_by_key(&mut over, |task| task.outcome().map(|outcome| outcome.completed_at));
                over.truncate(1);
            }
            end_loans(app, lent, true, timeout_ms.map(|limit| begin.saturating_add(limit)))?;
            return Ok(over);
        }
        let passed = app.host.boot_ms().saturating_sub(begin);
        let left = timeout_ms.map_or(u64::MAX, |limit| limit.saturating_sub(passed));
        if left == 0 {
            let open: Vec<String> =
                ids.iter().filter(|id| over.iter().all(|task| task.id != **id)).map(TaskId::to_string).collect();
            let has_lent = !lent.is_empty();
            end_loans(app, lent, false, None)?;
            let hint = if has_lent { "what ran in the lanes of this task was ended" } else { "the tasks go on" };
            return Err(AppError::new(Code::WaitTimedOut, format!("not over yet: {}", open.join(", ")))
                .hint(hint)
                .next(format!("luzia explain {}", open.first().map_or("", String::as_str))));
        }
        // The supervisor of this task ends after this process, and no other process may be there to start the awaited tasks.
        if let Some(inside) = app.inside.as_ref().filter(|_| last.contains(&Some(Status::Pending))) {
            wake_supervisor(app, inside.task)?;
        }
        if !lent.is_empty() && app.host.boot_ms().saturating_sub(reminded_ms) >= REMIND_MS {
            reminded_ms = app.host.boot_ms();
            remind_lenders(app, &lent)?;
        }
        rest(app, &mut changes, Duration::from_millis(left));
    }
}

/// Waits for a change, or for the next look.
fn rest(app: &App, changes: &mut Changes, most: Duration) {
    match app.fleet {
        Some(_) => app.host.sleep(SHARED_PAUSE.min(most)),
        None => changes.wait(LONGEST_PAUSE.min(most)),
    }
}

//! `run --no-wait` with a store: whether the holder of the scheduling duty starts a task at once.

use crate::app::fleet::Fleet;
use crate::app::{App, AppError, Obstacle};
use crate::model::{Status, Task, TaskId};
use crate::policy::outcome::{Happened, conclude};
use std::time::Duration;

/// Time in which the holder of the duty makes a pass and a host starts the task, in milliseconds.
const PATIENCE_MS: u64 = 3_000;
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until a task has started, or until something keeps it from that. Returns a task that waits, with its obstacle.
pub(super) fn start_or_leave(
    app: &App,
    fleet: &dyn Fleet,
    id: TaskId,
) -> Result<Option<(Task, Option<Obstacle>)>, AppError> {
    let begin = app.host.boot_ms();
    loop {
        let task = app.existing(id)?;
        if task.status() != Status::Pending {
            return Ok(None);
        }
        let obstacle = fleet.obstacle(&task)?;
        // The tasks before it may start, too.
        let is_kept = obstacle.as_ref().is_some_and(|obstacle| !matches!(obstacle, Obstacle::Priority { .. }));
        if is_kept || app.host.boot_ms().saturating_sub(begin) >= PATIENCE_MS {
            return Ok(Some((task, obstacle)));
        }
        app.host.sleep(LOOK);
    }
}

/// Takes a task out of the queue again if it has not started. Returns that task and its obstacle.
pub(super) fn start_or_take_back(
    app: &App,
    fleet: &dyn Fleet,
    id: TaskId,
) -> Result<Option<(Task, Obstacle)>, AppError> {
    let Some((task, obstacle)) = start_or_leave(app, fleet, id)? else { return Ok(None) };
    let happened =
        Happened::Cancelled { by: "run --no-wait".to_owned(), reason: Some("it could not start at once".to_owned()) };
    // A host that has the task starts it.
    let is_taken_back = fleet.end_queued(&conclude(&task, &happened, app.host.now(), None))?;
    Ok(is_taken_back.then(|| (task, obstacle.unwrap_or(Obstacle::Priority { ahead: 0 }))))
}

//! `enqueue --dry-run`: the outcome of a request, without queueing it.

use super::terms::check_dependencies;
use crate::app::estimate::{Estimate, THOROUGH, expected};
use crate::app::query::explain::reasons;
use crate::app::queue::enqueue::{Caller, task_of};
use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use crate::policy::admission::Obstacle;
use crate::request::TaskRequest;

/// The outcome that a request would have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preview {
    /// The task as it would be, with the greatest number there is: it would come last.
    pub task: Task,
    /// Number of tasks that would take their turn before it.
    pub ahead: u64,
    /// Every reason why it would not start, in the order in which dispatch meets them.
    pub obstacles: Vec<Obstacle>,
    /// Its expected start.
    pub estimate: Option<Estimate>,
}

/// Checks a request as `enqueue` does, and returns its place and the obstacles of its task. Writes nothing.
pub fn dry_run(app: &App, new: &TaskRequest, caller: &Caller) -> Result<Preview, AppError> {
    let mut task = task_of(app, new, caller)?;
    check_dependencies(app, &mut task)?;
    task.id = TaskId(u64::MAX);
    if !app.store.has_layout()? {
        return Ok(Preview { task, ahead: 0, obstacles: vec![Obstacle::NoDispatcher], estimate: None });
    }
    let (ahead, obstacles) = reasons(app)?.preview(&task)?;
    let estimate = expected(app, &task, &obstacles, THOROUGH)?;
    Ok(Preview { task, ahead, obstacles, estimate })
}

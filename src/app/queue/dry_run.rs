//! `enqueue --dry-run`: what would become of a request, without queueing it.

use crate::app::foresee::{Estimate, THOROUGH};
use crate::app::queue::enqueue::{Caller, NewTask};
use crate::app::{App, AppError};
use crate::model::{Task, TaskId};
use crate::policy::admission::Obstacle;

/// What would become of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preview {
    /// The task as it would be, with the greatest number there is: it would come last.
    pub task: Task,
    /// How many tasks would take their turn before it.
    pub ahead: u64,
    /// Every reason why it would not start, in the order in which dispatch meets them.
    pub obstacles: Vec<Obstacle>,
    /// When it would start.
    pub estimate: Option<Estimate>,
}

impl App {
    /// Checks a request as `enqueue` does, and tells its place and what it would wait for. Writes nothing.
    pub fn dry_run(&self, new: &NewTask, caller: &Caller) -> Result<Preview, AppError> {
        let mut task = self.task_of(new, caller)?;
        self.check_dependencies(&mut task)?;
        task.id = TaskId(u64::MAX);
        if !self.store.has_layout()? {
            return Ok(Preview { task, ahead: 0, obstacles: vec![Obstacle::NoDispatcher], estimate: None });
        }
        let (ahead, obstacles) = self.reasons()?.preview(&task)?;
        let estimate = self.expected(&task, &obstacles, THOROUGH)?;
        Ok(Preview { task, ahead, obstacles, estimate })
    }
}

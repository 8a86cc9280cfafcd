//! The tasks that a new task comes after.

use crate::app::{App, AppError};
use crate::model::task::Wanted;
use crate::model::{Status, Task, TaskId};
use crate::policy::requests::dependency::{Met, met};
use crate::request::TaskRequest;

/// The tasks of a list of arguments.
pub(super) fn tasks_named(app: &App, texts: &[String]) -> Result<Vec<TaskId>, AppError> {
    texts.iter().map(|text| app.task_id(text)).collect()
}

/// Every task that a request comes after, whatever end it asks for.
pub(crate) fn all_before(app: &App, new: &TaskRequest) -> Result<Vec<TaskId>, AppError> {
    let mut all = Vec::new();
    for texts in [&new.after, &new.after_any, &new.after_failed] {
        let ids = tasks_named(app, texts)?;
        if let Some(twice) = ids.iter().find(|id| all.contains(*id)) {
            let message = format!("{twice} is named in two of --after, --after-any and --after-failed");
            return Err(AppError::usage(message).hint("--after-any starts the task however the other one ends"));
        }
        all.extend(ids);
    }
    Ok(all)
}

/// Checks the tasks that a new task comes after. An unknown task is refused, and so is a task that ended in another way
/// than wanted. A task that ended as wanted needs no wait.
pub(crate) fn check_dependencies(app: &App, task: &mut Task) -> Result<(), AppError> {
    let mut open = Vec::new();
    task.comes_after = std::mem::take(&mut task.after);
    for id in task.comes_after.iter().copied() {
        let other = app.existing(id)?;
        match met(task.wanted(id), Some(other.status())) {
            Met::Yes => {}
            Met::NotYet => open.push(id),
            Met::Never => return Err(never(&other, task.wanted(id))),
        }
    }
    task.after = open;
    Ok(())
}

fn never(other: &Task, wanted: Wanted) -> AppError {
    let id = other.id;
    if wanted == Wanted::Failed {
        let why = if other.status() == Status::Completed { "so it did not fail" } else { "which is no failure" };
        return AppError::usage(format!("{id} is {}, {why}, and the task could never start", other.status()))
            .hint("--after-any starts a task however the other one ended")
            .next(format!("luzia show {id}"));
    }
    AppError::usage(format!("{id} is {}, so nothing can come after it", other.status()))
        .hint("retry it first, or leave --after out")
        .next(format!("luzia retry {id}"))
}

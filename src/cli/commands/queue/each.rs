//! The task ids of a command line, and one action on each of them.

use crate::app::{App, AppError};
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::{json, messages};
use crate::model::{Task, TaskId};

pub fn ids(app: &App, texts: &[String]) -> Result<Vec<TaskId>, AppError> {
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = app.task_id(text)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Does one thing to each task. The first refusal decides the exit code, and does not keep the others from their turn; nor
/// does an answer that cannot be written.
pub fn each(
    ids: &[TaskId],
    schema: &str,
    console: &mut Console,
    mut act: impl FnMut(TaskId) -> Result<Task, AppError>,
) -> Answer {
    let (mut items, mut refused, mut unread) = (Vec::new(), None, None);
    for id in ids {
        match act(*id) {
            Ok(task) if console.is_json() => items.push(json::task(&task)),
            Ok(task) if console.format == OutputFormat::Name => {
                if let (None, Err(stop)) = (&unread, console.out(&format!("{}\n", task.id))) {
                    unread = Some(stop);
                }
            }
            Ok(task) => console.say(&format!("{} {}", task.id, task.status)),
            Err(error) if refused.is_none() => refused = Some(error),
            Err(error) => {
                let _ = console.report(&messages::report_of(&error));
            }
        }
    }
    if console.is_json() && (refused.is_none() || !items.is_empty()) {
        unread = console.items(schema, items).err();
    }
    match (refused, unread) {
        (Some(error), _) => Err(error.into()),
        (None, Some(stop)) => Err(stop.into()),
        (None, None) => Ok(Exit::Done.code()),
    }
}

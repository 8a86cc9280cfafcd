//! A task in JSON, and the progress lines about tasks that several commands print.

use crate::app::look::list::Stuck;
use crate::app::{App, AppError, Obstacle};
use crate::cli::output::console::Console;
use crate::cli::output::style::Tone;
use crate::cli::output::{json, messages};
use crate::model::{Status, Task};
use serde_json::Value;

/// The colour of a status.
pub fn tone(status: Status) -> Tone {
    match status {
        Status::Pending | Status::Waiting => Tone::Plain,
        Status::Running | Status::Completed => Tone::Good,
        Status::Failed | Status::Timeout => Tone::Bad,
        Status::Cancelled => Tone::Faint,
    }
}

/// A task as JSON, and its supervisor while it runs.
pub fn running_json(app: &App, task: &Task) -> Result<Value, AppError> {
    let mut value = json::task(task);
    if let (Value::Object(members), Some(pid)) = (&mut value, app.supervisor_pid(task)?) {
        members.insert("supervisor_pid".into(), pid.into());
    }
    Ok(value)
}

/// A task as JSON, with the reason why it waits or is stuck.
pub fn task_json(
    app: &App,
    task: &Task,
    reason: Option<Obstacle>,
    stuck: Option<Stuck>,
    console: &Console,
) -> Result<Value, AppError> {
    let mut value = running_json(app, task)?;
    let waits = reason.map(|obstacle| messages::obstacle_json(&obstacle, task, console.now));
    if let (Value::Object(members), Some(detail)) = (&mut value, waits.or(stuck.map(messages::stuck_json))) {
        members.insert("reason".into(), detail["reason"].clone());
        members.insert("reason_detail".into(), detail);
    }
    Ok(value)
}

/// Why nothing was queued: another task has the key.
pub fn has_key(task: &Task) -> String {
    format!("{} has that key already and is {}", task.id, task.status)
}

/// One line a change, and only where there is something to wait for.
pub fn progress(task: &Task, obstacle: Option<&Obstacle>, console: &mut Console) {
    let is_news = console.verbose || console.streams.is_err_terminal || obstacle.is_some();
    if !is_news || console.is_json() {
        return;
    }
    match obstacle {
        Some(Obstacle::NoDispatcher) | None if task.status == Status::Pending && !console.verbose => {}
        Some(obstacle) => {
            let (text, _) = messages::obstacle_text(obstacle, task, console.now);
            if let Some(line) = messages::locked_line(obstacle, task) {
                console.log(&line);
            }
            console.say(&format!("luzia: {} waits: {text}", task.id));
        }
        None if task.status == Status::Running && !console.verbose => {}
        None if task.status.is_final() => {}
        None => console.say(&format!("luzia: {} {}", task.id, task.status)),
    }
}

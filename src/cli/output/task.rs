//! A task in JSON, and the progress lines about tasks that several commands print.

use crate::app::look::list::Stuck;
use crate::app::{App, AppError, Obstacle};
use crate::cli::output::console::Console;
use crate::cli::output::style::Tone;
use crate::cli::output::{json, messages};
use crate::model::time::format_duration;
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

/// One line a change, and only where there is something to wait for. `position` is the place of the task, from 1.
pub fn progress(task: &Task, obstacle: Option<&Obstacle>, position: Option<u64>, console: &mut Console) {
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
            let place = position.map_or_else(String::new, |position| format!("; position {position}"));
            console.say(&format!("luzia: {} waits: {text}{place}", task.id));
        }
        None if task.status == Status::Running && !console.verbose => {}
        None if task.status.is_final() => {}
        None => console.say(&format!("luzia: {} {}", task.id, task.status)),
    }
}

/// Says for what a command waits that waits for a task: why the task has not started, or how long it has been running.
pub fn tell_wait(app: &App, task: &Task, console: &mut Console) -> Result<(), AppError> {
    if console.is_json() || console.quiet {
        return Ok(());
    }
    match task.status {
        Status::Pending => {
            let obstacle = app.first_obstacle(task)?;
            let position = app.place_of(task, obstacle.as_ref())?;
            progress(task, obstacle.as_ref(), position, console);
        }
        Status::Running | Status::Waiting => {
            let since = task.last_start.as_ref().map_or(task.created_at, |start| start.at);
            let age = format_duration(u64::try_from(app.store.now().ms_since(since)).unwrap_or(0));
            console
                .say(&format!("luzia: waiting for {} of user \"{}\", {} for {age}", task.id, task.user, task.status));
        }
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => {}
    }
    Ok(())
}

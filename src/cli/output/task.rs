//! A task in JSON, and the progress lines about tasks that several commands print.

pub mod terms;

use crate::app::config_reload::follow_control;
use crate::app::query::explain::first_obstacle;
use crate::app::query::list::{Stuck, supervisor_pid};
use crate::app::queue::run::{InQueue, place_of};
use crate::app::steps::last_beat;
use crate::app::waits::{is_resume_ready, memory, open_wait};
use crate::app::{App, AppError, Obstacle};
use crate::cli::estimate::place_text;
use crate::cli::output::console::Console;
use crate::cli::output::style::Tone;
use crate::cli::output::{json, messages};
use crate::model::time::format_duration;
use crate::model::{Status, Task};
use serde_json::{Value, json};

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
    if let Some(pid) = supervisor_pid(app, task)? {
        value["supervisor_pid"] = pid.into();
        if let Some(beat) = last_beat(app, task)? {
            value["beat"] = json!({ "at": json::time(beat.at), "note": beat.note });
        }
    }
    if task.status() == Status::Waiting
        && let (Value::Object(members), Some(open)) = (&mut value, open_wait(app, task.id).ok().flatten())
    {
        terms::extend_waiting(members, open, task, app.host.now());
    }
    if task.status() == Status::Waiting {
        value["parked"] = task.wait().is_some().into();
        if is_resume_ready(app, task.id)? {
            value["resume_ready"] = true.into();
        }
    }
    Ok(value)
}

/// The memory of a task between its starts, as JSON. Without members for a task without a memory.
pub fn memory_json(app: &App, task: &Task) -> Result<Value, AppError> {
    let Some(memory) = memory(app, task.id)? else { return Ok(json!({})) };
    let step = |(step, is_done): &(crate::app::steps::Step, bool)| {
        json!({ "name": step.name, "done": is_done, "exit_code": step.exit_code,
            "ended_at": step.ended_at, "start": step.start, "tries": step.tries, "ran_ms": step.ran_ms,
            "stdout_bytes": step.stdout_bytes })
    };
    let wait = |wait: &crate::app::steps::DoneWait| json!({ "kind": wait.kind, "event": wait.event, "at": wait.at, "timed_out": wait.is_timed_out });
    let mut value = json!({
        "vars": memory.vars,
        "steps": memory.steps.iter().map(step).collect::<Vec<_>>(),
        "mail": memory.mail,
        "waits": memory.waits.iter().map(wait).collect::<Vec<_>>(),
    });
    if !memory.commands.is_empty() {
        let command = |command: &crate::app::steps::LateCommand| {
            json!({ "wait": command.position + 1, "begun_at": command.begun_at, "ended": command.ended,
                "is_lost": command.is_lost })
        };
        value["timeout_commands"] = memory.commands.iter().map(command).collect();
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
    if let Some(detail) = waits.or(stuck.map(messages::stuck_json)) {
        value["reason"] = detail["reason"].clone();
        value["reason_detail"] = detail;
    }
    Ok(value)
}

/// The reason why nothing was queued: another task has the key.
pub fn has_key(task: &Task) -> String {
    format!("{} has that key already and is {}", task.id, task.status())
}

/// One line a change, and only if the command waits for something. `place` is that of the task.
pub fn progress(task: &Task, obstacle: Option<&Obstacle>, place: Option<&InQueue>, console: &mut Console) {
    let is_news = console.verbose || console.streams.is_err_terminal || obstacle.is_some();
    if !is_news || console.is_json() {
        return;
    }
    match obstacle {
        Some(Obstacle::NoDispatcher) | None if task.status() == Status::Pending && !console.verbose => {}
        Some(obstacle) => {
            let (text, _) = messages::obstacle_text(obstacle, task, console.now);
            if let Some(line) = messages::locked_line(obstacle, task) {
                console.log(&line);
            }
            console.say(&format!("luzia: {} waits: {text}{}", task.id, place_text(place)));
        }
        None if task.status() == Status::Running && !console.verbose => {}
        None if task.status().is_final() => {}
        None => console.say(&format!("luzia: {} {}", task.id, task.status())),
    }
}

/// The state of a task that has started, and the time since.
pub fn state_text(app: &App, task: &Task) -> String {
    let since = task.last_start.as_ref().map_or(task.created_at, |start| start.at);
    let age = format_duration(app.host.now().saturating_ms_since(since));
    format!("luzia: waiting for {} of user \"{}\", {} for {age}", task.id, task.user, task.status())
}

/// The first reason why a pending task does not start, for a command that waits for it and needs no rules. Rules that do not
/// read leave those of the last look in force.
pub fn present_obstacle(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    let _ = follow_control(app);
    first_obstacle(app, task)
}

/// Reports the state of a task that a command waits for: the reason why it has not started, or the time it has been running.
pub fn tell_wait(app: &App, task: &Task, console: &mut Console) -> Result<(), AppError> {
    if console.is_json() || console.quiet {
        return Ok(());
    }
    match task.status() {
        Status::Pending => {
            let obstacle = present_obstacle(app, task)?;
            let place = place_of(app, task, obstacle.as_ref(), true)?;
            progress(task, obstacle.as_ref(), place.as_ref(), console);
        }
        Status::Running | Status::Waiting => console.say(&state_text(app, task)),
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => {}
    }
    Ok(())
}

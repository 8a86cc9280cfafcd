//! `luzia logs --steps`.

use super::LogsArgs;
use crate::app::App;
use crate::app::query::events::{ActionLine, actions};
use crate::app::queue::terms::moments::past_moment;
use crate::app::steps::step_named;
use crate::cli::output::console::Console;
use crate::cli::output::escape::{escape_controls, escape_output};
use crate::cli::output::json;
use crate::model::TaskId;
use serde_json::json;

/// Prints the kept output of a step of each task.
pub(super) fn print_step(ids: &[TaskId], name: &str, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let mut items = Vec::new();
    for id in ids {
        let (step, is_done) = step_named(app, *id, name)?;
        let output = step.output();
        if console.is_json() {
            items
                .push(json!({ "task": id.to_string(), "name": step.name, "done": is_done, "exit_code": step.exit_code,
                "stdout_bytes": step.stdout_bytes, "stdout": String::from_utf8_lossy(&output) }));
        } else if console.streams.is_out_terminal {
            console.out(&escape_output(&String::from_utf8_lossy(&output)))?;
        } else {
            console.out_bytes(&output)?;
        }
    }
    if console.is_json() {
        console.items("logs", items)?;
    }
    Ok(())
}

/// Prints the actions of tasks, one task after another.
pub(super) fn print(ids: &[TaskId], args: &LogsArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let since = past_moment(app, "since", args.since.as_deref())?;
    let is_wanted = |line: &ActionLine| {
        since.is_none_or(|since| line.at >= since)
            && args.grep.as_ref().is_none_or(|pattern| line.text().contains(pattern.as_str()))
    };
    let mut items = Vec::new();
    for id in ids {
        for line in actions(app, *id)?.into_iter().filter(is_wanted) {
            if console.is_json() {
                items.push(json!({ "task": id.to_string(), "at": json::time(line.at),
                    "action": Some(line.number).filter(|number| *number > 0),
                    "name": Some(&line.name).filter(|name| !name.is_empty()), "state": line.word(), "text": line.text() }));
                continue;
            }
            let task = if ids.len() > 1 { format!("{id} | ") } else { String::new() };
            console.out(&format!("{task}{}\n", escape_controls(&line.text())))?;
        }
    }
    if console.is_json() {
        console.items("logs", items)?;
    }
    Ok(())
}

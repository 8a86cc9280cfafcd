//! `luzia show`: one task in full.

mod page;

use crate::app::App;
use crate::app::query::details::Details;
use crate::app::query::list::{Shown, show};
use crate::app::query::{details, events};
use crate::cli::args::OutputFormat;
use crate::cli::output::console::Console;
use crate::cli::output::task::{memory_json, task_json, terms};
use crate::cli::output::{brief, json};
use crate::model::Task;
use clap::Args;
use serde_json::{Map, Value, json};

/// `luzia show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SHOW_HELP)]
pub struct ShowArgs {
    /// The task, e.g. `task_12` or `12`; `last` is the newest one
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Print where the task stands as JSON: its step, its variables, what it waits for, and what came before
    #[arg(long)]
    pub checkpoint: bool,
}

const SHOW_HELP: &str = "\
Examples:
  luzia show task_12
  luzia show last
  luzia show 12 --json
  luzia show 12 --checkpoint

Events:
  The newest 40 events of the task; luzia events TASK has all of them.

Exit codes:
  0    shown
  2    usage
  65   the task's record is corrupt, or a newer luzia wrote it
  66   no such task";

/// `luzia show`.
pub fn run(args: &ShowArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let shown = show(app, app.task_id(&args.task)?)?;
    if console.format == OutputFormat::Name {
        return Ok(console.out(&format!("{}\n", shown.task.id))?);
    }
    if args.checkpoint {
        return Ok(console.document(&json::single("show", events::checkpoint(app, &shown.task)?))?);
    }
    let details = details::details(app, &shown.task)?;
    if !console.is_json() {
        let text = page::page(app, &shown, &details, console)?;
        return Ok(console.out(&text)?);
    }
    let Shown { task, started, obstacle, stuck } = shown;
    let mut value = task_json(app, &task, obstacle, stuck, console)?;
    if let Some(started) = &started {
        value["started"] = json!({ "start": started.start, "at": started.at.to_string() });
    }
    value = json::with(value, memory_json(app, &task)?);
    value["context"] = terms::context(&task);
    if let Some(vars) = value.get("vars").filter(|vars| vars.is_object()).cloned() {
        value["variables"] = vars;
    }
    Ok(console.document(&json::single("show", json::with(value, details_json(&task, &details, console))))?)
}

fn details_json(task: &Task, details: &Details, console: &Console) -> Value {
    let logs: Map<String, Value> = details
        .logs
        .iter()
        .map(|(stream, path, bytes)| ((*stream).to_owned(), json!({ "path": path, "bytes": bytes })))
        .collect();
    let locks = details.locks.iter().map(|(lane, path)| json!({ "lane": lane, "path": path }));
    let waited_for = details.waited_for.iter().map(|(holder, lane)| json!({ "holder": holder, "lane": lane }));
    json!({
        "waited_ms": brief::waited_ms(task, console.now),
        "waited_for": waited_for.collect::<Vec<_>>(),
        "prompt": task.stdin,
        "folder": details.folder,
        "logs": logs,
        "lock_files": locks.collect::<Vec<_>>(),
        "events": details.events.iter().map(|event| event.json()).collect::<Vec<_>>(),
    })
}

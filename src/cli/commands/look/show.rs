//! `luzia show`: one task in full.

use crate::app::App;
use crate::app::look::list::Shown;
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::table::{Column, Table};
use crate::cli::output::task::task_json;
use crate::cli::output::{json, messages};
use clap::Args;
use serde_json::{Value, json};

/// `luzia show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SHOW_HELP)]
pub struct ShowArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,
}

const SHOW_HELP: &str = "\
Examples:
  luzia show task_12
  luzia show 12 --json

Exit codes:
  0    shown
  2    usage
  65   the task's record is corrupt, or a newer luzia wrote it
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia show`.
pub fn run(args: &ShowArgs, app: &App, console: &mut Console) -> Answer {
    let Shown { task, started, obstacle, stuck } = app.show(app.task_id(&args.task)?)?;
    if console.is_json() {
        let mut value = task_json(app, &task, obstacle, stuck, console)?;
        if let (Value::Object(members), Some(started)) = (&mut value, &started) {
            members.insert("started".into(), json!({ "start": started.start, "at": started.at.to_string() }));
        }
        console.document(&json::single("show", value))?;
        return Ok(Exit::Done.code());
    }
    if console.format == OutputFormat::Name {
        console.out(&format!("{}\n", task.id))?;
        return Ok(Exit::Done.code());
    }
    let mut table = Table::new(&[Column::new("FIELD"), Column::new("VALUE")]);
    let waits = obstacle.map(|obstacle| messages::obstacle_text(&obstacle, &task, console.now).0);
    let reason = waits.or(stuck.map(|stuck| messages::stuck_text(stuck).1));
    let extra = [("reason", reason), ("supervisor_pid", started.map(|started| started.supervisor.pid.to_string()))];
    for (field, value) in extra.into_iter().filter_map(|(field, value)| Some((field, value?))) {
        table.row([field.to_owned(), value]);
    }
    if let Value::Object(members) = json::task(&task) {
        for (field, value) in members {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text,
                other => other.to_string(),
            };
            table.row([field, text]);
        }
    }
    console.table(&table)?;
    Ok(Exit::Done.code())
}

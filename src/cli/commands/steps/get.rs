//! `luzia get`: prints variables of a task.

use super::tell_damage;
use crate::app::App;
use crate::app::steps::subject;
use crate::app::steps::vars::{var_name, var_of, vars_of};
use crate::cli::output::console::Console;
use crate::cli::output::table::Table;
use clap::Args;
use serde_json::{Value, json};

/// `luzia get`.
#[derive(Args, Clone, Debug)]
#[command(after_help = GET_HELP)]
pub struct GetArgs {
    /// The variable; all of them without
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// The task, instead of the one inside which luzia is called
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

const GET_HELP: &str = "\
Notes:
  A value is printed whole, whatever its size. On a terminal its control characters are shown as \\x1b.

Examples:
  luzia get page
  luzia get --task 12
  luzia get --task 12 --json

Exit codes:
  0    printed
  1    the task has no such variable
  2    usage
  65   the variables cannot be read, nor can those before the last change
  66   no such task";

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `luzia get`.
pub fn run(args: &GetArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let id = subject(app, args.task.as_deref())?;
    if let Some(name) = args.name.as_deref() {
        var_name(name)?;
        let (value, damage) = var_of(app, id, name)?;
        tell_damage(damage.as_ref(), console);
        if !console.json("get", || json!({ "id": id.to_string(), "name": name, "value": value }))? {
            console.text(&format!("{}\n", text(&value)))?;
        }
        return Ok(());
    }
    let read = vars_of(app, id)?;
    tell_damage(read.damage.as_ref(), console);
    if !console.json("get", || json!({ "id": id.to_string(), "vars": read.value }))? {
        let mut table = Table::of(&["NAME", "VALUE"]);
        for (name, value) in &read.value {
            table.row([name.clone(), text(value)]);
        }
        console.table(&table)?;
    }
    Ok(())
}

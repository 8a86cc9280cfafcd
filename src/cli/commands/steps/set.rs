//! `luzia set`: sets variables of a task.

use super::tell_damage;
use crate::app::App;
use crate::app::steps::subject;
use crate::app::steps::vars::{assignments, set_vars, var_name};
use crate::cli::output::console::Console;
use clap::Args;
use serde_json::json;

/// `luzia set`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SET_HELP)]
pub struct SetArgs {
    /// Names and values
    #[arg(value_name = "NAME=VALUE", required_unless_present = "unset")]
    pub values: Vec<String>,

    /// The task, instead of the one inside which luzia is called
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,

    /// Read each value as JSON
    #[arg(long)]
    pub json_value: bool,

    /// Remove a variable; can be repeated
    #[arg(long, value_name = "NAME")]
    pub unset: Vec<String>,
}

const SET_HELP: &str = "\
Notes:
  The next start of the task has each variable as LUZIA_VAR_<name>, and in its arguments as {{name}}: text within one argument.
  Text that begins with - at the begin of an argument is refused at the start, unless -- stands before it. A name without a
  value stays as it is written.
  A value is never put into a script. {{name}} in --shell, or in what `sh -c`, `python3 -c`, `awk`, `ssh`, `make` and the like
  run, is refused: the script reads \"$LUZIA_VAR_name\", or takes {{name}} as an argument: sh -c 'echo \"$1\"' sh {{name}}
  A value that an event brought and that has more than 64 KiB or a NUL byte comes by a file, with its path in
  LUZIA_VAR_<name>_FILE. So do the longest ones when all have more than 256 KiB, or less where the stack has a small limit
  (ulimit -s). `luzia get NAME` prints a value of any size.
  The change is durable, all of it or none. Calls at one time take turns, so that none is lost.

Examples:
  luzia set page=3 last='two words'
  luzia set --json-value 'urls=[\"a\",\"b\"]'
  luzia set --task 12 approved=yes

Exit codes:
  0    set
  1    the task is over; nothing was changed
  2    usage; nothing was changed
  66   no such task";

/// `luzia set`.
pub fn run(args: &SetArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let new = assignments(&args.values, args.json_value)?;
    args.unset.iter().try_for_each(|name| var_name(name))?;
    let id = subject(app, args.task.as_deref())?;
    let read = set_vars(app, id, &new, &args.unset)?;
    tell_damage(read.damage.as_ref(), console);
    console.json("set", || json!({ "id": id.to_string(), "vars": read.value }))?;
    Ok(())
}

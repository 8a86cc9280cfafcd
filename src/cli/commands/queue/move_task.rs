//! `luzia move`: puts a waiting task before others.

use crate::app::App;
use crate::app::queue::order::Goal;
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use clap::Args;

/// `luzia move`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MOVE_HELP)]
pub struct MoveArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Before every task with which it takes turns
    #[arg(long, conflicts_with = "before", required_unless_present = "before")]
    pub first: bool,

    /// Before this task, with which it has a lane in common
    #[arg(long, value_name = "TASK")]
    pub before: Option<String>,
}

const MOVE_HELP: &str = "\
Notes:
  Tasks of a lane start by priority, then by number. So a task is moved by its priority: it gets that of the other task, or
  one step more. It may come before further tasks by that.

Examples:
  luzia move 12 --first
  luzia move 12 --before 7

Exit codes:
  0    moved, or nobody was before it
  1    it has started, or has no lane in common with the other task, or nothing comes before that
  2    usage; nothing was changed
  66   no such task
  75   the task starts or ends right now; try again
  others as in luzia-exit-codes(7)";

/// `luzia move`.
pub fn run(args: &MoveArgs, app: &App, console: &mut Console) -> Answer {
    let goal = match &args.before {
        Some(text) => Goal::Before(app.task_id(text)?),
        None => Goal::First,
    };
    let (task, is_moved) = app.move_task(app.task_id(&args.task)?, goal)?;
    if console.is_json() {
        console.document(&json::single("move", json::task(&task)))?;
    } else if console.format == OutputFormat::Name {
        console.out(&format!("{}\n", task.id))?;
    } else if is_moved {
        console.say(&format!("{} has priority {} now", task.id, task.priority.number()));
    } else {
        console.say(&format!("{} comes before that already", task.id));
    }
    Ok(Exit::Done.code())
}

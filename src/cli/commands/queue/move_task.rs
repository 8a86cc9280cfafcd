//! `luzia move`: puts a waiting task before others.

use crate::app::App;
use crate::app::queue::order::{Goal, Moved, Others, move_task};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::model::Priority;
use clap::Args;
use serde_json::json;

/// `luzia move`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MOVE_HELP)]
pub struct MoveArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Before every task of its session, else project, in the same lanes
    #[arg(long, conflicts_with = "before", required_unless_present = "before")]
    pub first: bool,

    /// Before this task, which must have a lane in common with the moved one
    #[arg(long, value_name = "TASK")]
    pub before: Option<String>,
}

const MOVE_HELP: &str = "\
Notes:
  Tasks of a lane start by priority, then by number. So a task is moved by its priority, and by nothing else: it gets that of
  the other task, or, when the other one is older, the next more urgent one. The answer tells the old and the new priority. The
  task comes before all further tasks of its user that are less urgent, and it keeps the priority when the other task is over.
  A task that is more urgent already keeps its priority. `luzia edit TASK --priority N` takes a move back. Priorities 0 to 3
  count as high, 4 to 6 as normal, 7 to 9 as low, and each of the three has its share of the starts.
  Users take turns by their shares, and so do the sessions, else projects, of one user: between tasks of two of them priority
  decides only in a lane such as thread:7, whose tasks start in one order. `luzia enqueue --after TASK` orders tasks across
  sessions.

Examples:
  luzia move 12 --first
  luzia move 12 --before 7

Exit codes:
  0    moved, or nobody was before it
  1    it has started, or has no lane in common with the other task, or nothing comes before that
  2    usage; nothing was changed
  66   no such task
  75   the task starts or ends right now; try again";

/// `luzia move`.
pub fn run(args: &MoveArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let goal = match &args.before {
        Some(text) => Goal::Before(app.task_id(text)?),
        None => Goal::First,
    };
    let moved = move_task(app, app.task_id(&args.task)?, goal)?;
    let task = &moved.task;
    let before = moved.priority_before.map(Priority::number);
    let more = || json!({ "moved": before.is_some(), "priority_before": before });
    console.tell("move", &task.id, || json::with(json::task(task), more()), || said(&moved))?;
    let hint = match moved.takes_turns_with {
        Some(Others::Users) => {
            "the two tasks are of different users, who take turns by their shares: the other one may still start first"
        }
        Some(Others::Sessions) => {
            "sessions, else projects, of a user take turns by their shares: a task of another one may still start \
             first; `luzia enqueue --after TASK` orders tasks across sessions"
        }
        None => "",
    };
    if !hint.is_empty() && !console.is_json() {
        console.hint(hint);
    }
    Ok(())
}

/// The change, in words for people.
fn said(moved: &Moved) -> String {
    let task = &moved.task;
    let Some(before) = moved.priority_before else {
        return format!("{} comes before that already; its priority stays {}", task.id, task.priority.number());
    };
    let tier = match task.priority.tier() {
        tier if tier == before.tier() => String::new(),
        tier => format!("; it counts as {} now", tier.word()),
    };
    format!("{} has priority {} now, and had {}{tier}", task.id, task.priority.number(), before.number())
}

//! `luzia wait`: waits for tasks to finish.

use super::each::ids;
use crate::app::{App, Obstacle};
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::task::progress;
use crate::cli::output::{json, messages};
use crate::cli::task_request;
use crate::model::Status;
use clap::Args;

/// `luzia wait`.
#[derive(Args, Clone, Debug)]
#[command(after_help = WAIT_HELP)]
pub struct WaitArgs {
    /// The tasks, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Wait no longer than this
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Wait until one of them has finished, not all
    ///
    /// That one is printed, and the exit code says how it ended. Of several that are over already, it is the one that
    /// ended first.
    #[arg(long)]
    pub any: bool,
}

const WAIT_HELP: &str = "\
Examples:
  luzia wait task_12
  luzia wait 12 13 14 --any --timeout 10m

Exit codes:
  0    every task (with --any: the first to end) has completed
  1    a task failed or was cancelled
       inside a task for which one of them waits: nobody would ever end
  2    usage
  66   no such task
  75   --timeout ran out; the tasks go on
  124  the time limit of a task ended it
  others as in luzia-exit-codes(7)";

/// `luzia wait`.
pub fn run(args: &WaitArgs, app: &App, console: &mut Console) -> Answer {
    let ids = ids(app, &args.tasks)?;
    let timeout_ms = task_request::duration("timeout", args.timeout.as_deref())?;
    // Who waits for a time only does not wait for ever.
    if timeout_ms.is_none() {
        app.refuse_waiting_for(&ids, args.any)?;
    }
    for id in &ids {
        let task = app.existing(*id)?;
        let waits = task.status == Status::Pending && app.inside.is_none();
        if waits && (!app.has_dispatcher()? || app.first_obstacle(&task)? == Some(Obstacle::NoDispatcher)) {
            console.hint("nothing is running that starts tasks; `luzia dispatch` or `luzia daemon` starts them");
            break;
        }
    }
    let over = app.wait(&ids, args.any, timeout_ms, &mut |task| progress(task, None, console))?;
    if console.is_json() {
        console.items("wait", over.iter().map(json::task))?;
    } else if console.format == OutputFormat::Name {
        over.iter().try_for_each(|task| console.out(&format!("{}\n", task.id)))?;
    } else {
        for task in &over {
            if let Some(outcome) = &task.outcome {
                console.say(&format!("{} {}: {}", task.id, task.status, outcome.summary));
            }
        }
    }
    let worst =
        if args.any { over.first().map(messages::wait_code) } else { over.iter().map(messages::wait_code).max() };
    Ok(worst.unwrap_or(Exit::Done.code()))
}

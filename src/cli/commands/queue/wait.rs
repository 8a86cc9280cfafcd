//! `luzia wait`: waits for tasks to finish.

use super::attach;
use super::each::{chosen, newest};
use super::room::Terminal;
use crate::app::admission::{has_dispatcher, may_start};
use crate::app::fleet::local_only;
use crate::app::queue::inside::refuse_waiting_for;
use crate::app::queue::run::event_messages;
use crate::app::queue::terms::moments;
use crate::app::queue::wait::wait;
use crate::app::{App, AppError, Obstacle};
use crate::cli::args::OutputFormat;
use crate::cli::context::Account;
use crate::cli::exit::{Exit, wait_code};
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::cli::output::live::waiting::WaitLine;
use crate::cli::output::task::present_obstacle;
use crate::model::{Status, Task, TaskId};
use crate::request::Selection;
use clap::Args;

/// Wait until tasks have finished. It starts none: a daemon, `luzia dispatch`, `luzia run` or --stream does. Without an
/// argument: for the newest task of the calling user, which is named on standard error.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = WAIT_HELP)]
pub struct WaitArgs {
    /// The tasks, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", conflicts_with = "selection")]
    pub tasks: Vec<String>,

    /// Tasks that are not over now, by what they have in common.
    #[command(flatten)]
    pub selection: Selection,

    /// Wait no longer than this
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Wait until one of them has finished, not all
    ///
    /// That one is printed, and the exit code says how it ended. Of several that are over already, it is the one that
    /// ended first.
    #[arg(long)]
    pub any: bool,

    /// Print the output of the tasks, each from its beginning, and exit with the code of the command
    ///
    /// The tasks are printed one after another. Of several, the exit code is that of the first whose command did not succeed.
    /// Tasks that wait are started when their turn comes. With --json nothing is printed but the output. On a terminal the
    /// control characters of the output are shown as `\x1b`, as `luzia logs` does.
    #[arg(long, conflicts_with = "any")]
    pub stream: bool,
}

const WAIT_HELP: &str = "\
Examples:
  luzia wait
  luzia wait task_12
  luzia wait 12 13 14 --any --timeout 10m
  luzia wait -u alice
  luzia wait task_12 --stream --timeout 100s

Exit codes:
  0    every task (with --any: the first to end) has completed
  1    a task failed or was cancelled
       called inside a task for which one of them waits: neither would ever end
  2    usage
  66   no such task, or no task is selected
  75   --timeout ran out; the tasks go on
  124  the time limit of a task ended it
  with --stream: the command's own code, as of luzia-run(1), or 130: you pressed
       Ctrl-C, and the task goes on";

/// `luzia wait`.
pub fn run(args: &WaitArgs, app: &App, account: Account, console: &mut Console) -> Answer {
    let ids = wanted(args, app, account, console)?;
    let timeout_ms = moments::duration("timeout", args.timeout.as_deref())?;
    // A wait with a time limit cannot last for ever.
    if timeout_ms.is_none() {
        refuse_waiting_for(app, &ids, args.any)?;
    }
    for id in &ids {
        let task = app.existing(*id)?;
        let waits =
            app.fleet.is_none() && task.status() == Status::Pending && app.inside.is_none() && may_start(app, &task);
        if waits && needs_starter(app, &task)? {
            console.hint("nothing is running that starts tasks; `luzia dispatch` or `luzia daemon` starts them");
            break;
        }
    }
    let mut line = WaitLine::new(app, ids.len(), console);
    let over = wait(app, &ids, args.any, timeout_ms, &mut |task, is_new| {
        line.saw(app, task, is_new, console);
        if is_new && !args.any {
            tell_end(task, console);
        }
    })?;
    if args.any {
        over.iter().for_each(|task| tell_end(task, console));
    }
    if console.verbose {
        for task in &over {
            event_messages(app, task.id, task.created_at)?.iter().for_each(|line| console.log(line));
        }
    }
    if console.format == OutputFormat::Json {
        console.items("wait", over.iter().map(json::task))?;
    }
    let worst = if args.any { over.first().map(wait_code) } else { over.iter().map(wait_code).max() };
    Ok(worst.unwrap_or(Exit::Done.code()))
}

/// Whether nothing is at work that would start a pending task. No pass starts a paused one.
pub(super) fn needs_starter(app: &App, task: &Task) -> Result<bool, AppError> {
    Ok(match present_obstacle(app, task)? {
        Some(Obstacle::NoDispatcher) => true,
        Some(Obstacle::Paused { .. }) => false,
        _ => !has_dispatcher(app)?,
    })
}

/// `luzia wait --stream`.
pub fn stream(args: &WaitArgs, app: &App, account: Account, terminal: &mut Terminal, console: &mut Console) -> Answer {
    if app.fleet.is_some() {
        return Err(local_only("--stream").into());
    }
    let ids = wanted(args, app, account, console)?;
    let timeout_ms = moments::duration("timeout", args.timeout.as_deref())?;
    if timeout_ms.is_none() {
        refuse_waiting_for(app, &ids, false)?;
    }
    for id in &ids {
        app.existing(*id)?;
    }
    attach::watch(&ids, timeout_ms, app, terminal, console)
}

/// The tasks that are named or selected, else the newest of the caller.
fn wanted(args: &WaitArgs, app: &App, account: Account, console: &mut Console) -> Result<Vec<TaskId>, AppError> {
    if args.tasks.is_empty() && args.selection.is_empty() {
        return Ok(vec![newest(app, None, account, console)?]);
    }
    Ok(chosen(app, &args.tasks, &args.selection, |status| !status.is_final(), "wait")?.0)
}

/// Reports the end of a task as soon as it is seen; one document of JSON follows when all are over.
fn tell_end(task: &Task, console: &mut Console) {
    let Some(outcome) = task.outcome() else { return };
    // An answer that cannot be written does not end the wait: the exit code is an answer, too.
    let _ = match console.format {
        OutputFormat::Json => Ok(()),
        OutputFormat::Jsonl => console.line("wait", &json::task(task)),
        OutputFormat::Name => console.out(&format!("{}\n", task.id)),
        _ => {
            console.say(&format!("{} {}: {}", task.id, task.status(), outcome.summary));
            Ok(())
        }
    };
}

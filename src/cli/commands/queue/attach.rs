//! `luzia attach`: streams a task from its beginning and ends as the task does.

mod shared;

use super::room::{Patience, Room, Terminal};
use crate::app::fleet::Fleet;
use crate::app::query::explain::first_obstacle;
use crate::app::queue::inside::refuse_waiting_for;
use crate::app::queue::run::see_through;
use crate::app::sandboxes::take_here;
use crate::app::{App, AppError, Code, Life, Obstacle, shell_word};
use crate::cli::exit::{Exit, run_code};
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::messages::attach_here;
use crate::model::task::EndState;
use crate::model::time::format_duration;
use crate::model::{Status, Task, TaskId, Timestamp};
use clap::Args;

/// Print the output of a task from its beginning, go on until the task is over, and exit with the code of its command, as
/// `luzia run` does. A task that waits is started when its turn comes. Ctrl-C ends attach only; the task goes on. On a terminal
/// the control characters of the output are shown as \x1b, as `luzia logs` does; a pipe gets every byte.
///
/// A task starts only in the sandbox in which it was queued. When that has ended, --here shows the command and runs it in the
/// sandbox and with the limits of this call. The task keeps its place, its attempts, its key, its environment and its working
/// directory. Nothing is asked: the call is the decision. It is refused while a process lives in that sandbox.
///
/// With a store of several hosts this works on the host that has the task, and --here is refused.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = ATTACH_HELP)]
pub struct AttachArgs {
    /// The task, e.g. `task_12` or `12`; `last` is the newest one
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Run a task here whose sandbox has ended, after showing its command
    ///
    /// For a task that this process may start anyway the option changes nothing.
    #[arg(long)]
    pub here: bool,
}

const ATTACH_HELP: &str = "\
Examples:
  luzia attach task_12
  luzia attach last
  luzia attach --here task_12

Exit codes:
  the command's own code, or 128+N when signal N killed it
  130  you pressed Ctrl-C; the task goes on
  1    the task was cancelled
       --here, and its sandbox is alive; nothing was changed
       called inside a task for which TASK waits: neither would ever end
  2    usage, or another host has the task
  66   no such task
  124  a time limit ended the task
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command";

/// `luzia attach`. With a store the task is one of several hosts, and `app` has those of this host.
pub fn run(
    args: &AttachArgs,
    app: &App,
    store: Option<&dyn Fleet>,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    if let Some(store) = store {
        return shared::attach(args, app, store, terminal, console);
    }
    let id = app.task_id(&args.task)?;
    app.existing(id)?;
    refuse_waiting_for(app, &[id], false)?;
    if let Some(task) = if args.here { take_here(app, id)? } else { None } {
        console.say(&taken(&task, console.now));
    }
    watch(&[id], None, app, terminal, console)
}

/// The sentence on the task that runs here from now on, and on the agent that queued it.
fn taken(task: &Task, now: Timestamp) -> String {
    let words: Vec<String> = task.command.iter().map(shell_word).collect();
    let by = task.agent.as_ref().map_or_else(String::new, |agent| format!(" by {}", agent.name));
    let age = format_duration(now.saturating_ms_since(task.created_at));
    format!("luzia: {} runs here: {} (in {}, queued{by} {age} ago)", task.id, words.join(" "), shell_word(&task.cwd))
}

/// Streams tasks, one after another. The exit code is that of the first task that did not complete. `end_ms` is the time for
/// which the caller waits for all of them.
pub(super) fn watch(
    ids: &[TaskId],
    end_ms: Option<u64>,
    app: &App,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    let mut room = Room::onlooker(console, terminal);
    room.patience = Patience { start_ms: None, end_ms };
    let mut code = Exit::Done.code();
    for (at, id) in ids.iter().enumerate() {
        let task = see_through(app, *id, false, &mut room)?;
        room.show_rest();
        if let Some(stop) = room.closed.take() {
            return Err(stop.into());
        }
        if !task.status().is_final() {
            let is_queued = task.status() == Status::Pending && at + 1 == ids.len();
            let queued = is_queued.then(|| way_on(&task, app)).transpose()?;
            return left(&ids[at..], queued, &mut room);
        }
        tell_end(&task, room.console);
        if code == Exit::Done.code() {
            code = run_code(&task);
        }
    }
    Ok(code)
}

/// The caller leaves before the tasks are over. `queued` is the way on where one task is left that has not started.
fn left(open: &[TaskId], queued: Option<String>, room: &mut Room) -> Answer {
    let names: Vec<String> = open.iter().map(TaskId::to_string).collect();
    let seen = room.interrupts();
    if seen.count > 0 {
        let text = match (queued, open.len()) {
            (Some(way), _) => format!("is still queued; go on with: {way}"),
            (None, 1) => "goes on".to_owned(),
            (None, _) => "go on".to_owned(),
        };
        room.console.say(&format!("luzia: {} {text}", names.join(", ")));
        return Ok(Exit::of_signal(seen.first));
    }
    if !room.is_out_of_time() {
        return Err(Stop::Closed.into());
    }
    Err(AppError::new(Code::WaitTimedOut, format!("not over yet: {}", names.join(", ")))
        .hint("the tasks go on")
        .next(queued.unwrap_or_else(|| format!("luzia wait {} --stream", names.join(" "))))
        .into())
}

/// The command that goes on with a task that its caller leaves before the end. A wait for a task of the same caller whose
/// sandbox may have ended would last for ever.
pub(super) fn way_on(task: &Task, app: &App) -> Result<String, AppError> {
    let obstacle = if task.status() == Status::Pending { first_obstacle(app, task)? } else { None };
    Ok(match obstacle {
        Some(Obstacle::OtherContext { life: Life::Ended | Life::Unseen, is_own: true, .. }) => attach_here(task.id),
        _ => format!("luzia wait {} --stream", task.id),
    })
}

fn tell_end(task: &Task, console: &mut Console) {
    if let Some(outcome) = task.outcome().filter(|outcome| outcome.end != EndState::Completed) {
        console.say(&format!("luzia: {} {}: {}", task.id, task.status(), outcome.summary));
    }
}

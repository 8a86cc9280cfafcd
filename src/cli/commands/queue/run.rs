//! `luzia run`: queues one task, streams its output and ends as the task does.

mod shared;

use super::attach::way_on;
use super::enqueue::{refuse_options_beside_from, tell_notes};
use super::preempt;
use super::room::{Patience, Room, Terminal};
use crate::app::admission::may_start;
use crate::app::admission::turns::position;
use crate::app::lifecycle::Accepted;
use crate::app::queue::doors::no_exclusion;
use crate::app::queue::enqueue::{Caller, after_accepting, enqueue_batch, line_error};
use crate::app::queue::inside::{RanWithin, refuse_waiting_for, refuse_waiting_inside, run_within};
use crate::app::queue::run;
use crate::app::queue::run::batch::see_all_through;
use crate::app::queue::run::{Wish, event_messages, follow, is_followed, start_or_leave, start_or_take_back};
use crate::app::queue::terms::moments;
use crate::app::sandboxes::starts_only_here;
use crate::app::{App, AppError, Code, Obstacle};
use crate::cli::args::{Identity, PreemptOptions};
use crate::cli::exit::{Exit, end_code, run_code};
use crate::cli::input::Consent;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::task::has_key;
use crate::cli::output::{json, messages};
use crate::cli::result_file::ResultFile;
use crate::cli::task_lines;
use crate::model::task::EndState;
use crate::model::{Status, Task};
use crate::request::TaskRequest;
use clap::{Args, ValueHint};
use serde_json::{Value, json};

/// Queue a command, start it when its turn comes, stream its output, and exit with its own code. The first Ctrl-C cancels the
/// task with its grace, the second kills it; so do SIGTERM and SIGHUP. A task that another request has queued with the same key
/// is never cancelled so, and neither is one for which others wait by its key: only this wait ends. When an agent calls it,
/// SIGTERM or SIGHUP ends the wait: a task that has not started stays queued, and its id is printed. If the reader goes away
/// (`luzia run make | head`), the task is cancelled at its next write, as SIGPIPE would kill it without luzia, and `run` exits
/// with 0, as every command does whose reader is gone.
///
/// Inside a task that holds every lane of the new one, the command runs as a part of that task, with no record of its own.
/// With further lanes, or with options that need a record (--timeout, --retries, --key and others), it becomes a child task
/// that borrows the lanes of this one. An option that makes the task wait for itself is refused: --after that task, and
/// --no-inherit.
///
/// The task lasts as long as its command: processes that are left in the background when it exits are ended, SIGTERM first and
/// SIGKILL 5 seconds later, and only then its lanes are free. Of its logs the newest part is kept, up to `logs.max_bytes` (256
/// MiB) a task.
///
/// Everything after the command word belongs to the command. It is executed as given, without a shell.
///
/// The command inherits the environment, the working directory and the umask of this moment. Variables that begin with LUZIA_
/// and those that change how programs load (LD_PRELOAD, BASH_ENV, NODE_OPTIONS and their like) are left out; then come those of
/// --env and those that luzia sets, named below. Its standard input is /dev/null, unless a prompt is given there; its output
/// goes to its logs, from which it is streamed here. Its resource limits and its nice value are those of this moment, too.
///
/// DUR is `100ms`, `30s`, `10m`, `1h30m`, or seconds as a bare number.
#[derive(Args, Clone, Debug, Default)]
#[command(
    long_about,
    override_usage = "luzia run [OPTIONS] [--] <CMD>...\n       \
                      luzia run [OPTIONS] --prompt <TEXT>\n       \
                      luzia run [OPTIONS] --shell <STRING>\n       \
                      luzia run [OPTIONS] --from <FILE>",
    after_help = RUN_HELP,
    mut_arg("command", |command| command.required_unless_present("from"))
)]
pub struct RunArgs {
    /// The task.
    #[command(flatten)]
    pub task: TaskRequest,

    /// The name of the caller.
    #[command(flatten)]
    pub identity: Identity,

    /// Do not wait: when the task cannot start at once, cancel it and exit with 75
    ///
    /// The record of the cancelled task stays, as that of any other. A task that another request has queued with the same key is
    /// not cancelled; one that runs is followed to its end.
    #[arg(long, conflicts_with = "preempt")]
    pub no_wait: bool,

    /// Do not wait longer than this for the start: leave the task in the queue, say its id, and exit with 75
    ///
    /// The task keeps its place. Without this option, `run` waits without a limit; called by an agent (CLAUDECODE,
    /// CODEX_THREAD_ID, GEMINI_CLI or LUZIA_AGENT is set) and without a terminal on standard input, it waits for 90s.
    #[arg(long, value_name = "DUR", allow_hyphen_values = true, conflicts_with = "no_wait")]
    pub yield_after: Option<String>,

    /// Give the command the standard input of this process: a pipe or a file
    ///
    /// Without this option it reads /dev/null. The input is read by the command itself, when it starts. If this process ends
    /// before, the task fails with 125. For a command that needs a terminal, use --pty.
    #[arg(long, conflicts_with_all = ["prompt", "retries"])]
    pub stdin: bool,

    /// Give the command a terminal of its own, e.g. for an editor or a shell
    ///
    /// All its output is logged as standard output. Where standard input is a terminal, the command gets the keys: from its start
    /// on Ctrl-C goes to the command and no longer to `luzia run`. Otherwise it reads the end of its input, or with --stdin
    /// what stands there. The terminal is closed when the task ends.
    #[arg(long, conflicts_with_all = ["prompt", "retries", "group_output"])]
    pub pty: bool,

    /// Write the document of --json to this file when the command returns, whatever it prints
    ///
    /// The file appears complete, in the place of an older one. Its folder must exist; nothing is queued otherwise.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, allow_hyphen_values = true)]
    pub result_file: Option<String>,

    /// Changes nothing: run always waits. For scripts that pass the options of `enqueue`
    #[arg(long, conflicts_with = "no_wait")]
    pub wait: bool,

    /// Run the tasks of a file of JSON objects, one a line, as `enqueue --from` reads them; `-` is stdin
    ///
    /// They run side by side as their lanes and the slots let them. The output of each is printed when it has finished, in one
    /// piece, in the order of the lines. The exit code is that of the first line whose task did not complete. The first
    /// Ctrl-C cancels them all.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["prompt", "shell", "no_wait", "yield_after", "result_file", "stdin", "pty", "command"])]
    pub from: Option<String>,

    /// Print the output in one piece when the task has finished
    #[arg(long)]
    pub group_output: bool,

    /// Whether the task makes room for itself.
    #[command(flatten)]
    pub preempt: PreemptOptions,
}

const RUN_HELP: &str = "\
Examples:
  luzia run -l build -- make test
  luzia run -u alice -- make test
  luzia run --thread 7 --timeout 10m ./reply.sh
  luzia run -u alice --no-wait -- git push
  luzia run --from tasks.jsonl

Variables of the command:
  LUZIA_STATE_DIR      the state directory
  LUZIA_CONFIG         the configuration, where --config or LUZIA_CONFIG named it
  LUZIA_TASK_ID        the task, as task_12
  LUZIA_USER           the user of the task
  LUZIA_PROJECT        the project of the task, empty when it has none
  LUZIA_LANES          the lanes of the task, the user's first, with blanks between
  LUZIA_LOCK_ID        the lock id of the user's lane, else of the first lane
  LUZIA_FENCE          the fence of the same lane
  LUZIA_AGENT          the agent that asked for the task, where it is known
  LUZIA_SESSION        the session of that agent, where it is known
  LUZIA_ATTEMPT        the number of the attempt, from 1
  LUZIA_CONDUCTOR_DIR  the directory of the task, with its meta.json and its logs
  LUZIA_RESULT_FILE    the file in which a command that ends with 75 says when to
                       try again
  LUZIA_VAR_<name>     a variable of the task, as `luzia set` and `luzia await` set it
  LUZIA_VAR_<name>_FILE
                       in its place, the path of a file with a value that is too
                       large for the environment (luzia-set(1))
  --goal, --stepwise and `luzia lanes set --values` set further variables.

Exit codes:
  the command's own code, or 128+N when signal N killed it
       --from: that of the first line whose task did not complete
  130  you interrupted it with Ctrl-C: the task was cancelled, or others have
       queued it or wait for it, and it goes on
  143  the same by SIGTERM, and 129 by SIGHUP
  1    the task was cancelled otherwise
       the task that calls this holds the lane, so it would wait for itself;
       nothing was queued
       --on-conflict replace, and the task with the key calls this, or belongs
       to somebody else
  2    usage; nothing was queued
  75   --no-wait, and the task could not start at once; it was cancelled, but one
       that has the same key stays
       --yield-after, and the task has not started; it stays in the queue
       --on-conflict reject, and an unfinished task has the key
  124  a time limit ended the task
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command";

/// `luzia run`.
pub fn run(
    args: &RunArgs,
    app: &App,
    caller: &Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    agree: &Consent,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    if let Some(warning) = no_exclusion(app) {
        console.say(&format!("warning: {warning}"));
    }
    let asked = args.task.with_steps(read)?;
    if let Some(path) = &args.from {
        refuse_options_beside_from(&asked)?;
        return run_lines(&read(path)?, app, caller, terminal, console);
    }
    if app.fleet.is_some() {
        return shared::run(args, &asked, app, caller, terminal, console);
    }
    let yield_ms = moments::duration("yield-after", args.yield_after.as_deref())?;
    let new = TaskRequest {
        is_grouped: args.group_output,
        is_waited_for: true,
        reads_stdin: args.stdin || args.pty && terminal.caller.has_terminal,
        has_terminal: args.pty,
        is_run: true,
        ..asked
    };
    let result_file = ResultFile::prepare(args.result_file.as_deref())?;
    if let Some(within) = run_within(app, &new, caller)? {
        result_file.write(&within_json(&within))?;
        return Ok(told_within(&within, console));
    }
    refuse_waiting_inside(app, &new, caller)?;
    let accepted = preempt::accept(app, (&new, &args.preempt), caller, agree)?;
    tell_notes(app, &[(&new, &accepted)], console);
    if args.no_wait {
        start_at_once(&accepted, app, console)?;
    }
    if accepted.created {
        console.log(&format!("{} is queued for user \"{}\"", accepted.task.id, accepted.task.user));
    } else {
        console.say(&has_key(&accepted.task));
        refuse_waiting_for(app, &[accepted.task.id], false)?;
    }
    if !args.stdin && (terminal.has_unread_input)() {
        console.hint("nobody reads the pipe on standard input; --stdin gives it to the command");
    }
    let around = terminal.caller;
    let is_hasty = around.is_agent && !around.has_terminal;
    let start_ms = yield_ms.or(is_hasty.then_some(AGENT_PATIENCE_MS));
    let mut room = Room::new(console, terminal);
    room.patience = Patience { start_ms: start_ms.filter(|_| !args.no_wait), end_ms: None };
    room.leaves_waiting = around.is_agent;
    room.passes_keys_on = args.pty && around.has_terminal && accepted.created;
    if !accepted.created {
        // Another caller has queued it.
        (room.interrupted, room.unread) = (Wish::Leave, Wish::Leave);
    }
    let _followed = follow(app, &accepted)?;
    let seen = see_through(app, &accepted, args.group_output, &mut room);
    room.take_keys_back();
    let task = seen?;
    let answer = tell_and_code(&task, app, &mut room);
    result_file.write(&json::single("run", json::task(&task)))?;
    answer
}

/// Time for which `run` waits for a start when an agent called it, in milliseconds. The tools of an agent end a call after
/// some minutes (decision 115).
const AGENT_PATIENCE_MS: u64 = 90_000;

/// Watches the task until it is over, or the caller leaves it.
fn see_through(app: &App, accepted: &Accepted, group_output: bool, room: &mut Room) -> Result<Task, AppError> {
    loop {
        let task = run::see_through(app, accepted.task.id, group_output, room)?;
        let is_left = room.interrupts().count > 0 && (room.interrupted == Wish::Leave || is_followed(app, task.id));
        if task.status().is_final() || task.status() == Status::Pending || room.closed.is_some() || is_left {
            return Ok(task);
        }
        // The caller wanted to leave the task in the queue, but the task has started meanwhile.
        room.saw(&task);
    }
}

/// For `--no-wait`: an error where the task could not start at once. A task that another caller has queued stays in the
/// queue.
fn start_at_once(accepted: &Accepted, app: &App, console: &Console) -> Result<(), AppError> {
    let id = accepted.task.id;
    if !accepted.created {
        let Some((task, obstacle)) = start_or_leave(app, id)? else { return Ok(()) };
        let why = obstacle
            .map_or_else(String::new, |one| format!(": {}", messages::obstacle_text(&one, &task, console.now).0));
        let message = format!("{}, which has not started{why}", has_key(&task));
        return Err(AppError::new(Code::CannotStart, message)
            .hint("it keeps its place; without --no-wait this command would wait for its end")
            .next(format!("luzia wait {id}")));
    }
    let Some((task, obstacle)) = start_or_take_back(app, id).map_err(|error| after_accepting(app, id, error))? else {
        return Ok(());
    };
    let (text, next) = messages::obstacle_text(&obstacle, &task, console.now);
    // The task itself is no longer in the queue.
    let next = next.filter(|_| !matches!(obstacle, Obstacle::Delayed { .. }));
    Err(AppError::new(Code::CannotStart, format!("it cannot start at once: {text}"))
        .hint("without --no-wait it would wait for its turn")
        .with_next(next)
        .with_log(messages::locked_line(&obstacle, &task).into_iter().collect()))
}

/// Reports the result of the task, and gives the exit code.
fn tell_and_code(task: &Task, app: &App, room: &mut Room) -> Answer {
    // Another command may have cancelled the task before the signal did; the record names it.
    let is_ours = task.status() == Status::Cancelled
        && task.outcome().and_then(|outcome| outcome.cancelled_by.as_deref()) == Some("run");
    let seen = room.interrupts();
    let is_interrupted = is_ours && room.interrupted == Wish::Cancel && seen.count > 0;
    match room.closed.take() {
        // The end of a task that was not cancelled is a better answer than the closed output.
        Some(Stop::Closed) if !task.status().is_final() || task.status() == Status::Cancelled => {
            return Err(Stop::Closed.into());
        }
        None | Some(Stop::Closed) => {}
        Some(stop) => return Err(stop.into()),
    }
    if task.status() == Status::Pending {
        let error = still_queued(task, app)?;
        return match seen.count {
            0 => Err(error.into()),
            _ => {
                room.console.report(&error);
                Ok(Exit::of_signal(seen.first))
            }
        };
    }
    if !task.status().is_final() {
        let why = if room.interrupted == Wish::Leave { "" } else { "; others wait for it" };
        room.console.say(&format!("luzia: {} goes on{why}", task.id));
        return Ok(Exit::of_signal(seen.first));
    }
    tell_end(task, is_interrupted, app, room.console)?;
    Ok(if is_interrupted { Exit::of_signal(seen.first) } else { run_code(task) })
}

/// The answer of a caller that no longer waits for the start of a task.
pub(super) fn still_queued(task: &Task, app: &App) -> Result<AppError, AppError> {
    let position = position(app, task)?.saturating_add(1);
    let is_only_here = may_start(app, task) && starts_only_here(app)?;
    let (go_on, hint) = match is_only_here {
        true => (
            messages::attach_here(task.id),
            "the task keeps its place, but only this sandbox starts it; when the sandbox has ended, the command above \
             runs the task in another one",
        ),
        false => (way_on(task, app)?, "the task keeps its place"),
    };
    let message = format!("still queued as {}, position {position}; go on with: {go_on}", task.id);
    let error = AppError::new(Code::StillQueued, message).hint(hint).next(go_on);
    Ok(error.only_this_sandbox(is_only_here))
}

/// Reports the end of a task of `run`.
fn tell_end(task: &Task, is_interrupted: bool, app: &App, console: &mut Console) -> Result<(), AppError> {
    if console.verbose {
        event_messages(app, task.id, task.created_at)?.iter().for_each(|line| console.log(line));
    }
    if console.is_json() {
        let value = json::single("run", json::task(task));
        console.err_bytes(json::line(&value).as_bytes());
    } else if let Some(outcome) = task.outcome().filter(|outcome| outcome.end != EndState::Completed) {
        let line = match is_interrupted {
            true => format!("luzia: {} cancelled (interrupted)", task.id),
            false => format!("luzia: {} {}: {}", task.id, task.status(), outcome.summary),
        };
        console.say(&line);
    }
    Ok(())
}

/// `luzia run --from`.
fn run_lines(text: &str, app: &App, caller: &Caller, terminal: &mut Terminal, console: &mut Console) -> Answer {
    let batch = task_lines::read(text)?;
    for (line, new) in &batch {
        refuse_waiting_inside(app, new, caller).map_err(|error| line_error(*line, error))?;
    }
    if batch.is_empty() {
        console.say("the file has no line, so no task was run");
        return Ok(Exit::Done.code());
    }
    let accepted = enqueue_batch(app, &batch, caller)?;
    tell_notes(app, &batch.iter().map(|(_, new)| &**new).zip(&accepted).collect::<Vec<_>>(), console);
    for one in accepted.iter().filter(|one| !one.created) {
        console.say(&has_key(&one.task));
        refuse_waiting_for(app, &[one.task.id], false)?;
    }
    let mut room = Room::new(console, terminal);
    let tasks = see_all_through(app, &accepted, &mut room)?;
    let seen = room.interrupts();
    let is_interrupted = seen.count > 0;
    if let Some(stop) = room.closed {
        return Err(stop.into());
    }
    for task in &tasks {
        if !task.status().is_final() {
            console.say(&format!("luzia: {} goes on", task.id));
            continue;
        }
        tell_end(task, is_interrupted && task.status() == Status::Cancelled, app, console)?;
    }
    if is_interrupted {
        return Ok(Exit::of_signal(seen.first));
    }
    Ok(tasks.iter().map(run_code).find(|code| *code != 0).unwrap_or(Exit::Done.code()))
}

/// The document of a command that ran within the task around it.
fn within_json(within: &RanWithin) -> Value {
    let more = json!({ "within": true, "exit_code": end_code(within.end) });
    json::single("run", json::with(json::task(&within.task), more))
}

/// Reports a command that ran within the task around it. Its output has gone to the same place as that of the task.
fn told_within(within: &RanWithin, console: &mut Console) -> u8 {
    console
        .log(&format!("{} holds every lane of the command, so the command ran as a part of that task", within.task.id));
    if console.is_json() {
        console.err_bytes(json::line(&within_json(within)).as_bytes());
    }
    end_code(within.end)
}

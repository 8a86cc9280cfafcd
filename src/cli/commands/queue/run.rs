//! `luzia run`: queues one task, streams its output and ends as the task does.

use super::enqueue::refuse_options_beside_from;
use crate::app::locks::reentrancy::RanWithin;
use crate::app::look::logs::Stream;
use crate::app::queue::enqueue::{Caller, NewTask, line_error};
use crate::app::queue::run::{Audience, Wish};
use crate::app::{App, AppError, Kind, Obstacle};
use crate::cli::args::{Identity, TaskOptions};
use crate::cli::commands::look::logs::dropped_text;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::task::{has_key, progress};
use crate::cli::output::{json, messages};
use crate::cli::signals::Interrupts;
use crate::cli::task_request;
use crate::model::{Status, Task};
use clap::{Args, ValueHint};
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;

/// `luzia run`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Queue a command, start it when its turn comes, stream its output, and exit with its own code. The \
                  first Ctrl-C cancels the task with its grace, the second kills it. If the reader goes away \
                  (`luzia run make | head`), the task is cancelled at its next write, as SIGPIPE would kill it \
                  without luzia.\n\n\
                  Inside a task that holds every lane of the new one, the command runs as a part of that task, with no \
                  record of its own. Refused there: further lanes, and options that need a record \
                  of their own (--timeout, --retries, --key, --after and others), because they would wait for the \
                  task itself.\n\n\
                  The task lasts as long as its command: processes that are left in the background when it exits are \
                  ended, SIGTERM first and SIGKILL 5 seconds later, and only then its lanes are free. Of its logs \
                  the newest part is kept, up to `logs.max_bytes` (256 MiB) a task.\n\n\
                  Everything after the command word belongs to the command. It is executed as given, without a shell.\n\n\
                  The command inherits the environment, the working directory and the umask of this moment. Variables \
                  that begin with LUZIA_ and those that change how programs load (LD_PRELOAD, BASH_ENV, NODE_OPTIONS \
                  and their like) are left out; then come those of --env and those that luzia sets, named below. Its \
                  standard input is /dev/null, unless a prompt is given there; its output goes to its logs, from \
                  which it is streamed here. Resource limits are those of the luzia process that starts it.\n\n\
                  DUR is `100ms`, `30s`, `10m`, `1h30m`, or seconds as a bare number.",
    override_usage = "luzia run [OPTIONS] [--] <CMD>...\n       \
                      luzia run [OPTIONS] --prompt <TEXT>\n       \
                      luzia run [OPTIONS] --shell <STRING>\n       \
                      luzia run [OPTIONS] --from <FILE>",
    after_help = RUN_HELP
)]
pub struct RunArgs {
    /// What the task is.
    #[command(flatten)]
    pub task: TaskOptions,

    /// Who asks for it.
    #[command(flatten)]
    pub identity: Identity,

    /// Do not wait: when the task cannot start at once, cancel it and exit with 75
    ///
    /// The record of the cancelled task stays, as that of any other.
    #[arg(long)]
    pub no_wait: bool,

    /// Changes nothing: run always waits. For scripts that pass the options of `enqueue`
    #[arg(long, conflicts_with = "no_wait")]
    pub wait: bool,

    /// Run the tasks of a file of JSON objects, one a line, as `enqueue --from` reads them; `-` is stdin
    ///
    /// They run side by side as their lanes and the slots let them. The output of each is printed when it has finished, in one
    /// piece, in the order of the lines. The exit code is that of the first line whose task did not complete. The first
    /// Ctrl-C cancels them all.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["prompt", "shell", "no_wait", "command"])]
    pub from: Option<String>,

    /// Print the output in one piece when the task has finished
    #[arg(long)]
    pub group_output: bool,

    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        required_unless_present_any = ["prompt", "shell", "from"],
        conflicts_with = "shell"
    )]
    pub command: Vec<String>,
}

const RUN_HELP: &str = "\
Examples:
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
  LUZIA_LOCK_ID        the lock id of the user's lane
  LUZIA_FENCE          the fence of the user's lane
  LUZIA_AGENT          the agent that asked for the task, where it is known
  LUZIA_SESSION        the session of that agent, where it is known
  LUZIA_ATTEMPT        the number of the attempt, from 1
  LUZIA_CONDUCTOR_DIR  the directory of the task, with its meta.json and its logs

Exit codes:
  the command's own code, or 128+N when signal N killed it
       --from: that of the first line whose task did not complete
  130  you interrupted it with Ctrl-C, and the task was cancelled
  1    the task was cancelled otherwise
       it would wait for a lane of the task around it; nothing was queued
       --on-conflict replace, and the task with the key has started
  2    usage; nothing was queued
  75   --no-wait, and the task could not start at once; it was cancelled
       --on-conflict reject, and an unfinished task has the key
  124  a time limit ended the task
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command
  others as in luzia-exit-codes(7)";

/// `luzia run`.
pub fn run(
    args: &RunArgs,
    app: &App,
    caller: &Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    if let Some(path) = &args.from {
        refuse_options_beside_from(&task_request::new_task(&args.task, &args.command))?;
        return run_lines(&read(path)?, app, caller, terminal, console);
    }
    let new = NewTask {
        is_grouped: args.group_output,
        is_waited_for: true,
        ..task_request::new_task(&args.task, &args.command)
    };
    if let Some(within) = app.run_within(&new, caller)? {
        return Ok(told_within(&within, console));
    }
    app.refuse_waiting_inside(&new, caller)?;
    let accepted = app.enqueue(&new, caller)?;
    if args.no_wait && accepted.created {
        let id = accepted.task.id;
        let blocked = app.start_or_take_back(id).map_err(|error| app.after_accepting(id, error))?;
        if let Some((task, obstacle)) = blocked {
            let (text, next) = messages::obstacle_text(&obstacle, &task, console.now);
            // The task itself is out of the queue by now.
            let next = next.filter(|_| !matches!(obstacle, Obstacle::Delayed { .. }));
            let mut error = AppError::new(Kind::Busy, "CANNOT_START", format!("it cannot start at once: {text}"))
                .hint("without --no-wait it would wait for its turn");
            error.0.next = next.into_iter().collect();
            error.0.log = messages::locked_line(&obstacle, &task).into_iter().collect();
            return Err(error.into());
        }
    }
    if accepted.created {
        console.log(&format!("{} is queued for user \"{}\"", accepted.task.id, accepted.task.user));
    } else {
        console.say(&has_key(&accepted.task));
        app.refuse_waiting_for(&[accepted.task.id], false)?;
    }
    let unread = if accepted.created { Wish::Unread } else { Wish::Leave };
    let mut room = Room { console, terminal, unread, closed: None, rest: VecDeque::new() };
    let task = app.see_through(accepted.task.id, args.group_output, &mut room)?;
    // Another command may have cancelled the task before the signal did; the record says who did it.
    let is_ours = task.status == Status::Cancelled
        && task.outcome.as_ref().and_then(|outcome| outcome.cancelled_by.as_deref()) == Some("run");
    let is_interrupted = is_ours && (room.terminal.interrupts)().is_from_keyboard;
    match room.closed {
        // Its own end, where it came to one, is the better answer.
        Some(Stop::Closed) if !task.status.is_final() || task.status == Status::Cancelled => {
            return Err(Stop::Closed.into());
        }
        None | Some(Stop::Closed) => {}
        Some(stop) => return Err(stop.into()),
    }
    tell_end(&task, is_interrupted, app, console)?;
    Ok(if is_interrupted { Exit::of_signal(SIGINT) } else { messages::run_code(&task) })
}

/// Tells how a task of `run` has ended.
fn tell_end(task: &Task, is_interrupted: bool, app: &App, console: &mut Console) -> Result<(), AppError> {
    if console.verbose {
        app.event_messages(task.id, task.created_at)?.iter().for_each(|line| console.log(line));
    }
    if console.is_json() {
        let value = json::single("run", json::task(task));
        console.err_bytes(json::line(&value).as_bytes());
    } else if let Some(outcome) = task.outcome.as_ref().filter(|outcome| outcome.status != Status::Completed) {
        let line = match is_interrupted {
            true => format!("luzia: {} cancelled (interrupted)", task.id),
            false => format!("luzia: {} {}: {}", task.id, task.status, outcome.summary),
        };
        console.say(&line);
    }
    Ok(())
}

/// `luzia run --from`.
fn run_lines(text: &str, app: &App, caller: &Caller, terminal: &mut Terminal, console: &mut Console) -> Answer {
    let batch = task_request::task_lines(text)?;
    for (line, new) in &batch {
        app.refuse_waiting_inside(new, caller).map_err(|error| line_error(*line, error))?;
    }
    if batch.is_empty() {
        console.say("the file has no line, so no task was run");
        return Ok(Exit::Done.code());
    }
    let accepted = app.enqueue_batch(&batch, caller)?;
    for one in accepted.iter().filter(|one| !one.created) {
        console.say(&has_key(&one.task));
        app.refuse_waiting_for(&[one.task.id], false)?;
    }
    let mut room = Room { console, terminal, unread: Wish::Unread, closed: None, rest: VecDeque::new() };
    let tasks = app.see_all_through(&accepted, &mut room)?;
    let is_interrupted = (room.terminal.interrupts)().is_from_keyboard;
    if let Some(stop) = room.closed {
        return Err(stop.into());
    }
    for task in &tasks {
        tell_end(task, is_interrupted && task.status == Status::Cancelled, app, console)?;
    }
    if is_interrupted {
        return Ok(Exit::of_signal(SIGINT));
    }
    Ok(tasks.iter().map(messages::run_code).find(|code| *code != 0).unwrap_or(Exit::Done.code()))
}

/// A command that was no task of its own: its output has gone where that of the task around it goes.
fn told_within(within: &RanWithin, console: &mut Console) -> u8 {
    let code = messages::end_code(within.end);
    console.log(&format!("{} holds every lane of it, so it ran as a part of that", within.task.id));
    if console.is_json() {
        let mut value = json::task(&within.task);
        if let Value::Object(members) = &mut value {
            members.extend([("within".to_owned(), true.into()), ("exit_code".to_owned(), code.into())]);
        }
        console.err_bytes(json::line(&json::single("run", value)).as_bytes());
    }
    code
}

const SIGINT: i32 = 2;

/// What `run` asks of its terminal.
pub struct Terminal<'a> {
    /// The signals that its user has sent to it.
    pub interrupts: &'a mut dyn FnMut() -> Interrupts,
    /// Waits for so long, or for ever, until a stream takes a piece; false when the time is over or its user interrupts.
    pub has_room: &'a dyn Fn(Stream, Option<Duration>) -> bool,
    /// How many bytes a piece has.
    pub piece: usize,
}

/// The terminal as the audience of a run.
struct Room<'a, 'b, 'c> {
    console: &'a mut Console<'b>,
    terminal: &'a mut Terminal<'c>,
    /// What is to be done when the reader of the output has gone.
    unread: Wish,
    closed: Option<Stop>,
    /// What the reader has not taken yet.
    rest: VecDeque<(Stream, Vec<u8>)>,
}

impl Room<'_, '_, '_> {
    /// How much of it was passed on before its user interrupted.
    fn pass_on(&mut self, stream: Stream, bytes: &[u8]) -> usize {
        // After the second interruption, do not wait for a reader that has paused.
        let patience = ((self.terminal.interrupts)().count > 1).then_some(Duration::ZERO);
        let mut done = 0;
        for piece in bytes.chunks(self.terminal.piece) {
            if self.closed.is_none() {
                if !(self.terminal.has_room)(stream, patience) {
                    break;
                }
                // Where it cannot be written the task goes on: its log has all of it.
                let passed = match stream {
                    Stream::Out => self.console.out_bytes(piece),
                    Stream::Err => self.console.pass_err_on(piece),
                };
                self.closed = passed.err();
            }
            done += piece.len();
        }
        done
    }
}

impl Audience for Room<'_, '_, '_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        self.rest.push_back((stream, bytes.to_vec()));
        while let Some((stream, bytes)) = self.rest.pop_front() {
            let done = self.pass_on(stream, &bytes);
            if done < bytes.len() {
                self.rest.push_front((stream, bytes[done..].to_vec()));
                return false;
            }
        }
        true
    }

    fn dropped(&mut self, stream: Stream, bytes: u64) {
        self.console.say(&format!("luzia: {}", dropped_text(stream, bytes)));
    }

    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>) {
        progress(task, obstacle, self.console);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(&messages::report_of(error));
    }

    fn wish(&mut self) -> Wish {
        match (self.terminal.interrupts)().count {
            0 if matches!(self.closed, Some(Stop::Closed)) => self.unread,
            0 => Wish::GoOn,
            1 => Wish::Cancel,
            _ => Wish::Kill,
        }
    }
}

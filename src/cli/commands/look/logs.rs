//! `luzia logs`: prints what tasks have written.

mod course;

use crate::app::fleet::{Tail, refuse_local};
use crate::app::query::logs::{Stream, Wanted, elsewhere, logs};
use crate::app::queue::inside::refuse_waiting_for;
use crate::app::queue::terms::moments::past_moment;
use crate::app::waits::tail::Piece;
use crate::app::{App, AppError};
use crate::cli::args::{OutputFormat, number};
use crate::cli::commands::queue::each::{ids, newest};
use crate::cli::context::Account;
use crate::cli::output::console::{Console, Stop};
use crate::cli::output::escape::escape_output;
use crate::cli::output::json;
use crate::cli::output::task::tell_wait;
use crate::model::{Status, Task, TaskId, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Number of tasks for which `-f` reports at its start what they wait for.
const MOST_TOLD: usize = 10;
/// The longest line that is awaited whole; a longer line is printed in pieces.
const LONGEST_LINE: usize = 1024 * 1024;

/// Print the output of a task. Without an argument: of the newest task of the calling user, which is named on standard error.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = LOGS_HELP)]
pub struct LogsArgs {
    /// Tasks, e.g. `task_12` or `12`; `last` is the newest one. With several, each line begins with its task
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,

    /// Without an argument: the newest task of this user
    #[arg(short, long, conflicts_with = "tasks")]
    pub user: Option<String>,

    /// Go on printing until the tasks have finished
    #[arg(short, long)]
    pub follow: bool,

    /// Only the last N lines of each stream
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub lines: Option<usize>,

    /// Only the standard output of the task
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,

    /// Only the standard error of the task
    #[arg(long)]
    pub stderr: bool,

    /// Only lines that contain this text; with -n, only those among the last N
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub grep: Option<String>,

    /// Only what this attempt wrote, from 1
    #[arg(long, value_name = "N", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub attempt: Option<u32>,

    /// Only what was written in the last DUR, or after TIME (RFC 3339)
    #[arg(long, value_name = "DUR|TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Begin each line with the time by which luzia had read it
    #[arg(long)]
    pub timestamps: bool,

    /// Print the steps and waits of the tasks, each with its begin and its end, in place of their output
    #[arg(long, conflicts_with_all = ["follow", "lines", "stdout", "stderr", "attempt", "timestamps"])]
    pub steps: bool,

    /// Print the kept output of this `luzia step`, also of one that failed: the first 64 KiB of its last try
    #[arg(long, value_name = "NAME", conflicts_with_all = ["steps", "follow", "lines", "stdout", "stderr", "attempt", "timestamps", "grep", "since"])]
    pub step: Option<String>,
}

const LOGS_HELP: &str = "\
Order and times:
  The supervisor looks at both streams when they grow, at most every 10 ms, and
  less often in a task that writes for long. Of the output between two looks
  standard output comes first, and all of it has the time of the look. --stdout
  or --stderr alone into a pipe gives that stream byte for byte. On a terminal
  control characters are shown as \\x1b, also by attach and wait --stream. Your
  own `luzia run` passes the output of its command to the terminal unchanged.

Limit:
  Of the logs of a task the newest logs.max_bytes (256 MiB) are kept. Standard
  error says how much was dropped.

Examples:
  luzia logs
  luzia logs task_12
  luzia logs 12 -f
  luzia logs last --timestamps
  luzia logs 12 13 -f
  luzia logs 12 --attempt 2 --since 10m
  luzia logs 12 --stderr -n 20
  luzia logs 12 --steps
  luzia logs 12 --step build

Exit codes:
  0    printed, also when there is no output
  2    usage
  66   no such task";

/// `luzia logs`.
pub fn run(args: &LogsArgs, app: &App, account: Account, console: &mut Console) -> anyhow::Result<()> {
    let ids = match args.tasks.as_slice() {
        [] => vec![newest(app, args.user.as_deref(), account, console)?],
        tasks => ids(app, tasks)?,
    };
    if app.fleet.is_some() {
        refuse_local([(args.follow, "--follow"), (args.steps, "--steps"), (args.step.is_some(), "--step")])?;
    }
    if args.steps {
        return course::print(&ids, args, app, console);
    }
    if let Some(name) = &args.step {
        return course::print_step(&ids, name, app, console);
    }
    if args.follow {
        refuse_waiting_for(app, &ids, false)?;
        for id in ids.iter().take(MOST_TOLD) {
            tell_wait(app, &app.existing(*id)?, console)?;
        }
    }
    let stream = match (args.stdout, args.stderr) {
        (true, _) => Some(Stream::Out),
        (_, true) => Some(Stream::Err),
        (false, false) => None,
    };
    let since = past_moment(app, "since", args.since.as_deref())?;
    if args.attempt == Some(0) {
        return Err(AppError::usage("--attempt counts from 1").into());
    }
    let wanted = Wanted { stream, last_lines: args.lines, attempt: args.attempt, since };
    let is_terminal = console.streams.is_out_terminal;
    let is_plain = stream.is_some() && ids.len() == 1 && !args.timestamps && args.grep.is_none() && !is_terminal;
    let mut printer = Printer {
        is_raw: is_plain && !console.is_json(),
        is_of_many: ids.len() > 1,
        with_times: args.timestamps,
        pattern: args.grep.clone(),
        console,
        rest: BTreeMap::new(),
        items: Vec::new(),
        dropped: 0,
        stop: None,
    };
    logs(app, &ids, &wanted, args.follow, &mut |id, piece| printer.print(id, piece))?;
    let elsewhere = elsewhere(app, &ids)?;
    for (id, tail) in &elsewhere {
        let bytes = tail.output.as_deref().unwrap_or_default();
        printer.print(*id, Piece::Bytes { stream: Stream::Out, bytes, attempt: 1, at: Timestamp(0) });
    }
    printer.finish(&ids)?;
    for (id, Tail { host, output }) in &elsewhere {
        let host = host.as_deref().unwrap_or("no host");
        console.say(&match output {
            Some(_) => format!("note: this is the last part of the output of {id}; the rest is on host {host}: luzia logs {id} --store local"),
            None => format!("note: the output of {id} is on {host}, which posts its last part with the end"),
        });
    }
    for id in ids.iter().filter(|_| !args.follow) {
        tell_unstarted(&app.existing(*id)?, console);
    }
    Ok(())
}

/// Reports why nothing was printed of a task that has not started.
fn tell_unstarted(task: &Task, console: &mut Console) {
    if task.starts == 0 && task.status() == Status::Pending {
        console.hint(&format!("{} has not started; `luzia explain {}` says why", task.id, task.id));
    }
}

/// A sentence for output that is not kept.
pub fn dropped_text(stream: Stream, bytes: u64) -> String {
    format!("{} of earlier output on {} was dropped (logs.max_bytes)", size(bytes), name(stream))
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Out => "stdout",
        Stream::Err => "stderr",
    }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

/// The beginning of a line whose end has not arrived yet, with its attempt and moment.
#[derive(Default)]
struct Rest {
    bytes: Vec<u8>,
    attempt: u32,
    at: Timestamp,
}

/// Prints the output of commands. One stream of one task goes unchanged into a pipe. All other output is printed line by
/// line, with control characters escaped on a terminal.
struct Printer<'a, 'b> {
    console: &'a mut Console<'b>,
    is_raw: bool,
    is_of_many: bool,
    with_times: bool,
    pattern: Option<String>,
    rest: BTreeMap<TaskId, [Rest; 2]>,
    /// The lines of the one document of `--json`.
    items: Vec<Value>,
    /// Number of dropped bytes.
    dropped: u64,
    stop: Option<Stop>,
}

impl Printer<'_, '_> {
    fn print(&mut self, id: TaskId, piece: Piece<'_>) -> bool {
        match piece {
            Piece::Bytes { bytes, .. } if self.is_raw => self.stop = self.console.out_bytes(bytes).err(),
            Piece::Bytes { stream, bytes, attempt, at } => self.take(id, stream, bytes, attempt, at),
            Piece::Dropped { stream, bytes } => self.tell_dropped(id, stream, bytes),
            Piece::Attempt { attempt, at } => {
                self.flush(id, "\n");
                if !self.console.is_json() {
                    let of = if self.is_of_many { format!(" of {id}") } else { String::new() };
                    self.console.say(&format!("-- attempt {attempt}{of}, {at} --"));
                }
            }
        }
        self.stop.is_none()
    }

    fn tell_dropped(&mut self, id: TaskId, stream: Stream, bytes: u64) {
        self.dropped = self.dropped.saturating_add(bytes);
        // The beginning of a line whose end is lost.
        let rest = self.rest.get_mut(&id).map(|rests| std::mem::take(&mut rests[stream.index()])).unwrap_or_default();
        if !rest.bytes.is_empty() {
            self.line(id, stream, &rest);
        }
        if self.console.format == OutputFormat::Jsonl {
            let line = json!({ "id": id.to_string(), "stream": name(stream), "dropped_bytes": bytes });
            self.stop = self.console.line("logs", &line).err();
        } else if !self.console.is_json() {
            let of = if self.is_of_many { format!("{id}: ") } else { String::new() };
            self.console.say(&format!("luzia: {of}{}", dropped_text(stream, bytes)));
        }
    }

    fn take(&mut self, id: TaskId, stream: Stream, bytes: &[u8], attempt: u32, at: Timestamp) {
        let rest = &mut self.rest.entry(id).or_default()[stream.index()];
        let mut held = std::mem::take(&mut rest.bytes);
        held.extend_from_slice(bytes);
        let is_long = held.len() > LONGEST_LINE;
        let end = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let whole = if is_long { held.len() } else { end };
        *rest = Rest { bytes: held.split_off(whole), attempt, at };
        for line in held.split_inclusive(|byte| *byte == b'\n') {
            self.line(id, stream, &Rest { bytes: line.to_vec(), attempt, at });
        }
    }

    fn line(&mut self, id: TaskId, stream: Stream, line: &Rest) {
        let text = String::from_utf8_lossy(&line.bytes);
        if self.stop.is_some() || self.pattern.as_ref().is_some_and(|pattern| !text.contains(pattern)) {
            return;
        }
        let result = if self.console.is_json() {
            let item = json!({
                "id": id.to_string(),
                "stream": name(stream),
                "attempt": line.attempt,
                "at": line.at.to_string(),
                "line": text.strip_suffix('\n').unwrap_or(&text),
            });
            if self.console.format == OutputFormat::Jsonl {
                self.console.line("logs", &item)
            } else {
                self.items.push(item);
                Ok(())
            }
        } else {
            let of = if self.is_of_many { format!("{id} | ") } else { String::new() };
            let at = if self.with_times { format!("{} ", line.at) } else { String::new() };
            let begin = format!("{of}{at}");
            if self.console.streams.is_out_terminal {
                self.console.out(&format!("{begin}{}", escape_output(&text)))
            } else {
                self.console.out_bytes(&[begin.as_bytes(), &line.bytes].concat())
            }
        };
        self.stop = result.err();
    }

    /// Prints the beginnings of lines without an end, each with `end` behind it.
    fn flush(&mut self, id: TaskId, end: &str) {
        let [out, err] = self.rest.remove(&id).unwrap_or_default();
        for (stream, mut rest) in [(Stream::Out, out), (Stream::Err, err)] {
            if !rest.bytes.is_empty() {
                rest.bytes.extend_from_slice(end.as_bytes());
                self.line(id, stream, &rest);
            }
        }
    }

    fn finish(mut self, ids: &[TaskId]) -> Result<(), Stop> {
        ids.iter().for_each(|id| self.flush(*id, ""));
        if let Some(stop) = self.stop {
            return Err(stop);
        }
        if self.console.format != OutputFormat::Json {
            return Ok(());
        }
        let all: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let first = all.first().cloned();
        let members = [
            ("id", json!(first.filter(|_| !self.is_of_many))),
            ("ids", json!(all)),
            ("dropped_bytes", self.dropped.into()),
            ("items", self.items.into()),
        ];
        self.console.document(&json::document("logs", members))
    }
}

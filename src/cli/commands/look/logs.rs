//! `luzia logs`: the output of a task.

use crate::app::App;
use crate::app::logs::Stream;
use crate::cli::args::{OutputFormat, number};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::escape::escape_lines;
use crate::cli::output::json;
use crate::model::TaskId;
use clap::Args;
use serde_json::{Value, json};

/// `luzia logs`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LOGS_HELP)]
pub struct LogsArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Keep printing until the task has finished
    #[arg(short, long)]
    pub follow: bool,

    /// Only the last N lines of each stream
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub lines: Option<usize>,

    /// Only its standard output
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,

    /// Only its standard error
    #[arg(long)]
    pub stderr: bool,

    /// Only lines that contain this text; with -n, only those among the last N
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub grep: Option<String>,
}

const LOGS_HELP: &str = "\
Examples:
  luzia logs task_12
  luzia logs 12 -f
  luzia logs 12 --stderr -n 20

Exit codes:
  0    printed, perhaps nothing
  2    usage
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia logs`.
pub fn run(args: &LogsArgs, app: &App, console: &mut Console) -> Answer {
    let id = app.task_id(&args.task)?;
    if args.follow {
        app.refuse_waiting_for(&[id], false)?;
    }
    let streams: &[Stream] = match (args.stdout, args.stderr) {
        (true, _) => &[Stream::Out],
        (_, true) => &[Stream::Err],
        (false, false) => &[Stream::Out, Stream::Err],
    };
    let pattern = args.grep.clone();
    let mut printer = Printer { console, pattern, rest: [Vec::new(), Vec::new()], items: Vec::new(), stop: None };
    app.logs(id, streams, args.lines, args.follow, &mut |stream, bytes| printer.print(stream, bytes))?;
    printer.finish(id)?;
    Ok(Exit::Done.code())
}

/// Prints what a command wrote: as it is into a pipe, with control characters escaped on a terminal, and line by line in
/// JSON.
struct Printer<'a, 'b> {
    console: &'a mut Console<'b>,
    pattern: Option<String>,
    /// The beginnings of lines whose ends have not come yet, of standard output and of standard error.
    rest: [Vec<u8>; 2],
    /// The lines of the one document of `--json`.
    items: Vec<Value>,
    stop: Option<Stop>,
}

impl Printer<'_, '_> {
    fn print(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        if self.pattern.is_none() && !self.console.streams.is_out_terminal && !self.console.is_json() {
            self.stop = self.console.out_bytes(bytes).err();
            return self.stop.is_none();
        }
        let mut rest = std::mem::take(self.rest_of(stream));
        rest.extend_from_slice(bytes);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in rest[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.line(stream, line);
        }
        rest.drain(..whole);
        *self.rest_of(stream) = rest;
        self.stop.is_none()
    }

    fn rest_of(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.rest[0],
            Stream::Err => &mut self.rest[1],
        }
    }

    fn line(&mut self, stream: Stream, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if self.stop.is_some() || self.pattern.as_ref().is_some_and(|pattern| !text.contains(pattern)) {
            return;
        }
        let result = if self.console.is_json() {
            let name = match stream {
                Stream::Out => "stdout",
                Stream::Err => "stderr",
            };
            let item = json!({ "stream": name, "line": text.strip_suffix('\n').unwrap_or(&text) });
            if self.console.format == OutputFormat::Jsonl {
                self.console.out(&json::line(&item))
            } else {
                self.items.push(item);
                Ok(())
            }
        } else if self.console.streams.is_out_terminal {
            let text = escape_lines(&text).into_owned();
            self.console.out(&text)
        } else {
            self.console.out_bytes(line)
        };
        self.stop = result.err();
    }

    fn finish(mut self, id: TaskId) -> Result<(), Stop> {
        for stream in [Stream::Out, Stream::Err] {
            let rest = std::mem::take(self.rest_of(stream));
            if !rest.is_empty() {
                self.line(stream, &rest);
            }
        }
        if let Some(stop) = self.stop {
            return Err(stop);
        }
        if self.console.format != OutputFormat::Json {
            return Ok(());
        }
        let members = [("id", json!(id.to_string())), ("items", self.items.into())];
        self.console.document(&json::document("logs", members))
    }
}

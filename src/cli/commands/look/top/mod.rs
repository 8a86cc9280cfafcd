//! `luzia top` as text: the tasks and the locks, once or again and again. `cli/top` is the full screen.

use super::list::{self, ListArgs};
use crate::app::config_reload::follow_control;
use crate::app::query::list::{Filter, list, stuck};
use crate::app::query::{explain, status};
use crate::app::queue::terms::moments;
use crate::app::{App, AppError};
use crate::cli::args::number;
use crate::cli::commands::locks::list_locks::{self, ListLocksArgs};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::lock::lock_json;
use crate::cli::output::task::task_json;
use crate::model::Status;
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// Show the lanes and the tasks on a full screen, with keys to see one in full, and to cancel, retry, pause or hasten it.
///
/// With --once, --json or another -o, and where standard input or stdout is no terminal: the tasks and the locks as text, once.
/// A dumb terminal gets that text again every two seconds until Ctrl-C.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = TOP_HELP)]
pub struct TopArgs {
    /// Show the text once and end
    #[arg(long)]
    pub once: bool,

    /// The time between two looks where nothing changes
    #[arg(long, value_name = "DUR", default_value = "2s", allow_hyphen_values = true)]
    pub interval: String,

    /// In the text: the first N tasks, in the order of `luzia list`
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub limit: usize,
}

const TOP_HELP: &str = "\
Screen:
  The last line names the keys, and ? explains each. A key that acts shows the
  command that it runs. It asks first: for y where the key delays work or begins
  it anew, for a typed yes where the key ends a running task.
  The first 500 tasks that wait are shown, and the lanes that they or holders
  have. A change is seen at once, further ones a second later, or later where
  a look takes long: looks take a twentieth of the time at most.
  It uses 16 colours, and none with NO_COLOR.

Examples:
  luzia top
  luzia top --once
  luzia top --interval 10s -n 5
  luzia top --json

Exit codes:
  0    shown once, or q ended the screen
  2    usage
  130  Ctrl-C ended it";

/// Moves to the corner of a terminal and empties it.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// The time between two looks, in milliseconds.
pub fn interval_ms(args: &TopArgs) -> Result<u64, AppError> {
    let given = moments::duration("interval", Some(&args.interval))?.filter(|ms| *ms > 0);
    given.ok_or_else(|| AppError::usage("--interval must be longer than 0"))
}

/// `luzia top` as text.
pub fn run(args: &TopArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let pause_ms = interval_ms(args)?;
    if console.is_json() {
        return Ok(console.document(&document(args, app, console)?)?);
    }
    let is_repeated = !args.once && console.streams.is_out_terminal;
    loop {
        console.out(if is_repeated { CLEAR } else { "" })?;
        frame(args, app, console)?;
        if !is_repeated {
            return Ok(());
        }
        app.host.sleep(Duration::from_millis(pause_ms));
        console.now = app.host.now();
        follow_control(app)?;
    }
}

fn frame(args: &TopArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let capacity = status::capacity(app)?;
    console.out(&format!("{}: {} of {} slots in use\n\n", console.now, capacity.used, capacity.max))?;
    // An empty table needs no sentence.
    let was_quiet = std::mem::replace(&mut console.quiet, true);
    let shown = list::run(&ListArgs::first(args.limit), app, console);
    console.quiet = was_quiet;
    shown?;
    console.out("\n")?;
    list_locks::run(&ListLocksArgs { states: Vec::new() }, app, console)?;
    Ok(())
}

fn document(args: &TopArgs, app: &App, console: &Console) -> anyhow::Result<Value> {
    let (mut tasks, mut unread) = (Vec::new(), 0);
    if args.limit > 0 {
        list(app, &Filter::default(), &mut |found| {
            match found {
                Ok(task) => tasks.push(task),
                Err(_) => unread += 1,
            }
            tasks.len() < args.limit
        })?;
    }
    let (mut reasons, mut shown) = (explain::reasons(app)?, Vec::new());
    for task in &tasks {
        let waits = matches!(task.status(), Status::Pending | Status::Running);
        let reason = if waits { reasons.first_obstacle(task)? } else { None };
        shown.push(task_json(app, task, reason, stuck(app, task)?, console)?);
    }
    let locks: Vec<Value> = crate::app::query::list::locks(app)?.iter().map(lock_json).collect();
    let capacity = status::capacity(app)?;
    let slots = json!({ "max": capacity.max, "used": capacity.used });
    Ok(json::single(
        "top",
        json!({ "at": console.now.to_string(), "slots": slots, "tasks": shown, "locks": locks, "unread": unread }),
    ))
}

//! `luzia run` with a store of several hosts: the task runs on its host, and its output comes with its end.

use super::super::room::Terminal;
use super::{RunArgs, start_at_once, tell_end};
use crate::app::ask::{CancelRequest, cancel};
use crate::app::fleet::refuse_local;
use crate::app::lifecycle::Accepted;
use crate::app::query::logs::{Stream, Wanted, has_output_here, logs};
use crate::app::queue::enqueue::{Caller, after_accepting, enqueue};
use crate::app::waits::tail::Piece;
use crate::app::{App, AppError, Code};
use crate::cli::commands::queue::enqueue::tell_notes;
use crate::cli::exit::{Exit, run_code};
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::json;
use crate::cli::output::task::{has_key, tell_wait};
use crate::cli::result_file::ResultFile;
use crate::model::Task;
use crate::request::TaskRequest;
use std::time::Duration;

/// The pause between two looks at the task.
const LOOK: Duration = Duration::from_millis(100);

/// Queues the task, waits for its end, and prints its output.
pub(super) fn run(
    args: &RunArgs,
    asked: &TaskRequest,
    app: &App,
    caller: &Caller,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    refuse_local([
        (args.from.is_some(), "--from"),
        (args.yield_after.is_some(), "--yield-after"),
        (args.stdin, "--stdin"),
        (args.pty, "--pty"),
        (args.preempt.preempt.is_some(), "--preempt"),
    ])?;
    let new = TaskRequest { is_waited_for: true, is_run: true, ..asked.clone() };
    let result_file = ResultFile::prepare(args.result_file.as_deref())?;
    let accepted = enqueue(app, &new, caller)?;
    tell_notes(app, &[(&new, &accepted)], console);
    if args.no_wait {
        start_at_once(&accepted, app, console)?;
    }
    if !accepted.created {
        console.say(&has_key(&accepted.task));
    }
    app.fleet.iter().for_each(|fleet| fleet.be_patient(None));
    let followed = follow(args, &accepted, app, terminal, console).map_err(|error| match error.downcast() {
        Ok(error) => after_accepting(app, accepted.task.id, error).into(),
        Err(other) => other,
    })?;
    let (Some(task), is_interrupted) = followed else {
        console.say(&format!("luzia: {} goes on", accepted.task.id));
        return Ok(Exit::of_signal((terminal.interrupts)().first));
    };
    print_output(app, &task, console)?;
    tell_end(&task, is_interrupted, app, console)?;
    result_file.write(&json::single("run", json::task(&task)))?;
    Ok(if is_interrupted { Exit::of_signal((terminal.interrupts)().first) } else { run_code(&task) })
}

/// Waits for the end of a task. `None` if only the wait has ended. Whether the task was asked to end.
fn follow(
    args: &RunArgs,
    accepted: &Accepted,
    app: &App,
    terminal: &mut Terminal,
    console: &mut Console,
) -> anyhow::Result<(Option<Task>, bool)> {
    let id = accepted.task.id;
    if !args.no_wait {
        tell_wait(app, &accepted.task, console)?;
    }
    let mut is_interrupted = false;
    loop {
        let task = app.existing(id)?;
        if task.status().is_final() {
            return Ok((Some(task), is_interrupted));
        }
        let seen = (terminal.interrupts)();
        if seen.count > 0 && !accepted.created {
            return Ok((None, false));
        }
        if seen.count > 0 && !is_interrupted {
            is_interrupted = true;
            match cancel(app, id, &CancelRequest::by("run", "interrupted")) {
                Err(error) if error.code() != Code::TaskOver => return Err(error.into()),
                _ => continue,
            }
        }
        app.host.sleep(LOOK);
    }
}

/// Prints the output of a task that is over: all of it if it is on this host, else the part that its host has posted.
fn print_output(app: &App, task: &Task, console: &mut Console) -> anyhow::Result<()> {
    let Some(fleet) = app.fleet.as_ref().filter(|_| !has_output_here(app, task)) else {
        let mut stop: Option<Stop> = None;
        logs(app, &[task.id], &Wanted::default(), false, &mut |_, piece| {
            stop = match piece {
                Piece::Bytes { stream: Stream::Out, bytes, .. } => console.out_bytes(bytes).err(),
                Piece::Bytes { stream: Stream::Err, bytes, .. } => {
                    console.err_bytes(bytes);
                    None
                }
                Piece::Dropped { .. } | Piece::Attempt { .. } => None,
            };
            stop.is_none()
        })?;
        return stop.map_or(Ok(()), |stop| Err(stop.into()));
    };
    let tail =
        fleet.tail(task.id).map_err(|error: AppError| error.hint("the task is over; only its output is missing"))?;
    Ok(console.out_bytes(tail.output.as_deref().unwrap_or_default())?)
}

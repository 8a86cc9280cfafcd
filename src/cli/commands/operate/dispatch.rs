//! `luzia dispatch`: starts the tasks whose turn it is.

use super::talk::Talk;
use crate::app::lifecycle::Pass;
use crate::app::queue::drain;
use crate::app::{App, pass};
use crate::cli::args::OutputFormat;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::model::{Status, TaskId};
use clap::Args;
use serde_json::json;

/// Make a scheduling pass: recover dead tasks, start the tasks whose turn it is, and remove some of the finished tasks that
/// are kept no longer. Prints the ids of the tasks it started. They run on when dispatch has returned. Several dispatchers
/// may run at once.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = DISPATCH_HELP)]
pub struct DispatchArgs {
    /// Make one pass and return (the default)
    #[arg(long, conflicts_with = "drain")]
    pub once: bool,

    /// Make passes until nothing runs and nothing is pending
    ///
    /// Prints the id of each task when it ends, also of those that others started, and says on stderr how it ended.
    ///
    /// A task that waits for its time or for another task is pending, and so is waited for. These are not: a task that waits
    /// for an event (`luzia await`), unless the event is the end of a delay; a task that a schedule has made since the drain
    /// began; a paused task; a task that only a newer luzia can start.
    #[arg(long)]
    pub drain: bool,
}

const DISPATCH_HELP: &str = "\
Examples:
  luzia dispatch --once
  luzia enqueue -u alice -- make test && luzia dispatch --drain

Exit codes:
  0    done, whether something was started or not; also --drain that a signal ended
  1    --drain, and a task failed or ran into its time limit
       --drain inside a task, and tasks wait for that one
  2    usage
  65   done, but a newer luzia wrote a record; it was left alone
  74   done, but a schedule could not be looked at; the next pass tries again";

/// `luzia dispatch`.
pub fn run(args: &DispatchArgs, app: &App, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    if args.drain {
        return drain(app, ended, console);
    }
    let pass = pass::pass(app)?;
    report(&pass, None, console)
}

fn drain(app: &App, ended: &mut dyn FnMut() -> bool, console: &mut Console) -> Answer {
    let mut log = Talk::new(console, ended, true);
    drain::drain(app, &mut log)?;
    let Talk { total, ends, stop, .. } = log;
    if let Some(stop) = stop {
        return Err(stop.into());
    }
    let has_failed = ends.iter().any(|(_, status, _)| matches!(status, Status::Failed | Status::Timeout));
    let code = report(&total, Some(&ends), console)?;
    Ok(if code == Exit::Done.code() && has_failed { Exit::No.code() } else { code })
}

/// Ends that `--drain` saw: the task, its final status, and the exit code of its command.
type Ends = [(TaskId, Status, Option<i32>)];

fn report(pass: &Pass, ends: Option<&Ends>, console: &mut Console) -> Answer {
    let names = |ids: &[crate::model::TaskId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    // Data of a newer luzia is refused, after everything else was handled.
    let code = match (pass.left.is_empty(), pass.not_made.is_empty()) {
        (false, _) => Exit::Corrupt,
        (true, false) => Exit::Io,
        (true, true) => Exit::Done,
    }
    .code();
    if console.format == OutputFormat::Jsonl && ends.is_some() {
        return Ok(code);
    }
    if console.is_json() {
        let mut value = json!({
            "started": names(&pass.started),
            "recovered": names(&pass.recovered),
            "set_aside": pass.set_aside,
            "slots_not_made": pass.not_made,
            "left": pass.left.iter().map(|left| left.what.as_str()).collect::<Vec<_>>(),
            "unseen": pass.unseen.iter().map(|unseen| unseen.text()).collect::<Vec<_>>(),
            "next_due": pass.next_due.map(|at| at.to_string()),
        });
        if let Some(ends) = ends {
            let end = |(id, status, code): &(TaskId, Status, Option<i32>)| json!({ "id": id.to_string(), "status": status.word(), "exit_code": code });
            value["ended"] = ends.iter().map(end).collect();
        }
        console.document(&json::single("dispatch", value))?;
        return Ok(code);
    }
    // A drain has named each task at its end.
    let started = if ends.is_none() { names(&pass.started) } else { Vec::new() };
    for id in started {
        console.out(&format!("{id}\n"))?;
    }
    for what in &pass.set_aside {
        console.say(&format!("warning: {what}; it was set aside"));
    }
    for what in &pass.not_made {
        console.say(&format!("warning: a schedule was not looked at: {what}; the next pass tries again"));
    }
    for left in &pass.left {
        console.say(&format!("warning: {}; use the luzia that wrote it, nothing was rewritten", left.what));
    }
    for unseen in &pass.unseen {
        console.say(&format!("warning: {}", unseen.text()));
    }
    Ok(code)
}

//! `luzia cancel`: cancels tasks.

use super::each::{chosen, each};
use crate::app::App;
use crate::app::ask::{CancelRequest, cancel};
use crate::app::locks::consent::foreign_question;
use crate::app::queue::terms::moments;
use crate::cli::context::Account;
use crate::cli::input::{Ask, consent};
use crate::cli::output::console::Console;
use crate::request::Selection;
use clap::Args;

/// End tasks, or keep them from starting. A pending task never runs. A running one gets SIGTERM, and SIGKILL after its grace;
/// its lanes are given back when its last process is gone.
///
/// The end of a running task of somebody else is asked for on a terminal, and refused elsewhere without --yes. Somebody else is
/// another agent or session, else another user. So is the end of tasks that are chosen by -u, -l, --state, --label, --key or
/// --all.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = CANCEL_HELP)]
pub struct CancelArgs {
    /// The tasks, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", required_unless_present = "selection", conflicts_with = "selection")]
    pub tasks: Vec<String>,

    /// Options that select tasks that are not over.
    #[command(flatten)]
    pub selection: Selection,

    /// The reason, for the record
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,

    /// Your name for the record; by default your account
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    /// The time between SIGTERM and SIGKILL
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub grace: Option<String>,
}

const CANCEL_HELP: &str = "\
Examples:
  luzia cancel task_12 --reason 'wrong branch'
  luzia cancel 12 13 --grace 0
  luzia cancel -u alice --state pending

Exit codes:
  0    cancelled
  1    a task had already finished; it is unchanged
  2    usage, or somebody else's work without --yes; nothing was changed
  66   no such task, or no task is selected
  75   a task has not ended yet; the request stays";

/// `luzia cancel`.
pub fn run(args: &CancelArgs, app: &App, account: Account, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let grace_ms = moments::duration("grace", args.grace.as_deref())?;
    let (ids, bulk) = chosen(app, &args.tasks, &args.selection, |status| !status.is_final(), "cancel")?;
    let question = foreign_question(app, "end", &ids, &account().unwrap_or_default())?.or(bulk);
    let first = ids.first().map_or_else(String::new, ToString::to_string);
    consent(ask, question, &format!("luzia wait {first}"))?;
    let by = args.by.clone().map_or_else(account, Ok)?;
    let request = CancelRequest { by, reason: args.reason.clone(), grace_ms, requeue: false };
    each(&ids, "cancel", console, |id| cancel(app, id, &request))
}

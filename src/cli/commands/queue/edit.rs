//! `luzia edit`: changes a task that has not started.

use super::each::{chosen, each};
use crate::app::App;
use crate::app::cron::local_zone;
use crate::app::queue::edit;
use crate::app::queue::terms::moments::said;
use crate::cli::input::{Ask, agreement};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::model::Status;
use crate::request::{EditRequest, Selection};
use clap::Args;

/// Options that select tasks. `--lane` and `--label` are what a task gets.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "selection", multiple = true)]
pub struct Chosen {
    /// Every task of this user
    #[arg(short, long, value_name = "USER")]
    pub user: Option<String>,

    /// Every task with this lane
    #[arg(long, value_name = "LANE")]
    pub in_lane: Option<String>,

    /// Every task with this note
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub with_label: Option<String>,

    /// Every task that was queued with this key
    #[arg(long)]
    pub key: Option<String>,

    /// Every task that has not started
    #[arg(long)]
    pub all: bool,
}

/// Change a task that has not started. It keeps its number, and with that its place among the tasks of its priority. The change
/// is one durable write: after a crash the task is the old one or the new one.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = EDIT_HELP)]
pub struct EditArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", required_unless_present = "selection", conflicts_with = "selection")]
    pub task: Option<String>,

    /// Options that select tasks that have not started.
    #[command(flatten)]
    pub chosen: Chosen,

    /// The changes.
    #[command(flatten)]
    pub edit: EditRequest,
}

const EDIT_HELP: &str = "\
Examples:
  luzia edit task_12 --priority 0
  luzia edit 12 --in 0                   # due now
  luzia edit 12 --label 'after review' -- make test
  luzia edit --in-lane build --priority 7

Exit codes:
  0    changed
  1    the task has started; it is unchanged
  2    usage; nothing was changed
  66   no such task, or no task is selected
  75   the task starts or ends right now; try again";

/// `luzia edit`.
pub fn run(args: &EditArgs, app: &App, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let edit = &args.edit;
    let Some(task) = &args.task else { return of_chosen(&args.chosen, edit, app, ask, console) };
    let task = edit::edit(app, app.task_id(task)?, edit)?;
    Ok(console.tell(
        "edit",
        &task.id,
        || json::task(&task),
        || {
            let due = task.due_at.filter(|_| edit.at.is_some() || edit.delay.is_some());
            let due = due.map_or_else(String::new, |at| format!("; it starts at {}", said(app, at, &local_zone(app))));
            format!("{} is changed{due}", task.id)
        },
    )?)
}

fn of_chosen(wanted: &Chosen, edit: &EditRequest, app: &App, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    edit::check(edit)?;
    let Chosen { user, in_lane, with_label, key, all } = wanted.clone();
    let selection = Selection { user, lane: in_lane, states: Vec::new(), label: with_label, key, all };
    let (ids, question) = chosen(app, &[], &selection, |status| status == Status::Pending, "edit")?;
    agreement(ask, question)?;
    each(&ids, "edit", console, |id| edit::edit(app, id, edit))
}

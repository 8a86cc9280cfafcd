//! `luzia retry`: puts finished tasks back in the queue.

use super::each::{chosen_of, each};
use crate::app::App;
use crate::app::queue::retry::{Order, Remembered, retry};
use crate::app::queue::terms::moments::past_moment;
use crate::cli::input::{Ask, consent};
use crate::cli::output::console::Console;
use crate::model::{Status, Task};
use crate::request::Selection;
use clap::Args;

/// `luzia retry`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RETRY_HELP)]
pub struct RetryArgs {
    /// The tasks, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", required_unless_present = "selection", conflicts_with = "selection")]
    pub tasks: Vec<String>,

    /// Options that select tasks that have not completed.
    #[command(flatten)]
    pub selection: Selection,

    /// Only tasks that ended since this moment, e.g. `2h`, `yesterday` or `2026-11-20 18:00`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, group = "selection")]
    pub since: Option<String>,

    /// Do not wait for the tasks it comes after, now or at any later retry
    #[arg(long)]
    pub no_after: bool,

    /// Forget its variables, finished steps and waits; events that were sent to it stay
    #[arg(long)]
    pub from_start: bool,
}

const RETRY_HELP: &str = "\
Notes:
  The task has its old place, command and environment, and one attempt more than it has spent.
  It waits again for the tasks of its --after; a due time that has not come stays, --start-within does not.
  With a store of several hosts, a task that has not completed can be retried for 7 days after its end.
  It goes where it was placed, and begins anew, as with --from-start.
  For tasks that options select, luzia asks on a terminal; elsewhere they need --yes.
  Steps that are done are not done again, without --from-start.

Examples:
  luzia retry task_12
  luzia retry -u alice --state failed --since yesterday
  luzia retry task_3 task_4 task_5       a chain, in its order

Exit codes:
  0    back in the queue, with the same id
  1    a task has not finished, one that it comes after has failed, or a store has not kept its environment; it is unchanged
  2    usage, or tasks that options select, without --yes; nothing was changed
  66   no such task, or no task is selected";

/// `luzia retry`.
pub fn run(args: &RetryArgs, app: &App, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let can = |status: Status| match args.selection.states.is_empty() {
        // Completed tasks are run again only on request.
        true => status.is_final() && status != Status::Completed,
        false => status.is_final(),
    };
    let since = past_moment(app, "since", args.since.as_deref())?;
    let wants =
        |task: &Task| since.is_none_or(|since| task.outcome().is_some_and(|outcome| outcome.completed_at >= since));
    let (mut ids, question) = chosen_of(app, &args.tasks, &args.selection, can, &wants, "retry")?;
    consent(ask, question, "luzia list --state failed")?;
    // A task comes after older ones only, which must be in the queue by then.
    ids.sort_unstable();
    let order = if args.no_after { Order::Dropped } else { Order::Kept };
    let memory = if args.from_start { Remembered::Dropped } else { Remembered::Kept };
    each(&ids, "retry", console, |id| retry(app, id, order, memory))
}

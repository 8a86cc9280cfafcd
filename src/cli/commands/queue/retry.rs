//! `luzia retry`: puts finished tasks back in the queue.

use super::each::{each, ids};
use crate::app::App;
use crate::app::queue::retry::Order;
use crate::cli::output::console::{Answer, Console};
use clap::Args;

/// `luzia retry`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RETRY_HELP)]
pub struct RetryArgs {
    /// The tasks, e.g. `task_12` or `12`
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,

    /// Do not wait for the tasks it comes after, now or at any later retry
    #[arg(long)]
    pub no_after: bool,
}

const RETRY_HELP: &str = "\
Notes:
  The task has its old place, command and environment, and one attempt more than it has spent.
  It waits again for the tasks of its --after; a due time that has not come stays, --start-within does not.

Examples:
  luzia retry task_12
  luzia retry task_3 task_4 task_5       a chain, in its order

Exit codes:
  0    back in the queue, with the same id
  1    a task has not finished, or one that it comes after has failed; it is unchanged
  2    usage; nothing was changed
  66   no such task
  others as in luzia-exit-codes(7)";

/// `luzia retry`.
pub fn run(args: &RetryArgs, app: &App, console: &mut Console) -> Answer {
    let mut ids = ids(app, &args.tasks)?;
    for id in &ids {
        app.existing(*id)?;
    }
    // A task comes after older ones only, which are to be in the queue by then.
    ids.sort_unstable();
    let order = if args.no_after { Order::Dropped } else { Order::Kept };
    each(&ids, "retry", console, |id| app.retry(id, order))
}

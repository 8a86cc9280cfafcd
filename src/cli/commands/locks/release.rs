//! `luzia release`: releases a lane.

use crate::app::locks::consent::Asked;
use crate::app::{App, AppError, shell_word};
use crate::cli::args::named;
use crate::cli::context::Account;
use crate::cli::exit::Exit;
use crate::cli::input::{Ask, consent};
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::cli::output::lock::{break_json, holder};
use clap::Args;
use serde_json::json;

/// `luzia release`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Release a lane. Releasing a free lane succeeds. Any caller can release a lease that was taken without \
                  --pid; with TASK or --lock-id this is refused when another one holds the lane. A lease that was \
                  taken with --pid, and whose process is alive, needs TASK or --lock-id. The lock of a living task or \
                  of `luzia lock` is refused without --force. Inside that task or `luzia lock`, a release succeeds \
                  and changes nothing.\n\n\
                  A release of somebody else's lease, and --force on somebody else's work, ask on a terminal; \
                  elsewhere they are refused without --yes. Somebody else is another agent or session, else another \
                  user.\n\n\
                  In a lane of several slots, the named lock is released, else the first one.",
    after_help = RELEASE_HELP
)]
pub struct ReleaseArgs {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE", required_unless_present = "user")]
    pub target: Option<String>,

    /// The user, instead of the first argument
    #[arg(short, long, value_name = "NAME")]
    pub user: Option<String>,

    /// Release only what this task (or name given to `acquire`) holds
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// Release only what has this lock id
    #[arg(long, value_name = "ID")]
    pub lock_id: Option<String>,

    /// End a living holder first: cancel the task, or end the process
    #[arg(long)]
    pub force: bool,
}

const RELEASE_HELP: &str = "\
Examples:
  luzia release alice --lock-id deploy_1768005905
  luzia release alice task_123
  luzia release thread:7 --force

Exit codes:
  0    released, or free already
  1    somebody else holds it, or its holder lives; nothing was changed
  2    usage, or somebody else's work without --yes; nothing was changed
  others as in luzia-exit-codes(7)";

/// `luzia release`.
pub fn run(args: &ReleaseArgs, app: &App, account: Account, ask: Ask, console: &mut Console) -> Answer {
    // After -u, the first argument is already the task.
    let (target, task) = match (&args.user, &args.task) {
        (None, task) => (args.target.as_deref(), task.as_deref()),
        (Some(_), None) => (None, args.target.as_deref()),
        (Some(_), Some(_)) => {
            return Err(AppError::usage("the lane is given twice, with -u and as an argument")
                .hint("give one of them")
                .into());
        }
    };
    let lane = app.lane(&named(target, args.user.as_deref()))?;
    let asked = Asked { is_named: task.is_some() || args.lock_id.is_some(), force: args.force };
    if !asked.is_named || asked.force {
        // Where the account cannot be told, everybody counts as somebody else.
        let question = app.release_question(&lane, asked, &account().unwrap_or_default())?;
        consent(ask, question, &format!("luzia explain {}", shell_word(&lane)))?;
    }
    let given = app.release(&lane, task, args.lock_id.as_deref(), args.force)?;
    for line in &given.log {
        console.log(line);
    }
    if console.is_json() {
        let value = json!({
            "lane": lane.to_string(),
            "released": given.lock.is_some(),
            "kept_by": given.kept_by,
            "lock": given.lock.as_ref().map(break_json),
        });
        console.document(&json::single("release", value))?;
    } else {
        let told = match (&given.lock, &given.kept_by) {
            (Some(lock), _) => format!("lane \"{lane}\" released, it was held by {}", holder(lock)),
            (None, Some(keeper)) => {
                format!("lane \"{lane}\" stays with {keeper}, inside which this runs, until that ends")
            }
            (None, None) => format!("lane \"{lane}\" was free"),
        };
        console.say(&told);
    }
    Ok(Exit::Done.code())
}

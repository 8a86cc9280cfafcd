//! `luzia check-project`: releases the locks of a project's finished tasks.

use crate::app::check_project::{Checked, check_project};
use crate::app::{App, Break};
use crate::cli::output::console::Console;
use crate::cli::output::lock::{break_json, holder, refusals};
use clap::Args;
use serde_json::json;

/// Release the locks of a project's tasks whose meta.json says that they are over; it must name id, user and lock_id, as
/// luzia-spool(5) says. A claim that does not fit the lock is reported and refused, and harms nobody. Prints how many locks
/// were released.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = CHECK_PROJECT_HELP)]
pub struct CheckProjectArgs {
    /// The project
    #[arg(value_name = "PROJECT")]
    pub project: String,

    /// Say what would be released, and release nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

const CHECK_PROJECT_HELP: &str = "\
Examples:
  luzia check-project alice_project
  luzia check-project alice_project -n

Exit codes:
  0    done, whether something was released or not
  2    usage; nothing was changed
  66   no such project";

/// `luzia check-project`.
pub fn run(args: &CheckProjectArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let checked = check_project(app, &args.project, args.dry_run)?;
    let released: Vec<&Break> = checked.iter().filter_map(|checked| checked.released.as_ref()).collect();
    let document = || {
        let refused = |one: &Checked| Some(json!({ "dir": one.dir, "why": one.refused.as_ref()? }));
        json!({
            "project": args.project,
            "dry_run": args.dry_run,
            "released": released.iter().map(|lock| break_json(lock)).collect::<Vec<_>>(),
            "refused": checked.iter().filter_map(refused).collect::<Vec<_>>(),
        })
    };
    if console.json("check-project", document)? {
        return Ok(());
    }
    let done = if args.dry_run { "would be released" } else { "released" };
    for lock in &released {
        console.say(&format!("lane \"{}\" {done}, {} is over", lock.lane, holder(lock)));
    }
    refusals(&checked, console);
    Ok(console.out(&format!("{}\n", released.len()))?)
}

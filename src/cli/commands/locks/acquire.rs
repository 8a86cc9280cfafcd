//! `luzia acquire`: takes or refreshes a lease.

use crate::app::App;
use crate::app::locks::acquire::{Lease, Leased};
use crate::cli::args::Target;
use crate::cli::args::pid;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::cli::task_request;
use clap::Args;
use serde_json::json;

/// `luzia acquire`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Take a lease on a lane, for scripts. It lasts until `luzia release`, or until its time to live has \
                  passed since the last refresh. Acquiring again with the same --task refreshes it.\n\n\
                  Inside a task, a lane that the task already holds is available at once: the lock id of the task is printed, and \
                  a release gives nothing back, for the task keeps its lanes until it ends. The same holds inside \
                  the command of `luzia lock`.",
    after_help = ACQUIRE_HELP
)]
pub struct AcquireArgs {
    /// What to act on.
    #[command(flatten)]
    pub target: Target,

    /// Who holds the lease: a task or any name
    #[arg(long, value_name = "ID")]
    pub task: String,

    /// Wait this long for the lane; by default not at all
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// How long the lease lasts without a refresh; by default the lane's lock timeout
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub ttl: Option<String>,

    /// End the lease also when this process ends
    #[arg(long, value_name = "PID", value_parser = pid, allow_hyphen_values = true)]
    pub pid: Option<u32>,

    /// Sync the lease to disk, so that it survives a power cut
    #[arg(long)]
    pub durable: bool,
}

const ACQUIRE_HELP: &str = "\
Examples:
  luzia acquire alice --task deploy --timeout 30
  luzia acquire thread:7 --task 100 --json
  luzia acquire gpu:0 --task train --ttl 2h --pid $$

Exit codes:
  0    acquired, or refreshed
  2    usage; nothing was changed
  75   somebody else holds the lane
  others as in luzia-exit-codes(7)";

/// `luzia acquire`.
pub fn run(args: &AcquireArgs, app: &App, console: &mut Console) -> Answer {
    let lease = Lease {
        lane: app.lane(&args.target.text())?,
        holder: args.task.clone(),
        wait_ms: task_request::duration("timeout", args.timeout.as_deref())?.unwrap_or(0),
        ttl_ms: task_request::duration("ttl", args.ttl.as_deref())?,
        pid: args.pid,
        durable: args.durable,
    };
    app.check_user_lane(&lease.lane)?;
    let Leased { grant, refreshed, log } = match app.acquire(&lease) {
        Err(error) if error.0.code == "LOCK_HELD" && console.is_json() => {
            // Scripts ask this document whether they have the lane; the error follows on stderr.
            let value = json!({ "acquired": false, "lock_id": null, "fence": null, "lane": lease.lane.to_string() });
            console.document(&json::single("acquire", value))?;
            return Err(error.into());
        }
        other => other?,
    };
    let strangers = app.new_users(lease.lane.is_user().then(|| lease.lane.key()));
    for note in strangers.notes() {
        console.say(&format!("note: {note}"));
    }
    app.remember(&strangers);
    for line in &log {
        console.log(line);
    }
    if console.is_json() {
        let value = json!({
            "acquired": true,
            "lock_id": grant.lock_id.0,
            "fence": grant.fence.0,
            "lane": grant.lane.to_string(),
            "refreshed": refreshed,
        });
        console.document(&json::single("acquire", value))?;
    } else {
        console.out(&format!("{}\n", grant.lock_id))?;
    }
    Ok(Exit::Done.code())
}

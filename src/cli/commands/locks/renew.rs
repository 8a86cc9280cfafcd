//! `luzia renew`: extends a lease.

use crate::app::App;
use crate::cli::args::Target;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use clap::Args;
use serde_json::json;

/// `luzia renew`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RENEW_HELP)]
pub struct RenewArgs {
    /// What to act on.
    #[command(flatten)]
    pub target: Target,

    /// The lock id that `acquire` printed
    #[arg(long, value_name = "ID")]
    pub lock_id: String,
}

const RENEW_HELP: &str = "\
Examples:
  luzia renew alice --lock-id deploy_1768005905

Exit codes:
  0    extended
  1    the lane is no longer held by this lock id, or that is no lease
  2    usage; nothing was changed
  others as in luzia-exit-codes(7)";

/// `luzia renew`.
pub fn run(args: &RenewArgs, app: &App, console: &mut Console) -> Answer {
    let grant = app.renew(&app.lane(&args.target.text())?, &args.lock_id)?;
    if console.is_json() {
        let value = json!({ "renewed": true, "lock_id": grant.lock_id.0, "fence": grant.fence.0, "lane": grant.lane.to_string() });
        console.document(&json::single("renew", value))?;
    } else {
        console.say(&format!("lane \"{}\" renewed", grant.lane));
    }
    Ok(Exit::Done.code())
}

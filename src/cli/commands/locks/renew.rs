//! `luzia renew`: extends leases.

use crate::app::App;
use crate::app::locks::acquire::renew_all;
use crate::app::queue::foreground::renew_shared;
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::model::lock::Grant;
use clap::Args;
use serde_json::json;

/// Extend the lease of a lane, or of several. Without a lane, it extends every lane with this lock id: all lanes that one
/// `acquire` has taken and that are still held.
///
/// Where one of the lanes is lost, the others are extended all the same, and the error names the lost one. With a store of several
/// hosts a lease is extended on the host that has it.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = RENEW_HELP)]
pub struct RenewArgs {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE")]
    pub target: Option<String>,

    /// The user, instead of the argument
    #[arg(short, long, value_name = "NAME", conflicts_with = "target")]
    pub user: Option<String>,

    /// Extend this lane as well; may be repeated
    #[arg(short, long, value_name = "LANE")]
    pub lane: Vec<String>,

    /// The lock id that `acquire` printed
    #[arg(long, value_name = "ID")]
    pub lock_id: String,
}

const RENEW_HELP: &str = "\
Examples:
  luzia renew alice --lock-id deploy_1768005905
  luzia renew -l db -l cache --lock-id migrate_1768005905
  luzia renew --lock-id migrate_1768005905

Exit codes:
  0    extended
  1    a lane is no longer held by this lock id, or that is no lease
  2    usage, or another host has the lease; nothing was changed";

/// `luzia renew`.
pub fn run(args: &RenewArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let lanes = super::lanes_of(args.target.as_deref(), args.user.as_deref(), &args.lane, app)?;
    let (grants, failed) = match &app.fleet {
        Some(fleet) => renew_shared(app, &**fleet, &lanes, &args.lock_id)?,
        None => renew_all(app, &lanes, &args.lock_id)?,
    };
    if failed.is_some() || !console.is_json() {
        grants.iter().for_each(|grant| console.say(&format!("lane \"{}\" renewed", grant.lane)));
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    if console.is_json() {
        let document = |grant: &Grant| json!({ "renewed": true, "lock_id": grant.lock_id.0, "fence": grant.fence.0, "lane": grant.lane.to_string() });
        let mut value = grants.first().map(document).unwrap_or_default();
        value["lanes"] = grants.iter().map(document).collect();
        console.document(&json::single("renew", value))?;
    }
    Ok(())
}

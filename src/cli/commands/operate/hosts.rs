//! `luzia hosts`: the hosts of a store.

use crate::app::App;
use crate::app::fleet::{FleetHost, no_store};
use crate::cli::output::brief;
use crate::cli::output::console::Console;
use crate::cli::output::table::Table;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// List the hosts that share the tasks of a store, by name. A host joins when `luzia daemon` starts there with the same store.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_value_name = "VERB", after_help = HOSTS_HELP)]
pub struct HostsArgs {
    /// The action; without one, list.
    #[command(subcommand)]
    pub verb: Option<HostsVerb>,
}

/// The verbs of `luzia hosts`.
#[derive(Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostsVerb {
    /// List the hosts
    #[command(after_help = HOSTS_HELP)]
    List,
}

const HOSTS_HELP: &str = "\
Examples:
  luzia hosts
  luzia hosts --json

Exit codes:
  0    listed, perhaps none
  2    no store is named
  69   the database does not answer";

/// `luzia hosts`.
pub fn run(_args: &HostsArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let hosts = app.fleet.as_ref().ok_or_else(no_store)?.hosts()?;
    if console.is_json() {
        return Ok(console.items("hosts", hosts.iter().map(host_json))?);
    }
    let mut table = Table::of(&["HOST", "STATE", "TASKS", "FREE", "RENEWED"]);
    for host in &hosts {
        let ago = format!("{} ago", brief::length(i64::try_from(host.age_ms).unwrap_or(i64::MAX)));
        table.row([host.name.clone(), state(host).to_owned(), host.tasks.to_string(), host.free.to_string(), ago]);
    }
    console.table(&table)?;
    if hosts.is_empty() {
        console.say("no host has joined; `luzia daemon` with this store joins");
    }
    Ok(())
}

fn state(host: &FleetHost) -> &'static str {
    match host {
        FleetHost { is_alive: false, .. } => "away",
        FleetHost { is_draining: true, .. } => "drained",
        FleetHost { has_duty: true, .. } => "alive, schedules",
        FleetHost { .. } => "alive",
    }
}

fn host_json(host: &FleetHost) -> Value {
    json!({
        "name": host.name,
        "alive": host.is_alive,
        "renewed_ms_ago": host.age_ms,
        "lease_ms": host.lease_ms,
        "free": host.free,
        "tasks": host.tasks,
        "draining": host.is_draining,
        "duty": host.has_duty,
    })
}

//! `luzia hosts`: the hosts of a store.

use crate::app::App;
use crate::app::fleet::places::unknown_host;
use crate::app::fleet::{Fleet, FleetHost, no_store};
use crate::cli::output::console::Console;
use crate::cli::output::table::Table;
use crate::cli::output::{brief, json};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// List the hosts that share the tasks of a store, by name. A host joins when `luzia daemon` starts there with the same store.
/// A host that is drained takes no further tasks: before it is shut down, for example.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_value_name = "VERB", after_help = HOSTS_HELP)]
pub struct HostsArgs {
    /// The action; without one, list.
    #[command(subcommand)]
    pub verb: Option<HostsVerb>,
}

/// The verbs of `luzia hosts`.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub enum HostsVerb {
    /// List the hosts
    #[command(after_help = HOSTS_HELP)]
    List,
    /// Let a host take no further tasks; those that it has run on
    #[command(after_help = DRAIN_HELP)]
    Drain {
        /// The name of the host
        #[arg(value_name = "HOST")]
        host: String,
    },
    /// Let a host take tasks again
    #[command(after_help = DRAIN_HELP)]
    Undrain {
        /// The name of the host
        #[arg(value_name = "HOST")]
        host: String,
    },
}

const HOSTS_HELP: &str = "\
Examples:
  luzia hosts
  luzia hosts --json
  luzia hosts drain web1

Exit codes:
  0    listed, also when the list is empty
  2    no store is named
  69   the database does not answer";

const DRAIN_HELP: &str = "\
Examples:
  luzia hosts drain web1
  luzia hosts undrain web1

Exit codes:
  0    changed, or it was so already
  2    no store is named
  66   no such host
  69   the database does not answer";

/// `luzia hosts`.
pub fn run(args: &HostsArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let fleet = app.fleet.as_ref().ok_or_else(no_store)?;
    match &args.verb {
        None | Some(HostsVerb::List) => list(&fleet.hosts()?, console),
        Some(HostsVerb::Drain { host }) => drain(&**fleet, host, true, console),
        Some(HostsVerb::Undrain { host }) => drain(&**fleet, host, false, console),
    }
}

/// Changes whether a host takes further tasks.
fn drain(fleet: &dyn Fleet, name: &str, is_draining: bool, console: &mut Console) -> anyhow::Result<()> {
    let is_changed = fleet.drain(name, is_draining)?.ok_or_else(|| unknown_host(name))?;
    if console.is_json() {
        let hosts = fleet.hosts()?;
        let rows = hosts.iter().filter(|host| host.name == name);
        let rows = rows.map(|host| json::with(host_json(host), json!({ "changed": is_changed })));
        return Ok(console.items("hosts", rows)?);
    }
    let (now, before) =
        if is_draining { ("takes no further tasks", "took none") } else { ("takes tasks", "took them") };
    console.say(&match is_changed {
        true => format!("host {name} {now} from now on"),
        false => format!("host {name} {before} already"),
    });
    Ok(())
}

fn list(hosts: &[FleetHost], console: &mut Console) -> anyhow::Result<()> {
    if console.is_json() {
        return Ok(console.items("hosts", hosts.iter().map(host_json))?);
    }
    let mut table = Table::of(&["HOST", "STATE", "TASKS", "FREE", "RENEWED", "LABELS"]);
    for host in hosts {
        let ago = format!("{} ago", brief::length(i64::try_from(host.age_ms).unwrap_or(i64::MAX)));
        let (tasks, free, labels) = (host.tasks.to_string(), host.free.to_string(), host.labels.join(" "));
        table.row([host.name.clone(), state(host).to_owned(), tasks, free, ago, labels]);
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
        "labels": host.labels,
    })
}

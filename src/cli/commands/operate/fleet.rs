//! `luzia fleet`: the trial of several hosts on one machine.

use crate::app::fleet::trial::{HOSTS, TRIAL, Trial};
use crate::cli::output::console::Console;
use clap::{Args, Subcommand};
use serde_json::json;

/// Try tasks of several hosts on this machine: luzia runs a PostgreSQL server and two agents, which share their tasks. It needs a
/// luzia that was built with the feature `fleet`.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = TRIAL_HELP)]
pub struct FleetArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: FleetVerb,
}

/// The verbs of `luzia fleet`.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub enum FleetVerb {
    /// Start a database and two hosts on this machine, or start again those parts that have died
    ///
    /// The database is a PostgreSQL cluster of its own, and has a Unix socket and no TCP. `--store trial` and LUZIA_STORE=trial
    /// name it. The hosts are trial-1 and trial-2: two daemons with two state directories. All of it is below luzia/trial and
    /// luzia/trial-server in $XDG_DATA_HOME, else in ~/.local/share; with --as the server is in the home of that account. A
    /// repetition changes nothing while everything runs. A host that does not renew its lease for 30 s loses its tasks.
    #[command(after_help = TRIAL_HELP)]
    Trial {
        /// Stop agents and server, and keep the data; tasks that run end with the leases of their hosts
        #[arg(long)]
        stop: bool,
        /// Stop agents, tasks and server, and remove everything, without a question
        #[arg(long, conflicts_with = "stop")]
        rm: bool,
        /// For root: the account of the server, because PostgreSQL does not run as root
        #[arg(long = "as", value_name = "ACCOUNT", conflicts_with_all = ["stop", "rm"])]
        account: Option<String>,
    },
}

impl FleetVerb {
    /// The account that is to run the server.
    pub fn account(&self) -> Option<String> {
        let Self::Trial { account, .. } = self;
        account.clone()
    }
}

const TRIAL_HELP: &str = "\
Examples:
  luzia fleet trial
  luzia --store trial run --anywhere -- sh -c 'echo $LUZIA_STATE_DIR'
  luzia --store trial hosts
  luzia fleet trial --stop
  luzia fleet trial --rm

Exit codes:
  0    it runs, is stopped, or is removed
  2    usage, root without --as, or a luzia without the feature fleet; nothing was changed
  69   no PostgreSQL is installed, or the server or an agent does not come up
  73   its folder cannot be made
  75   another call of this verb is at work
  78   its folder belongs to something else; nothing was changed";

/// The examples that show both hosts.
fn next() -> Vec<&'static str> {
    TRIAL_HELP.lines().map(str::trim_start).filter(|line| line.starts_with("luzia --store trial ")).collect()
}

/// `luzia fleet`.
pub fn run(verb: &FleetVerb, trial: &Trial, console: &mut Console) -> anyhow::Result<()> {
    match verb {
        FleetVerb::Trial { stop: false, rm: false, .. } => started(trial, console),
        FleetVerb::Trial { rm, .. } => ended(trial, *rm, console),
    }
}

fn started(trial: &Trial, console: &mut Console) -> anyhow::Result<()> {
    let (record, changed) = trial.start()?;
    let document = || {
        json!({
            "status": "running", "changed": changed, "store": TRIAL, "url": record.url, "folder": trial.folder,
            "server": record.server, "hosts": HOSTS, "next": next(),
        })
    };
    if console.json("fleet-trial", document)? {
        return Ok(());
    }
    let now = if changed { "was started" } else { "is running" };
    console.say(&format!(
        "the trial {now}: PostgreSQL in {}, and the hosts {}; try",
        record.server,
        HOSTS.join(" and ")
    ));
    Ok(next().iter().try_for_each(|line| console.out(&format!("{line}\n")))?)
}

fn ended(trial: &Trial, removes: bool, console: &mut Console) -> anyhow::Result<()> {
    let ended = trial.end(removes)?;
    let changed = ended == Some(true);
    let status = if removes || ended.is_none() { "absent" } else { "stopped" };
    if console.json("fleet-trial", || json!({ "status": status, "changed": changed, "folder": trial.folder }))? {
        return Ok(());
    }
    console.say(&match (ended, removes) {
        (None, _) => "there is no trial; nothing was changed".to_owned(),
        (Some(_), true) => "the trial was removed".to_owned(),
        (Some(_), false) => format!("the trial is stopped; its data stays in {}", trial.folder),
    });
    Ok(())
}

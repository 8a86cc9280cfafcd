//! `luzia daemon`: starts tasks until it is stopped.

mod unit;

pub use unit::Unit;

use super::talk::Talk;
use crate::app::fleet::Fleet;
use crate::app::fleet::places::check_name;
use crate::app::pass::daemon::daemon;
use crate::app::queue::terms::moments;
use crate::app::{App, AppError};
use crate::cli::output::console::Console;
use clap::Args;
use std::time::Duration;

/// Start tasks whenever their turn comes, until SIGTERM or Ctrl-C. Running tasks are not touched when it stops, and another
/// daemon or any `luzia dispatch` goes on from there. A change of the configuration holds from its next pass; SIGHUP makes
/// it look at once, and ends it only where it has a terminal. The daemon writes every start, end and failure of a task to
/// standard error, whichever process supervises the task. An action that fails, such as a pass on a full disk or the start
/// of a supervisor, is reported there, too, and tried again each second, without end; no task fails for it.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = DAEMON_HELP)]
pub struct DaemonArgs {
    /// The time between two looks for changes that nothing announces; by default as configured
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub poll: Option<String>,

    /// With a store of several hosts: the time for which tasks run on while its database does not answer; by default 5m
    ///
    /// The tasks of this host end before that time is over, and other hosts may start them after it.
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub lease: Option<String>,

    /// With a store of several hosts: a label of this host, e.g. `gpu`, for tasks with --on; may be repeated
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub label: Vec<String>,

    /// Write a unit of systemd for this account, print the commands that start it, and end
    ///
    /// The unit is $XDG_CONFIG_HOME/systemd/user/luzia.service and starts this program. A state directory or a configuration
    /// that an option or a variable names is written into it. A unit that differs is left as it is.
    #[arg(long, conflicts_with = "poll")]
    pub install: bool,

    /// With --install: put the unit in the place of one that differs
    #[arg(long, requires = "install")]
    pub replace: bool,
}

/// The length of a lease, in milliseconds.
const LEASE_MS: u64 = 300_000;
/// The shortest lease: its tasks end two seconds and a sixth before its end, and a renewal may be late by as much.
const SHORTEST_LEASE_MS: u64 = 5_000;

const DAEMON_HELP: &str = "\
Examples:
  luzia daemon
  luzia daemon --poll 5s -v
  luzia daemon --install
  luzia daemon --store 'postgres:///luzia?host=/run/postgresql' --lease 5m --label gpu

Exit codes:
  0    stopped by SIGTERM or Ctrl-C; --install: the unit is there
  2    usage
  73   --install: there is another unit, or it cannot be written
  78   --store: another host of the same name is at work, or the tables are absent";

/// `luzia daemon`. `rule` is the rule by which the state directory was found.
pub fn run(
    args: &DaemonArgs,
    app: &App,
    rule: &str,
    store: Option<&dyn Fleet>,
    unit: &dyn Fn() -> Result<Unit, AppError>,
    ended: &mut dyn FnMut() -> bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    if args.install {
        return unit::install(&unit()?, args.replace, app, rule, console);
    }
    let poll_ms = moments::duration("poll", args.poll.as_deref())?;
    if poll_ms == Some(0) {
        return Err(AppError::usage("--poll must be longer than 0").into());
    }
    let lease_ms = moments::duration("lease", args.lease.as_deref())?;
    if lease_ms.is_some_and(|lease| lease < SHORTEST_LEASE_MS) {
        return Err(AppError::usage("--lease must be 5s or longer").into());
    }
    if lease_ms.is_some() && store.is_none() {
        return Err(AppError::usage("--lease is for a store of several hosts, and none is named").into());
    }
    args.label.iter().try_for_each(|label| check_name(label, "a label of a host"))?;
    if !args.label.is_empty() && store.is_none() {
        return Err(AppError::usage("--label is for a store of several hosts, and none is named").into());
    }
    let agent = store.map(|store| store.agent(lease_ms.unwrap_or(LEASE_MS), args.label.clone()));
    console.log(&format!("luzia daemon in {}", app.store_path()));
    let mut log = Talk::new(console, ended, false);
    Ok(daemon(app, poll_ms.map(Duration::from_millis), agent, &mut log)?)
}

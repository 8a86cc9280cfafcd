//! `luzia lock`: holds lanes while a command runs.

use crate::app::fleet::{Fleet, refuse_local};
use crate::app::locks::acquire::lanes_to_take;
use crate::app::locks::lock::{Ran, lock};
use crate::app::names::{lane_of_thing, lane_option};
use crate::app::queue::doors::{check_user_lane, lane_notes, new_users, remember};
use crate::app::queue::enqueue::Caller;
use crate::app::queue::foreground::{Foreground, lock_shared};
use crate::app::queue::terms::moments;
use crate::app::{App, AppError, Line, Under};
use crate::cli::args::{Identity, number};
use crate::cli::context::Account;
use crate::cli::exit::{Exit, end_code};
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::messages;
use crate::model::{LaneName, ThingKind};
use clap::{Args, ValueHint};

/// Hold lanes while a command runs, as flock(1) holds a file: no queue entry, no log. The command gets this terminal, and
/// LUZIA_LOCK_ID and LUZIA_FENCE of the first lane; its exit code is passed on. Without -u and -l the lane is your account's.
///
/// Of several lanes all are taken, or none: the lane of the user first, the others by name, `global` last, whatever their order
/// here. This order rules out deadlock.
///
/// Inside a task, a lane that the task already holds is available at once: the command runs under the task's lock, and only the
/// other lanes are taken.
#[derive(Args, Clone, Debug, Default)]
#[command(long_about, override_usage = "luzia lock [OPTIONS] [--] <CMD>...", after_help = LOCK_HELP)]
pub struct LockArgs {
    /// Hold the lane of this user
    #[arg(short, long)]
    pub user: Option<String>,

    /// Hold this lane, e.g. `thread:7` or `cron`; may be repeated
    #[arg(short, long, value_name = "LANE")]
    pub lane: Vec<String>,

    /// Take the lane of the git repository of this directory, by default of the working directory
    ///
    /// Work trees and subdirectories of one repository have one lane.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath, conflicts_with_all = ["user", "lane", "tree"])]
    pub repo: Option<String>,

    /// Take the lane of the git work tree of this directory, by default of the working directory
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", value_hint = ValueHint::DirPath, conflicts_with_all = ["user", "lane"])]
    pub tree: Option<String>,

    /// Wait no longer than this
    #[arg(short, long, value_name = "DUR", allow_hyphen_values = true, conflicts_with = "nonblock")]
    pub wait: Option<String>,

    /// Do not wait
    #[arg(short, long, alias = "nb")]
    pub nonblock: bool,

    /// Exit with this code instead of 75 when the lane is busy; with 0, or with -q, luzia prints nothing then
    #[arg(short = 'E', long, value_name = "CODE", value_parser = number::<u8>, allow_hyphen_values = true)]
    pub conflict_exit_code: Option<u8>,

    /// Release the lane when the command ends, whatever processes it left behind, as `flock -o` does
    ///
    /// Without it, a background process of the command keeps the lane until it ends.
    #[arg(long)]
    pub close: bool,

    /// A note for people, which others see with the lock
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// The name of the holder.
    #[command(flatten)]
    pub identity: Identity,

    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<String>,
}

const LOCK_HELP: &str = "\
Notes:
  The command has this terminal, environment and working directory. It has no record: others see only its lock.
  As with flock(1), the lane stays held until the background processes of the command end.
  With --close it ends with the command, e.g. of a build that starts a server (sccache, gradle).
  Inside a task or a `luzia lock` that holds the lane already, the command runs at once.
  Waiters are served in the order of arrival. A stopped process (SIGSTOP) loses its turn after 3 s.
  Waiting locks and queued tasks of the lane take turns.
  With a store a task of this host keeps the lanes of all hosts, and `list` shows it; luzia-fleet(7).

Examples:
  luzia lock -u alice -- git commit -am wip
  luzia lock -l cron -n -- ./nightly.sh
  luzia lock -l thread:7 -w 30s -E 9 -- ./reply.sh
  luzia lock -l db -l cache -- ./migrate.sh

Exit codes:
  the command's own code, or 128+N when signal N killed it
  2    usage; nothing was run
  75   the lane was busy (-E overrides)
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command";

fn lanes_of(args: &LockArgs, app: &App, account: Account) -> Result<Vec<LaneName>, AppError> {
    if let Some(dir) = &args.repo {
        return Ok(vec![lane_of_thing(app, ThingKind::GitDir, Some(dir), None)?]);
    }
    if let Some(dir) = &args.tree {
        return Ok(vec![lane_of_thing(app, ThingKind::Tree, Some(dir), None)?]);
    }
    let mut lanes = args.lane.iter().map(|lane| lane_option(app, lane, None)).collect::<Result<Vec<_>, _>>()?;
    if args.user.is_some() || lanes.is_empty() {
        let user = args.user.clone().map_or_else(account, Ok)?;
        lanes.push(LaneName::user(&crate::app::queue::enqueue::name("user", &user)?));
    }
    lanes_to_take(lanes)
}

/// Holds lanes of all hosts.
fn shared(
    args: &LockArgs,
    app: &App,
    fleet: &dyn Fleet,
    (caller, program): (Caller, String),
    (lanes, wait_ms): (&[LaneName], Option<u64>),
    console: &mut Console,
) -> Result<Ran, AppError> {
    refuse_local([(args.close, "--close"), (lanes.iter().any(LaneName::is_global), "the lane \"global\"")])?;
    let label = args.label.as_deref();
    let asked = Foreground { lanes, wait_ms, label, command: &args.command, program: &program };
    lock_shared(app, fleet, caller, asked, &mut |obstacle, task| {
        console.progress(&messages::obstacle_text(obstacle, task, console.now).0);
    })
}

/// `luzia lock`.
pub fn run(
    args: &LockArgs,
    app: &App,
    account: Account,
    caller: &dyn Fn() -> (Caller, String),
    console: &mut Console,
) -> Answer {
    let lanes = lanes_of(args, app, account)?;
    lanes.iter().try_for_each(|lane| check_user_lane(app, lane))?;
    let wait_ms = if args.nonblock { Some(0) } else { moments::duration("wait", args.wait.as_deref())? };
    let strangers =
        new_users(app, lanes.iter().filter(|lane| args.user.is_some() && lane.is_user()).map(LaneName::key));
    for note in strangers.notes().into_iter().chain(lane_notes(app, &lanes)) {
        console.say(&format!("note: {note}"));
    }
    let ran = match &app.fleet {
        Some(fleet) => shared(args, app, &**fleet, caller(), (&lanes, wait_ms), console),
        None => {
            let under = Under { command: &args.command, closes: args.close };
            lock(app, &lanes, wait_ms, under, &mut |line| match line {
                Line::Log(text) => console.log(text),
                Line::Waits(text) => console.progress(text),
            })
        }
    };
    match ran {
        Ok(ran) => {
            remember(app, &strangers);
            for (lane, who) in &ran.kept {
                let keeps = format!("the command left {who} behind, which keeps lane \"{lane}\" until it ends");
                console.hint(&format!("{keeps}; `luzia lock --close` releases the lane when the command ends"));
            }
            Ok(end_code(ran.end))
        }
        Err(error) if error.is_of_busy_lane() && args.conflict_exit_code.is_some() => {
            for line in &error.refusal().log {
                console.log(line);
            }
            let code = args.conflict_exit_code.unwrap_or(Exit::Busy.code());
            // As flock(1): a caller that sets its own code for a busy lane knows its meaning, and with 0 it is no error.
            if code == Exit::Done.code() && !console.is_json() {
                console.log(&error.to_string());
                return Ok(code);
            }
            if console.quiet && !console.is_json() {
                return Ok(code);
            }
            Ok(console.report_with(&error, code))
        }
        Err(error) => Err(error.into()),
    }
}

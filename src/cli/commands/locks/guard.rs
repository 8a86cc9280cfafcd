//! `luzia guard`: runs a command only while the lock of its caller is in force.

use crate::app::App;
use crate::app::locks::guard::{Guarded, guard};
use crate::app::names::lane_option;
use crate::cli::args::number;
use crate::cli::exit::{Exit, end_code};
use crate::cli::output::console::{Answer, Console};
use clap::{Args, ValueHint};

/// `luzia guard`.
#[derive(Args, Clone, Debug)]
#[command(after_help = GUARD_HELP)]
pub struct GuardArgs {
    /// The lane whose lock must be in force; may be repeated
    ///
    /// By default all lanes in which the lock in LUZIA_LOCK_ID is in force when the command starts.
    #[arg(short, long)]
    pub lane: Vec<String>,

    /// The fence that must be in force, of one lane; by default the lock in LUZIA_LOCK_ID, whatever fence it has now
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_hyphen_values = true)]
    pub fence: Option<u64>,

    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<String>,
}

const GUARD_HELP: &str = "\
Notes:
  luzia checks the lock before the command starts, and once a second while it runs. A command whose lock is lost gets
  SIGTERM, and SIGKILL 5 seconds later. luzia refreshes a lease meanwhile, so it does not run out under the command.
  With several lanes luzia checks each of them; when one is lost, the command ends. A lane that was lost before the start
  is noticed only where --lane names it.
  The command gets LUZIA_FENCE and LUZIA_LOCK_ID of the lock, the fence in the first of its lanes. A store that keeps the greatest fence it has seen can refuse
  writes of former holders.

Examples:
  luzia guard -- ./publish.sh
  luzia guard --lane thread:7 -- ./reply.sh
  luzia guard --lane db --lane cache -- ./migrate.sh
  luzia guard --lane build --fence 1795486342677002 -- rsync -a out/ host:/srv/

Exit codes:
  the command's own code, or 128+N when signal N killed it
  1    the lock is not in force any more, or was lost while the command ran
  2    usage, or there is no fence; nothing was run
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command";

/// `luzia guard`. `environment` has LUZIA_LOCK_ID and LUZIA_FENCE.
pub fn run(args: &GuardArgs, app: &App, environment: [Option<String>; 2], console: &mut Console) -> Answer {
    let [lock_id, fence] = environment;
    let asked = Guarded {
        lanes: args.lane.iter().map(|lane| lane_option(app, lane, None)).collect::<Result<_, _>>()?,
        fence: args.fence,
        lock_id: lock_id.filter(|id| !id.is_empty()),
        env_fence: fence.and_then(|text| text.parse().ok()),
    };
    let ended = guard(app, &asked, &args.command)?;
    if let Some(why) = &ended.lost {
        console.say(&format!("luzia: {why}; the command was ended"));
        return Ok(Exit::No.code());
    }
    Ok(end_code(ended.end))
}

//! `luzia acquire`: takes or refreshes a lease.

use crate::app::locks::acquire::{Lease, Leased};
use crate::app::{App, AppError, Kind, lane_word, shell_word};
use crate::cli::args::{Identity, Target, pid};
use crate::cli::exit::Exit;
use crate::cli::identity::session_key;
use crate::cli::output::console::{Answer, Console, Stop};
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
                  a release gives nothing back, for the task keeps its lanes until it ends. This holds also inside \
                  the command of `luzia lock`.\n\n\
                  With --session the lease lasts as long as the agent: when its process ends, the lease is free at \
                  once. A keeper that runs in a sandbox ends with that sandbox, and its leases with it.",
    after_help = ACQUIRE_HELP
)]
pub struct AcquireArgs {
    /// What to act on.
    #[command(flatten)]
    pub target: Target,

    /// Who holds the lease: a task or any name
    #[arg(long, value_name = "ID", required_unless_present = "session")]
    pub task: Option<String>,

    /// End the lease with the session of your agent, or with the process of --pid
    ///
    /// The agent's process is the nearest one above this that is neither a shell nor luzia. A keeper process holds the
    /// lease and watches that process. KEY is by default what the agent gives (LUZIA_SESSION or a variable of its own),
    /// else the process itself. Acquiring again in the same session refreshes the lease.
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "")]
    pub session: Option<String>,

    /// Wait this long for the lane; by default not at all
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// How long the lease lasts without a refresh; by default the lane's lock timeout
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub ttl: Option<String>,

    /// End the lease also when this process ends
    #[arg(long, value_name = "PID", value_parser = pid, allow_hyphen_values = true)]
    pub pid: Option<u32>,

    /// A note for people, which others see with the lease
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// Who holds the lease.
    #[command(flatten)]
    pub identity: Identity,

    /// Sync the lease to disk, so that it survives a power cut
    #[arg(long)]
    pub durable: bool,
}

const ACQUIRE_HELP: &str = "\
Examples:
  luzia acquire alice --task deploy --timeout 30
  luzia acquire thread:7 --task 100 --json
  luzia acquire gpu:0 --task train --ttl 2h --pid $$
  luzia acquire tree:api --session

Exit codes:
  0    acquired, or refreshed
  2    usage; nothing was changed
  75   somebody else holds the lane
  others as in luzia-exit-codes(7)";

/// Whether the lane was not to be had now, for whatever reason.
fn is_busy(error: &AppError) -> bool {
    matches!(error.0.code, "LOCK_HELD" | "HOST_BUSY" | "SLOT_OCCUPIED")
}

/// `luzia acquire`.
pub fn run(args: &AcquireArgs, app: &App, console: &mut Console) -> Answer {
    let key = args.session.as_deref().filter(|key| !key.is_empty()).map(session_key).transpose()?;
    let lease = Lease {
        lane: app.lane(&args.target.text())?,
        holder: args.task.clone().unwrap_or_default(),
        wait_ms: task_request::duration("timeout", args.timeout.as_deref())?.unwrap_or(0),
        ttl_ms: task_request::duration("ttl", args.ttl.as_deref())?,
        pid: args.pid,
        durable: args.durable,
    };
    app.check_user_lane(&lease.lane)?;
    let session = args.session.as_ref().map(|_| app.session(key.as_deref(), args.pid)).transpose()?;
    let mut tell = |line: &str| console.progress(line);
    let taken = match &session {
        Some(session) => app.acquire_for_session(&lease, session, &mut tell),
        None => app.acquire(&lease, &mut tell),
    };
    let Leased { grant, refreshed, log } = match taken {
        Err(error) if is_busy(&error) && console.is_json() => {
            // Scripts ask this document whether they have the lane; the error follows on stderr.
            let value = json!({ "acquired": false, "lock_id": null, "fence": null, "value": null, "lane": lease.lane.to_string() });
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
    let told = if console.is_json() {
        let value = json!({
            "acquired": true,
            "lock_id": grant.lock_id.0,
            "fence": grant.fence.0,
            "lane": grant.lane.to_string(),
            "value": grant.value,
            "refreshed": refreshed,
            "session": session.as_ref().map(|session| session.key.as_str()),
            "session_pid": session.as_ref().map(|session| session.process.pid),
        });
        console.document(&json::single("acquire", value))
    } else {
        console.out(&format!("{}\n", grant.lock_id))
    };
    match told {
        // The lease stands, and nobody has been told its name.
        Err(Stop::Unwritten(error)) => {
            let message = format!("the answer could not be written: {error}; the lease \"{}\" is held", grant.lock_id);
            let lane = lane_word(&grant.lane);
            let hint = format!("luzia release {lane} --lock-id {} gives it back", shell_word(&grant.lock_id));
            Err(AppError::new(Kind::Io, "OUTPUT", message).hint(hint).into())
        }
        other => Ok(other.map(|()| Exit::Done.code())?),
    }
}

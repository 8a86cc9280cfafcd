//! `luzia acquire`: takes or refreshes a lease.

use crate::app::fleet::{Fleet, refuse_local};
use crate::app::locks::acquire::{Lease, Leased, acquire};
use crate::app::locks::session;
use crate::app::locks::session::{Session, acquire_for_session, session_holder};
use crate::app::names::named_place;
use crate::app::queue::doors::{check_user_lane, lane_notes, new_users, remember};
use crate::app::queue::enqueue::Caller;
use crate::app::queue::foreground::{Wanted, acquire_shared};
use crate::app::queue::terms::moments;
use crate::app::{App, AppError, Code, lane_word, shell_word};
use crate::cli::args::{Identity, pid};
use crate::cli::exit::Exit;
use crate::cli::identity::session_key;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::{json, messages};
use crate::model::LaneName;
use crate::model::lock::Grant;
use clap::{ArgGroup, Args};
use serde_json::{Value, json};

/// Take a lease on a lane, for scripts. It lasts until `luzia release`, or until its time to live has passed since the last
/// refresh. Acquiring again with the same --task refreshes it.
///
/// Of several lanes all are taken, or none, under one lock id. Each of them is a lease of its own, which `luzia release` gives
/// back by itself or with others (-l). Lanes that the same --task holds are refreshed, and keep their lock id.
///
/// Inside a task, a lane that the task already holds is available at once: the lock id of the task is printed, and a release
/// gives nothing back, for the task keeps its lanes until it ends. This holds also inside the command of `luzia lock`.
///
/// A lease that a running task takes under its own name (--task self) ends with that task.
///
/// With a store of several hosts a task of this host keeps the lease, which ends also with the lease of this host.
///
/// With --session the lease lasts as long as the agent: when its process ends, the lease is free at once. If no agent can be
/// seen from a sandbox, the keeper would end with the sandbox. Then --session is refused, unless --ttl gives a time limit,
/// which holds instead, or --pid names a process (--pid 1 is the sandbox itself).
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = ACQUIRE_HELP, group = ArgGroup::new("holder").required(true).multiple(true))]
pub struct AcquireArgs {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE", required_unless_present_any = ["user", "lane"])]
    pub target: Option<String>,

    /// The user, instead of the argument
    #[arg(short, long, value_name = "NAME", conflicts_with = "target")]
    pub user: Option<String>,

    /// Take this lane as well; may be repeated
    ///
    /// All lanes are taken, or none: the lane of the user first, the others by name, `global` last, whatever their order here.
    #[arg(short, long, value_name = "LANE")]
    pub lane: Vec<String>,

    /// The holder of the lease: a task or any name. This or --session is needed, inside a task too
    #[arg(long, value_name = "ID", group = "holder")]
    pub task: Option<String>,

    /// End the lease with the session of your agent, or with the process of --pid
    ///
    /// The process of the agent is the nearest ancestor that is neither a shell nor luzia. A keeper process holds the lease
    /// and watches that process. KEY is by default what the agent gives (LUZIA_SESSION or a variable of its own), else the
    /// process itself. Acquiring again in the same session refreshes the lease.
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "", group = "holder")]
    pub session: Option<String>,

    /// Wait this long for the lane; by default not at all
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// The time that the lease lasts without a refresh; by default the lane's lock timeout
    #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
    pub ttl: Option<String>,

    /// End the lease also when this process ends
    #[arg(long, value_name = "PID", value_parser = pid, allow_hyphen_values = true)]
    pub pid: Option<u32>,

    /// A note for people, which others see with the lease
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub label: Option<String>,

    /// The holder of the lease.
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
  luzia acquire -l db -l cache --task migrate --timeout 30

Exit codes:
  0    acquired, or refreshed
  1    --session, and no agent can be seen; nothing was taken
  2    usage; nothing was changed
  75   somebody else holds the lane";

/// `luzia acquire`.
pub fn run(args: &AcquireArgs, app: &App, caller: &dyn Fn() -> (Caller, String), console: &mut Console) -> Answer {
    let key = args.session.as_deref().filter(|key| !key.is_empty()).map(session_key).transpose()?;
    let lanes = super::lanes_of(args.target.as_deref(), args.user.as_deref(), &args.lane, app)?;
    let mut lease = Lease {
        lanes,
        holder: args.task.clone().unwrap_or_default(),
        wait_ms: moments::duration("timeout", args.timeout.as_deref())?.unwrap_or(0),
        ttl_ms: moments::duration("ttl", args.ttl.as_deref())?,
        pid: args.pid,
        durable: args.durable,
    };
    lease.lanes.iter().try_for_each(|lane| check_user_lane(app, lane))?;
    if app.fleet.is_some() {
        refuse_local([(args.session.is_some(), "--session")])?;
    }
    let session = match args.session.as_ref().map(|_| session::session(app, key.as_deref(), args.pid)).transpose() {
        Err(error) if error.code() == Code::EndsWithSandbox && args.ttl.is_some() => {
            if lease.holder.is_empty() {
                lease.holder = session_holder(app, key.as_deref())?;
            }
            console.say(
                "note: no agent can be seen from this sandbox, so the lease lasts as long as --ttl says, or \
                 until it is released",
            );
            None
        }
        other => other?,
    };
    let label = args.label.as_deref();
    let mut progress = |line: &str| console.progress(line);
    let taken = match (&app.fleet, &session) {
        (Some(fleet), _) => shared(app, &**fleet, caller(), (&lease, label), console),
        (None, Some(session)) => acquire_for_session(app, &lease, session, &mut progress),
        (None, None) => acquire(app, &lease, &mut progress),
    };
    let leased = match taken {
        Err(error) if error.is_of_busy_lane() && console.is_json() => {
            // Scripts read from this document whether they have the lanes; the error follows on stderr.
            let value = json!({
                "acquired": false,
                "lock_id": null,
                "fence": null,
                "value": null,
                "lane": lease.lanes.first().map(LaneName::to_string),
                "grants": [],
            });
            console.document(&json::single("acquire", value))?;
            return Err(error.into());
        }
        other => other?,
    };
    let strangers = new_users(app, lease.lanes.iter().filter(|lane| lane.is_user()).map(LaneName::key));
    for note in strangers.notes().into_iter().chain(lane_notes(app, &lease.lanes)) {
        console.say(&format!("note: {note}"));
    }
    remember(app, &strangers);
    for line in &leased.log {
        console.log(line);
    }
    tell(&leased, session.as_ref(), app, console)
}

/// Takes leases of all hosts.
fn shared(
    app: &App,
    fleet: &dyn Fleet,
    (caller, program): (Caller, String),
    (lease, label): (&Lease, Option<&str>),
    console: &mut Console,
) -> Result<Leased, AppError> {
    let wanted = Wanted { lease, label, program: &program };
    acquire_shared(app, fleet, caller, wanted, &mut |obstacle, task| {
        console.progress(&messages::obstacle_text(obstacle, task, console.now).0);
    })
}

fn tell(leased: &Leased, session: Option<&Session>, app: &App, console: &mut Console) -> Answer {
    let ids = leased.lock_ids();
    let told = if console.is_json() {
        let first = leased.grants.first();
        let is_refreshed = leased.refreshed.len() == leased.grants.len();
        let value = json!({
            "acquired": true,
            "lock_id": first.map(|grant| grant.lock_id.0.as_str()),
            "fence": first.map(|grant| grant.fence.0),
            "lane": first.map(|grant| grant.lane.to_string()),
            "value": first.map(|grant| grant.value.as_deref()),
            "refreshed": is_refreshed,
            "session": session.map(|session| session.key.as_str()),
            "session_pid": session.map(|session| session.process.pid),
            "grants": leased.grants.iter().map(|grant| grant_json(grant, leased, app)).collect::<Vec<_>>(),
        });
        console.document(&json::single("acquire", value))
    } else {
        leased.grants.iter().for_each(|grant| console.say(&format!("lane \"{}\" taken", grant.lane)));
        console.out(&format!("{}\n", ids.join("\n")))
    };
    match told {
        // The leases are held, but the caller does not have their names.
        Err(Stop::Unwritten(error)) => {
            let ids = ids.join("\", \"");
            let message = format!("the answer could not be written: {error}; the lease \"{ids}\" is held");
            let back = |grant: &Grant| {
                let (lane, id) = (lane_word(&grant.lane), shell_word(&grant.lock_id));
                format!("luzia release {lane} --lock-id {id}")
            };
            let commands: Vec<String> = leased.grants.iter().map(back).collect();
            let gives = if commands.len() > 1 { "give them back" } else { "gives it back" };
            let hint = format!("{} {gives}", commands.join(" and "));
            Err(AppError::new(Code::Output, message).hint(hint).into())
        }
        other => Ok(other.map(|()| Exit::Done.code())?),
    }
}

fn grant_json(grant: &Grant, leased: &Leased, app: &App) -> Value {
    json!({
        "lane": grant.lane.to_string(),
        "lock_id": grant.lock_id.0,
        "fence": grant.fence.0,
        "slot": grant.slot,
        "value": grant.value,
        "path": named_place(app, &grant.lane),
        "refreshed": leased.refreshed.contains(&grant.lane),
    })
}

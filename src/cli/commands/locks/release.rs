//! `luzia release`: releases a lane.

use crate::app::fleet::refuse_local;
use crate::app::locks::consent::{Asked, release_question};
use crate::app::locks::release::{Given, release};
use crate::app::locks::session::{release_of_session, release_session};
use crate::app::queue::foreground::{Named, release_shared};
use crate::app::{App, AppError, lane_word};
use crate::cli::args::pid;
use crate::cli::context::Account;
use crate::cli::identity::session_key;
use crate::cli::input::{Ask, consent};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::lock::{break_json, holder};
use crate::model::LaneName;
use clap::Args;
use serde_json::{Value, json};

/// Release a lane. Releasing a free lane succeeds. Any caller can release a lease that was taken without --pid; with TASK or
/// --lock-id this is refused when another one holds the lane. A lease that was taken with --pid, and whose process is alive,
/// needs TASK or --lock-id. The lock of a living task or of `luzia lock` is refused without --force. Inside that task or `luzia
/// lock`, a release succeeds and changes nothing.
///
/// A release of somebody else's lease, and --force on somebody else's work, ask on a terminal; elsewhere they are refused
/// without --yes. Somebody else is another agent or session, else another user.
///
/// In a lane of several slots, the named lock is released, else the first one; all slots of a dead task are released.
///
/// With -u and -l several lanes are released, the one that was taken last first. After them the first argument is TASK. Where
/// one of the lanes is refused, the others are released all the same. With a store of several hosts, lanes that were taken together
/// are released together.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = RELEASE_HELP)]
pub struct ReleaseArgs {
    /// The user or lane, e.g. `alice` or `thread:7`
    #[arg(value_name = "USER|LANE", required_unless_present_any = ["user", "lane", "all"])]
    pub target: Option<String>,

    /// The user, instead of the first argument
    #[arg(short, long, value_name = "NAME")]
    pub user: Option<String>,

    /// Release this lane, instead of the first argument; may be repeated
    #[arg(short, long, value_name = "LANE")]
    pub lane: Vec<String>,

    /// Release only what this task (or name given to `acquire`) holds
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// Release only what has this lock id
    #[arg(long, value_name = "ID")]
    pub lock_id: Option<String>,

    /// Release what your session holds, or the session of this key
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["lock_id", "task", "force"])]
    pub session: Option<String>,

    /// With --session: every lane that it holds
    #[arg(long, requires = "session", conflicts_with_all = ["target", "user", "lane"])]
    pub all: bool,

    /// With --session: the process of the session, where it has no key
    #[arg(long, value_name = "PID", value_parser = pid, allow_hyphen_values = true, requires = "session")]
    pub pid: Option<u32>,

    /// End a living holder first: cancel the task, or end the process
    #[arg(long)]
    pub force: bool,
}

const RELEASE_HELP: &str = "\
Examples:
  luzia release alice --lock-id deploy_1768005905
  luzia release alice task_123
  luzia release thread:7 --force
  luzia release tree:api --session
  luzia release -l db -l cache migrate
  luzia release --session --all

Exit codes:
  0    released, or free already
  1    somebody else holds it, or its holder lives; nothing was changed
  2    usage, or somebody else's work without --yes; nothing was changed";

/// `luzia release`.
pub fn run(args: &ReleaseArgs, app: &App, account: Account, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let key = args.session.as_deref().filter(|key| !key.is_empty()).map(session_key).transpose()?;
    if app.fleet.is_some() {
        refuse_local([(args.session.is_some(), "--session")])?;
    }
    if args.all {
        return release_all(key.as_deref(), args.pid, app, console);
    }
    let (lanes, task) = lanes_of(args, app)?;
    let asked =
        Asked { is_named: task.is_some() || args.lock_id.is_some() || args.session.is_some(), force: args.force };
    if !asked.is_named || asked.force {
        // Where the account cannot be looked up, every holder counts as another user.
        let account = account().unwrap_or_default();
        for lane in &lanes {
            let question = release_question(app, lane, asked, &account)?;
            consent(ask, question, &format!("luzia explain {}", lane_word(lane)))?;
        }
    }
    if args.session.is_some() && task.is_some() {
        return Err(AppError::usage("a session holds lanes under its own name: give no TASK with --session").into());
    }
    let (mut given, mut failed) = (Vec::new(), None);
    let which = Named { holder: task, lock_id: args.lock_id.as_deref(), force: args.force };
    let shared = app.fleet.as_ref().map(|fleet| release_shared(app, &**fleet, &lanes, which)).transpose()?;
    let mut shared = shared.unwrap_or_default();
    for lane in lanes.iter().rev() {
        let released = match (shared.pop(), &args.session) {
            (Some(released), _) => released,
            (None, Some(_)) => release_of_session(app, lane, key.as_deref(), args.pid),
            (None, None) => release(app, lane, task, args.lock_id.as_deref(), args.force),
        };
        match released {
            Ok(one) => given.insert(0, (lane, one)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    for line in given.iter().rev().flat_map(|(_, given)| &given.log) {
        console.log(line);
    }
    if let Some(error) = failed {
        given.iter().rev().for_each(|(lane, given)| console.say(&told(lane, given)));
        return Err(error.into());
    }
    if console.is_json() {
        let all: Vec<Value> = given.iter().map(|(lane, given)| given_json(lane, given)).collect();
        let mut value = all.first().cloned().unwrap_or_default();
        value["lanes"] = all.into();
        console.document(&json::single("release", value))?;
    } else {
        given.iter().rev().for_each(|(lane, given)| console.say(&told(lane, given)));
    }
    Ok(())
}

/// The named lanes, in the order in which they are taken, and the task.
fn lanes_of<'a>(args: &'a ReleaseArgs, app: &App) -> Result<(Vec<LaneName>, Option<&'a str>), AppError> {
    // After -u and -l, the first argument is already the task.
    let has_option = args.user.is_some() || !args.lane.is_empty();
    let (target, task) = match (has_option, &args.task) {
        (false, task) => (args.target.as_deref(), task.as_deref()),
        (true, None) => (None, args.target.as_deref()),
        (true, Some(_)) => {
            return Err(
                AppError::usage("a lane is given twice, with -u or -l and as an argument").hint("give one of them")
            );
        }
    };
    Ok((super::lanes_of(target, args.user.as_deref(), &args.lane, app)?, task))
}

fn given_json(lane: &LaneName, given: &Given) -> Value {
    json!({
        "lane": lane.to_string(),
        "released": given.lock.is_some(),
        "kept_by": given.kept_by,
        "waiting": given.waiting,
        "lock": given.lock.as_ref().map(break_json),
    })
}

fn told(lane: &LaneName, given: &Given) -> String {
    let waiting = given.waiting.as_ref().map_or_else(String::new, |text| format!("; {text}"));
    match (&given.lock, &given.kept_by) {
        (Some(lock), _) => format!("lane \"{lane}\" released, it was held by {}{waiting}", holder(lock)),
        (None, Some(keeper)) => {
            format!("lane \"{lane}\" stays with {keeper} until that ends, because this process runs inside it")
        }
        (None, None) => format!("lane \"{lane}\" was free"),
    }
}

/// Every lane of a session.
fn release_all(key: Option<&str>, pid: Option<u32>, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (session, released) = release_session(app, key, pid)?;
    for line in released.iter().flat_map(|given| &given.log) {
        console.log(line);
    }
    let locks: Vec<_> = released.iter().filter_map(|given| given.lock.as_ref()).collect();
    let broken = || locks.iter().map(|lock| break_json(lock)).collect::<Vec<_>>();
    if console.json("release", || json!({ "session": session, "released": locks.len(), "locks": broken() }))? {
        return Ok(());
    }
    for lock in &locks {
        console.say(&format!("lane \"{}\" released", lock.lane));
    }
    if locks.is_empty() {
        console.say(&format!("session \"{session}\" holds no lane"));
    }
    Ok(())
}

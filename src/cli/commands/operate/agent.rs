//! `luzia agent`: the hooks of agents, and the files that introduce luzia to agents.

use crate::app::agents::setup::{Aim, Backup, Change};
use crate::app::{AppError, Code};
use crate::cli::args::Deferred;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::diff;
use crate::model::AgentKind;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Let coding agents take turns by themselves. `setup` writes the files that tell an agent about luzia; `hook` is the
/// command that the agent then calls before it acts. luzia-agents(7) describes both.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = AGENT_HELP)]
pub struct AgentArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: AgentVerb,
}

/// The verbs of `luzia agent`.
#[derive(Subcommand, Clone, Debug)]
pub enum AgentVerb {
    /// Write the hooks, the sandbox grant, the MCP server, the skill and three lines of instructions of an agent
    Setup(Deferred<SetupArgs>),
    /// Answer a hook of an agent: its document comes on standard input
    Hook(Deferred<HookArgs>),
}

/// Write what an agent needs to take turns: its hooks, the right of its sandbox to write to the folder `locks` of the state
/// directory, the MCP server `luzia mcp`, the skill `luzia`, and three lines in its file of instructions. The state directory
/// is made where it is missing. Hooks and server name this program by its absolute path, with --project by its name; `luzia
/// doctor` says when it is not there any more.
///
/// Comments, order and everything that others wrote stay as they are. A file that existed is kept beside itself with the ending
/// .luzia.bak. A second call changes nothing. --remove takes out what setup put in: a file that nobody has changed since gets
/// its old bytes back, and no copy stays.
///
/// With --project the files stand in the git work tree of the working directory. The grant of the sandbox names a directory of
/// your account, so it is left out there.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = SETUP_HELP)]
pub struct SetupArgs {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub agent: AgentKind,

    /// Write into the git work tree of the working directory, for everybody who works in it
    #[arg(long)]
    pub project: bool,

    /// Print what differs and write nothing; exit with 1 when something does
    #[arg(long, conflicts_with_all = ["remove", "dry_run"])]
    pub check: bool,

    /// Take out what setup put in, and nothing else
    #[arg(long)]
    pub remove: bool,

    /// Print what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Answer a hook of an agent. Agents call this with a JSON document on standard input; `luzia agent setup` tells them to.
///
/// A session that begins gets a few lines on luzia and the variable LUZIA_SESSION. A file is not written while another
/// living session holds the lane `tree:` of its work tree; the reason names the holder and a command that waits. A heavy
/// command whose lane is busy gets a note, or is refused with --gate. A session that ends gives its leases back. The hook
/// never allows an action that the agent would ask about, and it changes no command.
///
/// Whatever goes wrong, the agent goes on: the exit code is 0, nothing is printed, and the event hook_failed says why.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = HOOK_HELP)]
pub struct HookArgs {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub agent: AgentKind,

    /// Refuse a heavy command while its lane is busy, instead of a note
    #[arg(long)]
    pub gate: bool,
}

const AGENT_HELP: &str = "\
Examples:
  luzia agent setup claude-code
  luzia agent setup codex --check

Exit codes:
  0    done
  1    setup --check: something differs
  2    usage
  65   a file of settings cannot be read as JSON or TOML; nothing was changed";

const SETUP_HELP: &str = "\
Examples:
  luzia agent setup claude-code --dry-run
  luzia agent setup claude-code
  luzia agent setup codex --project
  luzia agent setup gemini --check
  luzia agent setup cursor --remove

Exit codes:
  0    done, or nothing differs
  1    --check: something differs
  2    usage
  65   a file of settings cannot be read as JSON or TOML; nothing was changed
  75   a file was changed by somebody else meanwhile; try again
  78   there is no home";

const HOOK_HELP: &str = "\
Examples:
  luzia agent hook claude-code <document.json
  luzia agent hook codex --gate <document.json

Exit codes:
  0    always";

/// The changes of `luzia agent setup`, and the way they are made.
pub struct Setup<'a> {
    /// The changes.
    pub changes: Vec<Change>,
    /// Makes the changes.
    pub carry_out: &'a dyn Fn(&[Change]) -> Result<(), AppError>,
    /// Whether agents find luzia on PATH.
    pub is_on_path: bool,
    /// Whether the configuration lets the MCP server run commands.
    pub may_run: bool,
}

impl SetupArgs {
    /// The aim of the setup: to write or to remove.
    pub fn aim(&self) -> Aim {
        if self.remove { Aim::Remove } else { Aim::Write }
    }
}

/// `luzia agent setup`.
pub fn run(args: &SetupArgs, setup: &Setup<'_>, console: &mut Console) -> Answer {
    let is_dry = args.check || args.dry_run;
    if !is_dry {
        (setup.carry_out)(&setup.changes)?;
    }
    let differs = setup.changes.iter().any(Change::is_real);
    if console.is_json() {
        console.items("agent-setup", setup.changes.iter().map(change_json))?;
    } else if is_dry {
        for change in setup.changes.iter().filter(|change| change.is_real()) {
            console.out(&difference(change))?;
        }
    } else {
        for change in &setup.changes {
            console.out(&format!("{}\n", sentence(change)))?;
        }
    }
    if args.check && differs {
        console.hint(&format!("to write it: luzia agent setup {}", args.agent));
        return Ok(Exit::No.code());
    }
    if !is_dry && !args.remove {
        if args.project && !setup.is_on_path {
            console.hint("luzia is not on PATH here; the hooks do nothing where the agent does not find it");
        }
        if !setup.may_run {
            console.hint(
                "the MCP server runs no command yet; the configuration names the commands that it may run, e.g. \
                 {\"mcp\": {\"allow\": [\"cargo *\", \"make\"]}} (see `luzia config path` and luzia-mcp(1))",
            );
        }
        if args.agent == AgentKind::Codex {
            console.hint("Codex runs new hooks only after they were trusted once: type /hooks in it");
        }
        if args.project {
            console.hint(&format!(
                "the files of a project cannot grant write access to the sandbox; your own files can: \
                 luzia agent setup {}",
                args.agent
            ));
        }
    }
    Ok(Exit::Done.code())
}

/// The error for a missing home, in which an agent could keep files.
pub fn no_home() -> AppError {
    AppError::new(Code::NoHome, "this account has no home, so there is no place for the files of an agent")
        .hint("set HOME=DIR in the environment, or write into the work tree with --project")
}

fn action(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        _ if change.is_left => "left",
        (before, after) if before == after => "unchanged",
        (None, _) => "made",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) if change.is_restored => "restored",
        (Some(_), Some(_)) => "changed",
    }
}

fn sentence(change: &Change) -> String {
    let path = &change.path;
    match (action(change), &change.backup) {
        ("left", _) => format!("left: {path} (somebody has changed it)"),
        ("changed", Backup::Make(copy)) => format!("changed: {path} (the old one is {copy})"),
        (action, _) => format!("{action}: {path}"),
    }
}

fn change_json(change: &Change) -> Value {
    let backup = match &change.backup {
        Backup::Make(copy) => Some(copy),
        Backup::Stay | Backup::Drop(_) => None,
    };
    json!({ "path": change.path, "action": action(change), "backup": backup })
}

/// The change of a file, in the form of diff(1).
fn difference(change: &Change) -> String {
    let name = |text: &Option<String>| if text.is_some() { change.path.as_str() } else { "/dev/null" };
    let body = diff::lines(change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    format!("--- {}\n+++ {}\n{body}", name(&change.before), name(&change.after))
}

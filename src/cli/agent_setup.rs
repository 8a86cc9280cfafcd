//! Where the files of agents are, for `luzia agent setup`.

use super::args::Globals;
use super::commands::operate::agent::{AgentVerb, Setup, SetupArgs, no_home, run};
use super::context::{state_dir, surroundings, variable};
use super::output::console::{Answer, Console};
use crate::app::agents::plan::Folders;
use crate::app::agents::setup::{Change, carry_out, changes};
use crate::app::{AppError, Kind};
use crate::model::{AgentKind, ThingKind};
use crate::os::real::{self, RealShims, RealUserFiles, term};
use crate::os::shims::Shims;
use crate::os::user_files::UserFiles;

/// The largest document that is replaced, in bytes.
const LARGEST_DOCUMENT: u64 = 4 << 20;

/// Runs `luzia agent`. A hook comes here only with options that clap reads in another way; it must not fail.
pub(super) fn agent(verb: &AgentVerb, globals: &Globals, console: &mut Console) -> Answer {
    let args = match verb {
        AgentVerb::Setup(args) => args,
        AgentVerb::Hook(args) => return Ok(super::hook::answered(args.agent, args.gate, globals)),
    };
    let kind = args.agent;
    let folders = folders(kind, args, globals)?;
    let setup = Setup {
        changes: changes(&RealUserFiles, kind, &folders, args.aim())?,
        carry_out: &|changes: &[Change]| carry_out(&RealUserFiles, changes),
        is_on_path: !RealShims.on_path("luzia").is_empty(),
    };
    run(args, &setup, console)
}

fn folders(agent: AgentKind, args: &SetupArgs, globals: &Globals) -> Result<Folders, AppError> {
    if args.project {
        let cwd = term::working_directory()
            .map_err(|error| AppError::usage(format!("there is no working directory: {error}")))?;
        let root = match surroundings().name(ThingKind::Tree, None, None) {
            Ok(named) => named.path.unwrap_or(cwd),
            Err(error) if error.0.kind == Kind::NotFound => cwd,
            Err(error) => return Err(error),
        };
        return Ok(Folders { root, own: None, is_project: true, locks: None });
    }
    let own = match agent {
        AgentKind::ClaudeCode => variable("CLAUDE_CONFIG_DIR")?,
        AgentKind::Codex => variable("CODEX_HOME")?,
        AgentKind::Gemini => variable("GEMINI_CLI_HOME")?.map(|home| format!("{home}/.gemini")),
        AgentKind::Copilot => variable("COPILOT_HOME")?,
        AgentKind::Cursor => None,
    };
    let own = own.filter(|path| path.starts_with('/'));
    let locks = format!("{}/locks", state_dir(globals)?.path);
    Ok(Folders { root: home()?, own, is_project: false, locks: Some(locks) })
}

/// Writes a manual page or a completion script, where it is not there yet.
pub(super) fn write_document(path: &str, text: &str) -> std::io::Result<()> {
    let was = RealUserFiles.read(path, LARGEST_DOCUMENT)?;
    if was.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    RealUserFiles.replace(path, was.as_deref(), text.as_bytes())
}

/// The home of the account, as an absolute path.
fn home() -> Result<String, AppError> {
    let found = match variable("HOME")? {
        Some(home) => Some(home),
        None => {
            let failed = |error: std::io::Error| AppError::not_looked_up("the home of this account", &error);
            real::account_home().map_err(failed)?.and_then(|home| home.to_str().map(str::to_owned))
        }
    };
    found.filter(|home| home.starts_with('/')).ok_or_else(no_home)
}

//! Places of the files of agents, for `luzia agent setup`.

use crate::app::agents::plan::{Folders, SERVER};
use crate::app::agents::setup::{Change, Named, carry_out, changes, named_programs};
use crate::app::{AppError, Kind};
use crate::cli::args::Globals;
use crate::cli::commands::operate::agent::{AgentVerb, Setup, no_home, run};
use crate::cli::configuration::{config_of, followed};
use crate::cli::context::{app_of, state_dir, surroundings, variable};
use crate::cli::output::console::{Answer, Console};
use crate::cli::verbs::Does;
use crate::model::{AgentKind, ThingKind};
use crate::os::real::{self, RealShims, RealUserFiles, term};
use crate::os::user_files::Shims;

/// Runs `luzia agent`. `hook::called` answers hooks before clap reads the command line. A hook gets here only if that function
/// did not find the verb among the options; it must not fail.
pub(in crate::cli) fn agent(verb: &AgentVerb, globals: &Globals, console: &mut Console) -> Answer {
    let args = match verb {
        AgentVerb::Setup(args) => args,
        AgentVerb::Hook(args) => return Ok(super::hook::answered(args.agent, args.gate, globals)),
    };
    let kind = args.agent;
    let folders = folders(kind, args.project, globals)?;
    let loaded = config_of(globals);
    let carry_out = |changes: &[Change]| {
        carry_out(&RealUserFiles, changes)?;
        if folders.is_project || args.remove { Ok(()) } else { make_state(globals) }
    };
    let setup = Setup {
        changes: changes(&RealUserFiles, kind, &folders, args.aim())?,
        carry_out: &carry_out,
        is_on_path: !RealShims.on_path("luzia").is_empty(),
        may_run: loaded.is_ok_and(|loaded| !loaded.config.mcp_allow.is_empty()),
    };
    run(args, &setup, console)
}

/// Makes the state directory, so that a sandbox finds the folder to which it may write.
fn make_state(globals: &Globals) -> Result<(), AppError> {
    let app = app_of(globals, followed(config_of(globals), globals), &state_dir(globals)?, &[Does::MakesState])?;
    Ok(app.store.prepare()?)
}

/// The program as agents start it: by its place on PATH, where an update finds it, else as it runs now.
pub(in crate::cli) fn program() -> String {
    let first = RealShims.on_path("luzia").into_iter().next();
    first.filter(|one| one.is_own && one.path.starts_with('/')).map_or_else(term::own_program, |one| one.path)
}

/// The programs that the files of all agents of this account name. Without a home there are none.
pub(in crate::cli) fn named(globals: &Globals) -> Vec<Named> {
    let is_there = |program: &str| match program.starts_with('/') {
        true => real::can_start(program),
        false => !RealShims.on_path(program).is_empty(),
    };
    let of = |agent: &AgentKind| {
        let folders = folders(*agent, false, globals).ok()?;
        Some(named_programs(&RealUserFiles, *agent, &folders, &is_there))
    };
    AgentKind::ALL.iter().filter_map(of).flatten().collect()
}

fn folders(agent: AgentKind, is_project: bool, globals: &Globals) -> Result<Folders, AppError> {
    if is_project {
        let cwd = term::working_directory()
            .map_err(|error| AppError::usage(format!("there is no working directory: {error}")))?;
        let root = match surroundings().name(ThingKind::Tree, None, None) {
            Ok(named) => named.path.unwrap_or(cwd),
            Err(error) if error.kind() == Kind::NotFound => cwd,
            Err(error) => return Err(error),
        };
        return Ok(Folders { root, own: None, is_project, locks: None, program: SERVER.to_owned() });
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
    Ok(Folders { root: home()?, own, is_project, locks: Some(locks), program: program() })
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

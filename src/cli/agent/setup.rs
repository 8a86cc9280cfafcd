//! Places of the files of agents, for `luzia agent setup`.

use crate::app::agents::found::{Named, named_programs};
use crate::app::agents::plan::{Folders, SERVER};
use crate::app::agents::setup::{Change, carry_out, changes};
use crate::app::{AppError, Kind};
use crate::cli::args::Globals;
use crate::cli::commands::operate::agent::{AgentVerb, Setup, no_home, run};
use crate::cli::commands::operate::daemon::Unit;
use crate::cli::configuration::{config_of, followed};
use crate::cli::context::{HOME, app_of, of_state_dir, state_dir, surroundings, variable};
use crate::cli::output::console::{Answer, Console};
use crate::cli::shim;
use crate::cli::verbs::Does;
use crate::model::{AgentKind, ThingKind};
use crate::os::real::{self, RealShims, RealUserFiles, term};
use crate::os::shims::Shims;
use crate::os::user_files::UserFiles;
use crate::store::state_dir::home_config;

/// The end of the path of the configuration, and the unit below the same folder.
const CONFIG: &str = "luzia/config.json";
const UNIT: &str = "systemd/user/luzia.service";
/// The largest document that is replaced, in bytes.
const LARGEST_DOCUMENT: u64 = 4 << 20;

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
fn program() -> String {
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

/// The unit of systemd for this account.
pub(in crate::cli) fn unit() -> Result<Unit, AppError> {
    let config = home_config(HOME).map_err(of_state_dir)?;
    let folder = config.as_deref().and_then(|path| path.strip_suffix(CONFIG));
    let folder = folder.ok_or_else(|| shim::no_home("a unit of systemd", ""))?;
    Ok(Unit { path: format!("{folder}{UNIT}"), program: program(), read: read_document, write: write_document })
}

/// Writes a manual page or a completion script, if it does not exist yet.
pub(in crate::cli) fn write_document(path: &str, text: &str) -> std::io::Result<()> {
    let was = read_document(path)?;
    if was.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    RealUserFiles.replace(path, was.as_deref(), text.as_bytes())
}

fn read_document(path: &str) -> std::io::Result<Option<Vec<u8>>> {
    RealUserFiles.read(path, LARGEST_DOCUMENT)
}

/// Removes a manual page or a completion script, and returns whether it existed. Folders below `share` that are empty then go
/// as well.
pub(in crate::cli) fn remove_document(share: &str, path: &str) -> std::io::Result<bool> {
    let Some(was) = read_document(path)? else { return Ok(false) };
    RealUserFiles.remove(path, &was)?;
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/').filter(|(above, _)| above.len() > share.len()) {
        // A folder that cannot be removed, e.g. one that is not empty, stays.
        if RealUserFiles.remove_empty_folder(above).is_err() {
            break;
        }
        folder = above;
    }
    Ok(true)
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

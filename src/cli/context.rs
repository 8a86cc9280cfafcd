//! The surroundings of a call: environment variables, the state directory, and the use cases in it.

use super::args::Globals;
use super::configuration::{config_of, followed, named_config};
use super::verbs::Does;
use crate::app::accounts::Accounts;
use crate::app::agent::agent_of;
use crate::app::config_reload::follow_control;
use crate::app::names::Surroundings;
use crate::app::queue::enqueue::Caller;
use crate::app::{App, AppError, Code, Inside, Kind, Settings};
use crate::model::TaskId;
use crate::model::control::HOOK_VARIABLE;
use crate::os::real::{self, RealClock, RealFiles, RealPlaces, RealProcesses, term};
use crate::os::{Processes, Vfs};
use crate::store::state_dir::{Found, Inputs, VarLib};
use crate::store::{Spool, StoreError, state_dir};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Looks up the name of the calling account.
pub type Account = fn() -> Result<String, AppError>;

/// A variable of the environment. An empty variable counts as not set; one that is not UTF-8 is refused.
pub(super) fn variable(name: &str) -> Result<Option<String>, AppError> {
    match term::env(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(Err(_)) => Err(AppError::new(Code::BadVariable, format!("the variable {name} is not UTF-8"))
            .hint("unset the variable, or give the option instead")),
    }
}

/// Places where the home of the caller is searched.
pub(super) const HOME: state_dir::Home = state_dir::Home { variable: term::env, of_account: real::account_home };

pub(super) fn inputs(globals: &Globals) -> Result<Inputs, AppError> {
    Ok(Inputs {
        flag: globals.state_dir.clone(),
        luzia_state_dir: variable("LUZIA_STATE_DIR")?,
        state_directory: variable("STATE_DIRECTORY")?,
        var_lib: var_lib(),
        has_xdg: term::env("XDG_STATE_HOME").is_some_and(|dir| Path::new(&dir).is_absolute()),
        home_state: || state_dir::home_state(HOME),
        cwd: term::working_directory().ok(),
    })
}

fn var_lib() -> VarLib {
    let (uid, _) = term::account();
    VarLib::of(real::owner_of(state_dir::SYSTEM_STATE), uid, OVERFLOW_UID)
}

/// The owner that a user namespace shows for accounts that it does not map (user_namespaces(7)), unless the host changed it.
const OVERFLOW_UID: u32 = 65_534;

pub(super) fn of_state_dir(error: state_dir::StateDirError) -> AppError {
    use state_dir::StateDirError;
    match error {
        StateDirError::Nowhere => AppError::new(Code::NoStateDir, error.to_string())
            .hint("set LUZIA_STATE_DIR=DIR in the environment, for every call"),
        StateDirError::OfAnother(_) => AppError::new(Code::StateDir, error.to_string())
            .with_kind(Kind::NoPermission)
            .hint("set HOME in the environment, and this account has a queue of its own"),
        StateDirError::HomeUnknown(_) => AppError::new(Code::Account, error.to_string())
            .hint("set HOME in the environment, and luzia needs no look-up"),
        StateDirError::Empty(_) => AppError::usage(error.to_string()),
        StateDirError::Relative("LUZIA_STATE_DIR", ref path) => AppError::new(Code::BadVariable, error.to_string())
            .hint(format!(
                "set LUZIA_STATE_DIR=\"$PWD/{path}\" once; a relative path is another queue in every directory"
            )),
        // A wrong value on the command line is a usage error; a wrong value in the environment is an error of configuration.
        StateDirError::Control(what, _)
        | StateDirError::Relative(what, _)
        | StateDirError::NoWorkingDirectory(what, _) => {
            if what.starts_with("--") {
                AppError::usage(error.to_string())
            } else {
                AppError::new(Code::BadVariable, error.to_string())
                    .hint(format!("correct the variable {what}; every caller must use one directory"))
            }
        }
    }
}

pub(super) fn state_dir(globals: &Globals) -> Result<Found, AppError> {
    state_dir::resolve(&inputs(globals)?).map_err(of_state_dir)
}

/// The use cases in the state directory that options and environment name. A configuration with a mistake is an error.
pub(super) fn opened(globals: &Globals, does: &[Does]) -> Result<App, AppError> {
    app_of(globals, followed(Ok(config_of(globals)?), globals), &state_dir(globals)?, does)
}

/// The use cases in the state directory that a half-written line names; `None` where it cannot be used.
pub(super) fn half_written(globals: &Globals, places: &[(String, String)]) -> Option<App> {
    let mut globals = globals.clone();
    for (name, value) in places {
        match name.as_str() {
            "state-dir" => globals.state_dir = Some(value.clone()),
            _ => globals.config = Some(value.clone()),
        }
    }
    opened(&globals, &[]).ok()
}

/// The use cases in the state directory that was found, by the present rules, for a command with these properties. Every
/// command gets its use cases here, so each follows `lanes set` and `pause`.
pub(super) fn app_of(globals: &Globals, settings: Settings, found: &Found, does: &[Does]) -> Result<App, AppError> {
    let creates = does.contains(&Does::MakesState);
    let files = open_state(found, creates)?;
    let processes: Arc<dyn Processes> = Arc::new(RealProcesses);
    let store = Spool::new(files, Arc::new(RealClock), processes);
    let mut is_absent = false;
    if !does.contains(&Does::ReportsFaults) {
        match store.check_safety(variable("LUZIA_FORCE_FILE_SYSTEM")?.is_some(), creates) {
            Err(StoreError::Absent { .. }) => is_absent = true,
            other => other?,
        }
        if !creates && !is_absent && !does.contains(&Does::WorksForOthers) && !store.is_still_there()? {
            store.refuse_foreign()?;
        }
    }
    let mut app = App::new(store, settings);
    app.same_place = vec!["--state-dir".to_owned(), app.store_path().to_owned()];
    if let Some(path) = named_config(globals)? {
        app.same_place.extend(["--config".to_owned(), path.clone()]);
        app.config_path = Some(path);
    }
    app.is_absent = is_absent;
    app.surroundings = surroundings();
    app.zone_name = zone_name;
    app.inherited = |name| variable(name).ok().flatten();
    let text = |name: &str| term::env(name).and_then(|value| value.into_string().ok());
    app.agent = agent_of(&text);
    app.inside = inside(app.store_path())?;
    app.is_for_hook = variable(HOOK_VARIABLE)?.is_some();
    app.has_holder = app.inside.is_some() || variable("LUZIA_LOCK_ID")?.is_some();
    if !does.contains(&Does::NoRules) && !does.contains(&Does::OwnRules) {
        follow_control(&app)?;
    }
    Ok(app)
}

/// The name of the time zone of this process: that of TZ, else that of the host.
fn zone_name() -> Option<String> {
    let text = term::env("TZ").and_then(|value| value.into_string().ok());
    let Some(text) = text else { return real::zone_name() };
    // ":name" and a path into the database mean a name, too (tzset(3)). An empty one is UTC.
    let name = text.strip_prefix(':').unwrap_or(&text);
    let name = name.split_once("/zoneinfo/").map_or(name, |(_, name)| name);
    Some(if name.is_empty() { "UTC" } else { name }.to_owned())
}

/// The name of the agent that the environment gives.
pub(super) fn agent() -> Option<String> {
    let text = |name: &str| variable(name).ok().flatten();
    agent_of(&text).map(|agent| agent.name)
}

/// The places of this host as this process sees them.
pub(super) fn surroundings() -> Surroundings {
    Surroundings::new(Arc::new(RealPlaces), term::working_directory().map_err(|error| error.to_string()))
}

pub(super) fn open_state(found: &Found, create: bool) -> Result<Arc<dyn Vfs>, AppError> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot use the state directory \"{}\" ({}): {error}", found.path, found.rule.text());
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Kind::NoPermission,
            std::io::ErrorKind::NotADirectory => Kind::CannotCreate,
            _ => Kind::Io,
        };
        AppError::new(Code::StateDir, message)
            .with_kind(kind)
            .hint("luzia needs to read and write there; another directory is another queue, and excludes nobody here")
    };
    let files = RealFiles::open_at(&found.path, create).map_err(failed)?;
    Ok(Arc::new(files.unwrap_or_else(|| RealFiles::absent(&found.path))))
}

/// The task inside which this process runs, when it is one of this very state directory.
pub(super) fn inside(state_dir: &str) -> Result<Option<Inside>, AppError> {
    let Some(task) = variable("LUZIA_TASK_ID")?.as_deref().and_then(TaskId::parse) else { return Ok(None) };
    if variable("LUZIA_STATE_DIR")?.as_deref() != Some(state_dir) {
        return Ok(None);
    }
    Ok(Some(Inside { task, user: variable("LUZIA_USER")?, project: variable("LUZIA_PROJECT")? }))
}

/// The name of the calling account. An account without a name is called by its number. If the look-up of the name fails, the
/// number does not replace it: the number would be another user, whose tasks run beside those of this one.
pub(super) fn account() -> Result<String, AppError> {
    let (uid, _) = term::account();
    let failed = |error| AppError::not_looked_up(&format!("the name of this account (uid {uid})"), &error);
    let hint = "name the user with -u NAME; for `cancel` with --by NAME";
    let found = real::account_name(uid).map_err(|error| failed(error).hint(hint))?;
    Ok(found.unwrap_or_else(|| format!("uid-{uid}")))
}

pub(super) fn caller() -> Caller {
    Caller {
        env: crate::app::queue::enqueue::inherited(term::environment()),
        cwd: term::working_directory().map_err(|error| error.to_string()),
        umask: term::umask(),
        accounts: Accounts::new(account),
        pid: RealProcesses.me().pid,
    }
}

//! The store of several hosts that a command line, the environment or the configuration names.

pub(super) mod own;
pub(super) mod trial;

use super::args::Globals;
use super::configuration::config_of;
use super::context::variable;
use super::output::console::Answer;
use super::verbs::{Command, Does};
use crate::app::fleet::{Store, no_store, since};
use crate::app::{App, AppError, Code};
use crate::model::Config;
use crate::os::Host;
use crate::os::real::{RealClock, RealFiles, RealProcesses};
use std::sync::Arc;

/// The word for the tasks of this host.
const LOCAL: &str = "local";

/// The URL of the store, and the place that names it; `None` where the state directory has all tasks.
pub(super) fn named(globals: &Globals, config: Option<&Config>) -> Result<Option<(String, &'static str)>, AppError> {
    let of_config = || config.and_then(|config| config.store.clone()).map(|url| (url, "store in the configuration"));
    let found = match globals.store.clone().map(|url| (url, "--store")) {
        None => variable("LUZIA_STORE")?.map(|url| (url, "LUZIA_STORE")).or_else(of_config),
        given => given,
    };
    Ok(found.filter(|(url, _)| url != LOCAL))
}

/// The store for a command that works in a state directory. A command that knows the tasks of this host only is refused where a
/// store is named: it would give half an answer.
pub(super) fn for_command(
    command: &Command,
    globals: &Globals,
    config: Option<&Config>,
) -> Result<Option<(String, &'static str)>, AppError> {
    if command.stays_here() {
        return Ok(None);
    }
    let named = named(globals, config)?;
    if let Some((_, from)) = &named {
        if cfg!(not(feature = "fleet")) {
            return Err(not_built(&is_named(from)));
        }
        if !command.properties().contains(&Does::Fleet) {
            let verb = command.name();
            let message = format!("`luzia {verb}` works on one host, and {}", is_named(from));
            return Err(AppError::new(Code::LocalOnly, message).hint(format!(
                "`luzia {verb} --store {LOCAL}` is about the tasks and locks of this host; nothing was done"
            )));
        }
    }
    Ok(named)
}

/// The answer of a verb that asked the store. The error of a store that is away names the moment since which it is.
pub(super) fn with_since(app: &App, answer: Answer) -> Answer {
    let answer = answer.map_err(|error| match error.downcast::<AppError>() {
        Ok(error) => Err(since(app, error)),
        Err(other) => Ok(other),
    });
    match answer {
        Err(Err(away)) if away.code() == Code::StoreAway => Err(away.into()),
        answered => {
            // A failure loses the moment only.
            let _ = app.store.store_answers();
            answered.map_err(|error| error.unwrap_or_else(Into::into))
        }
    }
}

fn not_built(what: &str) -> AppError {
    AppError::new(Code::NoFleet, format!("{what}, and this luzia was built without the feature `fleet`")).hint(
        "`cargo build --release --features fleet` builds one with it; --store local is for the tasks of this host",
    )
}

fn is_named(from: &str) -> String {
    format!("a store of several hosts is named ({from})")
}

/// This host, without a state directory.
pub(super) fn host() -> Host {
    Host::new(Arc::new(RealFiles::absent("/")), Arc::new(RealClock), Arc::new(RealProcesses))
}

/// The store of a verb that is about nothing else. One that is given needs no configuration.
pub(super) fn of(globals: &Globals) -> Result<Store, AppError> {
    let config = if globals.store.is_some() { None } else { Some(config_of(globals)?.config) };
    found(globals, config.as_ref()).unwrap_or_else(|| Err(no_store()))
}

/// The store that is named, or the error that keeps it from being asked.
pub(super) fn found(globals: &Globals, config: Option<&Config>) -> Option<Result<Store, AppError>> {
    let named = named(globals, config).transpose()?;
    Some(named.and_then(|(url, from)| open(host(), &url, from)))
}

/// Reads the URL, and the password that the environment has for it. Connects to nothing yet.
#[cfg(feature = "fleet")]
pub(super) fn open(host: Host, url: &str, _from: &str) -> Result<Store, AppError> {
    use crate::app::fleet::trial::TRIAL;
    use crate::fleet::{Database, Target};
    use crate::os::real::term;

    let of_trial = (url == TRIAL).then(trial::url).transpose()?;
    let mut target = Target::parse(of_trial.as_deref().unwrap_or(url))?;
    if let Some(path) = target.roots_file().map(str::to_owned) {
        let text = read(&path, "file of certificates", "sslrootcert in the URL of the store names it")?;
        target = target.with_roots(&text.map(|(text, _)| text).unwrap_or_default())?;
    }
    let given = variable("PGPASSWORD")?;
    let file = if given.is_none() { password_file()? } else { None };
    let name = variable("LUZIA_HOST")?.unwrap_or_else(|| host.name());
    Ok(Box::new(Database::new(target.with_password(given, file.as_deref()), host, name, term::own_program())))
}

/// The text of the password file of libpq, which only its owner may read.
#[cfg(feature = "fleet")]
fn password_file() -> Result<Option<String>, AppError> {
    use crate::os::real::term;

    let below_home = || Some(format!("{}/.pgpass", term::env("HOME")?.to_str()?));
    let Some(path) = variable("PGPASSFILE")?.or_else(below_home) else { return Ok(None) };
    let Some((text, mode)) = read(&path, "password file", "PGPASSFILE names another")? else { return Ok(None) };
    if mode & 0o077 != 0 {
        let message = format!("the password file \"{path}\" can be read by other accounts");
        return Err(AppError::new(Code::ConfigUnsafe, message).hint(format!("chmod 600 {path}")));
    }
    Ok(String::from_utf8(text).ok())
}

/// The bytes and the mode of a file, if there is one.
#[cfg(feature = "fleet")]
fn read(path: &str, what: &str, hint: &str) -> Result<Option<(Vec<u8>, u32)>, AppError> {
    use crate::os::{Open, Vfs};

    const MOST_BYTES: u64 = 1024 * 1024;
    let failed = |error: std::io::Error| {
        AppError::new(Code::ConfigUnreadable, format!("cannot read the {what} \"{path}\": {error}"))
            .hint(format!("{hint}; nothing was done"))
    };
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let Some(files) = RealFiles::reach(if folder.is_empty() { "/" } else { folder }).map_err(failed)? else {
        return Ok(None);
    };
    let Some(mut file) = files.open(name, Open::ReadOnly).map_err(failed)? else { return Ok(None) };
    let mode = file.meta().map_err(failed)?.mode;
    Ok(Some((file.read_all(MOST_BYTES).map_err(failed)?, mode)))
}

/// Refuses a store, because this program has no client of a database.
#[cfg(not(feature = "fleet"))]
pub(super) fn open(_host: Host, _url: &str, from: &str) -> Result<Store, AppError> {
    Err(not_built(&is_named(from)))
}

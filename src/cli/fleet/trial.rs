//! The trial of several hosts: its folders, its surroundings, and the URL of its database.

use crate::app::fleet::trial::{TRIAL, Trial};
use crate::app::granted::leave_store;
use crate::app::queue::enqueue::inherited;
use crate::app::{AppError, Code};
use crate::cli::account_files::share;
use crate::cli::args::Globals;
use crate::cli::context::{opened, variable};
use crate::cli::verbs::Does;
use crate::os::Host;
use crate::os::real::{self, RealClock, RealFiles, RealProcesses, term};
use std::sync::Arc;

/// The folder of the trial of this account.
fn folder() -> Result<String, AppError> {
    Ok(format!("{}/luzia/{TRIAL}", share()?))
}

/// Gives the trial of this account to `act`.
pub(in crate::cli) fn with_trial(
    account: Option<String>,
    globals: &Globals,
    act: &mut dyn FnMut(&Trial) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if cfg!(not(feature = "fleet")) {
        return Err(super::not_built("`luzia fleet trial` is about several hosts").into());
    }
    let failed = |error: std::io::Error| AppError::new(Code::Io, format!("cannot open \"/\": {error}"));
    let files = RealFiles::reach("/").map_err(failed)?.unwrap_or_else(|| RealFiles::absent("/"));
    let leave = |dir: &str| {
        let globals = Globals { state_dir: Some(dir.to_owned()), ..globals.clone() };
        leave_store(&opened(&globals, &[Does::OwnRules])?)
    };
    act(&Trial {
        host: Host::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses)),
        folder: folder()?,
        server_of: &server_of,
        account,
        path: variable("PATH")?.unwrap_or_default(),
        program: term::own_program(),
        env: inherited(term::environment()).iter().cloned().collect(),
        open: &|url| super::open(super::host(), url, "`luzia fleet trial`"),
        leave: &leave,
    })
}

/// The folder of the server. The home of root is closed to other accounts, so that of an account is in its own home.
fn server_of(account: Option<&str>) -> Result<String, AppError> {
    let share = match account.filter(|_| !matches!(variable("XDG_DATA_HOME"), Ok(Some(_)))) {
        None => share()?,
        Some(name) => {
            let home = real::home_of(name).map_err(|error| AppError::not_looked_up(name, &error))?;
            let home = home.and_then(|home| home.to_str().map(str::to_owned));
            let none = || AppError::new(Code::NoHome, format!("the account \"{name}\" has no home"));
            format!("{}/.local/share", home.ok_or_else(none)?)
        }
    };
    Ok(format!("{share}/luzia/{TRIAL}-server"))
}

/// The URL of the database of the trial.
#[cfg(feature = "fleet")]
pub(super) fn url() -> Result<String, AppError> {
    use crate::app::fleet::trial::Record;

    let files = RealFiles::reach(&folder()?).ok().flatten();
    let record = files.and_then(|files| Record::read(&files));
    record.map(|record| record.url).ok_or_else(|| {
        AppError::new(Code::StoreAway, "there is no trial of several hosts")
            .hint("`luzia fleet trial` makes it")
            .next("luzia fleet trial")
    })
}

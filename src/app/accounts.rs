//! The user whose turn a new task takes, and the account as which the task runs.

use super::config_reload::config;
use crate::app::queue::enqueue::name;
use crate::app::{App, AppError, Code};
use crate::model::{Name, Task};
use crate::request::TaskRequest;
use std::cell::{LazyCell, RefCell};
use std::collections::BTreeMap;

/// Results of lookups by their key, or the reason why a lookup failed. Each key is looked up once, when it is needed: a
/// lookup may take longer than the rest of a command, and a directory of the network may not answer.
#[derive(Debug)]
pub(super) struct Known<T>(RefCell<BTreeMap<String, Result<T, AppError>>>);

impl<T: Clone> Known<T> {
    pub(super) fn nothing() -> Self {
        Self(RefCell::default())
    }

    pub(super) fn get(&self, key: &str, look: impl FnOnce() -> Result<T, AppError>) -> Result<T, AppError> {
        self.0.borrow_mut().entry(key.to_owned()).or_insert_with(look).clone()
    }
}

/// Accounts and programs that one command of luzia has looked up: each once, also for a batch of tasks.
#[derive(Debug)]
pub struct Accounts {
    /// The name of the account that calls.
    caller: LazyCell<Result<String, AppError>>,
    /// The number by the name; `None` where there is no such account.
    numbers: Known<Option<u32>>,
    /// The owner of each directory; `None` where the directory has no owner with a name.
    owners: Known<Option<String>>,
    /// The programs that were looked for, by the places of the look.
    programs: Known<()>,
}

impl Accounts {
    /// No lookup yet; `caller` finds the calling account.
    pub fn new(caller: fn() -> Result<String, AppError>) -> Self {
        let (numbers, owners, programs) = (Known::nothing(), Known::nothing(), Known::nothing());
        Self { caller: LazyCell::new(caller), numbers, owners, programs }
    }

    /// The name of the account that calls.
    pub(super) fn own(&self) -> Result<String, AppError> {
        LazyCell::force(&self.caller).clone()
    }

    /// The answer of `look`, which looks for the program and the directory of a task: once for each program, directory and
    /// PATH.
    pub(super) fn program(&self, task: &Task, look: impl FnOnce() -> Result<(), AppError>) -> Result<(), AppError> {
        let path = task.env.iter().rfind(|(key, _)| key == b"PATH").map_or(&[][..], |(_, path)| path);
        let program = task.command.first().map_or("", String::as_str);
        self.programs.get(&[program, &task.cwd, &String::from_utf8_lossy(path)].join("\0"), look)
    }
}

/// The user whose turn a task takes: `--user`, the project's user, the user of the task inside which it was requested, the
/// owner of the conductor directory, or the account (X21).
pub(super) fn user_of(
    app: &App,
    new: &TaskRequest,
    project_user: Option<&Name>,
    conductor: Option<&str>,
    accounts: &Accounts,
) -> Result<Name, AppError> {
    if let Some(user) = &new.user {
        return name("user", user);
    }
    if let Some(user) = project_user.filter(|_| new.project.is_some() || app.inside.is_none()) {
        return Ok(user.clone());
    }
    if let Some(user) = app.inside.as_ref().and_then(|inside| inside.user.as_deref()) {
        return name("user", user);
    }
    let owner = |path: &str| accounts.owners.get(path, || owner_of(app, path));
    match conductor.filter(|path| !path.contains('{')).map(owner).transpose()?.flatten() {
        Some(owner) => name("user", &owner),
        None => name("user", LazyCell::force(&accounts.caller).as_deref().map_err(AppError::clone)?),
    }
}

fn owner_of(app: &App, path: &str) -> Result<Option<String>, AppError> {
    let failed = |error| AppError::not_looked_up(&format!("the owner of \"{path}\""), &error);
    app.host.owner_of(path).map_err(|error| failed(error).hint("name the user of the task with -u NAME"))
}

/// The project of the task inside which this one was requested, unless this one is for a user of its own.
pub(super) fn inside_project<'a>(app: &'a App, new: &TaskRequest) -> Option<&'a str> {
    let inside = app.inside.as_ref().filter(|_| new.user.is_none())?;
    inside.project.as_deref().filter(|project| !project.is_empty())
}

/// The account of a project must exist, and may be root only where the configuration says so.
pub(super) fn check_account(app: &App, run_as: Option<&str>, accounts: &Accounts) -> Result<(), AppError> {
    let Some(name) = run_as else { return Ok(()) };
    let wrong = |why: String| AppError::new(Code::RunAs, why);
    match accounts.numbers.get(name, || account_id(app, name))? {
        None => Err(wrong(format!("there is no account \"{name}\" to run as"))),
        Some(0) if !config(app).allow_root => {
            Err(wrong("a task may not run as root".to_owned())
                .hint("\"allow_root\": true in the configuration permits it"))
        }
        Some(_) => Ok(()),
    }
}

/// The number of the account of a project.
pub(super) fn account_id(app: &App, name: &str) -> Result<Option<u32>, AppError> {
    let failed = |error| AppError::not_looked_up(&format!("the account \"{name}\""), &error);
    app.host.account_id(name).map_err(|error| failed(error).hint("`getent passwd` must print the account"))
}

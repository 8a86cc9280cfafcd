//! The host that a task is for, the host that has it, and hosts that take no further tasks.

use super::{Fleet, local_only, no_store};
use crate::app::admission::own_context;
use crate::app::config_reload::config;
use crate::app::{App, AppError, Code};
use crate::model::config::Contexts;
use crate::model::{Status, Task, TaskId};
use crate::policy::context::is_private;
use crate::request::TaskRequest;

/// The longest name of a host, in bytes.
const LONGEST_NAME: usize = 255;

/// The host that a task is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskPlace {
    /// That of the caller.
    Own,
    /// Those of this name or label.
    Host(String),
    /// Any.
    Any,
}

/// The hosts of a database, as places of tasks.
pub trait FleetPlaces {
    /// The host that has a task, or had it last. `None` for a task that no host had, and for one that it gave back.
    fn host_of(&self, id: TaskId) -> Result<Option<String>, AppError>;

    /// Lets a host take no further tasks, or take tasks again. Whether that changed anything; `None` if no host has this name.
    fn drain(&self, host: &str, is_draining: bool) -> Result<Option<bool>, AppError>;
}

/// Refuses a place without a store.
pub(crate) fn check_place(app: &App, new: &TaskRequest) -> Result<(), AppError> {
    let option = new.on.as_ref().map(|_| "--on").or(new.anywhere.then_some("--anywhere"));
    match option.filter(|_| app.fleet.is_none()) {
        Some(option) => Err(no_store().reworded(|why| format!("{option} is about the hosts of a store, and {why}"))),
        None => Ok(()),
    }
}

/// Refuses a text that cannot be the name or a label of a host.
pub fn check_name(name: &str, what: &str) -> Result<(), AppError> {
    let is_wrong = name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control);
    let error = || AppError::usage(format!("\"{}\" cannot be {what}", name.escape_debug()));
    if is_wrong { Err(error()) } else { Ok(()) }
}

/// The host that is asked for.
pub(super) fn place_of(app: &App, new: &TaskRequest) -> Result<TaskPlace, AppError> {
    let place = match (&new.on, new.anywhere) {
        (None, false) => return Ok(TaskPlace::Own),
        (Some(_), true) => return Err(AppError::usage("give on or anywhere, not both").hint("nothing was queued")),
        (None, true) => TaskPlace::Any,
        (Some(name), false) => TaskPlace::Host(name.clone()),
    };
    if let TaskPlace::Host(name) = &place {
        check_name(name, "the name of a host")
            .map_err(|error| error.hint("`luzia hosts` lists the hosts; nothing was queued"))?;
    }
    let (own, _) = own_context(app);
    let is_sandbox = config(app).contexts == Contexts::Same && is_private(own.sandbox());
    if is_sandbox && !app.store.has_dispatcher(Some(own.id()))? {
        return Err(AppError::usage(
            "a task from a sandbox runs on the host of the sandbox only, because others lack it",
        )
        .hint("leave --on and --anywhere out, or queue it outside of the sandbox; nothing was queued"));
    }
    Ok(place)
}

/// Whether this host lacks the directory of a task that was placed here by its request.
pub fn lacks_directory(app: &App, task: &Task) -> bool {
    let is_placed = task.sandbox.is_none();
    is_placed && !app.surroundings.is_dir(&task.cwd).unwrap_or(false)
}

/// The error of a name that no host has.
pub fn unknown_host(name: &str) -> AppError {
    AppError::new(Code::HostNotFound, format!("no host \"{}\" has joined the store", name.escape_debug()))
        .hint("`luzia hosts` lists the hosts; nothing was changed")
        .next("luzia hosts")
}

/// The stage of a task, for a process that prints its output on this host.
pub enum Stage {
    /// This host has it, or had it, and its output was not printed yet.
    Here,
    /// It waits, or its end is on the way to the store.
    Between(Box<Task>),
    /// It is over, and its output was printed.
    Over(Box<Task>),
}

/// The stage of a task of a store. `seen` is the number of its starts when its output was last printed to an end: a further attempt,
/// which may be short, has an output of its own.
pub fn stage(app: &App, store: &dyn Fleet, id: TaskId, seen: Option<u32>) -> Result<Stage, AppError> {
    let shared = store.find(id)?.ok_or_else(|| AppError::no_task(format!("the store has no {id}")))?;
    let here = app.store.find(id)?.map(|(_, task)| task);
    if here.as_ref().is_some_and(|task| !task.status().is_final()) {
        return Ok(Stage::Here);
    }
    let is_over = shared.status().is_final();
    match here {
        Some(task) if is_over && seen != Some(task.starts) => Ok(Stage::Here),
        _ if is_over && seen.is_some() => Ok(Stage::Over(Box::new(shared))),
        _ if shared.status() == Status::Pending => Ok(Stage::Between(Box::new(shared))),
        here => match store.host_of(id)? {
            Some(host) if here.is_some() && host == store.host_name() => Ok(Stage::Between(Box::new(shared))),
            Some(host) => Err(elsewhere(id, &host)),
            // It ended before a host had it, or with its host.
            None if is_over => Ok(Stage::Over(Box::new(shared))),
            None => Ok(Stage::Between(Box::new(shared))),
        },
    }
}

fn elsewhere(id: TaskId, host: &str) -> AppError {
    local_only("attach")
        .hint(format!("host \"{host}\" has {id}; `luzia wait` waits for its end anywhere"))
        .next(format!("luzia wait {id}"))
}

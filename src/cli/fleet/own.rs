//! The hidden verbs of stores: those that luzia starts itself.

use crate::app::queue::foreground::{keep_lanes, keep_lease};
use crate::app::{App, AppError, Code};
use crate::cli::args::{KeepLanesArgs, ListenArgs, UnderLanesArgs};
use crate::cli::entry::not_started;
use crate::cli::output::console::{Answer, Console};
use crate::model::task::LeaseOf;
use crate::os::Signal;
use crate::os::real::{self, term};
use std::time::Duration;

/// The program of this process.
pub(in crate::cli) fn program() -> String {
    term::own_program()
}

/// The hidden verb `keep-lanes`: the command of a task that keeps lanes for a command in the foreground.
pub(in crate::cli) fn kept_lanes(args: &KeepLanesArgs, app: &App) -> Answer {
    Ok(keep_lanes(app, &args.caller, &mut told_to_end()?)?)
}

/// Whether this process was told to end since the last look.
fn told_to_end() -> Result<impl FnMut() -> bool, AppError> {
    real::catch(&[real::Caught::Terminate]).map_err(|error| AppError::new(Code::Io, error.to_string()))?;
    Ok(|| real::take(real::Caught::Terminate))
}

/// The hidden verb `keep-lease`: the command of a task that keeps lanes for a lease.
pub(in crate::cli) fn kept_lease(lease: &LeaseOf, app: &App) -> anyhow::Result<()> {
    Ok(keep_lease(app, lease, &mut told_to_end()?)?)
}

/// The hidden verb `under-lanes`: becomes a command while the keeper of its lanes lives. The keeper was alive after this process
/// had the task in its environment, so the end of the task does not overlook the command.
pub(in crate::cli) fn under_lanes(args: &UnderLanesArgs, app: &App, console: &mut Console) -> Answer {
    if !app.run_dir.is_tree_locked(args.task)? {
        let message = format!("{} has lost the lanes before the command started", args.task);
        return Err(AppError::new(Code::LockLost, message).hint("nothing was run").into());
    }
    Ok(not_started(real::become_command(&args.command), console))
}

/// The hidden verb `listen-store`: wakes the agent with each hint of the store, as long as the agent and the connection live.
pub(in crate::cli) fn listened(args: &ListenArgs) -> anyhow::Result<()> {
    let host = super::host();
    let store = super::open(host.clone(), &args.url, "--store")?;
    let mut heard = |is_hint: bool| match is_hint {
        true => host.signal(&args.agent, Signal::Wake),
        false => !host.await_death(&args.agent, Duration::ZERO),
    };
    // The agent says that its store is away, and starts another listener.
    match store.listen(args.host, &mut heard) {
        Err(error) if error.code() == Code::StoreAway => Ok(()),
        ended => Ok(ended?),
    }
}

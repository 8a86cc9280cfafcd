//! `luzia attach` with a store of several hosts: streams a task on the host that has it. The store says whether its end was the last
//! one: an attempt that is followed by another one leaves its host first.

use super::{AttachArgs, left, tell_end};
use crate::app::fleet::{Fleet, local_only, refuse_local};
use crate::app::queue::run::see_through;
use crate::app::{App, AppError, Code};
use crate::cli::commands::queue::room::{Room, Terminal};
use crate::cli::exit::run_code;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::messages;
use crate::model::{Status, Task, TaskId};
use std::time::Duration;

/// The pause between two looks at a task that is not here.
const LOOK: Duration = Duration::from_millis(100);

/// The place of a task.
enum Stage {
    /// This host has it, or had it, and its output was not printed yet.
    Here,
    /// It waits, or its end is on the way to the store.
    Between(Box<Task>),
    /// It is over, and its output was printed.
    Over(Box<Task>),
}

/// Streams a task until it is over in the store.
pub(super) fn attach(
    args: &AttachArgs,
    app: &App,
    store: &dyn Fleet,
    terminal: &mut Terminal,
    console: &mut Console,
) -> Answer {
    refuse_local([(args.here, "--here")])?;
    let id = match args.task.as_str() {
        "last" => store.newest(None)?.ok_or_else(|| absent("the store has no task".to_owned()))?,
        text => app.task_id(text)?,
    };
    let mut room = Room::onlooker(console, terminal);
    let (mut is_seen, mut is_told) = (false, false);
    loop {
        match stage(app, store, id, is_seen)? {
            Stage::Over(task) => {
                tell_end(&task, room.console);
                return Ok(run_code(&task));
            }
            Stage::Here => {
                let task = see_through(app, id, false, &mut room)?;
                room.show_rest();
                if let Some(stop) = room.closed.take() {
                    return Err(stop.into());
                }
                if !task.status().is_final() {
                    return left(&[id], &mut room);
                }
                is_seen = true;
            }
            Stage::Between(task) => {
                if room.interrupts().count > 0 {
                    return left(&[id], &mut room);
                }
                if let Some(obstacle) = if is_told { None } else { store.obstacle(&task)? } {
                    is_told = true;
                    let now = room.console.now;
                    room.console.progress(&messages::obstacle_text(&obstacle, &task, now).0);
                }
                app.host.sleep(LOOK);
            }
        }
    }
}

fn stage(app: &App, store: &dyn Fleet, id: TaskId, is_seen: bool) -> Result<Stage, AppError> {
    let shared = store.find(id)?.ok_or_else(|| absent(format!("the store has no {id}")))?;
    let here = app.store.find(id)?.map(|(_, task)| task);
    if here.as_ref().is_some_and(|task| !task.status().is_final()) {
        return Ok(Stage::Here);
    }
    let is_over = shared.status().is_final();
    match here {
        Some(_) if is_over && !is_seen => Ok(Stage::Here),
        _ if is_over && is_seen => Ok(Stage::Over(Box::new(shared))),
        _ if shared.status() == Status::Pending => Ok(Stage::Between(Box::new(shared))),
        here => match store.tail(id)?.host {
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

fn absent(message: String) -> AppError {
    AppError::new(Code::TaskNotFound, message).hint("`luzia list -a` shows every task").next("luzia list -a")
}

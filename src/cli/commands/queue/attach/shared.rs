//! `luzia attach` with a store of several hosts: streams a task on the host that has it. The store says whether its end was the last
//! one: an attempt that is followed by another one leaves its host first.

use super::{AttachArgs, left, tell_end};
use crate::app::fleet::places::{Stage, stage};
use crate::app::fleet::{Fleet, refuse_local};
use crate::app::queue::run::see_through;
use crate::app::{App, AppError};
use crate::cli::commands::queue::room::{Room, Terminal};
use crate::cli::exit::run_code;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::messages;
use std::time::Duration;

/// The pause between two looks at a task that is not here.
const LOOK: Duration = Duration::from_millis(100);

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
        "last" => store.newest(None)?.ok_or_else(|| AppError::no_task("the store has no task"))?,
        text => app.task_id(text)?,
    };
    store.be_patient(None);
    let mut room = Room::onlooker(console, terminal);
    let (mut seen, mut is_told) = (None, false);
    loop {
        match stage(app, store, id, seen)? {
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
                    return left(&[id], None, &mut room);
                }
                seen = Some(task.starts);
            }
            Stage::Between(task) => {
                if room.interrupts().count > 0 {
                    return left(&[id], None, &mut room);
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

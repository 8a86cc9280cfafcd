//! Commands for what a task remembers between its starts.

pub mod beat;
pub mod emit;
pub mod finish;
pub mod get;
pub mod set;
pub mod step;
pub mod wait_for;

use crate::app::{App, AppError, Code, Kind};
use crate::cli::args::Command;
use crate::cli::output::console::{Answer, Console};

/// Runs a command of this group.
pub fn run(
    command: &Command,
    app: &App,
    around: Option<&str>,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> Answer {
    match command {
        Command::Set(args) => set::run(args, app, console),
        Command::Get(args) => get::run(args, app, console),
        Command::Finish(args) => finish::run(args, app, console),
        Command::Beat(args) => beat::run(args, app, console),
        Command::Step(args) => step::run(args, app, around, console),
        Command::Await(args) => wait_for::run(args, app, around, console),
        Command::Emit(args) => emit::run(args, app, read, console),
        _ => Err(AppError::new(Kind::Bug, Code::Bug, "this command needs no state directory").into()),
    }
}

/// Says that variables are those before the last change.
fn tell_damage(damage: Option<&String>, console: &mut Console) {
    if let Some(why) = damage {
        console.say(&format!("warning: {why}; the variables before the last change are used"));
    }
}

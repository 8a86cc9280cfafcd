//! The calling agent: `--as`, else the name from the environment.

use super::args::Command;
use crate::app::{AppError, agent};
use crate::model::Agent;
use crate::model::name::shortened;
use crate::model::who::{MOST_BYTES, MOST_SESSION_BYTES};

/// The agent that calls, and the note that it leaves on its locks. `found` is the agent of the environment.
pub(super) fn caller_of(command: &Command, found: Option<Agent>) -> Result<(Option<Agent>, Option<String>), AppError> {
    let (identity, label) = match command {
        Command::Enqueue(args) => (Some(&args.identity), None),
        Command::Run(args) => (Some(&args.identity), None),
        Command::Lock(args) => (Some(&args.identity), args.label.clone()),
        Command::Acquire(args) => (Some(&args.identity), args.label.clone()),
        _ => (None, None),
    };
    let Some(name) = identity.and_then(|identity| identity.as_name.as_deref()) else { return Ok((found, label)) };
    usable("--as", name, MOST_BYTES)?;
    Ok((Some(Agent { name: name.trim().to_owned(), session: found.and_then(|agent| agent.session) }), label))
}

/// The key of a session that was given.
pub(crate) fn session_key(given: &str) -> Result<String, AppError> {
    usable("--session", given, MOST_SESSION_BYTES)?;
    Ok(given.trim().to_owned())
}

fn usable(option: &str, text: &str, most: usize) -> Result<(), AppError> {
    let Some(why) = agent::refusal(text, most) else { return Ok(()) };
    Err(AppError::usage(format!("\"{option} {}\" is refused: {why}", shortened(text).escape_default()))
        .hint(format!("give a short name, such as {option} codex")))
}

//! Input of luzia: files of task lines, and the answers to its questions.

use super::args::Globals;
use crate::app::locks::consent::Question;
use crate::app::{AppError, Code};
use crate::os::real::term;

/// Asks a person; false for a no. Where there is no person to ask, the result is an error, unless `--yes` answers.
pub type Ask<'a> = &'a dyn Fn(&str) -> Result<bool, AppError>;

/// The way in which a person agrees.
pub struct Consent<'a> {
    /// Asks the person.
    pub ask: Ask<'a>,
    /// Whether `--yes` has answered everything.
    pub yes: bool,
}

/// Goes on unless a person who can be asked says no.
pub(super) fn agreement(ask: Ask, question: Option<Question>) -> Result<(), AppError> {
    match question.is_some_and(|question| !ask(&question.text()).unwrap_or(true)) {
        true => Err(AppError::usage("nothing was changed")),
        false => Ok(()),
    }
}

/// Goes on only where a person agrees that work of another caller is ended or taken. `next` is a command that does no harm
/// (P10).
pub(super) fn consent(ask: Ask, question: Option<Question>, next: &str) -> Result<(), AppError> {
    let Some(question) = question else { return Ok(()) };
    match ask(&question.text()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(AppError::usage("nothing was changed").next(next)),
        Err(_) => {
            let message = format!("{}; nothing was changed", question.fact);
            Err(AppError::new(Code::NotYours, message).hint(question.hint).next(next))
        }
    }
}

/// The largest file of task lines read, in bytes.
pub(super) const MAX_INPUT_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a file of task lines, or standard input for `-`.
pub(super) fn read_input(path: &str) -> Result<String, AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(Code::Io, format!("cannot read \"{path}\": {error}")).hint("nothing was queued")
    };
    let Some(bytes) = term::read_whole(path, MAX_INPUT_BYTES).map_err(failed)? else {
        let message = format!("\"{path}\" is longer than {} MiB", MAX_INPUT_BYTES >> 20);
        return Err(AppError::usage(message).hint("queue it in parts; nothing was queued"));
    };
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        AppError::usage(format!("\"{path}\" line {line} is not UTF-8")).hint("nothing was queued")
    })
}

/// Reads the data of an event, or standard input for `-`.
pub(super) fn read_data(path: &str) -> Result<String, AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(Code::Io, format!("cannot read \"{path}\": {error}")).hint("nothing was sent")
    };
    let bytes = term::read_whole(path, MAX_INPUT_BYTES).map_err(failed)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| AppError::usage(format!("\"{path}\" is not UTF-8; nothing was sent")))
}

/// Asks a question on the terminal. `-y` answers it with yes; without a terminal, or with `--no-input`, it counts as
/// refused.
pub(super) fn confirm(globals: &Globals, question: &str) -> Result<bool, AppError> {
    if globals.yes {
        return Ok(true);
    }
    let can_ask = term::can_ask() && term::is_terminal(term::Stream::Err);
    if globals.no_input || !can_ask {
        let message = format!("\"{question}\" cannot be asked here; nothing was changed");
        return Err(AppError::usage(message).hint("-y answers yes"));
    }
    let _ = term::write_all(term::Stream::Err, format!("{question} [y/N] ").as_bytes());
    let failed = |error| AppError::new(Code::Io, format!("cannot read the answer: {error}"));
    let answer = term::read_line().map_err(failed)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

//! The words of `await`: its kind, its name and its time.

use crate::app::AppError;
use crate::model::TaskId;
use crate::model::name::shortened;
use crate::model::time::format_duration;
use crate::policy::naming::nearest;
use crate::policy::steps::names::{MOST_STEP_BYTES, is_step_name};
use crate::policy::steps::waits::WaitKind;

/// Refuses a text that cannot be the name of a step or an await; `what` names that, and says what was not done.
pub fn check_step_name(name: &str, what: &str) -> Result<(), AppError> {
    if is_step_name(name) {
        return Ok(());
    }
    Err(AppError::usage(format!("\"{}\" is not the name of {what}", shortened(name)))
        .hint(format!("letters, digits, _ - and ., {MOST_STEP_BYTES} at most, not with - or . at the front")))
}

/// Reads the KIND of `await`: a kind, or `event:NAME` for an event of any name.
pub fn wait_kind(text: &str) -> Result<(WaitKind, String), AppError> {
    if let Some(name) = text.strip_prefix("event:") {
        super::mail::check_name(name)?;
        if let Some(kind) = [WaitKind::Agent, WaitKind::Delay].into_iter().find(|kind| kind.event() == name) {
            return Err(AppError::usage(format!(
                "\"{text}\" is an event that luzia itself makes; nothing is waited for"
            ))
            .hint(format!("luzia await {}", kind.word())));
        }
        return Ok((WaitKind::Event, name.to_owned()));
    }
    let kind = WaitKind::parse(text).ok_or_else(|| no_kind(text))?;
    Ok((kind, kind.event().to_owned()))
}

/// The error for a word that is no kind of wait.
fn no_kind(text: &str) -> AppError {
    let words = WaitKind::ALL.into_iter().map(WaitKind::word);
    let error = AppError::usage(format!("\"{}\" is nothing that a task can wait for", shortened(text)));
    if let Some(kind) = WaitKind::ALL.into_iter().find(|kind| kind.event() == text) {
        return error.hint(format!("{text} is what `luzia await {}` waits for", kind.word()));
    }
    if let Some(task) = TaskId::parse(text) {
        return error.hint(format!("the end of a child: luzia await agent --match child={task}"));
    }
    match nearest(text, words.clone()) {
        Some(word) => error.hint(format!("did you mean {word}?")),
        None => error.hint(format!("one of {}, or event:NAME", words.collect::<Vec<_>>().join(", "))),
    }
}

/// The time of a wait: the one that was given, within what its kind allows (S1.30).
pub fn wait_time(kind: WaitKind, given_ms: Option<u64>) -> Result<u64, AppError> {
    let (default, most) = kind.times_ms();
    match given_ms {
        Some(ms) if ms > most => Err(AppError::usage(format!(
            "a wait for {} lasts {} at most, and {} was asked for",
            kind.word(),
            format_duration(most),
            format_duration(ms)
        ))),
        Some(ms) => Ok(ms),
        None => Ok(default),
    }
}

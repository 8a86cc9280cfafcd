//! The words of `await`, and the permitted places of the value of a variable (P12).
//! `wait_kind`, `check_step_name` and `wait_time` read the kind, the name and the time of an `await`. `check_places` checks the
//! places of variables when a command comes in, and `unset_places` gives those without a value in the next command of a task.

use crate::app::{App, AppError};
use crate::model::name::shortened;
use crate::model::time::format_duration;
use crate::model::{Task, TaskId};
use crate::policy::naming::nearest;
use crate::policy::steps::course::command_of;
use crate::policy::steps::names::{MOST_STEP_BYTES, is_step_name};
use crate::policy::steps::scripts::{Misplaced, in_script, misplaced, place_in_script, without_value};
use crate::policy::steps::waits::WaitKind;
use std::collections::BTreeSet;

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

/// Refuses a task with a command that has the place of a variable in text that a program runs, or in the name of an option.
pub(crate) fn check_places(task: &Task) -> Result<(), AppError> {
    let actions = task.stepwise.iter().flat_map(|stepwise| &stepwise.actions);
    let wrong = std::iter::once(&task.command).chain(actions).find_map(|command| misplaced(command));
    wrong.map_or(Ok(()), |Misplaced { fault, hint, .. }| Err(AppError::usage(fault).hint(hint)))?;
    let lines = [("on-finish", &task.terms.on_finish), ("on-wait", &task.terms.on_wait)];
    lines.iter().try_for_each(|(option, line)| line.as_deref().map_or(Ok(()), |line| check_line(option, line)))
}

/// Refuses a line for the shell, the value of an option, that has the place of a variable.
pub fn check_line(option: &str, line: &str) -> Result<(), AppError> {
    let Some(name) = place_in_script(line) else { return Ok(()) };
    let hint = format!(
        "`luzia get --task \"$LUZIA_TASK_ID\" {name}` prints the value there; a line that has such braces of its own goes into a script"
    );
    Err(AppError::usage(format!("--{option}: \"{{{{{name}}}}}\" stands in text that sh runs")).hint(hint))
}

/// Refuses the command of an agent that has the prompt in text that a program runs.
pub(crate) fn check_prompt(template: &[String]) -> Result<(), AppError> {
    let Some(program) = in_script(template, "{prompt}") else { return Ok(()) };
    Err(AppError::usage(format!("\"{{prompt}}\" stands in text that {program} runs"))
        .hint("make it an argument of the script: [\"sh\", \"-c\", \"claude -p \\\"$1\\\"\", \"agent\", \"{prompt}\"]"))
}

/// The variables of the next command of a task that have no value, so that their places stay as they are written.
pub fn unset_places(app: &App, task: &Task) -> BTreeSet<String> {
    if task.status().is_final() {
        return BTreeSet::new();
    }
    let mut unset = without_value(command_of(task), &|_| false);
    if !unset.is_empty() {
        // The verbs that need damaged variables report them.
        let vars = app.store.vars(task.id).map(|read| read.value).unwrap_or_default();
        unset.retain(|name| !vars.contains_key(name));
    }
    unset
}

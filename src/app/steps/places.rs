//! Permitted places of the value of a variable (P12): checked when a command comes in, and shown for a task that has not started.

use crate::app::{App, AppError};
use crate::model::Task;
use crate::policy::steps::course::command_of;
use crate::policy::steps::scripts::{Misplaced, in_script, misplaced, place_in_script, without_value};
use std::collections::BTreeSet;

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

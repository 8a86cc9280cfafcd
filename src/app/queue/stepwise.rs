//! The steps of a new task.

use crate::app::waits::output::check_pattern;
use crate::app::{AppError, shell_word};
use crate::model::task::Stepwise;
use crate::model::task::terms::{MOST_PER_RUN, MOST_STEPS, MOST_STEPS_EVER};
use crate::policy::steps::actions::{Action, actions_of};
use crate::request::TaskRequest;
use std::borrow::Cow;

/// The longest goal, in bytes.
const MOST_GOAL_BYTES: usize = 16 * 1024;

/// The request with the command of its first step, where a file says the steps.
pub(super) fn with_first_command(new: &TaskRequest) -> Result<Cow<'_, TaskRequest>, AppError> {
    let Some(first) = actions(new)?.into_iter().next().map(|step| step.command) else {
        return Ok(Cow::Borrowed(new));
    };
    if !new.command.is_empty() || new.shell.is_some() || new.prompt.is_some() || new.stepwise {
        return Err(AppError::usage("the steps have their own commands: leave the command and --stepwise out"));
    }
    Ok(Cow::Owned(TaskRequest { command: first, ..new.clone() }))
}

/// The steps of a task; `None` of one that runs once.
pub(super) fn stepwise_of(new: &TaskRequest) -> Result<Option<Stepwise>, AppError> {
    if let Some(goal) = &new.goal
        && (goal.contains('\0') || goal.len() > MOST_GOAL_BYTES)
    {
        return Err(AppError::usage(format!("a goal has at most {MOST_GOAL_BYTES} bytes, and no NUL")));
    }
    let actions = actions(new)?;
    if !new.stepwise && actions.is_empty() {
        let given = [("--steps-per-run", new.steps_per_run.is_some()), ("--max-steps", new.max_steps.is_some())];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(AppError::usage(format!("{option} is for a task with --stepwise or --steps"))),
            None => Ok(None),
        };
    }
    if new.reads_stdin || new.has_terminal {
        let message = "a task with steps is started several times, so --stdin and --pty are not for it";
        return Err(AppError::usage(message).hint("the command finds the result of the last step as LUZIA_LAST_RESULT"));
    }
    let bounded = |option: &str, given: Option<u32>, default: u32, most: u32| match given.unwrap_or(default) {
        number if (1..=most).contains(&number) => Ok(number),
        other => Err(AppError::usage(format!("--{option} {other}: the range is 1 to {most}"))),
    };
    let most = bounded("max-steps", new.max_steps, MOST_STEPS, MOST_STEPS_EVER)?;
    let per_run = bounded("steps-per-run", new.steps_per_run, 1, MOST_PER_RUN)?;
    let (mut names, actions): (Vec<String>, Vec<_>) = actions.into_iter().map(|step| (step.name, step.command)).unzip();
    if names.iter().all(String::is_empty) {
        names.clear();
    }
    Ok(Some(Stepwise { step: 0, most, per_run, actions, names, seen_mail: 0, last: None }))
}

fn actions(new: &TaskRequest) -> Result<Vec<Action>, AppError> {
    let Some(text) = &new.steps else { return Ok(Vec::new()) };
    let actions = actions_of(text, &|word| shell_word(word)).map_err(|why| {
        AppError::usage(format!("--steps: {why}; nothing was queued"))
            .hint("a step is {\"command\": [\"make\"]} or {\"actionType\": \"wait_for_response\", \"parameters\": {\"timeout\": \"24h\"}}")
    })?;
    patterns(&actions).try_for_each(check_pattern)?;
    Ok(actions)
}

/// The patterns for which the steps wait, but those that a variable fills in.
fn patterns(actions: &[Action]) -> impl Iterator<Item = &str> {
    let of_output = actions
        .iter()
        .map(|step| &step.command)
        .filter(|words| words.starts_with(&["luzia", "await", "output"].map(str::to_owned)));
    of_output.flatten().filter_map(|word| word.strip_prefix("--match=")).filter(|pattern| !pattern.contains("{{"))
}

//! The actions of a task by its events, and its checkpoint: its place, and the state with which it would go on.

use crate::app::query::events::{Filter, Wanted, events};
use crate::app::waits::{memory, open_wait};
use crate::app::{App, AppError};
use crate::model::task::Stepwise;
use crate::model::{Status, Task, TaskId};
use crate::policy::analytics::course::{Course, Line, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub use crate::policy::analytics::course::{Line as ActionLine, Turn};

/// The actions of a task: its steps and waits, as far as its events are kept (S1.15).
pub fn actions(app: &App, id: TaskId) -> Result<Vec<Line>, AppError> {
    let task = app.existing(id)?;
    let mut course = Course::of(task.stepwise.as_ref().map(steps_of));
    let filter = Filter { tasks: BTreeSet::from([id]), ..Filter::default() };
    events(app, &Wanted { filter, ..Wanted::default() }, &mut |record| {
        course.take(record);
        true
    })?;
    Ok(course.lines())
}

/// The steps of a list, as they are called.
fn steps_of(stepwise: &Stepwise) -> Vec<Step> {
    let name = |at: usize| stepwise.names.get(at).cloned().unwrap_or_default();
    let is_wait = |command: &[String]| command.iter().take(2).eq(["luzia", "await"]);
    stepwise
        .actions
        .iter()
        .enumerate()
        .map(|(at, command)| Step { name: name(at), is_wait: is_wait(command) })
        .collect()
}

/// The ends of the runs of a stepwise task, as far as its events are kept.
pub(crate) fn runs_of(app: &App, id: TaskId) -> Result<Vec<Line>, AppError> {
    let lines = actions(app, id)?.into_iter();
    Ok(lines.filter(|line| line.is_run && line.turn != Turn::Begins).collect())
}

/// The checkpoint of a task, in the shape and the words of its source (S1.39).
pub fn checkpoint(app: &App, task: &Task) -> Result<Value, AppError> {
    let memory = memory(app, task.id)?;
    let open = open_wait(app, task.id)?.filter(|_| task.status() == Status::Waiting);
    let steps = memory.as_ref().map_or(&[][..], |memory| &memory.steps);
    let done = u64::try_from(steps.iter().filter(|(_, is_done)| *is_done).count()).unwrap_or(u64::MAX);
    let current = task.stepwise.as_ref().map_or(done, |stepwise| u64::from(stepwise.step));
    let mut history: Vec<Value> = steps
        .iter()
        .map(|(step, _)| json!({ "role": "step", "name": step.name, "at": step.ended_at, "exit_code": step.exit_code }))
        .collect();
    for number in app.store.mail_numbers(task.id)? {
        // The verbs that need the mail report that it is damaged.
        if let Ok(Some(mail)) = app.store.mail(task.id, number) {
            history.push(json!({ "role": "event", "name": mail.event, "at": mail.at, "data": mail.data }));
        }
    }
    history.sort_by_key(|entry| entry["at"].as_str().unwrap_or_default().to_owned());
    let next = (!task.status().is_final()).then_some(if open.is_some() { current + 1 } else { current });
    Ok(json!({
        "thread_id": format!("execution_{}", task.id.0),
        "checkpoint": {
            "currentStep": current,
            "variables": memory.and_then(|memory| memory.vars).unwrap_or_default(),
            "conversationHistory": history,
            "shouldWait": open.is_some(),
            "waitingFor": open.map(|open| open.kind),
            "nextActionId": next,
        },
    }))
}

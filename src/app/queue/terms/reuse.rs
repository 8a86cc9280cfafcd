//! `--reuse`: a task goes on from the variables of the last task of its goal (S2.F3).

use crate::app::lifecycle::Accepted;
use crate::app::queue::doors::shown;
use crate::app::{App, AppError};
use crate::model::{Status, Task, Timestamp};
use crate::request::TaskRequest;

/// The word for the goal of the request itself.
const OWN_GOAL: &str = "goal";

/// Gives a task that has its number the variables of the newest completed task of the goal, durably. They are stored before the
/// task is, so that its first start finds them. If there is no such task, it begins without any.
pub(super) fn reuse(app: &App, task: &mut Task, new: &TaskRequest) -> Result<(), AppError> {
    let Some(text) = new.reuse.as_deref() else { return Ok(()) };
    let goal = goal_of(text, new.goal.as_deref())?;
    task.goal.get_or_insert_with(|| goal.clone());
    let member = format!("\"goal\":{}", serde_json::Value::from(goal.as_str()));
    let counts = |other: &Task| {
        other.status() == Status::Completed && other.goal.as_deref() == Some(&*goal) && other.user == task.user
    };
    let Some(other) = app.store.last_ended(&member, Timestamp::FIRST, &counts)? else { return Ok(()) };
    let vars = app.store.vars(other.id)?.value;
    task.terms.reuses = Some(other.id);
    if vars.is_empty() {
        return Ok(());
    }
    app.store.change_vars(task.id, |own| {
        own.extend(vars);
        Ok::<(), AppError>(())
    })?;
    Ok(())
}

/// A note on the task whose variables an accepted task begins with.
pub(in crate::app::queue) fn note(new: &TaskRequest, accepted: &Accepted) -> Option<String> {
    let Accepted { task, created: true } = accepted else { return None };
    let goal = goal_of(new.reuse.as_deref()?, new.goal.as_deref()).ok()?;
    Some(match task.terms.reuses {
        Some(other) => format!("{} begins with the variables of {other}", task.id),
        None => format!(
            "{} begins without variables: no task of user \"{}\" with the goal \"{}\" has completed",
            task.id,
            task.user,
            shown(&goal)
        ),
    })
}

/// The goal that is meant.
pub(super) fn goal_of(text: &str, own: Option<&str>) -> Result<String, AppError> {
    match (text, own) {
        (OWN_GOAL, Some(own)) => Ok(own.to_owned()),
        (OWN_GOAL, None) => Err(AppError::usage("--reuse goal needs the --goal of the task")
            .hint("--reuse 'the goal' names one; nothing was queued")),
        ("", _) => Err(AppError::usage("--reuse must name a goal").hint("nothing was queued")),
        (other, _) => Ok(other.to_owned()),
    }
}

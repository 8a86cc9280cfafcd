//! Errors after a commit point: they name a task that was accepted, whatever fails afterwards (P11). A caller that tried again
//! would run the work twice, so none of these errors is `Busy`.

use crate::app::{App, AppError, Kind};
use crate::model::{Status, Task, TaskId};

/// Number of ids that an error lists one by one.
const MOST_LISTED: usize = 20;

/// The error of a verb that fails after it has accepted a task: it names the task and its place.
pub fn after_accepting(app: &App, id: TaskId, error: AppError) -> AppError {
    if matches!(error.kind(), Kind::NotFound | Kind::Corrupt | Kind::Bug) {
        return error;
    }
    let stands = match app.find(id) {
        Ok(Some((_, task))) => match task.status() {
            Status::Pending => format!("{id} is queued and stays queued"),
            Status::Running | Status::Waiting => format!("{id} is {} and goes on", task.status()),
            over => format!("{id} is over: {over}"),
        },
        Ok(None) | Err(_) => format!("{id} was accepted"),
    };
    let asked = match app.store.cancel_request(id) {
        Ok(Some(_)) => "it was asked to end",
        Ok(None) => "it was not asked to end",
        Err(_) => "whether it was asked to end cannot be told",
    };
    let why = error.refusal().hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    not_busy(error)
        .reworded(|why| format!("{stands}, but {why}"))
        .hint(format!("{asked}: `luzia wait {id}` waits for it, `luzia cancel {id}` ends it{why}"))
        .with_next([format!("luzia explain {id}")])
}

/// Puts an error into a class that does not ask for another try.
fn not_busy(error: AppError) -> AppError {
    if error.kind() == Kind::Busy { error.with_kind(Kind::Unavailable) } else { error }
}

/// The error of an acceptance that failed: it names the tasks that were published before the failure, which are queued and may
/// run.
pub(crate) fn half_accepted(app: &App, tasks: &[Task], error: AppError) -> AppError {
    let (mut queued, mut unknown) = (Vec::new(), Vec::new());
    for task in tasks {
        match app.find(task.id) {
            Ok(Some(_)) => queued.push(task.id),
            Ok(None) => {}
            Err(_) => unknown.push(task.id),
        }
    }
    let Some(first) = queued.first().or(unknown.first()).copied() else { return error };
    let told = match (&*queued, &*unknown) {
        ([], unknown) => format!("whether {} cannot be told", are_queued(unknown)),
        (queued, []) => are_queued(queued),
        (queued, unknown) => format!("{}, and whether {} cannot be told", are_queued(queued), are_queued(unknown)),
    };
    not_busy(error)
        .reworded(|why| format!("{told}, and may not survive a power cut: {why}"))
        .hint("do not queue the work again before you have looked")
        .with_next([format!("luzia show {first}")])
}

/// Says that tasks are queued, with their ids.
pub fn are_queued(ids: &[TaskId]) -> String {
    let names: Vec<String> = ids.iter().take(MOST_LISTED).map(TaskId::to_string).collect();
    match ids {
        [one] => format!("{one} is queued"),
        [first, .., last] if ids.len() > MOST_LISTED => {
            format!("{} tasks from {first} to {last} are queued", ids.len())
        }
        _ => format!("{} are queued", names.join(", ")),
    }
}

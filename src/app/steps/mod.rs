//! The memory of a task between its starts: variables, signs of progress, finished steps, and mail.

pub mod child;
mod known;
pub mod mail;
pub mod step;
pub mod vars;
pub mod wait;
pub mod words;

use crate::app::waits::memory;
use crate::app::{App, AppError, Code};
use crate::model::name::shortened;
use crate::model::{Status, Task, TaskId};
use crate::store::Beat;

pub use crate::app::waits::came::answer_of;
pub use crate::policy::steps::actions::MOST_EXPECTED;
pub use crate::policy::steps::members;
pub use crate::policy::steps::waits::{OnTimeout, WaitKind};
pub use crate::store::{DoneWait, LateCommand, Mail, OpenWait, OutputEnd, StepRecord as Step};

/// A step of a task that has ended, and whether it is done.
pub fn step_named(app: &App, id: TaskId, name: &str) -> Result<(Step, bool), AppError> {
    app.existing(id)?;
    let steps = memory(app, id)?.map(|memory| memory.steps).unwrap_or_default();
    steps.into_iter().find(|(step, _)| step.name == name).ok_or_else(|| {
        AppError::new(Code::StepNotFound, format!("no step \"{}\" of {id} has ended", shortened(name)))
            .next(format!("luzia show {id}"))
    })
}

/// The last sign of progress of a task that runs.
pub fn last_beat(app: &App, task: &Task) -> Result<Option<Beat>, AppError> {
    Ok(app.store.last_beat(task.id)?)
}

/// The task that a verb of this group is about: the named one, else the one inside which this process runs.
pub fn subject(app: &App, named: Option<&str>) -> Result<TaskId, AppError> {
    let own = || {
        app.inside.as_ref().map(|inside| inside.task).ok_or_else(|| {
            AppError::usage("this process runs inside no task".to_owned())
                .hint("name the task with --task; `luzia list` shows the tasks")
        })
    };
    let id = named.map_or_else(own, |text| app.task_id(text))?;
    app.existing(id)?;
    Ok(id)
}

/// The task inside which this process runs, for a verb that is called only inside a task. `example` is a command line of that
/// verb.
pub fn own_task(app: &App, example: &str) -> Result<TaskId, AppError> {
    let hint = format!("call this verb in the command of a task, as in luzia run -- sh -c '{example}'");
    subject(app, None).map_err(|error| if app.inside.is_none() { error.hint(hint) } else { error })
}

/// The present start of a task whose command runs. `undone` says what an error has left undone.
pub(crate) fn start_of(app: &App, task: &Task, undone: &str) -> Result<u32, AppError> {
    let started = app.store.started(task.id)?.flatten().filter(|_| task.status() == Status::Running);
    started.map(|started| started.start).ok_or_else(|| not_running(task.id, undone))
}

pub(crate) fn not_running(id: TaskId, undone: &str) -> AppError {
    AppError::new(Code::TaskNotRunning, format!("{id} does not run; {undone}")).next(format!("luzia show {id}"))
}

/// The task, which must not be over: nothing changes a finished task but a retry (S1.11).
pub(crate) fn unfinished(app: &App, id: TaskId) -> Result<Task, AppError> {
    let task = app.existing(id)?;
    if !task.status().is_final() {
        return Ok(task);
    }
    Err(AppError::new(Code::TaskOver, format!("{id} is {}; nothing was changed", task.status()))
        .hint("a finished task changes by a retry only")
        .next(format!("luzia show {id}")))
}

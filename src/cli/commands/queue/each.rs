//! The task ids of a command line, and one action on each of them.

use crate::app::locks::consent::Question;
use crate::app::query::lanes::named_lanes;
use crate::app::query::list::{Filter, list};
use crate::app::query::logs::newest_task;
use crate::app::queue::enqueue::name;
use crate::app::{App, AppError, Code};
use crate::cli::args::OutputFormat;
use crate::cli::context::Account;
use crate::cli::output::console::Console;
use crate::cli::output::live::bar;
use crate::cli::output::{brief, json};
use crate::model::{Status, Task, TaskId};
use crate::request::Selection;

/// The tasks that arguments name, each once.
pub fn ids(app: &App, texts: &[String]) -> Result<Vec<TaskId>, AppError> {
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = app.task_id(text)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The newest task of a user, for a command line that names no task, and a line on stderr that names it. Without `user` it is
/// the user of the task around this process, else the calling account.
pub fn newest(app: &App, user: Option<&str>, account: Account, console: &mut Console) -> Result<TaskId, AppError> {
    let inside = || app.inside.as_ref().and_then(|inside| inside.user.clone());
    let user = match user.map(str::to_owned).or_else(inside) {
        Some(user) => name("user", &user)?.to_string(),
        None => account()?,
    };
    let Some(id) = newest_task(app, Some(&user))? else {
        return Err(AppError::no_task(format!("no task is named, and user \"{user}\" has none")));
    };
    let command = brief::command(&app.existing(id)?.command);
    console.progress(&format!("luzia: {id} \"{command}\", the newest task of user \"{user}\""));
    Ok(id)
}

/// The tasks that are named, or those that are selected, in the order of their numbers. Also the question to ask before the
/// command acts on the selected tasks. `can` gives the states on which the command can be used.
pub fn chosen(
    app: &App,
    texts: &[String],
    selection: &Selection,
    can: impl Fn(Status) -> bool,
    verb: &str,
) -> Result<(Vec<TaskId>, Option<Question>), AppError> {
    chosen_of(app, texts, selection, can, &|_| true, verb)
}

/// As [`chosen`], for a command that can be used only on the tasks for which `wants` is true.
pub fn chosen_of(
    app: &App,
    texts: &[String],
    selection: &Selection,
    can: impl Fn(Status) -> bool,
    wants: &dyn Fn(&Task) -> bool,
    verb: &str,
) -> Result<(Vec<TaskId>, Option<Question>), AppError> {
    if !texts.is_empty() {
        let ids = ids(app, texts)?;
        ids.iter().try_for_each(|id| app.existing(*id).map(drop))?;
        return Ok((ids, None));
    }
    let wanted = &selection.states;
    if let Some(wrong) = wanted.iter().find(|status| !can(**status)) {
        return Err(AppError::usage(format!("luzia {verb} does not work on a {wrong} task; nothing was changed")));
    }
    let states = if wanted.is_empty() {
        Status::ALL.into_iter().filter(|status| can(*status)).collect()
    } else {
        wanted.clone()
    };
    let user = selection.user.as_deref().map(|user| name("user", user)).transpose()?;
    let lane = selection.lane.as_deref().map(|lane| named_lanes(app, lane)).transpose()?;
    let (label, key) = (selection.label.clone(), selection.key.clone());
    let filter = Filter { all: true, states, user, lane, label, key, ..Filter::default() };
    let mut ids = Vec::new();
    // `doctor` reports a damaged record.
    list(app, &filter, &mut |found| {
        ids.extend(found.ok().filter(wants).map(|task| task.id));
        true
    })?;
    ids.sort_unstable();
    if ids.is_empty() {
        return Err(AppError::new(Code::NoTaskChosen, "there is no such task; nothing was changed".to_owned())
            .hint("`luzia list -a` shows every task")
            .next("luzia list -a"));
    }
    let (tasks, what) = match ids.as_slice() {
        [one] => (one.to_string(), "it"),
        several => (format!("{} tasks, {} to {}", several.len(), several[0], several[several.len() - 1]), "them"),
    };
    let question = Question::of_chosen(format!("{verb} would act on {tasks}"), format!("{verb} {what}"));
    Ok((ids, Some(question)))
}

/// Does one thing to each task. The first refusal decides the exit code. Neither a refusal nor an answer that cannot be
/// written keeps the other tasks from their turn.
pub fn each(
    ids: &[TaskId],
    schema: &str,
    console: &mut Console,
    mut act: impl FnMut(TaskId) -> Result<Task, AppError>,
) -> anyhow::Result<()> {
    let (mut items, mut refused, mut unread) = (Vec::new(), None, None);
    for (done, id) in ids.iter().enumerate() {
        if ids.len() > 1 {
            console.live(&format!("luzia: {} tasks; {schema} {id}", bar(done as u64, ids.len() as u64)));
        }
        match act(*id) {
            Ok(task) if console.is_json() => items.push(json::task(&task)),
            Ok(task) if console.format == OutputFormat::Name => {
                if let (None, Err(stop)) = (&unread, console.out(&format!("{}\n", task.id))) {
                    unread = Some(stop);
                }
            }
            Ok(task) => console.say(&format!("{} {}", task.id, task.status())),
            Err(error) if refused.is_none() => refused = Some(error),
            Err(error) => {
                let _ = console.report(&error);
            }
        }
    }
    if console.is_json() && (refused.is_none() || !items.is_empty()) {
        unread = console.items(schema, items).err();
    }
    match (refused, unread) {
        (Some(error), _) => Err(error.into()),
        (None, Some(stop)) => Err(stop.into()),
        (None, None) => Ok(()),
    }
}

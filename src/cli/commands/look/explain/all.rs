//! `luzia explain` without a target: every task and every caller that waits, and the reason of each.

use crate::app::query::explain::{Reasons, reasons};
use crate::app::query::list::{Filter, all_waiters, list};
use crate::app::waits::open_wait;
use crate::app::{App, AppError};
use crate::cli::args::OutputFormat;
use crate::cli::commands::look::status::waiters_json;
use crate::cli::output::console::Console;
use crate::cli::output::escape::escape_lines;
use crate::cli::output::lane::Lanes;
use crate::cli::output::lock::waiters_text;
use crate::cli::output::task::task_json;
use crate::cli::output::{brief, json, messages};
use crate::model::{Status, Task};
use serde_json::Value;

/// Number of tasks that are explained where the command line gives none.
pub(super) const MOST_TASKS: usize = 20;

/// A task that waits.
struct Waiting {
    /// The reason, as a sentence.
    why: String,
    /// The task and the reason, as JSON.
    json: Value,
    task: Task,
}

/// Prints the first tasks that wait, in the order of `luzia list`, and the callers that wait for lanes.
pub(super) fn run(limit: usize, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (tasks, has_more) = waiting(limit, app, console)?;
    match console.format {
        OutputFormat::Name => {
            let names: String = tasks.iter().map(|one| format!("{}\n", one.task.id)).collect();
            console.out(&names)?;
        }
        OutputFormat::Jsonl => tasks.iter().try_for_each(|one| console.line("list", &one.json))?,
        OutputFormat::Json => {
            let items: Vec<Value> = tasks.into_iter().map(|one| one.json).collect();
            let members = [("items", items.into()), ("more", has_more.into()), ("waiters", waiters_json(app)?)];
            console.document(&json::document("explain", members))?;
        }
        _ => {
            let (mut text, lanes) = (String::new(), Lanes::of_out(app, console));
            for one in &tasks {
                text += &format!("{} of user \"{}\" waits: {}\n", one.task.id, one.task.user, lanes.shown(&one.why));
            }
            for (lane, waiters) in all_waiters(app)? {
                let waiters = waiters_text(&waiters, console.now).unwrap_or_default();
                text += &format!("lane \"{}\": {waiters}\n", lanes.shown(&lane));
            }
            if text.is_empty() && !has_more {
                console.say("nothing waits");
            }
            console.out(&escape_lines(&text))?;
            if has_more {
                console.hint(&format!("more tasks wait: `luzia explain -n {}`", limit.saturating_mul(10).max(1)));
            } else if let Some(first) = tasks.first() {
                console.hint(&format!("`luzia explain {}` says more, with the commands that help", first.task.id));
            }
        }
    }
    Ok(())
}

/// The first tasks that wait, and whether more do. A damaged record is reported.
fn waiting(limit: usize, app: &App, console: &mut Console) -> Result<(Vec<Waiting>, bool), AppError> {
    let mut reasons = reasons(app)?;
    let (mut found, mut has_more, mut failed) = (Vec::new(), false, None);
    list(app, &Filter::default(), &mut |task| {
        let task = match task {
            Ok(task) => task,
            Err(error) => {
                console.say(&format!("warning: {error}"));
                return true;
            }
        };
        match why(&mut reasons, app, task, console) {
            Ok(Some(_)) if found.len() >= limit => has_more = true,
            Ok(waits) => found.extend(waits),
            Err(error) => failed = Some(error),
        }
        !has_more && failed.is_none()
    })?;
    failed.map_or(Ok((found, has_more)), Err)
}

/// The reason why a task waits, if it does. A running task may wait for space or because it is paused.
fn why(reasons: &mut Reasons<'_>, app: &App, task: Task, console: &Console) -> Result<Option<Waiting>, AppError> {
    let obstacle = if task.status() == Status::Waiting { None } else { reasons.first_obstacle(&task)? };
    let why = match (&obstacle, task.status()) {
        (Some(obstacle), _) => {
            let (text, _) = messages::obstacle_text(obstacle, &task, console.now);
            format!("{text} [{}]", obstacle.word())
        }
        (None, Status::Pending) => "it starts at the next scheduling pass".to_owned(),
        // `explain TASK` reports a damaged wait.
        (None, Status::Waiting) => match open_wait(app, task.id).ok().flatten() {
            Some(open) => brief::wait(&open, console.now),
            None => "it goes on at the next scheduling pass".to_owned(),
        },
        (None, _) => return Ok(None),
    };
    let json = task_json(app, &task, obstacle, None, console)?;
    Ok(Some(Waiting { why, json, task }))
}

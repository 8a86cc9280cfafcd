//! Work of others that a command would end or take away: then a person is asked first (P10).

use crate::app::processes::{is_around_or_child, is_same, key_of_process};
use crate::app::{App, AppError, shell_word};
use crate::model::{LaneName, LockKind, Status, Task, TaskId, Who};
use crate::policy::agent::{Sides, is_foreign};
use crate::store::LockView;

/// A question to a person before work of others, or of many, is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The fact on which the answer depends, e.g. the owner of the work.
    pub fact: String,
    /// The act in question, e.g. `end it`.
    pub act: String,
    /// The hint if no person can be asked.
    pub hint: &'static str,
}

impl Question {
    /// A question about work of others.
    fn of_foreign(fact: String, act: String) -> Self {
        Self { fact, act, hint: "leave it to its owner; if its owner agrees, add --yes" }
    }

    /// A question about tasks that options select.
    pub fn of_chosen(fact: String, act: String) -> Self {
        Self { fact, act, hint: "look at the tasks with `luzia list`; add --yes to act on all of them" }
    }

    /// The question as a person reads it.
    pub fn text(&self) -> String {
        format!("{}; {}?", self.fact, self.act)
    }
}

/// The form of a request for a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Whether the holder is named, by its name or its lock id.
    pub is_named: bool,
    /// `--force`.
    pub force: bool,
}

/// The question to ask before a cancel or a pause that would end or stop, as `verb` says, running work of others. `account`
/// is the name of the account that calls.
pub fn foreign_question(app: &App, verb: &str, ids: &[TaskId], account: &str) -> Result<Option<Question>, AppError> {
    let mut foreign = Vec::new();
    for id in ids {
        let task = app.existing(*id)?;
        let runs = matches!(task.status(), Status::Running | Status::Waiting);
        if runs && !is_around_or_child(app, &task) && is_foreign_task(app, &task, account) {
            foreign.push(task);
        }
    }
    Ok((!foreign.is_empty()).then(|| asked_of(verb, &foreign)))
}

/// The question before a change of running tasks of others.
pub(crate) fn question_of(app: &App, verb: &str, ids: &[TaskId]) -> Result<Question, AppError> {
    let tasks = ids.iter().map(|id| app.existing(*id)).collect::<Result<Vec<_>, _>>()?;
    Ok(asked_of(verb, &tasks))
}

/// The question to ask before a release that would take a lease of others, or end a living holder by force.
pub fn release_question(app: &App, lane: &LaneName, asked: Asked, account: &str) -> Result<Option<Question>, AppError> {
    if asked.is_named && !asked.force {
        return Ok(None);
    }
    let living = |view: &LockView| view.verdict.is_live();
    let holders = match &app.fleet {
        Some(fleet) => fleet.holds(Some(lane))?,
        None => app.holders(lane)?,
    };
    let Some(view) = holders.into_iter().find(living) else { return Ok(None) };
    let is_lease = view.record().is_some_and(|record| record.kind == LockKind::Lease);
    // Without force, the lock of a living process is refused anyway.
    let ends = asked.force || is_lease;
    if !ends || !is_foreign_lock(app, &view, asked.force, account)? {
        return Ok(None);
    }
    let holder = view.shown().unwrap_or_else(|| "an unknown holder".to_owned());
    // A session goes on without its lease.
    let is_session = view.record().is_some_and(|record| record.kind == LockKind::Session);
    Ok(Some(match asked.force && !is_session {
        true => Question::of_foreign(
            format!("{holder} holds lane \"{lane}\" and belongs to somebody else"),
            "end it".to_owned(),
        ),
        false => Question::of_foreign(
            format!("the lease of {holder} on lane \"{lane}\" belongs to somebody else"),
            "take it".to_owned(),
        ),
    }))
}

fn is_foreign_task(app: &App, task: &Task, account: &str) -> bool {
    let holder = Who::of(task.agent.as_ref(), &[], None);
    let same_agent = is_same(app, &holder, task.asked_by.as_deref());
    // An agent that gives no session has no more than its name.
    let is_namesake = app.agent.is_some() && app.agent == task.agent && holder.session.is_none();
    let same_agent = same_agent.or(is_namesake.then_some(true));
    is_foreign(Sides { same_agent, caller: calling_user(app, account), holder: Some(task.user.as_str()) })
}

fn is_foreign_lock(app: &App, view: &LockView, force: bool, account: &str) -> Result<bool, AppError> {
    let task = view.holder().and_then(TaskId::parse);
    if let Some((_, task)) = task.map(|id| app.find(id)).transpose()?.flatten() {
        return Ok(!is_around_or_child(app, &task) && is_foreign_task(app, &task, account));
    }
    let record = view.record();
    let holder = record.map(|record| record.who.clone()).unwrap_or_default();
    // The process of a `luzia lock` lives, and so do those above it; a lease records its asker.
    let of_process = record.filter(|record| record.kind == LockKind::Process).and_then(|record| record.pid);
    let asked_by = match of_process {
        // The process of a command that has ended is gone. A process that it left behind keeps the lane for the asker.
        Some(pid) => key_of_process(app, pid).or_else(|| holder.asked_by.clone()),
        None => record.and_then(|record| record.who.asked_by.clone()),
    };
    let same_agent = is_same(app, &holder, asked_by.as_deref());
    let user = view.lane.as_ref().filter(|lane| lane.is_user()).map(|lane| lane.key().as_str());
    // Force ends living work, so a holder whose user is unknown counts as a holder of another user.
    let holder = if force { user.or(Some("")) } else { user };
    Ok(is_foreign(Sides { same_agent, caller: calling_user(app, account), holder }))
}

/// The user of the caller: that of the task inside which it runs, else its account.
fn calling_user<'a>(app: &'a App, account: &'a str) -> &'a str {
    app.inside.as_ref().and_then(|inside| inside.user.as_deref()).unwrap_or(account)
}

fn asked_of(verb: &str, tasks: &[Task]) -> Question {
    let owner = |task: &Task| {
        task.agent.as_ref().map_or_else(|| format!("user {}", task.user), |agent| format!("agent {}", agent.name))
    };
    let fact = |task: &Task| format!("{} \"{}\" belongs to {}", task.id, words(task), owner(task));
    let what = if tasks.len() == 1 { "it" } else { "them" };
    Question::of_foreign(tasks.iter().map(fact).collect::<Vec<_>>().join(", "), format!("{verb} {what}"))
}

/// The command of a task in one short line.
fn words(task: &Task) -> String {
    let line = task.command.iter().map(shell_word).collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

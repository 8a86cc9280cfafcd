//! The meaning of a bare word where a user or a lane is asked for: a user, never a lane (contract, section 4).

use crate::app::query::list::{Filter, list};
use crate::app::{App, AppError, config_reload};
use crate::model::control::Held;
use crate::model::lane::BUILT_IN;
use crate::model::queue::{QueueName, digest};
use crate::model::{LaneName, Task};
use std::collections::BTreeMap;

/// Number of waiting tasks that are looked at for a lane, and most queues in which that is done.
const MOST_WAITING: usize = 200;
const MOST_QUEUES: usize = 200;

/// Refuses a bare word that was read as an unknown user, while the lane of that name is in use.
pub(crate) fn check_word(app: &App, word: &str, read: &LaneName) -> Result<(), AppError> {
    if !read.is_user() || word.contains(':') {
        return Ok(());
    }
    // Not every command reads the rules. Invalid rules do not decide about the word.
    let _ = config_reload::follow_control(app);
    if mark_of(app, read).is_some() {
        return Ok(());
    }
    let Ok(lane) = LaneName::parse(word) else { return Ok(()) };
    let mark = match mark_of(app, &lane) {
        None if is_waited_for(app, &lane)? => "has a waiting task",
        None => return Ok(()),
        Some(mark) => mark,
    };
    // A task of the user is kept, perhaps a finished one.
    if any_task(app, &Filter { all: true, user: Some(read.key().clone()), ..Filter::default() }, |_| true)? {
        return Ok(());
    }
    let message = format!("\"{word}\" would be a user of whom luzia knows nothing, and the lane of that name {mark}");
    Err(AppError::usage(message).hint(format!("write lane:{word} for the lane, or user:{word} for the user")))
}

/// Whether luzia knows a lane by a rule, a pause, a lock, a task that is kept, or as the lane of a user for whom it has worked.
/// The lane of a user also counts as known when the lane of the same word does.
pub fn is_known(app: &App, lane: &LaneName) -> Result<bool, AppError> {
    if let Some(fleet) = &app.fleet {
        return Ok(fleet.rules(lane)?.is_some());
    }
    let word = lane.key().as_str();
    let of_word = LaneName::parse(word).ok().filter(|_| lane.is_user());
    let lanes: Vec<&LaneName> = std::iter::once(lane).chain(&of_word).collect();
    let is_user_seen = || app.store.known_users().unwrap_or_default().iter().any(|user| user == lane.key());
    if lanes.iter().any(|lane| is_built_in(lane) || mark_of(app, lane).is_some()) || lane.is_user() && is_user_seen() {
        return Ok(true);
    }
    let is_of = |task: &Task| {
        lane.is_user() && task.user == *lane.key() || task.all_lanes().iter().any(|taken| lanes.contains(&taken))
    };
    any_task(app, &Filter { all: true, ..Filter::default() }, is_of)
}

fn is_built_in(lane: &LaneName) -> bool {
    BUILT_IN.iter().any(|word| lane.is_bare(word))
}

/// A sign that a user or a lane is in use, found without a look at tasks.
fn mark_of(app: &App, lane: &LaneName) -> Option<&'static str> {
    let (config, control) = (config_reload::config(app), config_reload::control(app));
    let is_held_back = control.standing(app.host.now()).any(|hold| hold.held == Held::Lane(lane.clone()));
    let of_projects = config.projects.values().filter_map(|project| project.user.as_ref());
    let is_listed = lane.is_user() && config.users_known.iter().chain(of_projects).any(|user| user == lane.key());
    let marks = [
        (is_listed || config.lanes.contains_key(&lane.to_string()), "has a rule"),
        (is_held_back, "is paused"),
        (app.store.is_taken(lane), "has a lock"),
    ];
    marks.into_iter().find_map(|(is_so, mark)| is_so.then_some(mark))
}

/// Whether a task waits for a lane, as far as the first waiting tasks show. Of very many queues only the names are looked at.
fn is_waited_for(app: &App, lane: &LaneName) -> Result<bool, AppError> {
    if !app.store.has_layout()? {
        return Ok(false);
    }
    let queues: Vec<String> = app.store.lanes_with_work()?.into_values().flat_map(BTreeMap::into_keys).collect();
    let alone = digest(&lane.to_string());
    let is_alone = |queue: &&String| QueueName::parse(queue).is_some_and(|name| name.lanes == Some(alone.as_str()));
    for queue in queues.iter().filter(is_alone) {
        if app.store.any_of_queue(queue)?.is_some() {
            return Ok(true);
        }
    }
    if queues.len() > MOST_QUEUES {
        return Ok(false);
    }
    let waiting = app.store.pending_tasks(None)?.take(MOST_WAITING).chain(app.store.started_tasks());
    // `doctor` reports a damaged record.
    Ok(waiting.flatten().any(|task| task.lanes.contains(lane)))
}

/// Whether a task of a filter is one of those that are meant. Damaged records are passed over.
fn any_task(app: &App, filter: &Filter, is_meant: impl Fn(&Task) -> bool) -> Result<bool, AppError> {
    let mut found = false;
    list(app, filter, &mut |task| {
        found |= task.is_ok_and(|task| is_meant(&task));
        !found
    })?;
    Ok(found)
}

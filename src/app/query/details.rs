//! Data that `show` looks up beside the record of a task: its directory, its logs, the lock files it holds, and its events.

use crate::app::query::events;
use crate::app::query::events::{Filter, Record, Wanted};
use crate::app::{App, AppError};
use crate::model::{Status, Task};
use crate::store::{STDERR_LOG, STDOUT_LOG};
use serde_json::Value;

/// Number of events of a task that are shown: the newest.
const MOST_EVENTS: usize = 40;

/// Number of holders that are shown among those for which a task waited.
const MOST_WAITED_FOR: usize = 5;

/// Facts about a task beside its record.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Its directory, at its present place.
    pub folder: Option<String>,
    /// Its logs: stream, path and bytes.
    pub logs: Vec<(&'static str, String, u64)>,
    /// The locks it holds: lane and lock file.
    pub locks: Vec<(String, String)>,
    /// Its newest events, the oldest first.
    pub events: Vec<Record>,
    /// Number of events before those.
    pub earlier_events: usize,
    /// The last holders for which it waited, each with the lane of the task that it gave back before the task began.
    pub waited_for: Vec<(String, String)>,
}

/// Facts about a task beside its record.
pub fn details(app: &App, task: &Task) -> Result<Details, AppError> {
    let mut details = Details::default();
    // A directory of a project that cannot be opened does not fail the rest.
    if let Ok(Some(conductor)) = app.run_dir.conductor(&task.conductor_dir, false) {
        details.folder = conductor.folder_of(task.id).ok().flatten();
        for (stream, name) in [("stdout", STDOUT_LOG), ("stderr", STDERR_LOG)] {
            // A log that is a link, or that the command has removed, does not fail the rest either.
            let log = conductor.read_log(task.id, name).ok().flatten();
            if let (Some(folder), Some(meta)) = (&details.folder, log.and_then(|log| log.meta().ok())) {
                details.logs.push((stream, format!("{folder}/{name}"), meta.size));
            }
        }
    }
    if matches!(task.status(), Status::Running | Status::Waiting) {
        let own = task.id.to_string();
        for lane in task.all_lanes() {
            let held = app.holders(&lane)?.into_iter().filter(|view| view.holder() == Some(own.as_str()));
            let path = |path: String| format!("{}/{path}", app.store_path());
            details.locks.extend(held.map(|view| (lane.to_string(), path(view.path()))));
        }
    }
    let filter = Filter { tasks: [task.id].into(), ..Filter::default() };
    let mut events = std::collections::VecDeque::new();
    let count = events::events(app, &Wanted { filter, ..Wanted::default() }, &mut |record| {
        if events.len() == MOST_EVENTS {
            events.pop_front();
        }
        events.push_back(record.clone());
        true
    })?;
    details.earlier_events = usize::try_from(count).unwrap_or(usize::MAX) - events.len();
    details.events = events.into();
    details.waited_for = waited_for(app, task)?;
    Ok(details)
}

/// The holders for which a task waited, as far as events are kept. Each gave back a lane of the task between the begin of the
/// wait and the latest start of the task. `global`, which every task has, is left out.
fn waited_for(app: &App, task: &Task) -> Result<Vec<(String, String)>, AppError> {
    let Some(begin) = task.last_start.as_ref().map(|start| start.at) else { return Ok(Vec::new()) };
    let since = task.due_since();
    let own: Vec<String> = task.all_lanes().iter().filter(|lane| !lane.is_global()).map(ToString::to_string).collect();
    let mut found: Vec<(String, String)> = Vec::new();
    app.store.visit_events(since, &mut |event| {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let data = event.line.get("data");
        let (holder, lanes) = match event.line.get("event").and_then(Value::as_str) {
            Some("released") => (text(event.line.get("task")), data.and_then(|data| data.get("lanes")).cloned()),
            Some("lock_released" | "lock_broken") => {
                let holder = data.and_then(|data| data.get("holder"));
                (text(holder), event.line.get("lane").map(|lane| Value::from(vec![lane.clone()])))
            }
            _ => (None, None),
        };
        let is_given = |lane: &&String| {
            lanes.as_ref().and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == lane.as_str()))
        };
        if let (Some(holder), Some(lane)) = (holder, own.iter().find(is_given))
            && event.at <= begin
            && holder != task.id.to_string()
        {
            found.retain(|(known, _)| *known != holder);
            found.push((holder, lane.clone()));
            found.drain(..found.len().saturating_sub(MOST_WAITED_FOR));
        }
        event.at <= begin
    })?;
    Ok(found)
}

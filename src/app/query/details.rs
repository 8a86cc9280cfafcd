//! Facts about a task or a lock beside its record.
//! `details` gives the facts that `show` has of a task: its directory, its logs, the lock files it holds, and its events.
//! `evidence_of` gives the evidence whether the holder of a lock lives. `standstill` gives the reason why a claimed task does
//! nothing: it is paused, or its start or its result waits for a host that is short of space.

use crate::app::query::events;
use crate::app::query::events::{Filter, Record, Wanted};
use crate::app::{App, AppError, Pause};
use crate::model::control::TaskHold;
use crate::model::evidence::Reason;
use crate::model::time::format_duration;
use crate::model::who::{MOST_BYTES, clean};
use crate::model::{LaneName, Status, Task};
use crate::os::FileSystem;
use crate::policy::admission::{Obstacle, Room};
use crate::store::{LockView, RunPause, STDERR_LOG, STDOUT_LOG, Short};
use serde_json::Value;
use std::path::Path;

/// Number of events of a task that are shown: the newest.
const MOST_EVENTS: usize = 40;

/// Number of the last holders for which a task waited that are shown.
const MOST_WAITED_FOR: usize = 5;

/// Facts about a task beside its record.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// The directory of the task, at its present place.
    pub folder: Option<String>,
    /// The logs of the task: stream, path and bytes.
    pub logs: Vec<(&'static str, String, u64)>,
    /// The locks that the task holds: lane and lock file.
    pub locks: Vec<(String, String)>,
    /// The newest events of the task, the oldest first.
    pub events: Vec<Record>,
    /// Number of events before the newest ones.
    pub earlier_events: usize,
    /// The last holders for which the task waited, each with the lane of the task that it gave back before the task began.
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

/// The evidence whether a holder lives. For a command that has ended and left processes behind, it names those processes.
pub fn evidence_of(app: &App, view: &LockView) -> String {
    let why = view.verdict.why();
    if let Some(text) = host_text(view) {
        return text;
    }
    let (Reason::LeftBehind, Some(lane)) = (why, &view.lane) else { return why.text().to_owned() };
    let ended = view.record().and_then(|record| record.ended);
    let ago = ended.map_or(0, |ended| app.host.now().saturating_ms_since(ended));
    let users = users_text(app, lane, view.slot);
    let have = if users.contains(" and ") { "have" } else { "has" };
    format!("its command ended {} ago; {users} {have} the lock file open", format_duration(ago))
}

/// The host that has a lock in a store of several hosts, and whether its lease is in force.
pub fn host_text(view: &LockView) -> Option<String> {
    let why = view.verdict.why();
    let host = view.record()?.host.as_ref().filter(|_| matches!(why, Reason::HostLives | Reason::HostSilent))?;
    Some(format!("host \"{host}\" has it; {}", why.text()))
}

/// Number of processes that are named, of all that have a lock file open.
const MOST_USERS: usize = 3;

/// The processes that have a lock file open, in words.
pub(crate) fn users_text(app: &App, lane: &LaneName, slot: u32) -> String {
    let users = app.store.lock_file_users(lane, slot).unwrap_or_default();
    let name = |pid: u32| app.host.program_of(pid).and_then(|name| clean(&name, MOST_BYTES));
    let named: Vec<String> = users
        .iter()
        .take(MOST_USERS)
        .map(|user| match name(user.pid) {
            Some(name) => format!("process {} \"{name}\"", user.pid),
            None => format!("process {}", user.pid),
        })
        .collect();
    match (named.is_empty(), users.len() > MOST_USERS) {
        (true, _) => "a process that cannot be seen from here".to_owned(),
        (false, true) => format!("{} and others", named.join(", ")),
        (false, false) => named.join(" and "),
    }
}

/// The reason why a claimed task does nothing, as its supervisor shows it; `None` if it runs, or is not supervised.
pub fn standstill(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    if task.status() != Status::Running {
        return Ok(None);
    }
    let Some(short) = app.run_dir.shortage(task.id)? else { return paused_run(app, task) };
    let mut rooms = vec![room(app.store_path().to_owned(), app.store.file_system()?)];
    let logs = Path::new(&task.conductor_dir);
    // Its logs may be on another file system. `doctor` reports the faults there.
    if short == Short::Start
        && !logs.starts_with(app.store_path())
        && let Some((path, system)) = logs.ancestors().find_map(|path| system_of(app, path))
    {
        rooms.push(room(path, system));
    }
    Ok(Some(match short {
        Short::Start => Obstacle::StartWaits { rooms },
        Short::Result => Obstacle::ResultWaits { rooms },
    }))
}

/// Whether the task that holds a lock waits for space, so that nothing but space ends it.
pub(crate) fn is_short(app: &App, view: &LockView) -> bool {
    view.task().is_some_and(|id| matches!(app.run_dir.shortage(id), Ok(Some(_))))
}

/// The pause of a task whose processes are stopped for it.
fn paused_run(app: &App, task: &Task) -> Result<Option<Obstacle>, AppError> {
    let now = app.host.now();
    let stands = |pause: &RunPause| pause.is_in_effect && pause.hold.stands(now);
    let Some(pause) = app.store.run_pause(task.id)?.filter(stands) else { return Ok(None) };
    let TaskHold { since, until, reason, by, .. } = pause.hold;
    let pause = Pause { what: task.id.to_string(), since, until, reason, by };
    Ok(app.run_dir.is_supervised(task.id)?.then_some(Obstacle::Paused { pause }))
}

fn system_of(app: &App, path: &Path) -> Option<(String, FileSystem)> {
    let path = path.to_str()?;
    let conductor = app.run_dir.conductor(path, false).ok().flatten()?;
    Some((path.to_owned(), conductor.file_system().ok()?))
}

fn room(path: String, system: FileSystem) -> Room {
    Room { path, name: system.name, free_bytes: system.free_bytes, free_inodes: system.free_inodes }
}

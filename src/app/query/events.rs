//! The event log, and the facts that are computed from it.
//! `events` gives the events, the oldest first; with `-f` it follows later events, across segments and days. `holds_since` gives
//! the holders of lanes over time, for `timeline`. `actions` gives the actions of a task by its events; `checkpoint` gives its
//! place, and the state with which it would go on. `lane_stats` and `task_stats` are `stats`: waits and holds of lanes, their
//! depth, and the ends of tasks.

use super::lanes::lane_rows;
use crate::app::config_reload::config;
use crate::app::demo::Run;
use crate::app::demo::runs_of;
use crate::app::waits::{as_seen, memory, open_wait};
use crate::app::{App, AppError};
use crate::model::sorted::{map_of, sort_by_key};
use crate::model::task::Stepwise;
use crate::model::{LaneName, Status, Task, TaskId, Timestamp};
use crate::policy::analytics::course::{Course, Line, Step};
pub use crate::policy::analytics::course::{Line as ActionLine, Turn};
pub use crate::policy::analytics::record::{Filter, Record};
use crate::policy::analytics::stats::Replay;
pub use crate::policy::analytics::stats::{LaneStats, Spread, TaskStats};
use crate::policy::analytics::timeline::Holds;
pub use crate::policy::analytics::timeline::{Hold, RowOf, by_lane, rows, trace};
pub use crate::policy::analytics::trace::Tracer;
pub use crate::store::{KINDS, is_kind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Sleep of a follower between two looks. A look costs an open, a read and a close.
const LOOK: Duration = Duration::from_millis(200);
/// An event of a task may be older than the task by the time that two processes need for one change.
const BEFORE_TASK_MS: i64 = 60_000;

/// The events that are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The choice by content.
    pub filter: Filter,
    /// Only of tasks that the caller requested; the name is that of the caller's account.
    pub mine: Option<String>,
    /// Not before this moment.
    pub since: Option<Timestamp>,
    /// Follow later events, until every named task is over.
    pub follow: bool,
}

/// The receiver of events.
pub type Sink<'a> = dyn FnMut(&Record) -> bool + 'a;

/// The name of this host.
pub fn host(app: &App) -> String {
    app.host.name()
}

/// Gives events to `sink`, which returns whether to continue. Returns the number of events.
pub fn events(app: &App, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<u64, AppError> {
    if app.is_absent && !wanted.follow {
        return Ok(0);
    }
    let since = wanted.since.unwrap_or(first_event_of(app, &wanted.filter)?);
    let mut reader = app.store.events_from(since)?;
    let (mut owners, mut count, mut stopped) = (BTreeMap::new(), 0, false);
    loop {
        // Checked before the log is read, so that the log then has all events of a finished task.
        let is_over = wanted.follow && are_over(app, &wanted.filter)?;
        app.store.read_on(&mut reader, &mut |event| {
            let Some(record) = Record::of(event.at, &event.line).filter(|_| event.at >= since) else { return true };
            if !wanted.filter.lets(&record) || !is_mine(app, &record, wanted, &mut owners) {
                return true;
            }
            count += 1;
            stopped = !sink(&record);
            !stopped
        })?;
        if stopped || is_over || !wanted.follow {
            return Ok(count);
        }
        app.host.sleep(LOOK);
    }
}

/// The moment before which there is no event of the tasks that are named.
fn first_event_of(app: &App, filter: &Filter) -> Result<Timestamp, AppError> {
    let mut first = None;
    for id in &filter.tasks {
        let Some((_, task)) = app.find(*id)? else { return Ok(Timestamp::FIRST) };
        first = Some(first.map_or(task.created_at, |first: Timestamp| first.min(task.created_at)));
    }
    Ok(first.map_or(Timestamp::FIRST, |first| first.plus_ms(-BEFORE_TASK_MS)))
}

/// Whether tasks are named, and all of them are over.
fn are_over(app: &App, filter: &Filter) -> Result<bool, AppError> {
    for id in &filter.tasks {
        if app.find(*id)?.is_some_and(|(_, task)| !task.status().is_final()) {
            return Ok(false);
        }
    }
    Ok(!filter.tasks.is_empty())
}

/// Whether an event belongs to a task that this caller requested: in its session, inside its task, or, if neither is known,
/// by its account's user.
fn is_mine(app: &App, record: &Record, wanted: &Wanted, owners: &mut BTreeMap<TaskId, bool>) -> bool {
    let Some(account) = &wanted.mine else { return true };
    let Some(id) = record.task else { return app.agent.is_none() && record.is_of_user(account) };
    *owners.entry(id).or_insert_with(|| is_my_task(app, id, record, account))
}

fn is_my_task(app: &App, id: TaskId, record: &Record, account: &str) -> bool {
    let task = app.find(id).ok().flatten().map(|(_, task)| task);
    if let Some(inside) = &app.inside {
        return inside.task == id || task.is_some_and(|task| task.parent == Some(inside.task));
    }
    match app.agent.as_ref().and_then(|agent| agent.session.as_ref()) {
        Some(session) => task.and_then(|task| task.agent).and_then(|agent| agent.session).as_ref() == Some(session),
        None => record.is_of_user(account),
    }
}

/// The holds of lanes that lasted at a moment or later.
pub fn holds_since(app: &App, since: Timestamp) -> Result<Vec<Hold>, AppError> {
    if let Some(fleet) = &app.fleet {
        return fleet.holds_since(since);
    }
    let mut holds = Holds::default();
    visit_records(app, &mut |record| holds.take(record))?;
    Ok(holds.since(since))
}

/// The commands of tasks as runs in their rows. Times count from the first one.
pub fn runs_by(holds: &[Hold], row: RowOf, since: Timestamp, now: Timestamp) -> Vec<Run> {
    let begin = holds.iter().filter_map(|hold| hold.run).map(|(from, _)| from).min().unwrap_or(now).max(since);
    let ms = |at: Timestamp| at.saturating_ms_since(begin);
    let mut lines: Vec<(Timestamp, Value)> = Vec::new();
    for (hold, row) in holds.iter().filter_map(|hold| Some((hold, row(hold)?))) {
        let Some((from, to)) = hold.run.filter(|(_, to)| to.is_none_or(|to| to >= begin)) else { continue };
        let line = |event: &str, at: Timestamp| {
            (at, json!({ "event": event, "task": hold.holder, "user": row, "boot_ms": ms(at) }))
        };
        lines.push(line("dispatched", from.max(begin)));
        lines.push(match to {
            Some(to) if hold.end == "interrupted" => line("recovered", to),
            Some(to) => line("ended", to),
            // The run goes on: the moment is its end so far.
            None => line("started", now),
        });
    }
    sort_by_key(&mut lines, |(at, _)| *at);
    // One lane after another: a run is known by its task, and a task has several lanes.
    let mut rows: Vec<String> = lines.iter().filter_map(|(_, line)| line["user"].as_str().map(str::to_owned)).collect();
    rows.sort_unstable();
    rows.dedup();
    let of_row = |row: &String| runs_of(lines.iter().map(|(_, line)| line).filter(|line| line["user"] == **row));
    rows.iter().flat_map(of_row).collect()
}

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
pub(crate) fn ends_of_runs(app: &App, id: TaskId) -> Result<Vec<Line>, AppError> {
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
    sort_by_key(&mut history, |entry| entry["at"].as_str().unwrap_or_default().to_owned());
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

/// A lane by its events, and as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneLine {
    /// The name of the lane.
    pub name: String,
    /// By the events.
    pub stats: LaneStats,
    /// Tasks that wait for the lane now.
    pub depth: u64,
    /// Number of living holders of the lane now.
    pub active: u64,
    /// Number of holders that the lane may have; `u32::MAX` for no limit.
    pub limit: u32,
}

/// Tasks of one group.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskLine {
    /// Number of tasks.
    pub count: u64,
    /// Average age of unfinished ones, in milliseconds.
    pub age_ms: Option<u64>,
    /// The ends of the tasks, by their events.
    pub stats: TaskStats,
}

/// Statistics of lanes since a moment.
pub fn lane_stats(app: &App, since: Timestamp) -> Result<Vec<LaneLine>, AppError> {
    let limit = |lane: &str| limit_of(app, lane);
    let replay = replay(app, since, &limit)?;
    let now: BTreeMap<String, (u64, u64)> =
        map_of(lane_rows(app, None)?.rows.into_iter().map(|row| (row.name, (row.queue, row.active))));
    let mut stats = replay.lanes;
    for name in now.iter().filter(|(_, (depth, active))| depth + active > 0).map(|(name, _)| name) {
        stats.entry(name.clone()).or_default();
    }
    let line = |(name, stats): (String, LaneStats)| {
        let (depth, active) = now.get(&name).copied().unwrap_or_default();
        LaneLine { limit: limit(&name), depth, active, name, stats }
    };
    Ok(stats.into_iter().map(line).collect())
}

/// Unfinished tasks as they are, and those that ended since a moment, by state; and the number of repeated attempts.
pub fn task_stats(app: &App, since: Timestamp) -> Result<(BTreeMap<String, TaskLine>, u64), AppError> {
    let limit = |lane: &str| limit_of(app, lane);
    let replay = replay(app, since, &limit)?;
    let (mut lines, mut ages) = (BTreeMap::<String, TaskLine>::new(), BTreeMap::<String, u64>::new());
    if app.store.has_layout()? {
        let now = app.host.now();
        let started = app.store.started_tasks();
        for task in app.store.pending_tasks(None)?.chain(started) {
            // `doctor` reports a damaged record.
            let Ok(task) = task else { continue };
            if task.status().is_final() {
                continue;
            }
            let seen = as_seen(app, task);
            let name = seen.status().word().to_owned();
            let age = now.saturating_ms_since(seen.created_at);
            lines.entry(name.clone()).or_default().count += 1;
            *ages.entry(name).or_default() += age;
        }
    }
    for (name, age) in ages {
        let line = lines.entry(name).or_default();
        line.age_ms = age.checked_div(line.count);
    }
    for (name, stats) in replay.tasks {
        let count = stats.waits.len() as u64;
        lines.insert(name, TaskLine { count, age_ms: None, stats });
    }
    for status in Status::ALL {
        lines.entry(status.word().to_owned()).or_default();
    }
    Ok((lines, replay.requeued))
}

fn replay<'a>(app: &App, since: Timestamp, limit: &'a dyn Fn(&str) -> u32) -> Result<Replay<'a>, AppError> {
    let mut replay = Replay::new(since, limit);
    visit_records(app, &mut |record| replay.take(record))?;
    Ok(replay)
}

/// Gives the records of all events to `take`, the oldest first.
pub(super) fn visit_records(app: &App, take: &mut dyn FnMut(&Record)) -> Result<(), AppError> {
    if !app.is_absent {
        app.store.visit_events(Timestamp::FIRST, &mut |event| {
            Record::of(event.at, &event.line).iter().for_each(&mut *take);
            true
        })?;
    }
    Ok(())
}

fn limit_of(app: &App, lane: &str) -> u32 {
    LaneName::parse(lane).map_or(1, |lane| config(app).limit(&lane))
}

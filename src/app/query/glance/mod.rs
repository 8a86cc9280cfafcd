//! `top`: the lanes in use and the first tasks, each with its reasons, at a cost that does not grow with the queue.

use crate::app::estimate::{Estimate, QUICK, expected_starts};
use crate::app::query::explain::reasons;
use crate::app::query::lanes::{LaneRow, holders, lane_row, lanes_of};
use crate::app::query::list::{Filter, Stuck, list, stuck};
use crate::app::query::status::capacity;
use crate::app::waits::open_wait;
use crate::app::{App, AppError, Obstacle};
use crate::model::sorted::map_of;
use crate::model::{LaneName, Status, Task, TaskId, Timestamp};
use crate::store::OpenWait;
use std::collections::{BTreeMap, BTreeSet};

/// Number of waiting tasks, and of finished tasks, that are shown.
pub const MOST_SHOWN: usize = 500;
/// Number of bytes of the newest events in which tasks that are over are found.
const EVENT_BYTES: u64 = 256 * 1024;

/// The tasks that are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// Only the tasks that have started: the cheapest look.
    Started,
    /// The tasks that are not over.
    #[default]
    Unfinished,
    /// The tasks that ended last, the latest first.
    Ended,
}

/// A task as it is.
pub struct TaskNow {
    /// The task.
    pub task: Task,
    /// The first reason why the task does not start or end.
    pub obstacle: Option<Obstacle>,
    /// The reason why no process watches the task.
    pub stuck: Option<Stuck>,
    /// The event for which the task waits.
    pub wait: Option<OpenWait>,
    /// When the task is expected to start.
    pub estimate: Option<Estimate>,
}

/// A lane as it is.
pub struct LaneUse {
    /// The use and the rule of the lane. Of the tasks that wait, those of the look are counted.
    pub row: LaneRow,
    /// The time since which the first task of the lane is due.
    pub oldest: Option<Timestamp>,
}

/// One look.
#[derive(Default)]
pub struct Glance {
    /// Slots in use, and their number.
    pub slots: (u32, u32),
    /// The tasks, in the order of `list`.
    pub tasks: Vec<TaskNow>,
    /// Whether more tasks wait.
    pub has_more: bool,
    /// Number of records that cannot be read.
    pub unread: usize,
    /// The lanes that have a holder or a task, by name.
    pub lanes: Vec<LaneUse>,
}

/// Looks at the queue. Starts are estimated for the tasks at `estimated`.
pub fn glance(app: &App, which: Which, estimated: std::ops::Range<usize>) -> Result<Glance, AppError> {
    let capacity = capacity(app)?;
    let mut seen = Glance { slots: (capacity.used, capacity.max), ..Glance::default() };
    let mut reasons = reasons(app)?;
    for task in tasks(app, which, &mut seen)? {
        let waits = matches!(task.status(), Status::Pending | Status::Running);
        let obstacle = if waits { reasons.first_obstacle(&task)? } else { None };
        // `explain` reports a damaged wait.
        let wait = (task.status() == Status::Waiting).then(|| open_wait(app, task.id).ok().flatten()).flatten();
        let stuck = stuck(app, &task)?;
        seen.tasks.push(TaskNow { task, obstacle, stuck, wait, estimate: None });
    }
    let range = estimated.start.min(seen.tasks.len())..estimated.end.min(seen.tasks.len());
    let waiting = seen.tasks[range.clone()].iter().filter(|now| now.task.status() == Status::Pending);
    let waiting: Vec<_> = waiting.filter_map(|now| Some((&now.task, now.obstacle.as_ref()?))).collect();
    let starts = if waiting.is_empty() { BTreeMap::new() } else { expected_starts(app, waiting.into_iter(), QUICK)? };
    for now in &mut seen.tasks[range] {
        now.estimate = starts.get(&now.task.id).copied();
    }
    seen.lanes = lanes(app, &seen.tasks)?;
    Ok(seen)
}

fn tasks(app: &App, which: Which, seen: &mut Glance) -> Result<Vec<Task>, AppError> {
    if which == Which::Ended {
        return ended(app);
    }
    let states = if which == Which::Started { vec![Status::Running, Status::Waiting] } else { Vec::new() };
    let (mut tasks, mut waiting) = (Vec::new(), 0);
    list(app, &Filter { states, ..Filter::default() }, &mut |found| {
        match found {
            Ok(task) => {
                waiting += usize::from(task.status() == Status::Pending);
                seen.has_more = waiting > MOST_SHOWN;
                if !seen.has_more {
                    tasks.push(task);
                }
            }
            Err(_) => seen.unread += 1,
        }
        !seen.has_more
    })?;
    Ok(tasks)
}

/// The tasks of the newest ends in the event log that are still over.
fn ended(app: &App) -> Result<Vec<Task>, AppError> {
    let mut ids = Vec::new();
    app.store.recent_events(EVENT_BYTES, &mut |event| {
        let text = |name: &str| event.line.get(name).and_then(serde_json::Value::as_str);
        if text("event") == Some("finished") {
            ids.extend(text("task").and_then(TaskId::parse));
        }
        true
    })?;
    let mut known = BTreeSet::new();
    ids.reverse();
    ids.retain(|id| known.insert(*id));
    // `doctor` reports a damaged record.
    let tasks = ids.into_iter().filter_map(|id| app.find(id).ok().flatten()).map(|(_, task)| task);
    Ok(tasks.filter(|task| task.status().is_final()).take(MOST_SHOWN).collect())
}

/// The lanes of the tasks and of all holders, but not the one of all tasks.
fn lanes(app: &App, tasks: &[TaskNow]) -> Result<Vec<LaneUse>, AppError> {
    let active = holders(app)?;
    let mut waits: BTreeMap<String, (u64, Option<Timestamp>)> =
        map_of(active.keys().map(|name| (name.clone(), (0, None))));
    for TaskNow { task, .. } in tasks.iter().filter(|now| now.task.status() == Status::Pending) {
        for lane in lanes_of(task) {
            let (queue, oldest) = waits.entry(lane.to_string()).or_default();
            *queue += 1;
            *oldest = oldest.iter().copied().chain([task.due_since()]).min();
        }
    }
    waits.remove(&LaneName::global().to_string());
    let lane = |(name, (queue, oldest)): (String, (u64, Option<Timestamp>))| {
        let row = lane_row(app, &name, active.get(&name).copied().unwrap_or(0), queue);
        LaneUse { row, oldest }
    };
    Ok(waits.into_iter().map(lane).collect())
}

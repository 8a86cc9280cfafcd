//! `stats`: waits and holds of lanes, their depth, and the ends of tasks; computed from the event log.

use super::lanes::lane_rows;
use crate::app::config_reload::config;
use crate::app::waits::as_seen;
use crate::app::{App, AppError};
use crate::model::{LaneName, Status, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::analytics::stats::Replay;
use std::collections::BTreeMap;

pub use crate::policy::analytics::stats::{LaneStats, Spread, TaskStats};

/// A lane by its events, and as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneLine {
    /// Its name.
    pub name: String,
    /// By the events.
    pub stats: LaneStats,
    /// Tasks that wait for it now.
    pub depth: u64,
    /// Its living holders now.
    pub active: u64,
    /// Number of holders it may have; `u32::MAX` for no limit.
    pub limit: u32,
}

/// Tasks of one group.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskLine {
    /// Number of tasks.
    pub count: u64,
    /// Average age of unfinished ones, in milliseconds.
    pub age_ms: Option<u64>,
    /// Their ends, by their events.
    pub stats: TaskStats,
}

/// Statistics of lanes since a moment.
pub fn lane_stats(app: &App, since: Timestamp) -> Result<Vec<LaneLine>, AppError> {
    let limit = |lane: &str| limit_of(app, lane);
    let replay = replay(app, since, &limit)?;
    let now: BTreeMap<String, (u64, u64)> =
        lane_rows(app, None)?.rows.into_iter().map(|row| (row.name, (row.queue, row.active))).collect();
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

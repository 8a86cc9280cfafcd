//! `metrics`: counters add up every event since the state directory was made; gauges show the present state.

use super::list::locks;
use crate::app::admission::unfinished_before;
use crate::app::config_reload::{config, control};
use crate::app::pass::counted;
use crate::app::query::status;
use crate::app::{App, AppError, lock_state};
use crate::model::sorted::sort_by_key;
use crate::model::{LaneName, Status, Task, Tier, Timestamp};
pub use crate::policy::analytics::tally::{FAMILIES, samples};
use crate::policy::analytics::tally::{Gauges, OTHER, render, series};
use crate::policy::hold::pause_of;
use std::collections::BTreeMap;

/// Number of waiting tasks that are looked at for the gauges of lanes.
const MOST_LOOKED_AT: usize = 10_000;
/// Number of lanes with gauges of their own: those with most tasks. The other lanes are added up.
const MOST_LANES: usize = 500;

/// The tasks and holders of a lane.
#[derive(Default)]
struct LaneNow {
    depth: u64,
    active: u64,
    oldest: Option<Timestamp>,
}

/// The metrics in the text format of Prometheus.
pub fn metrics(app: &App) -> Result<String, AppError> {
    let counts = app.store.tally(&counted)?;
    let uid = app.host.owner();
    let account = app.host.account_name(uid).ok().flatten().unwrap_or_else(|| format!("uid-{uid}"));
    Ok(render(&counts, &gauges(app)?, &account))
}

fn gauges(app: &App) -> Result<Gauges, AppError> {
    let mut gauges = Gauges::new();
    gauges.insert("luzia_up".to_owned(), 1.0);
    gauges.insert(series("luzia_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    let overview = status::overview(app, 0)?;
    gauges.insert("luzia_slots_max".to_owned(), f64::from(overview.capacity.max));
    gauges.insert("luzia_slots_used".to_owned(), f64::from(overview.capacity.used));
    gauges.insert("luzia_dispatcher".to_owned(), f64::from(u8::from(overview.has_dispatcher)));
    gauges.insert("luzia_records_set_aside".to_owned(), float(overview.set_aside as u64));
    gauges.insert("luzia_paused".to_owned(), float(control(app).standing(app.host.now()).count() as u64));
    for tier in Tier::ALL {
        let labels = [("state", "pending"), ("tier", tier.word())];
        gauges.insert(series("luzia_tasks", &labels), float(overview.counts.pending[tier.index()]));
    }
    let of_status = |status| overview.active.iter().filter(|task| task.status() == status).count() as u64;
    for (state, count) in [
        ("parked", overview.counts.parked),
        ("running", of_status(Status::Running)),
        ("waiting", of_status(Status::Waiting)),
    ] {
        gauges.insert(series("luzia_tasks", &[("state", state)]), float(count));
    }
    lane_gauges(app, &mut gauges)?;
    let mut bytes = 0;
    for segment in app.store.event_segments()? {
        bytes += app.store.event_bytes(&segment)?;
    }
    gauges.insert("luzia_event_log_bytes".to_owned(), float(bytes));
    Ok(gauges)
}

fn lane_gauges(app: &App, gauges: &mut Gauges) -> Result<(), AppError> {
    let (mut lanes, mut is_complete) = (BTreeMap::<String, LaneNow>::new(), true);
    let mut states = BTreeMap::from([("held", 0), ("stale", 0), ("orphan", 0), ("overdue", 0)]);
    if app.store.has_layout()? {
        for view in locks(app)? {
            let state = lock_state(&view.verdict);
            *states.entry(state).or_default() += 1;
            if state != "stale" {
                lanes.entry(view.lane_name()).or_default().active += 1;
            }
        }
        is_complete = add_waiting(app, &mut lanes)?;
    }
    for (state, count) in states {
        gauges.insert(series("luzia_locks", &[("state", state)]), float(count));
    }
    gauges.insert("luzia_scrape_complete".to_owned(), f64::from(u8::from(is_complete)));
    let mut lanes: Vec<(String, LaneNow)> = lanes.into_iter().collect();
    sort_by_key(&mut lanes, |(_, lane)| std::cmp::Reverse(lane.depth + lane.active));
    let now = app.host.now();
    for (at, (name, lane)) in lanes.iter().enumerate() {
        let shown = if at < MOST_LANES { name.as_str() } else { OTHER };
        let labels = [("lane", shown)];
        *gauges.entry(series("luzia_lane_depth", &labels)).or_default() += float(lane.depth);
        *gauges.entry(series("luzia_lane_active", &labels)).or_default() += float(lane.active);
        let waited = lane.oldest.map_or(0, |oldest| now.saturating_ms_since(oldest));
        let oldest = gauges.entry(series("luzia_lane_oldest_waiting_seconds", &labels)).or_default();
        *oldest = oldest.max(float(waited) / 1000.0);
        let limit = LaneName::parse(name).map(|lane| config(app).limit(&lane)).unwrap_or(u32::MAX);
        if shown != OTHER && limit < u32::MAX {
            gauges.insert(series("luzia_lane_limit", &labels), f64::from(limit));
        }
    }
    Ok(())
}

/// Adds the pending tasks to their lanes. False when there were too many to look at all of them.
fn add_waiting(app: &App, lanes: &mut BTreeMap<String, LaneNow>) -> Result<bool, AppError> {
    let now = app.host.now();
    for (at, task) in app.store.pending_tasks(None)?.enumerate() {
        if at >= MOST_LOOKED_AT {
            return Ok(false);
        }
        // `doctor` reports a damaged record.
        let Ok(task) = task else { continue };
        let since = could_start_since(app, &task, now);
        for lane in task.all_lanes() {
            let lane = lanes.entry(lane.to_string()).or_default();
            lane.depth += 1;
            lane.oldest = lane.oldest.into_iter().chain(since).min();
        }
    }
    Ok(true)
}

/// The moment since which only lanes, slots and turns keep a task from starting; `None` if something else does.
fn could_start_since(app: &App, task: &Task, now: Timestamp) -> Option<Timestamp> {
    let is_kept = task.due_at.is_some_and(|due| due > now)
        || pause_of(task, &control(app).holds, now).is_some()
        || !unfinished_before(app, task).is_empty();
    (!is_kept).then(|| task.due_since())
}

/// Counts of files and bytes are far below what a float holds exactly.
#[allow(clippy::cast_precision_loss, reason = "numbers above 2^53 do not occur")]
fn float(count: u64) -> f64 {
    count as f64
}

//! `timeline`: holders of lanes over time, from the event log.

use super::stats::visit_records;
use crate::app::demo::{Run, runs_of};
use crate::app::{App, AppError};
use crate::model::Timestamp;
use crate::policy::analytics::timeline::Holds;
use serde_json::{Value, json};

pub use crate::policy::analytics::timeline::{Hold, by_lane, rows, trace};

/// The holds of lanes that lasted at a moment or later.
pub fn holds_since(app: &App, since: Timestamp) -> Result<Vec<Hold>, AppError> {
    let mut holds = Holds::default();
    visit_records(app, &mut |record| holds.take(record))?;
    Ok(holds.since(since))
}

/// The commands of tasks as runs, a row for each user, or for each lane. Times count from the first one.
pub fn runs_by(holds: &[Hold], by_lane: bool, since: Timestamp, now: Timestamp) -> Vec<Run> {
    let begin = holds.iter().filter_map(|hold| hold.run).map(|(from, _)| from).min().unwrap_or(now).max(since);
    let ms = |at: Timestamp| at.saturating_ms_since(begin);
    let mut lines: Vec<(Timestamp, Value)> = Vec::new();
    for hold in holds.iter().filter(|hold| by_lane || hold.lane == "global") {
        let Some((from, to)) = hold.run.filter(|(_, to)| to.is_none_or(|to| to >= begin)) else { continue };
        let row = if by_lane { Some(&hold.lane) } else { hold.user.as_ref() };
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
    lines.sort_by_key(|(at, _)| *at);
    // One lane after another: a run is known by its task, and a task has several lanes.
    let mut rows: Vec<String> = lines.iter().filter_map(|(_, line)| line["user"].as_str().map(str::to_owned)).collect();
    rows.sort_unstable();
    rows.dedup();
    let of_row = |row: &String| runs_of(lines.iter().map(|(_, line)| line).filter(|line| line["user"] == **row));
    rows.iter().flat_map(of_row).collect()
}

//! The counters that events increment. A counter is a whole number; times are counted in milliseconds. The count of an event
//! does not depend on earlier events, so counting can stop and go on anywhere.

use super::record::Record;
use crate::model::Task;
use std::collections::BTreeMap;

/// Counters by name and labels, as `luzia_steps_total{step="build"}`.
pub type Counts = BTreeMap<String, u64>;

/// Most values of the label of one counter. Further values count as [`OTHER`], so that foreign names cannot make a tally grow
/// for ever.
pub const MOST_SERIES: usize = 500;
/// The label for all further values.
pub const OTHER: &str = "_other";
/// The longest value of a label, in characters.
const MOST_LABEL: usize = 100;
/// The longest goal, in characters.
const MOST_GOAL: usize = 80;

/// Adds an event.
pub fn add(counts: &mut Counts, record: &Record) {
    bump(counts, "luzia_events_total", Some(("kind", &record.kind)), 1);
    let mut count = |name: &str| bump(counts, name, None, 1);
    match record.kind.as_str() {
        "enqueued" => {
            count("luzia_tasks_created_total");
            if record.text("parent").is_some() {
                count("luzia_children_spawned_total");
            }
        }
        "withdrawn" => count("luzia_tasks_withdrawn_total"),
        "requeued" => count("luzia_tasks_requeued_total"),
        "recovered" => count("luzia_tasks_recovered_total"),
        "alert" => count("luzia_alerts_total"),
        "lock_broken" => count("luzia_locks_broken_total"),
        "lock_acquired" => waited(counts, record, record.lane.iter()),
        "locked" => waited(counts, record, record.listed_lanes().iter()),
        "step" => {
            let step = Some(("step", record.text("step").unwrap_or_default()));
            bump(counts, "luzia_steps_total", step, 1);
            if record.data.get("exit_code").and_then(serde_json::Value::as_i64) != Some(0) {
                bump(counts, "luzia_steps_failed_total", step, 1);
            }
            took(counts, "luzia_step_duration_seconds", step, record.number("ran_ms").unwrap_or(0));
        }
        "finished" => finished(counts, record),
        _ => {}
    }
}

fn finished(counts: &mut Counts, record: &Record) {
    let status = record.text("status").unwrap_or_default();
    bump(counts, "luzia_tasks_finished_total", Some(("status", status)), 1);
    if matches!(status, "failed" | "timeout") {
        let goal = record.text("goal").unwrap_or_default();
        bump(counts, "luzia_tasks_failed_total", Some(("goal", goal)), 1);
    }
    if let Some(ran) = record.number("ran_ms") {
        took(counts, "luzia_task_run_seconds", None, ran);
    }
    if let Some(created) = record.text("created_at").and_then(crate::model::Timestamp::parse) {
        let lasted = record.at.saturating_ms_since(created);
        took(counts, "luzia_task_duration_seconds", None, lasted);
    }
}

/// The goal of a task, by which failures are counted: its own goal, the key of its lane `goal:KEY`, or its label, in this
/// order. Empty if it has none of the three.
pub fn goal_of(task: &Task) -> String {
    let named = || task.lanes.iter().find(|lane| lane.kind() == "goal").map(|lane| lane.key().to_string());
    let text = task.goal.clone().or_else(named).or_else(|| task.label.clone()).unwrap_or_default();
    text.chars().take(MOST_GOAL).collect()
}

fn waited<'a>(counts: &mut Counts, record: &Record, lanes: impl Iterator<Item = &'a String>) {
    let Some(ms) = record.number("waited_ms") else { return };
    for lane in lanes {
        took(counts, "luzia_lane_wait_seconds", Some(("lane", lane)), ms);
    }
}

/// Adds a time to a summary.
fn took(counts: &mut Counts, name: &str, label: Option<(&str, &str)>, ms: u64) {
    bump(counts, &format!("{name}_sum"), label, ms);
    bump(counts, &format!("{name}_count"), label, 1);
}

fn bump(counts: &mut Counts, name: &str, label: Option<(&str, &str)>, by: u64) {
    let mut key = series(name, label.as_slice());
    // The character `|` follows `{`, so the range covers every label.
    let known = || counts.range(format!("{name}{{")..format!("{name}|")).take(MOST_SERIES).count();
    if let Some((label, _)) = label
        && !counts.contains_key(&key)
        && known() >= MOST_SERIES
    {
        key = series(name, &[(label, OTHER)]);
    }
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(by);
}

/// A name with labels, in the text format.
pub fn series(name: &str, labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return name.to_owned();
    }
    let labels = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
    format!("{name}{{{}}}", labels.collect::<Vec<String>>().join(","))
}

/// The value of a label. Backslash, quotation mark and line feed are escaped; no other character needs it. A long value is cut.
pub fn escaped(value: &str) -> String {
    let short: String = value.chars().take(MOST_LABEL).collect();
    short.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;
    use serde_json::json;

    #[test]
    fn each_event_counts_where_it_should() {
        let mut counts = Counts::new();
        let lines = [
            json!({ "event": "enqueued", "data": { "priority": 5 } }),
            json!({ "event": "enqueued", "data": { "parent": "task_1" } }),
            json!({ "event": "locked", "data": { "lanes": ["user:a", "global"], "waited_ms": 1500 } }),
            json!({ "event": "lock_acquired", "lane": "user:a", "data": { "waited_ms": 500 } }),
            json!({ "event": "step", "data": { "step": "a\"b", "exit_code": 3, "ran_ms": 20 } }),
            json!({ "event": "finished", "data": { "status": "failed", "goal": "g", "ran_ms": 40,
                "created_at": "1970-01-01T00:00:01.000Z" } }),
            json!({ "event": "finished", "data": { "status": "cancelled" } }),
        ];
        lines.into_iter().for_each(|line| add(&mut counts, &record(3000, line)));
        counts.retain(|key, _| !key.starts_with("luzia_events_total"));
        let shown: Vec<String> = counts.iter().map(|(key, count)| format!("{key} {count}")).collect();
        let wanted = [
            "luzia_children_spawned_total 1",
            "luzia_lane_wait_seconds_count{lane=\"global\"} 1",
            "luzia_lane_wait_seconds_count{lane=\"user:a\"} 2",
            "luzia_lane_wait_seconds_sum{lane=\"global\"} 1500",
            "luzia_lane_wait_seconds_sum{lane=\"user:a\"} 2000",
            "luzia_step_duration_seconds_count{step=\"a\\\"b\"} 1",
            "luzia_step_duration_seconds_sum{step=\"a\\\"b\"} 20",
            "luzia_steps_failed_total{step=\"a\\\"b\"} 1",
            "luzia_steps_total{step=\"a\\\"b\"} 1",
            "luzia_task_duration_seconds_count 1",
            "luzia_task_duration_seconds_sum 2000",
            "luzia_task_run_seconds_count 1",
            "luzia_task_run_seconds_sum 40",
            "luzia_tasks_created_total 2",
            "luzia_tasks_failed_total{goal=\"g\"} 1",
            "luzia_tasks_finished_total{status=\"cancelled\"} 1",
            "luzia_tasks_finished_total{status=\"failed\"} 1",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn very_many_names_make_no_more_series_than_the_limit_and_lose_nothing() {
        let mut counts = Counts::new();
        for at in 0..MOST_SERIES + 50 {
            add(
                &mut counts,
                &record(0, json!({ "event": "step", "data": { "step": format!("s{at}"), "exit_code": 0 } })),
            );
        }
        let steps: Vec<(&String, &u64)> =
            counts.iter().filter(|(key, _)| key.starts_with("luzia_steps_total")).collect();
        assert_eq!(steps.len(), MOST_SERIES + 1);
        assert_eq!(steps.iter().map(|(_, count)| **count).sum::<u64>(), MOST_SERIES as u64 + 50);
        assert_eq!(counts[&series("luzia_steps_total", &[("step", OTHER)])], 50);
    }
}

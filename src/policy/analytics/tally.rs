//! Counters that events increment, and metrics in the text format of Prometheus.
//!
//! `add` counts an event. A counter is a whole number; times are counted in milliseconds. The count of an event does not depend
//! on earlier events, so counting can stop and go on anywhere. `render` writes the metrics in the text format 0.0.4 of
//! Prometheus: no timestamps, base units, one HELP and one TYPE for each family.

use super::record::Record;
use crate::model::Task;
use std::collections::BTreeMap;
use std::fmt::Write as _;

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

/// The kind of numbers of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The metric only grows.
    Counter,
    /// The metric goes up and down.
    Gauge,
    /// A sum of times and their number.
    Summary,
}

/// Every family: its name, its kind, whether its members have labels, and its help text.
pub const FAMILIES: [(&str, Kind, bool, &str); 31] = {
    use Kind::{Counter, Gauge, Summary};
    [
        ("luzia_alerts_total", Counter, false, "Failures of tasks that had failed twice before."),
        ("luzia_build_info", Gauge, true, "1, with the version of luzia that answers."),
        ("luzia_children_spawned_total", Counter, false, "Tasks that were queued inside another task."),
        ("luzia_dispatcher", Gauge, false, "1 when something would start pending tasks, else 0."),
        ("luzia_event_log_bytes", Gauge, false, "Size of the event log."),
        ("luzia_events_total", Counter, true, "Events that were written, by kind."),
        ("luzia_lane_active", Gauge, true, "Living holders of a lane."),
        ("luzia_lane_depth", Gauge, true, "Pending tasks that take a lane."),
        ("luzia_lane_limit", Gauge, true, "Number of holders of a lane at most; absent for a lane without a limit."),
        (
            "luzia_lane_oldest_waiting_seconds",
            Gauge,
            true,
            "Time for which the oldest task that could start has waited for a lane.",
        ),
        ("luzia_lane_wait_seconds", Summary, true, "Wait of those that got a lane."),
        ("luzia_locks", Gauge, true, "Locks by state: held, stale, orphan or overdue."),
        ("luzia_locks_broken_total", Counter, false, "Locks that were removed because their holder was dead."),
        ("luzia_paused", Gauge, false, "Pauses of the host, of users and of lanes that stand."),
        ("luzia_records_set_aside", Gauge, false, "Damaged records in spool/corrupt."),
        (
            "luzia_scrape_complete",
            Gauge,
            false,
            "1 when every pending task was looked at for the gauges of lanes, else 0.",
        ),
        ("luzia_slots_max", Gauge, false, "Number of tasks that may run at once."),
        ("luzia_slots_used", Gauge, false, "Number of tasks that run."),
        ("luzia_step_duration_seconds", Summary, true, "Run time of a step of a task."),
        ("luzia_steps_failed_total", Counter, true, "Steps of tasks that ended with another code than 0."),
        ("luzia_steps_total", Counter, true, "Steps of tasks that ended."),
        ("luzia_task_duration_seconds", Summary, false, "From the acceptance of a task to its end."),
        ("luzia_task_run_seconds", Summary, false, "Run time of the command of a task that is over."),
        ("luzia_tasks", Gauge, true, "Unfinished tasks by state; pending ones by tier, and parked."),
        ("luzia_tasks_created_total", Counter, false, "Tasks that were accepted."),
        ("luzia_tasks_failed_total", Counter, true, "Tasks that failed or ran out of time, by goal."),
        ("luzia_tasks_finished_total", Counter, true, "Tasks that are over, by state."),
        ("luzia_tasks_recovered_total", Counter, false, "Tasks whose supervisor had died."),
        ("luzia_tasks_requeued_total", Counter, false, "Attempts after which a task was queued again."),
        ("luzia_tasks_withdrawn_total", Counter, false, "Tasks that could not be accepted after all."),
        ("luzia_up", Gauge, false, "1; this answer is there."),
    ]
};

/// Gauges by name and labels, as the keys of [`Counts`].
pub type Gauges = BTreeMap<String, f64>;

/// The whole text. Every member carries the account of the queue as a label.
pub fn render(counts: &Counts, gauges: &Gauges, account: &str) -> String {
    let account = format!("account=\"{}\"", escaped(account));
    let mut text = String::new();
    for (name, kind, has_labels, help) in FAMILIES {
        let (word, members) = match kind {
            Kind::Counter => ("counter", vec![name.to_owned()]),
            Kind::Gauge => ("gauge", vec![name.to_owned()]),
            Kind::Summary => ("summary", vec![format!("{name}_sum"), format!("{name}_count")]),
        };
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {word}");
        for member in members {
            let is_time = member.ends_with("_seconds_sum");
            let of_events = members_of(counts, &member).map(|(labels, count)| (labels, number(*count, is_time)));
            let of_now = members_of(gauges, &member).map(|(labels, value)| (labels, value.to_string()));
            let mut samples: Vec<(String, String)> = of_events.chain(of_now).collect();
            if samples.is_empty() && !has_labels && kind != Kind::Gauge {
                samples.push((String::new(), "0".to_owned()));
            }
            for (labels, value) in samples {
                let _ = writeln!(text, "{member}{{{account}{labels}}} {value}");
            }
        }
    }
    text
}

/// One number of the text.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// The name of the number's series.
    pub name: String,
    /// The number's labels and their values.
    pub labels: Vec<(String, String)>,
    /// The number.
    pub value: f64,
}

/// The numbers of a text that [`render`] made.
pub fn samples(text: &str) -> Vec<Sample> {
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = series.strip_suffix('}')?.split_once('{')?;
        Some(Sample { name: name.to_owned(), labels: labels_of(labels), value: value.parse().ok()? })
    });
    samples.collect()
}

/// The labels of a series, such as `account="a",lane="b"`.
fn labels_of(text: &str) -> Vec<(String, String)> {
    let (mut labels, mut rest) = (Vec::new(), text);
    while let Some((label, quoted)) = rest.split_once("=\"") {
        let (mut value, mut chars) = (String::new(), quoted.chars());
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            let plain = if c == '\\' { chars.next().map(|c| if c == 'n' { '\n' } else { c }) } else { Some(c) };
            value.extend(plain);
        }
        labels.push((label.to_owned(), value));
        rest = chars.as_str().trim_start_matches(',');
    }
    labels
}

/// The members of a family: their labels behind a comma, and their values.
fn members_of<'a, V>(all: &'a BTreeMap<String, V>, name: &'a str) -> impl Iterator<Item = (String, &'a V)> {
    let near = all.range(name.to_owned()..).take_while(move |(key, _)| key.starts_with(name));
    near.filter_map(move |(key, value)| match key.strip_prefix(name)? {
        "" => Some((String::new(), value)),
        rest => {
            let inner = rest.strip_prefix('{')?.strip_suffix('}');
            Some((inner.map_or_else(String::new, |inner| format!(",{inner}")), value))
        }
    })
}

fn number(count: u64, is_time: bool) -> String {
    if is_time { format!("{}.{:03}", count / 1000, count % 1000) } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::super::tally::series;
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

    #[test]
    fn families_are_sorted_and_named_as_the_format_wants() {
        assert!(FAMILIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (name, kind, _, help) in FAMILIES {
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
            assert!(kind != Kind::Summary || name.ends_with("_seconds"), "{name}");
            assert!(help.ends_with('.') && !help.contains(['\\', '\n']), "{name}");
        }
    }

    #[test]
    fn the_text_has_every_family_once_and_its_members_below_it() {
        let mut counts = Counts::new();
        counts.insert("luzia_tasks_created_total".into(), 3);
        counts.insert(series("luzia_lane_wait_seconds_sum", &[("lane", "a")]), 61_005);
        counts.insert(series("luzia_lane_wait_seconds_count", &[("lane", "a")]), 2);
        let gauges =
            Gauges::from([("luzia_up".to_owned(), 1.0), (series("luzia_lane_depth", &[("lane", "q\"\\\n")]), 7.0)]);
        let text = render(&counts, &gauges, "al\"ice");
        for (name, ..) in FAMILIES {
            assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
        }
        for line in [
            "luzia_tasks_created_total{account=\"al\\\"ice\"} 3\n",
            "luzia_lane_wait_seconds_sum{account=\"al\\\"ice\",lane=\"a\"} 61.005\n",
            "luzia_lane_depth{account=\"al\\\"ice\",lane=\"q\\\"\\\\\\n\"} 7\n",
            "luzia_task_duration_seconds_count{account=\"al\\\"ice\"} 0\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("luzia_tasks_failed_total{"), "a label that nobody has is not made up");
        let read = samples(&text);
        assert_eq!(read.len(), text.lines().filter(|line| !line.starts_with('#')).count());
        let lane = read.iter().find(|sample| sample.name == "luzia_lane_depth").expect("a lane");
        let label = |label: &str, value: &str| (label.to_owned(), value.to_owned());
        assert_eq!(lane.labels, [label("account", "al\"ice"), label("lane", "q\"\\\n")]);
        assert_eq!(
            read.iter().find(|sample| sample.name.ends_with("wait_seconds_sum")).map(|it| it.value),
            Some(61.005)
        );
    }
}

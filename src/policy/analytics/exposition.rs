//! Metrics in the text format 0.0.4 of Prometheus: no timestamps, base units, one HELP and one TYPE for each family.

use super::tally::{Counts, escaped};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The kind of numbers of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
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
        ("luzia_event_log_bytes", Gauge, false, "How much the event log takes."),
        ("luzia_events_total", Counter, true, "Events that were written, by kind."),
        ("luzia_lane_active", Gauge, true, "Living holders of a lane."),
        ("luzia_lane_depth", Gauge, true, "Pending tasks that take a lane."),
        ("luzia_lane_limit", Gauge, true, "How many may hold a lane at once; absent for a lane without a limit."),
        (
            "luzia_lane_oldest_waiting_seconds",
            Gauge,
            true,
            "How long the oldest task that could start waits for a lane.",
        ),
        ("luzia_lane_wait_seconds", Summary, true, "How long a lane was waited for, by those that got it."),
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
        ("luzia_slots_max", Gauge, false, "How many tasks may run at once."),
        ("luzia_slots_used", Gauge, false, "How many tasks run."),
        ("luzia_step_duration_seconds", Summary, true, "How long a step of a task took."),
        ("luzia_steps_failed_total", Counter, true, "Steps of tasks that ended with another code than 0."),
        ("luzia_steps_total", Counter, true, "Steps of tasks that ended."),
        ("luzia_task_duration_seconds", Summary, false, "From the acceptance of a task to its end."),
        ("luzia_task_run_seconds", Summary, false, "How long the command of a task ran that is over."),
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
    /// The name of its series.
    pub name: String,
    /// Its labels and their values.
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
    use super::super::tally::series;
    use super::*;

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

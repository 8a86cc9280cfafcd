//! `luzia metrics`: the text format, what the numbers are, and that counters never go backwards.

use crate::support::Place;
use luzia::model::Timestamp;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The samples of a text, by series without the account; checks the format on the way.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let (mut found, mut typed) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(typed.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} has one type");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap();
        let (name, labels) = series.split_once('{').unwrap();
        let family = ["_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let kind = typed.get(family).or(typed.get(name)).unwrap_or_else(|| panic!("{name} has no type"));
        assert!(kind != "counter" || name.ends_with("_total"), "{line}");
        let labels = labels.strip_suffix('}').unwrap();
        let (account, labels) = labels.split_once("\",").unwrap_or((labels, ""));
        assert!(account.starts_with("account=\""), "{line}");
        let series = if labels.is_empty() { name.to_owned() } else { format!("{name}{{{labels}}}") };
        assert!(found.insert(series, value).is_none(), "{line} stands once");
    }
    found
}

fn metrics(place: &Place) -> BTreeMap<String, f64> {
    samples(&place.ok(&["metrics"]).out)
}

#[test]
fn the_numbers_are_those_of_the_work_that_was_done() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    place.enqueue(&[
        "-u",
        "alice",
        "--shell",
        "\"$LUZIA\" step build -- true; \"$LUZIA\" step build -- true; \"$LUZIA\" step test -- false",
    ]);
    place.enqueue(&["-u", "alice", "-l", "goal:report", "--", "false"]);
    place.enqueue(&[
        "-u",
        "bob",
        "--label",
        "odd \"name\"\\",
        "--shell",
        "\"$LUZIA\" enqueue -u carol -- true; exit 4",
    ]);
    place.drain();
    place.ok(&["lock", "-u", "dave", "--", "true"]);
    let found = metrics(&place);
    for (series, value) in [
        ("luzia_tasks_created_total", 4.0),
        ("luzia_children_spawned_total", 1.0),
        ("luzia_tasks_finished_total{status=\"failed\"}", 3.0),
        ("luzia_tasks_finished_total{status=\"completed\"}", 1.0),
        ("luzia_tasks_failed_total{goal=\"report\"}", 1.0),
        ("luzia_tasks_failed_total{goal=\"odd \\\"name\\\"\\\\\"}", 1.0),
        ("luzia_steps_total{step=\"build\"}", 1.0),
        ("luzia_steps_total{step=\"test\"}", 1.0),
        ("luzia_steps_failed_total{step=\"test\"}", 1.0),
        ("luzia_task_duration_seconds_count", 4.0),
        ("luzia_task_run_seconds_count", 4.0),
        ("luzia_lane_wait_seconds_count{lane=\"user:alice\"}", 2.0),
        ("luzia_lane_wait_seconds_count{lane=\"user:dave\"}", 1.0),
        ("luzia_lane_wait_seconds_count{lane=\"global\"}", 4.0),
        ("luzia_events_total{kind=\"finished\"}", 4.0),
        ("luzia_locks{state=\"held\"}", 0.0),
        ("luzia_slots_max", 4.0),
        ("luzia_slots_used", 0.0),
        ("luzia_tasks{state=\"pending\",tier=\"normal\"}", 0.0),
        ("luzia_scrape_complete", 1.0),
        ("luzia_up", 1.0),
    ] {
        assert_eq!(found.get(series), Some(&value), "{series}\n{found:#?}");
    }
    assert!(found["luzia_task_duration_seconds_sum"] >= found["luzia_task_run_seconds_sum"]);
}

#[test]
fn lanes_have_their_depth_their_holders_and_their_oldest_task() {
    let place = Place::configured(&json!({ "lanes": { "build": { "max": 2 } } }));
    place.ok(&["acquire", "lane:build", "--task", "me", "--ttl", "1h"]);
    place.ok(&["acquire", "user:alice", "--task", "me", "--ttl", "1h"]);
    for _ in 0..3 {
        place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    }
    place.enqueue(&["-u", "bob", "--in", "1h", "--", "true"]);
    std::thread::sleep(std::time::Duration::from_millis(30));
    let found = metrics(&place);
    for (series, value) in [
        ("luzia_lane_depth{lane=\"build\"}", 3.0),
        ("luzia_lane_active{lane=\"build\"}", 1.0),
        ("luzia_lane_limit{lane=\"build\"}", 2.0),
        ("luzia_lane_depth{lane=\"user:alice\"}", 3.0),
        ("luzia_lane_depth{lane=\"user:bob\"}", 1.0),
        ("luzia_lane_oldest_waiting_seconds{lane=\"user:bob\"}", 0.0),
        ("luzia_tasks{state=\"pending\",tier=\"normal\"}", 3.0),
        ("luzia_tasks{state=\"parked\"}", 1.0),
        ("luzia_locks{state=\"held\"}", 2.0),
        ("luzia_dispatcher", 0.0),
    ] {
        assert_eq!(found.get(series), Some(&value), "{series}\n{found:#?}");
    }
    let oldest = found["luzia_lane_oldest_waiting_seconds{lane=\"user:alice\"}"];
    assert!((0.02..60.0).contains(&oldest), "{oldest}");
    place.ok(&["pause", "alice"]);
    let found = metrics(&place);
    assert_eq!((found["luzia_lane_oldest_waiting_seconds{lane=\"user:alice\"}"], found["luzia_paused"]), (0.0, 1.0));
}

/// Events of a day long ago, as many as a tally is written for.
fn old_events(place: &Place, name: &str, count: u64) {
    let mut text = String::new();
    for _ in 0..count {
        writeln!(
            text,
            "{{\"v\":1,\"at\":\"{}\",\"boot_ms\":1,\"event\":\"enqueued\",\"task\":\"task_1\"}}",
            Timestamp(1)
        )
        .unwrap();
    }
    fs::write(place.state().join("events").join(name), text).unwrap();
}

#[test]
fn counters_never_go_backwards_when_events_go() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    old_events(&place, "1970-01-01.jsonl", 20_000);
    old_events(&place, "1970-01-01.2.jsonl", 100);
    let created = |wanted: f64| assert_eq!(metrics(&place)["luzia_tasks_created_total"], wanted);
    created(20_101.0);
    assert!(place.state().join("spool/tally.json").exists(), "more than a megabyte was added");
    // Lines that come later to a segment that was added, as a slow writer's.
    let path = place.state().join("events/1970-01-01.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().next().unwrap().to_owned();
    fs::write(&path, format!("{text}{line}\n{line}\n{line}")).unwrap();
    created(20_103.0);
    // A pass removes both old segments.
    place.drain();
    until_pruned(&place);
    created(20_103.0);
    place.enqueue(&["-u", "a", "--", "true"]);
    created(20_104.0);
    let tally = fs::read_to_string(place.state().join("spool/tally.json")).unwrap();
    let tally: serde_json::Value = serde_json::from_str(&tally).unwrap();
    assert!(tally["read"].get("1970-01-01.jsonl").is_none() || tally["v"] == 1, "{tally}");
}

/// Makes passes until one has looked at what is kept no longer.
fn until_pruned(place: &Place) {
    let _ = fs::remove_file(place.state().join("spool/pruned"));
    for _ in 0..3 {
        fs::write(place.state().join("spool/pruned"), "00000000000000000000\n").unwrap();
        place.ok(&["dispatch", "--once"]);
    }
    assert!(!place.state().join("events/1970-01-01.jsonl").exists(), "the pass removes what is too old");
    assert!(!place.state().join("events/1970-01-01.2.jsonl").exists());
}

#[test]
fn a_log_that_a_power_cut_has_shortened_takes_nothing_back() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    old_events(&place, "1970-01-02.jsonl", 20_000);
    let before = metrics(&place)["luzia_tasks_created_total"];
    old_events(&place, "1970-01-02.jsonl", 5);
    assert_eq!(metrics(&place)["luzia_tasks_created_total"], before);
}

#[test]
fn a_tally_that_does_not_read_is_set_aside_and_one_of_a_newer_luzia_is_left() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    let path = place.state().join("spool/tally.json");
    fs::write(&path, "{\"v\":1,\"counts\"").unwrap();
    assert_eq!(metrics(&place)["luzia_tasks_created_total"], 1.0);
    assert!(!path.exists() && place.state().join("spool/corrupt/spool_tally.json").exists());
    fs::write(&path, "{\"v\":2,\"counts\":{},\"read\":{}}").unwrap();
    assert!(place.luzia(&["metrics"]).coded(65).err.contains("newer"));
    assert!(path.exists());
}

#[test]
fn a_textfile_appears_whole_and_readable_by_all() {
    let place = Place::new();
    let path = place.path("out/luzia.prom");
    fs::create_dir(place.path("out")).unwrap();
    let text = path.to_str().unwrap();
    let mut narrow = place.shell("umask 077; exec \"$LUZIA\" metrics --textfile \"$1\"");
    place.spawn(narrow.args(["sh", text])).end().coded(0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o644);
    assert_eq!(samples(&fs::read_to_string(&path).unwrap())["luzia_up"], 1.0);
    let ran = place.ok(&["metrics", "--textfile", text]);
    assert_eq!(ran.out, "");
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1, "nothing is left beside it");
    assert!(place.luzia(&["metrics", "--textfile", "/nowhere/at/all.prom"]).coded(73).err.contains("its folder"));
    place.luzia(&["metrics", "--textfile", ""]).coded(2);
    place.luzia(&["metrics", "--textfile", &place.text("out")]).coded(73);
}

#[test]
fn the_document_has_each_number_by_itself() {
    let place = Place::new();
    let told = place.json(&["metrics"]);
    assert_eq!(told["schema"], "luzia.metrics/v1");
    let items = told["items"].as_array().unwrap();
    assert_eq!(items.len(), samples(told["text"].as_str().unwrap()).len());
    let up = items.iter().find(|item| item["name"] == "luzia_up").unwrap();
    assert_eq!(up["value"], 1.0);
    assert!(up["labels"]["account"].is_string(), "{up}");
}

fn packaged(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name);
    fs::read_to_string(path).unwrap()
}

/// The words of a text that begin as a metric does.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("luzia_")).collect()
}

#[test]
fn alerts_and_the_dashboard_name_only_metrics_that_exist() {
    let text = Place::new().ok(&["metrics"]).out;
    let mut known = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        known.insert(name.to_owned());
        if kind == "summary" {
            known.extend(["_sum", "_count"].map(|end| format!("{name}{end}")));
        }
    }
    let (rules, board) = (packaged("prometheus/luzia.rules.yml"), packaged("grafana/luzia.json"));
    for word in named(&rules).into_iter().chain(named(&board)) {
        assert!(known.contains(word), "{word} is no metric");
    }
    assert_eq!(rules.matches("- alert: ").count(), 5);
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    assert!(board["panels"].as_array().unwrap().len() >= 8);
    let queue =
        ["luzia_lane_depth", "luzia_lane_active", "luzia_lane_oldest_waiting_seconds", "luzia_lane_wait_seconds_sum"];
    assert!(queue.iter().all(|name| named(&board.to_string()).contains(name)));
}

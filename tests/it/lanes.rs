//! `lanes`: what is in use, and limits that change while luzia runs.

use crate::context::can_unshare;
use crate::support::{Place, until};
use serde_json::{Value, json};

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_default()
}

fn row(place: &Place, lane: &str) -> Value {
    place.json(&["lanes", "list", lane])["items"][0].clone()
}

#[test]
fn a_fresh_directory_has_the_built_in_lanes() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    let all = place.json(&["lanes"]);
    let names: Vec<&str> = all["items"].as_array().unwrap().iter().filter_map(|row| row["lane"].as_str()).collect();
    assert_eq!(names, ["cron", "global", "main", "subagent", "user:a"]);
    let main = row(&place, "main");
    let wanted = json!({ "max_concurrent": 1, "active": 0, "queue": 0, "draining": false, "rule": "default" });
    assert!(wanted.as_object().unwrap().iter().all(|(key, value)| main[key] == *value), "{main}");
    assert_eq!(row(&place, "user:a")["queue"], json!(1));
    assert!(place.ok(&["lanes", "show", "main"]).out.contains("max"));
}

#[test]
fn a_higher_limit_counts_at_the_next_grant_for_tasks_and_for_waiting_locks() {
    let place = Place::new();
    for user in ["a", "b", "c"] {
        let script = format!("echo x >>$PLACE/up; read _ <{}", place.gate(&format!("go-{user}")));
        place.enqueue(&["-u", user, "-l", "build", "--shell", &script]);
    }
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let lock = place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo locked >$PLACE/locked"]);
    until("it waits", || lock.err().contains("waits").then_some(()));
    assert_eq!((row(&place, "build")["active"].clone(), read(&place, "up")), (json!(1), "x\n".to_owned()));
    assert_eq!(place.json(&["lanes", "set", "build", "--max", "3"])["max_concurrent"], json!(3));
    lock.end().coded(0);
    place.ok(&["dispatch", "--once"]);
    until("all three run", || (read(&place, "up") == "x\nx\nx\n").then_some(()));
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    let now = row(&place, "build");
    assert_eq!((&now["active"], &now["draining"], &now["rule"]), (&json!(3), &json!(true), &json!("set")));
    assert!(place.ok(&["lanes"]).out.contains("draining"));
    place.luzia(&["lock", "-n", "-l", "build", "--", "true"]).coded(75);
    for user in ["a", "b", "c"] {
        place.open_gate(&format!("go-{user}"));
    }
    place.drain();
    assert_eq!(place.json(&["lanes", "rm", "build"])["max_concurrent"], json!(1));
    assert_eq!(place.json(&["lanes", "rm", "build"])["changed"], json!(false));
    place.luzia(&["lanes", "show", "build"]).coded(66);
}

#[test]
fn what_is_set_wins_over_the_configuration_and_the_most_specific_name_wins() {
    let place = Place::configured(&json!({ "lanes": { "session:*": { "max": 2 } }, "slots": { "max": 2 } }));
    place.ok(&["lanes", "set", "session:telegram:*", "--max", "5"]);
    place.ok(&["lanes", "set", "global", "--max", "7"]);
    place.ok(&["lanes", "set", "user:a", "--weight", "3"]);
    let max = |lane: &str| row(&place, lane)["max_concurrent"].clone();
    assert_eq!([max("session:telegram:bob"), max("session:bob"), max("global")], [json!(5), json!(2), json!(7)]);
    assert_eq!(place.json(&["status"])["active"]["slots_max"], json!(7));
    assert_eq!(row(&place, "user:a")["weight"], json!(3));
    let listed = place.json(&["lanes", "list", "session:*"]);
    let rules: Vec<&str> = listed["items"].as_array().unwrap().iter().filter_map(|row| row["rule"].as_str()).collect();
    assert_eq!(rules, ["config", "set"]);
    place.ok(&["lanes", "rm", "global"]);
    assert_eq!(max("global"), json!(2));
}

#[test]
fn a_lane_that_nobody_uses_leaves_nothing_behind() {
    let place = Place::new();
    let count = || place.snapshot().len();
    place.enqueue(&["-l", "goal:0", "--", "true"]);
    place.drain();
    let (lines, before): (String, usize) =
        ((1..200).map(|n| format!("{{\"lanes\":[\"goal:{n}\"],\"command\":[\"true\"]}}\n")).collect(), count());
    std::fs::write(place.path("many.jsonl"), lines).unwrap();
    place.ok(&["enqueue", "--from", place.path("many.jsonl").to_str().unwrap()]);
    place.drain();
    let left = place.snapshot().keys().filter(|path| path.contains("goal_")).cloned().collect::<Vec<_>>();
    assert_eq!(left, Vec::<String>::new(), "of {before}");
    assert_eq!(place.json(&["lanes", "list", "goal:*"])["items"], json!([]));
}

#[test]
fn each_member_of_a_rule_is_set_shown_and_falls_to_the_next_pattern() {
    let rules = json!({ "session:*": { "rate": "5/1m", "warn_after_seconds": 9, "on_wait": "true" } });
    let place = Place::configured(&json!({ "lanes": rules }));
    let wanted = json!({ "rate": "5/1m", "warn_after_ms": 9000, "on_wait": "true", "hold": "keep", "reserve": 0,
        "on_overdue": "report", "rule": "default" });
    let has = |lane: &str, wanted: &Value| {
        let row = place.json(&["lanes", "list", lane])["items"][0].clone();
        assert!(wanted.as_object().unwrap().iter().all(|(key, value)| row[key] == *value), "{row}");
    };
    has("session:x", &wanted);
    let all = ["--rate", "2/90s", "--reserve", "1", "--hold", "release", "--warn-after", "1500ms"];
    let more = ["--on-wait", "echo waits", "--on-overdue", "terminate", "--lock-timeout", "20m"];
    place.ok(&[&["lanes", "set", "session:x"][..], &all, &more].concat());
    has(
        "session:x",
        &json!({ "rate": "2/1m30s", "reserve": 1, "hold": "release", "warn_after_ms": 1500, "on_wait": "echo waits",
            "on_overdue": "terminate", "lock_timeout_ms": 1_200_000, "max_concurrent": 1, "rule": "set" }),
    );
    let out = place.ok(&["lanes", "show", "session:x"]).out;
    for words in ["2/1m30s", "reserve", "release", "echo waits", "terminate"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    has("session:y", &wanted);
    has("build", &json!({ "rate": null, "on_wait": null, "hold": "release", "warn_after_ms": 2000 }));
    // What is set counts by member: the rest of the configuration stays.
    place.ok(&["lanes", "set", "session:*", "--rate", "7/1h"]);
    has("session:y", &json!({ "rate": "7/1h", "warn_after_ms": 9000 }));
    place.ok(&["lanes", "rm", "session:*"]);
    has("session:y", &wanted);
}

#[test]
fn a_rule_that_cannot_be_meant_changes_nothing() {
    let place = Place::new();
    place.ok(&["lanes", "set", "deploy", "--reserve", "1"]);
    let before = place.snapshot();
    for words in [
        &["build", "--max", "+3"][..],
        &["build", "--rate", "10"],
        &["build", "--rate", "0/1m"],
        &["build", "--hold", "both"],
        &["build", "--warn-after", "soon"],
        &["build", "--warn-after", "0"],
        &["build", "--on-wait", ""],
        &["build", "--on-overdue", "kill"],
        &["build", "--reserve", "-1"],
        &["build", "--reserve", "2"],
        &["subagent", "--reserve", "3"],
        &["global", "--reserve", "1"],
        &["global", "--max", "1"],
        &["session:*", "--reserve", "1"],
        &["deploy"],
    ] {
        let ran = place.luzia(&[&["lanes", "set"], words].concat()).coded(2);
        assert!(ran.err.contains("nothing was set") || words.len() == 1, "{words:?}: {}", ran.err);
        place.assert_unchanged(&before, &words.join(" "));
    }
}

#[test]
fn no_change_leaves_rules_that_contradict_each_other() {
    let place = Place::configured(&json!({ "slots": { "max": 6 }, "lanes": { "port": { "range": "4005-4015" } } }));
    place.ok(&["lanes", "set", "r:*", "--max", "10"]);
    place.ok(&["lanes", "set", "r:a", "--reserve", "2"]);
    place.ok(&["lanes", "set", "port", "--range", "5005-5015"]);
    place.ok(&["lanes", "set", "web", "--range", "4000-4009"]);
    let before = place.snapshot();
    // Each is fine alone, and what it would bring back is not.
    for (lane, why) in [("r:*", "a reserve of 2 is more than the limit 1"), ("port", "the ports 4005-4009")] {
        let ran = place.luzia(&["lanes", "rm", lane]).coded(2);
        assert!(ran.err.contains(why) && ran.err.contains("nothing was taken back"), "{}", ran.err);
        place.assert_unchanged(&before, lane);
    }
    place.luzia(&["lanes", "set", "r:*", "--max", "1"]).coded(2);
    place.assert_unchanged(&before, "a smaller limit");
    for lane in ["web", "port", "r:a", "r:*"] {
        place.ok(&["lanes", "rm", lane]);
    }
}

#[test]
fn doctor_tells_rules_that_the_file_contradicts() {
    let place = Place::configured(&json!({ "slots": { "max": 6 } }));
    let lanes = |place: &Place| {
        let ran = place.luzia(&["doctor", "--json"]);
        let found = ran.json()["items"].as_array().expect("items").clone();
        found.into_iter().filter(|found| found["check"] == "lanes").collect::<Vec<_>>()
    };
    place.ok(&["lanes", "set", "deploy", "--reserve", "1"]);
    place.ok(&["lanes", "set", "web", "--range", "4000-4009"]);
    assert_eq!(lanes(&place)[0]["level"], "ok");
    place.configure(&json!({
        "slots": { "max": 1 },
        "lanes": { "port": { "range": "4005-4015" }, "b": { "affinity": true } },
    }));
    let found = lanes(&place);
    let levels: Vec<&str> = found.iter().filter_map(|found| found["level"].as_str()).collect();
    assert_eq!(levels, ["problem", "problem", "warn"], "{found:#?}");
    // A contradiction that was there before keeps no other change from being made.
    place.ok(&["lanes", "set", "build", "--max", "3"]);
    place.ok(&["lanes", "rm", "web"]);
    place.ok(&["lanes", "rm", "deploy"]);
    let left = lanes(&place);
    assert!(left.len() == 1 && left[0]["level"] == "warn", "{left:#?}");
}

#[test]
fn the_host_has_a_slot_for_each_processor_that_is_online_and_at_least_four() {
    if !can_unshare("the_host_has_a_slot_for_each_processor_that_is_online_and_at_least_four") {
        return;
    }
    let place = Place::new();
    // As many as the kernel says, whatever this process may use of them.
    let with = |online: &str, words: &str| {
        std::fs::write(place.path("online"), online).unwrap();
        let mounted = format!("mount --bind $PLACE/online /sys/devices/system/cpu/online && taskset 1 $LUZIA {words}");
        let ran = place.spawn(&mut place.shell(&format!("unshare --mount sh -c '{mounted}'"))).end().coded(0);
        ran.out
    };
    let active =
        |online: &str| serde_json::from_str::<Value>(&with(online, "status --json")).unwrap()["active"].clone();
    for (online, processors, slots) in [("0-15\n", 16, 16), ("0-1,4\n", 3, 4), ("0\n", 1, 4)] {
        let active = active(online);
        assert_eq!(active["slots_max"], slots, "{active}");
        assert_eq!(active["slots_from"], json!({ "source": "default", "processors": processors }));
    }
    assert!(with("0-15\n", "status").contains("0 of 16 used (the default with 16 processors online, at least 4)"));
    place.configure(&json!({ "slots": { "max": 3 } }));
    let configured = active("0-15\n");
    assert_eq!((&configured["slots_max"], &configured["slots_from"]["source"]), (&json!(3), &json!("config")));
    assert!(with("0-15\n", "status").contains("0 of 3 used (slots.max in the configuration)"));
    place.ok(&["lanes", "set", "global", "--max", "5"]);
    let set = active("0-15\n");
    assert_eq!((&set["slots_max"], &set["slots_from"]["source"]), (&json!(5), &json!("set")));
}

#[test]
fn a_task_that_waits_for_a_slot_of_the_host_is_told_how_the_host_gets_more() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let script = format!("echo up >$PLACE/up; read _ <{}", place.gate("go"));
    place.enqueue(&["-u", "a", "--shell", &script]);
    let waits = place.enqueue(&["-u", "b", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    assert!(place.ok(&["explain", &waits]).out.contains("luzia lanes set global --max N"));
    let reason = place.json(&["explain", &waits])["reasons"][0].clone();
    assert!(reason["hint"].as_str().unwrap().contains("luzia lanes set global --max N"), "{reason}");
    place.ok(&["lanes", "set", "global", "--max", "2"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&waits, "completed");
    place.open_gate("go");
    place.drain();
}

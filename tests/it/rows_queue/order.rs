//! Whose turn it is: priorities, tiers, lanes with limits, and several users (S3.1 to S3.3, S3.11, S3.12, S3.22, S3.23,
//! S3.36, S4.2, S4.6, S4.7).

use crate::support::{Place, lines, until};
use serde_json::{Value, json};

/// Enqueues tasks that each write a word to the file `order`; `(options, word)`.
fn enqueue_words(place: &Place, tasks: &[(&[&str], &str)]) {
    for (options, word) in tasks {
        place.enqueue(&[options, &["--", "sh", "-c", "echo $0 >> $PLACE/order", *word][..]].concat());
    }
}

fn order(place: &Place) -> Vec<String> {
    place.drain();
    lines(&place.path("order"))
}

#[test]
fn a_lane_goes_by_priority_and_then_by_age() {
    let place = Place::new();
    enqueue_words(
        &place,
        &[
            (&["-u", "a"], "five"),
            (&["-u", "a", "--priority", "4"], "four"),
            (&["-u", "a", "--priority", "6"], "six"),
            (&["-u", "a", "--priority", "4"], "four-again"),
            (&["-u", "a"], "five-again"),
        ],
    );
    let positions: Vec<Value> = [&["--priority", "4"][..], &["--priority", "0"]]
        .iter()
        .map(|priority| place.json(&[&["enqueue", "-u", "a"], *priority, &["--", "true"]].concat())["position"].clone())
        .collect();
    // S3.10
    assert_eq!(positions, [json!(2), json!(0)]);
    assert_eq!(order(&place), ["four", "four-again", "five", "five-again", "six"]);
}

#[test]
fn a_serial_lane_keeps_strict_order() {
    // S4.7, S0.23
    let place = Place::new();
    let words: Vec<String> = (0..12).map(|n| format!("n{n}")).collect();
    let users = ["a", "b", "c"];
    let tasks: Vec<[&str; 4]> = (0..12).map(|n| ["-u", users[n % 3], "--thread", "7"]).collect();
    let all: Vec<(&[&str], &str)> = tasks.iter().zip(&words).map(|(args, word)| (&args[..], word.as_str())).collect();
    enqueue_words(&place, &all);
    assert_eq!(order(&place), words);
}

#[test]
fn every_tier_gets_its_share_and_none_starves() {
    // S4.15, X8
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let high: Vec<String> = (0..20).map(|n| format!("h{n}")).collect();
    for word in &high {
        enqueue_words(&place, &[(&["-u", "high", "--priority", "0"], word)]);
    }
    enqueue_words(&place, &[(&["-u", "normal"], "normal"), (&["-u", "low", "--priority", "9"], "low")]);
    let order = order(&place);
    let at = |word: &str| order.iter().position(|found| found == word).unwrap();
    assert_eq!(order.len(), 22);
    assert!(at("normal") < 21 && at("low") < 21, "{order:?}");
    assert!(at("h0") < at("normal") && at("normal") < 20, "{order:?}");
}

#[test]
fn a_locked_user_is_skipped_and_others_run() {
    // S3.2, S3.11
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let alice = place.enqueue(&["-u", "alice", "--", "true"]);
    let bob = place.enqueue(&["-u", "bob", "--", "true"]);
    assert_eq!(place.ok(&["dispatch"]).line(), bob);
    place.until_status(&bob, "completed");
    assert_eq!(place.status(&alice), "pending");
    place.ok(&["release", "alice"]);
    place.drain();
    assert_eq!(place.status(&alice), "completed");
}

#[test]
fn a_lane_with_a_limit_runs_that_many_and_never_more() {
    // S4.6
    let place = Place::configured(&json!({ "slots": { "max": 8 }, "lanes": { "gpu": { "max": 3 } } }));
    let script = "echo $LUZIA_TASK_ID >> $PLACE/up; until test -e $PLACE/go; do sleep 0.01; done";
    let ids: Vec<String> =
        (0..5).map(|n| place.enqueue(&["-u", &format!("u{n}"), "-l", "gpu", "--", "sh", "-c", script])).collect();
    place.ok(&["dispatch"]);
    until("three run", || (lines(&place.path("up")).len() == 3).then_some(()));
    place.ok(&["dispatch"]);
    assert_eq!(place.json(&["status", "--capacity"])["slots"]["used"], 3);
    let reasons = place.json(&["explain", &ids[4]]);
    let full = crate::support::with(&reasons["reasons"], "reason", "LaneFull");
    assert_eq!((&full[0]["lane"], &full[0]["used"], &full[0]["max"]), (&json!("gpu"), &json!(3), &json!(3)));
    // A full lane keeps nobody else waiting (S4.2).
    let other = place.enqueue(&["-u", "other", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&other, "completed");
    std::fs::write(place.path("go"), "").unwrap();
    for id in &ids {
        place.until_status(id, "completed");
    }
}

#[test]
fn slots_bound_everything_that_runs() {
    // S3.13, S3.16
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    let script = "echo up >> $PLACE/up; until test -e $PLACE/go; do sleep 0.01; done";
    let ids: Vec<String> = (0..4).map(|n| place.enqueue(&["-u", &format!("u{n}"), "--", "sh", "-c", script])).collect();
    place.ok(&["dispatch"]);
    until("two run", || (lines(&place.path("up")).len() == 2).then_some(()));
    place.ok(&["dispatch"]);
    let slots = place.json(&["status", "--capacity"])["slots"].clone();
    assert_eq!(slots, json!({ "max": 2, "used": 2, "available": 0 }));
    std::fs::write(place.path("go"), "").unwrap();
    for id in &ids {
        place.until_status(id, "completed");
    }
}

#[test]
fn without_serialization_a_user_runs_in_parallel_within_the_slots() {
    // S3.22, S3.23
    let config = json!({
        "per_user_serialization": { "enabled": false, "lock_timeout_seconds": 3600 }, "slots": { "max": 3 },
    });
    let place = Place::configured(&config);
    let script = "echo up >> $PLACE/up; until test -e $PLACE/go; do sleep 0.01; done";
    let ids: Vec<String> = (0..5).map(|_| place.enqueue(&["-u", "alice", "--", "sh", "-c", script])).collect();
    place.ok(&["dispatch"]);
    until("three run", || (lines(&place.path("up")).len() == 3).then_some(()));
    place.ok(&["dispatch"]);
    assert_eq!(place.json(&["status"])["active"]["by_user"], json!({ "alice": 3 }));
    std::fs::write(place.path("go"), "").unwrap();
    for id in &ids {
        place.until_status(id, "completed");
    }
}

#[test]
fn two_user_lanes_in_one_task_are_refused() {
    // S3.36
    let place = Place::new();
    for args in [&["-u", "a", "--user", "b"][..], &["-u", "a", "-l", "user:b"]] {
        let refused = place.luzia(&[&["enqueue"], args, &["--", "true"]].concat()).coded(2);
        assert!(refused.err.contains("hint:"), "{}", refused.err);
    }
    assert!(!place.state().exists() || place.json(&["list"])["items"] == json!([]));
    place.enqueue(&["-u", "a", "-l", "user:a", "--", "true"]);
}

#[test]
fn lanes_are_taken_all_or_none_and_never_in_a_knot() {
    // Two orders of the same lanes on several tasks: everything ends.
    let place = Place::new();
    let mut ids = Vec::new();
    for n in 0..8 {
        let (a, b) = if n % 2 == 0 { ("thread:1", "thread:2") } else { ("thread:2", "thread:1") };
        ids.push(place.enqueue(&["-u", &format!("u{n}"), "-l", a, "-l", b, "--", "true"]));
    }
    let drains: Vec<_> = (0..3).map(|_| place.start(&["dispatch", "--drain"])).collect();
    for drain in drains {
        drain.end().coded(0);
    }
    for id in &ids {
        assert_eq!(place.status(id), "completed");
    }
}

#[test]
fn a_batch_is_queued_in_the_order_of_its_lines() {
    let place = Place::new();
    let line = |word: &str, key: Option<&str>| {
        let command = ["sh", "-c", "echo $0 >> $PLACE/order", word];
        format!("{}\n", json!({ "user": "a", "command": command, "key": key }))
    };
    let lines = [("1", Some("k")), ("2", None), ("3", None), ("4", Some("l")), ("5", None)];
    let text: String = lines.iter().map(|(word, key)| line(word, *key)).collect();
    std::fs::write(place.path("batch"), text.replace(",\"key\":null", "").replace("\"key\":null,", "")).unwrap();
    let ids = place.ok(&["enqueue", "--from", &place.text("batch")]).out;
    assert_eq!(ids, "task_1\ntask_2\ntask_3\ntask_4\ntask_5\n");
    assert_eq!(order(&place), ["1", "2", "3", "4", "5"]);
}

#[test]
fn a_user_with_room_for_two_has_two_at_once_and_no_more() {
    let place = Place::configured(&json!({ "lanes": { "user:two": { "max": 2 } } }));
    let script = "echo x >> $PLACE/began; until test -e $PLACE/go; do sleep 0.02; done";
    let ids: Vec<String> = (0..3).map(|_| place.enqueue(&["-u", "two", "--", "sh", "-c", script])).collect();
    place.ok(&["dispatch", "--once"]);
    until("two have begun", || (lines(&place.path("began")).len() == 2).then_some(()));
    let why = place.json(&["explain", &ids[2]]);
    assert_eq!(why["reasons"][0]["reason"], "UserLockHeld", "{why}");
    place.ok(&["dispatch", "--once"]);
    assert_eq!(
        place.json(&["list"])["items"].as_array().unwrap().iter().filter(|t| t["status"] == "running").count(),
        2
    );
    std::fs::write(place.path("go"), "").unwrap();
    place.until_status(&ids[2], "completed");
}

#[test]
fn a_lane_that_becomes_deep_keeps_the_order_of_its_tasks_and_tells_them_all() {
    // More tasks than the folder of a lane holds, by all the ways in which tasks come into a lane.
    let place = Place::new();
    let script = "echo ${LUZIA_TASK_ID#task_} >> $PLACE/order";
    let line = |user: &str| json!({ "user": user, "command": ["sh", "-c", script] }).to_string() + "\n";
    let batch = |text: String| {
        std::fs::write(place.path("batch"), text).unwrap();
        place.ok(&["enqueue", "--from", &place.text("batch")]);
    };
    batch(line("a").repeat(230));
    let mut singles: Vec<String> = (0..25).map(|_| place.enqueue(&["-u", "a", "--shell", script])).collect();
    batch((0..60).map(|at| line(["a", "b"][at % 2])).collect());
    place.ok(&["acquire", "held", "--task", "t1"]);
    batch(line("held").repeat(640));
    batch(line("a").repeat(150));
    let folder = place.state().join("spool/pending/5").join(crate::support::queue("a"));
    let names = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names().filter(|name| name.ends_with(".json")).count(), 250, "what the folder holds");
    let mut segments: Vec<String> = names().filter(|name| !name.ends_with(".json")).collect();
    segments.sort_unstable();
    assert_eq!(segments, ["0", "1"]);

    assert_eq!(place.json(&["status"])["pending"]["total"], 1105);
    let items = place.json(&["list"])["items"].take();
    let listed: Vec<String> =
        items.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().into()).collect();
    assert_eq!(listed, (1..=1105).map(|id| format!("task_{id}")).collect::<Vec<_>>());
    let why = place.json(&["explain", "task_1105"]);
    assert_eq!(why["reasons"][0]["ahead"], 434, "{why}");
    // Out of both kinds of places, and back to the end of neither.
    let (shallow, deep) = (singles.remove(0), singles.pop().unwrap());
    for id in [&shallow, &deep] {
        place.ok(&["cancel", id]);
        assert_eq!(place.status(id), "cancelled");
    }
    place.ok(&["doctor"]);

    let _dispatcher = place.start(&["dispatch", "--drain"]);
    let is_b = |id: &u64| (256..316).contains(id) && id % 2 == 1;
    let is_wanted = |id: &u64| !(316..956).contains(id) && ![&shallow, &deep].contains(&&format!("task_{id}"));
    let (b, a): (Vec<u64>, Vec<u64>) = (1..=1105).filter(is_wanted).partition(is_b);
    let order = || lines(&place.path("order")).iter().map(|id| id.parse().unwrap()).partition(is_b);
    until("the lanes are empty", || (!folder.exists()).then_some(()));
    place.until_status("task_1105", "completed");
    assert_eq!(order(), (b, a));
}

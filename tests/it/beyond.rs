//! The first task of a user waits for a capacity lane, and others of the user start before it: some, and not without end.

use crate::support::{Place, until};
use serde_json::{Value, json};

fn status(place: &Place, task: &str) -> String {
    place.json(&["show", task])["status"].as_str().unwrap().to_owned()
}

fn reasons(place: &Place, task: &str) -> Vec<Value> {
    place.json(&["explain", task])["reasons"].as_array().unwrap().clone()
}

fn word(place: &Place, task: &str) -> Value {
    reasons(place, task).first().map_or(Value::Null, |reason| reason["reason"].clone())
}

/// Something else holds the lane `build` until `free_build`.
fn with_full_build(place: &Place) -> crate::support::Running {
    let script = format!("echo held >$PLACE/held; read _ <{}", place.gate("build"));
    let lock = place.start(&["lock", "-l", "build", "--", "sh", "-c", &script]);
    place.until_file("held");
    lock
}

#[test]
fn a_task_that_waits_for_a_full_lane_does_not_block_those_of_its_user_that_could_run() {
    let place = Place::new();
    let lock = with_full_build(&place);
    let first = place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    let same = place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    let other = place.enqueue(&["-u", "alice", "--", "true"]);
    let last = place.enqueue(&["-u", "alice", "-l", "test", "--", "true"]);
    assert_eq!([word(&place, &first), word(&place, &same)], [json!("LaneFull"), json!("LaneFull")]);
    assert_eq!(word(&place, &other), json!("NoDispatcher"), "nothing but a pass is missing");
    // One at a time, as alice's lane has it, and in their order.
    place.ok(&["dispatch", "--once"]);
    until("the others are over", || {
        let ended = [&other, &last].map(|id| status(&place, id) == "completed");
        ended.iter().all(|ended| *ended).then_some(())
    });
    assert_eq!([status(&place, &first), status(&place, &same)], ["pending", "pending"]);
    place.open_gate("build");
    lock.end().coded(0);
    place.drain();
    let started = |id: &String| place.json(&["show", id])["started_at"].as_str().unwrap().to_owned();
    assert!(started(&other) < started(&last) && started(&last) < started(&first) && started(&first) < started(&same));
}

#[test]
fn the_lane_of_a_thread_keeps_its_order_and_so_does_a_busy_user() {
    let place = Place::new();
    let script = format!("echo up >$PLACE/up; read _ <{}", place.gate("go"));
    place.enqueue(&["-u", "bob", "--thread", "7", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let first = place.enqueue(&["-u", "alice", "--thread", "7", "--", "true"]);
    let other = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!([word(&place, &first), word(&place, &other)], [json!("LaneFull"), json!("Priority")]);
    place.open_gate("go");
    place.drain();
}

#[test]
fn a_paused_or_limited_lane_is_passed_too() {
    let place = Place::new();
    place.ok(&["pause", "lane:slow"]);
    place.ok(&["lanes", "set", "api", "--rate", "1/1h"]);
    place.ok(&["lock", "-l", "api", "--", "true"]);
    let paused = place.enqueue(&["-u", "alice", "-l", "slow", "--", "true"]);
    let limited = place.enqueue(&["-u", "alice", "-l", "api", "--", "true"]);
    let other = place.enqueue(&["-u", "alice", "--", "true"]);
    assert_eq!(
        [word(&place, &paused), word(&place, &limited), word(&place, &other)],
        [json!("Paused"), json!("RateLimited"), json!("NoDispatcher")]
    );
    place.ok(&["dispatch", "--once"]);
    until("the other one is over", || (status(&place, &other) == "completed").then_some(()));
}

#[test]
fn a_task_is_passed_by_a_thousand_at_most() {
    let place = Place::new();
    let lock = with_full_build(&place);
    let first = place.enqueue(&["-u", "alice", "-l", "build", "--", "true"]);
    let line = "{\"user\":\"zoe\",\"hold\":true,\"command\":[\"true\"]}\n";
    std::fs::write(place.path("many.jsonl"), line.repeat(999)).unwrap();
    place.ok(&["enqueue", "--from", place.path("many.jsonl").to_str().unwrap()]);
    let near = place.enqueue(&["-u", "alice", "--", "true"]);
    let far = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    until("the last one that may pass is over", || (status(&place, &near) == "completed").then_some(()));
    place.ok(&["dispatch", "--once"]);
    assert_eq!([word(&place, &first), word(&place, &far)], [json!("LaneFull"), json!("Priority")]);
    assert_eq!(status(&place, &far), "pending");
    place.open_gate("build");
    lock.end().coded(0);
    place.ok(&["dispatch", "--once"]);
    until("both are over", || (status(&place, &far) == "completed").then_some(()));
    assert_eq!(status(&place, &first), "completed");
}

//! Backfill from outside: a task of several lanes keeps its computed start, and only what ends before that passes it.

use crate::support::Place;
use serde_json::{Value, json};

fn reasons(place: &Place, task: &str) -> Vec<Value> {
    place.json(&["explain", task])["reasons"].as_array().unwrap().clone()
}

fn word(place: &Place, task: &str) -> Value {
    reasons(place, task).first().map_or(Value::Null, |reason| reason["reason"].clone())
}

fn status(place: &Place, task: &str) -> Value {
    place.json(&["show", task])["status"].clone()
}

/// A task in lane `docs` that runs until its gate is opened, within a limit where one is given.
fn holder(place: &Place, limit: &[&str]) -> String {
    let script = format!("read _ <{}", place.gate("docs"));
    let words = [&["-u", "carol", "-l", "docs"], limit, &["--shell", &script]].concat();
    let id = place.enqueue(&words);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&id, "running");
    id
}

/// A task of both lanes, which waits for `docs`.
fn first(place: &Place) -> String {
    place.enqueue(&["-u", "alice", "-l", "build", "-l", "docs", "--", "true"])
}

#[test]
fn only_what_ends_before_the_computed_start_passes_a_task_of_several_lanes() {
    let place = Place::new();
    let holds = holder(&place, &["--timeout", "1h"]);
    let first = first(&place);
    let long = place.enqueue(&["-u", "bob", "-l", "build", "--timeout", "2h", "--", "true"]);
    let unknown = place.enqueue(&["-u", "dora", "-l", "build", "--", "true"]);
    let short = place.enqueue(&["-u", "emil", "-l", "build", "--timeout", "1m", "--", "true"]);
    let other = place.enqueue(&["-u", "fred", "-l", "test", "--", "true"]);
    let words = [&first, &long, &unknown, &short, &other].map(|id| word(&place, id));
    assert_eq!(words, ["LaneFull", "Booked", "Booked", "NoDispatcher", "NoDispatcher"].map(|word| json!(word)));
    let why = &reasons(&place, &long)[0];
    assert_eq!((&why["lane"], &why["first"]), (&json!("build"), &json!(first)));
    assert!(why["start"].is_string() && why["next"] == json!([format!("luzia explain {first}")]), "{why}");
    let said = place.ok(&["explain", &long]).out;
    assert!(said.contains(&format!("{first} waits for several slots at once")) && said.contains("[Booked]"), "{said}");
    assert!(place.ok(&["list"]).out.contains(&format!("waits behind {first} (build)")));
    // What ends in time passes, the others wait for the first one.
    place.ok(&["dispatch", "--once"]);
    place.until_status(&short, "completed");
    place.until_status(&other, "completed");
    assert_eq!([&first, &long, &unknown].map(|id| status(&place, id)), ["pending"; 3]);
    place.open_gate("docs");
    place.until_status(&holds, "completed");
    place.drain();
    let started = |id: &String| place.json(&["show", id])["started_at"].as_str().unwrap().to_owned();
    assert!(started(&first) < started(&long) && started(&first) < started(&unknown));
}

#[test]
fn where_the_start_is_not_known_others_pass() {
    let place = Place::new();
    holder(&place, &[]);
    let first = first(&place);
    let other = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    assert_eq!([word(&place, &first), word(&place, &other)], [json!("LaneFull"), json!("NoDispatcher")]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&other, "completed");
    assert_eq!(status(&place, &first), "pending");
    place.open_gate("docs");
    place.drain();
}

#[test]
fn a_task_behind_one_that_waits_for_a_booked_lane_starts_in_the_lane_of_their_user() {
    let place = Place::new();
    holder(&place, &["--timeout", "1h"]);
    let first = first(&place);
    let booked = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let behind = place.enqueue(&["-u", "bob", "--", "true"]);
    assert_eq!([word(&place, &booked), word(&place, &behind)], [json!("Booked"), json!("NoDispatcher")]);
    // A paused one waits for more than room, and keeps nobody waiting.
    place.ok(&["dispatch", "--once"]);
    place.until_status(&behind, "completed");
    place.ok(&["pause", &first]);
    assert_eq!(word(&place, &booked), json!("NoDispatcher"));
    place.ok(&["dispatch", "--once"]);
    place.until_status(&booked, "completed");
    place.ok(&["resume", &first]);
    place.open_gate("docs");
    place.drain();
}

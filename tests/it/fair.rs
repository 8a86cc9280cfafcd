//! Fair share from outside (X24, P6): users, and within a user agent sessions and their lanes.

use crate::support::{Place, lines, until};
use serde_json::json;

/// Enqueues a task of an agent session in lane `build` that writes a word to the file `order`.
fn enqueue_of(place: &Place, session: &str, options: &[&str], word: &str) {
    let args = [&["enqueue"], options, &["--", "sh", "-c", "echo $0 >> $PLACE/order", word]].concat();
    let mut command = place.command(&args);
    command.env("LUZIA_AGENT", "codex").env("LUZIA_SESSION", session);
    place.spawn(&mut command).end().coded(0);
}

fn drained(place: &Place) -> String {
    place.drain();
    lines(&place.path("order")).join(" ")
}

#[test]
fn sessions_of_one_user_take_turns_in_a_lane() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for word in ["a1", "a2", "a3", "a4"] {
        enqueue_of(&place, "one", &["-l", "build"], word);
    }
    enqueue_of(&place, "two", &["-l", "build"], "b1");
    enqueue_of(&place, "two", &["-l", "build"], "b2");
    assert_eq!(drained(&place), "a1 b1 a2 b2 a3 a4");
}

#[test]
fn lanes_of_one_session_take_turns_and_priority_goes_first() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for word in ["a1", "a2", "a3"] {
        enqueue_of(&place, "one", &["-l", "build"], word);
    }
    enqueue_of(&place, "one", &["-l", "docs"], "b1");
    enqueue_of(&place, "one", &["-l", "docs", "--priority", "4"], "b0");
    assert_eq!(drained(&place), "b0 a1 b1 a2 a3");
}

#[test]
fn tasks_in_the_lane_of_their_user_keep_their_order_whatever_session_asked() {
    let place = Place::new();
    for (session, word) in [("one", "a1"), ("one", "a2"), ("two", "b1"), ("one", "a3")] {
        enqueue_of(&place, session, &["-u", "alice"], word);
    }
    assert_eq!(drained(&place), "a1 a2 b1 a3");
}

#[test]
fn a_thread_keeps_its_order_across_sessions() {
    let place = Place::new();
    for (session, word) in [("one", "a1"), ("one", "a2"), ("two", "b1"), ("one", "a3")] {
        enqueue_of(&place, session, &["--thread", "7"], word);
    }
    assert_eq!(drained(&place), "a1 a2 b1 a3");
}

#[test]
fn a_user_of_weight_three_gets_three_of_four_grants() {
    let rule = json!({ "slots": { "max": 1 }, "lanes": { "user:heavy": { "weight": 3 } } });
    let place = Place::configured(&rule);
    for (user, count) in [("heavy", 6), ("light", 2)] {
        for number in 0..count {
            let word = format!("{user}{number}");
            place.enqueue(&["-u", user, "--", "sh", "-c", "echo $0 >> $PLACE/order", &word]);
        }
    }
    let order = drained(&place);
    let first: Vec<&str> = order.split(' ').take(4).collect();
    assert_eq!(first.iter().filter(|word| word.starts_with("heavy")).count(), 3, "{order}");
}

#[test]
fn a_user_with_one_task_behind_two_thousand_starts_within_two_grants() {
    // P6. With a hundred thousand: `policy::schedule::simulation`.
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let batch: String = (0..2000).map(|_| "{\"user\":\"alice\",\"command\":[\"true\"]}\n").collect();
    std::fs::write(place.path("batch"), batch).unwrap();
    place.ok(&["enqueue", "--from", &place.text("batch")]);
    let bob = place.enqueue(&["-u", "bob", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&bob, "completed");
    let granted = || place.events_named("locked");
    let rank = until("bob was granted", || granted().iter().position(|event| event["task"] == bob));
    assert!(rank < 2, "{rank}");
    // The rest is not to run.
    place.ok(&["pause", "--all"]);
}

#[test]
fn a_task_behind_a_better_tier_that_cannot_start_is_ready_and_starts() {
    let place = Place::new();
    place.ok(&["pause", "thread:9"]);
    let stuck = place.enqueue(&["-u", "alice", "--thread", "9", "--priority", "0", "--", "true"]);
    let next = place.enqueue(&["-u", "alice", "--", "true"]);
    let reasons = |id: &str| {
        let told = place.json(&["explain", id])["reasons"].clone();
        let words: Vec<String> =
            told.as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap().to_owned()).collect();
        words
    };
    assert_eq!((reasons(&stuck)[0].as_str(), reasons(&next)), ("Paused", vec!["NoDispatcher".into()]));
    assert_eq!(place.ok(&["dispatch", "--once"]).line(), next);
    // Of the same tier the first one keeps the others.
    let behind = place.enqueue(&["-u", "alice", "--priority", "1", "--", "true"]);
    assert!(reasons(&behind).contains(&"Priority".to_owned()));
}

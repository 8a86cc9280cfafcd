//! Fair share from outside (X24, P6): users, and within a user agent sessions and their lanes.

use crate::support::{Place, lines, until};
use serde_json::json;

/// Enqueues a task of an agent session in lane `build` that writes a word to the file `order`.
fn enqueue_of(place: &Place, session: &str, options: &[&str], word: &str) {
    let script = "while [ -e $PLACE/stay ]; do sleep 0.01; done; echo $0 >> $PLACE/order";
    let args = [&["enqueue"], options, &["--", "sh", "-c", script, word]].concat();
    let mut command = place.command(&args);
    command.env("LUZIA_AGENT", "codex").env("LUZIA_SESSION", session);
    place.spawn(&mut command).end().coded(0);
}

/// The words in the order of their tasks. A pass writes down whose turn it was when it is over: the first task stays until then. After
/// it the supervisors make all passes, one after the other: two at once may write down the turn of one alone.
fn drained(place: &Place) -> String {
    std::fs::write(place.path("stay"), "").unwrap();
    place.ok(&["dispatch", "--once"]);
    std::fs::remove_file(place.path("stay")).unwrap();
    until("every task is over", || (place.json(&["list"])["items"] == json!([])).then_some(()));
    lines(&place.path("order")).join(" ")
}

#[test]
fn sessions_of_one_user_take_turns_in_a_lane() {
    let place = Place::configured(&json!({ "slots": { "max": 1 }, "lanes": { "lane:build": { "max": 2 } } }));
    for word in ["a1", "a2", "a3", "a4"] {
        enqueue_of(&place, "one", &["-l", "build"], word);
    }
    enqueue_of(&place, "two", &["-l", "build"], "b1");
    enqueue_of(&place, "two", &["-l", "build"], "b2");
    assert_eq!(drained(&place), "a1 b1 a2 b2 a3 a4");
}

#[test]
fn a_named_lane_of_limit_one_keeps_its_order_across_sessions() {
    // S0.23, S4.7
    let place = Place::new();
    for (session, word) in [("one", "a1"), ("one", "a2"), ("two", "b1"), ("one", "a3"), ("two", "b2")] {
        enqueue_of(&place, session, &["-l", "build"], word);
    }
    assert_eq!(drained(&place), "a1 a2 b1 a3 b2");
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
fn sessions_and_projects_take_turns_in_the_lane_of_their_user() {
    // S3.12, X24, N11
    let place = Place::new();
    for (session, word) in [("one", "a1"), ("one", "a2"), ("one", "a3"), ("two", "b1"), ("two", "b2")] {
        enqueue_of(&place, session, &["-u", "alice"], word);
    }
    for (project, word) in [("p", "p1"), ("p", "p2"), ("q", "q1")] {
        place.enqueue(&["-u", "alice", "-p", project, "--", "sh", "-c", "echo $0 >> $PLACE/order", word]);
    }
    for word in ["c1", "c2"] {
        place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo $0 >> $PLACE/order", word]);
    }
    assert_eq!(drained(&place), "a1 b1 p1 q1 c1 a2 b2 p2 c2 a3");
}

#[test]
fn tasks_of_a_session_go_by_priority_and_their_session_takes_turns() {
    let place = Place::new();
    for (session, priority, word) in
        [("one", "4", "a4"), ("one", "4", "b4"), ("one", "5", "a5"), ("two", "6", "c6"), ("two", "5", "c5")]
    {
        enqueue_of(&place, session, &["-u", "alice", "--priority", priority], word);
    }
    assert_eq!(drained(&place), "a4 c5 b4 c6 a5");
}

#[test]
fn position_explain_and_move_tell_the_order_in_which_sessions_take_turns() {
    let place = Place::new();
    for word in ["a1", "a2", "a3", "a4"] {
        enqueue_of(&place, "one", &["-u", "alice"], word);
    }
    let mut command = place.command(&["enqueue", "-u", "alice", "--json", "--", "true"]);
    command.env("LUZIA_AGENT", "codex").env("LUZIA_SESSION", "two");
    let told: serde_json::Value = serde_json::from_str(&place.spawn(&mut command).end().coded(0).out).unwrap();
    assert_eq!(told["position"], 1, "behind a1: {told}");
    let ahead = |id: &str| place.json(&["explain", id])["reasons"][0]["ahead"].clone();
    assert_eq!([ahead("task_5"), ahead("task_2"), ahead("task_4")], [json!(1), json!(2), json!(4)]);
    assert_eq!(place.json(&["explain", "user:alice"])["first"], "task_1");
    // First of its session, and the session of task 5 takes its turn behind it.
    let moved = place.ok(&["move", "4", "--first"]);
    assert!(moved.err.contains("another one may still start first"), "{}", moved.err);
    assert_eq!([ahead("task_1"), ahead("task_5")], [json!(2), json!(1)]);
    assert_eq!(drained(&place), "a4 a1 a2 a3");
    let started: Vec<String> =
        place.events_named("started").iter().map(|event| event["task"].as_str().unwrap().to_owned()).collect();
    assert_eq!(started, ["task_4", "task_5", "task_1", "task_2", "task_3"]);
}

#[test]
fn a_group_runs_in_a_row_whichever_sessions_ask_for_its_tasks() {
    // S3.F3
    let place = Place::new();
    let grouped = ["-u", "alice", "--group", "g"];
    let tasks: [(&str, &[&str], &str); 6] = [
        ("one", &grouped, "g1"),
        ("two", &grouped[..2], "b1"),
        ("two", &grouped, "g2"),
        ("one", &grouped[..2], "a1"),
        ("one", &grouped, "g3"),
        ("two", &grouped[..2], "b2"),
    ];
    for (session, options, word) in tasks {
        enqueue_of(&place, session, options, word);
    }
    assert_eq!(drained(&place), "g1 g2 g3 b1 b2 a1");
}

#[test]
fn a_queue_of_an_older_version_takes_turns_as_one_session() {
    let place = Place::new();
    for word in ["a1", "a2", "a3"] {
        enqueue_of(&place, "one", &["-u", "alice"], word);
    }
    // Before sessions took turns in the lane of their user, their tasks stood in one queue, and no record named a session's share.
    let tier = place.state().join("spool/pending/5");
    let queue = std::fs::read_dir(&tier).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let (stem, rest) = queue.split_once("~s").unwrap();
    let old = tier.join(format!("{stem}{}", &rest[16..]));
    std::fs::rename(tier.join(&queue), &old).unwrap();
    for entry in std::fs::read_dir(&old).unwrap() {
        let path = entry.unwrap().path();
        let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        record.as_object_mut().unwrap().remove("share").unwrap();
        std::fs::write(&path, record.to_string()).unwrap();
    }
    for word in ["b1", "b2"] {
        enqueue_of(&place, "one", &["-u", "alice"], word);
    }
    assert_eq!(drained(&place), "a1 b1 a2 b2 a3");
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
    // P6. With a hundred thousand: `policy::schedule::tests::simulation`.
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

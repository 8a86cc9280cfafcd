//! `simulate` from outside: a described load, the queue as it is, changes, and bad input.

use crate::support::Place;
use serde_json::{Value, json};

/// Two users in one lane, and one task of a third who comes late.
fn load() -> Value {
    json!({
        "slots": 2,
        "lanes": { "build": { "max": 1 } },
        "users": {
            "alice": [{ "count": 60, "about": "20s", "runs": ["10s", "50s"], "lanes": ["build"] }],
            "bob": [{ "count": 60, "every": "30s", "runs": "30s", "lanes": ["build"] }],
            "carol": [{ "from": "5m", "runs": "1s" }],
        },
    })
}

fn place_with(load: &Value) -> (Place, String) {
    let place = Place::new();
    std::fs::write(place.path("load.json"), load.to_string()).unwrap();
    let path = place.text("load.json");
    (place, path)
}

#[test]
fn a_described_load_tells_the_waits_of_each_user_and_makes_no_state() {
    let (place, path) = place_with(&load());
    let told = place.json(&["simulate", &path]);
    assert_eq!((&told["schema"], &told["seed"]), (&json!("luzia.simulate/v1"), &json!(1)));
    let users: Vec<&Value> = told["items"].as_array().unwrap().iter().map(|item| &item["user"]).collect();
    assert_eq!(users, ["alice", "bob", "carol"]);
    let of = |user: usize| &told["items"][user];
    assert_eq!((&of(0)["tasks"], &of(2)["tasks"]), (&json!(60), &json!(1)));
    let waits = |user: usize, rank: &str| of(user)["waits"][rank].as_u64().unwrap();
    assert!(waits(0, "p50_ms") <= waits(0, "p95_ms") && waits(0, "p95_ms") <= waits(0, "max_ms"));
    // Twice as much work as the lane takes: both wait, and get the same; carol has a slot of her own.
    assert!(waits(0, "p95_ms") > 60_000 && waits(1, "p95_ms") > 60_000, "{told}");
    assert_eq!(waits(2, "max_ms"), 0);
    assert!(told["jain"].as_f64().unwrap() > 0.95, "{told}");
    assert!(told["behind_grants"].as_u64() < told["bound_grants"].as_u64(), "{told}");
    assert_eq!(told["never_started"], 0);
    assert!(!place.state().exists(), "nothing was written");
}

#[test]
fn the_same_seed_prints_the_same_bytes_and_another_one_others() {
    let (place, path) = place_with(&load());
    let told = |seed: &str| place.ok(&["simulate", &path, "--seed", seed, "--what-if", "build.max=2"]).out;
    assert_eq!(told("7"), told("7"));
    assert_ne!(told("7"), told("8"));
    assert!(told("7").contains("Jain's index") && told("7").contains("with build.max=2:"), "{}", told("7"));
}

#[test]
fn a_wider_lane_is_compared_on_the_same_load() {
    let (place, path) = place_with(&load());
    let told = place.json(&["simulate", &path, "--what-if", "build.max=2", "--what-if", "user:bob.weight=3"]);
    assert_eq!(told["what_if"], json!(["build.max=2", "user:bob.weight=3"]));
    let wait = |of: &Value| of["items"][0]["waits"]["p50_ms"].as_u64().unwrap();
    assert!(wait(&told["then"]) < wait(&told), "{told}");
    assert_eq!(told["then"]["items"][1]["weight"], 3);
    let plain = place.json(&["simulate", &path]);
    assert_eq!((plain.get("then"), &plain["items"]), (None, &told["items"]));
}

#[test]
fn the_queue_as_it_is_runs_with_lengths_that_were_seen() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for _ in 0..3 {
        place.enqueue(&["-u", "alice", "--", "true"]);
    }
    place.drain();
    for user in ["alice", "alice", "bob"] {
        place.enqueue(&["-u", user, "--", "true"]);
    }
    let before = place.snapshot();
    let told = place.json(&["simulate", "--queue", "--what-if", "global.max=3"]);
    place.assert_unchanged(&before, "simulate");
    let tasks =
        |of: &Value| of["items"].as_array().unwrap().iter().map(|item| item["tasks"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((tasks(&told), tasks(&told["then"])), (3, 3));
    // `true` in the same directory was seen three times, from any caller.
    assert_eq!(told["assumed"], 0);
    place.enqueue(&["-u", "carol", "-l", "docs", "--", "make", "docs"]);
    assert_eq!(place.json(&["simulate"])["assumed"], 1);
    assert!(place.ok(&["simulate"]).err.contains("assumed to run for 1m"));
}

#[test]
fn bad_input_is_told_and_nothing_is_simulated() {
    let (place, path) = place_with(&json!({ "users": { "a": [{ "count": 0, "runs": "1s" }] } }));
    let told = place.luzia(&["simulate", &path]).coded(2);
    assert!(told.err.contains("users.a[0].count must be a number from 1"), "{told:?}");
    for (change, says) in
        [("build", "is not a change"), ("build.max=0", "is not a change"), ("build.rate=2", "is not a change")]
    {
        let told = place.luzia(&["simulate", "--what-if", change]).coded(2);
        assert!(told.err.contains(says) && told.out.is_empty(), "{told:?}");
    }
    let told = place.luzia(&["simulate", &place.text("none.json")]).coded(74);
    assert!(told.err.contains("nothing was simulated"), "{told:?}");
    place.luzia(&["simulate", "--queue", &path]).coded(2);
    place.luzia(&["simulate", &path, "--seed", "x"]).coded(2);
    // Where there is no state directory there is no queue.
    let told = place.ok(&["simulate", "--queue"]);
    assert!(told.out.contains("Jain's index 1.000"), "{told:?}");
}

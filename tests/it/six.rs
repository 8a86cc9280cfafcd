//! The six tests that row S3.39 names, under those names.

use crate::support::{Place, lines, until};
use serde_json::json;

#[test]
fn acquire_release() {
    let place = Place::new();
    let answer = place.json(&["acquire", "alice", "--task", "task_1", "--timeout", "30"]);
    assert_eq!(answer["acquired"], true);
    assert!(place.lock("user_alice.lock").exists() && place.lock("user_alice.json").exists());
    place.luzia(&["check", "alice"]).coded(75);
    place.ok(&["release", "alice", "--lock-id", answer["lock_id"].as_str().unwrap()]);
    assert!(!place.lock("user_alice.lock").exists());
    place.ok(&["check", "alice"]);
}

#[test]
fn contention() {
    // S3.7: twelve at once, one winner
    let place = Place::new();
    let all: Vec<_> =
        (0..12).map(|n| place.start(&["--json", "acquire", "alice", "--task", &format!("t{n}")])).collect();
    let answers: Vec<_> = all.into_iter().map(super::support::Running::end).collect();
    let won: Vec<_> = answers.iter().filter(|answer| answer.code == 0).collect();
    assert_eq!(won.len(), 1, "{answers:#?}");
    assert!(answers.iter().all(|answer| [0, 75].contains(&answer.code)));
    let winner = won[0].json()["lock_id"].clone();
    assert_eq!(place.json(&["list-locks"])["items"][0]["lock_id"], winner);
}

#[test]
fn stale_cleanup() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "task_1"]);
    place.ok(&["acquire", "bob", "--task", "task_2"]);
    place.age_lock("user_alice", 3_601_000);
    assert_eq!(place.json(&["cleanup-stale", "3600"])["removed"], 1);
    place.ok(&["check", "alice"]);
    place.luzia(&["check", "bob"]).coded(75);
}

#[test]
fn several_users() {
    // S3.2: alice and bob run at the same time; each waits for the other to be there
    let place = Place::new();
    let script = "touch $PLACE/$LUZIA_USER; until test -e $PLACE/$0; do sleep 0.01; done";
    let alice = place.enqueue(&["-u", "alice", "--timeout", "25s", "--", "sh", "-c", script, "bob"]);
    let bob = place.enqueue(&["-u", "bob", "--timeout", "25s", "--", "sh", "-c", script, "alice"]);
    place.drain();
    assert_eq!((place.status(&alice), place.status(&bob)), ("completed".into(), "completed".into()));
}

#[test]
fn controller_integration() {
    // S3.1, S3.3: many tasks of few users under many dispatchers; every one runs once, none of a user beside another
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let script = "set -e
        mkdir $PLACE/in-$LUZIA_USER
        n=$(cat $PLACE/count-$LUZIA_USER 2>/dev/null || echo 0)
        echo $((n + 1)) > $PLACE/count-$LUZIA_USER
        rmdir $PLACE/in-$LUZIA_USER";
    let text: String = (0..20)
        .map(|n| {
            let user = ["alice", "bob"][n % 2];
            format!("{}\n", json!({ "user": user, "command": ["sh", "-c", script] }))
        })
        .collect();
    std::fs::write(place.path("lines"), text).unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
    let dispatchers: Vec<_> = (0..12).map(|_| place.start(&["dispatch", "--drain"])).collect();
    for dispatcher in dispatchers {
        dispatcher.end().coded(0);
    }
    let tasks = place.json(&["list", "-a"]);
    assert_eq!(super::support::with(&tasks["items"], "status", "completed").len(), 20);
    assert!(tasks["items"].as_array().unwrap().iter().all(|task| task["starts"] == 1));
    assert_eq!((place.until_file("count-alice"), place.until_file("count-bob")), ("10".into(), "10".into()));
}

#[test]
fn fair_scheduling() {
    // S3.12: alice has many tasks, bob one, queued last; bob starts within two grants
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let script = "echo $LUZIA_USER >> $PLACE/order";
    let text: String =
        (0..30).map(|_| format!("{}\n", json!({ "user": "alice", "command": ["sh", "-c", script] }))).collect();
    std::fs::write(place.path("lines"), text).unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
    place.enqueue(&["-u", "bob", "--", "sh", "-c", script]);
    let drain = place.start(&["dispatch", "--drain"]);
    let at = until("bob ran", || lines(&place.path("order")).iter().position(|user| user == "bob"));
    assert!(at < 2, "{:?}", lines(&place.path("order")));
    drain.end().coded(0);
}

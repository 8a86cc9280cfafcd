//! The hint of heads (`spool/heads`), from outside: what comes after it was written is not late, and a queue of few lanes has
//! none.

use crate::support::{Place, lines, until};
use serde_json::json;
use std::fmt::Write as _;

/// Number of lanes from which there is a hint.
const MANY: usize = 1000;

/// A place with one slot, which a task at a gate has, and with a hint of the lanes of a thousand users.
fn crowded() -> Place {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let first = place.gate("first");
    let mut tasks = format!("{}\n", json!({ "user": "first", "priority": 4, "command": ["cat", first] }));
    let last = place.gate("last");
    writeln!(tasks, "{}", json!({ "user": "last", "priority": 5, "command": ["cat", last] })).unwrap();
    for user in 0..MANY {
        writeln!(tasks, "{}", json!({ "user": format!("u{user}"), "priority": 6, "command": ["true"] })).unwrap();
    }
    std::fs::write(place.path("tasks"), tasks).unwrap();
    place.ok(&["-q", "enqueue", "--from", &place.text("tasks")]);
    place.ok(&["dispatch", "--once"]);
    until("the hint is written", || place.state().join("spool/heads").exists().then_some(()));
    place
}

fn hint(place: &Place) -> Vec<String> {
    lines(&place.state().join("spool/heads"))
}

/// Ends the first task, and gives the users of the tasks that were started until the last one waits at its gate.
fn started_before_the_last(place: &Place) -> Vec<String> {
    place.open_gate("first");
    let started = || {
        let users = place.events_named("started").into_iter();
        let users: Vec<String> = users.map(|event| event["user"].as_str().unwrap().to_owned()).collect();
        users.contains(&"last".to_owned()).then_some(users)
    };
    let mut users = until("the last task is started", started);
    place.ok(&["-q", "pause", "--all"]);
    place.open_gate("last");
    users.truncate(users.iter().position(|user| user == "last").unwrap());
    users.remove(0);
    users.sort();
    users
}

fn add(place: &Place, user: &str, priority: &str) -> String {
    place.enqueue(&["-u", user, "--priority", priority, "--", "true"])
}

#[test]
fn a_new_task_starts_at_its_place_while_the_hint_is_fresh() {
    let place = crowded();
    assert!(hint(&place)[0].starts_with("luzia-heads 1 ") && hint(&place).len() > MANY);
    add(&place, "urgent", "4");
    add(&place, "later", "6");
    add(&place, "higher", "0");
    assert!(hint(&place).iter().any(|line| line.starts_with("+4 user_urgent")), "the new lane is announced");
    assert_eq!(started_before_the_last(&place), ["higher", "urgent"]);
    assert!(hint(&place).iter().any(|line| line.starts_with('-')), "a lane that was served is struck");
}

#[test]
fn an_edit_a_pause_and_a_cancel_count_at_once_while_the_hint_is_fresh() {
    let place = crowded();
    let [paused, lowered, cancelled] = ["paused", "lowered", "cancelled"].map(|user| add(&place, user, "4"));
    place.ok(&["pause", "user:paused"]);
    place.ok(&["cancel", &cancelled, "-y"]);
    place.ok(&["edit", &lowered, "--priority", "6"]);
    assert!(!place.state().join("spool/heads").exists(), "an edit drops the hint");
    add(&place, "raised", "6");
    place.ok(&["edit", "500", "--priority", "4"]);
    assert_eq!(started_before_the_last(&place), ["u497"]);
    assert_eq!(place.status(&paused), "pending");
}

#[test]
fn a_damaged_hint_changes_nothing_and_few_lanes_have_none() {
    let place = Place::new();
    let path = place.state().join("spool/heads");
    for text in [
        "",
        "luzia-heads 1 ",
        "luzia-heads 2 9 0 0 0 0\n",
        "\u{0}\u{0}",
        "luzia-heads 1 99999999999999 1 0 0 0\n5 user_x\n",
    ] {
        let id = place.enqueue(&["-u", "a", "--", "true"]);
        assert!(!path.exists());
        std::fs::write(&path, text).unwrap();
        let other = place.enqueue(&["-u", "b", "--", "true"]);
        place.drain();
        assert_eq!([place.status(&id), place.status(&other)], ["completed", "completed"], "{text:?}");
        assert!(!path.exists(), "{text:?}");
    }
}

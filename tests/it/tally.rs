//! The tally that a daemon keeps of a long queue: counts come from it while it is right, and never from it when it is not.

use crate::support::{Place, lines, until};
use serde_json::json;
use std::fs;

/// More users than make a queue a long one.
const USERS: usize = 520;

fn pending(place: &Place) -> u64 {
    place.json(&["status"])["pending"]["total"].as_u64().unwrap()
}

#[test]
fn a_long_queue_is_counted_by_the_tally_of_a_daemon_only_where_nothing_has_changed_since() {
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    for task in ["t1", "t2"] {
        place.ok(&["acquire", "global", "--task", task]);
    }
    let line = |at: usize| format!("{{\"user\":\"u{at}\",\"command\":[\"true\"]}}\n");
    fs::write(place.path("batch"), (0..USERS).map(line).collect::<String>()).unwrap();
    place.ok(&["enqueue", "--from", &place.text("batch")]);
    assert_eq!(pending(&place), 520);
    let tally = place.state().join("tally");
    assert!(!tally.exists(), "nobody keeps one");

    let _daemon = place.start(&["daemon", "--poll", "100ms"]);
    until("every lane is in the tally", || (lines(&tally).len() == 1 + USERS).then_some(()));
    assert_eq!(pending(&place), 520);
    // What is in it is believed, as long as the folder is as it was.
    let edit = |from: &str, to: &str| {
        let text = lines(&tally).iter().map(|line| format!("{line}\n")).collect::<String>();
        let at = text.find("5/user_u7 ").unwrap();
        let end = at + text[at..].find('\n').unwrap();
        let edited = text[at..end].strip_suffix(from).unwrap().to_owned() + to;
        fs::write(&tally, format!("{}{edited}{}", &text[..at], &text[end..])).unwrap();
    };
    edit(" 1", " 41");
    assert_eq!(pending(&place), 560);
    let id = place.enqueue(&["-u", "u7", "--", "true"]);
    assert_eq!(pending(&place), 521, "the folder has changed");
    place.ok(&["cancel", &id]);
    for damaged in ["", "luzia tally 1\n5/user_u7 x y\n", "luzia tally 2\n5/user_u7 1 2\n", "\u{0}\u{0}\u{0}"] {
        fs::write(&tally, damaged).unwrap();
        assert_eq!(pending(&place), 520, "{damaged:?}");
    }

    for task in ["t1", "t2"] {
        place.ok(&["release", "global", task]);
    }
    until("the daemon forgets the tally of a short queue", || (!tally.exists()).then_some(()));
    until("the queue is empty", || (pending(&place) == 0).then_some(()));
}

//! The tally that a daemon keeps of a long queue: counts come from it while it is right, and never from it when it is not.

use crate::support::{Place, lines, until};
use serde_json::json;
use std::fs;
use std::os::unix::fs::MetadataExt;

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
    // One lane is deep.
    place.deepen("deep");
    for _ in 0..3 {
        place.enqueue(&["-u", "deep", "--", "true"]);
    }
    let line = |at: usize| format!("{{\"user\":\"u{at}\",\"command\":[\"true\"]}}\n");
    fs::write(place.path("batch"), (0..USERS).map(line).collect::<String>()).unwrap();
    place.ok(&["enqueue", "--from", &place.text("batch")]);
    assert_eq!(pending(&place), 523);
    let tally = place.state().join("tally");
    assert!(!tally.exists(), "nobody keeps one");

    let mut daemon = place.start(&["daemon", "--poll", "100ms"]);
    until("every lane is in the tally, and two segments", || (lines(&tally).len() == 1 + USERS + 3).then_some(()));
    assert_eq!(pending(&place), 523);
    // What is in it is believed, as long as the folder is as it was.
    let edit = |from: &str, to: &str| {
        let text = lines(&tally).iter().map(|line| format!("{line}\n")).collect::<String>();
        let at = text.find("spool/pending/5/user_u7 ").unwrap();
        let end = at + text[at..].find('\n').unwrap();
        let edited = text[at..end].strip_suffix(from).unwrap().to_owned() + to;
        fs::write(&tally, format!("{}{edited}{}", &text[..at], &text[end..])).unwrap();
    };
    edit(" 1", " 41");
    assert_eq!(pending(&place), 563);
    let id = place.enqueue(&["-u", "u7", "--", "true"]);
    assert_eq!(pending(&place), 524, "the folder has changed");
    place.ok(&["cancel", &id]);
    daemon.kill();
    // What is not wholly a tally is none, although a line of it would be believed.
    let folder = fs::metadata(place.state().join("spool/pending/5/user_u8")).unwrap();
    let changed = folder.mtime() * 1000 + folder.mtime_nsec() / 1_000_000;
    let believed = format!("spool/pending/5/user_u8 {changed} 31\n");
    for (text, count) in [
        (format!("luzia tally 1\n{believed}"), 553),
        (format!("luzia tally 2\n{believed}"), 523),
        (format!("luzia tally 1\n{believed}spool/pending/5/user_u9 x y\n"), 523),
        (format!("luzia tally 1\n{believed}spool/pending/5/us"), 523),
        (format!("luzia tally 1\n{}", believed.replace("31", &u64::MAX.to_string())), u64::MAX),
        (String::new(), 523),
    ] {
        fs::write(&tally, &text).unwrap();
        assert_eq!(pending(&place), count, "{text}");
    }

    for task in ["t1", "t2"] {
        place.ok(&["release", "global", task]);
    }
    let _daemon = place.start(&["daemon", "--poll", "100ms"]);
    until("the daemon forgets the tally of a short queue", || (!tally.exists()).then_some(()));
    until("the queue is empty", || (pending(&place) == 0).then_some(()));
}

//! Bad input about sessions and names changes nothing and says what is wrong.

use super::agents::keepers;
use crate::support::{Place, until};

#[test]
fn bad_names_and_keys_are_refused_and_change_nothing() {
    let place = Place::new();
    place.ok(&["acquire", "bob", "--session", "k"]);
    let before = place.snapshot();
    let long = "x".repeat(65);
    let long_key = "x".repeat(201);
    for (args, part) in [
        (&["acquire", "alice"][..], "--task"),
        (&["acquire", "--session", "alice"], "USER|LANE"),
        (&["acquire", "alice", "--session", "a\nb"], "control characters"),
        (&["acquire", "alice", "--session", &long_key], "longer than 200 bytes"),
        (&["acquire", "alice", "--session", "k", "--pid", "999999999"], "no living process"),
        (&["acquire", "alice", "--session", "k", "--ttl", "0"], "longer than 0"),
        (&["acquire", "alice", "--task", "t", "--as", ""], "it is empty"),
        (&["lock", "--as", "a\u{202e}b", "-u", "alice", "--", "true"], "control characters"),
        (&["enqueue", "--as", &long, "-u", "alice", "--", "true"], "longer than 64 bytes"),
        (&["run", "--as", "\u{1b}[2J", "-u", "alice", "--", "true"], "control characters"),
        (&["list", "--as", "codex"], "--as"),
        (&["release", "--all"], "--session"),
        (&["release", "bob", "--session", "k", "--force"], "--force"),
        (&["release", "bob", "--session", "k", "--lock-id", "x_1"], "--lock-id"),
        (&["release", "--session", "a\u{7}", "--all"], "control characters"),
    ] {
        let ran = place.luzia(args).coded(2);
        assert!(ran.err.contains(part) && ran.err.contains("luzia"), "{args:?}: {ran:#?}");
        assert!(!ran.err.contains('\u{1b}') && !ran.err.contains('\u{202e}'), "{ran:#?}");
    }
    place.assert_unchanged(&before, "bad input");
    assert_eq!(keepers(&place).len(), 1);
}

#[test]
fn marks_of_others_make_a_keeper_hold_nothing() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "me"]);
    place.ok(&["acquire", "bob", "--session", "other"]);
    place.ok(&["acquire", "carol", "--session", "k"]);
    for name in
        ["want-user_alice", "want-user_bob", "want-user_nobody", "want-", "want-@", "want-user_x@0", "held-user_alice"]
    {
        std::fs::write(place.lock(&format!(".sessions/k/{name}")), "").unwrap();
    }
    place.ok(&["acquire", "dora", "--session", "k"]);
    place.ok(&["release", "--session", "k", "--all"]);
    for (lane, code) in [("alice", 75), ("bob", 75), ("carol", 0), ("dora", 0)] {
        place.luzia(&["check", lane]).coded(code);
    }
}

#[test]
fn an_answer_that_cannot_be_written_says_that_the_lease_is_held() {
    let place = Place::new();
    for (lane, more) in [("alice", &["--task", "me"][..]), ("bob", &["--session", "k", "--task", "me"])] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = place.command(&[&["acquire", lane], more].concat());
        let mut running = place.spawn_into(&mut command, Some(full.into()));
        until("it has ended", || running.is_over().then_some(()));
        assert!(running.err().contains("the lease \"me_") && running.err().contains("is held"), "{}", running.err());
        place.luzia(&["check", lane]).coded(75);
    }
}

//! A bare word where a user or a lane is asked for is a user, never a lane, and a word that may mean a lane in use is refused
//! (contract, section 4).

use crate::support::Place;
use serde_json::json;

/// The verbs that take `USER|LANE`, with their further arguments.
const VERBS: [&[&str]; 7] = [
    &["acquire", "build", "--task", "me"],
    &["renew", "build", "--lock-id", "me_1"],
    &["release", "build", "me"],
    &["check", "build"],
    &["explain", "build"],
    &["pause", "build"],
    &["resume", "build"],
];

/// Every verb refuses the word, names both spellings, and changes nothing.
#[track_caller]
fn assert_refused(place: &Place, mark: &str) {
    let before = place.snapshot();
    for verb in VERBS {
        let refused = place.luzia(verb).coded(2);
        for words in [mark, "lane:build", "user:build"] {
            assert!(refused.err.contains(words), "{verb:?} does not say {words:?}: {}", refused.err);
        }
    }
    place.assert_unchanged(&before, mark);
}

#[test]
fn a_word_is_a_user_in_a_fresh_directory_and_the_answer_says_so() {
    let place = Place::new();
    let taken = place.ok(&["acquire", "build", "--task", "me"]);
    assert_eq!(taken.err, "lane \"user:build\" taken\n");
    assert!(place.lock("user_build.lock").exists());
    assert_eq!(place.ok(&["lock", "-l", "build", "-n", "--", "echo", "another lane"]).line(), "another lane");
    // The user has a lock, so a rule for the lane of that name changes nothing.
    place.ok(&["lanes", "set", "build", "--max", "1"]);
    assert!(place.luzia(&["check", "build"]).coded(75).err.contains("\"user:build\""));
    assert!(place.ok(&["pause", "build"]).err.contains("\"user:build\" is paused"));
    assert!(place.ok(&["resume", "build"]).err.contains("\"user:build\" is no longer paused"));
    let id = place.json(&["acquire", "build", "--task", "me"])["lock_id"].as_str().unwrap().to_owned();
    assert!(place.ok(&["renew", "build", "--lock-id", &id]).err.contains("\"user:build\""));
    assert!(place.ok(&["explain", "build"]).out.contains("user:build"));
    assert!(place.ok(&["release", "build", "me"]).err.contains("\"user:build\" released"));
}

#[test]
fn a_word_is_refused_while_the_lane_of_that_name_has_a_rule_a_pause_a_lock_or_a_waiting_task() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    assert_refused(&place, "has a rule");
    place.ok(&["lanes", "rm", "build"]);
    place.ok(&["check", "build"]);
    place.ok(&["pause", "lane:build"]);
    assert_refused(&place, "is paused");
    place.ok(&["resume", "lane:build"]);
    place.ok(&["acquire", "-l", "build", "--task", "other"]);
    assert_refused(&place, "has a lock");
    place.ok(&["release", "-l", "build", "other"]);
    let id = place.enqueue(&["-l", "build", "-l", "other", "--", "true"]);
    assert_refused(&place, "has a waiting task");
    place.ok(&["cancel", &id, "-y"]);
    place.ok(&["check", "build"]);
    let configured = Place::configured(&json!({ "lanes": { "lane:build": { "max": 2 } } }));
    configured.ok(&["lock", "-u", "alice", "--", "true"]);
    assert_refused(&configured, "has a rule");
}

#[test]
fn a_word_is_a_user_while_the_user_has_a_rule_a_lock_or_a_task_that_is_kept() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    place.luzia(&["check", "build"]).coded(2);
    place.ok(&["lanes", "set", "user:build", "--weight", "2"]);
    assert!(place.ok(&["check", "build"]).err.contains("\"user:build\""));
    place.ok(&["lanes", "rm", "user:build"]);
    place.luzia(&["check", "build"]).coded(2);
    place.ok(&["run", "-u", "build", "--", "true"]);
    assert!(place.ok(&["check", "build"]).err.contains("\"user:build\""));
    let configured =
        Place::configured(&json!({ "lanes": { "build": {} }, "projects": { "site": { "user": "build" } } }));
    assert!(configured.ok(&["check", "build"]).err.contains("\"user:build\""));
}

#[test]
fn a_lane_is_named_by_an_option_or_in_full_and_a_built_in_one_by_its_word() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--max", "1"]);
    place.ok(&["acquire", "-l", "build", "--task", "me"]);
    for args in [&["check", "-l", "build"][..], &["check", "lane:build"]] {
        assert!(place.luzia(args).coded(75).err.contains("lane \"build\" is held by me"));
    }
    assert!(place.ok(&["explain", "-l", "build"]).out.contains("is held by me"));
    assert!(place.ok(&["pause", "-l", "build"]).err.contains("\"lane:build\" is paused"));
    assert!(place.ok(&["resume", "-l", "build"]).err.contains("\"lane:build\" is no longer paused"));
    place.ok(&["acquire", "main", "--task", "me"]);
    assert!(place.lock("lane_main.lock").exists());
    assert_eq!(place.json(&["lanes", "show", "build"])["active"], 1);
}

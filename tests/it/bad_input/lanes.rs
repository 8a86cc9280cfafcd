//! Bad input to lanes (P8): what does not exist, and what contradicts a rule that stands.

use super::{lived_in, refused};
use crate::support::Place;
use serde_json::json;

/// A refusal names these words.
#[track_caller]
fn refused_saying(place: &Place, args: &[&str], code: i32, words: &[&str]) {
    let ran = refused(place, args, code);
    assert!(words.iter().all(|word| ran.err.contains(word)), "{words:?} {ran:#?}");
}

#[test]
fn a_lane_that_nobody_uses_is_not_shown() {
    let place = lived_in();
    for lane in ["nobody-uses-this", "thread:99", "user:carol"] {
        refused_saying(&place, &["lanes", "show", lane], 66, &[lane]);
    }
}

#[test]
fn a_lane_has_a_place_at_least() {
    let place = lived_in();
    for lane in ["build", "user:*", "global", "main"] {
        refused_saying(&place, &["lanes", "set", lane, "--max", "0"], 2, &["--max"]);
    }
}

#[test]
fn a_rule_needs_an_option_that_says_what_to_set() {
    let place = lived_in();
    refused_saying(&place, &["lanes", "set", "build"], 2, &["--max", "--hold-while", "--cpu-budget", "--affinity"]);
    let none = "the value none takes an option back";
    refused_saying(&place, &["lanes", "set", "build", "--hold-while", ""], 2, &["is not a condition", none]);
}

#[test]
fn a_task_takes_the_lane_of_one_user() {
    let place = lived_in();
    for args in [
        &["enqueue", "-u", "bob", "-l", "user:carol", "--", "true"][..],
        &["run", "-u", "bob", "-l", "user:carol", "--", "true"],
        &["enqueue", "-u", "bob", "-l", "user:bob", "-l", "user:carol", "--", "true"],
    ] {
        refused_saying(&place, args, 2, &["user:carol", "queue one task for each user"]);
    }
    refused_saying(&place, &["enqueue", "-l", "user:carol", "--", "true"], 2, &["write -u carol in place of -l"]);
}

#[test]
fn a_range_shares_no_port_with_another_lane() {
    let place = lived_in();
    place.ok(&["lanes", "set", "port", "--range", "41000-41009"]);
    for range in ["41000-41009", "41009-41020", "40990-41000", "41003-41004", "40000-42000"] {
        refused_saying(&place, &["lanes", "set", "other", "--range", range], 2, &["port"]);
    }
    assert_eq!(place.json(&["lanes", "set", "other", "--range", "41010-41019"])["lane"], json!("other"));
}

#[test]
fn a_parent_is_a_task_that_is_not_over() {
    let place = lived_in();
    let over = place.enqueue(&["-u", "dora", "--", "true"]);
    place.ok(&["cancel", &over]);
    refused_saying(&place, &["enqueue", "--parent", "task_999", "--", "true"], 66, &["task_999"]);
    refused_saying(&place, &["enqueue", "--parent", &over, "--", "true"], 2, &[&over, "parent"]);
    refused_saying(&place, &["enqueue", "--parent", "self", "--", "true"], 2, &["self"]);
    refused_saying(&place, &["enqueue", "--parent", "", "--", "true"], 2, &[]);
}

#[test]
fn resume_needs_something_that_it_can_resume() {
    let place = lived_in();
    place.ok(&["pause", "thread:7"]);
    for pattern in ["user:z*", "goal:*", "thread:8*"] {
        refused_saying(&place, &["resume", pattern], 66, &[pattern]);
    }
    refused_saying(&place, &["resume", "--label", "nobody"], 66, &[]);
    refused_saying(&place, &["resume", "*"], 2, &["--all"]);
    place.ok(&["resume", "thread:*"]);
}

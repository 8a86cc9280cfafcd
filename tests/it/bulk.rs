//! Many tasks at once (`cancel`, `retry` and `wait` by what tasks have in common), `move`, and `enqueue --dry-run`.

use crate::support::Place;
use serde_json::{Value, json};

fn statuses(place: &Place, ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| place.status(id)).collect()
}

#[test]
fn tasks_are_cancelled_by_what_they_have_in_common() {
    let place = Place::new();
    let all: Vec<String> = [
        ["-u", "a", "--label", "x"],
        ["-u", "a", "--label", "y"],
        ["-u", "b", "--label", "x"],
        ["-u", "b", "-l", "build"],
    ]
    .iter()
    .map(|options| place.enqueue(&[&options[..], &["--", "true"]].concat()))
    .collect();
    let before = place.snapshot();
    let refused = place.luzia(&["cancel", "-u", "a"]).coded(2);
    assert!(refused.err.contains("cancel would act on 2 tasks, task_1 to task_2"), "{}", refused.err);
    place.luzia(&["cancel", "--label", "nobody", "-y"]).coded(66);
    place.luzia(&["cancel", "--state", "failed", "-y"]).coded(2);
    place.luzia(&["cancel"]).coded(2);
    place.luzia(&["cancel", "1", "--all", "-y"]).coded(2);
    place.assert_unchanged(&before, "refused selections");
    place.ok(&["cancel", "-u", "a", "--label", "x", "-y"]);
    assert_eq!(statuses(&place, &all), ["cancelled", "pending", "pending", "pending"]);
    place.ok(&["cancel", "-l", "build", "-y"]);
    assert_eq!(statuses(&place, &all), ["cancelled", "pending", "pending", "cancelled"]);
    let rest = place.json(&["cancel", "--all", "-y"]);
    assert_eq!(rest["items"].as_array().unwrap().len(), 2);
    // What has completed is retried only where that is asked for.
    let before = place.snapshot();
    place.luzia(&["retry", "-u", "b"]).coded(2);
    place.luzia(&["retry", "--all"]).coded(2);
    place.assert_unchanged(&before, "retries that nobody agreed to");
    place.ok(&["retry", "-u", "b", "-y"]);
    place.drain();
    assert_eq!(statuses(&place, &all), ["cancelled", "cancelled", "completed", "completed"]);
    place.luzia(&["retry", "--since", "2100-01-01", "-y"]).coded(66);
    place.luzia(&["retry", "1", "--since", "1h", "-y"]).coded(2);
    place.ok(&["retry", "--since", "1h", "-y"]);
    assert_eq!(statuses(&place, &all), ["pending", "pending", "completed", "completed"]);
    let waits = place.start(&["wait", "--all", "--timeout", "20s"]);
    place.drain();
    waits.end().coded(0);
    place.luzia(&["wait", "--all"]).coded(66);
}

#[test]
fn a_task_is_moved_before_others_of_its_lane() {
    let place = Place::new();
    let add = |user: &str, n: u32| place.enqueue(&["-u", user, "--shell", &format!("echo {n} >>$PLACE/log")]);
    let all: Vec<String> = (1..=4).map(|n| add("a", n)).collect();
    let other = add("b", 5);
    place.ok(&["move", &all[2], "--before", &all[1]]);
    place.ok(&["move", &all[3], "--first"]);
    let again = place.ok(&["move", &all[3], "--first"]);
    assert!(again.err.contains("already"), "{}", again.err);
    let before = place.snapshot();
    place.luzia(&["move", &all[0], "--before", &other]).coded(1);
    place.luzia(&["move", &all[0], "--before", &all[0]]).coded(2);
    place.luzia(&["move", &all[0], "--before", "99"]).coded(66);
    place.luzia(&["move", &all[0]]).coded(2);
    place.assert_unchanged(&before, "refused moves");
    place.ok(&["edit", &all[3], "--priority", "0"]);
    let younger = add("a", 6);
    let refused = place.luzia(&["move", &younger, "--before", &all[3]]).coded(1);
    assert!(refused.err.contains("nothing comes before it"), "{}", refused.err);
    place.ok(&["cancel", &other, &younger, "-y"]);
    place.drain();
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert_eq!(log, "4\n3\n1\n2\n");
    place.luzia(&["move", &all[0], "--first"]).coded(1);
}

#[test]
fn a_move_across_priorities_says_what_it_changes() {
    let place = Place::configured(&json!({ "lanes": { "gpu": { "max": 1 } } }));
    let add = |user: &str, priority: &str, more: &[&str]| {
        place.enqueue(&[&["-u", user, "--priority", priority, "-l", "gpu"], more, &["--", "true"]].concat())
    };
    let (urgent, idle, other) = (add("a", "2", &[]), add("a", "8", &[]), add("b", "6", &["--thread", "7"]));
    let told = |args: &[&str]| place.ok(&[&["move"], args].concat()).err;
    let text = told(&[&urgent, "--before", &idle]);
    assert!(text.contains("already; its priority stays 2"), "{text}");
    let text = told(&[&idle, "--before", &urgent]);
    assert!(text.contains("has priority 1 now, and had 8; it counts as high now"), "{text}");
    assert!(!text.contains("shares"), "{text}");
    // Users share a lane with several places: priority does not order their tasks there.
    let text = told(&[&other, "--before", &urgent]);
    assert!(text.contains("has priority 1 now, and had 6") && text.contains("take turns by their shares"), "{text}");
    // In a thread all have one order.
    let reply = add("a", "9", &["--thread", "7"]);
    let moved = place.json(&["move", &reply, "--before", &other]);
    let members = (&moved["moved"], &moved["priority_before"], &moved["priority"]);
    assert_eq!(members, (&json!(true), &json!(9), &json!(0)), "{moved:#}");
    let stays = place.json(&["move", &reply, "--before", &other]);
    assert_eq!((&stays["moved"], &stays["priority_before"]), (&json!(false), &Value::Null), "{stays:#}");
}

#[test]
fn a_dry_run_says_place_and_reasons_and_writes_nothing() {
    let place = Place::new();
    let fresh = place.json(&["enqueue", "--dry-run", "-u", "a", "--", "true"]);
    assert_eq!((&fresh["id"], &fresh["dry_run"], &fresh["queued"]), (&Value::Null, &json!(true), &json!(false)));
    assert!(!place.state().join("spool").exists(), "not even a queue");
    place.enqueue(&["-u", "a", "--", "true"]);
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    let before = place.snapshot();
    let seen = place.json(&["enqueue", "--dry-run", "-u", "a", "-l", "build", "--", "true"]);
    let words: Vec<&str> =
        seen["reasons"].as_array().unwrap().iter().filter_map(|one| one["reason"].as_str()).collect();
    assert_eq!((seen["position"].as_u64(), &words[..2]), (Some(1), &["Priority", "LaneFull"][..]), "{seen}");
    place.luzia(&["enqueue", "--dry-run", "-u", "a", "--", "no-such-command"]).coded(2);
    place.luzia(&["enqueue", "--dry-run", "--after", "99", "--", "true"]).coded(66);
    place.luzia(&["enqueue", "--dry-run", "--wait", "--", "true"]).coded(2);
    place.assert_unchanged(&before, "dry runs");
}

#[test]
fn a_retry_that_is_cancelled_leaves_the_failure_in_the_history() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "sh", "-c", "sleep 0.02; exit 3"]);
    place.drain();
    let failed = place.show(&id);
    assert_eq!(failed.get("earlier"), None);
    place.ok(&["retry", &id]);
    place.ok(&["cancel", &id, "--reason", "not today"]);
    let task = place.show(&id);
    assert_eq!((&task["status"], task["earlier"].as_array().map(Vec::len)), (&json!("cancelled"), Some(1)), "{task}");
    for member in ["status", "exit_code", "completed_at", "ran_ms", "result_summary"] {
        assert_eq!(task["earlier"][0][member], failed[member], "{member}");
    }
    let listed = place.ok(&["list", "-a"]).out;
    assert!(listed.contains("not today; before: exit=3"), "{listed}");
    let shown = place.ok(&["show", &id]).out;
    assert!(shown.contains("Ended before") && shown.contains("failed, the command exited with 3"), "{shown}");
    // A second end stands behind the first one.
    place.ok(&["retry", &id]);
    place.drain();
    let ends: Vec<Value> =
        place.show(&id)["earlier"].as_array().unwrap().iter().map(|end| end["status"].clone()).collect();
    assert_eq!(ends, [json!("failed"), json!("cancelled")]);
}

//! Estimates from outside (agents.md, section 9): in `explain`, `enqueue --dry-run` and the first line of who waits; and how
//! `stats estimates` scores them.

use crate::support::{Place, until};
use serde_json::{Value, json};

/// A place in which the same work, a sleep in the lane of a user, has run a few times.
fn place_with_history(runs: usize) -> Place {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    for _ in 0..runs {
        place.enqueue(&["-u", "alice", "--", "sh", "-c", "sleep 0.2"]);
    }
    place.drain();
    place
}

/// Holds the one slot with work that is known.
fn busy(place: &Place) -> String {
    let gate = place.gate("gate");
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "sleep 0.2; read x < $1", "sh", &gate]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    id
}

#[test]
fn explain_and_a_dry_run_tell_when_a_task_is_expected_to_start_and_by_how_many_runs() {
    let place = place_with_history(5);
    busy(&place);
    let waits = place.enqueue(&["-u", "bob", "--", "true"]);
    let told = place.json(&["explain", &waits])["estimate"].clone();
    let number = |member: &str| told[member].as_u64().unwrap_or_else(|| panic!("{member}: {told}"));
    assert_eq!((number("samples"), number("position")), (5, 0));
    assert!(number("start_p50_ms") <= number("start_p90_ms") && number("start_p90_ms") < 600_000, "{told}");
    let said = place.ok(&["explain", &waits]).out;
    assert!(said.contains("it starts in") && said.contains("by the last 5 runs"), "{said}");
    let dry = place.json(&["enqueue", "--dry-run", "-u", "carol", "--", "true"]);
    // bob's task, of which nothing is known, is between.
    assert_eq!(dry["estimate"], Value::Null);
    let dry = place.json(&["enqueue", "--dry-run", "-u", "carol", "--priority", "0", "--", "true"]);
    assert_eq!(dry["estimate"]["position"], 0, "{dry}");
    place.open_gate("gate");
    place.drain();
}

#[test]
fn an_estimate_without_a_dispatcher_says_its_condition() {
    let place = place_with_history(5);
    for _ in 0..3 {
        place.enqueue(&["-u", "alice", "--", "sh", "-c", "sleep 0.2"]);
    }
    let waits = place.enqueue(&["-u", "alice", "--", "true"]);
    for args in [&["explain", &waits][..], &["enqueue", "--dry-run", "-u", "alice", "--", "true"]] {
        let said = place.ok(args);
        let said = said.out + &said.err;
        assert!(said.contains("nothing is running that starts tasks"), "{said}");
        assert!(said.contains("once a dispatcher runs, it starts ") && !said.contains("it starts in"), "{said}");
    }
    place.drain();
}

#[test]
fn under_three_runs_nothing_is_said() {
    let place = place_with_history(2);
    busy(&place);
    let waits = place.enqueue(&["-u", "bob", "--", "true"]);
    assert_eq!(place.json(&["explain", &waits])["estimate"], Value::Null);
    let said = place.ok(&["explain", &waits]).out;
    assert!(said.contains("its start time is unknown"), "{said}");
    place.open_gate("gate");
    place.drain();
}

#[test]
fn a_task_that_is_ready_or_paused_has_no_estimate() {
    let place = place_with_history(3);
    let ready = place.enqueue(&["-u", "alice", "--", "sh", "-c", "sleep 0.2"]);
    // Nothing runs that would start it: then an estimate says when it would start if something did.
    assert_eq!(place.json(&["explain", &ready])["estimate"]["start_p90_ms"], 0);
    place.ok(&["pause", "alice"]);
    assert_eq!(place.json(&["explain", &ready])["estimate"], Value::Null);
}

#[test]
fn who_waits_is_told_about_how_long_at_the_first_line() {
    let place = place_with_history(4);
    busy(&place);
    let run = place.start(&["run", "-u", "bob", "--", "true"]);
    let line = until("the first line", || run.err().lines().find(|line| line.contains("waits:")).map(str::to_owned));
    assert!(line.contains("; position 1; about "), "{line}");
    place.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn a_lock_that_waits_is_told_about_how_long_by_the_holds_before() {
    let place = Place::new();
    for _ in 0..3 {
        place.ok(&["lock", "-l", "deploy", "--", "true"]);
    }
    let gate = place.gate("gate");
    let holder = place.start(&["lock", "-l", "deploy", "--", "sh", "-c", "read x < $0", &gate]);
    until("it is held", || place.lock("lane_deploy.lock").exists().then_some(()));
    let waiter = place.start(&["lock", "-l", "deploy", "--", "true"]);
    let line = until("the line", || waiter.err().lines().find(|line| line.contains("waits:")).map(str::to_owned));
    assert!(line.contains("; about "), "{line}");
    place.open_gate("gate");
    holder.end().coded(0);
    waiter.end().coded(0);
}

#[test]
fn stats_estimates_score_what_was_to_be_expected_by_the_events() {
    let place = place_with_history(5);
    // Three at once in one slot: two of them wait.
    for user in ["alice", "bob", "carol"] {
        place.enqueue(&["-u", user, "--", "sh", "-c", "sleep 0.2"]);
    }
    place.drain();
    let told = place.json(&["stats", "estimates"]);
    assert_eq!((&told["schema"], &told["topic"]), (&json!("luzia.stats/v1"), &json!("estimates")));
    let all = |member: &str| told["all"][member].as_u64().unwrap();
    assert!(all("estimated") <= all("tasks") && all("within_p90") <= all("estimated"), "{told}");
    assert!(all("within_p50") <= all("within_p90"), "{told}");
    let sum: u64 = told["items"].as_array().unwrap().iter().map(|item| item["tasks"].as_u64().unwrap()).sum();
    assert_eq!(sum, all("tasks"));
    let table = place.ok(&["stats", "estimates"]).out;
    assert!(table.starts_with("LANE") && table.contains("WITHIN P90"), "{table}");
    place.luzia(&["stats", "guesses"]).coded(2);
}

/// The end of a lease says nothing of how long work runs.
#[test]
fn what_waits_for_a_lease_alone_has_no_estimate_by_runs() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "me", "--ttl", "10m"]);
    let id = place.enqueue(&["-u", "alice", "--", "true"]);
    assert_eq!(place.json(&["explain", &id])["estimate"], Value::Null);
    let said = place.ok(&["explain", &id]).out;
    assert!(!said.contains("last 0 runs") && said.contains("its start time is unknown"), "{said}");
}

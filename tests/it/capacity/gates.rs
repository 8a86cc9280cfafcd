//! Gates (agents.md, section 9). The available memory of a host is always below 100 %, and no load is above 999.

use super::{among_locks, is_over_soon, locked, reason, running};
use crate::support::{Place, until};
use serde_json::json;

const SHUT: &str = "mem<100% | load>999";
const OPEN: &str = "load>999";

fn gate(place: &Place, expression: &str) {
    place.ok(&["lanes", "set", "build", "--max", "5", "--hold-while", expression]);
}

#[test]
fn a_shut_gate_grants_nothing_and_takes_nothing_back() {
    let place = Place::new();
    gate(&place, OPEN);
    let mut holder = locked(&place, "one", "build", "true");
    let first = running(&place, "alice", "build", "true");
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    gate(&place, SHUT);
    let waiting = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let other = place.enqueue(&["-u", "bob", "--", "true"]);
    place.ok(&["dispatch"]);
    let why = place.json(&["explain", &waiting]);
    let words: Vec<&str> = why["reasons"].as_array().unwrap().iter().filter_map(|why| why["reason"].as_str()).collect();
    assert!(words.contains(&"HostBusy") && words.contains(&"NoDispatcher"), "{words:?}");
    let busy = why["reasons"].as_array().unwrap().iter().find(|why| why["reason"] == "HostBusy").unwrap();
    assert!(busy["readings"][0].as_str().unwrap().starts_with("mem "), "{busy}");
    assert_eq!(busy["conditions"][0], "mem<100%");
    assert_eq!((place.status(&waiting), place.status(&first)), ("pending".into(), "running".into()));
    assert!(!holder.is_over());
    let refused = place.luzia(&["lock", "-l", "build", "-n", "--", "true"]).coded(75);
    assert!(refused.err.contains("while the host is busy: mem "), "{}", refused.err);
    place.luzia(&["acquire", "lane:build", "--task", "you"]).coded(75);
    // Who has the lane keeps it: that is no grant.
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    assert_eq!(place.json(&["lanes", "show", "build"])["shut"]["conditions"][0], "mem<100%");
    assert_eq!(among_locks(&place, ".shut"), [".lane_build.shut"]);
    place.ok(&["release", "lane:build", "me"]);
    for gate in ["gate.one", "gate.alice"] {
        place.open_gate(gate);
    }
    is_over_soon(&mut holder);
    place.until_status(&first, "completed");
    gate(&place, OPEN);
    place.drain();
    assert_eq!((place.status(&waiting), place.status(&other)), ("completed".into(), "completed".into()));
    let told = |name| place.events_named(name).len();
    assert_eq!((told("gate_shut"), told("gate_opened")), (1, 1), "each change is told once");
    assert!(among_locks(&place, ".shut").is_empty());
}

#[test]
fn who_waits_at_a_gate_goes_on_by_itself() {
    let place = Place::new();
    gate(&place, SHUT);
    let run = place.start(&["run", "-u", "alice", "-l", "build", "--", "true"]);
    let lock = place.start(&["lock", "-l", "build", "--", "true"]);
    until("the task waits", || (reason(&place, "task_1") == "HostBusy").then_some(()));
    until("the lock says why", || lock.err().contains("while the host is busy").then_some(()));
    // The rule is changed behind luzia's back, so that nobody is called.
    let path = place.state().join("spool/control.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(place.path("control"), text.replace("mem<100%", "mem<0%")).unwrap();
    std::fs::rename(place.path("control"), path).unwrap();
    run.end().coded(0);
    lock.end().coded(0);
}

#[test]
fn what_a_waiting_parent_lends_is_borrowed_at_a_shut_gate() {
    let place = Place::new();
    gate(&place, OPEN);
    let script = "$LUZIA lanes set build --hold-while 'mem<100%' && $LUZIA run -l build --parent self -- true";
    let id = place.enqueue(&["-u", "alice", "-l", "build", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn one_option_is_taken_back_and_the_others_stay() {
    let place = Place::configured(&json!({ "lanes": { "build": { "cpu_budget": 2 } } }));
    gate(&place, OPEN);
    place.ok(&["lanes", "set", "build", "--cpu-budget", "3"]);
    let rule = || place.json(&["lanes", "show", "build"]);
    assert_eq!((&rule()["hold_while"], &rule()["cpu_budget"]), (&json!(OPEN), &json!("3")));
    place.ok(&["lanes", "set", "build", "--hold-while", "none", "--cpu-budget", "none"]);
    let left = rule();
    assert_eq!((&left["hold_while"], &left["max_concurrent"], &left["rule"]), (&json!(null), &json!(5), &json!("set")));
    assert_eq!(left["cpu_budget"], "2", "the configuration counts again");
    place.ok(&["lanes", "set", "build", "--rate", "9/1h", "--max", "none"]);
    assert_eq!((&rule()["rate"], &rule()["max_concurrent"]), (&json!("9/1h"), &json!(1)));
    place.ok(&["lanes", "set", "build", "--rate", "none"]);
    assert_eq!(rule()["rule"], "config", "nothing that was set is left");
}

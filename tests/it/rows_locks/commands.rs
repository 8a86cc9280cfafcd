//! `luzia lock`: flock(1) for a lane, and what keeps it held; lanes of tasks.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::json;

/// Holds alice's lane by a command that waits at the gate `gate`, and gives the pid of that command too.
fn hold(place: &Place) -> (crate::support::Running, u32) {
    place.gate("gate");
    let script = "echo $$ > $PLACE/pid; read _ < $PLACE/gate";
    let holder = place.start(&["lock", "-u", "alice", "--", "sh", "-c", script]);
    let pid = place.until_file("pid").parse().unwrap();
    (holder, pid)
}

#[test]
fn the_command_has_its_own_code_and_both_streams() {
    let place = Place::new();
    let ran = place.luzia(&["lock", "-u", "alice", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]).coded(7);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
    place.luzia(&["lock", "-u", "alice", "--", "sh", "-c", "kill -TERM $$"]).coded(143);
    place.luzia(&["lock", "-u", "alice", "--", "no-such-command"]).coded(127);
    place.luzia(&["lock", "-u", "alice", "--", "/etc/passwd"]).coded(126);
    place.luzia(&["lock", "-u", "alice", "--", "/"]).coded(126);
    place.ok(&["check", "alice"]);
    let env = place.ok(&["lock", "-u", "alice", "--", "sh", "-c", "echo $LUZIA_LOCK_ID $LUZIA_FENCE"]);
    assert!(env.out.starts_with("pid-") && env.line().split(' ').count() == 2, "{}", env.out);
}

#[test]
fn a_held_lane_is_refused_at_once_after_a_time_or_with_a_code_of_ones_own() {
    let place = Place::new();
    let (holder, _) = hold(&place);
    let refused = place.luzia(&["lock", "-u", "alice", "-n", "--", "true"]).coded(75);
    assert!(refused.err.contains("user:alice") && refused.err.contains("hint:"), "{}", refused.err);
    let late = place.luzia(&["lock", "-u", "alice", "-w", "200ms", "--", "true"]).coded(75);
    assert!(late.took.as_millis() >= 200);
    place.luzia(&["lock", "-u", "alice", "-n", "-E", "9", "--", "true"]).coded(9);
    place.luzia(&["lock", "-u", "alice", "-w", "0.1", "-E", "0", "--", "true"]).coded(0);
    place.ok(&["lock", "-u", "bob", "-n", "--", "true"]);
    let waiting = place.start(&["lock", "-u", "alice", "-w", "30", "--", "echo", "mine"]);
    place.open_gate("gate");
    holder.end().coded(0);
    assert_eq!(waiting.end().coded(0).out, "mine\n");
}

#[test]
fn the_command_keeps_the_lane_when_luzia_itself_is_killed() {
    let place = Place::new();
    let (mut holder, command) = hold(&place);
    holder.kill();
    assert!(lives(command));
    place.luzia(&["check", "alice"]).coded(75);
    place.luzia(&["lock", "-u", "alice", "-n", "--", "true"]).coded(75);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "0");
    let waiting = place.start(&["lock", "-u", "alice", "-w", "30", "--", "echo", "mine"]);
    place.open_gate("gate");
    assert_eq!(waiting.end().coded(0).out, "mine\n");
}

#[test]
fn a_child_left_in_the_background_keeps_the_lane() {
    let place = Place::new();
    place.gate("gate");
    let script = "(echo $$ > $PLACE/pid; read _ < $PLACE/gate) & true";
    let told = place.ok(&["lock", "-u", "alice", "--", "sh", "-c", script]).err;
    assert!(told.contains("keeps lane \"user:alice\" until it ends"), "{told}");
    assert_eq!(place.ok(&["lock", "-u", "bob", "--", "true"]).err, "");
    place.luzia(&["check", "alice"]).coded(75);
    place.luzia(&["acquire", "alice", "--task", "t1"]).coded(75);
    place.open_gate("gate");
    until("the lane is free", || (place.luzia(&["check", "alice"]).code == 0).then_some(()));
}

#[test]
fn force_ends_the_holder_before_it_releases() {
    let place = Place::new();
    let (holder, command) = hold(&place);
    place.luzia(&["release", "alice"]).coded(1);
    assert!(lives(command));
    place.ok(&["release", "alice", "--force"]);
    assert!(!lives(command));
    place.ok(&["acquire", "alice", "--task", "t1"]);
    drop(holder);
}

#[test]
fn sigterm_reaches_the_command_and_its_end_frees_the_lane() {
    let place = Place::new();
    let (holder, command) = hold(&place);
    holder.signal(Signal::TERM);
    holder.end().coded(143);
    assert!(!lives(command));
    place.ok(&["check", "alice"]);
}

#[test]
fn a_stopped_holder_keeps_its_lane() {
    let place = Place::new();
    let (holder, command) = hold(&place);
    signal(holder.pid(), Signal::STOP);
    signal(command, Signal::STOP);
    place.luzia(&["acquire", "alice", "--task", "t1"]).coded(75);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "0");
    signal(command, Signal::CONT);
    signal(holder.pid(), Signal::CONT);
    place.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn the_end_of_a_task_frees_its_threads_whether_it_completes_or_fails() {
    // S0.11, S0.12
    let place = Place::new();
    for command in ["true", "false"] {
        place.luzia(&["run", "--thread", "7", "--", command]);
        place.ok(&["check", "thread:7"]);
    }
}

#[test]
fn all_threads_of_a_task_are_released_by_one_event() {
    // S0.14, S0.34
    let place = Place::new();
    let ran = place.ok(&["run", "-v", "--thread", "1", "--thread", "2", "--", "true"]);
    let line = "[AgentGraph] Released locks on 2 thread(s) for execution 1";
    assert!(ran.err.lines().any(|found| found == line), "{}", ran.err);
    let events: Vec<_> = place.events().into_iter().filter(|event| event["message"] == line).collect();
    assert_eq!(events.len(), 1);
    for thread in ["thread:1", "thread:2"] {
        let free = place.json(&["check", thread]);
        assert!(free["activeExecutionId"].is_null() && free["executionLockedAt"].is_null());
    }
}

#[test]
fn a_lane_with_a_limit_has_as_many_holders_and_no_more() {
    let place = Place::configured(&json!({ "lanes": { "gpu": { "max": 3 } } }));
    let script = "echo up >> $PLACE/up; until test -e $PLACE/go; do sleep 0.01; done";
    let holders: Vec<_> = (0..3).map(|_| place.start(&["lock", "-l", "gpu", "--", "sh", "-c", script])).collect();
    until("three hold it", || (crate::support::lines(&place.path("up")).len() == 3).then_some(()));
    place.luzia(&["lock", "-l", "gpu", "-n", "--", "true"]).coded(75);
    let full = place.luzia(&["check", "-l", "gpu"]).coded(75).err;
    assert!(full.contains("is full: 3 of 3 slots held") && full.matches(" (pid ").count() == 3, "{full}");
    assert_eq!(place.luzia(&["check", "-l", "gpu", "--json"]).json()["limit"], 3);
    std::fs::write(place.path("go"), "").unwrap();
    for holder in holders {
        holder.end().coded(0);
    }
    place.ok(&["lock", "-l", "gpu", "-n", "--", "true"]);
}

#[test]
fn force_ends_the_holder_and_nobody_who_comes_after_it() {
    let place = Place::new();
    place.gate("gate");
    let first = place.enqueue(&["-u", "alice", "--", "sleep", "1000"]);
    let next = place.enqueue(&["-u", "alice", "--", "sh", "-c", "read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    place.until_status(&first, "running");
    let released = place.json(&["release", "alice", "--force"]);
    assert_eq!((&released["released"], &released["lock"]["holder"]), (&json!(true), &json!(first)));
    assert_eq!(place.status(&first), "cancelled");
    place.until_status(&next, "running");
    place.open_gate("gate");
    place.until_status(&next, "completed");
}

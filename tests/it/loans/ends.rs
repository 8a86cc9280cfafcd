//! A loan ends before its parent goes on: by the end of the child, and by nothing else (S0.1, X5, X7, decision 256).

use super::{parent, read};
use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

/// What a child does that never ends by itself.
const CHILD: &str = "echo $$ >$PLACE/child; while :; do echo C >>$PLACE/log; sleep 0.02; done";

/// What a parent does when it goes on.
const GOES_ON: &str = "for n in 1 2 3 4 5 6; do echo P >>$PLACE/log; sleep 0.05; done";

/// Runs a parent that queues the child of this file in its thread and waits for it in some way; the place.
fn family(wait: &str, end: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("child.sh"), CHILD).unwrap();
    let script =
        format!("$LUZIA enqueue --thread 7 -- sh $PLACE/child.sh\n{wait}; echo \"wait $?\" >>$PLACE/log\n{GOES_ON}");
    let first = parent(&place, &["--thread", "7"], &script);
    place.until_status(&first, end);
    place
}

/// Nothing of the child came after the parent went on, and it was ended for that.
#[track_caller]
fn took_turns(place: &Place, wait: &str) {
    let log = read(place, "log");
    let (child, parent) = log.split_once(wait).unwrap_or_else(|| panic!("{wait}: {log}"));
    assert!(child.contains('C') && !parent.contains('C'), "{log}");
    assert_eq!(place.status("task_2"), "cancelled");
    let shown = place.show("task_2").to_string();
    assert!(shown.contains("in the lanes of its parent, which waits for it no longer"), "{shown}");
}

#[test]
fn a_wait_that_runs_out_ends_its_borrower_before_the_parent_goes_on() {
    took_turns(&family("$LUZIA await agent --timeout 500ms --on-timeout continue", "completed"), "wait 0\n");
    took_turns(&family("$LUZIA await agent --timeout 500ms", "completed"), "wait 124\n");
    took_turns(&family("$LUZIA wait task_2 --timeout 500ms", "completed"), "wait 75\n");
}

#[test]
fn a_waiter_that_is_told_to_end_ends_its_borrower_first() {
    took_turns(&family("timeout 0.7 $LUZIA await agent", "completed"), "wait 124\n");
    took_turns(&family("timeout -s INT 0.7 $LUZIA wait task_2", "completed"), "wait 124\n");
    took_turns(&family("timeout -s HUP 0.7 $LUZIA logs -f task_2 >/dev/null", "completed"), "wait 124\n");
}

#[test]
fn a_borrower_has_its_grace_and_the_parent_waits_for_it() {
    let place = Place::new();
    let child =
        "trap 'sleep 0.5; echo tidied >>$PLACE/log; exit 0' TERM; echo up >$PLACE/up; while :; do sleep 0.02; done";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script =
        "$LUZIA enqueue -- sh $PLACE/child.sh; $LUZIA await agent --timeout 700ms; echo \"wait $?\" >>$PLACE/log";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    assert_eq!(read(&place, "log"), "tidied\nwait 124\n");
}

#[test]
fn a_waiter_that_is_killed_leaves_no_borrower_behind() {
    let place = Place::new();
    let child = "trap '' TERM; echo up >$PLACE/up; while :; do date +%s%N >>$PLACE/last; done";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script = "$LUZIA enqueue --grace 60s -- sh $PLACE/child.sh; $LUZIA await agent & echo $! >$PLACE/waiter
        wait; date +%s%N >$PLACE/on; sleep 1; echo done >>$PLACE/log";
    let first = parent(&place, &[], script);
    place.until_file("up");
    until("the waiter", || read(&place, "waiter").ends_with('\n').then_some(()));
    let waiter: u32 = read(&place, "waiter").trim().parse().unwrap();
    let begin = Instant::now();
    signal(waiter, Signal::KILL);
    place.until_status("task_2", "cancelled");
    // Neither the grace of the child nor a look from time to time is waited for.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(place.status(&first), "running");
    place.until_status(&first, "completed");
    let at = |name: &str| read(&place, name).lines().filter_map(|line| line.parse::<u64>().ok()).max().unwrap();
    eprintln!("the window: {} us", at("last").saturating_sub(at("on")) / 1000);
}

#[test]
fn a_child_of_a_borrower_ends_with_the_loan() {
    let place = Place::new();
    std::fs::write(place.path("child.sh"), CHILD).unwrap();
    let script = "$LUZIA enqueue -- sh -c '$LUZIA enqueue --wait -- sh $PLACE/child.sh'
        $LUZIA await agent --timeout 6s --on-timeout continue; echo 'wait 0' >>$PLACE/log; sleep 0.5";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    let log = read(&place, "log");
    let (before, after) = log.split_once("wait 0\n").unwrap();
    assert!(before.contains('C') && after.is_empty(), "{log}");
    assert!(!lives(read(&place, "child").trim().parse().unwrap()));
    assert_eq!((place.status("task_2").as_str(), place.status("task_3").as_str()), ("cancelled", "cancelled"));
}

#[test]
fn a_parent_that_waits_for_one_of_two_waits_for_the_one_that_has_its_lanes() {
    let place = Place::new();
    let script = "$LUZIA enqueue -- true; $LUZIA enqueue -- sh -c 'sleep 0.5; echo C >>$PLACE/log'
        $LUZIA await agent --any; echo P >>$PLACE/log; sleep 1; echo P >>$PLACE/log";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    place.drain();
    let log = read(&place, "log");
    assert!(log == "C\nP\nP\n" || log == "P\nP\nC\n", "never between: {log}");
}

#[test]
fn a_child_without_a_loan_is_left_alone() {
    let place = Place::new();
    place.gate("end");
    let script = "$LUZIA await agent --timeout 700ms; echo \"wait $?\" >>$PLACE/log";
    std::fs::write(place.path("wait.sh"), script).unwrap();
    let script = "$LUZIA enqueue --no-inherit -u other -- sh -c 'echo up >$PLACE/up; read _ <$PLACE/end'
        $LUZIA dispatch; until [ -e $PLACE/up ]; do sleep 0.05; done; sh $PLACE/wait.sh";
    let first = parent(&place, &[], script);
    place.until_status(&first, "completed");
    assert_eq!(read(&place, "log"), "wait 124\n");
    assert_eq!(place.status("task_2"), "running");
    place.open_gate("end");
    place.until_status("task_2", "completed");
}

#[test]
fn a_parent_that_is_cancelled_leaves_its_borrower_its_lanes() {
    let place = Place::new();
    place.gate("end");
    let script =
        "$LUZIA enqueue -- sh -c 'echo up >$PLACE/up; read _ <$PLACE/end; echo C >>$PLACE/log'; $LUZIA await agent";
    let first = parent(&place, &[], script);
    place.until_file("up");
    place.ok(&["cancel", &first, "--yes"]);
    assert_eq!((place.status(&first).as_str(), place.status("task_2").as_str()), ("cancelled", "running"));
    place.open_gate("end");
    place.until_status("task_2", "completed");
    assert_eq!(read(&place, "log"), "C\n");
}

#[test]
fn a_parked_parent_goes_on_when_its_borrower_has_ended() {
    let place = Place::new();
    std::fs::write(place.path("child.sh"), CHILD).unwrap();
    let script = format!(
        "$LUZIA step ask -- $LUZIA enqueue --thread 7 -- sh $PLACE/child.sh
         $LUZIA await agent --park --timeout 1500ms --on-timeout continue; echo \"wait $?\" >>$PLACE/log\n{GOES_ON}"
    );
    let first = parent(&place, &["--thread", "7"], &script);
    until("the parent is over", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&first) == "completed").then_some(())
    });
    took_turns(&place, "wait 0\n");
}

#[test]
fn a_wait_for_a_child_is_explained_by_the_child() {
    let place = Place::new();
    let script = "$LUZIA enqueue -- sh -c '$LUZIA await signature'; $LUZIA await agent";
    let first = parent(&place, &[], script);
    place.until_status(&first, "waiting");
    until("the child waits", || (place.status("task_2") == "waiting").then_some(()));
    let told = place.ok(&["explain", &first]).out;
    assert!(told.contains("luzia emit SIGNATURE_COMPLETED --task task_2"), "{told}");
    assert!(!told.contains("AGENT_COMPLETED"), "{told}");
    let wait = &place.json(&["explain", &first])["wait"];
    assert_eq!(
        (&wait["children"][0]["id"], &wait["children"][0]["wait"]["event"]),
        (&json!("task_2"), &json!("SIGNATURE_COMPLETED"))
    );
    let state = || {
        let mut files = place.snapshot();
        // The supervisors of both tasks live.
        files.retain(|path, _| !path.ends_with("/heartbeat"));
        files
    };
    let before = state();
    for event in ["AGENT_COMPLETED", "agent", "event:AGENT_COMPLETED", "SCHEDULE_REACHED", "delay", "output"] {
        let refused = place.luzia(&["emit", event, "--task", &first]).coded(2);
        assert!(refused.err.contains("nothing was sent") && refused.err.contains("hint"), "{}", refused.err);
    }
    assert_eq!(state(), before, "events that luzia itself makes");
    place.ok(&["emit", "signature", "--task", "task_2"]);
    place.until_status(&first, "completed");
}

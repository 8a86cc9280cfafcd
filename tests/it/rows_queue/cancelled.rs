//! Ending what runs (S1.10): commands that do not want to, children that hide, and what is left in the background.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::json;
use std::time::Duration;

fn running(place: &Place, args: &[&str], script: &str) -> (String, u32) {
    let id = place.enqueue(&[args, &["-u", "alice", "--", "sh", "-c", script]].concat());
    place.ok(&["dispatch"]);
    let pid = place.until_file("pid").parse().unwrap();
    (id, pid)
}

#[test]
fn a_running_task_is_cancelled_with_its_grace() {
    // S1.10, S1.38
    let place = Place::new();
    let script = "trap 'echo bye > $PLACE/bye; exit 0' TERM; echo $$ > $PLACE/pid; while :; do sleep 0.05; done";
    let (id, pid) = running(&place, &[], script);
    place.ok(&["cancel", &id, "--reason", "enough"]);
    assert!(!lives(pid) && place.path("bye").exists());
    let task = place.show(&id);
    assert_eq!((task["status"].as_str(), task["cancelReason"].as_str()), (Some("cancelled"), Some("enough")));
    place.ok(&["check", "alice"]);
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_its_grace() {
    let place = Place::new();
    let script = "trap '' TERM; echo $$ > $PLACE/pid; while :; do sleep 0.05; done";
    let (id, pid) = running(&place, &["--grace", "300ms"], script);
    let cancelled = place.ok(&["cancel", &id]);
    assert!(!lives(pid));
    assert!(cancelled.within(9).took >= Duration::from_millis(300), "{cancelled:?}");
    assert_eq!(place.status(&id), "cancelled");
    place.ok(&["check", "alice"]);
}

#[test]
fn no_grace_kills_at_once() {
    let place = Place::new();
    let script = "trap 'echo bye > $PLACE/bye' TERM; echo $$ > $PLACE/pid; while :; do sleep 0.05; done";
    let (id, pid) = running(&place, &[], script);
    place.ok(&["cancel", &id, "--grace", "0"]).within(9);
    assert!(!lives(pid));
}

#[test]
fn children_in_sessions_of_their_own_die_too() {
    // The daemon's trick: fork twice, with a session of one's own, and without the inherited lock.
    let place = Place::new();
    let script = "setsid sh -c 'echo $$ > $PLACE/daemon; exec sleep 1000' < /dev/null > /dev/null 2>&1 3>&- &
        echo $$ > $PLACE/pid; exec sleep 1000";
    let (id, pid) = running(&place, &[], script);
    let hidden: u32 = place.until_file("daemon").parse().unwrap();
    place.ok(&["cancel", &id, "--grace", "100ms"]);
    assert!(!lives(pid) && !lives(hidden));
    place.ok(&["check", "alice"]);
}

#[test]
fn a_lane_is_not_free_before_the_last_straggler_is_dead() {
    // P1: the command has ended, its child has not
    let place = Place::new();
    let script = "setsid sh -c 'echo $$ > $PLACE/daemon; exec sleep 1000' &
        echo $$ > $PLACE/pid; until test -s $PLACE/daemon; do sleep 0.01; done";
    let (id, _) = running(&place, &[], script);
    let hidden: u32 = place.until_file("daemon").parse().unwrap();
    until("the task is over", || {
        let is_free = place.luzia(&["check", "alice"]).code == 0;
        assert!(!is_free || !lives(hidden), "the lane was given away under a living process");
        (place.status(&id) == "completed").then_some(())
    });
    assert!(!lives(hidden));
    let told = place.events_named("background_ended");
    assert_eq!((told.len(), &told[0]["task"], &told[0]["data"]["processes"]), (1, &json!(id), &json!(1)));
    // What waits for its children leaves none.
    place.ok(&["run", "-u", "alice", "--shell", "sleep 0.1 & wait"]);
    assert_eq!(place.events_named("background_ended").len(), 1);
}

#[test]
fn a_stopped_supervisor_is_told_of_and_a_cancel_does_not_wait_for_it() {
    // P7: what would change it is to continue that process
    let place = Place::new();
    let (id, pid) = running(&place, &[], "echo $$ > $PLACE/pid; exec sleep 1000");
    let supervisor = u32::try_from(place.show(&id)["supervisor_pid"].as_u64().unwrap()).unwrap();
    assert_eq!(place.json(&["explain", &id])["supervisor"]["stopped"], false);
    signal(supervisor, Signal::STOP);
    let way_out = format!("kill -CONT {supervisor}");
    until("it is seen", || place.ok(&["explain", &id]).out.contains(&way_out).then_some(()));
    assert_eq!(place.json(&["list", "--stuck"])["items"][0]["reason"], "Stopped");
    // Its waiters are told, too.
    assert!(place.ok(&["explain", "alice"]).out.contains(&way_out));
    let behind = place.luzia(&["run", "--no-wait", "-u", "alice", "--", "true"]).coded(75);
    assert!(behind.err.contains("is stopped") && behind.err.contains(&way_out), "{}", behind.err);
    let refused = place.luzia(&["cancel", &id]).coded(75);
    assert!(refused.within(5).err.contains(&way_out), "{refused:?}");
    assert!(place.luzia(&["doctor"]).coded(1).err.contains(&way_out));
    assert!(lives(pid));
    signal(supervisor, Signal::CONT);
    until("the request is carried out", || (place.status(&id) == "cancelled").then_some(()));
    assert!(!lives(pid));
}

#[test]
fn cancelling_twice_at_once_is_one_cancel() {
    let place = Place::new();
    let (id, _) = running(&place, &[], "echo $$ > $PLACE/pid; exec sleep 1000");
    let both = [place.start(&["cancel", &id, "--by", "a"]), place.start(&["cancel", &id, "--by", "b"])];
    let codes: Vec<i32> = both.into_iter().map(|cancel| cancel.end().code).collect();
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 1].contains(code)), "{codes:?}");
    // The answer comes when the result stands, the event when the lanes are free.
    place.drain();
    assert_eq!(place.events_named("finished").len(), 1);
}

#[test]
fn the_first_interrupt_cancels_a_run_and_the_second_kills_it() {
    let place = Place::new();
    let script = "trap 'echo asked > $PLACE/asked' TERM; echo $$ > $PLACE/pid; while :; do sleep 0.05; done";
    let run = place.start_attentive(&["run", "-u", "alice", "--grace", "1h", "--", "sh", "-c", script]);
    let pid: u32 = place.until_file("pid").parse().unwrap();
    run.signal(Signal::INT);
    place.until_file("asked");
    assert!(lives(pid));
    run.signal(Signal::INT);
    let ran = run.end();
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.err.ends_with("luzia: task_1 cancelled (interrupted)\n"), "{ran:?}");
    assert!(!lives(pid));
    assert_eq!(place.status("1"), "cancelled");
}

//! The line of a lane: order by arrival, what happens to a process that is killed or stopped in it, what waiting costs, and the
//! turns of the line and of the queue.

use super::support::*;
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;

fn places(place: &Place, user: &str) -> usize {
    std::fs::read_dir(place.lock(&format!(".user_{user}.line"))).map_or(0, Iterator::count)
}

/// Holds the lane of a user until the gate is opened.
fn hold(place: &Place, user: &str, gate: &str) -> Running {
    let fifo = place.gate(gate);
    let holder = place.start(&["lock", "-u", user, "--", "sh", "-c", &format!("echo x >held.{user}; cat {fifo}")]);
    place.until_file(&format!("work/held.{user}"));
    holder
}

/// Starts so many locks, one after another, each of which writes its number.
fn numbered(place: &Place, user: &str, count: usize) -> Vec<Running> {
    let one = |number: usize| {
        let waiter = place.start(&["lock", "-u", user, "--", "sh", "-c", &format!("echo {number} >>numbers")]);
        until("it stands in the line", || (places(place, user) == number).then_some(()));
        waiter
    };
    (1..=count).map(one).collect()
}

fn numbers(place: &Place) -> Vec<String> {
    lines(&place.path("work/numbers"))
}

/// How often a process has given up the processor by itself: it does with every wait.
fn waits(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn locks_come_in_the_order_of_their_arrival_and_leave_no_line() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let waiters = numbered(&place, "alice", 20);
    place.open_gate("gate");
    waiters.into_iter().for_each(|waiter| assert_eq!(waiter.end().coded(0).out, ""));
    holder.end().coded(0);
    let passed = place.events_named("line_passed");
    assert_eq!(numbers(&place), (1..=20).map(|number| number.to_string()).collect::<Vec<_>>(), "{passed:?}");
    assert!(!place.lock(".user_alice.line").exists());
}

#[test]
fn a_process_killed_in_the_line_keeps_nobody_and_a_killed_holder_is_noticed() {
    let place = Place::new();
    let mut holder = place.start(&["lock", "-u", "alice", "--", "sh", "-c", "echo $$ >command; exec sleep 600"]);
    let command: u32 = place.until_file("work/command").trim().parse().unwrap();
    let mut waiters = numbered(&place, "alice", 9);
    for at in [0, 4, 8] {
        waiters[at].kill();
    }
    holder.kill();
    signal(command, Signal::KILL);
    for (at, waiter) in waiters.into_iter().enumerate() {
        let code = waiter.end().code;
        assert_eq!(code == 0, ![0, 4, 8].contains(&at), "waiter {at} ended with {code}");
    }
    assert_eq!(numbers(&place), ["2", "3", "4", "6", "7", "8"]);
    place.ok(&["lock", "-u", "alice", "--", "true"]);
    assert!(!place.lock(".user_alice.line").exists());
}

#[test]
fn a_stopped_first_of_the_line_is_passed_and_comes_when_it_goes_on() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let mut waiters = numbered(&place, "alice", 4);
    signal(waiters[0].pid(), Signal::STOP);
    place.open_gate("gate");
    holder.end().coded(0);
    // The turn of the first one is not over yet, and it lives.
    let ran = place.luzia(&["lock", "-u", "alice", "-n", "--", "true"]).coded(75);
    assert!(ran.err.contains("others wait in its line"), "{}", ran.err);
    let last = waiters.split_off(1);
    last.into_iter().for_each(|waiter| drop(waiter.end().coded(0)));
    assert_eq!(numbers(&place), ["2", "3", "4"]);
    assert_eq!(place.events_named("line_passed").len(), 1, "only the first one that passed it was not called");
    signal(waiters[0].pid(), Signal::CONT);
    waiters.remove(0).end().coded(0);
    assert_eq!(numbers(&place), ["2", "3", "4", "1"]);
}

#[test]
fn who_waits_behind_others_does_nothing() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let waiters = numbered(&place, "alice", 8);
    place.enqueue(&["-u", "bob", "--shell", &format!("cat {}", place.gate("other"))]);
    place.ok(&["dispatch"]);
    let runs: Vec<Running> = (0..6).map(|_| place.start(&["run", "-u", "bob", "--", "true"])).collect();
    let standing = || {
        let folders = std::fs::read_dir(place.state().join("spool")).unwrap();
        let line =
            folders.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|e| e == "line"));
        line.map_or(0, |line: PathBuf| std::fs::read_dir(line).unwrap().count())
    };
    until("all but one stand by", || (standing() == runs.len()).then_some(()));
    std::thread::sleep(Duration::from_secs(2));
    let of_locks = || waiters[4..].iter().map(|waiter| waits(waiter.pid())).collect::<Vec<_>>();
    let of_runs = || runs.iter().map(|run| waits(run.pid())).collect::<Vec<_>>();
    let before = (of_locks(), of_runs());
    std::thread::sleep(Duration::from_secs(5));
    let after = (of_locks(), of_runs());
    assert_eq!(before.0, after.0, "the fifth of a line asks after 15 s for the first time");
    let busy = before.1.iter().zip(&after.1).filter(|(before, after)| before != after).count();
    assert!(busy <= 1, "only the run with the duty looks: {before:?} {after:?}");
    place.open_gate("gate");
    place.open_gate("other");
    holder.end().coded(0);
    waiters.into_iter().chain(runs).for_each(|one| drop(one.end().coded(0)));
}

#[test]
fn a_lock_in_the_line_and_the_tasks_of_a_queue_take_turns() {
    let place = Place::new();
    let gate = place.gate("gate");
    place.enqueue(&["-u", "alice", "--shell", &format!("cat {gate}; echo task >>numbers")]);
    for _ in 0..5 {
        place.enqueue(&["-u", "alice", "--shell", "sleep 0.1; echo task >>numbers"]);
    }
    place.ok(&["dispatch"]);
    let waiters = numbered(&place, "alice", 3);
    place.open_gate("gate");
    waiters.into_iter().for_each(|waiter| drop(waiter.end().coded(0)));
    // Nobody dispatches but the supervisors, and the locks to which they gave way.
    place.until_status("task_6", "completed");
    let came = numbers(&place);
    assert_eq!(came, ["task", "1", "task", "2", "task", "3", "task", "task", "task"], "one of each");
    assert!(!place.lock(".user_alice.line").exists());
}

#[test]
fn of_fifty_waiters_no_two_run_at_once_under_kills() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let script = "mkdir inside || echo two >>overlaps; echo x >>ran; sleep 0.01; rmdir inside";
    let mut waiters: Vec<Running> =
        (0..50).map(|_| place.start(&["lock", "-u", "alice", "--", "sh", "-c", script])).collect();
    until("some stand in the line", || (places(&place, "alice") >= 40).then_some(()));
    place.open_gate("gate");
    for at in (0..50).step_by(3) {
        waiters[at].kill();
        std::thread::sleep(Duration::from_millis(7));
    }
    for (at, waiter) in waiters.into_iter().enumerate() {
        let ran = waiter.end();
        assert!(ran.code == 0 || at % 3 == 0, "{at}: {} {}", ran.code, ran.err);
    }
    holder.end().coded(0);
    assert_eq!(lines(&place.path("work/overlaps")), Vec::<String>::new());
    assert!(lines(&place.path("work/ran")).len() >= 33);
    place.ok(&["lock", "-u", "alice", "-w", "20s", "--", "true"]);
}

#[test]
fn a_limited_wait_leaves_the_line_and_cleanup_removes_one_of_the_dead() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let ran = place.luzia(&["lock", "-u", "alice", "-w", "300ms", "--", "true"]).coded(75);
    assert!(ran.err.contains("is held by"), "{}", ran.err);
    assert!(!place.lock(".user_alice.line").exists());
    place.luzia(&["acquire", "alice", "--task", "x", "--timeout", "300ms"]).coded(75);
    assert!(!place.lock(".user_alice.line").exists());
    let mut waiter = numbered(&place, "alice", 1).remove(0);
    waiter.kill();
    place.ok(&["cleanup-stale", "--dry-run"]);
    assert_eq!(places(&place, "alice"), 1);
    place.ok(&["cleanup-stale"]);
    assert!(!place.lock(".user_alice.line").exists());
    place.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn of_a_lane_for_two_both_places_go_to_the_line() {
    let place = Place::configured(&serde_json::json!({ "lanes": { "thing:a": { "max": 2 } } }));
    let one = |gate: &str| {
        let script = format!("echo x >held.{gate}; cat {}", place.gate(gate));
        let holder = place.start(&["lock", "-l", "thing:a", "--", "sh", "-c", &script]);
        place.until_file(&format!("work/held.{gate}"));
        holder
    };
    let holders = [one("first"), one("second")];
    let waiters: Vec<Running> =
        (0..4).map(|_| place.start(&["lock", "-l", "thing:a", "--", "sh", "-c", "echo x >>ran"])).collect();
    place.open_gate("second");
    place.open_gate("first");
    holders.into_iter().chain(waiters).for_each(|one| drop(one.end().coded(0)));
    assert_eq!(lines(&place.path("work/ran")).len(), 4);
}

#[test]
fn waiters_say_for_whom_they_wait_and_at_which_position() {
    let place = Place::new();
    let holder = hold(&place, "alice", "gate");
    let waiters = numbered(&place, "alice", 2);
    let lease = place.start(&["acquire", "alice", "--task", "me", "--timeout", "1m"]);
    let quiet = place.start(&["acquire", "alice", "--task", "you", "--timeout", "1m", "--json"]);
    until("all stand in the line", || (places(&place, "alice") == 4).then_some(()));
    std::thread::sleep(Duration::from_millis(700));
    place.open_gate("gate");
    for (at, waiter) in waiters.into_iter().enumerate() {
        let err = waiter.end().coded(0).err;
        assert!(err.starts_with("luzia: waits: lane \"user:alice\" is held by \"echo x\" (pid "), "{err}");
        assert!(err.ends_with(&format!("(the lock file is held); position {}\n", at + 1)), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    // One of the two has the lane; the other waits for it.
    let mut both = [lease, quiet];
    until("one has the lane", || both.iter_mut().any(Running::is_over).then_some(()));
    place.ok(&["release", "alice", "--force", "--yes"]);
    let [lease, quiet] = both.map(|one| one.end().coded(0));
    assert!(lease.err.contains("; position "), "{}", lease.err);
    assert_eq!(quiet.err, "", "JSON asks for no words");
    holder.end().coded(0);
}

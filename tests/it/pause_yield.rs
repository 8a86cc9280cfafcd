//! `pause --yield`: others have the slots of a task that stands still, and nothing of it runs before it has them back, whatever is
//! killed.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Counts, and leaves a mark when it is told to end. It ignores the signal of the kernel to a group that becomes an orphan.
const COUNTS: &str = "trap '' HUP; trap 'echo >$PLACE/told' TERM; echo $$ >$PLACE/shell; i=0; \
                      while :; do i=$((i+1)); echo $i >$PLACE/count.new; mv $PLACE/count.new $PLACE/count; sleep 0.01; done";

fn start(place: &Place, script: &str) -> String {
    let id = place.enqueue(&["-u", "root", "-l", "build", "--grace", "20s", "--shell", script]);
    place.ok(&["dispatch", "--once"]);
    id
}

fn counting(place: &Place) -> String {
    let id = start(place, COUNTS);
    until("it counts", || (count(place) > 1).then_some(()));
    id
}

fn count(place: &Place) -> u64 {
    std::fs::read_to_string(place.path("count")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn shell(place: &Place) -> u32 {
    place.until_file("shell").trim().parse().unwrap()
}

fn is_stopped(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") T "))
}

/// Starts a task of another user in the lane, which runs until the gate is opened.
fn beside(place: &Place) -> String {
    let gate = place.gate("other");
    let other =
        place.enqueue(&["-u", "bob", "-l", "build", "--shell", &format!("echo >$PLACE/beside; read _ <{gate}")]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("beside");
    other
}

fn reason(place: &Place, id: &str) -> Value {
    place.json(&["explain", id])["reasons"][0].clone()
}

fn fence(place: &Place, id: &str) -> u64 {
    let locks = place.json(&["list-locks"]);
    let mut locks = locks["items"].as_array().unwrap().iter();
    let lock = locks.find(|lock| lock["holder"] == json!(id) && lock["lane"] == json!("build"));
    lock.unwrap_or_else(|| panic!("no lock of {id}"))["fence"].as_u64().unwrap()
}

#[test]
fn others_have_its_slots_and_it_goes_on_when_it_has_them_back() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let id = counting(&place);
    let first = fence(&place, &id);
    let told = place.json(&["pause", &id, "--yield", "-y"])["items"][0].clone();
    assert_eq!(
        (&told["yielded"], &told["kept"], &told["waits"]),
        (&json!(["build", "global"]), &json!(["user:root"]), &json!(false))
    );
    let other = beside(&place);
    assert!(is_stopped(shell(&place)));
    let before = count(&place);
    assert_eq!(reason(&place, &id)["yielded"], json!(["build", "global"]));
    let said = place.ok(&["resume", &id]).err;
    assert!(said.contains("goes on when it has its place in build, global again"), "{said}");
    let why = reason(&place, &id);
    assert_eq!((&why["waits"], &why["reason"]), (&json!(true), &json!("Paused")));
    assert!(why["message"].as_str().unwrap().contains("waits for a place in build, global"), "{why}");
    assert!(place.ok(&["list"]).out.contains("waits for its slots"));
    assert!(is_stopped(shell(&place)));
    assert_eq!(count(&place), before, "nothing of it ran beside the other one");
    // It takes turns with those that come now.
    let later = place.enqueue(&["-u", "carol", "-l", "build", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    place.open_gate("other");
    place.until_status(&other, "completed");
    until("it goes on", || (count(&place) > before).then_some(()));
    assert!(fence(&place, &id) > first, "its grant is a new one");
    assert_eq!(place.json(&["explain", &id])["reasons"], json!([]));
    assert_eq!((place.events_named("yielded").len(), place.events_named("retaken").len()), (1, 1));
    assert!(!place.state().join("run/1/yield.json").exists());
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
    place.until_status(&later, "completed");
}

#[test]
fn its_own_locks_are_re_entrant_afterwards_and_the_grant_that_it_was_told_of_is_over() {
    let place = Place::new();
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let gate = place.gate("go");
    let script = format!(
        "echo >$PLACE/up; read _ <{gate}; {luzia} lock -l build -n -- true; echo $? >$PLACE/lock; \
         {luzia} guard -l build --fence $(cat $PLACE/fence) -- true; echo $? >$PLACE/guard; {luzia} guard -l user:root -- true; echo $? >$PLACE/user"
    );
    let id = start(&place, &script);
    place.until_file("up");
    std::fs::write(place.path("fence"), fence(&place, &id).to_string()).unwrap();
    place.ok(&["pause", &id, "--yield", "-y"]);
    assert!(place.ok(&["list"]).out.contains("paused"));
    place.ok(&["resume", &id]);
    until("it has them back", || (place.events_named("retaken").len() == 1).then_some(()));
    place.open_gate("go");
    place.until_status(&id, "completed");
    let code = |name: &str| place.until_file(name).trim().parse::<i32>().unwrap();
    assert_eq!((code("lock"), code("user")), (0, 0));
    assert_ne!(code("guard"), 0);
}

#[test]
fn a_supervisor_that_is_killed_leaves_a_tree_that_never_runs_again() {
    let place = Place::new();
    let id = counting(&place);
    place.ok(&["pause", &id, "--yield", "-y"]);
    let other = beside(&place);
    let (before, supervisor) = (count(&place), place.supervisor(&id));
    signal(supervisor, Signal::KILL);
    until("it is gone", || (!lives(supervisor)).then_some(()));
    assert!(is_stopped(shell(&place)));
    // A pass recovers it while the other one runs.
    place.ok(&["dispatch", "--once"]);
    until("it is dead", || (!lives(shell(&place))).then_some(()));
    assert!(!place.path("told").exists(), "no signal that it could take let it go on");
    assert_eq!(count(&place), before);
    place.until_status(&id, "failed");
    assert_eq!(place.status(&other), "running");
    place.open_gate("other");
    place.until_status(&other, "completed");
}

#[test]
fn one_that_is_cancelled_is_killed_as_it_stands() {
    for is_waiting in [false, true] {
        let place = Place::new();
        let id = counting(&place);
        place.ok(&["pause", &id, "--yield", "-y"]);
        let other = beside(&place);
        let before = count(&place);
        if is_waiting {
            place.ok(&["resume", &id]);
        }
        let begin = Instant::now();
        place.ok(&["cancel", &id, "-y"]);
        assert!(begin.elapsed() < Duration::from_secs(10), "its grace is 20 s");
        assert_eq!((place.status(&id).as_str(), place.status(&other).as_str()), ("cancelled", "running"));
        assert!(!lives(shell(&place)) && !place.path("told").exists());
        assert_eq!(count(&place), before);
        place.open_gate("other");
        place.until_status(&other, "completed");
    }
}

#[test]
fn nothing_is_given_up_by_a_tree_that_may_go_on_by_itself() {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let job = "set -m; sleep 600 & echo >$PLACE/up; wait".to_owned();
    let inside = format!("{luzia} lock -l x -- sh -c 'echo >$PLACE/up; sleep 600'; :");
    for (script, why) in [(job, "is a job of a shell"), (inside, "is luzia")] {
        let place = Place::new();
        let id = place.enqueue(&["-u", "root", "-l", "build", "--", "bash", "-c", &script]);
        place.ok(&["dispatch", "--once"]);
        place.until_file("up");
        let refused = place.luzia(&["pause", &id, "--yield", "-y"]).coded(1);
        assert!(refused.err.contains("gives no slot up") && refused.err.contains(why), "{}", refused.err);
        assert_eq!(place.json(&["explain", &id])["reasons"], json!([]), "it goes on");
        assert_eq!(place.luzia(&["check", "lane:build"]).code, 75);
        // A pause that stands stays, and nothing is given up.
        place.ok(&["pause", &id, "-y"]);
        place.luzia(&["pause", &id, "--yield", "-y"]).coded(1);
        assert_eq!(reason(&place, &id)["reason"], json!("Paused"));
        assert_eq!(place.luzia(&["check", "lane:build"]).code, 75);
        place.ok(&["resume", &id]);
        place.ok(&["cancel", &id, "--grace", "0", "-y"]);
    }
    let place = Place::new();
    place.luzia(&["pause", "alice", "--yield"]).coded(2);
}

#[test]
fn nobody_runs_beside_the_holder_of_a_lane_while_supervisors_are_killed() {
    let place = Place::new();
    let script = "trap '' HUP TERM; while :; do echo $LUZIA_TASK_ID >>$PLACE/trace; sleep 0.002; done";
    let tasks: Vec<String> = (0..5)
        .map(|n| {
            let user = format!("u{n}");
            place.enqueue(&["-u", &user, "-l", "build", "--grace", "20ms", "--retries", "99", "--shell", script])
        })
        .collect();
    let trace = || std::fs::read_to_string(place.path("trace")).unwrap_or_default();
    let mut seed: u64 = 88_172_645_463_325_252;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let switches_of = |trace: &str| {
        let lines: Vec<&str> = trace.lines().collect();
        (lines.windows(2).filter(|pair| pair[0] != pair[1]).count(), lines.len())
    };
    let was_of_use = || matches!(switches_of(&trace()), (switches, lines) if switches > 3 && lines > 100);
    let mut kills = 0;
    for round in 0..600 {
        // On a busy machine a round may give nobody the time to write a line.
        if round >= 60 && was_of_use() {
            break;
        }
        let id = &tasks[random(tasks.len())];
        match random(6) {
            0 | 1 => drop(place.luzia(&["pause", id, "--yield", "--for", "400ms", "-y"])),
            2 => drop(place.luzia(&["pause", id, "--yield", "-y"])),
            3 => drop(place.luzia(&["resume", id])),
            4 if place.status(id) == "running" && round % 2 == 0 => {
                let started = place.state().join(format!("run/{}/supervisor.lock", &id[5..]));
                if started.exists() && place.status(id) == "running" {
                    signal(place.supervisor(id), Signal::KILL);
                    kills += 1;
                }
            }
            _ => drop(place.luzia(&["dispatch", "--once"])),
        }
    }
    for id in &tasks {
        place.luzia(&["cancel", id, "--grace", "0", "-y"]);
        place.until_status(id, "cancelled");
    }
    let (switches, lines) = switches_of(&trace());
    // A process that was killed after a grant has not told of it.
    let grants = ["locked", "retaken"].map(|kind| place.events_named(kind).len()).iter().sum::<usize>() + kills;
    assert!(switches > 3 && lines > 100, "it was of some use: {switches} of {lines}");
    assert!(switches <= grants, "each change of hands is a grant: {switches} changes, {grants} grants");
}

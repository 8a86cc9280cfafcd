//! `lock` with a store: the lanes of all hosts are held while a command runs in the foreground of one.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::Fleet;
use crate::support::{LUZIA, Place, until};
use luzia::os::Processes;
use luzia::os::real::RealProcesses;
use rustix::process::Signal;
use serde_json::Value;

/// The holder of a lane; null if it is free.
fn holder(fleet: &Fleet, lane: &str) -> Value {
    let checked = fleet.luzia(&["check", lane, "--json"]).json();
    checked["locks"][0]["holder"].clone()
}

#[test]
fn a_command_in_the_foreground_holds_lanes_of_all_hosts() {
    let Some(fleet) = Fleet::new("a_command_in_the_foreground") else { return };
    let hosts = [Host::new(&fleet, "one", None), Host::new(&fleet, "two", None)];
    let log = fleet.place.text("log");
    let script = format!("echo $LUZIA_FENCE; echo begin >>{log}; sleep 0.3; echo end >>{log}; exit 7");
    let all: Vec<_> = (0..6)
        .map(|at| hosts[at % 2].start_luzia(&["lock", "-u", "alice", "-l", "gpu", "--", "sh", "-c", &script]))
        .collect();
    let mut fences: Vec<i64> = all.into_iter().map(|one| one.end().coded(7).line().parse().unwrap()).collect();
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text, "begin\nend\n".repeat(6), "no two at once");
    fences.sort_unstable();
    fences.dedup();
    assert_eq!(fences.len(), 6, "each has a fence of its own: {fences:?}");
    assert_eq!(holder(&fleet, "alice"), Value::Null, "a lock that has ended is free at once");
    // Its task ends as the command did.
    let ended = |user: &str| fleet.json(&["list", "--all", "-u", user])["items"][0].clone();
    assert_eq!((&ended("alice")["status"], &ended("alice")["exit_code"]), (&"failed".into(), &7.into()));
    hosts[0].luzia(&["lock", "-u", "dora", "--", "true"]).coded(0);
    assert_eq!(ended("dora")["status"], "completed");
    hosts[0].luzia(&["lock", "-u", "emil", "--", "sh", "-c", "kill -9 $$"]).coded(137);
    assert_eq!((&ended("emil")["status"], &ended("emil")["exit_code"]), (&"failed".into(), &137.into()));
    // It has the environment and the directory of its caller, and nothing of them is in the store.
    let mut command = hosts[0].place.command(&["lock", "-u", "bob", "--", "sh", "-c", "echo $KEPT; pwd"]);
    command.env("LUZIA_STORE", fleet.url()).env("LUZIA_HOST", "one").env("KEPT", "geheim").current_dir("/usr");
    assert_eq!(hosts[0].place.spawn(&mut command).end().coded(0).out, "geheim\n/usr\n");
    hosts[0].luzia(&["lock", "-u", "bob", "--", "/nowhere/at-all"]).coded(127);
    assert_whole(&fleet);
}

#[test]
fn a_keeper_that_starts_after_the_end_of_the_command_ends_with_its_code() {
    let place = Place::new();
    // The test is the caller of the keeper, and lives on.
    let caller = RealProcesses.me().words().join(" ");
    let script = format!("{LUZIA} set --json-value exit_code=7 && exec {LUZIA} keep-lanes {caller}");
    place.luzia(&["run", "-u", "alice", "--timeout", "20s", "--", "sh", "-c", &script]).coded(7);
}

#[test]
fn a_busy_lane_is_waited_for_as_long_as_was_asked() {
    let Some(fleet) = Fleet::new("a_busy_lane_is_waited_for") else { return };
    let (one, two) = (Host::new(&fleet, "one", None), Host::new(&fleet, "two", None));
    let id = one.enqueue("alice", "sleep 60", &["-l", "gpu"]);
    until_status(&fleet, &id, "running");
    for (args, code) in [(&["-n"][..], 75), (&["-n", "-E", "9"], 9), (&["-w", "1s"], 75)] {
        let ran = two.luzia(&[&["lock", "-l", "gpu"], args, &["--", "true"]].concat()).coded(code);
        assert!(ran.err.contains(&id), "{ran:?}");
    }
    assert_eq!(fleet.json(&["explain", "lane:gpu"])["pending"], 0, "a caller that gives up leaves the queue");
    two.luzia(&["lock", "-n", "-l", "free", "--", "true"]).coded(0);
    let waiting = two.start_luzia(&["lock", "-l", "gpu", "--", "echo", "got it"]);
    until("it is in the queue", || (fleet.json(&["explain", "lane:gpu"])["pending"] == 1).then_some(()));
    fleet.luzia(&["cancel", &id, "--yes"]).coded(0);
    assert_eq!(waiting.end().coded(0).out, "got it\n");
    for refused in [&["lock", "--close", "-l", "x", "--", "true"][..], &["lock", "-l", "global", "--", "true"]] {
        two.luzia(refused).coded(2);
    }
    assert_whole(&fleet);
}

#[test]
fn the_lanes_are_held_until_the_last_process_of_the_command_has_ended() {
    let Some(fleet) = Fleet::new("the_lanes_are_held_until") else { return };
    let host = Host::new(&fleet, "one", None);
    // Its background process keeps the lane.
    let ran = host.luzia(&["lock", "-u", "alice", "--", "sh", "-c", "sleep 3 >/dev/null 2>&1 & exit 4"]).coded(4);
    assert!(ran.err.contains("left process"), "{ran:?}");
    assert_ne!(holder(&fleet, "alice"), Value::Null);
    until("it is free", || holder(&fleet, "alice").is_null().then_some(()));
    // So does the command of a caller that was killed.
    let pids = host.place.text("pid");
    let script = format!("echo $$ >{pids}; exec sleep 60");
    let running = host.start_luzia(&["lock", "-u", "bob", "--", "sh", "-c", &script]);
    let pid: u32 = until("it runs", || std::fs::read_to_string(&pids).ok()?.trim().parse().ok());
    running.signal(Signal::KILL);
    running.end();
    std::thread::sleep(std::time::Duration::from_millis(600));
    let id = holder(&fleet, "bob");
    assert!(crate::support::lives(pid) && id.is_string());
    // A cancel from another host ends the command, too.
    let id = id.as_str().unwrap();
    fleet.luzia(&["cancel", id, "--yes"]).coded(0);
    until("the command is dead", || (!crate::support::lives(pid)).then_some(()));
    assert_eq!((status(&fleet, id).as_str(), holder(&fleet, "bob")), ("cancelled", Value::Null));
    // A caller that is killed while it waits leaves nothing.
    let id = host.enqueue("carol", "sleep 60", &[]);
    until_status(&fleet, &id, "running");
    let waiting = host.start_luzia(&["lock", "-u", "carol", "--", "true"]);
    until("it is in the queue", || (fleet.json(&["explain", "carol"])["pending"] == 1).then_some(()));
    waiting.signal(Signal::KILL);
    waiting.end();
    fleet.luzia(&["cancel", &id, "--yes"]).coded(0);
    until("carol is free", || {
        let why = fleet.json(&["explain", "carol"]);
        (why["pending"] == 0 && why["holders"] == serde_json::json!([])).then_some(())
    });
    let killed = &fleet.json(&["list", "--all", "-u", "carol"])["items"];
    assert!(killed.as_array().unwrap().iter().any(|task| task["status"] == "failed"), "{killed:#}");
    assert_whole(&fleet);
}

#[test]
fn the_command_ends_before_the_lease_of_its_host() {
    let Some(fleet) = Fleet::new("the_command_ends_before_the_lease") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let pids = host.place.text("pid");
    let script = format!("trap '' TERM; echo $$ >{pids}; while :; do sleep 0.1; done");
    let running = host.start_luzia(&["lock", "-u", "alice", "--", "sh", "-c", &script]);
    let pid: u32 = until("it runs", || std::fs::read_to_string(&pids).ok()?.trim().parse().ok());
    host.daemon().signal(Signal::KILL);
    let begin = std::time::Instant::now();
    until("the command is dead", || (!crate::support::lives(pid)).then_some(()));
    assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}", begin.elapsed());
    running.end().coded(137);
}

#[test]
fn guard_looks_at_the_lock_of_its_host() {
    let Some(fleet) = Fleet::new("guard_looks_at_the_lock") else { return };
    let host = Host::new(&fleet, "one", None);
    let script = format!("{LUZIA} guard -- sh -c 'test $LUZIA_FENCE = '$LUZIA_FENCE && echo guarded");
    let ran = host.luzia(&["lock", "-u", "alice", "--", "sh", "-c", &script]).coded(0);
    assert_eq!(ran.out, "guarded\n");
    let ran = host.luzia(&["guard", "--lane", "user:alice", "--fence", "7", "--", "true"]).coded(1);
    assert!(ran.err.contains("nothing was run"), "{ran:?}");
    // A lock inside it would wait for itself.
    let script = format!("{LUZIA} lock -u alice -- echo inner");
    let ran = host.luzia(&["lock", "-u", "alice", "--", "sh", "-c", &script]).coded(2);
    assert!(ran.err.contains("another task queues"), "{ran:?}");
}

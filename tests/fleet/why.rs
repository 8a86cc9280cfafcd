//! The reasons of waits: a task that waits names what keeps it, and nothing that does not.

use crate::hosts::{Host, assert_whole, until_status};
use crate::server::Fleet;
use crate::support::{LUZIA, signal, skip, until};
use rustix::process::Signal;
use serde_json::Value;

/// The words of the reasons of a task, and the first one as the list has it.
fn reasons(fleet: &Fleet, id: &str) -> (Vec<String>, Value) {
    let why = fleet.json(&["explain", id]);
    let words = why["reasons"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap().to_owned());
    (words.collect(), fleet.json(&["show", id])["reason"].clone())
}

#[test]
fn a_task_whose_hosts_are_full_says_so() {
    let Some(fleet) = Fleet::new("a_task_whose_hosts_are_full") else { return };
    let host = Host::slots(&fleet, "one", 1);
    let first = host.enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &first, "running");
    until("the host has told it", || (host.row().unwrap()["free"] == 0).then_some(()));
    let here = host.enqueue("bob", "true", &[]);
    let anywhere = host.enqueue("carol", "true", &["--anywhere"]);
    for id in [&here, &anywhere] {
        assert_eq!(reasons(&fleet, id), (vec!["HostsFull".to_owned()], "HostsFull".into()), "{id}");
    }
    let said = fleet.luzia(&["explain", &here]).coded(0).out;
    assert!(said.contains("every slot of host one is in use") && said.contains("luzia hosts"), "{said}");
    for args in [&["run", "--no-wait"][..], &["lock", "-n"]] {
        let ran = host.luzia(&[args, &["-u", "dora", "--", "true"]].concat()).coded(75);
        assert!(ran.err.contains("every slot of host one is in use") && !ran.err.contains("0 tasks"), "{ran:?}");
    }
    fleet.luzia(&["cancel", &first, "--yes"]).coded(0);
    fleet.luzia(&["wait", &here, &anywhere]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_task_for_a_silent_host_says_so_before_its_lease_ends() {
    let Some(fleet) = Fleet::new("a_task_for_a_silent_host") else { return };
    let mut host = Host::new(&fleet, "one", None);
    let _other = Host::new(&fleet, "two", None);
    host.kill();
    // It has missed three renewals, and its lease lasts for minutes.
    fleet.sql("UPDATE luzia.host SET renewed_at = now() - interval '31 s' WHERE name = 'one'");
    let id = host.enqueue("alice", "true", &[]);
    assert_eq!(reasons(&fleet, &id), (vec!["NoHost".to_owned()], "NoHost".into()));
}

#[test]
fn tasks_in_other_lanes_or_for_absent_hosts_come_before_no_task() {
    let Some(fleet) = Fleet::new("tasks_in_other_lanes") else { return };
    let host = Host::new(&fleet, "one", None);
    let holder = host.luzia(&["enqueue", "-l", "held", "--", "sleep", "60"]).coded(0).line();
    until_status(&fleet, &holder, "running");
    let behind = host.luzia(&["enqueue", "-l", "held", "--", "true"]).coded(0).line();
    host.luzia(&["enqueue", "-l", "other", "--on", "nowhere", "--", "true"]).coded(0);
    // The lane is free, whatever else this user waits for.
    host.luzia(&["lock", "-n", "-l", "other", "--", "true"]).coded(0);
    host.luzia(&["acquire", "lane:other", "--task", "me", "--ttl", "60s"]).coded(0);
    let last = host.luzia(&["enqueue", "-l", "other", "--", "true"]).coded(0).line();
    assert_eq!(reasons(&fleet, &last), (vec!["LaneFull".to_owned()], "LaneFull".into()));
    assert_eq!(reasons(&fleet, &behind), (vec!["LaneFull".to_owned()], "LaneFull".into()));
    let third = host.luzia(&["enqueue", "-l", "held", "--", "true"]).coded(0).line();
    assert_eq!(reasons(&fleet, &third).0, ["LaneFull", "Priority"], "one of its lane comes first");
    assert_whole(&fleet);
}

#[test]
fn a_task_that_was_granted_and_has_not_started_waits_for_no_lane_of_its_own() {
    let Some(fleet) = Fleet::new("a_task_that_was_granted") else { return };
    let mut host = Host::new(&fleet, "one", None);
    let other = Host::new(&fleet, "two", None);
    let pid = host.stop_agent(&other);
    let id = other.enqueue("alice", "true", &["--on", "one"]);
    host.until_given();
    assert_eq!(reasons(&fleet, &id), (Vec::new(), Value::Null));
    signal(pid, Signal::CONT);
    fleet.luzia(&["wait", &id]).coded(0);
}

#[test]
fn a_task_whose_sandbox_has_ended_is_explained_by_its_host() {
    let Some(fleet) = Fleet::new("a_task_whose_sandbox_has_ended") else { return };
    let host = Host::new(&fleet, "one", None);
    let mut command = std::process::Command::new("bwrap");
    command.args([
        "--dev-bind",
        "/",
        "/",
        "--unshare-pid",
        "--proc",
        "/proc",
        LUZIA,
        "enqueue",
        "-u",
        "alice",
        "--",
        "true",
    ]);
    command.env("LUZIA_STATE_DIR", host.place.state()).env("LUZIA_STORE", fleet.url()).env("LUZIA_HOST", "one");
    let Ok(made) = command.output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()) else {
        return skip("a_task_whose_sandbox_has_ended", "bwrap: bubblewrap");
    };
    if !made.starts_with("task_") {
        return skip("a_task_whose_sandbox_has_ended", "namespaces: bwrap makes none here");
    }
    host.until_given();
    until("the host has accepted it", || (host.place.luzia(&["show", &made]).code == 0).then_some(()));
    let why: Value = host.luzia(&["explain", &made, "--json"]).coded(0).json();
    let words: Vec<&str> =
        why["reasons"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(words, ["OtherContext"], "{why:#}");
}

//! `acquire`, `renew` and `release` with a store: a lease of all hosts, which a task of one host keeps.

use crate::hosts::{Host, assert_whole, status, until_status};
use crate::server::{Fleet, check};
use crate::support::{LUZIA, lives, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Takes leases on a host; the document.
#[track_caller]
fn acquire(host: &Host, args: &[&str]) -> Value {
    let taken = host.luzia(&[&["acquire"], args, &["--json"]].concat()).coded(0).json();
    check(&host.place, &taken);
    taken
}

/// The locks of a lane, as any host sees them.
fn locks(fleet: &Fleet, lane: &str) -> Value {
    fleet.luzia(&["check", lane, "--json"]).json()["locks"].clone()
}

fn until_free(fleet: &Fleet, lane: &str) {
    until(&format!("{lane} is free"), || (locks(fleet, lane) == json!([])).then_some(()));
}

#[test]
fn a_lease_is_held_for_all_hosts_until_it_is_given_back() {
    let Some(fleet) = Fleet::new("a_lease_is_held_for_all_hosts") else { return };
    let (one, two) = (Host::new(&fleet, "one", None), Host::new(&fleet, "two", None));
    let taken = acquire(&one, &["alice", "--task", "deploy", "--ttl", "1h", "--label", "rollout"]);
    let (id, fence) = (taken["lock_id"].as_str().unwrap(), taken["fence"].as_i64().unwrap());
    let last: i64 = fleet.client().query_one("SELECT max(fence) FROM luzia.lane", &[]).unwrap().get(0);
    assert_eq!((fence, &taken["lane"], &taken["refreshed"]), (last, &"user:alice".into(), &false.into()), "{taken:#}");
    let list = fleet.json(&["list-locks"]);
    let lock = &list["items"][0];
    let seen = ["holder", "kind", "lock_id", "host", "label", "state"].map(|name| lock[name].clone());
    assert_eq!(json!(seen), json!(["deploy", "lease", id, "one", "rollout", "held"]), "{lock:#}");
    assert!(lock["expires_at"].is_string() && lock["command"].is_null(), "{lock:#}");
    // Another holder is refused, on each host.
    let ran = two.luzia(&["acquire", "alice", "--task", "other", "--json"]).coded(75);
    assert_eq!((&ran.json()["acquired"], ran.err.contains("deploy")), (&false.into(), true), "{ran:?}");
    one.luzia(&["acquire", "alice", "--task", "other", "--timeout", "1s"]).coded(75);
    let waiting = two.start_luzia(&["acquire", "alice", "--task", "other", "--timeout", "25s", "--json"]);
    // A wrong id gives nothing back.
    fleet.refused(&fleet.url(), &["release", "alice", "--lock-id", "deploy_1"], 1, "NOT_THE_HOLDER");
    fleet.refused(&fleet.url(), &["release", "alice", "somebody"], 1, "NOT_THE_HOLDER");
    assert_eq!(locks(&fleet, "alice")[0]["lock_id"], id);
    let given = one.luzia(&["release", "alice", "--lock-id", id, "--json"]).coded(0).json();
    check(&one.place, &given);
    assert_eq!((&given["released"], &given["lock"]["holder"]), (&true.into(), &"deploy".into()), "{given:#}");
    let keeper = fleet.json(&["list", "--all"])["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["status"].clone())
        .collect::<Vec<_>>();
    assert!(keeper.contains(&"completed".into()), "{keeper:?}");
    let next = waiting.end().coded(0).json();
    assert!(next["fence"].as_i64().unwrap() > fence, "{next:#}");
    fleet.refused(&fleet.url(), &["release", "alice", "--lock-id", id], 1, "NOT_THE_HOLDER");
    // From another host, by its name.
    one.luzia(&["release", "alice", "other"]).coded(0);
    until_free(&fleet, "alice");
    assert_eq!(fleet.json(&["release", "alice"])["released"], false);
    assert_whole(&fleet);
}

#[test]
fn a_lease_ends_by_its_time_unless_it_is_renewed() {
    let Some(fleet) = Fleet::new("a_lease_ends_by_its_time") else { return };
    let (one, two) = (Host::new(&fleet, "one", None), Host::new(&fleet, "two", None));
    let begin = Instant::now();
    let taken = acquire(&one, &["lane:gpu", "--task", "train", "--ttl", "4s"]);
    let id = taken["lock_id"].as_str().unwrap();
    let said = two.luzia(&["renew", "--lock-id", id, "--json"]).coded(2).err;
    assert!(said.contains("LOCAL_ONLY") && said.contains("host \\\"one\\\""), "{said}");
    std::thread::sleep(Duration::from_secs(2));
    let renewed = one.luzia(&["renew", "--lock-id", id, "--json"]).coded(0).json();
    check(&one.place, &renewed);
    assert_eq!((&renewed["fence"], &renewed["lane"]), (&taken["fence"], &"gpu".into()), "{renewed:#}");
    // So does the same holder that takes it again.
    std::thread::sleep(Duration::from_secs(2));
    let again = acquire(&one, &["lane:gpu", "--task", "train"]);
    assert_eq!((&again["lock_id"], &again["refreshed"]), (&taken["lock_id"], &true.into()), "{again:#}");
    assert_eq!(locks(&fleet, "lane:gpu")[0]["holder"], "train");
    until_free(&fleet, "lane:gpu");
    assert!(begin.elapsed() > Duration::from_secs(8), "{:?}", begin.elapsed());
    let lost = one.luzia(&["renew", "lane:gpu", "--lock-id", id, "--json"]).coded(1).err;
    assert!(lost.contains("LOCK_LOST"), "{lost}");
    one.luzia(&["renew", "--lock-id", id]).coded(1);
    // The time is that of the lane, too.
    acquire(&one, &["lane:gpu", "--task", "train"]);
    assert_whole(&fleet);
}

#[test]
fn lanes_that_were_taken_together_are_given_back_together() {
    let Some(fleet) = Fleet::new("lanes_that_were_taken_together") else { return };
    let host = Host::new(&fleet, "one", None);
    let taken = acquire(&host, &["-l", "db", "-l", "cache", "--task", "migrate", "--timeout", "20s"]);
    assert_eq!(taken["grants"].as_array().unwrap().len(), 2, "{taken:#}");
    let said = fleet.refused(&fleet.url(), &["release", "-l", "db", "migrate"], 2, "LOCAL_ONLY");
    assert!(said.contains("-l cache -l db"), "{said}");
    assert_eq!(locks(&fleet, "lane:db")[0]["holder"], "migrate");
    let given = host.luzia(&["release", "-l", "db", "-l", "cache", "migrate", "--json"]).coded(0).json();
    assert!(given["lanes"].as_array().unwrap().iter().all(|lane| lane["released"] == true), "{given:#}");
    until_free(&fleet, "lane:db");
    until_free(&fleet, "lane:cache");
    // Options that do not apply are refused, and nothing is taken.
    for refused in [
        &["acquire", "alice", "--session", "key"][..],
        &["acquire", "alice", "--task", "x", "--durable"],
        &["acquire", "lane:global", "--task", "x"],
        &["release", "--session", "key", "--all"],
        &["release", "alice", "--session", "key"],
    ] {
        fleet.refused(&fleet.url(), refused, 2, "LOCAL_ONLY");
    }
    assert_eq!(fleet.json(&["list-locks"])["items"], json!([]));
    assert_whole(&fleet);
}

#[test]
fn a_lease_ends_with_its_process_and_one_of_a_dead_caller_never_begins() {
    let Some(fleet) = Fleet::new("a_lease_ends_with_its_process") else { return };
    let host = Host::new(&fleet, "one", None);
    let mut sleep = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleep.id().to_string();
    let taken = acquire(&host, &["alice", "--task", "deploy", "--pid", &pid]);
    fleet.refused(&fleet.url(), &["release", "alice", "--yes"], 1, "HOLDER_LIVES");
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    until_free(&fleet, "alice");
    let lost = host.luzia(&["renew", "alice", "--lock-id", taken["lock_id"].as_str().unwrap()]).coded(1);
    assert!(lost.err.contains("is not held by"), "{lost:?}");
    // A caller that is killed while it waits.
    let id = host.enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &id, "running");
    fleet.refused(&fleet.url(), &["release", "alice", "--yes"], 1, "HOLDER_LIVES");
    let waiting = host.start_luzia(&["acquire", "alice", "--task", "x", "--timeout", "60s"]);
    until("it waits", || (fleet.json(&["explain", "alice"])["pending"] == 1).then_some(()));
    waiting.signal(Signal::KILL);
    waiting.end();
    // Force ends any task.
    fleet.luzia(&["release", "alice", "--force", "--yes"]).coded(0);
    assert_eq!(status(&fleet, &id), "cancelled");
    until("nothing waits", || (fleet.json(&["explain", "alice"])["pending"] == 0).then_some(()));
    until_free(&fleet, "alice");
    assert_whole(&fleet);
}

#[test]
fn a_guard_keeps_a_lease_of_its_host_in_force() {
    let Some(fleet) = Fleet::new("a_guard_keeps_a_lease") else { return };
    let host = Host::new(&fleet, "one", None);
    let taken = acquire(&host, &["alice", "--task", "deploy", "--ttl", "3s"]);
    let fence = taken["fence"].to_string();
    let ran = host.luzia(&[
        "guard",
        "--lane",
        "user:alice",
        "--fence",
        &fence,
        "--",
        "sh",
        "-c",
        "sleep 5; echo $LUZIA_LOCK_ID",
    ]);
    assert_eq!(ran.coded(0).line(), taken["lock_id"].as_str().unwrap());
    until_free(&fleet, "alice");
    host.luzia(&["guard", "--lane", "user:alice", "--fence", &fence, "--", "true"]).coded(1);
    // Inside a task, a lane that the task holds is there at once, and a release gives nothing back.
    let script = format!("{LUZIA} acquire bob --task x && {LUZIA} release bob x && {LUZIA} check bob; echo $?");
    let mut command = host.place.command(&["run", "-u", "bob", "--shell", &script]);
    let ran = host.place.spawn(command.env("LUZIA_STORE", fleet.url()).env("LUZIA_HOST", "one")).end().coded(0);
    assert!(ran.out.ends_with("75\n"), "{ran:?}");
    assert_whole(&fleet);
}

#[test]
fn a_lease_ends_before_the_lease_of_its_host() {
    let Some(fleet) = Fleet::new("a_lease_ends_before") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let taken = acquire(&host, &["alice", "--task", "deploy", "--ttl", "1h"]);
    let agent = host.daemon().pid();
    signal(agent, Signal::KILL);
    let begin = Instant::now();
    let local = || host.place.luzia(&["check", "alice", "--json", "--store", "local"]);
    until("it is free on its host", || local().json()["free"].as_bool()?.then_some(()));
    assert!(begin.elapsed() < Duration::from_secs(5) && !lives(agent), "{:?}", begin.elapsed());
    let lost = host.luzia(&["renew", "alice", "--lock-id", taken["lock_id"].as_str().unwrap(), "--json"]).coded(1);
    assert!(lost.err.contains("LOCK_LOST"), "{lost:?}");
    host.start(Some("5s"));
    until_free(&fleet, "alice");
    assert_whole(&fleet);
}

//! A holder that lives keeps its locks: it refreshes them, and writes a sidecar anew that was lost (X1, X22, S3.44).

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// A place in which every lane has a short timeout.
fn brief(seconds: f64) -> Place {
    let rule = json!({ "lock_timeout_seconds": seconds });
    Place::configured(&json!({ "per_user_serialization": rule, "lanes": { "thread:*": rule } }))
}

fn lock_of(place: &Place, lane: &str) -> Value {
    let locks = place.json(&["list-locks"]);
    locks["items"].as_array().unwrap().iter().find(|lock| lock["lane"] == lane).expect("the lock").clone()
}

/// Starts a task of alice that waits for ever; its id and the pid of its supervisor.
fn started(place: &Place, script: &str) -> (String, u32) {
    let id = place.enqueue(&["-u", "alice", "--thread", "7", "--grace", "2s", "--shell", script]);
    place.ok(&["dispatch"]);
    let supervisor = place.supervisor(&id);
    (id, supervisor)
}

/// For two seconds a lane is held and never overdue.
fn stays_held(place: &Place, lanes: &[&str]) {
    for _ in 0..20 {
        for lane in lanes {
            let lock = lock_of(place, lane);
            assert_eq!(lock["state"], "held", "{lock}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_task_is_overdue_only_while_its_supervisor_is_stopped() {
    // X1
    let place = brief(1.5);
    let (id, supervisor) = started(&place, "exec sleep 1000");
    let lanes = ["user:alice", "thread:7", "global"];
    let first = lanes.map(|lane| lock_of(&place, lane));
    stays_held(&place, &lanes);
    for (lane, first) in lanes.iter().zip(&first) {
        let now = lock_of(&place, lane);
        for same in ["lock_id", "fence", "task_id", "acquired_at", "acquired_by_pid"] {
            assert_eq!(now[same], first[same], "{lane} {same}");
        }
        for later in ["refreshed_at", "expires_at", "executionLockedAt"] {
            assert!(now[later].as_str() > first[later].as_str(), "{lane} {later}: {now}");
        }
    }
    signal(supervisor, Signal::STOP);
    until("it is overdue", || (lock_of(&place, "user:alice")["state"] == "overdue").then_some(()));
    place.luzia(&["acquire", "alice", "--task", "t2"]).coded(75);
    signal(supervisor, Signal::CONT);
    until("it is held", || (lock_of(&place, "user:alice")["state"] == "held").then_some(()));
    place.ok(&["cancel", &id]);
    place.until_status(&id, "cancelled");
    place.ok(&["check", "alice"]);
}

#[test]
fn a_task_that_is_being_ended_is_not_overdue() {
    let place = brief(0.6);
    let (id, _) = started(&place, "trap '' TERM; echo up > $PLACE/up; while :; do sleep 0.1; done");
    place.until_file("up");
    let cancel = place.start(&["cancel", &id, "--grace", "4s"]);
    stays_held(&place, &["user:alice", "thread:7"]);
    cancel.end().coded(0);
    place.until_status(&id, "cancelled");
}

#[test]
fn the_lock_of_a_command_is_refreshed() {
    let place = brief(0.6);
    place.gate("gate");
    let holder = place.start(&["lock", "-u", "alice", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    stays_held(&place, &["user:alice"]);
    place.open_gate("gate");
    holder.end().coded(0);
    place.ok(&["check", "alice"]);
}

/// Takes the sidecars of two lanes away: one is removed, the other emptied.
fn lose(place: &Place, removed: &str, emptied: &str) {
    std::fs::remove_file(place.lock(&format!("{removed}.json"))).unwrap();
    std::fs::write(place.lock(&format!("{emptied}.json")), "").unwrap();
}

fn same_grant(place: &Place, lane: &str, before: &Value) -> Option<()> {
    let now = lock_of(place, lane);
    let same = |key: &str| now[key] == before[key];
    ["lock_id", "fence", "task_id", "kind", "acquired_by_pid", "state"].iter().all(|key| same(key)).then_some(())
}

#[test]
fn a_supervisor_writes_a_lost_sidecar_anew() {
    // S3.44, X22
    let place = brief(1.5);
    let (id, _) = started(&place, "exec sleep 1000");
    let (user, thread) = (lock_of(&place, "user:alice"), lock_of(&place, "thread:7"));
    lose(&place, "user_alice", "thread_7");
    until("the sidecar of the user is back", || same_grant(&place, "user:alice", &user));
    until("the sidecar of the thread is back", || same_grant(&place, "thread:7", &thread));
    assert_eq!(place.events_named("sidecar_rebuilt").len(), 2);
    place.ok(&["cancel", &id]);
    place.until_status(&id, "cancelled");
    until("nothing is left", || (place.ok(&["list-locks", "-o", "name"]).out.is_empty()).then_some(()));
    let left =
        std::fs::read_dir(place.lock("")).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != ".guard");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_holder_of_a_command_writes_a_lost_sidecar_anew_and_gives_back_without_one() {
    let place = brief(1.5);
    place.gate("gate");
    let script = "echo up > $PLACE/up; read _ < $PLACE/gate; rm -f $PLACE/state/locks/user_alice.json";
    let holder = place.start(&["lock", "-u", "alice", "--", "sh", "-c", script]);
    place.until_file("up");
    let before = lock_of(&place, "user:alice");
    std::fs::write(place.lock("user_alice.json"), "{").unwrap();
    until("the sidecar is back", || same_grant(&place, "user:alice", &before));
    place.open_gate("gate");
    holder.end().coded(0);
    assert_eq!(place.ok(&["list-locks", "-o", "name"]).out, "");
}

#[test]
fn a_clean_up_writes_the_sidecar_of_a_living_holder_anew() {
    // S3.44, X22. The holders are stopped, so that they cannot do it.
    let place = Place::new();
    let (_, supervisor) = started(&place, "exec sleep 1000");
    let script = "echo up > $PLACE/up; exec sleep 1000";
    let holder = place.start(&["lock", "-u", "bob", "--", "sh", "-c", script]);
    place.until_file("up");
    let lanes = ["user:alice", "thread:7", "user:bob"];
    let before = lanes.map(|lane| lock_of(&place, lane));
    signal(supervisor, Signal::STOP);
    signal(holder.pid(), Signal::STOP);
    for verb in [&["cleanup-stale", "--json"][..], &["doctor", "--fix", "-y", "--json"]] {
        lose(&place, "user_alice", "thread_7");
        std::fs::write(place.lock("user_bob.json"), "{\"v\":1").unwrap();
        let seen = place.luzia(&["doctor", "--json"]).out;
        assert!(lanes.iter().all(|lane| seen.contains(&format!("lane \\\"{lane}\\\" is held"))), "{seen}");
        let told: Value = serde_json::from_str(&place.luzia(&["cleanup-stale", "-n", "--json"]).coded(0).out).unwrap();
        assert_eq!(told["rebuilt"], json!(["thread:7", "user:alice", "user:bob"]), "{told}");
        assert_eq!(lock_of(&place, "user:alice")["lock_id"], Value::Null);
        place.luzia(verb);
        for (lane, before) in lanes.iter().zip(&before) {
            assert_eq!(same_grant(&place, lane, before), Some(()), "{lane}: {} {before}", lock_of(&place, lane));
        }
    }
    let told = place.json(&["cleanup-stale"]);
    assert_eq!((&told["rebuilt"], &told["removed"]), (&json!([]), &json!(0)));
    // The evidence is of the living only: when they die the locks are had as ever.
    signal(supervisor, Signal::KILL);
    until("the lane of the task is free", || {
        place.luzia(&["dispatch"]);
        (place.luzia(&["check", "alice"]).code == 0).then_some(())
    });
}

#[test]
fn a_lock_that_was_given_to_somebody_else_is_not_refreshed() {
    // Somebody has removed the lock by hand and taken the lane: what is there is theirs.
    let place = brief(0.6);
    let (id, _) = started(&place, "exec sleep 1000");
    for name in [".thread_7.held", "thread_7.lock", "thread_7.json"] {
        std::fs::remove_file(place.lock(name)).unwrap();
    }
    place.ok(&["acquire", "thread:7", "--task", "other", "--ttl", "1h"]);
    let theirs = std::fs::read(place.lock("thread_7.json")).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(std::fs::read(place.lock("thread_7.json")).unwrap(), theirs);
    // The task takes its lane again when that is free.
    place.ok(&["release", "thread:7"]);
    until("the lock of the task is back", || place.lock("thread_7.lock").exists().then_some(()));
    assert_eq!(lock_of(&place, "thread:7")["task_id"], id);
    place.ok(&["cancel", &id]);
}

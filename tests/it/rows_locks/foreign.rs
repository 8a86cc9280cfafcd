//! Locks that other programs made, and what lies among the locks without being one (S3.6, S3.33; judge j1, j4, j6).

use crate::support::Place;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// A place whose state directory exists.
fn prepared() -> Place {
    let place = Place::new();
    place.ok(&["acquire", "nobody", "--task", "t0"]);
    place.ok(&["release", "nobody"]);
    place
}

/// Puts a file among the locks, last changed some seconds ago.
fn put(place: &Place, name: &str, text: &str, seconds_ago: u64) {
    std::fs::write(place.lock(name), text).unwrap();
    let file = std::fs::File::options().write(true).open(place.lock(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
}

#[test]
fn a_bare_lock_file_is_honoured_until_it_is_old() {
    let place = prepared();
    put(&place, "user_x.lock", "", 3500);
    let id = place.enqueue(&["-u", "x", "--", "true"]);
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "pending");
    place.luzia(&["check", "x"]).coded(75);
    place.luzia(&["lock", "-u", "x", "-n", "--", "true"]).coded(75);
    put(&place, "user_x.lock", "", 3605);
    place.ok(&["check", "x"]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn an_old_lock_of_another_program_is_old_by_what_its_sidecar_says() {
    // S3.9, S3.33
    let place = prepared();
    let at = |seconds: i64| chrono::DateTime::from_timestamp(now() + seconds, 0).unwrap().to_rfc3339();
    for (acquired, removed) in [(-3605, "1"), (-3500, "0")] {
        let record = json!({ "user": "x", "lock_id": "task_9_1", "task_id": "task_9", "acquired_at": at(acquired) });
        put(&place, "user_x.lock", "", 0);
        put(&place, "user_x.json", &record.to_string(), 0);
        assert_eq!(place.ok(&["cleanup-stale", "3600"]).line(), removed);
        place.luzia(&["check", "x"]).coded(if removed == "1" { 0 } else { 75 });
    }
}

#[test]
fn a_lock_file_of_the_future_is_not_for_ever() {
    let place = prepared();
    let sidecar = json!({ "task_id": "task_9", "acquired_at": "2099-01-01T00:00:00", "expires_at": null });
    put(&place, "user_x.lock", "", 3605);
    put(&place, "user_x.json", &sidecar.to_string(), 3605);
    place.ok(&["check", "x"]);
    place.ok(&["acquire", "x", "--task", "t1"]);
}

#[test]
fn an_old_sidecar_of_another_program_is_read_for_what_it_says() {
    // S3.28
    let place = prepared();
    let at = |seconds: i64| {
        let at = chrono::DateTime::from_timestamp(now() + seconds, 0).unwrap();
        at.format("%Y-%m-%dT%H:%M:%S.123456").to_string()
    };
    let record = |expires: i64| {
        json!({
            "user": "alice", "lock_id": "task_123_1768005905", "task_id": "task_123", "acquired_at": at(-60),
            "acquired_by_pid": 999_999, "expires_at": at(expires), "note": "kept",
        })
    };
    put(&place, "user_alice.lock", "", 60);
    put(&place, "user_alice.json", &record(60).to_string(), 60);
    let held = place.json(&["list-locks"]);
    let lock = &held["items"][0];
    assert_eq!(
        (&lock["task_id"], &lock["user"], &lock["state"]),
        (&json!("task_123"), &json!("alice"), &json!("held"))
    );
    place.luzia(&["acquire", "alice", "--task", "t1"]).coded(75);
    // A bare pid proves nothing, neither life nor death; its expiry does.
    put(&place, "user_alice.json", &record(-1).to_string(), 60);
    place.ok(&["acquire", "alice", "--task", "t1"]);
}

fn now() -> i64 {
    chrono::Utc::now().timestamp()
}

#[test]
fn a_foreign_lock_is_released_by_its_task_or_its_lock_id() {
    // S3.19, S3.31
    let place = prepared();
    let record = json!({ "user": "alice", "lock_id": "task_123_1768005905", "task_id": "task_123" });
    for release in [&["release", "alice", "task_123"][..], &["release", "alice", "--lock-id", "task_123_1768005905"]] {
        put(&place, "user_alice.lock", "", 0);
        put(&place, "user_alice.json", &record.to_string(), 0);
        place.luzia(&["release", "alice", "task_124"]).coded(1);
        place.ok(release);
        assert!(!place.lock("user_alice.lock").exists() && !place.lock("user_alice.json").exists());
    }
}

#[test]
fn a_sidecar_without_a_lock_is_nobody() {
    let place = prepared();
    put(&place, "user_alice.json", "{\"task_id\":\"task_1\"}", 0);
    place.ok(&["check", "alice"]);
    place.ok(&["cleanup-stale"]);
    assert!(!place.lock("user_alice.json").exists());
    put(&place, "user_alice.json", "nonsense", 0);
    place.ok(&["acquire", "alice", "--task", "t1"]);
    let record: Value = serde_json::from_slice(&std::fs::read(place.lock("user_alice.json")).unwrap()).unwrap();
    assert_eq!(record["task_id"], "t1");
}

#[test]
fn what_is_no_file_is_refused_and_left_alone() {
    // j1
    let place = prepared();
    std::fs::create_dir(place.lock("user_dir.lock")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.lock("user_link.lock")).unwrap();
    let fifo = place.gate("state/locks/user_fifo.lock");
    let before = place.snapshot();
    for user in ["dir", "link", "fifo"] {
        place.luzia(&["check", user]).coded(75).within(1);
        place.luzia(&["acquire", user, "--task", "t1"]).coded(75);
        place.luzia(&["lock", "-u", user, "-n", "--", "true"]).coded(75);
        place.luzia(&["release", user]).coded(1);
        place.luzia(&["release", user, "--force"]).coded(1);
    }
    place.ok(&["cleanup-stale", "0"]);
    assert_eq!(place.json(&["list-locks"])["items"].as_array().unwrap().len(), 3);
    place.assert_unchanged(&before, "it");
    assert!(std::path::Path::new(&fifo).exists());
}

#[test]
fn a_lock_of_another_account_is_refused_and_left_alone() {
    // j1
    if !crate::support::is_root() {
        return crate::support::skip("a_lock_of_another_account_is_refused_and_left_alone", "root");
    }
    let place = prepared();
    put(&place, "user_x.lock", "", 9999);
    std::os::unix::fs::chown(place.lock("user_x.lock"), Some(12345), None).unwrap();
    let before = place.snapshot();
    place.luzia(&["acquire", "x", "--task", "t1"]).coded(75);
    place.luzia(&["release", "x"]).coded(1);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "0");
    place.assert_unchanged(&before, "it");
}

#[test]
fn a_sidecar_of_a_newer_luzia_is_refused_and_never_rewritten() {
    let place = prepared();
    put(&place, "user_x.lock", "", 9999);
    put(&place, "user_x.json", "{\"v\":2,\"who\":\"later\"}", 9999);
    let before = place.snapshot();
    place.luzia(&["acquire", "x", "--task", "t1"]).coded(75);
    place.luzia(&["release", "x", "--force"]).coded(1);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "0");
    place.assert_unchanged(&before, "it");
}

#[test]
fn names_that_luzia_would_not_write_are_no_locks_of_its_lanes() {
    let place = prepared();
    for name in ["user_A=zz.lock", "README", "nounderscore.lock", "user_a@0.lock", ".swp"] {
        put(&place, name, "", 9999);
    }
    place.ok(&["check", "a"]);
    place.ok(&["acquire", "a", "--task", "t1"]);
    place.ok(&["list-locks"]);
    place.ok(&["cleanup-stale", "0"]);
    for name in ["user_A=zz.lock", "README", "nounderscore.lock", ".swp"] {
        assert!(place.lock(name).exists(), "{name}");
    }
}

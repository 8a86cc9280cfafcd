//! What counts as stale: leases by their age, processes by proof (S0.8 to S0.13, S0.26 to S0.29, S0.32, S3.9, S3.18,
//! S3.33, S3.44).

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn a_thread_lock_is_stale_after_ten_minutes_without_a_refresh() {
    // S0.8, S0.9, S0.13
    let place = Place::new();
    place.ok(&["acquire", "thread:7", "--task", "100"]);
    place.age_lock("thread_7", 595_000);
    place.luzia(&["acquire", "thread:7", "--task", "101"]).coded(75);
    place.age_lock("thread_7", 6_000);
    place.ok(&["check", "thread:7"]);
    place.ok(&["acquire", "thread:7", "--task", "101"]);
    place.luzia(&["acquire", "thread:7", "--task", "100"]).coded(75);
}

#[test]
fn a_refresh_begins_the_ten_minutes_anew() {
    // S0.10
    let place = Place::new();
    place.ok(&["acquire", "thread:7", "--task", "100"]);
    place.age_lock("thread_7", 500_000);
    place.ok(&["acquire", "thread:7", "--task", "100"]);
    place.age_lock("thread_7", 500_000);
    place.luzia(&["acquire", "thread:7", "--task", "101"]).coded(75);
}

#[test]
fn clearing_a_stale_thread_says_so_with_the_measured_age() {
    // S0.32
    let place = Place::new();
    let is_line = |line: &str| {
        let age = line.strip_prefix("[MessageService] Lock on thread 123 is stale (");
        let age = age.and_then(|rest| rest.strip_suffix("ms), clearing..."));
        age.and_then(|age| age.parse().ok()).is_some_and(|age: u64| (650_000..710_000).contains(&age))
    };
    for clear in [&["-v", "acquire", "thread:123", "--task", "101"][..], &["-v", "cleanup-stale"]] {
        place.ok(&["acquire", "thread:123", "--task", "100"]);
        place.age_lock("thread_123", 650_000);
        let cleared = place.ok(clear);
        assert!(cleared.err.lines().any(is_line), "{}", cleared.err);
        assert!(place.events_named("lock_broken").iter().any(|e| is_line(e["message"].as_str().unwrap())));
        place.ok(&["release", "thread:123"]);
    }
}

#[test]
fn a_user_lock_is_stale_after_an_hour_or_as_configured() {
    // S3.9, S3.22, S3.33
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1"]);
    place.age_lock("user_alice", 3_590_000);
    assert_eq!(place.ok(&["cleanup-stale"]).line(), "0");
    place.age_lock("user_alice", 11_000);
    assert_eq!(place.ok(&["cleanup-stale"]).line(), "1");
    place.configure(&json!({ "per_user_serialization": { "enabled": true, "lock_timeout_seconds": 300 } }));
    place.ok(&["acquire", "alice", "--task", "t1"]);
    place.age_lock("user_alice", 301_000);
    place.ok(&["acquire", "alice", "--task", "t2"]);
}

#[test]
fn an_expiry_of_its_own_ends_a_lease_whatever_its_age() {
    // S3.33
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1", "--ttl", "1"]);
    place.age_lock("user_alice", 1_001);
    place.ok(&["check", "alice"]);
    assert_eq!(place.ok(&["list-locks", "--state", "stale", "-o", "name"]).line(), "user:alice");
}

#[test]
fn stale_locks_are_listed_and_cleaned_in_one_command() {
    // S0.28, S0.29, S3.18, S3.32
    let place = Place::new();
    for thread in ["1", "2", "3"] {
        place.ok(&["acquire", &format!("thread:{thread}"), "--task", "100"]);
    }
    place.age_lock("thread_1", 700_000);
    place.age_lock("thread_2", 700_000);
    let stale = place.json(&["list-locks", "--state", "stale"]);
    assert_eq!(stale["items"].as_array().unwrap().len(), 2);
    assert!(stale["items"][0]["lockMinutes"].as_u64().unwrap() >= 11);
    let before = place.snapshot();
    assert_eq!(place.ok(&["cleanup-stale", "600", "-n"]).line(), "2");
    place.assert_unchanged(&before, "it");
    assert_eq!(place.ok(&["cleanup_stale", "600"]).line(), "2");
    assert_eq!(place.ok(&["cleanup-stale", "600"]).line(), "0");
    place.luzia(&["check", "thread:3"]).coded(75);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "1");
}

#[test]
fn many_cleaners_at_once_remove_each_lock_once() {
    let place = Place::new();
    for user in ["a", "b", "c", "d"] {
        place.ok(&["acquire", user, "--task", "t1"]);
        place.age_lock(&format!("user_{user}"), 4_000_000);
    }
    let cleaners: Vec<_> = (0..8).map(|_| place.start(&["cleanup-stale"])).collect();
    let total: u32 = cleaners.into_iter().map(|cleaner| cleaner.end().coded(0).line().parse::<u32>().unwrap()).sum();
    // A guard that is busy is skipped, so the last one to look may find nothing left to do, but never a lock twice.
    assert!(total <= 4);
    assert_eq!(place.events_named("lock_broken").len(), usize::try_from(total).unwrap());
    place.ok(&["cleanup-stale"]);
    assert_eq!(place.json(&["list-locks"])["items"], json!([]));
}

#[test]
fn the_lock_of_a_killed_holder_is_granted_again_at_once() {
    // S0.26
    let place = Place::new();
    let mut holder =
        place.start(&["lock", "-l", "thread:7", "--", "sh", "-c", "echo $$ > $PLACE/pid; exec sleep 1000"]);
    let command: u32 = place.until_file("pid").parse().unwrap();
    place.luzia(&["acquire", "thread:7", "--task", "101"]).coded(75);
    holder.kill();
    signal(command, Signal::KILL);
    until("the lane is free", || (place.luzia(&["check", "thread:7"]).code == 0).then_some(()));
    assert_eq!(place.json(&["list-locks"])["items"][0]["state"], "stale");
    place.ok(&["acquire", "thread:7", "--task", "101"]);
    let broken = place.events_named("lock_broken");
    assert_eq!(broken.len(), 1);
    assert!(broken[0]["message"].as_str().unwrap().contains("Lock on thread 7 is stale"), "{broken:?}");
}

#[test]
fn a_living_holder_is_never_stale_however_old() {
    // S3.9, S3.33
    let place = Place::new();
    let gate = place.gate("gate");
    let id = place.enqueue(&["-u", "alice", "--env", &format!("GATE={gate}"), "--shell", "read _ < $GATE"]);
    place.ok(&["dispatch"]);
    place.supervisor(&id);
    place.age_lock("user_alice", 10_000_000);
    assert_eq!(place.json(&["list-locks", "--state", "overdue"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(place.ok(&["cleanup-stale", "1"]).line(), "0");
    place.luzia(&["acquire", "alice", "--task", "t2"]).coded(75);
    place.luzia(&["release", "alice"]).coded(1);
    place.open_gate("gate");
    place.until_status(&id, "completed");
    place.ok(&["check", "alice"]);
}

#[test]
fn a_corrupt_sidecar_of_a_dead_holder_does_not_keep_the_lane() {
    // S3.44
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1"]);
    let path = place.lock("user_alice.json");
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    // Other programs do not write in one piece: two seconds are theirs.
    place.luzia(&["acquire", "alice", "--task", "t2"]).coded(75);
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(3);
    for name in ["user_alice.json", "user_alice.lock"] {
        std::fs::File::options().write(true).open(place.lock(name)).unwrap().set_modified(past).unwrap();
    }
    place.ok(&["acquire", "alice", "--task", "t2"]);
}

#[test]
fn a_corrupt_sidecar_of_a_living_holder_does_not_free_the_lane() {
    // S3.44
    let place = Place::new();
    let gate = place.gate("gate");
    let script = "echo up > $PLACE/up; read _ < $GATE";
    let mut lock = place.command(&["lock", "-u", "alice", "--", "sh", "-c", script]);
    let holder = place.spawn(lock.env("GATE", &gate));
    place.until_file("up");
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    for name in ["user_alice.json", "user_alice.lock"] {
        let file = std::fs::File::options().write(true).open(place.lock(name)).unwrap();
        if name.ends_with("json") {
            file.set_len(10).unwrap();
        }
        file.set_modified(past).unwrap();
    }
    place.luzia(&["acquire", "alice", "--task", "t2"]).coded(75);
    assert_eq!(place.ok(&["cleanup-stale", "0"]).line(), "0");
    place.open_gate("gate");
    holder.end().coded(0);
    place.ok(&["acquire", "alice", "--task", "t2"]);
}

#[test]
fn a_dry_run_tells_the_dead_tasks_that_would_be_recovered() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--shell", "echo $$ > $PLACE/began; exec sleep 60"]);
    place.ok(&["dispatch"]);
    place.until_file("began");
    let supervisor = place.supervisor("1");
    signal(supervisor, Signal::KILL);
    until("it is dead", || (!crate::support::lives(supervisor)).then_some(()));
    let before = place.snapshot();
    let told = place.json(&["cleanup-stale", "-n"]);
    assert_eq!(told["recovered"], json!(["task_1"]), "{told}");
    assert_eq!(place.ok(&["cleanup-stale", "-n"]).line(), "1");
    place.assert_unchanged(&before, "a dry run");
    assert_eq!(place.ok(&["cleanup-stale"]).line(), "1");
    assert_eq!(place.status("1"), "failed");
}

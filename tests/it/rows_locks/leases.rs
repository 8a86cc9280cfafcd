//! Leases on threads and users: taken, refreshed, refused, given back (S0.3 to S0.15, S3.4 to S3.8, S3.21).

use crate::support::{Place, until};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

fn acquire(place: &Place, lane: &str, task: &str) -> Value {
    place.json(&["acquire", lane, "--task", task])
}

#[test]
fn a_thread_says_who_holds_it_and_since_when_and_null_when_free() {
    // S0.3, S0.4, S0.5
    let place = Place::new();
    let free = place.json(&["check", "thread:7"]);
    assert!(free["activeExecutionId"].is_null() && free["executionLockedAt"].is_null(), "{free}");
    acquire(&place, "thread:7", "100");
    let held = place.luzia(&["--json", "check", "thread:7"]).coded(75).json();
    assert_eq!(held["activeExecutionId"], 100);
    let at = held["executionLockedAt"].as_str().unwrap();
    assert!(at.ends_with('Z') && chrono::DateTime::parse_from_rfc3339(at).is_ok(), "{at}");
    acquire(&place, "thread:8", "deploy");
    let named = place.luzia(&["--json", "check", "thread:8"]).coded(75).json();
    assert_eq!(named["activeExecutionId"], "deploy");
}

#[test]
fn acquiring_again_refreshes_and_keeps_lock_id_and_fence() {
    // S0.6
    let place = Place::new();
    let first = acquire(&place, "thread:7", "100");
    let locked_at = || place.luzia(&["--json", "check", "thread:7"]).json()["executionLockedAt"].to_string();
    let before = locked_at();
    let again = acquire(&place, "thread:7", "task_100");
    assert_eq!((&again["lock_id"], &again["fence"]), (&first["lock_id"], &first["fence"]));
    assert_eq!((&first["refreshed"], &again["refreshed"]), (&false.into(), &true.into()));
    assert!(locked_at() > before);
}

#[test]
fn a_foreign_lock_is_refused_and_stays_as_it_is() {
    // S0.7, S0.15, S3.5
    let place = Place::new();
    let lock_id = acquire(&place, "thread:7", "100")["lock_id"].as_str().unwrap().to_owned();
    let before = place.snapshot();
    place.luzia(&["acquire", "thread:7", "--task", "101"]).coded(75);
    place.luzia(&["release", "thread:7", "101"]).coded(1);
    place.luzia(&["release", "thread:7", "--lock-id", "task_100_1"]).coded(1);
    place.luzia(&["renew", "thread:7", "--lock-id", "task_100_1"]).coded(1);
    place.assert_unchanged(&before, "it");
    place.ok(&["renew", "thread:7", "--lock-id", &lock_id]);
    place.ok(&["release", "thread:7", "--lock-id", &lock_id]);
    place.ok(&["check", "thread:7"]);
    // A free lane is released with success.
    place.ok(&["release", "thread:7", "--lock-id", &lock_id]);
}

#[test]
fn a_refusal_that_scripts_read_says_no_on_both_streams() {
    // S3.4
    let place = Place::new();
    acquire(&place, "alice", "t1");
    let refused = place.luzia(&["--json", "acquire", "alice", "--task", "t2"]).coded(75);
    assert_eq!(refused.json()["acquired"], false);
    let error: Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!((error["code"].as_str(), error["exit"].as_i64()), (Some("LOCK_HELD"), Some(75)));
    assert!(error["message"].as_str().unwrap().contains("t1"), "{error}");
}

#[test]
fn acquire_waits_up_to_its_timeout() {
    // S3.4
    let place = Place::new();
    acquire(&place, "alice", "t1");
    let refused = place.luzia(&["acquire", "alice", "--task", "t2", "--timeout", "300ms"]).coded(75);
    assert!(refused.took.as_millis() >= 300, "{refused:?}");
    let mut waiting = place.start(&["acquire", "alice", "--task", "t2", "--timeout", "30", "--json"]);
    assert!(!waiting.is_over());
    place.ok(&["release", "alice", "t1"]);
    let granted = waiting.end().coded(0).json();
    assert_eq!(granted["acquired"], true);
    let lock_id = granted["lock_id"].as_str().unwrap();
    let seconds = lock_id.strip_prefix("t2_").unwrap();
    assert!(seconds.len() == 10 && seconds.bytes().all(|byte| byte.is_ascii_digit()), "{lock_id}");
}

#[test]
fn a_lock_id_is_the_task_and_the_second() {
    // S3.21
    let place = Place::new();
    let lock_id = place.ok(&["acquire", "alice", "--task", "123"]).line();
    let seconds = lock_id.strip_prefix("task_123_").unwrap();
    assert!(seconds.len() == 10 && seconds.bytes().all(|byte| byte.is_ascii_digit()), "{lock_id}");
    place.ok(&["release", "alice", "123"]);
    let next = place.ok(&["acquire", "alice", "--task", "123"]).line();
    assert!(next >= lock_id);
}

#[test]
fn the_lock_file_and_its_sidecar_have_the_promised_names_modes_and_members() {
    // S3.6, S3.7, S3.8, S3.28
    let place = Place::new();
    // Whatever the umask, the modes are the promised ones.
    let masked = "umask 077; exec \"$LUZIA\" acquire alice --task t1";
    place.spawn(&mut place.shell(masked)).end().coded(0);
    for name in ["user_alice.lock", "user_alice.json"] {
        let mode = place.lock(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o644, "{name}");
    }
    assert_eq!(place.state().metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    let text = std::fs::read_to_string(place.lock("user_alice.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    for member in [
        "user",
        "lane",
        "lock_id",
        "task_id",
        "fence",
        "acquired_at",
        "refreshed_at",
        "expires_at",
        "acquired_by_pid",
        "pid_start",
        "boot_id",
        "host",
        "kind",
        "borrowers",
    ] {
        assert!(record.get(member).is_some_and(|value| !value.is_null()), "{member}: {record}");
    }
    assert_eq!((&record["user"], &record["kind"], &record["v"]), (&"alice".into(), &"lease".into(), &1.into()));
    let content = std::fs::read_to_string(place.lock("user_alice.lock")).unwrap();
    assert_eq!(content, format!("{} {}\n", record["lock_id"].as_str().unwrap(), record["fence"]));
    place.ok(&["release", "alice"]);
    assert!(!place.lock("user_alice.lock").exists() && !place.lock("user_alice.json").exists());
}

#[test]
fn the_state_directory_moves_the_locks() {
    // S3.6
    let place = Place::new();
    let elsewhere = place.text("elsewhere");
    place.ok(&["--state-dir", &elsewhere, "acquire", "alice", "--task", "t1"]);
    assert!(place.path("elsewhere/locks/user_alice.lock").exists());
    assert!(!place.state().exists());
    place.ok(&["acquire", "alice", "--task", "t1"]);
}

#[test]
fn fences_grow_across_release_and_expiry() {
    // P5
    let place = Place::new();
    let mut last = 0;
    for task in ["1", "2", "3"] {
        let fence = acquire(&place, "alice", task)["fence"].as_u64().unwrap();
        assert!(fence > last);
        last = fence;
        place.ok(&["release", "alice", task]);
    }
    acquire(&place, "alice", "4");
    place.age_lock("user_alice", 3_700_000);
    assert!(acquire(&place, "alice", "5")["fence"].as_u64().unwrap() > last + 1);
}

#[test]
fn a_watched_process_ends_its_lease() {
    let place = Place::new();
    let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = sleeper.id().to_string();
    place.ok(&["acquire", "alice", "--task", "t1", "--pid", &pid]);
    place.luzia(&["acquire", "alice", "--task", "t2"]).coded(75);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    until("the lane is free again", || (place.luzia(&["check", "alice"]).code == 0).then_some(()));
    place.ok(&["acquire", "alice", "--task", "t2"]);
}

#[test]
fn a_time_to_live_of_its_own_is_kept_by_an_age_limit() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1", "--ttl", "2h"]);
    place.ok(&["acquire", "bob", "--task", "t1"]);
    place.age_lock("user_alice", 3_000_000);
    place.age_lock("user_bob", 3_000_000);
    assert_eq!(place.ok(&["cleanup-stale", "60"]).line(), "1");
    place.luzia(&["check", "alice"]).coded(75);
    place.ok(&["check", "bob"]);
}

#[test]
fn logs_of_threads_have_the_words_of_their_source() {
    // S0.30, S0.31
    let place = Place::new();
    acquire(&place, "thread:123", "100");
    let refused = place.luzia(&["-v", "acquire", "thread:123", "--task", "101"]).coded(75);
    let line = "[MessageService] Thread 123 locked by execution 100, cannot acquire for 101";
    assert_eq!(refused.err.lines().next(), Some(line));
    assert!(place.events().iter().any(|event| event["message"] == line));
    let released = place.ok(&["-v", "release", "thread:123", "100"]);
    let line = "[MessageService] Thread 123 lock released by execution 100";
    assert_eq!(released.err.lines().next(), Some(line));
    assert!(place.events().iter().any(|event| event["message"] == line));
    // Lanes of other kinds have no such line.
    acquire(&place, "alice", "100");
    let other = place.luzia(&["-v", "acquire", "alice", "--task", "101"]).coded(75);
    assert!(!other.err.contains("MessageService"), "{}", other.err);
}

#[test]
fn inside_a_task_self_names_it_to_acquire_and_release_too() {
    let place = Place::new();
    let script = "$LUZIA acquire gpu:1 --task self && $LUZIA check gpu:1 --json; $LUZIA release gpu:1 self";
    let ran = place.luzia(&["run", "-u", "a", "--", "sh", "-c", script]).coded(0);
    assert!(ran.out.starts_with("task_1_") && ran.out.contains("\"activeExecutionId\": 1,"), "{}", ran.out);
    place.ok(&["check", "gpu:1"]);
    place.luzia(&["acquire", "gpu:1", "--task", "self"]).coded(2);
    place.luzia(&["release", "gpu:1", "self"]).coded(2);
}

#[test]
fn verbs_that_run_a_command_log_in_the_words_of_the_source_too() {
    // S0.30, S0.31, S0.32
    let place = Place::new();
    let stale = "[MessageService] Lock on thread 7 is stale (";
    for verb in [&["lock", "-l", "thread:7"][..], &["run", "-u", "a", "--thread", "7"]] {
        acquire(&place, "thread:7", "100");
        place.age_lock("thread_7", 650_000);
        let ran = place.ok(&[&["-v"], verb, &["--", "true"]].concat());
        let line = ran.err.lines().find(|line| line.starts_with(stale));
        assert!(line.is_some_and(|line| line.ends_with("ms), clearing...")), "{verb:?}: {}", ran.err);
    }
    let ran = place.ok(&["-v", "lock", "-l", "thread:7", "--", "true"]);
    assert!(ran.err.contains("[MessageService] Thread 7 lock released by execution pid-"), "{}", ran.err);
    acquire(&place, "thread:7", "100");
    let refused = place.luzia(&["-v", "run", "-u", "a", "--thread", "7", "--no-wait", "--", "true"]).coded(75);
    let line = "[MessageService] Thread 7 locked by execution 100, cannot acquire for 2";
    assert_eq!(refused.err.lines().next(), Some(line));
}

#[test]
fn a_lease_that_cannot_be_renewed_says_why() {
    // P7
    let place = Place::new();
    let id = place.ok(&["acquire", "alice", "--task", "t1"]).line();
    let other = place.luzia(&["renew", "alice", "--lock-id", "t0_1"]).coded(1).err;
    assert!(other.contains("is held by t1 for ") && other.contains("try: luzia explain user:alice"), "{other}");
    assert!(!other.contains("luzia release"), "{other}");
    place.age_lock("user_alice", 3_700_000);
    let over = place.luzia(&["renew", "alice", "--lock-id", &id]).coded(1).err;
    assert!(over.contains("its lease has run out") && !over.contains("is held by"), "{over}");
}

#[test]
fn a_lease_that_watches_a_living_process_is_released_by_a_caller_that_can_name_it() {
    let place = Place::new();
    let process = place.spawn(&mut place.shell("exec sleep 60"));
    let pid = process.pid().to_string();
    for by_id in [true, false] {
        let lock_id = place.ok(&["acquire", "gpu:0", "--task", "train", "--pid", &pid]).line();
        let refused = place.luzia(&["release", "gpu:0"]).coded(1);
        assert!(refused.err.contains("its process is alive"), "{refused:?}");
        assert!(!refused.err.contains(&lock_id) && !refused.err.contains("--force"), "{refused:?}");
        assert!(refused.err.contains("try: luzia explain gpu:0\n"), "{refused:?}");
        place.luzia(&["release", "gpu:0", "--lock-id", "train_1"]).coded(1);
        let named: &[&str] =
            if by_id { &["release", "gpu:0", "--lock-id", &lock_id] } else { &["release", "gpu:0", "train"] };
        place.ok(named);
        place.ok(&["check", "gpu:0"]);
        assert!(crate::support::lives(process.pid()), "nobody was to be ended");
    }
    place.ok(&["acquire", "gpu:0", "--task", "train", "--pid", &pid]);
    place.ok(&["release", "gpu:0", "train", "--force"]);
    assert!(!crate::support::lives(process.pid()), "force ends the holder first");
}

#[test]
fn an_age_limit_does_not_end_a_lease_whose_process_lives() {
    // S3.9
    let place = Place::new();
    let mut process = place.spawn(&mut place.shell("exec sleep 60"));
    place.ok(&["acquire", "alice", "--task", "t1", "--pid", &process.pid().to_string()]);
    place.age_lock("user_alice", 5000);
    assert_eq!(place.ok(&["cleanup-stale", "1"]).line(), "0");
    place.luzia(&["check", "alice"]).coded(75);
    process.kill();
    assert_eq!(place.ok(&["cleanup-stale", "1"]).line(), "1");
}

#[test]
fn what_a_running_task_acquires_is_released_when_it_ends() {
    // S0.11 to S0.14
    let place = Place::new();
    let script = "$LUZIA acquire thread:5 --task $LUZIA_TASK_ID && $LUZIA acquire -l db -l cache --task self --ttl 1h && \
                  $LUZIA acquire thread:6 --task other";
    let id = place.enqueue(&["-u", "a", "--shell", script]);
    place.drain();
    assert_eq!(place.status(&id), "completed", "{}", place.ok(&["logs", &id]).err);
    for lane in ["thread:5", "lane:db", "lane:cache"] {
        place.ok(&["check", lane]);
    }
    place.luzia(&["check", "thread:6"]).coded(75);
    let listed = place.json(&["list-locks"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    let released = &place.events_named("released")[0];
    assert_eq!(released["data"]["threads"], 1);
    assert!(released["message"].as_str().unwrap().starts_with("[AgentGraph] Released locks on 1 thread(s)"));
}

#[test]
fn a_task_that_may_write_only_locks_acquires_until_the_time_of_the_lease() {
    let test = "a_task_that_may_write_only_locks_acquires_until_the_time_of_the_lease";
    if !crate::context::can_unshare(test) {
        return;
    }
    let place = Place::new();
    let inner = "mount --bind $LUZIA_STATE_DIR $LUZIA_STATE_DIR && mount --bind $LUZIA_STATE_DIR/locks \
                 $LUZIA_STATE_DIR/locks && mount -o remount,bind,ro $LUZIA_STATE_DIR && \
                 $LUZIA acquire thread:5 --task $LUZIA_TASK_ID";
    let id = place.enqueue(&["-u", "a", "--shell", &format!("unshare --mount sh -c '{inner}'")]);
    place.drain();
    assert_eq!(place.status(&id), "completed", "{}", place.ok(&["logs", &id]).err);
    place.luzia(&["check", "thread:5"]).coded(75);
}

#[test]
fn what_a_task_acquired_is_released_when_its_supervisor_is_killed_and_it_is_recovered() {
    let place = Place::new();
    let script = format!("$LUZIA acquire thread:5 --task self; echo up >$PLACE/up; read _ <{}", place.gate("go"));
    let id = place.enqueue(&["-u", "a", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    place.luzia(&["check", "thread:5"]).coded(75);
    crate::support::signal(place.supervisor(&id), rustix::process::Signal::KILL);
    until("the task is recovered", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "failed").then_some(())
    });
    place.ok(&["check", "thread:5"]);
    // A lease under the name of a task that is over is one of its own.
    place.ok(&["acquire", "thread:5", "--task", &id]);
    place.luzia(&["check", "thread:5"]).coded(75);
}

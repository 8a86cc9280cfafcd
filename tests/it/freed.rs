//! Lanes that become free, and locks that stood there before luzia: who is started, and what is seen.

use crate::support::{Place, lines, queue};
use serde_json::{Value, json};

const NOTE: &str = "echo $LUZIA_TASK_ID >> $PLACE/order";

#[test]
fn a_release_starts_the_tasks_that_wait_for_the_lane_one_after_another() {
    // S0.23
    let place = Place::new();
    place.ok(&["acquire", "thread:9", "--task", "other"]);
    let ids: Vec<String> = (0..5).map(|_| place.enqueue(&["--thread", "9", "--", "sh", "-c", NOTE])).collect();
    let elsewhere = place.enqueue(&["--thread", "8", "--", "true"]);
    place.ok(&["acquire", "build", "--task", "other"]);
    place.ok(&["release", "-l", "build"]);
    assert_eq!(place.status(&ids[0]), "pending");
    assert_eq!(place.status(&elsewhere), "pending", "nobody waits for what was released");
    place.ok(&["release", "thread:9"]);
    place.until_status(&ids[4], "completed");
    assert_eq!(lines(&place.path("order")), ids);
}

#[test]
fn the_end_of_a_lock_starts_a_task_that_waits_for_its_lane() {
    for (lock, options) in [
        (&["-u", "alice"][..], &["-u", "alice"][..]),
        (&["-l", "thread:7"], &["--thread", "7"]),
        (&["-l", "build"], &["-l", "build"]),
        (&["-l", "build"], &["-u", "bob", "-l", "build"]),
    ] {
        let place = Place::new();
        let exe = env!("CARGO_BIN_EXE_luzia");
        let inner = [&["enqueue"], options, &["--", "true"]].concat().join(" ");
        let script = format!("{exe} {inner} > $PLACE/id");
        place.ok(&[&["lock"], lock, &["--", "sh", "-c", &script]].concat());
        let id = lines(&place.path("id")).remove(0);
        place.until_status(&id, "completed");
        // Nobody waits for it.
        let other = place.enqueue(&["-l", "docs", "--", "true"]);
        place.ok(&[&["lock"], lock, &["--", "true"]].concat());
        assert_eq!(place.status(&other), "pending");
    }
}

#[test]
fn locks_of_another_system_are_seen_before_the_first_write() {
    // S3.46, S3.30
    let place = Place::new();
    let locks = place.state().join("locks");
    std::fs::create_dir_all(&locks).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for (user, age) in [("f1", 10), ("f2", 100_000)] {
        std::fs::write(locks.join(format!("user_{user}.lock")), "").unwrap();
        let at = now - age;
        let sidecar =
            json!({ "user": user, "lock_id": format!("task_1_{at}"), "task_id": "task_1", "acquired_at": at });
        std::fs::write(locks.join(format!("user_{user}.json")), sidecar.to_string()).unwrap();
    }
    place.luzia(&["check", "f1"]).coded(75);
    place.luzia(&["check", "nobody"]).coded(0);
    let listed = place.json(&["list-locks"])["items"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(place.json(&["status"])["user_locks"]["active"], 1);
    assert!(place.ok(&["explain", "user:f1"]).out.contains("f1"));
    assert!(place.ok(&["doctor"]).out.contains("2 locks of another system"));
    place.ok(&["cleanup-stale", "300", "-n"]);
    assert!(!place.state().join("format").exists(), "nothing was written");
    place.ok(&["release", "f1"]);
    assert!(!locks.join("user_f1.lock").exists());
}

#[test]
fn a_record_without_a_priority_has_the_usual_one() {
    // S3.46
    let place = Place::new();
    let id = place.enqueue(&["-u", "old", "--", "true"]);
    let path = place.state().join("spool/pending/5").join(queue("old")).join("1.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().remove("priority").unwrap();
    std::fs::write(&path, record.to_string()).unwrap();
    assert_eq!(place.show(&id)["priority"], 5);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn list_and_check_take_patterns_of_lanes() {
    // S4.3
    let place = Place::new();
    let in_session = place.enqueue(&["-l", "session:telegram:a", "--", "true"]);
    place.enqueue(&["-l", "session:mail:b", "--", "true"]);
    let items = place.json(&["list", "-l", "session:telegram:*"])["items"].clone();
    assert_eq!((items.as_array().unwrap().len(), &items[0]["id"]), (1, &json!(in_session)), "{items}");
    place.ok(&["acquire", "thread:1", "--task", "x"]);
    place.enqueue(&["--thread", "2", "--", "true"]);
    let ran = place.luzia(&["check", "-l", "thread:*"]).coded(75);
    assert_eq!(ran.out, "thread:1\tbusy\nthread:2\tfree\n");
    assert_eq!(place.luzia(&["check", "-l", "session:*", "-l", "docs"]).coded(0).out.lines().count(), 3);
    let told: Value = place.luzia(&["check", "-l", "thread:*", "--json"]).coded(75).out.parse().unwrap();
    assert_eq!((&told["free"], told["items"].as_array().unwrap().len()), (&json!(false), 2), "{told}");
    place.luzia(&["check", "-l", "thread:1"]).coded(75);
    place.luzia(&["check", "-l", "thread:1", "alice"]).coded(2);
}

#[test]
fn a_process_in_the_lane_of_one_user_takes_that_of_no_other() {
    // S3.36
    let place = Place::new();
    let exe = env!("CARGO_BIN_EXE_luzia");
    let run = |script: &str| place.luzia(&["lock", "-u", "a", "--", "sh", "-c", &format!("{exe} {script}")]);
    for verb in ["lock -u b -- true", "acquire b --task t1", "lock -u b -l build -- true"] {
        let refused = run(verb).coded(2);
        assert!(refused.err.contains("lane \"user:b\" of a second user"), "{}", refused.err);
    }
    run("lock -u a -- true").coded(0);
    run("lock -l build -- true").coded(0);
    // A child task is another task.
    let script = format!("{exe} lock -u d -- true; echo $? > $PLACE/code; {exe} run -u b -- true");
    place.ok(&["run", "-u", "c", "--", "sh", "-c", &script]);
    assert_eq!(lines(&place.path("code")), ["2"]);
    assert_eq!(place.status("task_2"), "completed");
}

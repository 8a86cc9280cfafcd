//! What dies on the way: the command, its supervisor, the daemon (S3.42, S3.43, S4.10, S4.11, P2, P4).

use crate::support::{Place, lives, signal, until, with};
use rustix::process::Signal;

/// A task of alice that runs, with the pids of its supervisor and of its command.
fn running(place: &Place, args: &[&str]) -> (String, u32, u32) {
    let script = "echo $$ > $PLACE/pid; exec sleep 1000";
    let id = place.enqueue(&[args, &["-u", "alice", "--", "sh", "-c", script]].concat());
    place.ok(&["dispatch"]);
    let command = place.until_file("pid").parse().unwrap();
    let supervisor = place.supervisor(&id);
    (id, supervisor, command)
}

#[test]
fn a_queued_record_that_names_no_user_runs_as_the_user_of_its_lane() {
    // S3.46
    let place = Place::new();
    for is_deep in [false, true] {
        if is_deep {
            place.deepen("alice");
        }
        let id = place.enqueue(&["-u", "alice", "--thread", "7", "--shell", "echo $LUZIA_USER > $PLACE/user"]);
        let number = id.strip_prefix("task_").unwrap();
        let folder = format!("{}{}", crate::support::queue("alice"), if is_deep { "/0" } else { "" });
        let path = place.state().join(format!("spool/pending/5/{folder}/{number}.json"));
        let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(record.as_object_mut().unwrap().remove("user"), Some("alice".into()));
        std::fs::write(&path, record.to_string()).unwrap();
        assert_eq!(place.show(&id)["user"], "alice");
        assert_eq!(place.ok(&["dispatch"]).line(), id);
        place.until_status(&id, "completed");
        assert_eq!((place.until_file("user"), place.show(&id)["user"].as_str()), ("alice".into(), Some("alice")));
        std::fs::remove_file(place.path("user")).unwrap();
        assert!(place.events_named("set_aside").is_empty());
        place.drain();
        assert_eq!(place.ok(&["list-locks", "-o", "name"]).out, "");
    }
}

#[test]
fn a_record_that_is_damaged_while_it_runs_strands_no_lock() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--thread", "7", "--", "sleep", "1000"]);
    place.ok(&["dispatch"]);
    let supervisor = place.supervisor(&id);
    std::fs::write(place.state().join("spool/running/1.json"), "{}").unwrap();
    signal(supervisor, Signal::KILL);
    until("its locks are gone", || {
        place.ok(&["dispatch"]);
        std::fs::read_dir(place.lock("")).unwrap().all(|entry| entry.unwrap().file_name() == ".guard").then_some(())
    });
    assert!(place.luzia(&["show", &id]).coded(65).err.contains("set aside"));
}

#[test]
fn a_killed_supervisor_fails_its_task_and_the_next_one_starts() {
    // S3.42
    let place = Place::new();
    let (id, supervisor, command) = running(&place, &["--grace", "100ms"]);
    let next = place.enqueue(&["-u", "alice", "--", "true"]);
    signal(supervisor, Signal::KILL);
    until("it is dead", || (!lives(supervisor)).then_some(()));
    // Its command lives: the lane is an orphan's, and nobody gets it.
    assert!(lives(command));
    let orphans = place.json(&["list-locks", "--state", "orphan"]);
    assert_eq!(with(&orphans["items"], "lane", "user:alice").len(), 1, "{orphans}");
    place.luzia(&["check", "alice"]).coded(75);
    // Every look tells of it, and what would be done is not told as done.
    let stuck = place.json(&["list", "--stuck"]);
    assert_eq!((stuck["items"].as_array().unwrap().len(), &stuck["items"][0]["reason"]), (1, &"Orphan".into()));
    assert!(place.ok(&["list"]).out.contains("orphan: supervisor dead"));
    assert_eq!(place.show(&id)["reason_detail"]["next"][0], "luzia dispatch");
    assert!(place.ok(&["cleanup-stale", "-n"]).err.contains("would be recovered"));
    place.drain();
    assert!(!lives(command));
    assert!(place.ok(&["list", "-a"]).out.contains("interrupted: its supervisor was killed"));
    assert_eq!(place.json(&["list", "-a", "--stuck"])["items"], serde_json::json!([]));
    assert_eq!((place.status(&id), place.status(&next)), ("failed".into(), "completed".into()));
    assert_eq!(place.show(&id)["attempt"], 1);
}

#[test]
fn a_task_killed_altogether_is_recovered_by_the_next_pass() {
    // P4, S0.26
    for recover in [&["dispatch"][..], &["cleanup-stale"], &["acquire", "alice", "--task", "t1"]] {
        let place = Place::new();
        let (id, supervisor, command) = running(&place, &[]);
        signal(supervisor, Signal::KILL);
        signal(command, Signal::KILL);
        until("they are dead", || (!lives(supervisor) && !lives(command)).then_some(()));
        place.ok(recover);
        place.until_status(&id, "failed");
    }
}

#[test]
fn an_interrupted_attempt_is_repeated_when_retries_are_left() {
    // P3
    let place = Place::new();
    let (id, supervisor, _) = running(&place, &["--retries", "1", "--grace", "0"]);
    signal(supervisor, Signal::KILL);
    until("it is dead", || (!lives(supervisor)).then_some(()));
    place.ok(&["dispatch"]);
    place.until_status(&id, "pending");
    let task = place.show(&id);
    assert_eq!((task["attempt"].as_u64(), task["starts"].as_u64()), (Some(2), Some(1)), "{task}");
    assert!(task["due_at"].is_string());
}

#[test]
fn sigterm_to_a_supervisor_interrupts_and_does_not_cancel() {
    let place = Place::new();
    let (id, supervisor, command) = running(&place, &["--grace", "5s"]);
    signal(supervisor, Signal::TERM);
    place.until_status(&id, "failed");
    assert!(!lives(command));
    assert!(place.show(&id)["errorMessage"].as_str().unwrap().contains("interrupted"));
}

#[test]
fn a_killed_daemon_leaves_its_tasks_running_and_a_new_one_goes_on() {
    // S3.43
    let place = Place::new();
    place.gate("gate");
    let mut daemon = place.start(&["daemon"]);
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo $$ > $PLACE/pid; read _ < $PLACE/gate; exit 3"]);
    let command: u32 = place.until_file("pid").parse().unwrap();
    daemon.kill();
    let next = place.enqueue(&["-u", "alice", "--", "true"]);
    assert!(lives(command));
    place.luzia(&["check", "alice"]).coded(75);
    let daemon = place.start(&["daemon"]);
    assert_eq!(place.status(&id), "running");
    place.open_gate("gate");
    place.luzia(&["wait", &id, &next, "--timeout", "30"]).coded(1);
    assert_eq!(place.show(&id)["exit_code"], 3);
    assert_eq!(place.status(&next), "completed");
    daemon.signal(Signal::TERM);
    daemon.end().coded(0);
}

#[test]
fn the_end_of_a_task_starts_the_next_without_any_dispatcher() {
    // S4.10, S4.11
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "--", "false"]);
    let more: Vec<String> = (0..3).map(|_| place.enqueue(&["-u", "alice", "--", "true"])).collect();
    assert_eq!(place.ok(&["dispatch", "--once"]).line(), first);
    place.until_status(&more[2], "completed");
    assert_eq!(place.status(&first), "failed");
}

#[test]
fn a_daemon_starts_what_comes_and_what_is_due() {
    // S3.41
    let place = Place::new();
    let daemon = place.start_attentive(&["daemon", "--poll", "1h"]);
    let now = place.enqueue(&["-u", "alice", "--", "true"]);
    let later = place.enqueue(&["-u", "bob", "--in", "300ms", "--", "true"]);
    place.ok(&["wait", &now, &later, "--timeout", "20"]);
    place.ok(&["acquire", "carol", "--task", "t1"]);
    let blocked = place.enqueue(&["-u", "carol", "--", "true"]);
    place.ok(&["release", "carol"]);
    place.ok(&["wait", &blocked, "--timeout", "20"]);
    daemon.signal(Signal::INT);
    daemon.end().coded(0);
}

#[test]
fn a_daemon_ends_when_its_state_directory_is_gone() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1"]);
    let daemon = place.start(&["daemon", "--poll", "50ms"]);
    until("it is at work", || place.json(&["status"])["has_dispatcher"].as_bool()?.then_some(()));
    std::fs::remove_dir_all(place.state()).unwrap();
    daemon.end().coded(69);
}

#[test]
fn a_dispatcher_killed_at_any_moment_loses_no_task() {
    // P2
    let place = Place::new();
    let ids: Vec<String> = (0..6).map(|n| place.enqueue(&["-u", &format!("u{n}"), "--", "true"])).collect();
    for ms in [1, 3, 6, 10, 15] {
        let mut dispatch = place.start(&["dispatch"]);
        std::thread::sleep(std::time::Duration::from_millis(ms));
        dispatch.kill();
    }
    place.drain();
    for id in ids {
        let task = place.show(&id);
        assert_eq!((task["status"].as_str(), task["starts"].as_u64()), (Some("completed"), Some(1)), "{task}");
    }
}

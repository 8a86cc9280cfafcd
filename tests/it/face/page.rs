//! `show`: a page in words, with what a person looks for next: why, how long, where the log is, what happened.

use crate::support::{Place, until};
use serde_json::json;

fn field<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    page.lines().find_map(|line| line.strip_prefix(&format!("{name}:"))).map(str::trim)
}

#[test]
fn a_finished_task_has_lengths_paths_and_events() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--label", "nightly", "--", "sh", "-c", "echo out; exit 3"]);
    place.drain();
    let page = place.ok(&["show", &id]).out;
    assert_eq!(field(&page, "Task"), Some(id.as_str()));
    assert_eq!(field(&page, "Status"), Some("failed after 0s, exit=3"));
    assert_eq!(field(&page, "Command"), Some("sh -c 'echo out; exit 3'"));
    assert_eq!(field(&page, "Priority"), Some("5 (normal)"));
    assert_eq!(field(&page, "Attempt"), Some("1 of 1, started once"));
    assert!(field(&page, "Ended").unwrap().ends_with(" ago)"), "{page}");
    for gone in ["variables", "completedAt", "grace_ms", "null", "[\""] {
        assert!(!page.contains(gone), "{gone}: {page}");
    }
    let log = field(&page, "Logs").unwrap().split(" (").next().unwrap();
    assert_eq!(std::fs::read_to_string(log).unwrap(), "out\n", "the path is that of the log");
    let events: Vec<&str> = page.split("Events:\n").nth(1).unwrap().lines().collect();
    assert!(events[0].contains("enqueued") && events.last().unwrap().contains("finished"), "{page}");
    let shown = place.show(&id);
    assert_eq!(shown["logs"]["stdout"], json!({ "path": log, "bytes": 4 }));
    assert_eq!((&shown["events"][0]["kind"], &shown["lock_files"]), (&json!("enqueued"), &json!([])));
    assert!(shown["waited_ms"].is_u64() && shown["prompt"].is_null(), "{shown}");
}

#[test]
fn a_running_task_names_its_lock_files_and_a_waiting_one_its_reason() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "alice", "-l", "deploy", "--", "sleep", "30"]);
    let second = place.enqueue(&["-u", "alice", "--prompt", "line one\nline two", "--", "cat"]);
    place.ok(&["dispatch"]);
    let page = until("it runs", || {
        let page = place.ok(&["show", &first]).out;
        field(&page, "Status")?.starts_with("running for ").then_some(page)
    });
    let files = place.show(&first)["lock_files"].clone();
    let lanes: Vec<&str> = files.as_array().unwrap().iter().map(|file| file["lane"].as_str().unwrap()).collect();
    assert_eq!(lanes, ["user:alice", "deploy", "global"]);
    for file in files.as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        assert!(std::path::Path::new(path).exists() && page.contains(path), "{path}: {page}");
    }
    let waits = place.ok(&["show", &second]).out;
    let reason = field(&waits, "Reason").unwrap();
    assert!(reason.contains("alice's lane is busy") && reason.ends_with("(UserLockHeld)"), "{waits}");
    assert!(waits.contains("Prompt:       line one\n              line two\n"), "{waits}");
    assert_eq!(place.show(&second)["prompt"], "line one\nline two");
    place.ok(&["cancel", &second, &first]);
}

#[test]
fn a_page_has_the_newest_events_and_says_how_many_came_before() {
    let place = Place::new();
    let script = "for n in $(seq 60); do \"$LUZIA\" set n=$n >/dev/null; done";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    let page = place.ok(&["show", "last"]).out;
    assert_eq!(field(&page, "Variables"), Some("n=60"));
    assert!(page.contains(" earlier: luzia events task_1\n"), "{page}");
    assert_eq!(place.show(&id)["events"].as_array().unwrap().len(), 40);
}

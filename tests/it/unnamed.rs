//! Verbs without the argument that names a task: `explain` tells of all that waits, `logs` and `wait` take the newest task.

use crate::support::{Place, until};
use serde_json::Value;

#[test]
fn explain_alone_says_why_each_task_waits() {
    let place = Place::new();
    assert!(place.ok(&["explain"]).err.ends_with("nothing waits\n"));
    let first = place.enqueue(&["-u", "alice", "--", "true"]);
    let second = place.enqueue(&["-u", "alice", "--", "true"]);
    let later = place.enqueue(&["-u", "bob", "--in", "1h", "--", "true"]);
    place.enqueue(&["-u", "carol", "--in", "2h", "--", "true"]);
    let told = place.ok(&["explain"]).out;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    assert!(lines[0].starts_with(&format!("{first} of user \"alice\" waits: ")), "{told}");
    assert!(lines[1].starts_with(&format!("{second} of user \"alice\" waits: ")), "{told}");
    assert!(lines[1].ends_with(" [Priority]") && lines[2].ends_with(" [Delayed]"), "{told}");
    let document = place.json(&["explain", "-n", "3"]);
    let ids: Vec<&Value> = document["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, [&first, &second, &later]);
    assert_eq!((&document["items"][2]["reason"], &document["more"]), (&"Delayed".into(), &true.into()));
    assert_eq!(place.json(&["explain"])["more"], false);
    let short = place.ok(&["explain", "-n", "1"]);
    assert_eq!(short.out.lines().count(), 1);
    assert!(short.err.contains("more tasks wait: `luzia explain -n 10`"), "{}", short.err);
    assert_eq!(place.ok(&["explain", "-o", "name", "-n", "2"]).out, format!("{first}\n{second}\n"));
    for wrong in [&["explain", "-n", "1", "task_1"][..], &["explain", "-n", "x"], &["explain", "-n", "2", "-u", "bob"]]
    {
        place.luzia(wrong).coded(2);
    }
}

#[test]
fn explain_alone_names_a_lock_that_waits_and_no_task_that_runs() {
    let place = Place::new();
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    let waiting = place.start(&["lock", "-l", "build", "--", "true"]);
    until("it waits", || (!place.events_named("lock_waiting").is_empty()).then_some(()));
    let told = place.ok(&["explain"]);
    assert!(told.out.starts_with("lane \"build\": 1 waits in its line: process "), "{told:?}");
    assert_eq!(place.json(&["explain"])["waiters"][0]["lane"], "build");
    let mut running = place.start(&["run", "-u", "alice", "--", "sleep", "600"]);
    until("it is queued", || (place.luzia(&["show", "task_1"]).code == 0).then_some(()));
    place.until_status("task_1", "running");
    assert!(!place.ok(&["explain"]).out.contains("task_1"));
    place.ok(&["cancel", "task_1", "--yes"]);
    until("it ends", || running.is_over().then_some(()));
    place.ok(&["release", "lane:build", "me"]);
    waiting.end().coded(0);
    assert_eq!(place.ok(&["explain"]).err, "nothing waits\n");
}

#[test]
fn logs_and_wait_alone_take_the_newest_task_of_the_caller_and_name_it() {
    let place = Place::new();
    let none = place.luzia(&["wait"]).coded(66);
    assert!(none.err.contains("no task is named, and user \"") && none.err.contains("luzia list -a"), "{none:?}");
    place.luzia(&["run", "--", "sh", "-c", "echo mine"]).coded(0);
    place.luzia(&["run", "-u", "alice", "--", "sh", "-c", "echo hers; exit 3"]).coded(3);
    let mine = place.ok(&["logs"]);
    assert_eq!(mine.out, "mine\n");
    assert!(mine.err.starts_with("luzia: task_1 \"sh -c 'echo mine'\", the newest task of user \""), "{mine:?}");
    assert_eq!(place.ok(&["logs", "-u", "alice"]).out, "hers\n");
    assert_eq!(place.json(&["logs", "-u", "alice"])["id"], "task_2");
    place.luzia(&["logs", "-u", "bob"]).coded(66);
    place.luzia(&["logs", "-u", "alice", "task_1"]).coded(2);
    let waited = place.ok(&["wait"]);
    assert!(waited.err.contains("luzia: task_1 ") && waited.err.contains("task_1 completed"), "{waited:?}");
    assert_eq!(place.ok(&["wait", "--stream"]).out, "mine\n");
    assert_eq!(place.json(&["wait"])["items"][0]["id"], "task_1");
    place.luzia(&["wait", "-u", "alice"]).coded(66);
}

#[test]
fn a_task_is_not_taken_by_the_logs_of_another_user() {
    let place = Place::new();
    let script = "\"$LUZIA\" logs | head -n 1";
    let luzia = format!("LUZIA={}", crate::support::LUZIA);
    place.luzia(&["run", "-u", "alice", "--", "echo", "first"]).coded(0);
    place.luzia(&["run", "-u", "bob", "--", "echo", "second"]).coded(0);
    let ran = place.luzia(&["run", "-u", "alice", "--env", &luzia, "--", "sh", "-c", script]).coded(0);
    assert!(ran.err.contains("the newest task of user \"alice\""), "inside a task its user counts: {ran:?}");
}

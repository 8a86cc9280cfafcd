//! `pause`, `resume`, `enqueue --hold` and `edit`: what waits stays where it is, and costs the others nothing.

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_default()
}

fn reasons(place: &Place, id: &str) -> Value {
    place.json(&["explain", id])["reasons"].clone()
}

#[test]
fn tasks_of_a_paused_user_wait_in_their_order_and_others_start() {
    let place = Place::new();
    let all: Vec<String> =
        (0..3).map(|n| place.enqueue(&["-u", "a", "--shell", &format!("echo {n} >>$PLACE/log")])).collect();
    place.ok(&["pause", "a", "--reason", "release in progress"]);
    let other = place.enqueue(&["-u", "b", "--", "true"]);
    let drained = place.ok(&["dispatch", "--drain"]);
    assert!(drained.err.contains(&other), "{}", drained.err);
    assert_eq!(all.iter().map(|id| place.status(id)).collect::<Vec<_>>(), ["pending"; 3]);
    let why = reasons(&place, &all[0]);
    assert_eq!((&why[0]["reason"], &why[0]["why"]), (&json!("Paused"), &json!("release in progress")));
    let text = place.ok(&["explain", &all[0]]);
    assert!(text.out.contains("luzia resume user:a") || text.err.contains("luzia resume user:a"), "{text:?}");
    assert_eq!(place.json(&["status"])["paused"][0]["what"], json!("user:a"));
    place.ok(&["resume", "a"]);
    place.drain();
    assert_eq!(read(&place, "log"), "0\n1\n2\n");
    assert!(place.ok(&["resume", "-u", "a"]).err.contains("was not paused"));
}

#[test]
fn a_paused_lane_holds_its_tasks_of_all_users_and_no_others() {
    let place = Place::new();
    let in_lane = place.enqueue(&["-u", "a", "-l", "build", "--", "true"]);
    let named_only = place.enqueue(&["-l", "build", "--", "true"]);
    place.ok(&["pause", "lane:build"]);
    let other = place.enqueue(&["-u", "b", "--", "true"]);
    place.ok(&["dispatch", "--drain"]);
    let states = [&in_lane, &named_only, &other].map(|id| place.status(id));
    assert_eq!(states, ["pending", "pending", "completed"]);
    assert_eq!(reasons(&place, &named_only)[0]["what"], json!("build"));
    let said = place.ok(&["pause", "lane:build"]).err;
    assert!(said.contains("luzia resume lane:build"), "the word is that of the lane, not of a user: {said}");
    place.ok(&["resume", "lane:build"]);
    place.drain();
    assert_eq!([&in_lane, &named_only].map(|id| place.status(id)), ["completed", "completed"]);
}

#[test]
fn a_pause_of_the_host_ends_at_its_moment_and_a_waiting_run_starts_then() {
    let place = Place::new();
    place.ok(&["pause", "--all", "--for", "700ms"]);
    let begin = std::time::Instant::now();
    let mut run = place.start(&["run", "-u", "a", "--", "echo", "hi"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!run.is_over(), "it waits");
    let ran = run.end().coded(0);
    assert_eq!(ran.out, "hi\n");
    assert!(begin.elapsed() >= std::time::Duration::from_millis(500), "{:?}", begin.elapsed());
    assert_eq!(place.json(&["status"])["paused"], json!([]));
}

#[test]
fn a_pattern_holds_what_it_means_and_is_lifted_with_it() {
    let place = Place::new();
    place.ok(&["pause", "session:*", "thread:7"]);
    let held = place.enqueue(&["-l", "session:x", "--", "true"]);
    let free = place.enqueue(&["-l", "other:x", "--", "true"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!((place.status(&held).as_str(), place.status(&free).as_str()), ("pending", "completed"));
    place.luzia(&["resume", "goal:*"]).coded(66);
    let lifted = place.json(&["resume", "session:*"]);
    assert_eq!(lifted["items"][0]["what"], json!("session:*"));
    place.drain();
    assert_eq!(place.status(&held), "completed");
    assert_eq!(place.json(&["status"])["paused"][0]["what"], json!("thread:7"));
}

#[test]
fn a_held_task_waits_outside_the_queue_and_does_not_keep_the_next_from_starting() {
    let place = Place::new();
    let held = place.enqueue(&["-u", "a", "--hold", "--start-within", "200ms", "--", "true"]);
    let next = place.enqueue(&["-u", "a", "--", "true"]);
    place.ok(&["dispatch", "--drain"]);
    assert_eq!((place.status(&held).as_str(), place.status(&next).as_str()), ("pending", "completed"));
    assert!(place.ok(&["doctor"]).out.contains("wakers") || place.luzia(&["doctor"]).out.contains("ok"));
    std::thread::sleep(std::time::Duration::from_millis(400));
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(place.status(&held), "pending", "paused time does not count against --start-within");
    place.ok(&["resume", &held]);
    std::thread::sleep(std::time::Duration::from_millis(400));
    place.ok(&["list"]);
    assert_eq!(place.status(&held), "timeout", "but the time after it does");
}

#[test]
fn time_in_which_a_user_was_paused_does_not_count_against_start_within() {
    let place = Place::new();
    place.ok(&["pause", "a"]);
    let task = place.enqueue(&["-u", "a", "--start-within", "300ms", "--", "true"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    place.ok(&["list"]);
    assert_eq!(place.status(&task), "pending");
    place.ok(&["resume", "a"]);
    place.drain();
    assert_eq!(place.status(&task), "completed");
}

#[test]
fn a_task_that_is_paused_twice_keeps_its_beginning_and_ends_by_itself() {
    let place = Place::new();
    let task = place.enqueue(&["-u", "a", "--", "true"]);
    let first = place.json(&["pause", &task]);
    let second = place.json(&["pause", &task, "--for", "300ms", "--reason", "x"]);
    assert_eq!(first["items"][0]["since"], second["items"][0]["since"]);
    assert_eq!(place.ok(&["-o", "name", "pause", &task, "--for", "300ms"]).out, format!("{task}\n"));
    let waited = place.start(&["run", "-u", "a", "--", "true"]);
    waited.end().coded(0);
    until("it starts by itself", || {
        place.ok(&["dispatch", "--drain"]);
        (place.status(&task) == "completed").then_some(())
    });
}

#[test]
fn an_edited_task_keeps_its_number_and_takes_its_new_place() {
    let place = Place::new();
    let ids: Vec<String> =
        (1..4).map(|n| place.enqueue(&["-u", "a", "--shell", &format!("echo {n} >>$PLACE/log")])).collect();
    place.ok(&["edit", &ids[2], "--priority", "1", "--label", "soon"]);
    place.ok(&["edit", &ids[1], "--", "sh", "-c", "echo two >>$PLACE/log"]);
    let shown = place.show(&ids[2]);
    assert_eq!((&shown["priority"], &shown["label"]), (&json!(1), &json!("soon")));
    place.drain();
    assert_eq!(read(&place, "log"), "3\n1\ntwo\n");
    assert_eq!(place.events_named("edited").len(), 2);
    let late = place.luzia(&["edit", &ids[0], "--priority", "2"]).coded(1);
    assert!(late.err.contains("is completed"), "{}", late.err);
}

#[test]
fn an_edit_moves_a_task_to_another_moment_and_to_other_lanes() {
    let place = Place::new();
    let task = place.enqueue(&["-u", "a", "-l", "build", "--thread", "7", "--", "true"]);
    place.ok(&["edit", &task, "--lane", "session:x", "--in", "1h"]);
    let shown = place.show(&task);
    assert_eq!(shown["lanes"], json!(["user:a", "session:x"]));
    place.ok(&["dispatch", "--once"]);
    assert_eq!(reasons(&place, &task)[0]["reason"], json!("Delayed"));
    let other = place.enqueue(&["-u", "b", "--thread", "7", "--", "true"]);
    place.ok(&["edit", &task, "--in", "0"]);
    place.drain();
    assert_eq!([&task, &other].map(|id| place.status(id)), ["completed", "completed"]);
}

#[test]
fn wrong_words_change_nothing() {
    let place = Place::new();
    let task = place.enqueue(&["-u", "a", "-l", "build", "--", "true"]);
    let gate = place.gate("go");
    let busy = place.enqueue(&["-u", "b", "--shell", &format!("echo >$PLACE/up; read _ <{gate}")]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    until("the other is over", || (place.status(&task) == "completed").then_some(()));
    let waits = place.enqueue(&["-u", "c", "--hold", "--", "true"]);
    // A supervisor writes its heartbeat every 15 seconds, which would be a change, too.
    let supervisor = place.supervisor(&busy);
    signal(supervisor, Signal::STOP);
    let before = place.snapshot();
    for (words, code) in [
        (vec!["pause"], 2),
        (vec!["pause", "a", "--all"], 2),
        (vec!["pause", "a", "--until", "yesterday"], 2),
        (vec!["pause", "a", "--until", "2001-01-01T00:00:00Z"], 2),
        (vec!["pause", "a", "--for", "x"], 2),
        (vec!["pause", "*"], 2),
        (vec!["pause", "task_99"], 66),
        (vec!["pause", &task], 1),
        (vec!["resume"], 2),
        (vec!["resume", "task_99"], 66),
        (vec!["resume", "user:z*"], 66),
        (vec!["edit", &waits], 2),
        (vec!["edit", &waits, "--priority", "10"], 2),
        (vec!["edit", &waits, "--lane", "user:other"], 2),
        (vec!["edit", &waits, "--", "no-such-command-here"], 2),
        (vec!["edit", &busy, "--priority", "1"], 1),
        (vec!["edit", "task_99", "--priority", "1"], 66),
        (vec!["lanes", "set", "build"], 2),
        (vec!["lanes", "set", "build", "--max", "0"], 2),
        (vec!["lanes", "set", "build", "--weight", "2"], 2),
        (vec!["lanes", "set", "build", "--lock-timeout", "0"], 2),
        (vec!["lanes", "set", "Build:x", "--max", "2"], 2),
        (vec!["lanes", "show", "nobody-uses-this"], 66),
    ] {
        let ran = place.luzia(&words).coded(code);
        assert!(ran.err.starts_with("luzia: ") && ran.err.lines().count() > 1, "{words:?}: {}", ran.err);
        place.assert_unchanged(&before, &words.join(" "));
    }
    signal(supervisor, Signal::CONT);
    place.open_gate("go");
    place.ok(&["resume", &waits]);
    place.drain();
}

#[test]
fn many_who_pause_at_once_lose_none() {
    let place = Place::new();
    place.ok(&["list"]);
    let all: Vec<_> = (0..12).map(|n| place.start(&["pause", &format!("user-{n}")])).collect();
    all.into_iter().for_each(|one| drop(one.end().coded(0)));
    assert_eq!(place.json(&["status"])["paused"].as_array().map(Vec::len), Some(12));
    let lifted = place.json(&["resume", "user:user-*"]);
    assert_eq!(lifted["items"].as_array().map(Vec::len), Some(12));
}

#[test]
fn a_damaged_control_file_starts_nothing_and_is_named() {
    let place = Place::new();
    place.ok(&["pause", "a"]);
    let task = place.enqueue(&["-u", "a", "--", "true"]);
    let file = place.path("state/spool/control.json");
    std::fs::write(&file, "{\"v\":1,\"holds\":[{}]}").unwrap();
    let ran = place.luzia(&["dispatch"]).coded(65);
    assert!(ran.err.contains("spool/control.json"), "{}", ran.err);
    std::fs::write(&file, "{\"v\":2}").unwrap();
    assert!(place.luzia(&["dispatch"]).err.contains("control.json"));
    std::fs::remove_file(&file).unwrap();
    place.drain();
    assert_eq!(place.status(&task), "completed");
}

#[test]
fn a_caller_that_waits_for_a_paused_task_is_told_of_the_pause() {
    let place = Place::new();
    place.ok(&["pause", "lane:build"]);
    let id = place.enqueue(&["-l", "build", "--", "true"]);
    let held = place.enqueue(&["-u", "b", "--hold", "--", "true"]);
    for (id, way) in [(&id, "luzia resume lane:build"), (&held, "luzia resume task_2")] {
        let ran = place.luzia(&["wait", id, "--timeout", "100ms"]).coded(75);
        assert!(ran.err.contains(way) && !ran.err.contains("luzia dispatch"), "{id}: {}", ran.err);
    }
    let mut follower = place.start(&["logs", "-f", &id]);
    until("it is told", || follower.err().contains("luzia resume lane:build").then_some(()));
    follower.kill();
    let status = place.ok(&["status"]);
    assert!(!status.err.contains("luzia dispatch"), "no pass starts what is paused: {}", status.err);
    place.enqueue(&["-u", "c", "--", "true"]);
    assert!(place.ok(&["status"]).err.contains("luzia dispatch"));
}

#[test]
fn a_caller_that_waits_is_told_the_rule_of_the_lane_in_force() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    for task in ["one", "two"] {
        place.ok(&["acquire", "lane:build", "--task", task]);
    }
    let id = place.enqueue(&["-l", "build", "--", "true"]);
    let ran = place.luzia(&["wait", &id, "--timeout", "100ms"]).coded(75);
    assert!(ran.err.contains("lane \"build\" is full, 2 of 2"), "{}", ran.err);
}

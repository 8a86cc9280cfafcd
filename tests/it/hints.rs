//! The first way on that luzia prints harms nobody (P10): language models follow it to the letter.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::Value;

/// Whether a command neither ends, releases nor re-routes work. Continuing a stopped process is harmless.
fn is_harmless(command: &str) -> bool {
    let bad = ["release", "cancel", "--force", "--state-dir", "--drain", " rm ", "kill"];
    command.starts_with("kill -CONT ") || !bad.iter().any(|word| command.contains(word))
}

/// Every first way on in a text: after each `try:`, and below a reason only.
#[track_caller]
fn check_text(text: &str) {
    let mut is_first = true;
    for line in text.lines() {
        match line.trim().strip_prefix("try: ") {
            Some(command) if is_first => {
                assert!(is_harmless(command), "{command}\n{text}");
                is_first = false;
            }
            Some(_) => {}
            None => is_first = true,
        }
    }
}

/// Every `next` in a document is a list, and its first command is harmless.
#[track_caller]
fn check_json(value: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(next) = members.get("next") {
                let next = next.as_array().unwrap_or_else(|| panic!("`next` is no list: {value}"));
                assert!(next.iter().take(1).all(|first| is_harmless(first.as_str().unwrap())), "{value}");
            }
            members.values().for_each(check_json);
        }
        Value::Array(items) => items.iter().for_each(check_json),
        _ => {}
    }
}

/// Looks at all that luzia says of a place: about tasks, lanes, and to those who want a lane.
#[track_caller]
fn check(place: &Place, lanes: &[&str], tasks: &[&str]) {
    let mut asked: Vec<Vec<&str>> = vec![vec!["status"], vec!["list"], vec!["doctor"], vec!["list-locks"]];
    for lane in lanes {
        asked.push(vec!["explain", lane]);
        asked.push(vec!["check", lane]);
        asked.push(vec!["acquire", lane, "--task", "other"]);
        asked.push(vec!["lock", "-n", "-l", lane, "--", "true"]);
    }
    for task in tasks {
        asked.push(vec!["explain", task]);
        asked.push(vec!["wait", "--timeout", "1ms", task]);
    }
    for args in asked {
        let ran = place.luzia(&args);
        check_text(&ran.out);
        check_text(&ran.err);
        let ran = place.luzia(&[&["--json"], &args[..]].concat());
        for text in [&ran.out, &ran.err] {
            for line in serde_json::Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok) {
                check_json(&line);
            }
        }
    }
}

#[test]
fn the_first_way_on_harms_nobody_whatever_keeps_a_task() {
    let place = Place::new();
    let script = "echo up > $PLACE/up; exec sleep 1000";
    let running = place.enqueue(&["-u", "alice", "--thread", "7", "--shell", script]);
    let nobody = place.enqueue(&["-u", "zoe", "--", "true"]);
    check(&place, &["user:zoe"], &[&nobody]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let behind = place.enqueue(&["-u", "alice", "--", "true"]);
    let in_thread = place.enqueue(&["-u", "bob", "--thread", "7", "--", "true"]);
    let delayed = place.enqueue(&["-u", "carol", "--in", "1h", "--", "true"]);
    let after = place.enqueue(&["-u", "dave", "--after", &delayed, "--", "true"]);
    place.ok(&["acquire", "gpu:0", "--task", "train", "--ttl", "1h"]);
    let leased = place.enqueue(&["-u", "eve", "-l", "gpu:0", "--", "true"]);
    let lock = place.start(&["lock", "-l", "repo:a", "--", "sleep", "1000"]);
    until("the lock is held", || place.lock("repo_a.lock").exists().then_some(()));
    let locked = place.enqueue(&["-l", "repo:a", "--", "true"]);
    let lanes = ["user:alice", "thread:7", "gpu:0", "repo:a"];
    check(&place, &lanes, &[&running, &behind, &in_thread, &delayed, &after, &leased, &locked]);
    // A stopped supervisor is continued, and a forceful way stands apart.
    let supervisor = place.supervisor(&running);
    signal(supervisor, Signal::STOP);
    until("it is seen", || place.ok(&["explain", &behind]).out.contains("kill -CONT").then_some(()));
    check(&place, &lanes, &[&behind]);
    let why = place.json(&["explain", &behind]);
    assert_eq!(why["reasons"][0]["override"], serde_json::json!([format!("luzia cancel {running}")]), "{why}");
    signal(supervisor, Signal::CONT);
    assert!(lives(lock.pid()));
    assert_eq!(place.status(&running), "running");
    place.ok(&["cancel", &running]);
}

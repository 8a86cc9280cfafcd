//! The first way on that luzia prints harms nobody (P10): language models follow it to the letter.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;

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

/// Whether a bare release gives the lane back.
fn is_lease(place: &Place, lane: &str) -> bool {
    let locks = place.json(&["list-locks"]);
    crate::support::with(&locks["items"], "lane", lane).iter().any(|lock| lock["kind"] == "lease")
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
        asked.push(vec!["release", lane, "nobody"]);
        asked.push(vec!["renew", lane, "--lock-id", "nobody_1"]);
        asked.push(vec!["enqueue", "-l", lane, "--cwd", "/nosuch", "--", "true"]);
        asked.push(vec!["run", "--no-wait", "-l", lane, "--", "true"]);
    }
    for lane in lanes.iter().filter(|lane| !is_lease(place, lane)) {
        asked.push(vec!["release", lane]);
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
    let told = place.ok(&["explain", &behind]).out;
    assert!(told.contains(&format!("to take it by force, which ends the work of {running} ")), "{told}");
    signal(supervisor, Signal::CONT);
    assert!(lives(lock.pid()));
    assert_eq!(place.status(&running), "running");
    place.ok(&["cancel", &running]);
}

/// Follows the first way on of every answer, as a language model does, until the answer has none or it comes again.
fn follow(place: &Place, args: &[&str]) {
    let mut seen = Vec::new();
    let mut ran = place.luzia(args);
    while let Some(command) = [&ran.err, &ran.out]
        .iter()
        .find_map(|text| text.lines().find_map(|line| line.trim().strip_prefix("try: ").map(str::to_owned)))
    {
        if seen.contains(&command) || command.starts_with("luzia wait") || command.starts_with("kill -CONT") {
            return;
        }
        let script = command.replacen("luzia", "\"$LUZIA\"", 1);
        seen.push(command);
        ran = place.spawn(&mut place.shell(&script)).end();
    }
}

#[test]
fn a_reader_that_follows_the_first_way_on_harms_no_holder() {
    let place = Place::new();
    let one = |args: &[&str]| place.spawn(place.command(args).env("LUZIA_AGENT", "one"));
    let run = one(&["run", "-u", "alice", "--shell", "echo up > $PLACE/up; exec sleep 1000"]);
    place.until_file("up");
    let lock = one(&["lock", "-l", "repo:a", "--", "sleep", "1000"]);
    until("the lock is held", || place.lock("repo_a.lock").exists().then_some(()));
    let watched = place.spawn(&mut place.shell("exec sleep 1000"));
    one(&["acquire", "gpu:0", "--task", "train", "--pid", &watched.pid().to_string()]).end().coded(0);
    let behind = place.enqueue(&["-u", "alice", "--key", "k", "--", "true"]);
    let before: Vec<String> = place.json(&["list-locks"])["items"].as_array().unwrap().iter().map(lock_id).collect();
    for lane in ["user:alice", "repo:a", "gpu:0"] {
        for args in [
            &["release", lane][..],
            &["release", lane, "--force", "--no-input"],
            &["acquire", lane, "--task", "other"],
            &["lock", "-n", "-l", lane, "--", "true"],
            &["explain", lane],
            &["check", lane],
            &["run", "--no-wait", "-l", lane, "--", "true"],
        ] {
            let mut other = place.command(args);
            other.env("LUZIA_AGENT", "other");
            place.spawn(&mut other).end();
            if !args.contains(&"--force") {
                follow(&place, args);
            }
        }
    }
    for args in [
        &["explain", &behind][..],
        &["enqueue", "--key", "k", "--on-conflict", "reject", "--", "true"],
        &["cancel", "task_99"],
        &["wait", "--timeout", "1ms", &behind],
        &["show", "nosuch"],
        &["status"],
        &["doctor"],
    ] {
        follow(&place, args);
    }
    let after: Vec<String> = place.json(&["list-locks"])["items"].as_array().unwrap().iter().map(lock_id).collect();
    assert!(before.iter().all(|id| after.contains(id)), "{before:?} {after:?}");
    assert!(lives(run.pid()) && lives(lock.pid()) && lives(watched.pid()));
    assert_eq!(place.status("task_1"), "running");
}

fn lock_id(lock: &Value) -> String {
    lock["lock_id"].as_str().unwrap().to_owned()
}

#[test]
fn the_work_of_somebody_else_is_ended_only_with_yes() {
    let place = Place::new();
    let as_agent = |name: &str, args: &[&str]| {
        let mut command = place.command(args);
        command.env("LUZIA_AGENT", name).env("LUZIA_SESSION", format!("{name}-1"));
        place.spawn(&mut command).end()
    };
    as_agent("one", &["enqueue", "-u", "alice", "--shell", "echo up > $PLACE/up; exec sleep 1000"]).coded(0);
    as_agent("one", &["enqueue", "-u", "alice", "--", "true"]).coded(0);
    as_agent("one", &["acquire", "gpu:0", "--task", "train"]).coded(0);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let before = place.snapshot();
    for (args, part) in [
        (&["cancel", "task_1"][..], "task_1 \"/bin/sh -c"),
        (&["cancel", "task_1"], "sleep 1000'\" belongs to agent one; nothing was changed"),
        (&["cancel", "task_2", "task_1"], "task_1 \"/bin/sh -c"),
        (&["release", "gpu:0"], "the lease of train"),
        (&["release", "user:alice", "--force"], "task_1"),
    ] {
        let ran = as_agent("two", args).coded(2);
        assert!(
            ran.err.contains("; if its owner agrees, add --yes") && ran.err.contains(part),
            "{args:?}: {}",
            ran.err
        );
        assert!(!ran.err.contains("try: luzia release") && !ran.err.contains("try: luzia cancel"), "{}", ran.err);
        place.assert_unchanged(&before, &format!("{args:?}"));
    }
    // A task that has not started, and the work of one's own, are no question; nor is a lease that is named.
    as_agent("two", &["cancel", "task_2"]).coded(0);
    as_agent("one", &["release", "gpu:0"]).coded(0);
    as_agent("one", &["acquire", "gpu:0", "--task", "train"]).coded(0);
    as_agent("two", &["release", "gpu:0", "train"]).coded(0);
    as_agent("two", &["cancel", "--yes", "task_1"]).coded(0);
    // Without an agent the process that asked counts, whatever user was named.
    place.enqueue(&["-u", "bob", "--shell", "echo up > $PLACE/bob; exec sleep 1000"]);
    place.ok(&["dispatch"]);
    place.until_file("bob");
    place.ok(&["cancel", "task_3"]);
}

#[test]
fn a_caller_that_may_not_write_is_told_what_to_ask_for() {
    if !crate::support::is_root() {
        return crate::support::skip(
            "a_caller_that_may_not_write_is_told_what_to_ask_for",
            "root, for a read-only mount",
        );
    }
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    let mounted = |agent: &str| {
        let script = "mount --bind $PLACE/state $PLACE/state && mount -o remount,ro,bind $PLACE/state && exec \"$LUZIA\" enqueue -u a -- true";
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).env_clear();
        command.envs(place.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?)))).env(agent, "1");
        place.spawn(&mut command).end()
    };
    let ran = mounted("NOBODY");
    assert!([74, 77].contains(&ran.code), "{ran:#?}");
    assert!(
        ran.err.contains("ask for write access") && ran.err.contains("need only its folder `locks`"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("--state-dir"), "{}", ran.err);
    assert!(mounted("CLAUDECODE").err.contains("sandbox.filesystem.allowWrite"));
    assert!(mounted("CODEX_THREAD_ID").err.contains("writable_roots"));
}

/// The texts of the first way on of each error and report in the sources of the program: what stands in quotes behind the
/// first `.next(` of a chain of calls.
fn first_ways_on(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            first_ways_on(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for chain in text.split("AppError::new(").chain(text.split("Report::new(")).skip(1) {
                let Some((_, rest)) = chain.split_once(".next(") else { continue };
                let quoted = rest.split('"').nth(1).unwrap_or_default();
                if quoted.starts_with("luzia") {
                    found.push((path.display().to_string(), quoted.to_owned()));
                }
            }
        }
    }
}

#[test]
fn the_first_way_on_of_every_error_in_the_sources_is_harmless() {
    let mut found = Vec::new();
    first_ways_on(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() >= 20, "the sources have more errors with a way on: {found:?}");
    for (file, command) in found {
        assert!(is_harmless(&command), "{file}: {command}");
    }
}

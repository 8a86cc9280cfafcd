//! Same work once: `--on-conflict join`, `--key @tree`, `--stable`.

use crate::support::{Place, until};
use rustix::process::Signal;
use serde_json::json;
use std::process::Command;

fn git(place: &Place, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-C", &place.text("work")]);
    let ran = git.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

fn write(place: &Place, name: &str, text: &str) {
    std::fs::write(place.path("work").join(name), text).unwrap();
}

fn repository() -> Place {
    let place = Place::new();
    git(&place, &["init", "-q"]);
    write(&place, "a", "one\n");
    write(&place, ".gitignore", "built\n");
    git(&place, &["add", "."]);
    git(&place, &["commit", "-q", "-m", "first"]);
    place
}

#[test]
fn three_callers_of_equal_work_share_one_run() {
    let place = Place::new();
    place.gate("gate");
    let script = "echo x >> $PLACE/effects; echo out; echo err >&2; read _ < $PLACE/gate; exit 3";
    let asked = ["run", "-u", "alice", "--key", "build", "--on-conflict", "join", "--", "sh", "-c", script];
    let callers: Vec<_> = (0..3).map(|_| place.start(&asked)).collect();
    until("the task runs", || place.path("effects").exists().then_some(()));
    let is_joined = |err: &str| err.contains("has that key already");
    until("two have joined", || (callers.iter().filter(|one| is_joined(&one.err())).count() == 2).then_some(()));
    place.open_gate("gate");
    for caller in callers {
        let ran = caller.end().coded(3);
        assert_eq!(ran.out, "out\n");
        assert!(ran.err.contains("err\n"), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "x\n");
    // A caller that accepts results of the last minute gets the output and the code of the finished run. A caller that accepts
    // only the last millisecond starts a run of its own.
    let fresh = |age: &'static str| {
        [&["run", "-u", "alice", "--key", "build", "--on-conflict", "join", "--fresh", age][..], &["--", "true"]]
            .concat()
    };
    assert_eq!(place.luzia(&fresh("1m")).coded(3).out, "out\n");
    assert_eq!(place.luzia(&fresh("1ms")).coded(0).out, "");
}

#[test]
fn an_interrupted_joiner_leaves_the_work_to_the_others() {
    let place = Place::new();
    place.gate("gate");
    let asked =
        |script: &'static str| ["run", "-u", "a", "--key", "k", "--on-conflict", "join", "--", "sh", "-c", script];
    let first = place.start_attentive(&asked("echo on; read _ < $PLACE/gate; echo off"));
    until("it runs", || first.out().contains("on").then_some(()));
    let joined = place.start_attentive(&asked("true"));
    until("the second streams it", || joined.out().contains("on").then_some(()));
    joined.signal(Signal::INT);
    let joined = joined.end().coded(130);
    assert!(joined.err.contains("task_1 goes on"), "{joined:?}");
    place.open_gate("gate");
    assert_eq!(first.end().coded(0).out, "on\noff\n");
}

#[test]
fn a_cancelled_task_is_not_joined() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--key", "k", "--", "true"]);
    place.ok(&["cancel", &id]);
    let again =
        place.json(&["enqueue", "-u", "a", "--key", "k", "--on-conflict", "join", "--fresh", "1h", "--", "true"]);
    assert_eq!(again["created"], true);
}

#[test]
fn the_key_of_a_tree_is_its_content_with_command_and_directory() {
    let place = repository();
    let key = |args: &[&str]| {
        let answer = place.json(&[&["enqueue", "--dry-run", "-u", "a", "--key", "@tree", "--"], args].concat());
        answer["key"].as_str().unwrap().to_owned()
    };
    let first = key(&["true"]);
    assert!(first.starts_with("tree:") && first.len() == 69, "{first}");
    assert_eq!(key(&["true"]), first);
    assert_ne!(key(&["true", "x"]), first);
    let mut seen = vec![first.clone()];
    let mut is_new = |what: &str| {
        let now = key(&["true"]);
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    write(&place, "a", "two\n");
    is_new("a changed file");
    write(&place, "b", "new\n");
    is_new("an untracked file");
    write(&place, "b", "newer\n");
    is_new("another content of it");
    std::fs::rename(place.path("work/b"), place.path("work/c")).unwrap();
    is_new("another name of it");
    std::fs::remove_file(place.path("work/c")).unwrap();
    write(&place, "a", "one\n");
    assert_eq!(key(&["true"]), first, "as it was");
    write(&place, "built", "ignored\n");
    assert_eq!(key(&["true"]), first, "what git ignores");
    // A commit of the same content is the same work.
    git(&place, &["commit", "-q", "--allow-empty", "-m", "second"]);
    assert_eq!(key(&["true"]), first);
    std::fs::create_dir(place.path("work/sub")).unwrap();
    let below = place.json(&["enqueue", "--dry-run", "-u", "a", "--cwd", "sub", "--key", "@tree", "--", "true"]);
    assert_ne!(below["key"], first.as_str(), "another directory");
}

#[test]
fn equal_work_on_a_tree_is_done_once_and_again_when_the_tree_moves() {
    let place = repository();
    let asked = [
        "run",
        "-u",
        "a",
        "--key",
        "@tree",
        "--on-conflict",
        "join",
        "--fresh",
        "1h",
        "--",
        "sh",
        "-c",
        "echo x >> $PLACE/effects; echo hi",
    ];
    let effects = || std::fs::read_to_string(place.path("effects")).unwrap().len() / 2;
    assert_eq!((place.ok(&asked).out.as_str(), effects()), ("hi\n", 1));
    assert_eq!((place.ok(&asked).out.as_str(), effects()), ("hi\n", 1));
    write(&place, "a", "two\n");
    assert_eq!((place.ok(&asked).out.as_str(), effects()), ("hi\n", 2));
}

#[test]
fn a_stable_task_says_whether_its_tree_moved() {
    let place = repository();
    let stable = |script: &str| {
        let id = place.enqueue(&["-u", "a", "--key", "@tree", "--stable", "--", "sh", "-c", script]);
        place.drain();
        id
    };
    let still = stable("true");
    assert_eq!(place.show(&still)["subject_changed"], json!(false));
    let moved = stable("echo more >> a");
    let shown = place.show(&moved);
    assert_eq!((&shown["status"], &shown["subject_changed"]), (&json!("completed"), &json!(true)));
    assert!(place.ok(&["show", &moved]).out.contains("it changed after the task was queued"));
    assert_eq!(place.events_named("subject_changed")[0]["data"]["subject_changed"], true);
    let ended = place.events_named("finished").into_iter().find(|event| event["task"] == moved.as_str()).unwrap();
    assert_eq!(ended["data"]["subject_changed"], true);
    // Its result stands for neither content.
    git(&place, &["checkout", "-q", "a"]);
    let asked = ["enqueue", "-u", "a", "--key", "@tree", "--on-conflict", "join", "--fresh", "1h"];
    let again = place.json(&[&asked, &["--", "sh", "-c", "echo more >> a"][..]].concat());
    assert_eq!(again["created"], true);
    // One that does not ask says nothing.
    let plain = place.enqueue(&["-u", "a", "--", "true"]);
    place.drain();
    assert!(place.show(&plain).get("subject_changed").is_none());
}

#[test]
fn a_tree_without_a_digest_is_refused_and_nothing_is_queued() {
    let place = Place::new();
    let tree = |options: &[&str]| place.luzia(&[&["enqueue", "-u", "a"], options, &["--", "true"]].concat());
    for options in [&["--key", "@tree"][..], &["--stable"]] {
        let refused = tree(options).coded(66);
        assert!(refused.err.contains("not in a git repository"), "{refused:?}");
    }
    git(&place, &["init", "-q"]);
    let refused = tree(&["--key", "@tree"]).coded(2);
    assert!(refused.err.contains("names no commit") && refused.err.contains("--key NAME"), "{refused:?}");
    assert!(!place.state().join("spool/pending").exists() || place.json(&["list"])["items"] == json!([]));
}

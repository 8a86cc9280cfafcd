//! `luzia hook`: what is run when something happens, by whom, and that it changes nothing.

use crate::support::{Place, lines as texts, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Adds a hook that appends what it gets to a file.
fn record(place: &Place, event: &str, file: &str) {
    let script = format!("cat >>$PLACE/{file}");
    place.ok(&["hook", "add", event, "--", "sh", "-c", &script]);
}

#[test]
fn the_ends_of_tasks_run_their_hooks_with_the_event_as_json() {
    let place = Place::new();
    record(&place, "completed", "completed");
    record(&place, "task.failed", "failed");
    record(&place, "finished", "finished");
    record(&place, "task.enqueued", "enqueued");
    let good = place.enqueue(&["-u", "alice", "--", "true"]);
    let bad = place.enqueue(&["-u", "bob", "--shell", "exit 3"]);
    assert_eq!(lines(&place, "enqueued").len(), 2, "the verb runs them at its end");
    place.drain();
    until("both hooks have run", || (lines(&place, "finished").len() == 2).then_some(()));
    let (completed, failed) = (lines(&place, "completed"), lines(&place, "failed"));
    assert_eq!((completed.len(), failed.len()), (1, 1));
    let told = &failed[0];
    assert_eq!(
        (&told["schema"], &told["event"], &told["kind"], &told["task"], &told["user"]),
        (&json!("luzia.hook/v1"), &json!("task.failed"), &json!("finished"), &json!(bad), &json!("bob"))
    );
    assert_eq!((&told["data"]["status"], &told["data"]["exit_code"]), (&json!("failed"), &json!(3)));
    assert_eq!(completed[0]["task"], json!(good));
    assert_eq!((place.status(&good), place.status(&bad)), ("completed".into(), "failed".into()));
}

#[test]
fn a_hook_knows_its_event_and_task_and_runs_where_it_was_added() {
    let place = Place::new();
    let script = "echo $LUZIA_EVENT $LUZIA_HOOK $LUZIA_TASK_ID $LUZIA_USER $(pwd) >>$PLACE/env";
    place.ok(&["hook", "add", "task.cancelled", "--name", "gone", "--", "sh", "-c", script]);
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["cancel", "1"]);
    let work = fs::canonicalize(place.path("work")).unwrap();
    assert_eq!(place.until_file("env"), format!("task.cancelled gone task_1 alice {}", work.display()));
}

#[test]
fn a_hook_that_fails_or_takes_too_long_is_told_of_and_changes_nothing() {
    let place = Place::new();
    place.ok(&["hook", "add", "task.enqueued", "--name", "bad", "--", "sh", "-c", "echo broken >&2; exit 7"]);
    place.ok(&["hook", "add", "task.enqueued", "--name", "gone", "--no-check", "--", "/no/such/program"]);
    place.ok(&["hook", "add", "task.enqueued", "--name", "slow", "--timeout", "100ms", "--", "sleep", "60"]);
    let ran = place.ok(&["enqueue", "-u", "a", "--", "true"]);
    assert_eq!(ran.line(), "task_1");
    for told in ["\"bad\" failed: it ended with 7: broken", "\"gone\" failed: it could not be run", "within 100ms"] {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    let failed = place.events_named("hook_failed");
    let names: Vec<&Value> = failed.iter().map(|event| &event["data"]["hook"]).collect();
    assert_eq!(names, ["bad", "gone", "slow"]);
    place.drain();
    assert_eq!(place.status("task_1"), "completed");
}

#[test]
fn a_hook_that_is_killed_for_its_time_leaves_nothing_running() {
    let place = Place::new();
    let script = "trap '' TERM; echo $$ >$PLACE/pid; sleep 60 & wait; sleep 60";
    place.ok(&["hook", "add", "paused", "--timeout", "300ms", "--", "sh", "-c", script]);
    place.ok(&["pause", "alice"]);
    let pid = place.until_file("pid");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it is dead when the verb ends");
}

#[test]
fn hooks_are_for_the_user_and_the_lane_that_they_name() {
    let place = Place::new();
    for (user, lane, file) in [(Some("alice"), None, "of-alice"), (None, Some("build"), "of-build")] {
        let mut args = vec!["hook", "add", "task.enqueued"];
        args.extend(user.iter().flat_map(|user| ["-u", user]));
        args.extend(lane.iter().flat_map(|lane| ["-l", lane]));
        let script = format!("echo $LUZIA_TASK_ID >>$PLACE/{file}");
        args.extend(["--", "sh", "-c", &script]);
        place.ok(&args);
    }
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!((read("of-alice"), read("of-build")), ("task_1\n".into(), "task_2\n".into()));
}

#[test]
fn what_luzia_does_in_a_hook_runs_no_further_hooks() {
    let place = Place::new();
    let script = "echo x >>$PLACE/count; \"$LUZIA\" enqueue -u b -- true";
    place.ok(&["hook", "add", "task.enqueued", "--", "sh", "-c", script]);
    place.enqueue(&["-u", "a", "--", "true"]);
    place.drain();
    assert_eq!(fs::read_to_string(place.path("count")).unwrap(), "x\n");
    assert_eq!((place.status("task_1"), place.status("task_2")), ("completed".into(), "completed".into()));
}

#[test]
fn a_wait_for_a_lane_runs_its_hooks_while_it_waits() {
    let place = Place::new();
    record(&place, "lock.waiting", "waits");
    place.ok(&["acquire", "build", "--task", "me", "--ttl", "1h"]);
    let lock = place.start(&["lock", "-u", "build", "-w", "60", "--", "true"]);
    until("the hook has run", || (lines(&place, "waits").len() == 1).then_some(()));
    assert_eq!(lines(&place, "waits")[0]["data"]["held_by"], json!("me"));
    place.ok(&["release", "build", "me"]);
    lock.end().coded(0);
}

#[test]
fn a_waiting_task_runs_its_hooks_when_it_begins_to_wait() {
    let place = Place::new();
    record(&place, "task.waiting", "waits");
    let id = place.enqueue(&["-u", "a", "--shell", "\"$LUZIA\" await signature --timeout 60s"]);
    place.ok(&["dispatch"]);
    until("the hook has run", || (lines(&place, "waits").len() == 1).then_some(()));
    assert_eq!(lines(&place, "waits")[0]["task"], json!(id));
    place.ok(&["emit", "SIGNATURE_COMPLETED", "--task", &id]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_url_is_posted_by_the_curl_of_the_user() {
    let place = Place::new();
    fs::create_dir(place.path("bin")).unwrap();
    let curl = place.path("bin/curl");
    fs::write(&curl, "#!/bin/sh\necho \"$@\" >>$PLACE/args\ncat >>$PLACE/body\n").unwrap();
    fs::set_permissions(&curl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.ok(&["hook", "add", "task.enqueued", "--timeout", "5s", "--url", "https://hooks.example.org/x?y=1"]);
    let path = format!("{}:{}", place.text("bin"), std::env::var("PATH").unwrap());
    place.spawn(place.command(&["enqueue", "-u", "a", "--", "true"]).env("PATH", path)).end().coded(0);
    let args = place.until_file("args");
    assert!(args.contains("--max-time 5") && args.ends_with("--url https://hooks.example.org/x?y=1"), "{args}");
    assert_eq!(lines(&place, "body")[0]["event"], json!("task.enqueued"));
}

#[test]
fn before_runs_in_the_task_and_its_output_stands_in_the_log() {
    let place = Place::new();
    let script = "echo before $LUZIA_EVENT $LUZIA_TASK_ID $GIVEN $(pwd); cat >$PLACE/payload";
    place.ok(&["hook", "add", "before", "--", "sh", "-c", script]);
    let id = place.enqueue(&[
        "-u",
        "a",
        "--cwd",
        &place.text("io"),
        "--env",
        "GIVEN=x",
        "--shell",
        "echo command $LUZIA_HOOK",
    ]);
    place.drain();
    let io = fs::canonicalize(place.path("io")).unwrap();
    let logged = place.ok(&["logs", &id, "--stdout"]).out;
    assert_eq!(logged, format!("before before {id} x {}\ncommand\n", io.display()));
    let told = &lines(&place, "payload")[0];
    assert_eq!((&told["event"], &told["task"], &told["data"]["attempt"]), (&json!("before"), &json!(id), &json!(1)));
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn where_a_before_fails_the_task_fails_without_its_command() {
    let place = Place::new();
    place.ok(&["hook", "add", "before", "--name", "check", "-u", "a", "--", "sh", "-c", "sleep 60 & exit 5"]);
    let failed = place.enqueue(&["-u", "a", "--shell", "touch $PLACE/ran"]);
    let other = place.enqueue(&["-u", "b", "--", "true"]);
    place.drain();
    let task = place.show(&failed);
    assert_eq!(task["status"], json!("failed"));
    assert!(task.to_string().contains("the hook \\\"check\\\" failed: it ended with 5"), "{task}");
    assert!(!place.path("ran").exists());
    assert_eq!(place.status(&other), "completed");
    place.ok(&["check", "a"]);
    place.ok(&["hook", "rm", "check"]);
    place.ok(&["hook", "add", "before", "--timeout", "200ms", "--", "sleep", "60"]);
    place.ok(&["retry", &failed]);
    place.drain();
    assert!(place.show(&failed).to_string().contains("it did not end within 200ms"));
    assert!(!place.path("ran").exists());
}

#[test]
fn a_task_is_cancelled_while_its_before_runs() {
    let place = Place::new();
    place.ok(&["hook", "add", "before", "--timeout", "10m", "--", "sh", "-c", "echo >$PLACE/begun; sleep 600"]);
    let id = place.enqueue(&["-u", "a", "--shell", "touch $PLACE/ran"]);
    place.ok(&["dispatch"]);
    place.until_file("begun");
    place.ok(&["cancel", &id, "--yes", "--grace", "100ms"]);
    place.until_status(&id, "cancelled");
    assert!(!place.path("ran").exists());
    place.ok(&["check", "a"]);
}

#[test]
fn after_runs_while_the_lanes_are_held_when_the_end_is_recorded() {
    let place = Place::new();
    let script = "\"$LUZIA\" check a >/dev/null; echo check $? $LUZIA_STATUS $LUZIA_EXIT_CODE; exit 9";
    place.ok(&["hook", "add", "after", "--", "sh", "-c", script]);
    let id = place.enqueue(&["-u", "a", "--shell", "exit 3"]);
    place.drain();
    let task = place.show(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&json!("failed"), &json!(3)), "it changes nothing");
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "check 75 failed 3\n");
    let kinds: Vec<String> = place.events().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    let of = |kind: &str| kinds.iter().position(|one| one == kind).unwrap();
    assert!(of("ended") < of("hook_failed") && of("hook_failed") < of("released"), "{kinds:?}");
}

#[test]
fn what_an_after_leaves_running_ends_before_the_lanes_are_given_back() {
    let place = Place::new();
    place.ok(&["hook", "add", "after", "--", "sh", "-c", "sleep 600 & echo $! >$PLACE/pid"]);
    place.enqueue(&["-u", "a", "--", "true"]);
    place.drain();
    let pid = place.until_file("pid");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_supervisor_that_is_killed_in_a_hook_leaves_a_task_that_is_recovered() {
    for (event, status) in [("before", "failed"), ("after", "completed")] {
        let place = Place::new();
        place.ok(&["hook", "add", event, "--timeout", "10m", "--", "sh", "-c", "echo $$ >$PLACE/pid; sleep 600"]);
        let id = place.enqueue(&["-u", "a", "--", "true"]);
        place.ok(&["dispatch"]);
        let hook = place.until_file("pid");
        let supervisor = place.supervisor(&id).to_string();
        assert!(std::process::Command::new("kill").args(["-9", &supervisor]).status().unwrap().success());
        place.ok(&["hook", "rm", event]);
        place.drain();
        assert_eq!(place.status(&id), status, "{event}");
        until("the hook is dead", || (!std::path::Path::new(&format!("/proc/{hook}")).exists()).then_some(()));
        place.ok(&["check", "a"]);
    }
}

#[test]
fn hooks_are_listed_named_and_removed() {
    let place = Place::new();
    assert_eq!(place.json(&["hook", "list"])["items"], json!([]));
    assert_eq!(place.ok(&["hook", "add", "alert", "--", "true"]).line(), "alert");
    assert_eq!(place.ok(&["hook", "add", "alert", "--url", "http://localhost:1/"]).line(), "alert-2");
    let added = place.json(&["hook", "add", "failed", "--name", "mine", "-u", "alice", "--", "echo", "a b"]);
    assert_eq!((&added["schema"], &added["event"]), (&json!("luzia.hook/v1"), &json!("task.failed")));
    let items = place.json(&["hook", "list"])["items"].clone();
    let names: Vec<&Value> = items.as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["alert", "alert-2", "mine"]);
    assert_eq!((&items[1]["url"], &items[2]["command"]), (&json!("http://localhost:1/"), &json!(["echo", "a b"])));
    let table = place.ok(&["hook", "list"]).out;
    assert!(table.contains("echo 'a b'") && table.contains("30s"), "{table}");
    assert!(place.luzia(&["hook", "rm", "mine", "nothing"]).coded(66).err.contains("nothing was removed"));
    place.ok(&["hook", "rm", "mine", "alert"]);
    assert_eq!(place.ok(&["hook", "list", "-o", "name"]).out, "alert-2\n");
}

#[test]
fn wrong_hooks_are_refused_and_nothing_is_added() {
    let place = Place::new();
    let refused = |args: &[&str], code: i32| place.luzia(&[&["hook", "add"], args].concat()).coded(code).err;
    assert!(refused(&["task.done", "--", "true"], 2).contains("one of after, alert"));
    assert!(refused(&["fail", "--", "true"], 2).contains("did you mean task.failed?"));
    assert!(refused(&["alert"], 2).contains("a hook runs a command or posts to a URL"));
    assert!(refused(&["alert", "--url", "https://x", "--", "true"], 2).contains("or posts"));
    assert!(refused(&["alert", "--url", "file:///etc/passwd"], 2).contains("http://"));
    assert!(refused(&["before", "--url", "https://x"], 2).contains("takes a command"));
    assert!(refused(&["alert", "--timeout", "0", "--", "true"], 2).contains("longer than 0"));
    assert!(refused(&["alert", "--timeout", "2h", "--", "true"], 2).contains("an hour at most"));
    assert!(refused(&["alert", "--name", "a b", "--", "true"], 2).contains("letters, digits"));
    assert!(refused(&["alert", "--name=-x", "--", "true"], 2).contains("letters, digits"));
    place.luzia(&["hook"]).coded(2);
    place.luzia(&["hook", "rm"]).coded(2);
    place.luzia(&["hook", "rm", "x"]).coded(66);
    assert!(!place.state().join("spool/hooks.json").exists());
    place.ok(&["hook", "add", "alert", "--name", "x", "--", "true"]);
    assert!(refused(&["alert", "--name", "x", "--", "true"], 1).contains("already"));
}

#[test]
fn hooks_that_do_not_read_keep_tasks_from_starting_until_they_are_mended() {
    let place = Place::new();
    place.ok(&["hook", "add", "before", "--", "true"]);
    let path = place.state().join("spool/hooks.json");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, "{\"v\":1,\"hooks\":[{}]}").unwrap();
    let id = place.enqueue(&["-u", "a", "--", "true"]);
    assert!(place.luzia(&["dispatch", "--once"]).coded(65).err.contains("spool/hooks.json"));
    assert_eq!(place.status(&id), "pending");
    fs::write(&path, whole).unwrap();
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn of_hooks_that_are_added_at_once_none_is_lost() {
    let place = Place::new();
    let all: Vec<_> = (0..8).map(|_| place.start(&["hook", "add", "alert", "--", "true"])).collect();
    all.into_iter().for_each(|one| drop(one.end().coded(0)));
    assert_eq!(place.json(&["hook", "list"])["items"].as_array().unwrap().len(), 8);
}

/// A hook that begins, writes a line to `begun`, and takes longer than anybody waits.
fn endless(place: &Place, event: &str) {
    place.ok(&["hook", "add", event, "--timeout", "30m", "--", "sh", "-c", "echo $$ >>$PLACE/begun; exec sleep 1200"]);
}

fn begun(place: &Place) -> usize {
    texts(&place.path("begun")).len()
}

#[test]
fn a_hook_that_sleeps_delays_no_start_of_another_task() {
    let place = Place::new();
    endless(&place, "wait.warning");
    place.ok(&["lanes", "set", "build", "--warn-after", "100ms"]);
    let gate = place.gate("go");
    let holder = place.enqueue(&["-u", "a", "-l", "build", "--shell", &format!("echo up >$PLACE/up; read _ <{gate}")]);
    let daemon = place.start(&["daemon"]);
    place.until_file("up");
    let waits = place.enqueue(&["-u", "b", "-l", "build", "--", "true"]);
    until("the hook has begun", || (begun(&place) == 1).then_some(()));
    let other = place.enqueue(&["-u", "c", "--", "true"]);
    place.until_status(&other, "completed");
    place.open_gate("go");
    place.until_status(&waits, "completed");
    assert_eq!(place.status(&holder), "completed");
    signal(daemon.pid(), Signal::TERM);
    daemon.end();
}

#[test]
fn a_run_with_a_hook_that_sleeps_ends_with_its_task_and_at_a_signal() {
    let place = Place::new();
    endless(&place, "task.enqueued");
    place.start(&["run", "-u", "a", "--", "true"]).end().coded(0);
    until("the hook has begun", || (begun(&place) == 1).then_some(()));
    place.ok(&["acquire", "b", "--task", "me", "--ttl", "1h"]);
    let run = place.start_attentive(&["run", "-u", "b", "--", "true"]);
    until("the second hook has begun", || (begun(&place) == 2).then_some(()));
    signal(run.pid(), Signal::TERM);
    run.end().coded(143);
    assert_eq!(place.status("task_2"), "cancelled");
}

#[test]
fn a_lock_that_waits_takes_its_lane_while_a_hook_sleeps() {
    let place = Place::new();
    endless(&place, "lock.waiting");
    place.ok(&["acquire", "build", "--task", "me", "--ttl", "1h"]);
    let lock = place.start(&["lock", "-u", "build", "--", "true"]);
    until("the hook has begun", || (begun(&place) == 1).then_some(()));
    place.ok(&["release", "build", "me"]);
    lock.end().coded(0);
}

#[test]
fn eight_hooks_run_at_once_and_no_more() {
    let place = Place::new();
    let script = "echo $$ >>$PLACE/begun; until test -e $PLACE/go; do sleep 0.05; done";
    place.ok(&["hook", "add", "task.enqueued", "--timeout", "10m", "--", "sh", "-c", script]);
    let all: Vec<_> = (0..11).map(|_| place.start(&["enqueue", "-u", "a", "--", "true"])).collect();
    until("eight have begun", || (begun(&place) == 8).then_some(()));
    until("all are queued", || (place.json(&["list"])["items"].as_array().unwrap().len() == 11).then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(begun(&place), 8);
    fs::write(place.path("go"), "").unwrap();
    all.into_iter().for_each(|one| drop(one.end().coded(0)));
    assert_eq!(begun(&place), 11);
}

#[test]
fn a_hook_whose_command_is_not_there_is_refused() {
    let place = Place::new();
    for (command, hint) in [
        (&["no-such-program"][..], "--no-check"),
        (&["echo hi | cat"], "sh -c 'LINE'"),
        (&["--cmd", "true"], "options stand before the command"),
        (&["https://hooks.example.org/x"], "--url https://hooks.example.org/x"),
    ] {
        let refused = place.luzia(&[&["hook", "add", "failed"], command].concat()).coded(2);
        assert!(refused.err.contains(hint) && refused.err.contains("nothing was added"), "{}", refused.err);
    }
    assert!(!place.state().join("spool/hooks.json").exists());
    place.ok(&["hook", "add", "failed", "--no-check", "--", "no-such-program"]);
}

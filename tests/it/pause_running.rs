//! `pause` of a task that runs: its processes stand still, its time does not count, its lanes stay, and whatever is killed
//! meanwhile, nothing of it is left.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// A command that writes its pid and that of a child in a session of its own, which clears its environment, and counts.
const COUNTS: &str = "setsid env -i sleep 600 & echo $! >$PLACE/child; \
                      i=0; while :; do i=$((i+1)); echo $i >$PLACE/count.new; mv $PLACE/count.new $PLACE/count; sleep 0.01; done";

fn start(place: &Place, options: &[&str], script: &str) -> String {
    let id = place.enqueue(&[&["-u", "root"], options, &["--shell", script]].concat());
    place.ok(&["dispatch", "--once"]);
    id
}

fn counting(place: &Place, options: &[&str]) -> String {
    let id = start(place, options, COUNTS);
    until("it counts", || (count(place) > 1).then_some(()));
    id
}

fn count(place: &Place) -> u64 {
    std::fs::read_to_string(place.path("count")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The state letter of a process, of proc(5).
fn state_of(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('-')
}

fn child(place: &Place) -> u32 {
    place.until_file("child").trim().parse().unwrap()
}

fn assert_still(place: &Place) {
    let before = count(place);
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(count(place), before, "it stands still");
}

fn assert_goes_on(place: &Place) {
    let before = count(place);
    until("it goes on", || (count(place) > before).then_some(()));
}

fn reason(place: &Place, id: &str) -> Value {
    place.json(&["explain", id])["reasons"][0].clone()
}

#[test]
fn a_paused_task_stands_still_and_every_verb_says_since_when_by_whom_and_why() {
    let place = Place::new();
    let id = counting(&place, &[]);
    let said = place.ok(&["pause", &id, "--reason", "the build is noisy", "-y"]).err;
    assert!(said.contains(&format!("luzia resume {id}")), "{said}");
    assert_still(&place);
    assert_eq!(state_of(child(&place)), 'T', "a child that left group, session and environment too");
    let why = reason(&place, &id);
    let by = why["by"].as_str().unwrap().to_owned();
    assert_eq!(
        (&why["reason"], &why["why"], &why["until"]),
        (&json!("Paused"), &json!("the build is noisy"), &json!(null))
    );
    assert!(why["since"].is_string() && !by.is_empty());
    for verb in [&["explain", &id][..], &["show", &id], &["status"]] {
        let text = place.ok(verb).out;
        assert!(text.contains("the build is noisy") && text.contains(&format!("by {by}")), "{verb:?}: {text}");
    }
    assert!(place.ok(&["list"]).out.contains("paused"));
    let listed = place.json(&["list"]);
    assert!(listed.to_string().contains("the build is noisy"), "{listed}");
    // The end and the reason change, and its beginning stays.
    place.ok(&["pause", &id, "--reason", "lunch", "--for", "1h", "-y"]);
    let later = reason(&place, &id);
    assert_eq!((&later["since"], &later["why"]), (&why["since"], &json!("lunch")));
    assert!(later["until"].is_string());
    place.ok(&["resume", &id]);
    assert_goes_on(&place);
    assert_eq!(place.json(&["explain", &id])["reasons"], json!([]));
    assert!(place.ok(&["resume", &id]).err.contains("was not paused"));
    assert_eq!((place.events_named("paused").len(), place.events_named("resumed").len()), (2, 1));
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
    assert!(!lives(child(&place)));
}

#[test]
fn the_time_limit_stops_counting_and_what_stood_still_did_not_run() {
    let place = Place::new();
    let gate = place.gate("go");
    let id = start(&place, &["--timeout", "2s"], &format!("echo >$PLACE/up; read _ <{gate}"));
    place.until_file("up");
    place.ok(&["pause", &id, "-y"]);
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(place.status(&id), "running", "its limit has passed by the clock alone");
    place.ok(&["resume", &id]);
    place.open_gate("go");
    place.until_status(&id, "completed");
    let ran = place.show(&id)["outcome"]["ran_ms"].as_u64().or(place.show(&id)["ran_ms"].as_u64()).unwrap();
    assert!(ran < 2000, "{ran} ms");
}

#[test]
fn the_rest_of_the_time_limit_counts_after_the_pause() {
    let place = Place::new();
    let id = start(&place, &["--timeout", "700ms", "--grace", "0"], "echo >$PLACE/up; sleep 600");
    place.until_file("up");
    place.ok(&["pause", &id, "--for", "1s", "-y"]);
    place.until_status(&id, "timeout");
    let resumed = place.events_named("resumed");
    assert_eq!(resumed.len(), 1, "the pause ended by itself, before the limit did: {resumed:?}");
}

#[test]
fn a_pause_with_an_end_is_over_then_without_anybody() {
    let place = Place::new();
    let id = counting(&place, &[]);
    place.ok(&["pause", &id, "--for", "400ms", "-y"]);
    assert_goes_on(&place);
    assert_eq!(place.json(&["explain", &id])["reasons"], json!([]));
    assert!(!place.state().join(format!("run/{}/pause.json", &id[5..])).exists());
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn a_paused_task_is_cancelled_with_all_that_it_left() {
    // A cancel that waited for ten minutes would outlast the patience of this test.
    for grace in ["0", "10m"] {
        let place = Place::new();
        let id = counting(&place, &[]);
        place.ok(&["pause", &id, "-y"]);
        place.ok(&["cancel", &id, "--grace", grace, "-y"]);
        assert_eq!(place.status(&id), "cancelled");
        assert!(!lives(child(&place)), "SIGTERM reached it: it did not wait for its grace");
    }
}

#[test]
fn a_supervisor_that_is_killed_leaves_a_paused_task_to_recovery_which_ends_it() {
    let place = Place::new();
    // A recovery that waited for it would outlast the patience of this test.
    let id = counting(&place, &["--grace", "10m"]);
    place.ok(&["pause", &id, "-y"]);
    let child = child(&place);
    signal(place.supervisor(&id), Signal::KILL);
    let next = place.enqueue(&["-u", "root", "--", "true"]);
    place.drain();
    assert!(!lives(child), "a stopped process takes the signal to end, too, and goes on to take it");
    assert_eq!((place.status(&id).as_str(), place.status(&next).as_str()), ("failed", "completed"));
    assert!(!place.state().join("run").join(&id[5..]).exists());
}

#[test]
fn a_tree_whose_slots_an_earlier_version_gave_to_others_is_killed_as_it_stands() {
    let gone = r#"{"since":"2026-11-24T07:00:00.000Z","lanes":["build"],"kept":["user:root"],"waits":true}"#;
    let kept = r#"{"since":"2026-11-24T07:00:00.000Z","lanes":[],"kept":[],"refused":"it has no slot"}"#;
    for (said, is_told) in [(gone, false), ("damaged", false), (kept, true)] {
        let place = Place::new();
        let id = start(&place, &["--grace", "20s"], &format!("trap 'echo >$PLACE/told; exit 1' TERM; {COUNTS}"));
        until("it counts", || (count(&place) > 1).then_some(()));
        place.ok(&["pause", &id, "-y"]);
        let (before, supervisor) = (count(&place), place.supervisor(&id));
        std::fs::write(place.state().join("run").join(&id[5..]).join("yield.json"), said).unwrap();
        signal(supervisor, Signal::KILL);
        until("the supervisor is gone", || (!lives(supervisor)).then_some(()));
        place.ok(&["dispatch", "--once"]);
        place.until_status(&id, "failed");
        assert!(!lives(child(&place)));
        assert_eq!(place.path("told").exists(), is_told, "{said}");
        assert!(is_told || count(&place) == before, "no signal let it go on");
        // It goes after the record has its place among those that are over.
        until("its run folder is gone", || (!place.state().join("run").join(&id[5..]).exists()).then_some(()));
    }
}

#[test]
fn a_running_task_has_no_option_to_give_its_slots_up() {
    let place = Place::new();
    let id = counting(&place, &[]);
    let refused = place.luzia(&["pause", &id, "--yield"]).coded(2).err;
    assert!(refused.contains("there is no option \"--yield\"") && refused.contains("keeps its slots"), "{refused}");
    let refused = place.luzia(&["enqueue", "--preempt", "pause", "--", "true"]).coded(2).err;
    assert!(refused.contains("end, requeue"), "{refused}");
    assert_goes_on(&place);
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn a_stopped_command_stays_stopped_when_its_supervisor_is_killed() {
    let place = Place::new();
    // A group that becomes an orphan would be sent SIGHUP and SIGCONT: the command leads a session of its own.
    let id = start(&place, &[], &format!("trap '' HUP; echo $$ >$PLACE/shell; {COUNTS}"));
    let shell: u32 = place.until_file("shell").trim().parse().unwrap();
    until("it counts", || (count(&place) > 1).then_some(()));
    let session = std::fs::read_to_string(format!("/proc/{shell}/stat")).unwrap();
    let session = session.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().parse::<u32>().unwrap();
    assert_eq!(session, shell, "the command leads its session");
    place.ok(&["pause", &id, "-y"]);
    let supervisor = place.supervisor(&id);
    signal(supervisor, Signal::KILL);
    until("the supervisor is gone", || (!lives(supervisor)).then_some(()));
    // In state D it waits in a fork for a child that is stopped.
    assert!(matches!((state_of(shell), state_of(child(&place))), ('T' | 'D', 'T')));
    assert_still(&place);
    place.drain();
    assert!(!lives(shell) && !lives(child(&place)));
}

#[test]
fn the_locks_of_a_paused_task_are_refreshed() {
    let place = Place::configured(&json!({ "per_user_serialization": { "lock_timeout_seconds": 1 } }));
    let id = counting(&place, &[]);
    place.ok(&["pause", &id, "-y"]);
    std::thread::sleep(Duration::from_millis(1600));
    let locks = place.json(&["list-locks"]);
    for lock in locks["items"].as_array().unwrap() {
        assert_eq!(lock["state"], json!("held"), "{lock}");
    }
    place.luzia(&["check", "root"]).coded(75);
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn a_luzia_inside_goes_on_because_it_may_hold_what_others_wait_for() {
    let place = Place::new();
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let script = format!("{luzia} lock -l x -- sh -c 'echo $$ >$PLACE/inner; echo $PPID >$PLACE/outer; sleep 600'; :");
    let id = start(&place, &[], &script);
    let pid = |name: &str| place.until_file(name).trim().parse::<u32>().unwrap();
    let (inner, outer) = (pid("inner"), pid("outer"));
    place.ok(&["pause", &id, "-y"]);
    assert_eq!(state_of(inner), 'T');
    assert_eq!(state_of(outer), 'S', "`luzia lock` itself waits on");
    assert_eq!(place.luzia(&["check", "lane:x"]).code, 75);
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn nothing_that_forks_all_the_time_escapes_a_pause() {
    let place = Place::new();
    let script = "for n in 1 2 3; do (while :; do (echo x >>$PLACE/log.$n) & wait; done) & done; echo >$PLACE/up; wait";
    let id = start(&place, &[], script);
    place.until_file("up");
    let size = || -> u64 {
        (1..4).map(|n| std::fs::metadata(place.path(&format!("log.{n}"))).map_or(0, |meta| meta.len())).sum()
    };
    for _ in 0..3 {
        until("it writes", || (size() > 0).then_some(()));
        place.ok(&["pause", &id, "-y"]);
        let before = size();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(size(), before);
        place.ok(&["resume", &id]);
        until("it writes again", || (size() > before).then_some(()));
    }
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

#[test]
fn what_its_own_people_have_stopped_stays_stopped() {
    let place = Place::new();
    let id = start(&place, &[], "sleep 600 & kill -STOP $!; echo $! >$PLACE/child; sleep 600");
    let child = child(&place);
    until("it is stopped", || (state_of(child) == 'T').then_some(()));
    place.ok(&["pause", &id, "-y"]);
    place.ok(&["resume", &id]);
    assert_eq!(state_of(child), 'T');
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
    assert!(!lives(child));
}

#[test]
fn running_work_of_somebody_else_is_stopped_by_consent_only() {
    let place = Place::new();
    let gate = place.gate("go");
    let by = |who: &str, args: &[&str]| place.spawn(place.command(args).env("LUZIA_AGENT", who)).end();
    let script = format!("echo >$PLACE/up; read _ <{gate}");
    let id = by("one", &["enqueue", "-u", "somebody", "--shell", &script]).coded(0).line();
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let before = place.snapshot();
    let refused = by("other", &["pause", &id]).coded(2);
    assert!(refused.err.contains("belongs to agent one; nothing was changed"), "{}", refused.err);
    assert!(refused.err.contains(&format!("luzia explain {id}")), "the first way on harms nobody: {}", refused.err);
    place.assert_unchanged(&before, "a refused pause");
    by("other", &["pause", &id, "-y"]).coded(0);
    place.ok(&["resume", &id]);
    place.open_gate("go");
    place.until_status(&id, "completed");
    place.luzia(&["pause", &id, "-y"]).coded(1);
}

#[test]
fn tasks_are_paused_resumed_and_edited_by_what_they_have_in_common() {
    let place = Place::new();
    let gate = place.gate("go");
    let runs = place.enqueue(&["-u", "root", "--label", "x", "--shell", &format!("echo >$PLACE/up; read _ <{gate}")]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let add = |options: &[&str]| place.enqueue(&[options, &["--in", "1h", "--", "true"]].concat());
    let all = [
        add(&["-u", "root", "--label", "x"]),
        add(&["-u", "b", "--label", "x", "-l", "build"]),
        add(&["-u", "b", "--label", "y"]),
    ];
    let before = place.snapshot();
    let asked = place.luzia(&["pause", "--label", "x"]).coded(2);
    assert!(asked.err.contains("pause would act on 3 tasks, task_1 to task_3; nothing was changed"), "{}", asked.err);
    place.luzia(&["pause", "--label", "nobody", "-y"]).coded(66);
    place.luzia(&["pause", "--state", "failed", "-y"]).coded(2);
    place.luzia(&["pause", "task_1", "--label", "x", "-y"]).coded(2);
    place.luzia(&["resume", "--label", "x"]).coded(66);
    place.luzia(&["edit", "-u", "b"]).coded(2);
    place.luzia(&["edit", "--with-label", "nobody", "--priority", "1"]).coded(66);
    place.luzia(&["edit", "1", "-u", "b", "--priority", "1"]).coded(2);
    place.assert_unchanged(&before, "refused selections");
    let paused = place.json(&["pause", "--label", "x", "--reason", "quiet", "-y"]);
    assert_eq!(paused["items"].as_array().unwrap().len(), 3, "{paused}");
    for id in [&runs, &all[0], &all[1]] {
        assert_eq!(reason(&place, id)["why"], json!("quiet"), "{id}");
    }
    let resumed = place.json(&["resume", "--all", "--state", "pending,running"]);
    assert_eq!(resumed["items"].as_array().unwrap().len(), 3, "those that are paused, and no others: {resumed}");
    place.ok(&["edit", "-u", "b", "--in-lane", "build", "--priority", "1"]);
    place.ok(&["edit", "--with-label", "y", "--label", "z"]);
    let told = |id: &str| place.show(id);
    assert_eq!((&told(&all[1])["priority"], &told(&all[2])["priority"]), (&json!(1), &json!(5)));
    assert_eq!(told(&all[2])["label"], json!("z"));
    // One of -u, -l and --all by itself is a hold of its own.
    place.ok(&["pause", "-l", "build"]);
    assert_eq!(place.json(&["status"])["paused"][0]["what"], json!("build"));
    place.ok(&["resume", "-l", "build"]);
    place.open_gate("go");
    place.until_status(&runs, "completed");
}

#[test]
fn a_task_that_is_paused_between_its_claim_and_its_command_stands_still_at_once() {
    let place = Place::new();
    // The hook keeps the start back: the claim is made, and the command is not started.
    let gate = place.gate("hook");
    place.ok(&[
        "hook",
        "add",
        "before",
        "--name",
        "late",
        "--",
        "sh",
        "-c",
        &format!("echo >{}; read _ <{gate}", place.text("hooked")),
    ]);
    let id = place.enqueue(&["-u", "root", "--shell", "sleep 0.3; echo >$PLACE/ran; sleep 600"]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("hooked");
    let mut pauses = place.start(&["pause", &id, "-y"]);
    until("it is asked for", || place.state().join("run/1/pause.json").exists().then_some(()));
    assert!(!pauses.is_over(), "it waits until the task stands still");
    place.open_gate("hook");
    pauses.end().coded(0);
    std::thread::sleep(Duration::from_millis(500));
    assert!(!place.path("ran").exists());
    assert_eq!(reason(&place, &id)["reason"], json!("Paused"));
    place.ok(&["resume", &id]);
    place.until_file("ran");
    place.ok(&["cancel", &id, "--grace", "0", "-y"]);
}

//! Tasks of several slots (`--slots`), from outside: all of them or none, never more than the lane has, and all given back.

use crate::support::{Place, lines, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn with_max(max: u32) -> Place {
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    place.ok(&["lanes", "set", "build", "--max", &max.to_string()]);
    place
}

fn reason(place: &Place, task: &str) -> Value {
    place.json(&["explain", task])["reasons"][0].clone()
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_default()
}

/// How many slots of `build` are held.
fn held(place: &Place) -> usize {
    let entries = std::fs::read_dir(place.state().join("locks")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("lane_build") && name.ends_with(".lock")).count()
}

/// A task in lane `build` that runs until its gate is opened.
fn running(place: &Place, user: &str, options: &[&str]) -> String {
    let script = format!("read _ <{}", place.gate(user));
    let id = place.enqueue(&[&["-u", user, "-l", "build"], options, &["--shell", &script]].concat());
    place.ok(&["dispatch", "--once"]);
    place.until_status(&id, "running");
    id
}

#[test]
fn twenty_tasks_of_one_to_three_slots_never_use_more_than_four() {
    let place = with_max(4);
    for at in 0..20 {
        let (user, count) = (format!("user{}", at % 7), 1 + at % 3);
        // What is written stands between the grant and the release, so a sum over the lines is never more than what is held.
        let script = format!("echo {count} >>$PLACE/log; sleep 0.05; echo -{count} >>$PLACE/log");
        place.enqueue(&["-u", &user, "-l", "build", "--slots", &count.to_string(), "--shell", &script]);
    }
    place.drain();
    let log = lines(&place.path("log"));
    assert_eq!(log.len(), 40, "each ran once");
    let changes = log.iter().map(|line| line.parse::<i64>().unwrap());
    let sums: Vec<i64> = changes
        .scan(0, |sum, change| {
            *sum += change;
            Some(*sum)
        })
        .collect();
    assert!(sums.iter().all(|sum| (0..=4).contains(sum)), "{sums:?}");
    assert_eq!((sums.last(), held(&place)), (Some(&0), 0));
}

#[test]
fn a_task_waits_until_all_its_slots_are_free_and_gives_all_of_them_back() {
    let place = with_max(4);
    let first = running(&place, "alice", &["--slots", "3", "--timeout", "1h"]);
    assert_eq!((held(&place), place.show(&first)["slot_count"].clone()), (3, json!(3)));
    let second = place.enqueue(&["-u", "bob", "-l", "build", "--slots", "2", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    let why = reason(&place, &second);
    assert_eq!([&why["reason"], &why["free"], &why["needed"]], [&json!("LaneFull"), &json!(1), &json!(2)], "{why}");
    let said = place.ok(&["explain", &second]).out;
    assert!(said.contains("lane \"build\" has 1 of 2 slots that it needs free (3 of 4 in use)"), "{said}");
    assert!(place.ok(&["list"]).out.contains("needs 2, 3 of 4 in use (build)"));
    assert_eq!(held(&place), 3, "it has taken none");
    // One slot is free: what ends in time passes, and a plain task of a record without a count takes one.
    let short = place.enqueue(&["-u", "carol", "-l", "build", "--timeout", "1m", "--", "true"]);
    let long = place.enqueue(&["-u", "dora", "-l", "build", "--timeout", "2h", "--", "true"]);
    assert_eq!(
        [reason(&place, &short), reason(&place, &long)].map(|why| why["reason"].clone()),
        [json!("NoDispatcher"), json!("Booked")]
    );
    place.ok(&["dispatch", "--once"]);
    place.until_status(&short, "completed");
    assert_eq!([&second, &long].map(|id| place.status(id)), ["pending", "pending"]);
    place.open_gate("alice");
    place.until_status(&first, "completed");
    place.drain();
    assert_eq!(
        ([&second, &long].map(|id| place.status(id)), held(&place)),
        (["completed".into(), "completed".into()], 0)
    );
    let grants = place.events_named("locked");
    let of = |id: &str| grants.iter().find(|event| event["task"] == *id).unwrap()["data"]["lanes"].clone();
    assert_eq!(of(&second).as_array().unwrap().iter().filter(|lane| **lane == "build").count(), 2);
}

#[test]
fn what_can_never_have_its_slots_is_refused_and_nothing_changes() {
    let place = with_max(2);
    place.enqueue(&["-u", "alice", "--", "true"]);
    let before = place.snapshot();
    let refused = |words: &[&str], code: &str| {
        let exit = if matches!(words[3], "0" | "1001") { 2 } else { 1 };
        for verb in ["enqueue", "run"] {
            let ran = place.luzia(&[&[verb, "--json"], words, &["--", "true"]].concat()).coded(exit);
            assert!(ran.err.contains(&format!("\"code\":\"{code}\"")), "{verb} {words:?}: {}", ran.err);
        }
        place.assert_unchanged(&before, &format!("{words:?}"));
    };
    refused(&["-l", "build", "--slots", "0"], "BAD_SLOTS");
    refused(&["-l", "build", "--slots", "1001"], "BAD_SLOTS");
    refused(&["-u", "bob", "--slots", "2"], "BAD_SLOTS");
    refused(&["--thread", "7", "--slots", "2"], "BAD_SLOTS");
    refused(&["-l", "build", "--slots", "3"], "TOO_FEW_SLOTS");
    refused(&["-l", "build", "-l", "one", "--slots", "2"], "TOO_FEW_SLOTS");
    place.luzia(&["enqueue", "-l", "build", "--slots", "2", "--preempt", "requeue", "--", "true"]).coded(2);
    let batch = "{\"lanes\":\"build\",\"slots\":2,\"command\":[\"true\"]}\n{\"lanes\":\"build\",\"slots\":3,\"command\":[\"true\"]}\n";
    std::fs::write(place.path("batch"), batch).unwrap();
    place.luzia(&["enqueue", "--from", place.path("batch").to_str().unwrap()]).coded(1);
    place.assert_unchanged(&before, "a batch");
}

#[test]
fn a_limit_that_shrinks_keeps_the_task_and_explain_says_so() {
    let place = with_max(3);
    let id = place.enqueue(&["-u", "alice", "-l", "build", "--slots", "3", "--", "true"]);
    place.ok(&["lanes", "set", "build", "--max", "2"]);
    place.ok(&["dispatch", "--once"]);
    let why = reason(&place, &id);
    assert_eq!([&why["reason"], &why["needed"], &why["max"]], [&json!("TooFewSlots"), &json!(3), &json!(2)], "{why}");
    assert_eq!((place.status(&id), held(&place)), ("pending".to_owned(), 0));
    // It keeps nobody else.
    let other = place.enqueue(&["-u", "bob", "-l", "build", "--slots", "2", "--", "true"]);
    let later = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&other, "completed");
    place.until_status(&later, "completed");
    assert_eq!(place.status(&id), "pending");
    place.ok(&["lanes", "set", "build", "--max", "3"]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn all_slots_come_back_when_the_supervisor_or_the_command_is_killed() {
    let place = with_max(3);
    let id = running(&place, "alice", &["--slots", "3"]);
    signal(place.supervisor(&id), Signal::KILL);
    until("the dead task is recovered", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) != "running").then_some(())
    });
    assert_eq!(held(&place), 0);
    let next = place.enqueue(&["-u", "bob", "-l", "build", "--slots", "3", "--shell", "kill -9 $$"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&next, "failed");
    until("its slots are free", || (held(&place) == 0).then_some(()));
}

#[test]
fn a_task_finds_all_its_values_and_no_two_tasks_share_one() {
    let place = Place::new();
    place.ok(&["lanes", "set", "resource:emu", "--values", "a,b,c", "--rate", "9/1h", "--cpu-budget", "3"]);
    let script = "echo $LUZIA_SLOT_EMU >$PLACE/two; read _ <$PLACE/go";
    place.gate("go");
    let two = place.enqueue(&["-u", "alice", "-l", "resource:emu", "--slots", "2", "--shell", script]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!(place.until_file("two").trim(), "a,b");
    assert_eq!(place.show(&two)["slots"]["resource:emu"], "a,b");
    assert_eq!(place.json(&["acquire", "resource:emu", "--task", "me"])["value"], "c");
    place.luzia(&["acquire", "resource:emu", "--task", "you"]).coded(75);
    place.open_gate("go");
    place.until_status(&two, "completed");
    assert_eq!(place.json(&["acquire", "resource:emu", "--task", "you"])["value"], "a");
}

#[test]
fn a_child_borrows_the_slots_of_its_parent() {
    let place = with_max(2);
    let child = "$LUZIA enqueue --parent self --wait -l build --slots";
    let script = format!(
        "{child} 3 -- true 2>$PLACE/err; echo $? >>$PLACE/log; {child} 2 -- true >/dev/null; echo $? >>$PLACE/log"
    );
    let id = place.enqueue(&["-u", "alice", "-l", "build", "--slots", "2", "--shell", &script]);
    place.drain();
    assert_eq!(
        (place.status(&id), read(&place, "log")),
        ("completed".into(), "1\n0\n".into()),
        "{}",
        read(&place, "err")
    );
    assert_eq!(
        (place.events_named("borrowed").iter().filter(|event| event["lane"] == "build").count(), held(&place)),
        (2, 0)
    );
    let lone = format!("{child} 2 -- true 2>$PLACE/err; echo $? >$PLACE/lone");
    place.enqueue(&["-u", "alice", "-l", "build", "--shell", &lone]);
    place.drain();
    assert_eq!(read(&place, "lone"), "1\n");
    assert!(read(&place, "err").contains("of which its parent has 1"), "{}", read(&place, "err"));
}

#[test]
fn a_release_of_one_lock_of_several_is_refused_and_by_force_all_come_back() {
    let place = with_max(4);
    let id = running(&place, "alice", &["--slots", "3"]);
    let locks = place.json(&["list-locks"]);
    let of_lane = locks["items"].as_array().unwrap().iter().filter(|lock| lock["lane"] == "build");
    let lock_ids: Vec<String> = of_lane.map(|lock| lock["lock_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(lock_ids.len(), 3, "{locks}");
    for lock_id in &lock_ids {
        let refused = place.luzia(&["release", "lane:build", &id, "--lock-id", lock_id]);
        assert!(refused.code != 0 && refused.err.contains(&id), "{refused:#?}");
        assert_eq!((held(&place), place.status(&id)), (3, "running".into()), "nothing has changed");
    }
    place.ok(&["release", "lane:build", &id, "--lock-id", &lock_ids[0], "--force", "--yes"]);
    place.until_status(&id, "cancelled");
    until("its slots are free", || (held(&place) == 0).then_some(()));
}

#[test]
fn an_edit_changes_the_slots_and_refuses_lanes_that_have_too_few() {
    let place = with_max(3);
    place.ok(&["lanes", "set", "small", "--max", "2"]);
    place.ok(&["lanes", "set", "wide", "--max", "5"]);
    let id = place.enqueue(&["-u", "alice", "-l", "build", "--slots", "3", "--", "true"]);
    let before = place.snapshot();
    for (words, code) in [
        (&["-l", "small"][..], "TOO_FEW_SLOTS"),
        (&["-l", "wide", "-l", "small"], "TOO_FEW_SLOTS"),
        (&["-l", "thread:7"], "BAD_SLOTS"),
        (&["--slots", "4"], "TOO_FEW_SLOTS"),
        (&["--slots", "0"], "BAD_SLOTS"),
        (&["--slots", "1001"], "BAD_SLOTS"),
    ] {
        let exit = if matches!(words[1], "0" | "1001") { 2 } else { 1 };
        let ran = place.luzia(&[&["edit", "--json", &id], words].concat()).coded(exit);
        assert!(ran.err.contains(&format!("\"code\":\"{code}\"")), "{words:?}: {}", ran.err);
        place.assert_unchanged(&before, &format!("{words:?}"));
    }
    place.luzia(&["edit", &id, "--slots", "-1"]).coded(2);
    place.ok(&["edit", &id, "-l", "wide"]);
    assert_eq!(place.show(&id)["slot_count"], 3);
    place.ok(&["edit", &id, "-l", "small", "--slots", "2"]);
    assert_eq!(place.show(&id)["slot_count"], 2);
    place.ok(&["edit", &id, "--slots", "1"]);
    assert_eq!(place.show(&id)["slot_count"], Value::Null);
    place.ok(&["edit", &id, "-l", "thread:7"]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

/// A task that gives its values of `build` and of user time away: what its user has used, by the ledger.
fn used(place: &Place, user: &str) -> u64 {
    let ledger = std::fs::read_to_string(place.state().join("spool/fair")).unwrap();
    let line = ledger.lines().find(|line| line.ends_with(&format!(" {user}"))).unwrap_or_else(|| panic!("{ledger}"));
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_grant_of_several_slots_is_charged_for_each() {
    let place = with_max(4);
    place.enqueue(&["-u", "alice", "-l", "build", "--slots", "3", "--", "true"]);
    place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    place.drain();
    let (alice, bob) = (used(&place, "alice"), used(&place, "bob"));
    // What was charged fades, by a thousandth in each second.
    assert!(alice > 2 * bob, "{alice} {bob}");
}

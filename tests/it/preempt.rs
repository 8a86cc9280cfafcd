//! `--preempt`: a task makes room for itself. Only a holder that may go has to go; it is told why, and none goes in vain.

use crate::support::{Place, until};
use serde_json::{Value, json};

/// A task that waits at a gate, says so, and notes each start.
fn holder(place: &Place, options: &[&str]) -> String {
    let gate = place.gate("hold");
    let script = format!("echo holder >>$PLACE/log; echo >$PLACE/up; read _ <{gate}");
    let id = place.enqueue(&[options, &["--shell", &script]].concat());
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    id
}

fn log(place: &Place) -> String {
    std::fs::read_to_string(place.path("log")).unwrap_or_default()
}

fn wishes(place: &Place) -> Value {
    let text = std::fs::read_to_string(place.state().join("spool/control.json")).unwrap_or_default();
    serde_json::from_str::<Value>(&text).map_or(json!(null), |control| control["preempts"].clone())
}

const SAYS: &[&str] = &["--shell", "echo new >>$PLACE/log"];

fn enqueue(place: &Place, options: &[&str]) -> String {
    place.enqueue(&[options, SAYS].concat())
}

#[test]
fn the_holder_is_ended_and_says_for_whom() {
    let place = Place::new();
    let held = holder(&place, &["-u", "a", "-l", "build"]);
    let new = enqueue(&place, &["-l", "build", "--preempt", "end"]);
    place.until_status(&new, "completed");
    let shown = place.show(&held);
    assert_eq!(shown["status"], json!("cancelled"));
    assert_eq!(shown["cancelReason"].as_str(), Some("preempted by task_2"));
    let told = place.events_named("preempted");
    assert_eq!(
        (told.len(), &told[0]["task"], &told[0]["data"]["by"], &told[0]["data"]["how"]),
        (1, &json!(held), &json!(new), &json!("end"))
    );
    place.drain();
    place.ok(&["dispatch", "--once"]);
    assert_eq!(wishes(&place), json!(null), "what was done is not kept");
}

#[test]
fn nobody_is_ended_for_a_task_that_the_rate_of_a_lane_keeps_anyway() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--rate", "1/1h"]);
    let held = holder(&place, &["-u", "a", "-l", "build"]);
    let new = enqueue(&place, &["-l", "build", "--preempt", "end"]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!((place.status(&held), place.status(&new)), ("running".to_owned(), "pending".to_owned()));
    assert_eq!(place.events_named("preempted").len(), 0);
    place.ok(&["lanes", "set", "build", "--rate", "2/1h"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&new, "completed");
    assert_eq!(place.status(&held), "cancelled");
}

#[test]
fn the_holder_is_queued_again_in_its_old_place_and_spends_no_attempt() {
    let place = Place::new();
    let held = holder(&place, &["-u", "a"]);
    let between = place.enqueue(&["-u", "a", "--shell", "echo between >>$PLACE/log"]);
    let new = enqueue(&place, &["-u", "a", "--preempt", "requeue", "--preempt-grace", "0"]);
    place.until_status(&new, "completed");
    until("the holder starts again", || (log(&place).matches("holder").count() == 2).then_some(()));
    place.open_gate("hold");
    place.drain();
    assert_eq!(
        log(&place),
        "holder\nnew\nholder\nbetween\n",
        "before others of its priority; the others in their order"
    );
    let shown = place.show(&held);
    assert_eq!(
        (&shown["status"], &shown["starts"], &shown["attempt"]),
        (&json!("completed"), &json!(2), &json!(1)),
        "{shown}"
    );
    assert_eq!(place.status(&between), "completed");
}

#[test]
fn a_task_in_the_last_slot_makes_room_for_one_of_another_user() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let held = holder(&place, &["-u", "a"]);
    let other = place.enqueue(&["-u", "c", "--", "true"]);
    let new = enqueue(&place, &["-u", "b", "--preempt"]);
    place.until_status(&new, "completed");
    assert_eq!(place.status(&held), "cancelled");
    place.drain();
    assert_eq!(place.status(&other), "completed");
}

#[test]
fn of_several_holders_the_lowest_priority_goes_and_then_the_youngest() {
    let place = Place::configured(&json!({ "lanes": { "build": { "max": 3 } }, "slots": { "max": 9 } }));
    let start = |n: u32, priority: &str| {
        let script = format!("echo >$PLACE/up{n}; sleep 600");
        let id = place.enqueue(&["-l", "build", "--priority", priority, "--shell", &script]);
        place.ok(&["dispatch", "--once"]);
        place.until_file(&format!("up{n}"));
        id
    };
    let all = [start(1, "7"), start(2, "7"), start(3, "5")];
    let new = enqueue(&place, &["-l", "build", "--preempt", "--preempt-grace", "0"]);
    place.until_status(&new, "completed");
    assert_eq!(all.clone().map(|id| place.status(&id)), ["running", "cancelled", "running"]);
    place.ok(&["cancel", "--all", "--grace", "0", "-y"]);
}

#[test]
fn nobody_goes_who_may_not_and_nothing_is_queued_then() {
    let place = Place::new();
    let high = holder(&place, &["-u", "a", "--priority", "2"]);
    place.ok(&["acquire", "lane:x", "--task", "me", "--ttl", "1h"]);
    let mut lock = place.start(&["lock", "-l", "y", "--", "sleep", "600"]);
    let sidecar = || std::fs::read_to_string(place.lock("lane_y.json")).unwrap_or_default();
    let command = || serde_json::from_str::<Value>(&sidecar()).ok()?["command_pid"].as_u64();
    until("its command is recorded", command);
    let before = place.snapshot();
    for (options, words) in [
        (vec!["-u", "a"], "has a higher priority"),
        (vec!["-l", "x"], "only a task can be preempted"),
        (vec!["-l", "y"], "only a task can be preempted"),
        // A task that could make room is not ended when another lane stays full.
        (vec!["-u", "a", "-l", "x", "--priority", "1"], "only a task can be preempted"),
    ] {
        let ran = place.luzia(&[&["enqueue"], &options[..], &["--preempt", "end"], SAYS].concat()).coded(1);
        assert!(ran.err.contains(words) && ran.err.contains("nothing was queued"), "{options:?}: {}", ran.err);
        assert!(!ran.err.contains("cancel") && !ran.err.contains("release"), "{}", ran.err);
    }
    for words in [
        &["enqueue", "--preempt", "stop", "--", "true"][..],
        &["enqueue", "--preempt-grace", "1s", "--", "true"],
        &["enqueue", "--preempt", "end", "--preempt-grace", "x", "--", "true"],
        &["enqueue", "--preempt", "pause", "--", "true"],
        &["enqueue", "--preempt", "end", "--from", "x"],
        &["run", "--preempt", "end", "--no-wait", "--", "true"],
        &["enqueue", "--preempt", "end", "--dry-run", "--", "true"],
    ] {
        place.luzia(words).coded(2);
    }
    place.assert_unchanged(&before, "refused preemptions");
    assert_eq!(place.status(&high), "running");
    lock.kill();
    place.open_gate("hold");
    place.drain();
}

#[test]
fn a_task_inside_the_holder_does_not_end_what_it_is_inside_of() {
    let place = Place::new();
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let script = format!("{luzia} enqueue -u b -l build --preempt end -- true >$PLACE/out 2>&1; echo $? >$PLACE/code");
    let id = place.enqueue(&["-u", "a", "-l", "build", "--shell", &script]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(place.until_file("code"), "1", "{}", place.until_file("out"));
    assert!(place.until_file("out").contains("would run inside"));
}

#[test]
fn work_of_somebody_else_makes_room_by_consent_only() {
    let place = Place::new();
    let by = |who: &str, args: &[&str]| place.spawn(place.command(args).env("LUZIA_AGENT", who)).end();
    let gate = place.gate("hold");
    let script = format!("echo >$PLACE/up; read _ <{gate}");
    let held = by("one", &["enqueue", "-l", "build", "--shell", &script]).coded(0).line();
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let before = place.snapshot();
    let asks = ["enqueue", "-l", "build", "--preempt", "requeue", "--", "true"];
    let refused = by("other", &asks).coded(2);
    assert!(refused.err.contains("belongs to agent one; nothing was changed"), "{}", refused.err);
    place.assert_unchanged(&before, "a refused preemption");
    let new = by("other", &[&["-y"], &asks[..]].concat()).coded(0).line();
    place.until_status(&new, "completed");
    place.open_gate("hold");
    place.until_status(&held, "completed");
}

#[test]
fn a_task_that_is_not_due_makes_room_when_it_is() {
    let place = Place::new();
    let held = holder(&place, &["-u", "a"]);
    let new = enqueue(&place, &["-u", "a", "--in", "1h", "--preempt"]);
    assert!(place.ok(&["explain", &new]).out.contains("makes room for itself"));
    assert_eq!(place.json(&["explain", &new])["preempt"]["how"], json!("end"));
    place.ok(&["dispatch", "--once"]);
    assert_eq!(place.status(&held), "running");
    place.ok(&["edit", &new, "--in", "0"]);
    place.ok(&["dispatch", "--once"]);
    place.until_status(&new, "completed");
    assert_eq!(place.status(&held), "cancelled");
}

#[test]
fn a_wish_of_a_task_that_is_over_is_forgotten() {
    let place = Place::new();
    let held = holder(&place, &["-u", "a"]);
    let new = enqueue(&place, &["-u", "a", "--hold", "--preempt"]);
    assert_eq!(wishes(&place)[0]["task"], json!(new));
    place.ok(&["cancel", &new]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!((wishes(&place), place.status(&held)), (json!(null), "running".to_owned()));
    place.open_gate("hold");
    place.drain();
}

#[test]
fn a_run_makes_room_and_streams() {
    let place = Place::new();
    let held = holder(&place, &["-u", "a"]);
    let ran = place.ok(&["run", "-u", "a", "--preempt", "end", "--", "echo", "hi"]);
    assert_eq!((ran.out.as_str(), place.status(&held).as_str()), ("hi\n", "cancelled"));
}

#[test]
fn a_task_that_makes_room_for_itself_gets_no_further_slots_by_an_edit() {
    let place = Place::configured(&json!({ "lanes": { "build": { "max": 2 } } }));
    // Its rate keeps it, so that it waits with its wish.
    place.ok(&["lanes", "set", "build", "--max", "2", "--rate", "2/1h"]);
    let held = ["a", "b"].map(|user| place.enqueue(&["-u", user, "-l", "build", "--", "sleep", "600"]));
    place.ok(&["dispatch", "--once"]);
    held.iter().for_each(|id| place.until_status(id, "running"));
    let new = enqueue(&place, &["-l", "build", "--preempt", "requeue"]);
    let before = place.show(&new)["slots"].clone();
    let refused = place.luzia(&["edit", &new, "--slots", "2"]).coded(2);
    assert!(refused.err.contains("one slot of a lane, not for several"), "{}", refused.err);
    assert_eq!((&place.show(&new)["slot_count"], &place.show(&new)["slots"]), (&Value::Null, &before));
    place.ok(&["edit", &new, "--slots", "1"]);
    let plain = enqueue(&place, &["-l", "build"]);
    place.ok(&["edit", &plain, "--slots", "2"]);
    assert_eq!(place.events_named("preempted").len(), 0);
    assert!(held.iter().all(|id| place.status(id) == "running"));
    place.ok(&["cancel", &new, &plain, &held[0], &held[1], "--yes", "--grace", "0"]);
}

//! Tasks that wait for each other for ever, as nested runs through other lanes do: refused where that is known, and else
//! named by `explain` and `doctor`.

use crate::support::{Place, queue};
use serde_json::{Value, json};

/// Writes the link to a parent that waits, and lends nothing, into the record of a task, as two runs that start at once
/// leave it.
fn link(place: &Place, folder: &str, id: u64, parent: &str) {
    let path = place.state().join("spool").join(folder).join(format!("{id}.json"));
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let members = record.as_object_mut().unwrap();
    members.insert("parent".into(), parent.into());
    members.insert("waited_for".into(), true.into());
    members.insert("no_inherit".into(), true.into());
    members.insert("created_by_pid".into(), std::process::id().into());
    std::fs::write(&path, record.to_string()).unwrap();
}

/// Starts a task that waits at a gate.
fn start(place: &Place, name: &str, options: &[&str]) {
    place.gate(name);
    let script = format!("echo up > $PLACE/up.{name}; read _ < $PLACE/{name}");
    place.enqueue(&[options, &["--", "sh", "-c", &script]].concat());
    place.ok(&["dispatch"]);
    place.until_file(&format!("up.{name}"));
}

#[track_caller]
fn check_named(place: &Place) {
    let explained = place.json(&["explain", "3"]);
    let reason = &explained["reasons"][0];
    assert_eq!(reason["reason"], "Cycle", "{explained}");
    let mut members: Vec<&str> = reason["members"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(members.contains(&"task_3") && members.len() >= 2, "{reason}");
    let message = reason["message"].as_str().unwrap();
    members.sort_unstable();
    assert!(members.iter().all(|name| message.contains(name)), "{message}");
    // The first way out ends nobody's work.
    assert!(reason["next"][0].as_str().unwrap().starts_with("luzia explain "), "{reason}");
    assert_eq!(place.json(&["explain", "2"])["reasons"][0]["reason"], "Cycle");
    let doctor = place.luzia(&["doctor", "--json"]).coded(1).out;
    assert!(doctor.contains("wait for each other for ever") && doctor.contains("task_3"), "{doctor}");
    let shown = place.ok(&["explain", "3"]).out;
    assert!(shown.contains("these wait for each other for ever") && shown.contains("[Cycle]"), "{shown}");
}

#[test]
fn a_ring_through_three_lanes_is_named() {
    let place = Place::new();
    start(&place, "a", &["-u", "a", "-l", "x"]);
    start(&place, "b", &["-u", "b", "-l", "y"]);
    place.enqueue(&["-u", "c", "-l", "x", "--", "true"]);
    assert_ne!(place.json(&["explain", "3"])["reasons"][0]["reason"], "Cycle");
    link(&place, "running", 2, "task_1");
    assert_ne!(place.json(&["explain", "3"])["reasons"][0]["reason"], "Cycle", "nobody waits for task_3");
    link(&place, &format!("pending/5/{}", queue("c")), 3, "task_2");
    check_named(&place);
    place.open_gate("b");
    place.until_status("2", "completed");
    assert!(!place.ok(&["explain", "3"]).out.contains("Cycle"));
    place.open_gate("a");
    place.drain();
    assert_eq!(place.status("3"), "completed");
    // The link is a part of the record to its end.
    let done = find(&place.state().join("spool/done"), "3.json").expect("it is over");
    let record = std::fs::read_to_string(done).unwrap();
    assert!(record.contains("\"parent\":\"task_2\"") && record.contains("\"waited_for\":true"), "{record}");
}

fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    paths.into_iter().find_map(|path| match path.is_dir() {
        true => find(&path, name),
        false => path.ends_with(name).then_some(path),
    })
}

#[test]
fn a_ring_through_all_slots_is_named() {
    let place = Place::new();
    place.configure(&json!({ "slots": { "max": 2 } }));
    start(&place, "a", &["-u", "a"]);
    start(&place, "b", &["-u", "b"]);
    place.enqueue(&["-u", "c", "--", "true"]);
    link(&place, &format!("pending/5/{}", queue("c")), 3, "task_2");
    // One slot is held by a task that waits for nobody.
    assert_ne!(place.json(&["explain", "3"])["reasons"][0]["reason"], "Cycle");
    link(&place, "running", 2, "task_1");
    check_named(&place);
    place.open_gate("b");
    place.open_gate("a");
    place.drain();
    assert_eq!(place.status("3"), "completed");
}

#[test]
fn a_nested_run_that_would_close_a_ring_is_refused_and_queues_nothing() {
    // Three lanes, then all slots.
    for (slots, lanes) in [(4, ["-l x", "-l y", "-l x"]), (2, ["", "", ""])] {
        for verb in ["run", "enqueue --wait"] {
            let place = Place::new();
            place.configure(&json!({ "slots": { "max": slots } }));
            let ran = |option: &str| {
                let inner = format!("$LUZIA {verb} {option} -u c {} -- true", lanes[2]);
                let middle = format!("$LUZIA run {option} -u b {} -- sh -c '{inner}; echo code=$?'", lanes[1]);
                let outer: Vec<&str> = ["run", "-u", "a"].into_iter().chain(lanes[0].split_whitespace()).collect();
                place.ok(&[&outer, &["--", "sh", "-c", &middle][..]].concat())
            };
            let refused = ran("--no-inherit");
            assert!(refused.out.contains("code=1"), "{refused:#?}");
            assert!(refused.err.contains("wait for each other for ever"), "{refused:#?}");
            assert!(refused.err.contains("the new task") && refused.err.contains("task_2"), "{refused:#?}");
            assert!(refused.err.contains("try: luzia explain task_"), "{refused:#?}");
            assert!(place.luzia(&["show", "3"]).code == 66, "nothing was queued");
            // Each lends its lanes to the one it waits for.
            let lent = ran("");
            assert!(lent.out.contains("code=0"), "{lent:#?}");
        }
    }
}

#[test]
fn nested_runs_that_can_end_are_not_refused() {
    let place = Place::new();
    let inner = "$LUZIA run -u c -l z -- echo inner";
    let middle = format!("$LUZIA run -u b -l y -- sh -c '{inner}'");
    let ran = place.ok(&["run", "-u", "a", "-l", "x", "--", "sh", "-c", &middle]);
    assert!(ran.out.contains("inner"), "{ran:#?}");
    assert_eq!(place.show("3")["status"], "completed");
}

#[test]
fn who_wants_more_slots_than_can_be_free_closes_a_ring() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--max", "4"]);
    start(&place, "b", &["-u", "b", "-l", "build"]);
    // The parent keeps two of the four slots, so three are never free; two are, once the other task is over.
    let inner = |count: u32| format!("$LUZIA run --no-inherit -u c -l build --slots {count} -- true");
    let child = |count: u32| format!("$LUZIA run -u d -l other -- sh -c '{}'", inner(count));
    let script = format!("{} 2>$PLACE/err; echo $? >$PLACE/three; {}; echo $? >$PLACE/two", child(3), child(2));
    let parent = place.enqueue(&["-u", "a", "-l", "build", "--slots", "2", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!(place.until_file("three").trim(), "1");
    let refused = std::fs::read_to_string(place.path("err")).unwrap();
    assert!(refused.contains("wait for each other for ever") && refused.contains(&parent), "{refused}");
    crate::support::until("the one of two slots waits", || (place.luzia(&["show", "5"]).code == 0).then_some(()));
    assert_ne!(place.json(&["explain", "5"])["reasons"][0]["reason"], "Cycle");
    place.open_gate("b");
    assert_eq!(place.until_file("two").trim(), "0");
    place.until_status(&parent, "completed");
}

/// Runs luzia in a task or a `lock` that has said that it runs, and waits for the other one to say so.
fn crossed(own: &str, other: &str, script: &str) -> String {
    let exe = env!("CARGO_BIN_EXE_luzia");
    format!(
        "echo > $PLACE/up.{own}; until test -e $PLACE/up.{other}; do sleep 0.02; done; {exe} {script} 2> $PLACE/err.{own}; echo $? > $PLACE/code.{own}"
    )
}

/// The codes and errors of two that cross: at least one of them is refused, so both come to their end.
#[track_caller]
fn check_refused(place: &Place, ring: &str) {
    let codes = ["a", "b"].map(|name| place.until_file(&format!("code.{name}")).trim().to_owned());
    assert!(codes.contains(&"1".to_owned()) && codes.iter().all(|code| code == "0" || code == "1"), "{codes:?}");
    let refused = if codes[0] == "1" { "err.a" } else { "err.b" };
    let error = std::fs::read_to_string(place.path(refused)).unwrap();
    assert!(error.contains("wait for each other for ever") && error.contains(ring), "{error}");
}

#[test]
fn locks_in_tasks_that_would_close_a_ring_are_refused() {
    // S4.16, X27
    let place = Place::new();
    let run = |lane: &str, script: &str| place.enqueue(&["-l", lane, "--", "sh", "-c", script]);
    run("p", &crossed("a", "b", "lock -l q -- true"));
    run("q", &crossed("b", "a", "acquire lane:p --task x --timeout 60"));
    place.ok(&["dispatch"]);
    check_refused(&place, "waits for task_");
}

#[test]
fn locks_in_locks_that_would_close_a_ring_are_refused() {
    let place = Place::new();
    let one = place.start(&["lock", "-l", "p", "--", "sh", "-c", &crossed("a", "b", "lock -l q -- true")]);
    let other = place.start(&["lock", "-l", "q", "--", "sh", "-c", &crossed("b", "a", "lock -l p -- true")]);
    check_refused(&place, "waits for pid-");
    one.end().coded(0);
    other.end().coded(0);
}

#[test]
fn waits_that_would_close_a_ring_are_refused() {
    let place = Place::new();
    let run = |lane: &str, script: &str| place.enqueue(&["-l", lane, "--", "sh", "-c", script]);
    run("p", &crossed("a", "b", "wait 2"));
    run("q", &crossed("b", "a", "wait 1"));
    place.ok(&["dispatch"]);
    check_refused(&place, "waits for task_");
}

#[test]
fn a_wait_for_a_task_without_a_slot_for_it_is_refused() {
    let place = Place::configured(&json!({ "slots": { "max": 2 } }));
    let exe = env!("CARGO_BIN_EXE_luzia");
    for (own, other) in [("a", "b"), ("b", "a")] {
        let script = crossed(own, other, "wait $ID");
        let script = script.replace(
            &format!("{exe} wait"),
            &format!("ID=$({exe} enqueue --no-inherit -l subagent -- true); {exe} wait"),
        );
        place.enqueue(&["-u", own, "--", "sh", "-c", &script]);
    }
    place.ok(&["dispatch"]);
    check_refused(&place, "waits for task_");
}

#[test]
fn a_ring_that_closes_later_is_named_for_each_member_and_its_lane() {
    let place = Place::new();
    let exe = env!("CARGO_BIN_EXE_luzia");
    // Task 2 waits for the queued task 3, which comes to need task 1 only by an edit.
    place.ok(&["acquire", "lane:z", "--task", "other"]);
    let waits = |own: &str, id: u64| format!("echo > $PLACE/up.{own}; {exe} wait {id}");
    place.enqueue(&["-l", "p", "--", "sh", "-c", &waits("a", 2)]);
    place.enqueue(&["-l", "q", "--", "sh", "-c", &waits("b", 3)]);
    place.enqueue(&["-l", "z", "--", "true"]);
    place.ok(&["dispatch"]);
    for name in ["up.a", "up.b"] {
        place.until_file(name);
    }
    let awaited = place.state().join("spool/awaited");
    crate::support::until("both wait", || (std::fs::read_dir(&awaited).ok()?.count() == 2).then_some(()));
    place.ok(&["doctor"]);
    // A pass may have task 3 in its hands; the answer is then 75, to try again.
    crate::support::until("the edit", || (place.luzia(&["edit", "3", "-l", "p"]).code == 0).then_some(()));
    for member in ["1", "2", "3", "lane:p", "lane:q"] {
        let why = place.json(&["explain", member]);
        assert_eq!(why["reasons"][0]["reason"], "Cycle", "{member}: {why}");
    }
    let doctor = place.luzia(&["doctor", "--json"]).coded(1).out;
    assert!(doctor.contains("task_1 waits for task_2, which waits for task_3"), "{doctor}");
    place.ok(&["cancel", "3"]);
    place.until_status("1", "failed");
    assert!(!awaited.exists() || std::fs::read_dir(&awaited).unwrap().count() == 0);
}

/// A `luzia lock` whose command waits for a task that needs the lane of that `lock`.
#[track_caller]
fn check_refused_in(place: &Place, outer: &[&str], inner: &str) {
    let ran = place.luzia(outer);
    assert!(ran.out.contains("code=1"), "{outer:?} {inner}: {ran:#?}");
    // `logs` prints both streams of the task on one.
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("wait for each other for ever: ") && said.contains("pid-"), "{inner}: {ran:#?}");
}

#[test]
fn a_ring_through_a_task_for_which_a_lock_waits_is_refused() {
    let exe = env!("CARGO_BIN_EXE_luzia");
    for inner in ["lock -l p -- true", "run -l p -- true", "acquire lane:p --task x --timeout 60"] {
        let place = Place::new();
        let script = format!("{exe} {inner}; echo code=$?");
        check_refused_in(&place, &["lock", "-l", "p", "--", exe, "run", "-l", "q", "--", "sh", "-c", &script], inner);
        // So it is inside a task, and for the wait for a task that was queued before.
        let lock =
            ["run", "-u", "a", "--", exe, "lock", "-l", "p", "--", exe, "run", "-l", "q", "--", "sh", "-c", &script];
        check_refused_in(&place, &lock, inner);
        std::fs::write(place.path("script"), &script).unwrap();
        let follow = format!(
            "logs -f $id & until test -d $PLACE/state/spool/awaited; do sleep 0.02; done; {exe} dispatch; wait"
        );
        for wait in ["attach $id", "wait --stream $id", &follow] {
            let waits = format!("id=$({exe} enqueue -l q -- sh $PLACE/script); {exe} {wait}");
            check_refused_in(&place, &["lock", "-l", "p", "--", "sh", "-c", &waits], inner);
            let _ = std::fs::remove_dir(place.state().join("spool/awaited"));
        }
        place.drain();
        assert_eq!(place.json(&["list-locks"])["items"], json!([]), "{inner}");
    }
}

#[test]
fn a_run_in_a_lock_that_would_close_a_ring_is_refused() {
    let place = Place::new();
    let one = place.start(&["lock", "-l", "p", "--", "sh", "-c", &crossed("a", "b", "run -l q -- true")]);
    let other = place.start(&["lock", "-l", "q", "--", "sh", "-c", &crossed("b", "a", "lock -l p -- true")]);
    check_refused(&place, "waits for pid-");
    one.end().coded(0);
    other.end().coded(0);
}

#[test]
fn a_task_in_a_lock_that_can_end_is_not_refused() {
    let place = Place::new();
    let exe = env!("CARGO_BIN_EXE_luzia");
    let script = format!("{exe} lock -l r -- {exe} lock -l p -n -- true; echo code=$?");
    let ran = place.ok(&["lock", "-l", "p", "--", exe, "run", "-l", "q", "--", "sh", "-c", &script]);
    assert!(ran.out.contains("code=75"), "without a wait there is no ring: {ran:#?}");
    place.ok(&["lanes", "set", "p", "--max", "2"]);
    let ran =
        place.ok(&["lock", "-l", "p", "--", exe, "run", "-l", "q", "--", exe, "lock", "-l", "p", "--", "echo", "two"]);
    assert_eq!(ran.out, "two\n");
    let awaited = place.state().join("spool/awaited");
    assert!(!awaited.exists() || std::fs::read_dir(&awaited).unwrap().count() == 0);
}

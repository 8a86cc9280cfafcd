//! Who holds a lane, since when, whether it lives, and the command that would change it (S0.35, S0.37, P7).

use crate::support::Place;

#[test]
fn a_task_that_waits_names_the_holder_and_the_command_that_frees_it() {
    // S0.35, S0.37
    let place = Place::new();
    let lock_id = place.ok(&["acquire", "thread:7", "--task", "100"]).line();
    let id = place.enqueue(&["-u", "alice", "--thread", "7", "--", "true"]);
    let told = place.ok(&["explain", &id]).out;
    for part in ["task_100", "held", "expires_at 20", &format!("luzia release thread:7 --lock-id {lock_id}")] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = place.json(&["explain", &id]);
    let full = crate::support::with(&json["reasons"], "reason", "LaneFull");
    let lock = &full[0]["lock"];
    assert_eq!((lock["holder"].as_str(), lock["alive"].as_bool()), (Some("task_100"), Some(true)), "{json}");
    assert!(lock["age_ms"].is_u64() && lock["expires_at"].is_string());
    // The first way on harms nobody (P10); the holder gives the lease back.
    assert_eq!(full[0]["next"], serde_json::json!(["luzia list-locks"]), "{json}");
    assert!(full[0].get("override").is_none(), "{json}");
    place.ok(&["list-locks"]);
    place.ok(&["release", "thread:7", "--lock-id", &lock_id]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_lane_tells_its_holder_its_end_and_its_release() {
    // S0.37
    let place = Place::new();
    let lock_id = place.ok(&["acquire", "alice", "--task", "t1"]).line();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let told = place.ok(&["explain", "alice"]).out;
    for part in ["is held by t1", "expires_at 20", &format!("--lock-id {lock_id}"), "1 pending, first task_1"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The release starts the task that waits.
    place.ok(&["release", "alice"]);
    place.until_status("task_1", "completed");
    crate::support::until("it is free", || {
        place.ok(&["explain", "alice"]).out.contains("\"user:alice\" is free").then_some(())
    });
}

#[test]
fn a_living_task_is_to_be_waited_for_and_not_ended() {
    let place = Place::new();
    place.gate("gate");
    let run = place.start(&["run", "-u", "alice", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let waiting = place.enqueue(&["-u", "alice", "--", "true"]);
    let told = place.ok(&["explain", &waiting]).out;
    assert!(told.contains("UserLockHeld") && told.contains("try: luzia wait task_1"), "{told}");
    assert!(!told.contains("luzia cancel") && !told.contains("force"), "{told}");
    let running = place.ok(&["explain", "task_1"]).out;
    assert!(running.contains("alive"), "{running}");
    // A refused acquire is as helpful, and what it proposes is no mistake to follow.
    let refused = place.luzia(&["acquire", "alice", "--task", "t9"]).coded(75).err;
    assert!(refused.contains("task_1") && refused.contains("luzia explain user:alice"), "{refused}");
    assert!(!refused.contains("luzia release user:alice --lock-id"), "{refused}");
    place.open_gate("gate");
    run.end().coded(0);
}

#[test]
fn reading_verbs_leave_no_trace() {
    let place = Place::new();
    for verb in [&["check", "alice"][..], &["list-locks"], &["list"], &["status"], &["explain", "alice"]] {
        place.ok(verb);
        assert!(!place.state().exists(), "{verb:?}");
    }
    place.luzia(&["show", "1"]).coded(66);
    place.luzia(&["explain", "task_1"]).coded(66);
    assert!(!place.state().exists());
    place.ok(&["acquire", "alice", "--task", "t1"]);
    let before = place.snapshot();
    place.ok(&["list-locks"]);
    place.luzia(&["check", "alice"]).coded(75);
    place.ok(&["status"]);
    place.assert_unchanged(&before, "it");
}

#[test]
fn a_thread_tells_how_many_wait_in_it_and_who_is_first() {
    let place = Place::new();
    place.ok(&["acquire", "thread:7", "--task", "100"]);
    for user in ["alice", "bob"] {
        place.enqueue(&["-u", user, "--thread", "7", "--", "true"]);
    }
    let told = place.json(&["explain", "thread:7"]);
    assert_eq!((&told["pending"], &told["first"]), (&2.into(), &"task_1".into()), "{told}");
    assert_eq!(told["reasons"][0]["reason"], "LaneFull", "{told}");
    assert!(place.ok(&["explain", "thread:7"]).out.contains("2 pending, first task_1"));
}

#[test]
fn a_command_that_would_help_can_be_typed_whatever_a_name_holds() {
    let place = Place::new();
    for user in ["a b", "it's", "$(touch x)", "ä"] {
        place.ok(&["acquire", "--task", user, "--", user]);
        let id = place.enqueue(&["-u", user, "--", "true"]);
        let why = place.json(&["explain", &id]);
        assert_eq!(why["reasons"][0]["next"], serde_json::json!(["luzia list-locks"]));
        let told = place.ok(&["explain", &id]).out;
        let note = told.lines().find_map(|line| line.trim().strip_prefix("its holder gives it back with: "));
        let command = note.unwrap().replacen("luzia", "$LUZIA", 1);
        place.spawn(&mut place.shell(&command)).end().coded(0);
        assert_ne!(place.json(&["explain", &id])["reasons"][0]["reason"], "UserLockHeld", "{command}");
    }
}

#[test]
fn a_task_that_only_lacks_a_pass_is_told_so_while_others_run() {
    // P7: a `run` whose own task runs starts nothing for others, and neither does a supervisor before the end.
    let place = Place::new();
    place.gate("gate");
    let run = place.start(&["run", "-u", "alice", "--shell", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let same = place.enqueue(&["-u", "alice", "--", "true"]);
    let told = |verb: &[&str]| place.ok(verb);
    assert_eq!(place.json(&["status"])["needs_pass"], serde_json::Value::Null);
    assert!(told(&["explain", &same]).out.contains("UserLockHeld"));
    let other = place.enqueue(&["-u", "bob", "--", "true"]);
    assert!(told(&["explain", &other]).out.contains("NoDispatcher"));
    assert!(told(&["status"]).err.contains("task_3 could start, but nothing is running"));
    assert_eq!(place.json(&["status"])["needs_pass"], "task_3");
    assert!(told(&["doctor"]).out.contains("task_3 could start"));
    // A waiter for a turn makes passes, for all.
    let waiting = place.start(&["run", "-u", "alice", "--", "true"]);
    place.until_status(&other, "completed");
    assert_eq!(place.json(&["status"])["needs_pass"], serde_json::Value::Null);
    place.open_gate("gate");
    run.end().coded(0);
    waiting.end().coded(0);
}

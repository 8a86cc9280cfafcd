//! A task that a request has met by its key: an interrupt ends the wait of that request, and not the task.

use crate::support::{Place, Running, until};
use rustix::process::Signal;

const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// A `run` with the key k, of an agent or of a person.
fn meet(place: &Place, is_agent: bool, options: &[&str]) -> Running {
    let variables = if is_agent { "CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=other" } else { "-u CLAUDECODE" };
    let script = format!("exec env --default-signal {variables} \"$LUZIA\" run -u a --key k \"$@\" -- false");
    place.spawn(place.shell(&script).arg("luzia").args(options))
}

fn until_met(run: &Running) {
    until("it says whom it has met", || run.err().contains("has that key already").then_some(()));
}

/// Waits until somebody holds the lock that proves a wait for a task.
fn until_followed(place: &Place, task: usize) {
    use rustix::fs::{FlockOperation, flock};
    let path = place.state().join(format!("spool/followed/{task}"));
    let is_held = |file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    until("it waits", || std::fs::File::open(&path).is_ok_and(is_held).then_some(()));
}

#[test]
fn an_interrupted_run_ends_no_task_that_it_only_met() {
    for state in ["running", "pending", "not due"] {
        let place = Place::new();
        place.gate("go");
        let script = "echo up > $PLACE/up; read _ < $PLACE/go";
        let options: &[&str] = if state == "not due" { &["--in", "1h"] } else { &[] };
        if state == "pending" {
            place.enqueue(&["-u", "a", "--shell", script]);
            place.ok(&["dispatch"]);
            place.until_file("up");
        }
        let id = place.enqueue(&[&["-u", "a", "--key", "k"], options, &["--shell", script]].concat());
        if state == "running" {
            place.ok(&["dispatch"]);
            place.until_file("up");
        }
        let before = place.status(&id);
        for (is_agent, (signal, code)) in [false, true].into_iter().flat_map(|one| SIGNALS.map(|two| (one, two))) {
            let run = meet(&place, is_agent, &[]);
            until_met(&run);
            run.signal(signal);
            let ran = run.end().coded(code);
            assert_eq!(place.status(&id), before, "{state}, agent {is_agent}, {code}: {}", ran.err);
            let said = if state == "running" { "goes on" } else { "still queued as" };
            assert!(ran.err.contains(said) && ran.err.contains(&id), "{state}: {}", ran.err);
        }
        // Nor does a reader that goes away.
        assert!(place.events_named("cancel_requested").is_empty() && place.events_named("cancelled").is_empty());
        place.ok(&["cancel", "--yes", &id]);
    }
}

#[test]
fn the_maker_of_a_task_cancels_it_with_the_code_of_the_signal() {
    let place = Place::new();
    for (n, (signal, code)) in SIGNALS.into_iter().enumerate() {
        let up = format!("up{n}");
        let run = place.start_attentive(&["run", "-u", "a", "--shell", &format!("echo > $PLACE/{up}; exec sleep 100")]);
        until("it runs", || place.path(&up).exists().then_some(()));
        run.signal(signal);
        let ran = run.end().coded(code);
        assert!(ran.err.contains("cancelled (interrupted)"), "{}", ran.err);
        assert_eq!(place.status(&format!("task_{}", n + 1)), "cancelled");
    }
}

#[test]
fn the_maker_of_a_task_only_leaves_while_another_caller_waits_by_its_key() {
    let place = Place::new();
    place.gate("go");
    let script = "echo up > $PLACE/up; read _ < $PLACE/go";
    for (n, (waiter, signal, code)) in [
        (&["run", "-u", "a", "--key", "k", "--", "false"][..], Signal::INT, 130),
        (&["run", "-u", "a", "--key", "k", "--on-conflict", "join", "--", "false"], Signal::TERM, 143),
        (&["enqueue", "--wait", "-u", "a", "--key", "k", "--", "false"], Signal::HUP, 129),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("task_{}", n + 1);
        let maker = place.start_attentive(&["run", "-u", "a", "--key", "k", "--shell", script]);
        place.until_file("up");
        let waiter = place.start(waiter);
        until_met(&waiter);
        until_followed(&place, n + 1);
        maker.signal(signal);
        let ran = maker.end().coded(code);
        assert!(ran.err.contains(&format!("{id} goes on; others wait for it")), "{}", ran.err);
        assert_eq!(place.status(&id), "running");
        std::fs::remove_file(place.path("up")).unwrap();
        place.open_gate("go");
        waiter.end().coded(0);
        assert_eq!(place.status(&id), "completed");
    }
    // Somebody who waited and was killed does not count.
    let maker = place.start_attentive(&["run", "-u", "a", "--key", "k", "--shell", script]);
    place.until_file("up");
    let mut waiter = place.start(&["run", "-u", "a", "--key", "k", "--", "false"]);
    until_followed(&place, 4);
    waiter.kill();
    maker.signal(Signal::INT);
    maker.end().coded(130);
    assert_eq!(place.status("task_4"), "cancelled");
    assert_eq!(std::fs::read_dir(place.state().join("spool/followed")).unwrap().count(), 0);
}

#[test]
fn a_run_that_does_not_wait_leaves_a_waiting_task_with_its_key_in_the_queue() {
    let place = Place::new();
    place.gate("go");
    let first = place.enqueue(&["-u", "a", "--shell", "echo up > $PLACE/up; read _ < $PLACE/go"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let id =
        place.enqueue(&["-u", "a", "--key", "k", "--shell", &format!("read _ < {}; echo mine", place.gate("more"))]);
    let asked = ["run", "-u", "a", "--key", "k", "--no-wait", "--", "false"];
    let ran = place.luzia(&asked).coded(75);
    assert!(ran.err.contains(&format!("{id} has that key already and is pending, which has not started")), "{ran:?}");
    assert_eq!(place.status(&id), "pending");
    let late = place.enqueue(&["-u", "b", "--key", "late", "--in", "1h", "--", "true"]);
    place.luzia(&["run", "-u", "b", "--key", "late", "--no-wait", "--", "false"]).coded(75);
    assert_eq!(place.status(&late), "pending");
    place.open_gate("go");
    place.ok(&["wait", &first]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    // What runs is followed.
    let run = place.start(&asked);
    until_met(&run);
    place.open_gate("more");
    assert_eq!(run.end().coded(0).out, "mine\n");
}

#[test]
fn an_interrupted_batch_leaves_what_it_only_met() {
    let place = Place::new();
    place.gate("go");
    let id = place.enqueue(&["-u", "a", "--key", "k", "--shell", "echo up > $PLACE/up; read _ < $PLACE/go"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let lines =
        "{\"user\":\"a\",\"key\":\"k\",\"command\":[\"true\"]}\n{\"user\":\"b\",\"command\":[\"sleep\",\"100\"]}\n";
    std::fs::write(place.path("batch"), lines).unwrap();
    let run = place.start_attentive(&["run", "--from", &place.text("batch")]);
    until("its own task is queued", || place.ok(&["list", "-o", "name"]).out.contains("task_2").then_some(()));
    place.until_status("task_2", "running");
    run.signal(Signal::TERM);
    let ran = run.end().coded(143);
    assert!(ran.err.contains(&format!("{id} goes on")), "{}", ran.err);
    assert_eq!((place.status(&id), place.status("task_2")), ("running".into(), "cancelled".into()));
    place.open_gate("go");
    place.ok(&["wait", &id]);
}

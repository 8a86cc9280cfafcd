//! Tasks that wait for a moment or for another task, and tasks that try again (--in, --after, --start-within,
//! --retries, S2.20, S3.1).

use crate::support::Place;
use serde_json::json;
use std::time::Duration;

fn reason(place: &Place, id: &str) -> String {
    place.show(id)["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_delayed_task_starts_when_it_is_due_and_not_before() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--in", "400ms", "--", "true"]);
    assert_eq!(reason(&place, &id), "Delayed");
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "pending");
    let other = place.enqueue(&["-u", "alice", "--", "true"]);
    place.drain();
    assert_eq!((place.status(&id), place.status(&other)), ("completed".into(), "completed".into()));
    let task = place.show(&id);
    assert!(task["started_at"].as_str() >= task["due_at"].as_str(), "{task}");
    assert!(place.show(&other)["started_at"].as_str() < task["started_at"].as_str());
}

#[test]
fn a_moment_in_the_past_is_now_and_one_far_away_stays() {
    let place = Place::new();
    let past = place.enqueue(&["-u", "alice", "--at", "2020-01-01T00:00:00Z", "--", "true"]);
    let zone = place.enqueue(&["-u", "bob", "--at", "2099-01-01T00:00:00+02:00", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&past, "completed");
    assert_eq!(place.show(&zone)["due_at"], "2098-12-31T22:00:00.000Z");
    let told = place.ok(&["explain", &zone]).out;
    assert!(told.contains("Delayed") && told.contains("2098-12-31"), "{told}");
}

#[test]
fn a_task_comes_after_others_and_not_when_they_fail() {
    let place = Place::new();
    let first = place.enqueue(&["-u", "a", "--", "true"]);
    let bad = place.enqueue(&["-u", "b", "--", "false"]);
    let good_end = place.enqueue(&["-u", "c", "--after", &first, "--", "true"]);
    let chain = place.enqueue(&["-u", "c", "--after", &good_end, "--after", &first, "--", "true"]);
    let no_end = place.enqueue(&["-u", "d", "--after", &first, "--after", &bad, "--", "true"]);
    assert_eq!(reason(&place, &chain), "After");
    place.drain();
    for id in [&good_end, &chain] {
        assert_eq!(place.status(id), "completed");
    }
    assert!(place.show(&good_end)["started_at"].as_str() >= place.show(&first)["completed_at"].as_str());
    assert_eq!(place.status(&no_end), "cancelled");
    place.luzia(&["enqueue", "-u", "a", "--after", &bad, "--", "true"]).coded(2);
    place.luzia(&["enqueue", "-u", "a", "--after", "task_999", "--", "true"]).coded(66);
    let done = place.enqueue(&["-u", "a", "--after", &first, "--", "true"]);
    place.drain();
    assert_eq!(place.status(&done), "completed");
}

#[test]
fn a_chain_that_is_retried_runs_in_its_order_again() {
    let place = Place::new();
    let says = |what: &str| format!("echo {what} >> $PLACE/said; test -e $PLACE/good");
    let first = place.enqueue(&["-u", "a", "--shell", &says("first")]);
    let second = place.enqueue(&["-u", "b", "--after", &first, "--shell", &says("second")]);
    let third = place.enqueue(&["-u", "c", "--after", &second, "--shell", &says("third")]);
    place.drain();
    assert_eq!(place.status(&third), "cancelled");
    // Alone it could only be cancelled again.
    let before = place.snapshot();
    let refused = place.luzia(&["--json", "retry", &second]).coded(1).err;
    assert!(refused.contains("DEPENDENCY_FAILED") && refused.contains("luzia retry task_1 task_2"), "{refused}");
    let refused = place.luzia(&["retry", &third]).coded(1).err;
    assert!(refused.contains("luzia retry task_1 task_2 task_3"), "{refused}");
    place.assert_unchanged(&before, "a refused retry");
    std::fs::write(place.path("good"), "").unwrap();
    // Also the one that completed meanwhile runs again, and those after it wait for it.
    for _ in 0..2 {
        place.ok(&["retry", &third, &second, &first]);
        assert_eq!((reason(&place, &second), reason(&place, &third)), ("After".into(), "After".into()));
        place.drain();
    }
    assert_eq!(
        crate::support::lines(&place.path("said")),
        ["first", "first", "second", "third", "first", "second", "third"]
    );
    // A task it came after that was over already when it was queued is one of those, too.
    let late = place.enqueue(&["-u", "d", "--after", &third, "--", "true"]);
    place.drain();
    place.ok(&["retry", &third, &late]);
    assert_eq!(place.show(&late)["after"], json!([third]));
    place.drain();
}

#[test]
fn a_retry_may_leave_the_order_and_keeps_a_moment_that_has_not_come() {
    let place = Place::new();
    let bad = place.enqueue(&["-u", "a", "--", "false"]);
    let after = place.enqueue(&["-u", "b", "--after", &bad, "--", "true"]);
    let later = place.enqueue(&["-u", "c", "--in", "1h", "--", "true"]);
    place.ok(&["cancel", &later]);
    place.drain();
    place.ok(&["retry", "--no-after", &after]);
    assert_eq!(place.show(&after)["comes_after"], json!([]));
    place.ok(&["retry", &later]);
    assert_eq!(reason(&place, &later), "Delayed");
    place.ok(&["dispatch"]);
    place.until_status(&after, "completed");
    place.ok(&["retry", &after]);
    place.until_status(&after, "pending");
}

#[test]
fn a_task_that_could_not_start_in_time_is_given_up() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let id = place.enqueue(&["-u", "alice", "--start-within", "100ms", "--", "true"]);
    let waiting = place.start(&["wait", &id]);
    place.drain();
    assert_eq!(place.status(&id), "timeout");
    waiting.end().coded(124);
    assert_eq!(place.show(&id)["starts"], 0);
    let quick = place.enqueue(&["-u", "bob", "--start-within", "1h", "--", "true"]);
    place.drain();
    assert_eq!(place.status(&quick), "completed");
}

#[test]
fn a_timer_that_is_due_fires_at_the_next_command_and_starts_nothing() {
    // S1.51
    let place = Place::new();
    for verb in [
        &["list"][..],
        &["status"],
        &["show", "1"],
        &["explain", "1"],
        &["logs", "1"],
        &["list-locks"],
        &["enqueue", "-u", "other", "--", "true"],
        &["wait", "1", "--timeout", "1ms"],
        &["cancel", "4"],
        &["retry", "1"],
        &["cleanup-stale"],
    ] {
        let _ = std::fs::remove_dir_all(place.state());
        place.enqueue(&["-u", "zoe", "--in", "1h", "--", "true"]);
        let late = place.enqueue(&["-u", "alice", "--start-within", "400ms", "--", "true"]);
        place.enqueue(&["-u", "bob", "--in", "400ms", "--", "true"]);
        let next = place.enqueue(&["-u", "carol", "--after", &late, "--", "true"]);
        let (parked, ended) = (place.state().join("spool/parked/0/3.json"), place.state().join("spool/done"));
        assert!(parked.exists() && std::fs::read_dir(&ended).unwrap().next().is_none(), "{verb:?}");
        std::thread::sleep(Duration::from_millis(450));
        place.luzia(verb);
        let over = |id: &str| {
            let mut days = std::fs::read_dir(&ended).unwrap();
            days.any(|day| day.unwrap().path().join(format!("{}.json", id.strip_prefix("task_").unwrap())).exists())
        };
        assert!(over(&late) && over(&next), "{verb:?} ends the one that is too late, and what comes after it");
        assert!(!parked.exists(), "{verb:?} puts the one that is due into its lane");
        assert!(place.state().join("spool/parked/0/1.json").exists(), "{verb:?} leaves what is not due");
        assert_eq!(place.status(&late), "timeout");
        assert!(place.events_named("started").is_empty(), "{verb:?} starts nothing");
    }
}

#[test]
fn a_wait_sees_the_end_of_a_task_that_is_too_late() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--start-within", "300ms", "--", "true"]);
    // A wait that did not see it would outlast the patience of this test.
    place.luzia(&["wait", &id, "--timeout", "10m"]).coded(124);
    assert_eq!(place.status(&id), "timeout");
}

#[test]
fn a_timer_that_is_due_fails_no_verb_that_only_reads() {
    if !crate::support::is_root() {
        return crate::support::skip("a_timer_that_is_due_fails_no_verb_that_only_reads", "root");
    }
    let place = Place::new();
    let program = place.open_to_others();
    std::fs::create_dir(place.path("own")).unwrap();
    std::os::unix::fs::chown(place.path("own"), Some(65534), Some(65534)).unwrap();
    let as_nobody = |verb: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&program).args(verb);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        crate::support::at_home(&mut command, &place.path("home"));
        place.spawn(command.env("LUZIA_STATE_DIR", place.path("own/state"))).end()
    };
    as_nobody(&["enqueue", "-u", "alice", "--start-within", "300ms", "--", "true"]).coded(0);
    as_nobody(&["enqueue", "-u", "bob", "--in", "300ms", "--", "true"]).coded(0);
    std::thread::sleep(Duration::from_millis(350));
    let script = "cd \"$0\" && chmod -R a-w spool run";
    let made = std::process::Command::new("sh").args(["-c", script]).arg(place.path("own/state")).status().unwrap();
    assert!(made.success());
    for verb in [&["list"][..], &["status"], &["show", "1"], &["explain", "2"]] {
        as_nobody(verb).coded(0);
    }
    assert!(place.path("own/state/spool/parked/0/2.json").exists());
}

#[test]
fn a_failed_attempt_is_repeated_as_often_as_asked() {
    // S2.20, P3
    let place = Place::new();
    let script = "echo $LUZIA_ATTEMPT >> $PLACE/attempts; exit 4";
    let id = place.enqueue(&["-u", "alice", "--retries", "1", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    let due = crate::support::until("it is queued again", || {
        let task = place.show(&id);
        (task["attempt"] == 2 && task["status"] == "pending").then(|| task["due_at"].clone())
    });
    assert!(due.is_string());
    assert_eq!(reason(&place, &id), "Delayed");
    // The pause belongs to the task alone: its user goes on meanwhile.
    place.ok(&["run", "-u", "alice", "--", "true"]);
    place.luzia(&["dispatch", "--drain"]).coded(1);
    assert_eq!(crate::support::lines(&place.path("attempts")), ["1", "2"]);
    let task = place.show(&id);
    assert_eq!((&task["status"], &task["starts"], &task["exit_code"]), (&json!("failed"), &json!(2), &json!(4)));
}

#[test]
fn a_time_limit_spends_no_further_attempt() {
    let place = Place::new();
    let args = ["run", "-u", "alice", "--retries", "3", "--timeout", "100ms", "--", "sleep", "1000"];
    place.luzia(&args).coded(124);
    assert_eq!(place.show("1")["starts"], 1);
}

#[test]
fn a_time_limit_counts_from_the_start_and_not_from_the_queue() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "elsewhere"]);
    let id = place.enqueue(&["-u", "alice", "--timeout", "2s", "--in", "10ms", "--", "true"]);
    let drain = place.start(&["dispatch", "--drain"]);
    crate::support::until("it is due", || (reason(&place, &id) == "UserLockHeld").then_some(()));
    place.ok(&["release", "alice"]);
    drain.end().coded(0);
    assert_eq!(place.status(&id), "completed");
}

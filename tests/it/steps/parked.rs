//! `await --park`: the run ends, and the command is started again when its event has come (S1.9, S1.18, S1.29–S1.34, S1.40,
//! S1.41, X3, X16).

use crate::support::{Place, kill_all, lines, processes_in, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Starts a script as a task and waits until it stands in `waiting` without a process; its id.
#[track_caller]
fn parked(place: &Place, options: &[&str], text: &str) -> String {
    let id = dispatched(place, options, text);
    until_parked(place, &id);
    id
}

/// A wait of a moment may be over before anybody sees it.
fn dispatched(place: &Place, options: &[&str], text: &str) -> String {
    let id = place.enqueue(&[options, &["--", "sh", "-ec", text]].concat());
    place.ok(&["dispatch"]);
    id
}

#[track_caller]
fn until_parked(place: &Place, id: &str) {
    let number = id.trim_start_matches("task_");
    let (record, run) =
        (place.state().join(format!("spool/waiting/{number}.json")), place.state().join("run").join(number));
    until("it waits without a process", || (record.exists() && !run.exists()).then_some(()));
}

fn kind_of(place: &Place, stem: &str) -> Value {
    let text = std::fs::read(place.state().join(format!("locks/{stem}.json"))).unwrap_or_default();
    serde_json::from_slice::<Value>(&text).map_or(Value::Null, |sidecar| sidecar["kind"].clone())
}

fn said(place: &Place, id: &str) -> String {
    place.luzia(&["logs", id]).out
}

#[test]
fn the_run_ends_and_begins_again_with_the_event() {
    let place = Place::new();
    let text = "echo begun; \"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/steps'; \
                a=$(\"$LUZIA\" await response --park); echo got $a $LUZIA_VAR_lastResponse";
    let id = parked(&place, &["-u", "alice", "--thread", "7"], text);
    let shown = place.show(&id);
    assert_eq!(
        (&shown["status"], &shown["waiting_for"], &shown["parked"]),
        (&json!("waiting"), &json!("response"), &json!(true))
    );
    assert!(shown["waiting_until"].is_string() && shown["supervisor_pid"].is_null(), "{shown:#}");
    assert_eq!(place.ok(&["list", "--columns", "ran,status", "--no-header"]).line(), "-    waiting");
    assert_eq!((kind_of(&place, "user_alice"), kind_of(&place, "thread_7")), (json!("wait"), json!("wait")));
    assert_eq!(kind_of(&place, "lane_global"), Value::Null);
    assert_eq!(place.ok(&["status", "--capacity", "--json"]).json()["slots"]["used"], 0);
    place.luzia(&["check", "alice"]).coded(75);
    place.ok(&["cleanup-stale", "1"]);
    place.luzia(&["check", "alice"]).coded(75);
    // What does not match, and what comes for another thread, changes nothing.
    place.ok(&["emit", "TEST_COMPLETED", "--task", &id]);
    place.luzia(&["emit", "MESSAGE_RECEIVED", "--thread", "8"]).coded(1);
    assert_eq!(place.status(&id), "waiting");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--thread", "7", "--data", "{\"text\":\"yes\"}"]);
    place.until_status(&id, "completed");
    let out = said(&place, &id);
    assert_eq!((out.matches("begun").count(), out.contains("got yes yes\n")), (2, true), "{out}");
    assert_eq!(lines(&place.path("steps")), ["one"]);
    let shown = place.show(&id);
    assert_eq!((&shown["starts"], &shown["attempt"]), (&json!(2), &json!(1)), "{shown:#}");
    place.luzia(&["check", "alice"]).coded(0);
    assert!(std::fs::read_dir(place.state().join("spool/timers")).unwrap().next().is_none(), "no timer is left");
}

#[test]
fn explain_names_the_event_that_would_match_and_a_time_that_has_run_out() {
    let place = Place::new();
    let text = "\"$LUZIA\" await response --park --match from=ana --match \"title=it's\"";
    let id = parked(&place, &["-u", "alice"], text);
    let told = place.ok(&["explain", &id]).out;
    let line = told.lines().find_map(|line| line.trim().strip_prefix("to make it come: luzia ")).unwrap();
    place.spawn(&mut place.shell(&format!("\"$LUZIA\" {line}"))).end().coded(0);
    place.until_status(&id, "completed");
    let text = "\"$LUZIA\" await response --park --timeout 3s --on-timeout continue --timeout-do true";
    let id = parked(&place, &["-u", "bob"], text);
    until("its time is over", || place.ok(&["explain", &id]).out.contains("its time has run out").then_some(()));
    place.ok(&["dispatch", "--drain"]);
    place.until_status(&id, "completed");
}

/// The time in which a task waits for an event is no wait for its lanes.
#[test]
fn a_wait_for_an_event_does_not_count_as_a_wait_for_lanes() {
    let place = Place::new();
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    place.until_status(&id, "completed");
    let ms = |event: &Value| event["boot_ms"].as_u64().unwrap();
    let (parked, locked) = (place.events_named("parked"), place.events_named("locked"));
    let waited = locked[1]["data"]["waited_ms"].as_u64().unwrap();
    assert!(waited + 1000 < ms(&locked[1]) - ms(&parked[0]), "{locked:#?}");
}

#[test]
fn an_event_that_came_before_keeps_the_run() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", "echo begun; \"$LUZIA\" await test --park"]);
    place.ok(&["emit", "TEST_COMPLETED", "--task", &id]);
    place.drain();
    assert_eq!((place.status(&id), said(&place, &id).matches("begun").count()), ("completed".into(), 1));
}

#[test]
fn a_blocked_wait_outlives_the_death_of_everything() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/steps'; a=$(\"$LUZIA\" await response); echo got $a";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let until_at = place.show(&id)["waiting_until"].clone();
    kill_all(&place);
    // Nothing of luzia runs; the event itself brings the task on.
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"late\""]);
    place.until_status(&id, "completed");
    assert!(said(&place, &id).contains("got late\n"), "{}", said(&place, &id));
    assert_eq!(lines(&place.path("steps")), ["one"]);
    assert_eq!(place.show(&id)["attempt"], 1);
    // Here a pass comes before the event: the lane is kept, also past a cleaner.
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    kill_all(&place);
    place.ok(&["dispatch", "--once"]);
    until_parked(&place, &id);
    assert_ne!(place.show(&id)["waiting_until"], until_at);
    place.ok(&["cleanup-stale"]);
    let other = place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["dispatch", "--once"]);
    assert_eq!((place.status(&other), place.status(&id)), ("pending".into(), "waiting".into()));
    assert_eq!(kind_of(&place, "user_alice"), "wait");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"again\""]);
    place.until_status(&id, "completed");
    place.until_status(&other, "completed");
}

#[test]
fn a_killed_await_makes_its_task_wait_on() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", "a=$(\"$LUZIA\" await response); echo got $a"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let supervisor = place.supervisor(&id);
    let is_await = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|b| *b == 0).any(|word| word == b"await"))
    };
    for pid in processes_in(&place.state()).into_iter().filter(|pid| *pid != supervisor && is_await(pid)) {
        signal(pid, Signal::KILL);
    }
    until_parked(&place, &id);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"on\""]);
    place.until_status(&id, "completed");
    assert_eq!(place.show(&id)["attempt"], 1);
}

#[test]
fn the_end_of_the_time_fires_at_any_command() {
    let place = Place::new();
    let id = dispatched(&place, &["-u", "alice"], "\"$LUZIA\" await response --park --timeout 300ms");
    until("it has timed out", || {
        place.ok(&["list"]);
        (place.status(&id) == "timeout").then_some(())
    });
    place.luzia(&["wait", &id]).coded(124);
    place.luzia(&["check", "alice"]).coded(0);
    place.luzia(&["emit", "MESSAGE_RECEIVED", "--task", &id]).coded(1);
    // Asked for anew by a retry, with a time of its own.
    place.ok(&["retry", &id]);
    place.ok(&["dispatch"]);
    until("it has timed out again", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "timeout" && place.show(&id)["starts"] == 2).then_some(())
    });
    let text = "\"$LUZIA\" await response --park --timeout 300ms --on-timeout continue --timeout-do 'echo late >> $PLACE/late'; echo on";
    let id = dispatched(&place, &["-u", "alice"], text);
    until("it goes on", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert!(said(&place, &id).contains("on\n"));
    assert_eq!(lines(&place.path("late")), ["late"]);
    let text = "\"$LUZIA\" await response --park --timeout 200ms --on-timeout retry --retry-waits 2 \
                --timeout-do 'echo $LUZIA_TASK_ID >> $PLACE/twice'";
    let id = dispatched(&place, &["-u", "alice"], text);
    until("it has waited three times", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "timeout").then_some(())
    });
    assert_eq!(lines(&place.path("twice")), [id.as_str()]);
    assert_eq!(place.show(&id)["starts"], 1);
}

/// The command ends the process that would tell how it ended.
#[test]
fn a_command_for_the_end_of_the_time_whose_end_nobody_knows_is_told_and_not_run_again() {
    let place = Place::new();
    for (user, mode) in [("alice", "--park"), ("bob", "")] {
        let text = format!(
            "\"$LUZIA\" await response {mode} --timeout 300ms --on-timeout continue \
             --timeout-do 'echo late >> $PLACE/{user}; kill -9 $PPID; sleep 9'; echo on"
        );
        let id = dispatched(&place, &["-u", user], &text);
        until("it goes on", || {
            place.ok(&["dispatch", "--once"]);
            (place.status(&id) == "completed").then_some(())
        });
        let shown = place.show(&id);
        let command = &shown["timeout_commands"][0];
        assert_eq!((&command["is_lost"], &command["ended"]), (&json!(true), &Value::Null), "{mode}: {shown:#}");
        let told: Vec<Value> =
            place.events_named("alert").into_iter().filter(|event| event["task"] == id.as_str()).collect();
        assert_eq!(told.len(), 1, "{mode}: {told:#?}");
        assert!(told[0]["message"].as_str().unwrap().contains("may not have run to its end"), "{told:#?}");
        assert!(place.ok(&["show", &id]).out.contains("it may not have run to its end, and is not run again"));
        assert_eq!(lines(&place.path(user)), ["late"]);
    }
}

#[test]
fn a_delay_is_over_on_time_with_a_daemon() {
    let place = Place::new();
    let daemon = place.start(&["daemon", "--poll", "1h"]);
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", "\"$LUZIA\" await delay --for 1s --park; echo on"]);
    place.until_status(&id, "completed");
    drop(daemon);
    let shown = place.show(&id);
    assert!(shown["starts"] == 2 && shown["waited_ms"].is_u64(), "{shown:#}");
}

#[test]
fn a_task_whose_lanes_are_full_waits_on_and_goes_before_new_work() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let text = "\"$LUZIA\" await response --park; echo first >> $PLACE/order";
    let id = parked(&place, &["-u", "alice"], text);
    let gate = place.gate("gate");
    let busy = place.enqueue(&["-u", "bob", "--", "sh", "-c", &format!("read go < {gate}; echo busy >> $PLACE/order")]);
    place.ok(&["dispatch"]);
    place.until_status(&busy, "running");
    let new = place.enqueue(&["-u", "carl", "--", "sh", "-c", "echo new >> $PLACE/order"]);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["resume_ready"]), (&json!("waiting"), &json!(true)), "{shown:#}");
    assert!(place.ok(&["explain", &id]).out.contains("global"), "{}", place.ok(&["explain", &id]).out);
    place.open_gate("gate");
    // A look at the tasks might hold the one that waits for an instant, and a pass would leave it to the next.
    until("all have run", || (lines(&place.path("order")).len() == 3).then_some(()));
    assert_eq!(lines(&place.path("order")), ["busy", "first", "new"]);
    place.until_status(&new, "completed");
}

#[test]
fn a_task_that_goes_on_lets_new_work_of_a_better_priority_go_first() {
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park; echo resumed >> $PLACE/order");
    let gate = place.gate("gate");
    let busy = place.enqueue(&["-u", "bob", "--", "sh", "-c", &format!("read go < {gate}; echo busy >> $PLACE/order")]);
    place.ok(&["dispatch"]);
    place.until_status(&busy, "running");
    for (user, priority, word) in [("carl", "5", "same"), ("dora", "4", "better"), ("eve", "6", "lesser")] {
        let text = format!("echo {word} >> $PLACE/order");
        place.enqueue(&["-u", user, "--priority", priority, "--", "sh", "-c", &text]);
    }
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    assert_eq!(place.show(&id)["resume_ready"], true);
    place.open_gate("gate");
    until("all have run", || (lines(&place.path("order")).len() == 5).then_some(()));
    let order = lines(&place.path("order"));
    assert_eq!(order[..3], ["busy", "better", "resumed"], "{order:?}");
}

/// The state after a power cut between the result and the move of the record into `waiting`.
#[test]
fn a_lane_that_a_result_keeps_is_granted_to_nobody() {
    let place = Place::new();
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park");
    until("its supervisor has ended", || processes_in(&place.state()).is_empty().then_some(()));
    let spool = place.state().join("spool");
    std::fs::rename(spool.join("waiting/1.json"), spool.join("running/1.result.json")).unwrap();
    place.luzia(&["acquire", "alice", "--task", "other"]).coded(75);
    assert_eq!((kind_of(&place, "user_alice"), place.status(&id)), (json!("wait"), "waiting".into()));
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    place.until_status(&id, "completed");
}

/// The state after a reboot: every dispatcher runs in another sandbox than the one in which the task was queued, and that sandbox has no
/// pending task.
#[test]
fn a_task_of_another_sandbox_that_is_within_reach_goes_on() {
    let place = Place::new();
    let text = "ulimit -n 200; \"$LUZIA\" enqueue -u alice -- \"$LUZIA\" await response --park";
    place.spawn(&mut place.shell(text)).end().coded(0);
    place.ok(&["dispatch"]);
    until_parked(&place, "task_1");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", "1"]);
    place.until_status("task_1", "completed");
}

#[test]
fn doctor_finds_a_waiting_task_without_a_timer_and_sets_it_again() {
    let place = Place::new();
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park --timeout 1h");
    place.ok(&["dispatch", "--once"]);
    let check = |args: &[&str]| place.luzia(args).out;
    assert!(!check(&["doctor"]).contains("lacks its timer"));
    std::fs::remove_dir_all(place.state().join("spool/timers")).unwrap();
    assert!(check(&["doctor"]).contains(&format!("{id} waits and lacks its timer")), "{}", check(&["doctor"]));
    place.luzia(&["doctor", "--fix", "--yes"]);
    assert!(!check(&["doctor"]).contains("lacks its timer"), "{}", check(&["doctor"]));
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    place.until_status(&id, "completed");
}

#[test]
fn a_lane_is_kept_or_released_as_its_rule_says() {
    let place = Place::configured(
        &json!({ "lanes": { "thread:*": { "hold": "release" }, "build": { "max": 1, "hold": "keep" } } }),
    );
    let id = parked(&place, &["-u", "alice", "--thread", "7", "-l", "build"], "\"$LUZIA\" await response --park");
    assert_eq!((kind_of(&place, "user_alice"), kind_of(&place, "lane_build")), (json!("wait"), json!("wait")));
    assert_eq!(kind_of(&place, "thread_7"), Value::Null);
    let gate = place.gate("gate");
    let other = place.enqueue(&["-l", "thread:7", "--", "sh", "-c", &format!("read go < {gate}")]);
    place.ok(&["dispatch"]);
    place.until_status(&other, "running");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    assert_eq!(place.show(&id)["resume_ready"], true);
    place.open_gate("gate");
    place.until_status(&id, "completed");
}

#[test]
fn a_waiting_task_is_cancelled_and_its_lanes_are_free() {
    let place = Place::new();
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park");
    place.luzia(&["release", "alice"]).coded(1);
    place.ok(&["cancel", &id, "--yes"]);
    assert_eq!(place.status(&id), "cancelled");
    place.luzia(&["check", "alice"]).coded(0);
    let id = parked(&place, &["-u", "alice"], "\"$LUZIA\" await response --park");
    place.ok(&["release", "alice", "--force", "--yes"]);
    assert_eq!(place.status(&id), "cancelled");
    place.luzia(&["check", "alice"]).coded(0);
}

#[test]
fn a_parent_that_waits_for_its_child_lends_without_a_process() {
    let place = Place::new();
    let text = "\"$LUZIA\" step ask -- \"$LUZIA\" enqueue -u alice -- sh -c 'echo child >> $PLACE/family'; \
                \"$LUZIA\" await agent --park; echo parent $LUZIA_VAR_childExecutionStatus >> $PLACE/family";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    until("the family is done", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&id) == "completed").then_some(())
    });
    assert_eq!(lines(&place.path("family")), ["child", "parent completed"]);
}

#[test]
fn output_of_a_wait_that_ends_its_run_is_refused_outside_of_a_task() {
    let place = super::pending();
    let before = place.snapshot();
    place.luzia(&["await", "response", "--park"]).coded(2);
    let mut forged = place.command(&["await", "response", "--park"]);
    forged.env("LUZIA_TASK_ID", "task_1");
    place.spawn(&mut forged).end().coded(1);
    place.assert_unchanged(&before, "a wait that is refused");
}

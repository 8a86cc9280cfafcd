//! A family of agents that wait, as one story: a coordinator starts a collector, documents come late, everything is killed, and
//! the thread never leaves the family (the scenarios S0.24 to S0.26, S4.5, S2.14, and the end of the issue on waiting).

use crate::support::{Place, kill_all, lines, parent, processes_in, signal, until};
use rustix::process::Signal;
use serde_json::json;

const COORDINATOR: &str =
    "\"$LUZIA\" step child -- \"$LUZIA\" enqueue -u coordinator --thread 123 -- sh -e $PLACE/collector.sh
    \"$LUZIA\" await agent --timeout 1h
    echo coordinator goes on: $(\"$LUZIA\" get childExecutionStatus) >> $PLACE/log";
const COLLECTOR: &str = "\"$LUZIA\" step gate -- sh -c 'read go < $PLACE/gate'
    \"$LUZIA\" await document --expect 2 --timeout 1h
    echo collected $(\"$LUZIA\" get documentUrls) >> $PLACE/log";

/// Who holds the thread.
fn holder(place: &Place) -> Option<u64> {
    place.luzia(&["--json", "check", "thread:123"]).json()["activeExecutionId"].as_u64()
}

#[test]
fn documents_come_before_the_wait_and_after_everything_was_killed() {
    let place = Place::new();
    for (name, text) in [("coordinator.sh", COORDINATOR), ("collector.sh", COLLECTOR)] {
        std::fs::write(place.path(name), text).unwrap();
    }
    place.gate("gate");
    let script = place.path("coordinator.sh");
    let coordinator =
        place.enqueue(&["-u", "coordinator", "--thread", "123", "--", "sh", "-e", script.to_str().unwrap()]);
    place.ok(&["dispatch"]);
    until("the collector is queued", || (place.luzia(&["show", "task_2"]).code == 0).then_some(()));
    // The collector borrows the lanes of the coordinator, which waits for it.
    place.until_status("task_2", "running");
    place.until_status(&coordinator, "waiting");
    let in_family = || assert!(matches!(holder(&place), Some(1 | 2)), "{:?}", holder(&place));
    in_family();
    let stranger = place.enqueue(&["-l", "thread:123", "--", "sh", "-c", "echo stranger >> $PLACE/log"]);
    place.ok(&["emit", "DOCUMENT_UPLOADED", "--task", "2", "--data", "{\"url\":\"a.pdf\"}"]);
    place.open_gate("gate");
    place.until_status("task_2", "waiting");
    // Longer than any timeout of a lock: a lock of the family is overdue at most.
    place.age_lock("thread_123", 25 * 60_000);
    place.ok(&["cleanup-stale"]);
    in_family();
    kill_all(&place);
    place.ok(&["dispatch", "--once"]);
    until("both wait without a process", || {
        ["1", "2"].iter().all(|id| place.state().join(format!("spool/waiting/{id}.json")).exists()).then_some(())
    });
    kill_all(&place);
    place.ok(&["cleanup-stale"]);
    in_family();
    assert_eq!((place.status(&stranger), place.status(&coordinator)), ("pending".into(), "waiting".into()));
    place.ok(&["emit", "DOCUMENT_UPLOADED", "--task", "2", "--data", "{\"url\":\"b.pdf\"}"]);
    place.until_status(&coordinator, "completed");
    place.until_status(&stranger, "completed");
    let expected = ["collected [\"a.pdf\",\"b.pdf\"]", "coordinator goes on: completed", "stranger"];
    let log: Vec<String> = lines(&place.path("log")).iter().map(|line| line.replace(", ", ",")).collect();
    assert_eq!(log, expected);
    for (id, attempt) in [(coordinator.as_str(), 1), ("task_2", 1)] {
        assert_eq!(place.show(id)["attempt"], attempt, "a wait spends no attempt");
    }
}

#[test]
fn a_stepwise_task_survives_ten_kills_and_each_step_takes_effect_once() {
    const STEPS: usize = 11;
    let place = Place::new();
    let text = format!(
        "\"$LUZIA\" step s$LUZIA_STEP -- sh -c 'echo $LUZIA_STEP >> $PLACE/effects'; echo $LUZIA_STEP > $PLACE/at; \
         if test $LUZIA_STEP = {}; then \"$LUZIA\" finish --summary done; else read go < $PLACE/gate; fi",
        STEPS - 1
    );
    place.gate("gate");
    let options = ["-u", "alice", "--stepwise", "--goal", "g", "--retries", "20", "--backoff", "10ms"];
    let id = place.enqueue(&[&options[..], &["--", "sh", "-ec", &text]].concat());
    let _daemon = place.start(&["daemon", "--poll", "100ms"]);
    let mut seed = u64::from(std::process::id()) | 1;
    for step in 0..STEPS - 1 {
        // Its effect and the record of it are behind the step; what is killed now is started again.
        until("the step is done", || {
            let at = std::fs::read_to_string(place.path("at")).unwrap_or_default();
            (at.trim() == step.to_string()).then_some(())
        });
        std::fs::remove_file(place.path("at")).unwrap();
        let supervisor = place.supervisor(&id);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Another supervisor may be at its end, and a kill of that one would change nothing.
        let command = processes_in(&place.state()).into_iter().find(|pid| parent(*pid) == Some(supervisor));
        let victim = if (seed >> 33) % 3 == 0 { supervisor } else { command.expect("it waits for its gate") };
        signal(victim, Signal::KILL);
        until("it comes to the same step again", || {
            let at = std::fs::read_to_string(place.path("at")).unwrap_or_default();
            (at.trim() == step.to_string()).then_some(())
        });
        std::fs::remove_file(place.path("at")).unwrap();
        place.open_gate("gate");
    }
    place.until_status(&id, "completed");
    let expected: Vec<String> = (0..STEPS).map(|step| step.to_string()).collect();
    assert_eq!(lines(&place.path("effects")), expected);
}

#[test]
fn a_schedule_for_nine_makes_its_task_at_nine() {
    let place = Place::new();
    // A zone in which it is nearly nine now.
    place.ok(&["status"]);
    let seconds = chrono::Utc::now().timestamp().rem_euclid(86_400);
    let offset = (seconds - (9 * 3600 - 3) + 86_400 + 43_200).rem_euclid(86_400) - 43_200;
    let (sign, rest) = if offset < 0 { ("-", -offset) } else { ("", offset) };
    let zone = format!("<NINE>{sign}{}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    place.ok(&[
        "cron",
        "add",
        "daily",
        "0 9 * * *",
        "--tz",
        &zone,
        "-u",
        "alice",
        "--",
        "sh",
        "-c",
        "echo nine >> $PLACE/nine",
    ]);
    let daemon = place.start(&["daemon", "--poll", "1h"]);
    until("the task of nine has run", || place.path("nine").exists().then_some(()));
    drop(daemon);
    assert_eq!(lines(&place.path("nine")), ["nine"]);
}

#[test]
fn the_three_scenarios_of_a_thread() {
    // S0.24: B is queued while A holds the thread, and comes after it.
    let place = Place::new();
    let gate = place.gate("a");
    let a = place.enqueue(&["-l", "thread:123", "--", "sh", "-c", &format!("read go < {gate}; echo A >> $PLACE/log")]);
    place.ok(&["dispatch"]);
    place.until_status(&a, "running");
    let b = place.json(&["enqueue", "-l", "thread:123", "--", "sh", "-c", "echo B >> $PLACE/log"]);
    assert_eq!((&b["queued"], &b["success"]), (&json!(true), &json!(true)));
    assert_eq!(holder(&place), Some(1));
    place.open_gate("a");
    place.until_status("task_2", "completed");
    assert_eq!(lines(&place.path("log")), ["A", "B"]);
    // S0.26: the holder is killed, and the next one gets the thread at once.
    let gate = place.gate("hung");
    let hung = place.enqueue(&["-l", "thread:123", "--", "sh", "-c", &format!("read go < {gate}")]);
    place.ok(&["dispatch"]);
    place.until_status(&hung, "running");
    place.supervisor(&hung);
    kill_all(&place);
    let next = place.enqueue(&["-l", "thread:123", "--", "sh", "-c", "echo next >> $PLACE/log"]);
    until("the next one has run", || {
        place.ok(&["dispatch", "--once"]);
        (place.status(&next) == "completed").then_some(())
    });
    assert_eq!(place.status(&hung), "failed");
}

#[test]
fn an_outer_task_in_a_session_waits_for_an_inner_one_and_both_end() {
    // S4.5: the outer one holds its session, the inner one takes `subagent` beside it, and a slot is lent.
    let place = Place::configured(&json!({ "slots": { "max": 1 }, "lanes": { "subagent": { "max": 1 } } }));
    let text = "\"$LUZIA\" run -l session:telegram:7 -l subagent -- sh -c 'echo inner >> $PLACE/log'; echo outer >> $PLACE/log";
    let id = place.enqueue(&["-l", "session:telegram:7", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "completed");
    assert_eq!(lines(&place.path("log")), ["inner", "outer"]);
}

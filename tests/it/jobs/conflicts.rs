//! `--on-conflict`: one test for each policy, with the other task pending, running, waiting and over. The table of the manual
//! (`luzia enqueue --help`) says the same.

use crate::support::Place;
use serde_json::{Value, json};

const STATES: [&str; 4] = ["pending", "running", "waiting", "completed"];

/// A task with the key, in a state.
fn holder(place: &Place, state: &str) -> String {
    let keyed = |script: &str| place.enqueue(&["-u", "alice", "--key", "k", "--", "sh", "-c", script]);
    match state {
        "pending" => keyed("true"),
        "running" | "waiting" => {
            let script =
                if state == "running" { "echo on >&2; exec sleep 1000" } else { "exec \"$LUZIA\" await response" };
            let id = keyed(script);
            place.ok(&["dispatch"]);
            place.until_status(&id, state);
            id
        }
        _ => {
            let id = keyed("echo done");
            place.drain();
            id
        }
    }
}

/// A second task with the key: the exit code, and the answer or the error.
fn second(place: &Place, policy: &str, more: &[&str]) -> (i32, Value) {
    let asked = ["--json", "enqueue", "-u", "alice", "--key", "k", "--on-conflict", policy];
    let ran = place.luzia(&[&asked, more, &["--", "true"]].concat());
    let text = if ran.code == 0 { ran.out.as_str() } else { ran.err.lines().last().unwrap_or_default() };
    (ran.code, serde_json::from_str(text).unwrap_or_else(|_| panic!("{ran:?}")))
}

fn end(place: &Place, id: &str) {
    if ["running", "waiting"].contains(&place.status(id).as_str()) {
        place.ok(&["cancel", id, "--grace", "0"]);
    }
}

#[test]
fn skip_answers_with_the_task_that_has_the_key() {
    for state in STATES {
        let place = Place::new();
        let first = holder(&place, state);
        let (code, answer) = second(&place, "skip", &[]);
        assert_eq!((code, &answer["created"]), (0, &json!(state == "completed")), "{state}");
        assert_eq!(answer["id"] == first.as_str(), state != "completed", "{state}");
        assert_eq!(place.status(&first), state);
        end(&place, &first);
    }
}

#[test]
fn queue_queues_another_one_whatever_the_other_does() {
    for state in STATES {
        let place = Place::new();
        let first = holder(&place, state);
        let (code, answer) = second(&place, "queue", &[]);
        assert_eq!((code, &answer["created"], &answer["status"]), (0, &json!(true), &json!("pending")), "{state}");
        assert_eq!(place.status(&first), state);
        end(&place, &first);
    }
}

#[test]
fn reject_refuses_while_the_other_is_not_over() {
    for state in STATES {
        let place = Place::new();
        let first = holder(&place, state);
        let (code, answer) = second(&place, "reject", &[]);
        if state == "completed" {
            assert_eq!((code, &answer["created"]), (0, &json!(true)));
        } else {
            assert_eq!((code, &answer["code"]), (75, &json!("KEY_TAKEN")), "{state}");
            let said = answer["message"].as_str().unwrap();
            assert!(said.contains(&first) && said.contains(state), "{said}");
            assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 1);
        }
        end(&place, &first);
    }
}

#[test]
fn replace_cancels_the_other_first_also_where_it_runs() {
    for state in STATES {
        let place = Place::new();
        let first = holder(&place, state);
        let (code, answer) = second(&place, "replace", &[]);
        assert_eq!(
            (code, &answer["created"], &answer["status"]),
            (0, &json!(true), &json!("pending")),
            "{state}: {answer}"
        );
        let older = place.show(&first);
        if state == "completed" {
            assert_eq!(older["status"], "completed");
        } else {
            assert_eq!(
                (&older["status"], &older["cancelReason"]),
                (&json!("cancelled"), &json!("replaced")),
                "{state}"
            );
            // It had ended before the new one was accepted.
            let events = place.events();
            let at = |kind: &str, id: &str| events.iter().position(|e| e["event"] == kind && e["task"] == id);
            let (over, queued) =
                (at("ended", &first).or(at("cancelled", &first)), at("enqueued", answer["id"].as_str().unwrap()));
            assert!(over.is_some() && over < queued, "{state}");
            // Its lane is free, unless the pass after its end has started the new one.
            let is_free = place.luzia(&["check", "alice"]).code == 0;
            assert!(is_free || place.status(answer["id"].as_str().unwrap()) != "pending", "{state}");
        }
    }
}

#[test]
fn join_answers_with_the_other_and_with_a_fresh_end() {
    for state in STATES {
        let place = Place::new();
        let first = holder(&place, state);
        let (code, answer) = second(&place, "join", &["--fresh", "1h"]);
        assert_eq!((code, &answer["joined"], &answer["created"]), (0, &json!(true), &json!(false)), "{state}");
        assert_eq!((&answer["id"], &answer["status"]), (&json!(first), &json!(state)));
        assert_eq!(place.status(&first), state);
        // Without --fresh what is over is over.
        let (_, again) = second(&place, "join", &[]);
        assert_eq!(again["created"] == true, state == "completed", "{state}");
        end(&place, &first);
    }
}

#[test]
fn nobody_replaces_the_task_around_or_that_of_somebody_else() {
    let place = Place::new();
    let script = "\"$LUZIA\" enqueue -u alice --key k --on-conflict replace -- true; echo $? > $PLACE/code";
    let id = place.enqueue(&["-u", "alice", "--key", "k", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!(place.until_file("code"), "1");
    assert_eq!(place.status(&id), "completed");
    // Of another agent.
    let asked = |agent: &str, script: &str| {
        let options =
            ["--json", "enqueue", "-u", "alice", "--key", "k", "--on-conflict", "replace", "--", "sh", "-c", script];
        let mut command = place.command(&options);
        place.spawn(command.env("LUZIA_AGENT", agent).env("LUZIA_SESSION", agent)).end()
    };
    let first =
        asked("claude-code", "echo on > $PLACE/on; exec sleep 1000").coded(0).json()["id"].as_str().unwrap().to_owned();
    place.ok(&["dispatch"]);
    place.until_file("on");
    let refused = asked("codex", "true").coded(1);
    assert!(refused.err.contains("KEY_RUNS") && refused.err.contains("somebody else"), "{refused:?}");
    assert_eq!(place.status(&first), "running");
    assert_eq!(asked("claude-code", "true").coded(0).json()["created"], true);
    assert_eq!(place.status(&first), "cancelled");
}

#[test]
fn the_manual_names_every_policy() {
    let place = Place::new();
    let help = place.ok(&["enqueue", "--help"]).out;
    for policy in ["skip", "queue", "reject", "replace", "join"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(policy)), "{policy} in {help}");
    }
    let wrong =
        place.luzia(&["enqueue", "--key", "k", "--on-conflict", "skip", "--fresh", "1m", "--", "true"]).coded(2);
    assert!(wrong.err.contains("--fresh is for"), "{wrong:?}");
    place.luzia(&["enqueue", "--fresh", "1m", "--", "true"]).coded(2);
}

#[test]
fn replace_ends_what_runs_and_what_waits_with_the_key() {
    let place = Place::new();
    let running = holder(&place, "running");
    let (_, waiting) = second(&place, "queue", &[]);
    let (code, answer) = second(&place, "replace", &[]);
    assert_eq!((code, &answer["created"]), (0, &json!(true)), "{answer}");
    for older in [running.as_str(), waiting["id"].as_str().unwrap()] {
        let older = place.show(older);
        assert_eq!((&older["status"], &older["cancelReason"]), (&json!("cancelled"), &json!("replaced")), "{older}");
    }
    place.drain();
    assert_eq!(place.status(answer["id"].as_str().unwrap()), "completed");
}

#[test]
fn a_replacement_that_is_refused_because_of_one_task_ends_none_of_the_others() {
    let place = Place::new();
    let queue = "\"$LUZIA\" enqueue -u alice --key k --on-conflict queue -- true";
    let replace = "\"$LUZIA\" enqueue -u alice --key k --on-conflict replace -- true; echo $? > $PLACE/code";
    let script = format!("{queue} && {{ {replace}; }}");
    place.enqueue(&["-u", "alice", "--key", "k", "--", "sh", "-c", &script]);
    place.drain();
    assert_eq!(std::fs::read_to_string(place.path("code")).unwrap().trim(), "1");
    assert_eq!((place.status("1"), place.status("2")), ("completed".to_owned(), "completed".to_owned()));
}

//! Tasks that take one step a start (S2.1–S2.11, S2.F5, S1.20).

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Queues a stepwise script.
fn stepwise(place: &Place, options: &[&str], text: &str) -> String {
    place.enqueue(&[&["-u", "alice", "--stepwise"], options, &["--", "sh", "-ec", text]].concat())
}

fn lines(place: &Place, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(place.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn events(place: &Place, name: &str, id: &str) -> Vec<Value> {
    place.events().into_iter().filter(|event| event["event"] == name && event["task"] == id).collect()
}

#[test]
fn one_step_a_start_until_the_task_says_that_it_is_over_and_others_run_between() {
    let place = Place::new();
    place.configure(&json!({ "slots": { "max": 1 } }));
    let text = r#"echo "a $LUZIA_STEP $LUZIA_LAST_KIND [$LUZIA_LAST_RESULT] [$LUZIA_LAST_EXIT] $LUZIA_GOAL" >> $PLACE/log
        echo "said $LUZIA_STEP"
        if [ $LUZIA_STEP = 2 ]; then "$LUZIA" finish --summary 'three steps' --data '{"n":3}'; fi"#;
    let id = stepwise(&place, &["--goal", "count"], text);
    for _ in 0..2 {
        place.enqueue(&["-u", "bob", "--", "sh", "-c", "echo b >> $PLACE/log"]);
    }
    place.drain();
    let log = lines(&place, "log");
    let own: Vec<&String> = log.iter().filter(|line| line.starts_with('a')).collect();
    assert_eq!(
        own,
        ["a 0 none [] [] count", "a 1 output [said 0] [0] count", "a 2 output [said 1] [0] count"],
        "{log:?}"
    );
    assert!(
        log.first().is_some_and(|line| line.starts_with('a')) && log.last().is_some_and(|line| line.starts_with('a'))
    );
    let shown = place.show(&id);
    assert_eq!(
        (&shown["status"], &shown["resultSummary"], &shown["result_data"]),
        (&json!("completed"), &json!("three steps"), &json!({ "n": 3 }))
    );
    assert_eq!((&shown["goal"], &shown["stepwise"]["step"], &shown["starts"]), (&json!("count"), &json!(2), &json!(3)));
    assert_eq!(events(&place, "step_ended", &id).len(), 3);
    assert_eq!(events(&place, "requeued", &id).len(), 2);
}

#[test]
fn the_next_step_gets_the_end_of_a_long_output_and_the_number_of_bytes_before_it() {
    let place = Place::new();
    let text = r#"echo "$LUZIA_STEP $LUZIA_LAST_RESULT_LEFT_OUT $(printf %s "$LUZIA_LAST_RESULT" | wc -c)" >> $PLACE/log
        case $LUZIA_STEP in
        0) head -c 20000 /dev/zero | tr '\0' x ;;
        1) "$LUZIA" step long -- sh -c "head -c 70000 /dev/zero | tr '\0' x" ;;
        *) "$LUZIA" finish ;;
        esac"#;
    stepwise(&place, &[], text);
    place.drain();
    assert_eq!(lines(&place, "log"), ["0 0 0", "1 3616 16384", "2 4464 65536"]);
}

#[test]
fn a_finished_step_is_told_to_the_next_as_a_tool() {
    let place = Place::new();
    let text = r#"echo "$LUZIA_LAST_KIND $LUZIA_LAST_RESULT" >> $PLACE/log
        [ $LUZIA_STEP = 0 ] || exec "$LUZIA" finish
        "$LUZIA" step fetch -- echo found"#;
    let id = stepwise(&place, &[], text);
    place.drain();
    assert_eq!(lines(&place, "log"), ["none ", "tool found"]);
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn several_steps_of_one_claim_keep_the_lane_between_them() {
    let place = Place::new();
    let text = r#"echo $LUZIA_FENCE >> $PLACE/log; [ $LUZIA_STEP -lt 4 ] || "$LUZIA" finish"#;
    let id = stepwise(&place, &["--steps-per-run", "3"], text);
    place.drain();
    let fences = lines(&place, "log");
    assert_eq!(fences.len(), 5, "{fences:?}");
    assert!(fences[0] == fences[2] && fences[2] != fences[3] && fences[3] == fences[4], "{fences:?}");
    assert_eq!(place.show(&id)["starts"], 5);
    assert_eq!(events(&place, "requeued", &id).len(), 1);
}

#[test]
fn a_task_that_never_finishes_fails_after_its_last_step() {
    let place = Place::new();
    let id = stepwise(&place, &["--max-steps", "3"], "echo x >> $PLACE/log");
    place.drain();
    assert_eq!(lines(&place, "log").len(), 3);
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["failedActionId"]), (&json!("failed"), &json!(2)), "{shown:#}");
    assert!(shown["errorMessage"].as_str().is_some_and(|text| text.contains("3 steps")), "{shown:#}");
}

#[test]
fn a_failing_step_is_tried_again_and_its_retries_are_its_own() {
    let place = Place::new();
    let text = r#"echo $LUZIA_STEP >> $PLACE/log
        [ -e $PLACE/failed.$LUZIA_STEP ] || { : > $PLACE/failed.$LUZIA_STEP; exit 3; }
        [ $LUZIA_STEP = 1 ] && "$LUZIA" finish; true"#;
    let id = stepwise(&place, &["--retries", "1"], text);
    place.drain();
    assert_eq!(lines(&place, "log"), ["0", "0", "1", "1"]);
    assert_eq!(place.status(&id), "completed");
    let unlucky = stepwise(&place, &[], "exit 3");
    place.drain();
    assert_eq!(place.status(&unlucky), "failed");
}

#[test]
fn what_was_said_of_the_end_stands_and_is_said_once() {
    let place = Place::new();
    let text = r#""$LUZIA" finish --status failed --summary no; "$LUZIA" finish --status failed --summary no
        "$LUZIA" finish || echo "code $?" > $PLACE/log"#;
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", text]);
    place.drain();
    assert_eq!(lines(&place, "log"), ["code 1"]);
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["resultSummary"]), (&json!("failed"), &json!("no")), "{shown:#}");
    place.luzia(&["finish", "--task", &id]).coded(1);
    let idle = place.enqueue(&["-u", "alice", "--hold", "--", "true"]);
    let refused = place.luzia(&["finish", "--task", &idle]).coded(1);
    assert!(refused.err.contains("does not run"), "{refused:#?}");
    for wrong in [&["finish", "--task", &idle, "--data", "{"][..], &["finish", "--status", "great"], &["finish"]] {
        place.luzia(wrong).coded(2);
    }
    place.luzia(&["finish", "--task", "task_99"]).coded(66);
    assert_eq!(place.show(&idle)["status"], "pending");
}

#[test]
fn twelve_that_finish_at_once_agree_on_one_end() {
    let place = Place::new();
    let text = r#"for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
            { "$LUZIA" finish --summary "by $n" 2>/dev/null && echo $n >> $PLACE/won; } & pids="$pids $!"
        done; wait"#;
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", text]);
    place.drain();
    let won = lines(&place, "won");
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(place.show(&id)["resultSummary"], format!("by {}", won[0]));
}

#[test]
fn a_step_whose_supervisor_is_killed_runs_again_and_steps_before_it_do_not() {
    let place = Place::new();
    place.gate("gate");
    let text = r#"echo $LUZIA_STEP >> $PLACE/log
        "$LUZIA" step "effect-$LUZIA_STEP" -- sh -c 'echo "$1" >> $PLACE/effects' sh $LUZIA_STEP
        if [ $LUZIA_STEP = 1 ] && [ ! -e $PLACE/again ]; then : > $PLACE/again; echo up > $PLACE/up; read _ < $PLACE/gate; fi
        [ $LUZIA_STEP = 2 ] && "$LUZIA" finish; true"#;
    let id = stepwise(&place, &["--retries", "3"], text);
    place.ok(&["dispatch"]);
    until("step 1 runs", || {
        place.luzia(&["dispatch"]);
        std::fs::read_to_string(place.path("up")).ok().filter(|text| text.ends_with('\n'))
    });
    let supervisor = place.show(&id)["supervisor_pid"].as_u64().unwrap();
    signal(u32::try_from(supervisor).unwrap(), Signal::KILL);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    assert_eq!(lines(&place, "log"), ["0", "1", "1", "2"]);
    assert_eq!(lines(&place, "effects"), ["0", "1", "2"], "each effect once");
}

#[test]
fn a_cancel_ends_a_stepwise_task_between_and_within_its_steps() {
    let place = Place::new();
    place.gate("gate");
    let id = stepwise(&place, &["--steps-per-run", "9"], "echo up > $PLACE/up; read _ < $PLACE/gate");
    place.ok(&["dispatch"]);
    place.until_file("up");
    place.ok(&["cancel", &id]);
    place.until_status(&id, "cancelled");
    assert_eq!(events(&place, "step_ended", &id).len(), 0);
}

#[test]
fn the_ends_of_children_are_told_to_the_next_step() {
    let place = Place::new();
    let text = r#"if [ $LUZIA_STEP = 0 ]; then
            "$LUZIA" run -u bob -- sh -c '"$LUZIA" finish --summary ok --data "{\"page\":1}"'
        else echo "$LUZIA_LAST_KIND $LUZIA_LAST_RESULT" > $PLACE/log; "$LUZIA" finish; fi"#;
    let id = stepwise(&place, &[], text);
    place.drain();
    assert_eq!(place.status(&id), "completed");
    let log = lines(&place, "log").join("\n");
    let (kind, result) = log.split_once(' ').unwrap();
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(
        (kind, &result[0]["result_summary"], &result[0]["result_data"]),
        ("child", &json!("ok"), &json!({ "page": 1 }))
    );
}

#[test]
fn a_file_of_steps_runs_its_commands_and_waits_in_their_order() {
    let place = Place::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_luzia")).parent().unwrap().display().to_string();
    let steps = json!({ "actions": [
        { "actionType": "command", "parameters": { "command": ["sh", "-c", "echo one >> $PLACE/log"] } },
        { "actionType": "wait_for_response", "parameters": { "timeout": "1h", "onTimeout": "continue" } },
        { "actionType": "wait_for_response", "parameters": { "timeout": "100ms", "onTimeout": "continue" } },
        { "name": "last", "command": "echo two >> $PLACE/log" },
    ] });
    std::fs::write(place.path("steps.json"), steps.to_string()).unwrap();
    let path = place.path("steps.json").display().to_string();
    let search = format!("PATH={bin}:/usr/bin:/bin");
    let id = place.enqueue(&["-u", "alice", "--steps", &path, "--env", &search]);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "{\"text\":\"yes\"}"]);
    place.drain();
    let shown = place.show(&id);
    assert_eq!(shown["status"], "completed", "{shown:#}\n{}", place.luzia(&["logs", &id]).out);
    assert_eq!(lines(&place, "log"), ["one", "two"]);
    assert_eq!(shown["starts"], 4, "the second wait is no echo of the first");
}

#[test]
fn wrong_steps_are_refused_and_nothing_is_queued() {
    let place = Place::new();
    std::fs::write(place.path("steps.json"), "[{\"actionType\":\"dance\"}]").unwrap();
    let path = place.path("steps.json").display().to_string();
    let long = "x".repeat(20_000);
    for wrong in [
        &["enqueue", "-u", "a", "--steps", &path][..],
        &["enqueue", "-u", "a", "--steps", &path, "--", "true"],
        &["enqueue", "-u", "a", "--stepwise"],
        &["enqueue", "-u", "a", "--stepwise", "--max-steps", "0", "--", "true"],
        &["enqueue", "-u", "a", "--stepwise", "--steps-per-run", "0", "--", "true"],
        &["enqueue", "-u", "a", "--steps-per-run", "2", "--", "true"],
        &["enqueue", "-u", "a", "--max-steps", "2", "--", "true"],
        &["enqueue", "-u", "a", "--goal", &long, "--", "true"],
        &["run", "-u", "a", "--stepwise", "--stdin", "--", "true"],
    ] {
        let refused = place.luzia(wrong).coded(2);
        assert!(!refused.err.is_empty(), "{wrong:?}");
    }
    for (kind, parameters) in [
        ("response", json!({ "timeout": "8d" })),
        ("response", json!({ "timeout": "soon" })),
        ("delay", json!({ "duration": "31d" })),
        ("document", json!({ "expect": 0 })),
        ("event", json!({ "event": "a b" })),
        ("output", json!({ "task": "task_1", "pattern": "(" })),
    ] {
        let steps = json!([["true"], { "actionType": format!("wait_for_{kind}"), "parameters": parameters }]);
        std::fs::write(place.path("steps.json"), steps.to_string()).unwrap();
        place.luzia(&["enqueue", "-u", "a", "--steps", &path]).coded(2);
    }
    place.luzia(&["enqueue", "-u", "a", "--steps", "/nosuch"]).coded(74);
    assert_eq!(place.json(&["list", "-a"])["items"], json!([]));
    // A line of --from has its steps in itself.
    let line = "{\"user\":\"a\",\"goal\":\"g\",\"steps\":[[\"true\"],{\"command\":\"true\"}]}\n";
    std::fs::write(place.path("tasks.jsonl"), line).unwrap();
    place.ok(&["enqueue", "--from", &place.path("tasks.jsonl").display().to_string()]);
    place.drain();
    let shown = place.show("1");
    assert_eq!((&shown["status"], &shown["starts"], &shown["goal"]), (&json!("completed"), &json!(2), &json!("g")));
}

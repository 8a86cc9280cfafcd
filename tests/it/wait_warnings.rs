//! What is told of a wait that lasts for long, and what is done with a holder past its limit (S4.8, S3.F4, X29).

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn warnings(place: &Place) -> Vec<Value> {
    let out = place.ok(&["events", "-o", "jsonl", "--kind", "wait_warning"]).out;
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A task of alice that runs in the lane build until the file `go` is written.
fn holder(place: &Place) -> String {
    let script = format!("echo up >$PLACE/up; read _ <{}", place.gate("go"));
    let id = place.enqueue(&["-u", "alice", "-l", "build", "--shell", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    id
}

#[test]
fn a_task_that_waits_is_told_once_however_many_passes_come_and_its_command_runs_once() {
    let place = Place::new();
    let command = "cat >>$PLACE_FILE; echo \"$LUZIA_TASK_ID\" >>$PLACE_FILE.ids";
    let command = command.replace("$PLACE_FILE", place.path("told").to_str().unwrap());
    // It is told of no wait of its own, however long its start takes.
    let first = holder(&place);
    place.ok(&["lanes", "set", "build", "--warn-after", "300ms", "--on-wait", &command]);
    let second = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let third = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    // Four passes at once, again and again, until one has told.
    until("the wait is told", || {
        let passes: Vec<_> = (0..4).map(|_| place.start(&["dispatch", "--once"])).collect();
        passes.into_iter().for_each(|pass| drop(pass.end()));
        (!warnings(&place).is_empty()).then_some(())
    });
    for _ in 0..3 {
        place.ok(&["dispatch", "--once"]);
    }
    let told = warnings(&place);
    assert_eq!(told.len(), 1, "{told:?}");
    let data = &told[0]["data"];
    assert_eq!((&told[0]["task"], &told[0]["lane"]), (&json!(second), &json!("build")), "{told:?}");
    assert_eq!((&data["held_by"], &data["position"], &data["after_ms"]), (&json!(first), &json!(1), &json!(300)));
    assert!(data["waited_ms"].as_u64().unwrap() >= 300, "{data}");
    until("the command has run", || place.path("told.ids").exists().then_some(()));
    place.open_gate("go");
    place.drain();
    // The second was told of while it waited; the third, behind it, when its wait ended.
    let told = warnings(&place);
    let tasks: Vec<&Value> = told.iter().map(|event| &event["task"]).collect();
    assert_eq!(tasks, [&json!(second), &json!(third)]);
    until("the command has run for both", || {
        let ids = std::fs::read_to_string(place.path("told.ids")).unwrap_or_default();
        (ids == format!("{second}\n{third}\n")).then_some(())
    });
    let input = std::fs::read_to_string(place.path("told")).unwrap();
    assert!(input.contains("\"event\":\"wait.warning\""), "{input}");
    assert!(
        !place.path("state/spool/warned").exists()
            || std::fs::read_dir(place.path("state/spool/warned")).unwrap().next().is_none()
    );
}

#[test]
fn by_the_default_a_wait_of_two_seconds_is_told_when_it_ends() {
    let place = Place::new();
    let first = holder(&place);
    let second = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let begun = std::time::Instant::now();
    let waiting = place.start(&["lock", "-l", "build", "--", "true"]);
    until("two seconds are over", || (begun.elapsed().as_millis() > 2100).then_some(()));
    place.ok(&["dispatch", "--once"]);
    assert_eq!(warnings(&place), Vec::<Value>::new());
    place.open_gate("go");
    assert_eq!(waiting.end().code, 0);
    place.drain();
    let told = warnings(&place);
    let mut of: Vec<&Value> = told.iter().map(|event| &event["task"]).collect();
    of.sort_by_key(|task| task.is_null());
    assert_eq!(of, [&json!(second), &Value::Null], "{told:?}");
    assert!(told.iter().all(|event| event["data"]["after_ms"] == 2000 && event["task"] != json!(first)));
}

#[test]
fn a_waiting_lock_is_told_while_it_waits_and_a_failing_command_changes_nothing() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--warn-after", "200ms", "--on-wait", "exit 3"]);
    let first = holder(&place);
    let waiting = place.start(&["lock", "-l", "build", "--", "true"]);
    until("it is told", || (warnings(&place).len() == 1).then_some(()));
    let told = warnings(&place);
    assert_eq!((&told[0]["data"]["held_by"], &told[0]["lane"]), (&json!(first), &json!("build")));
    place.open_gate("go");
    assert_eq!(waiting.end().code, 0);
    assert_eq!(warnings(&place).len(), 1);
}

#[test]
fn the_mark_of_a_cancelled_task_is_cleaned_up() {
    let place = Place::new();
    place.ok(&["lanes", "set", "build", "--warn-after", "1ms"]);
    holder(&place);
    let second = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    until("it is told", || {
        place.ok(&["dispatch", "--once"]);
        warnings(&place).iter().any(|event| event["task"] == json!(second)).then_some(())
    });
    place.ok(&["cancel", &second]);
    let mark = place.path("state/spool/warned").join(second.trim_start_matches("task_"));
    assert!(mark.exists());
    std::process::Command::new("touch").args(["-d", "2 hours ago"]).arg(&mark).status().unwrap();
    place.ok(&["cleanup-stale"]);
    assert!(!mark.exists());
    place.open_gate("go");
    place.drain();
}

#[test]
fn an_overdue_task_is_ended_only_where_the_rule_of_its_lane_says_so() {
    let place = Place::configured(&json!({ "lanes": { "build": { "lock_timeout_seconds": 0.5 } } }));
    let first = holder(&place);
    let supervisor = place.supervisor(&first);
    let second = place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    signal(supervisor, Signal::STOP);
    until("it is overdue", || {
        let locks = place.json(&["list-locks", "--state", "overdue"]);
        (!locks["items"].as_array().unwrap().is_empty()).then_some(())
    });
    place.ok(&["dispatch", "--once"]);
    let asked = || place.path("state/run").join(first.trim_start_matches("task_")).join("cancel.json").exists();
    assert!(!asked());
    place.ok(&["lanes", "set", "build", "--on-overdue", "terminate"]);
    place.ok(&["dispatch", "--once"]);
    assert!(asked());
    // It is the supervisor that ends it: until then the lane stays held.
    place.luzia(&["check", "lane:build"]).coded(75);
    signal(supervisor, Signal::CONT);
    place.until_status(&first, "cancelled");
    place.drain();
    place.until_status(&second, "completed");
    assert!(place.json(&["show", &first]).to_string().contains("past its limit"));
}

#[test]
fn a_task_with_a_warning_of_its_own_is_told_once_wherever_it_stands_in_its_queue() {
    let place = Place::new();
    let first = holder(&place);
    place.enqueue(&["-u", "bob", "-l", "build", "--", "true"]);
    let command = "echo $LUZIA_TASK_ID $LUZIA_EVENT >>$PLACE/told";
    let own = ["-u", "bob", "-l", "build", "--warn-after", "300ms", "--on-wait", command, "--", "true"];
    let third = place.enqueue(&own);
    let by_default = place.enqueue(&["-u", "bob", "-l", "build", "--on-wait", "true", "--", "true"]);
    until("the wait is told", || {
        place.ok(&["dispatch", "--once"]);
        (!warnings(&place).is_empty()).then_some(())
    });
    let told = warnings(&place);
    let data = &told[0]["data"];
    assert_eq!((told.len(), &told[0]["task"], &data["after_ms"]), (1, &json!(third), &json!(300)), "{told:?}");
    assert_eq!((&data["position"], &data["waited_ms"].as_u64().is_some_and(|ms| ms >= 300)), (&json!(2), &true));
    until("the command has run", || place.path("told").exists().then_some(()));
    until("the other one is told", || {
        place.ok(&["list"]);
        warnings(&place).iter().any(|event| event["task"] == json!(by_default)).then_some(())
    });
    place.open_gate("go");
    place.drain();
    let of_third = warnings(&place).iter().filter(|event| event["task"] == json!(third)).count();
    assert_eq!(
        (of_third, std::fs::read_to_string(place.path("told")).unwrap()),
        (1, format!("{third} wait.warning\n"))
    );
    let shown = place.show(&third);
    assert_eq!((&shown["warn_after_ms"], &shown["on_wait"]), (&json!(300), &json!(command)));
    assert_eq!(place.status(&first), "completed");
    place.luzia(&["enqueue", "--on-wait", "echo {{x}}", "--", "true"]).coded(2);
    place.luzia(&["enqueue", "--warn-after", "soon", "--", "true"]).coded(2);
}

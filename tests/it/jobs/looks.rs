//! `logs --steps`, `show --checkpoint`, `list --stuck`, the waits in `list`, `stats --by status`, `cancel --by`.

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

#[test]
fn the_steps_of_a_task_have_a_begin_and_an_end() {
    // S1.15
    let place = Place::new();
    let script =
        "\"$LUZIA\" step fetch -- true; \"$LUZIA\" await response; \"$LUZIA\" step send --on-error store -- false";
    let id = place.enqueue(&["-u", "a", "--", "sh", "-ec", script]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let lines = |id: &str| -> Vec<String> {
        let text = place.ok(&["logs", id, "--steps"]).out;
        text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    };
    // The wait is durable before it is told.
    until("the wait is told", || {
        let last = lines(&id).pop();
        (last.as_deref() == Some("Accion 2: wait_for_response - esperando...")).then_some(())
    });
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    until("it is over", || (place.status(&id) == "completed").then_some(()));
    assert_eq!(
        lines(&id),
        [
            "Ejecucion iniciada",
            "Accion 1: fetch - iniciando",
            "Accion 1: fetch - completada",
            "Accion 2: wait_for_response - iniciando",
            "Accion 2: wait_for_response - esperando...",
            "Accion 2: wait_for_response - completada",
            "Accion 3: send - iniciando",
            "Accion 3: send - completada",
        ]
    );
    let first = place.ok(&["logs", &id, "--steps"]).out;
    let clock = first.split(' ').next().unwrap();
    assert!(clock.len() == 10 && clock.starts_with('[') && clock.ends_with(']'), "{first}");
    let items = place.json(&["logs", &id, "--steps"])["items"].clone();
    assert_eq!(
        (&items[2]["action"], &items[2]["state"], &items[2]["name"]),
        (&json!(1), &json!("completed"), &json!("fetch"))
    );
    place.luzia(&["logs", &id, "--steps", "-f"]).coded(2);
    place.luzia(&["logs", "99", "--steps"]).coded(66);
}

#[test]
fn a_stepwise_task_has_a_line_for_each_step() {
    let place = Place::new();
    let script = "[ $LUZIA_STEP -lt 1 ] || \"$LUZIA\" finish";
    let id = place.enqueue(&["-u", "a", "--stepwise", "--", "sh", "-ec", script]);
    place.drain();
    let text = place.ok(&["logs", &id, "--steps"]).out;
    let lines: Vec<&str> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    let wanted = [
        "Ejecucion iniciada",
        "Accion 1: step 0 - iniciando",
        "Accion 1: step 0 - completada",
        "Accion 2: step 1 - iniciando",
        "Accion 2: step 1 - completada",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn a_checkpoint_says_where_a_task_stands() {
    // S1.39
    let place = Place::new();
    let script = "\"$LUZIA\" step one -- true; \"$LUZIA\" set who=ana; \"$LUZIA\" await response";
    let id = place.enqueue(&["-u", "a", "--", "sh", "-ec", script]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    place.ok(&["emit", "OTHER", "--task", &id, "--data", "{\"x\":1}"]);
    let point = place.json(&["show", &id, "--checkpoint"]);
    assert_eq!(point["thread_id"], "execution_1");
    let point = &point["checkpoint"];
    for (member, value) in [
        ("currentStep", json!(1)),
        ("variables", json!({ "who": "ana" })),
        ("shouldWait", json!(true)),
        ("waitingFor", json!("response")),
        ("nextActionId", json!(2)),
    ] {
        assert_eq!(point[member], value, "{member}");
    }
    let history: Vec<&Value> =
        point["conversationHistory"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(history, [&json!("one"), &json!("OTHER")]);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    until("it is over", || (place.status(&id) == "completed").then_some(()));
    let point = &place.json(&["show", &id, "--checkpoint"])["checkpoint"];
    assert_eq!(
        (&point["shouldWait"], &point["waitingFor"], &point["nextActionId"]),
        (&json!(false), &json!(null), &json!(null))
    );
}

#[test]
fn waiting_tasks_are_listed_by_the_end_of_their_time() {
    // S1.43
    let place = Place::new();
    let wait = |user: &str, time: &str| {
        let script = format!("exec \"$LUZIA\" await response --timeout {time}");
        let id = place.enqueue(&["-u", user, "--", "sh", "-c", &script]);
        place.ok(&["dispatch"]);
        place.until_status(&id, "waiting");
        id
    };
    let (late, soon) = (wait("a", "3h"), wait("b", "1h"));
    let asked = ["list", "--status", "waiting", "--sort", "waitingUntil"];
    let items = place.json(&asked)["items"].clone();
    assert_eq!((&items[0]["id"], &items[1]["id"]), (&json!(soon), &json!(late)));
    for member in ["waitingFor", "waitingUntil", "waiting_until", "waiting_hours", "agentId"] {
        assert!(!items[0][member].is_null(), "{member} in {}", items[0]);
    }
    assert_eq!((&items[0]["waitingFor"], &items[0]["agentId"]), (&json!("response"), &json!("b")));
    // S1.42
    let stats = place.json(&["stats", "--by", "status"]);
    let line =
        stats["items"].as_array().unwrap().iter().find(|one| one["status"] == "waiting" || one["state"] == "waiting");
    let line = line.unwrap_or_else(|| panic!("{stats}"));
    assert!(line["count"] == 2 && line["avg_age_seconds"].is_number(), "{line}");
    // S1.38
    place.ok(&["cancel", &late, "--by", "user", "--reason", "enough"]);
    let shown = place.show(&late);
    assert_eq!((&shown["cancelledBy"], &shown["cancelReason"]), (&json!("user"), &json!("enough")));
    place.ok(&["cancel", &soon]);
}

#[test]
fn a_waiting_task_whose_supervisor_died_is_stuck_until_a_pass() {
    // S1.44, S2.16, S2.17
    let place = Place::new();
    let id = place.enqueue(&[
        "-u",
        "a",
        "--retries",
        "1",
        "--backoff",
        "1h",
        "--",
        "sh",
        "-c",
        "exec \"$LUZIA\" await response",
    ]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let stuck = || place.json(&["list", "--stuck"])["items"].as_array().unwrap().len();
    assert_eq!(stuck(), 0);
    signal(place.supervisor(&id), Signal::STOP);
    until("it is listed", || (stuck() == 1).then_some(()));
    assert_eq!(place.json(&["list", "--stuck"])["items"][0]["reason"], "Stopped");
    // A stopped supervisor is not dead: nothing is reset.
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "waiting");
    signal(place.supervisor(&id), Signal::KILL);
    until("it is dead", || {
        (stuck() == 1 && place.json(&["list", "--stuck"])["items"][0]["reason"] != "Stopped").then_some(())
    });
    // Its checkpoint stands, so a pass makes it a wait without a process, and no attempt is spent.
    until("a pass has recovered it", || {
        place.ok(&["dispatch"]);
        (stuck() == 0 && place.status(&id) == "waiting").then_some(())
    });
    assert_eq!(place.show(&id)["attempt"], 1);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    until("it is over", || {
        place.ok(&["dispatch"]);
        (place.status(&id) == "completed").then_some(())
    });
}

#[test]
fn a_wait_that_ran_out_an_hour_ago_and_came_to_nothing_is_stuck() {
    // S1.44
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--", "sh", "-c", "exec \"$LUZIA\" await response --timeout 1h"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let path = place.state().join("spool/steps/1/waits.json");
    let set_until = |until: &str| {
        let mut waits: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        waits["open"]["until"] = until.into();
        std::fs::write(&path, waits.to_string()).unwrap();
    };
    let stuck = || place.json(&["list", "--stuck"])["items"].clone();
    assert_eq!(stuck(), json!([]));
    // Its process is there and did not notice, as one that was stopped for long.
    set_until("2020-01-01T00:00:00.000Z");
    let found = stuck();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["reason"]), (1, &json!("WaitExpired")));
    assert!(place.ok(&["list", "--stuck"]).out.contains("wait over since 2020"));
    assert_eq!(place.show(&id)["reason"], "WaitExpired");
    place.ok(&["cancel", &id]);
    assert_eq!(stuck(), json!([]));
}

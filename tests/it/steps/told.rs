//! What is told of steps and waits: the documents of the source, names and numbers, failures, times that ran out (S1.15, S1.18,
//! S1.20, S1.33, S1.36, S1.51, S2.7, S2.33).

use super::{pending, script};
use crate::support::{Place, until};
use serde_json::{Value, json};

/// Queues a file of steps that finds luzia; its id.
fn listed(place: &Place, steps: &Value) -> String {
    std::fs::write(place.path("steps.json"), steps.to_string()).unwrap();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_luzia")).parent().unwrap().display().to_string();
    let search = format!("PATH={bin}:/usr/bin:/bin");
    place.enqueue(&["-u", "alice", "--steps", &place.text("steps.json"), "--env", &search])
}

fn course(place: &Place, id: &str) -> Vec<String> {
    let text = place.ok(&["logs", id, "--steps"]).out;
    text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

/// A task that waits without a process, for a second.
fn parked(place: &Place) -> String {
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", "\"$LUZIA\" await response --park --timeout 1s"]);
    place.ok(&["dispatch"]);
    until("it waits", || place.state().join("spool/waiting/1.json").exists().then_some(()));
    until("its run is over", || (!place.state().join("run/1").exists()).then_some(()));
    id
}

fn until_overdue(place: &Place) {
    let text = std::fs::read(place.state().join("spool/steps/1/waits.json")).unwrap();
    let waits: Value = serde_json::from_slice(&text).unwrap();
    let until_at = waits["open"]["until"].as_str().unwrap().to_owned();
    until("its time is over", || (now() > until_at).then_some(()));
}

fn now() -> String {
    let out = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%3NZ"]).output().unwrap().stdout;
    String::from_utf8(out).unwrap().trim().to_owned()
}

/// S1.20, S1.34: the documents of the source.
#[test]
fn the_documents_of_the_source_are_accepted_as_they_stand() {
    let place = Place::new();
    let wait =
        json!({ "actionType": "wait_for_response", "parameters": { "timeout": "24h", "onTimeout": "continue" } });
    let id = listed(&place, &wait);
    assert_eq!(
        place.show(&id)["command"],
        json!(["luzia", "await", "response", "--timeout=24h", "--on-timeout=continue"])
    );
    place.ok(&["cancel", &id]);
    let message = "No recibimos tu respuesta. Te contactaremos pronto; \"it's\" $HOME";
    let actions = json!([{ "actionType": "send_message", "parameters": { "message": message } }]);
    let id = listed(
        &place,
        &json!([
            { "actionType": "send_message", "parameters": { "message": "-n hola" } },
            { "actionType": "wait_for_response",
              "parameters": { "timeout": "100ms", "onTimeout": "continue", "timeoutActions": actions } },
        ]),
    );
    place.drain();
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, format!("-n hola\n{message}\n"));
    assert_eq!(place.status(&id), "completed");
}

#[test]
fn a_step_that_has_a_command_and_a_type_is_refused() {
    let place = Place::new();
    let steps = json!([{ "command": ["touch", "x"], "actionType": "wait_for_response" }]);
    std::fs::write(place.path("steps.json"), steps.to_string()).unwrap();
    let refused = place.luzia(&["enqueue", "-u", "a", "--steps", &place.text("steps.json")]).coded(2);
    assert!(refused.err.contains("step 1: it has a command beside"), "{}", refused.err);
    assert_eq!(place.json(&["list", "-a"])["items"], json!([]));
}

#[test]
fn a_step_without_a_name_is_refused_and_nothing_is_run() {
    let place = Place::new();
    let (said, shown) = script(&place, &[], "\"$LUZIA\" step -- touch $PLACE/made || exit $?");
    assert_eq!(shown["exit_code"], 2, "{said}");
    let err = place.ok(&["logs", "1", "--stderr"]).out;
    assert!(err.contains("the name of the step is missing before --"), "{err}");
    assert!(!place.path("made").exists());
}

/// S1.15: the steps of a list have their names, a wait is one action, and a step that is tried again keeps its number.
#[test]
fn the_course_of_a_list_has_its_names_and_one_number_for_each_step() {
    let place = Place::new();
    let id = listed(
        &place,
        &json!([
            { "name": "build", "command": "test -e $PLACE/again" },
            { "name": "ask", "actionType": "wait_for_response", "parameters": { "timeout": "1h" } },
            { "actionType": "wait_for_test", "parameters": { "timeout": "100ms", "onTimeout": "continue" } },
            ["true"],
        ]),
    );
    place.ok(&["dispatch", "--once"]);
    until("the first try has failed", || (place.show(&id)["attempt"] == 2).then_some(()));
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["emit", "response", "--task", &id, "--data", "\"yes\""]);
    place.drain();
    let wanted = [
        "Ejecucion iniciada",
        "Accion 1: build - iniciando",
        "Accion 1: build - fallida (exit 1)",
        "Accion 1: build - iniciando",
        "Accion 1: build - completada",
        "Accion 2: ask - iniciando",
        "Accion 2: ask - esperando...",
        "Accion 2: ask - completada",
        "Accion 3: wait_for_test - iniciando",
        "Accion 3: wait_for_test - esperando...",
        "Accion 3: wait_for_test - vencida",
        "Accion 4: step 3 - iniciando",
        "Accion 4: step 3 - completada",
    ];
    assert_eq!(course(&place, &id), wanted);
    let first = place.json(&["logs", &id, "--steps"])["items"][0].clone();
    assert_eq!((&first["action"], &first["state"]), (&Value::Null, &json!("started")));
}

/// S2.7, S2.33, S1.36: a failed step is found again, with what it wrote.
#[test]
fn a_failed_step_keeps_its_record_its_output_and_its_number() {
    let place = Place::new();
    let text = "\"$LUZIA\" step one -- true; \"$LUZIA\" step two -- true
                \"$LUZIA\" step three -- sh -c 'echo out; echo more; test -e $PLACE/again || exit 3'";
    let (_, shown) = script(&place, &[], text);
    assert_eq!(
        (&shown["status"], &shown["failedActionId"], &shown["failed_action_id"]),
        (&json!("failed"), &json!(2), &json!(2))
    );
    let step = shown["steps"][2].clone();
    assert_eq!(
        (&step["name"], &step["done"], &step["exit_code"]),
        (&json!("three"), &json!(false), &json!(3)),
        "{step}"
    );
    assert_eq!(place.ok(&["logs", "1", "--step", "three"]).out, "out\nmore\n");
    assert!(place.ok(&["tree", "1"]).out.contains("step three: exit 3"));
    assert!(place.ok(&["show", "1"]).out.contains("three: exit 3, "));
    place.luzia(&["logs", "1", "--step", "four"]).coded(66);
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["retry", "1"]);
    place.drain();
    let shown = place.show("1");
    let names: Vec<_> = shown["steps"].as_array().unwrap().iter().map(|step| (&step["name"], &step["done"])).collect();
    let done = json!(true);
    assert_eq!(names, [(&json!("one"), &done), (&json!("two"), &done), (&json!("three"), &done)]);
    let numbers: Vec<String> = course(&place, "1").into_iter().filter(|line| line.contains("three")).collect();
    assert!(numbers.len() == 4 && numbers.iter().all(|line| line.starts_with("Accion 3: ")), "{numbers:?}");
}

/// S1.50: what is damaged of one step stops that step alone.
#[test]
fn a_damaged_record_stops_its_own_step_and_no_other() {
    let place = Place::new();
    let text = "test -e $PLACE/again || { \"$LUZIA\" step one -- true; exit 1; }
                \"$LUZIA\" step two -- sh -c 'echo two >> $PLACE/effects'
                \"$LUZIA\" step one -- sh -c 'echo one >> $PLACE/effects'";
    script(&place, &[], text);
    std::fs::write(place.state().join("spool/steps/1/step.one.json"), "{").unwrap();
    std::fs::write(place.path("again"), "").unwrap();
    place.ok(&["retry", "1"]);
    place.drain();
    let shown = place.show("1");
    assert_eq!(shown["exit_code"], 65, "the step itself is not run again");
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "two\n");
    assert_eq!((&shown["steps"][0]["name"], &shown["steps"][0]["done"]), (&json!("two"), &json!(true)), "{shown:#}");
}

/// S1.18, S1.43.
#[test]
fn a_wait_has_the_members_of_the_source_and_stands_in_the_list() {
    let place = Place::new();
    let wait = "\"$LUZIA\" await response --match thread=7 --match from=postulant --timeout 24h";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", wait]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let shown = place.show(&id);
    let data =
        json!({ "thread": "7", "from": "postulant", "threadId": 7, "expectedFrom": "postulant", "timeout": "1d" });
    assert_eq!(shown["waitingData"], data);
    assert_eq!(shown["waiting_data"], json!({ "thread": "7", "from": "postulant" }));
    let wanted = format!("waits for response until {}", shown["waitingUntil"].as_str().unwrap());
    assert!(place.ok(&["list"]).out.contains(&wanted), "{}", place.ok(&["list"]).out);
    assert!(place.ok(&["show", &id]).out.contains(&wanted["waits for response ".len()..]));
}

/// S1.33.
#[test]
fn each_further_wait_is_an_event_and_is_counted() {
    let place = Place::new();
    let wait = "\"$LUZIA\" await response --timeout 500ms --on-timeout retry --retry-waits 1000";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", wait]);
    place.ok(&["dispatch"]);
    until("it waits again", || (place.show(&id)["waiting_timeouts"].as_u64() >= Some(2)).then_some(()));
    assert!(place.ok(&["show", &id]).out.contains("it waits again"));
    let told = place.events_named("wait_timeout");
    assert!(told.len() >= 2 && told.iter().all(|event| event["data"]["means"] == "retry"), "{told:?}");
    place.ok(&["emit", "response", "--task", &id]);
    place.until_status(&id, "completed");
}

/// S1.51: whichever verb about tasks comes first acts on a time that ran out.
#[test]
fn every_verb_about_tasks_acts_on_a_time_that_ran_out() {
    for verb in [
        &["check", "alice"][..],
        &["stats"],
        &["metrics"],
        &["events"],
        &["tree", "1"],
        &["get", "--task", "1"],
        &["timeline"],
        &["lanes"],
        &["emit", "response", "--user", "nobody"],
    ] {
        let place = Place::new();
        parked(&place);
        until_overdue(&place);
        place.luzia(verb);
        assert_eq!(place.events_named("finished").len(), 1, "{verb:?}");
    }
}

/// S1.51: a look that changes nothing says what nobody has acted on.
#[test]
fn doctor_calls_an_overdue_wait_overdue() {
    let place = Place::new();
    parked(&place);
    until_overdue(&place);
    let told = place.luzia(&["doctor"]);
    let said = format!("{}{}", told.out, told.err);
    assert!(said.contains("task_1 waits and is overdue") && said.contains("waits whose time has run out: 1"), "{said}");
    assert!(place.events_named("finished").is_empty(), "doctor changes nothing");
}

#[test]
fn doctor_never_asks_to_queue_finished_work_again() {
    let place = pending();
    place.ok(&["set", "--task", "1", "a=1"]);
    place.ok(&["set", "--task", "1", "a=2"]);
    std::fs::write(place.state().join("spool/steps/1/vars.json"), "{").unwrap();
    place.ok(&["set", "--task", "1", "b=3"]);
    place.drain();
    assert_eq!(place.status("1"), "completed");
    let told = place.luzia(&["doctor"]).coded(0);
    let said = format!("{}{}", told.out, told.err);
    assert!(said.contains("nothing is to be queued again: luzia show task_1"), "{said}");
    assert!(!said.contains("queue the work again"), "{said}");
}

/// S2.33.
#[test]
fn the_end_of_a_step_has_its_time_and_says_where_its_output_is() {
    let place = Place::new();
    let id = listed(&place, &json!([["echo", "one"], ["sh", "-c", "sleep 0.05; echo two"]]));
    place.drain();
    let ends: Vec<Value> = place.events_named("step_ended").into_iter().map(|event| event["data"].clone()).collect();
    assert_eq!((&ends[0]["stdout_bytes"], &ends[1]["stdout_bytes"]), (&json!(4), &json!(4)), "{ends:?}");
    assert_eq!(ends[1]["output_ref"], json!(format!("log:{id}/stdout.log/4")));
    assert!(ends[1]["ran_ms"].as_u64().unwrap() >= 50, "{ends:?}");
}

#[test]
fn a_word_that_a_verb_does_not_take_is_answered_by_what_was_meant() {
    let place = pending();
    for (words, meant) in [
        (&["await", "response", "--thread", "5"][..], "--match thread=ID"),
        (&["await", "response", "--from", "ana"], "--match from=NAME"),
        (&["set", "--task", "1", "page", "3"], "luzia set page=3"),
        (&["get", "task_1", "page"], "luzia get --task TASK NAME"),
        (&["finish", "done"], "luzia finish --summary TEXT"),
        (&["events", "--type", "failed"], "did you mean --kind?"),
        (&["events", "-n", "3"], "--since 1h"),
        (&["timeline", "task_1"], "luzia events TASK"),
        (&["timeline", "-o", "html"], "svg"),
    ] {
        let refused = place.luzia(words).coded(2);
        assert!(refused.err.contains(meant), "{words:?}: {}", refused.err);
    }
    place.ok(&["events", "--since", "yesterday"]);
    let (_, shown) = script(&place, &[], "\"$LUZIA\" await response --match =x || exit 7");
    assert_eq!(shown["exit_code"], 7);
    let (_, shown) = script(&place, &[], "\"$LUZIA\" await response --timeout-do '' --timeout 1ms || exit $?");
    assert_eq!(shown["exit_code"], 2);
}

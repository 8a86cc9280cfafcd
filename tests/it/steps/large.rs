//! Events and variables of any size never keep a task from its start: what is too large for the environment comes by files.

use crate::support::{LUZIA, Place};
use serde_json::json;

/// Starts a script as a task and waits until it waits; its id.
#[track_caller]
fn parked(place: &Place, text: &str) -> String {
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    id
}

fn emit(place: &Place, event: &str, id: &str, data: &serde_json::Value) {
    place.ok(&["emit", event, "--task", id, "--data", &data.to_string()]);
}

#[test]
fn a_task_resumes_with_events_that_no_environment_can_hold() {
    let place = Place::new();
    let text = "\"$LUZIA\" await document --expect 5 --park > $PLACE/came; wc -c < $PLACE/came; echo ${LUZIA_VAR_documentUrls-none}; \
                wc -c < \"$LUZIA_VAR_documentUrls_FILE\"; \"$LUZIA\" get documentUrls | wc -c; \"$LUZIA\" set done=yes";
    let id = parked(&place, text);
    for letter in ["a", "b", "c", "d", "e"] {
        emit(&place, "DOCUMENT_UPLOADED", &id, &json!({ "url": letter.repeat(50_000) }));
    }
    place.until_status(&id, "completed");
    // Five texts with quotes and commas between brackets; with a line end each where they are printed.
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "250005\nnone\n250016\n250017\n");
    assert_eq!(place.show(&id)["vars"]["done"], "yes", "small variables can still be set");
    let id = parked(&place, "\"$LUZIA\" await response --park; cat \"$LUZIA_VAR_lastResponse_FILE\"");
    emit(&place, "MESSAGE_RECEIVED", &id, &json!({ "text": "x".repeat(120_000) }));
    place.until_status(&id, "completed");
    assert!(place.ok(&["logs", &id, "--stdout"]).out.ends_with(&"x".repeat(120_000)));
}

#[test]
fn an_argument_that_a_value_makes_too_long_is_told_in_a_sentence() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--retries", "3", "--steps", &{
        let steps = place.text("steps");
        let wait = [LUZIA, "await", "document", "--expect", "2"];
        std::fs::write(&steps, json!([wait, ["echo", "{{documentUrls}}"]]).to_string()).unwrap();
        steps
    }]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    for letter in ["a", "b"] {
        emit(&place, "DOCUMENT_UPLOADED", &id, &json!({ "url": letter.repeat(70_000) }));
    }
    place.until_status(&id, "failed");
    let error = place.show(&id)["resultSummary"].as_str().unwrap().to_owned();
    assert!(error.contains("\"documentUrls\"") && error.contains("140007 bytes"), "{error}");
    assert!(error.contains("luzia get documentUrls") && !error.contains("os error"), "{error}");
}

#[test]
fn a_text_that_no_environment_can_hold_comes_by_a_file_whatever_its_size() {
    let place = Place::new();
    let id = parked(&place, "\"$LUZIA\" await response --park >/dev/null; od -An -c \"$LUZIA_VAR_lastResponse_FILE\"");
    emit(&place, "MESSAGE_RECEIVED", &id, &json!({ "text": "a\u{0}b" }));
    place.until_status(&id, "completed");
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out.split_whitespace().collect::<Vec<_>>(), ["a", "\\0", "b"]);
}

#[test]
fn what_is_too_much_for_the_record_is_left_out_and_the_task_goes_on() {
    let place = Place::new();
    let text = "\"$LUZIA\" await document --expect 26 --park > $PLACE/came; wc -c < $PLACE/came; echo ${LUZIA_VAR_documentUrls_FILE-none}; \
                \"$LUZIA\" get documentUrls || echo absent";
    let id = parked(&place, text);
    for _ in 0..26 {
        emit(&place, "DOCUMENT_UPLOADED", &id, &json!({ "url": "d".repeat(100_000) }));
    }
    place.until_status(&id, "completed");
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "2600026\nnone\nabsent\n");
    let events = place.events_named("vars_left_out");
    assert_eq!((events.len(), &events[0]["data"]["names"]), (1, &json!(["documentUrls"])), "{events:#?}");
}

#[test]
fn a_small_limit_of_the_stack_leaves_room_for_the_start() {
    let place = Place::new();
    // A quarter of it, 128 KiB, is what the system takes of arguments and environment.
    let inner = "for x in 1 2 3; do eval \"f=\\${LUZIA_VAR_v${x}_FILE-}\"; if test -n \"$f\"; then wc -c < \"$f\"; fi; done; \
                 echo \"$LUZIA_VAR_small\"";
    let mut command = place.shell("ulimit -S -s 512; exec \"$LUZIA\" enqueue -u alice -- sh -c \"$INNER\"");
    command.env("INNER", inner);
    let id = place.spawn(&mut command).end().coded(0).line();
    for name in ["v1", "v2", "v3"] {
        place.ok(&["set", "--task", &id, &format!("{name}={}", "y".repeat(60_000))]);
    }
    place.ok(&["set", "--task", &id, "small=here"]);
    place.drain();
    let shown = place.show(&id);
    assert_eq!(shown["status"], "completed", "{shown:#}");
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "60000\n60000\nhere\n");
    // An environment that is too large by itself is told in a sentence, and another attempt would end like it.
    let env = json!({ "BIG1": "z".repeat(70_000), "BIG2": "z".repeat(70_000) });
    let line = json!({ "user": "alice", "command": ["true"], "retries": 3, "env": env });
    std::fs::write(place.path("lines"), line.to_string()).unwrap();
    let script = "ulimit -S -s 512; exec \"$LUZIA\" enqueue --from \"$PLACE/lines\"";
    let id = place.spawn(&mut place.shell(script)).end().coded(0).line();
    place.drain();
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["starts"]), (&json!("failed"), &json!(0)), "{shown:#}");
    assert!(shown["resultSummary"].as_str().unwrap().contains("the system takes 131072 at a start"), "{shown:#}");
    let line = json!({ "user": "alice", "command": ["true"], "env": { "BIG": "z".repeat(140_000) } });
    std::fs::write(place.path("lines"), line.to_string()).unwrap();
    let id = place.ok(&["enqueue", "--from", &place.text("lines")]).line();
    place.drain();
    let error = place.show(&id)["resultSummary"].as_str().unwrap().to_owned();
    assert!(error.contains("the variable BIG has 140004 bytes, and the system takes 131071"), "{error}");
}

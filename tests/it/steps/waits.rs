//! `await`: a task blocks until its event comes or its time runs out (S1.5, S1.8, S1.16–S1.34, S1.46).

use super::script;
use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Starts a script as a task and waits until it is `waiting`; its id.
#[track_caller]
fn waiting(place: &Place, options: &[&str], text: &str) -> String {
    let id = place.enqueue(&[options, &["-u", "alice", "--", "sh", "-ec", text]].concat());
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    id
}

fn said(place: &Place, id: &str) -> String {
    place.luzia(&["logs", id]).out
}

#[test]
fn a_task_waits_for_its_event_and_goes_on_with_what_it_says() {
    let place = Place::new();
    let text = "a=$(\"$LUZIA\" await response); echo got $a; \"$LUZIA\" get lastResponse";
    let id = waiting(&place, &["--thread", "7"], text);
    let shown = place.show(&id);
    assert_eq!((&shown["waiting_for"], &shown["waiting_event"]), (&json!("response"), &json!("MESSAGE_RECEIVED")));
    assert!(shown["supervisor_pid"].is_u64() && shown["waiting_until"].is_string(), "{shown:#}");
    assert_eq!(place.json(&["list", "--state", "waiting"])["items"][0]["id"], id.as_str());
    assert_eq!(place.json(&["list", "--state", "running"])["items"], json!([]));
    place.luzia(&["check", "alice"]).coded(75);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--thread", "7", "--data", "{\"from\":\"ana\",\"text\":\"yes, do\"}"]);
    place.until_status(&id, "completed");
    assert!(said(&place, &id).contains("got yes, do\nyes, do\n"), "{}", said(&place, &id));
    assert_eq!(place.show(&id)["vars"]["lastResponse"], "yes, do");
    let told: Vec<Value> = place.events().iter().map(|event| event["message"].clone()).collect();
    let at = |text: &str| told.iter().position(|told| told == text).unwrap_or_else(|| panic!("{text}: {told:#?}"));
    let in_order = [
        "Action wait_for_response requires wait",
        "Saving checkpoint for execution 1",
        "Execution 1 entering WAITING state (waitingFor: response)",
        "Resuming execution 1",
        "Updating state: shouldWait=false, lastResponse=\"yes, do\"",
        "Continuing from checkpoint",
    ];
    assert!(in_order.map(at).is_sorted(), "{told:#?}");
}

#[test]
fn an_event_that_came_before_counts_and_ends_one_wait_only() {
    let place = Place::new();
    let id = place.enqueue(&[
        "-u",
        "alice",
        "--",
        "sh",
        "-c",
        "\"$LUZIA\" await test; \"$LUZIA\" await test --timeout 100ms; echo $?",
    ]);
    place.ok(&["emit", "TEST_COMPLETED", "--task", &id, "--data", "{\"testScore\":7,\"testResult\":\"good\"}"]);
    place.drain();
    assert!(said(&place, &id).contains("124\n"), "{}", said(&place, &id));
    let vars = &place.show(&id)["vars"];
    assert_eq!((&vars["testScore"], &vars["testResult"]), (&json!(7), &json!("good")));
}

#[test]
fn each_kind_is_resumed_by_its_own_event_and_by_no_other() {
    let kinds = ["response", "document", "signature", "test", "event", "event:MINE", "agent", "delay"];
    let events =
        ["MESSAGE_RECEIVED", "DOCUMENT_UPLOADED", "SIGNATURE_COMPLETED", "TEST_COMPLETED", "EVENT_COMPLETED", "MINE"];
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    place.gate("end");
    for (at, kind) in kinds.iter().enumerate() {
        let before = match *kind {
            "agent" => "\"$LUZIA\" enqueue -- sh -c 'read _ <$PLACE/end' >/dev/null; ",
            _ => "",
        };
        let time = if *kind == "delay" { "--for 10s" } else { "--timeout 1h" };
        let text = format!("{before}\"$LUZIA\" --json await {kind} {time} | grep -o '\"n\": [0-9]*' || true");
        place.enqueue(&["-u", &format!("u{at}"), "--", "sh", "-ec", &text]);
    }
    place.ok(&["dispatch"]);
    (1..=8).for_each(|id| place.until_status(&format!("task_{id}"), "waiting"));
    for (at, _) in kinds.iter().enumerate() {
        let others = events.iter().enumerate().filter(|(other, _)| *other != at);
        others.for_each(|(_, event)| {
            drop(place.ok(&["emit", event, "--task", &format!("task_{}", at + 1), "--data", "{\"n\":0}"]))
        });
    }
    for (at, event) in events.iter().enumerate() {
        let id = format!("task_{}", at + 1);
        assert_eq!(place.status(&id), "waiting", "{event}");
        place.ok(&["emit", event, "--task", &id, "--data", &format!("{{\"n\":{}}}", at + 1)]);
        place.until_status(&id, "completed");
        assert!(said(&place, &id).contains(&format!("\"n\": {}\n", at + 1)), "{}", said(&place, &id));
    }
    // The end of a child, and that of a time, come from luzia alone.
    for event in ["AGENT_COMPLETED", "SCHEDULE_REACHED"] {
        place.luzia(&["emit", event, "--task", "task_7"]).coded(2);
        place.luzia(&["await", &format!("event:{event}")]).coded(2);
    }
    assert_eq!(place.status("task_7"), "waiting");
    place.open_gate("end");
    place.until_status("task_7", "completed");
    place.until_status("task_8", "completed");
    assert_eq!(place.show("task_7")["vars"]["triggeredExecutionId"], 9);
}

#[test]
fn all_expected_documents_are_needed_and_a_filter_chooses() {
    let place = Place::new();
    let text = "\"$LUZIA\" await document --expect 2 --match from=ana --match thread=7";
    let id = waiting(&place, &["--thread", "7"], text);
    let send = |data: &str| drop(place.ok(&["emit", "DOCUMENT_UPLOADED", "--thread", "7", "--data", data]));
    send("{\"from\":\"ana\",\"url\":\"a\"}");
    send("{\"from\":\"bob\",\"url\":\"b\"}");
    place.ok(&["emit", "DOCUMENT_UPLOADED", "--task", &id, "--data", "{\"from\":\"ana\",\"url\":\"c\"}"]);
    let why = &place.json(&["explain", &id])["wait"];
    let others: Vec<_> =
        why["others"].as_array().unwrap().iter().map(|mail| mail["data"]["url"].as_str().unwrap()).collect();
    assert_eq!((others, &why["match"]["from"]), (vec!["b", "c"], &json!("ana")));
    let told = place.ok(&["explain", &id]).out;
    assert!(told.contains("waits for 2 DOCUMENT_UPLOADED with from=ana with thread=7"), "{told}");
    assert!(told.contains("event 3 did not match"), "{told}");
    assert_eq!(place.show(&id)["waiting_data"], json!({ "from": "ana", "thread": "7" }));
    assert_eq!(place.status(&id), "waiting");
    send("{\"from\":\"ana\",\"url\":\"d\"}");
    place.until_status(&id, "completed");
    assert_eq!(place.show(&id)["vars"]["documentUrls"], json!(["a", "d"]));
}

#[test]
fn a_time_that_runs_out_means_what_was_said() {
    let place = Place::new();
    let (out, shown) = script(
        &place,
        &[],
        "\"$LUZIA\" await response --timeout 50ms --on-timeout continue --timeout-do 'echo late >> $PLACE/late'; echo on",
    );
    assert_eq!((&shown["status"], out.contains("on\n")), (&json!("completed"), true), "{out}");
    let (out, shown) = script(
        &place,
        &["--retries", "3"],
        "\"$LUZIA\" await response --timeout 50ms --timeout-do 'echo late >> $PLACE/late'; echo on",
    );
    assert_eq!((&shown["status"], out.contains("on\n")), (&json!("timeout"), false), "{shown:#}");
    place.luzia(&["wait", "2"]).coded(124);
    let text = "\"$LUZIA\" await response --timeout 50ms --on-timeout retry --retry-waits 2 --timeout-do 'echo late >> $PLACE/late'";
    let (out, shown) = script(&place, &[], text);
    assert_eq!((&shown["status"], out.matches("waits once more").count()), (&json!("timeout"), 2), "{out}");
    assert_eq!(std::fs::read_to_string(place.path("late")).unwrap(), "late\nlate\nlate\n", "once a wait");
    let (out, shown) = script(&place, &[], "\"$LUZIA\" await delay --for 50ms; echo on");
    assert_eq!((&shown["status"], out.contains("on\n")), (&json!("completed"), true), "{out}");
    let (_, shown) = script(&place, &[], "exit 124");
    assert_eq!(shown["status"], "failed", "a code of the command's own is not that of a wait");
}

#[test]
fn a_later_start_answers_from_memory_and_keeps_the_end_of_the_open_wait() {
    let place = Place::new();
    let text = "a=$(\"$LUZIA\" await response); b=$(\"$LUZIA\" await event:GO --timeout 1h); echo $a $b";
    let id = waiting(&place, &["--retries", "1"], text);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"first\""]);
    until("the second wait", || (place.show(&id)["waiting_event"] == "GO").then_some(()));
    let until_at = place.show(&id)["waiting_until"].clone();
    signal(place.supervisor(&id), Signal::KILL);
    until("it waits without a process", || {
        place.luzia(&["dispatch", "--once"]);
        (place.show(&id)["parked"] == true).then_some(())
    });
    // While nothing of it runs.
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"other\""]);
    assert_eq!(place.status(&id), "waiting");
    assert_eq!(place.show(&id)["waiting_until"], until_at);
    place.ok(&["emit", "GO", "--task", &id, "--data", "\"second\""]);
    place.until_status(&id, "completed");
    assert!(said(&place, &id).contains("first second\n"), "{}", said(&place, &id));
}

#[test]
fn an_await_that_was_killed_passes_nothing_to_the_next() {
    let place = Place::new();
    let text = "\"$LUZIA\" await event:A & pid=$!; until test -e $PLACE/kill; do sleep 0.01; done; \
                kill -9 $pid; wait $pid || true; echo > $PLACE/killed; \"$LUZIA\" await event:A";
    let id = waiting(&place, &[], text);
    std::fs::write(place.path("kill"), "").unwrap();
    place.until_file("killed");
    // An event that came earlier might have ended the first one.
    place.ok(&["emit", "A", "--task", &id]);
    place.until_status(&id, "completed");
    let waits = std::fs::read(place.state().join("spool/steps/1/waits.json")).unwrap();
    let waits: Value = serde_json::from_slice(&waits).unwrap();
    assert_eq!((&waits["done"][0]["turn"], waits["done"].as_array().unwrap().len()), (&json!(1), 1), "{waits:#}");
    // Of another kind, and with a time of its own.
    let text = "timeout 0.3 \"$LUZIA\" await response || true; \"$LUZIA\" await signature --timeout 300ms || echo $?";
    let (out, _) = script(&place, &[], text);
    assert!(out.contains("124\n"), "{out}");
    // One with a name is the same wait, with the end that it had.
    let text = "timeout 0.3 \"$LUZIA\" await response --name ask --timeout 1s || true; \
                \"$LUZIA\" await response --name ask --timeout 1h || echo $?";
    let (out, _) = script(&place, &[], text);
    assert!(out.contains("124\n"), "{out}");
}

/// A script that is started again: its supervisor is killed in a wait, or it has no process meanwhile.
fn again(place: &Place, id: &str, is_parked: bool) {
    if !is_parked {
        signal(place.supervisor(id), Signal::KILL);
    }
    until("it waits without a process", || {
        place.luzia(&["dispatch", "--once"]);
        (place.show(id)["parked"] == true).then_some(())
    });
}

fn until_waits_for(place: &Place, id: &str, event: &str) {
    until(event, || (place.show(id)["waiting_event"] == event).then_some(()));
}

#[test]
fn an_await_in_a_step_keeps_its_answer_and_those_behind_it_get_theirs() {
    for mode in ["", "--park"] {
        let place = Place::new();
        let text = format!(
            "name=$(\"$LUZIA\" step ask -- \"$LUZIA\" await response); ok=$(\"$LUZIA\" await response {mode}); \
             s=$(\"$LUZIA\" await event:GO {mode} >/dev/null && echo go); echo name=$name ok=$ok $s"
        );
        let id = waiting(&place, &[], &text);
        place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"ana\""]);
        until("the step is done", || {
            (place.show(&id)["steps"].as_array().is_some_and(|all| all.len() == 1)).then_some(())
        });
        until_waits_for(&place, &id, "MESSAGE_RECEIVED");
        again(&place, &id, !mode.is_empty());
        place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"NO, stop\""]);
        until_waits_for(&place, &id, "GO");
        again(&place, &id, !mode.is_empty());
        place.ok(&["emit", "GO", "--task", &id]);
        place.until_status(&id, "completed");
        assert!(said(&place, &id).contains("name=ana ok=NO, stop go\n"), "{mode}: {}", said(&place, &id));
    }
}

#[test]
fn an_await_under_an_if_is_known_by_its_arguments_or_its_name() {
    for (mode, first) in
        [("", "--timeout 2h"), ("--park", "--timeout 2h"), ("", "--name early"), ("--park", "--name early")]
    {
        let place = Place::new();
        let text = format!(
            "if [ ! -e $PLACE/twice ]; then touch $PLACE/twice; a=$(\"$LUZIA\" await response {first}); echo a=$a; fi; \
             b=$(\"$LUZIA\" await response {mode}); echo b=$b"
        );
        let id = waiting(&place, &[], &text);
        place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"first\""]);
        until("the first is over", || said(&place, &id).contains("a=first").then_some(()));
        until_waits_for(&place, &id, "MESSAGE_RECEIVED");
        again(&place, &id, !mode.is_empty());
        place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"second\""]);
        place.until_status(&id, "completed");
        assert!(said(&place, &id).contains("b=second\n"), "{mode} {first}: {}", said(&place, &id));
    }
}

#[test]
fn a_second_await_beside_an_open_one_has_a_time_of_its_own() {
    let place = Place::new();
    let text = "\"$LUZIA\" await event:A & until \"$LUZIA\" --json show self | grep -q '\"waiting_event\": \"A\"'; do sleep 0.05; done
        begin=$(date +%s%N); \"$LUZIA\" await event:B --timeout 300ms || echo code $?; \
        echo took $((($(date +%s%N) - begin) / 1000000)) ms; \"$LUZIA\" emit A --task self; wait";
    let (out, shown) = script(&place, &[], text);
    assert_eq!(shown["status"], "completed", "{out}");
    let took: u64 = out.split("took ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    assert!(out.contains("code 75\n") && took < 4000, "{out}");
}

#[test]
fn one_name_is_one_await() {
    let place = Place::new();
    let text = "\"$LUZIA\" emit A --task self; \"$LUZIA\" emit A --task self; \"$LUZIA\" await event:A --name x; \
                \"$LUZIA\" await event:A --name x || echo code $?; \"$LUZIA\" await event:A --name -x || echo code $?";
    let (out, _) = script(&place, &[], text);
    assert_eq!(out.matches("code 2\n").count(), 2, "{out}");
    assert!(out.contains("needs a --name of its own"), "{out}");
}

#[test]
fn waits_of_versions_that_went_by_the_position_are_known_still() {
    let place = Place::new();
    let text =
        "a=$(\"$LUZIA\" await response --park); b=$(\"$LUZIA\" await event:GO --park >/dev/null; echo $?); echo $a $b";
    let id = waiting(&place, &[], text);
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", "\"old\""]);
    until_waits_for(&place, &id, "GO");
    again(&place, &id, true);
    let path = place.state().join("spool/steps/1/waits.json");
    let mut waits: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for wait in ["/done/0", "/open"] {
        let members = waits.pointer_mut(wait).and_then(Value::as_object_mut).expect(wait);
        members.remove("key").expect("a key");
        members.remove("turn");
    }
    waits.as_object_mut().unwrap().remove("asked");
    std::fs::write(&path, waits.to_string()).unwrap();
    place.ok(&["emit", "GO", "--task", &id]);
    place.until_status(&id, "completed");
    assert!(said(&place, &id).contains("old 0\n"), "{}", said(&place, &id));
}

#[test]
fn a_waiting_task_is_cancelled() {
    let place = Place::new();
    let id = waiting(&place, &[], "\"$LUZIA\" await response");
    place.ok(&["cancel", &id, "--yes"]);
    place.until_status(&id, "cancelled");
    place.luzia(&["emit", "MESSAGE_RECEIVED", "--task", &id]).coded(1);
}

#[test]
fn bad_waits_are_refused() {
    let place = super::pending();
    let before = place.snapshot();
    for args in [
        &["await", "nothing"][..],
        &["await", "response", "--timeout", "8d"],
        &["await", "agent", "--timeout", "25h"],
        &["await", "document", "--timeout", "31d"],
        &["await", "delay"],
        &["await", "delay", "--for", "31d"],
        &["await", "test", "--for", "1s"],
        &["await", "test", "--expect", "0"],
        &["await", "test", "--match", "x"],
        &["await", "event:a b"],
        &["await", "response"],
    ] {
        place.luzia(args).coded(2);
    }
    let mut forged = place.command(&["await", "response"]);
    forged.env("LUZIA_TASK_ID", "task_1");
    place.spawn(&mut forged).end().coded(1);
    place.assert_unchanged(&before, "a wait that is refused");
}

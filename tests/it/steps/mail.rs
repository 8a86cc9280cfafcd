//! `emit`: an event is kept for the tasks that it is for, and for no other.

use super::pending;
use crate::support::Place;
use serde_json::{Value, json};

fn mail(place: &Place, task: u64, number: u64) -> Value {
    let path = place.state().join(format!("spool/steps/{task}/mail/{number}.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_event_is_kept_in_the_order_of_arrival() {
    let place = pending();
    let sent = place.json(&["emit", "MESSAGE_RECEIVED", "--task", "1", "--data", "{\"from\":\"ana\"}"]);
    assert_eq!(sent["delivered"], json!([{ "id": "task_1", "number": 1, "awaited": false, "waits_for": null }]));
    place.ok(&["emit", "DOCUMENT_UPLOADED", "--task", "task_1"]);
    assert_eq!(
        (&mail(&place, 1, 1)["event"], &mail(&place, 1, 1)["data"]["from"]),
        (&json!("MESSAGE_RECEIVED"), &json!("ana"))
    );
    assert_eq!(mail(&place, 1, 2)["event"], "DOCUMENT_UPLOADED");
    assert_eq!(place.show("1")["mail"], 2);
    assert_eq!(place.events_named("emitted").len(), 2);
}

#[test]
fn an_event_of_a_thread_or_a_user_reaches_their_unfinished_tasks_only() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--thread", "7", "--", "true"]);
    place.enqueue(&["-u", "alice", "--thread", "8", "--", "true"]);
    place.enqueue(&["-u", "bob", "--thread", "7", "--", "true"]);
    assert_eq!(place.ok(&["emit", "E", "--thread", "7"]).out, "task_1\ntask_3\n");
    assert_eq!(place.ok(&["emit", "E", "--user", "alice"]).out, "task_1\ntask_2\n");
    assert_eq!(place.ok(&["emit", "E", "--user", "alice", "--thread", "7"]).line(), "task_1");
    assert_eq!(mail(&place, 1, 3)["thread"], "7");
    place.luzia(&["emit", "E", "--task", "2", "--thread", "7"]).coded(1);
    place.luzia(&["emit", "E", "--thread", "9"]).coded(1);
}

#[test]
fn bad_input_and_finished_tasks_change_nothing() {
    let place = pending();
    place.enqueue(&["-u", "bob", "--", "true"]);
    place.ok(&["cancel", "1"]);
    let before = place.snapshot();
    for (args, code) in [
        (&["emit", "E", "--task", "1"][..], 1),
        (&["emit", "E", "--user", "alice"], 1),
        (&["emit", "E", "--task", "2", "--data", "{x"], 2),
        (&["emit", "E", "--task", "2", "--data", ""], 2),
        (&["emit", "E E", "--task", "2"], 2),
        (&["emit", "", "--task", "2"], 2),
        (&["emit", "E"], 2),
        (&["emit", "E", "--thread", ""], 2),
        (&["emit", "E", "--task", "9"], 66),
    ] {
        let ran = place.luzia(args).coded(code);
        assert!(!ran.err.is_empty(), "{args:?}");
    }
    place.assert_unchanged(&before, "an event that is refused");
}

#[test]
fn twelve_events_at_once_have_twelve_numbers() {
    let place = pending();
    let all: Vec<_> = (0..12).map(|_| place.start(&["emit", "E", "--task", "1"])).collect();
    all.into_iter().for_each(|one| drop(one.end().coded(0)));
    for number in 1..=12 {
        assert_eq!(mail(&place, 1, number)["number"], number);
    }
}

/// A task that waits in the words of `await`.
fn waiting(place: &Place, kind: &str) -> String {
    let id = place.enqueue(&["-u", "w", "--", "sh", "-ec", &format!("\"$LUZIA\" await {kind}")]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    id
}

#[test]
fn whether_somebody_waited_is_said() {
    let place = Place::new();
    let id = waiting(&place, "event:deploy --match from=ana");
    let said = |args: &[&str]| place.ok(&[&["emit"], args, &["--task", &id]].concat()).err;
    assert!(said(&["test"]).contains("task_1 waits for deploy; TEST_COMPLETED is kept"));
    for near in ["Deploy", "event:deploi"] {
        let told = said(&[near]);
        assert!(told.contains("is kept") && told.contains("did you mean deploy?"), "{told}");
    }
    let told = said(&["MESAGE_RECEIVED"]);
    assert!(told.contains("did you mean MESSAGE_RECEIVED?"), "{told}");
    let told = said(&["event:deploy", "--data", "{\"from\":\"bob\"}"]);
    assert!(told.contains("task_1 waits for deploy with from=ana; this one is kept"), "{told}");
    let sent = place.json(&["emit", "event:deploy", "--task", &id, "--data", "{\"from\":\"ana\"}"]);
    let one = &sent["delivered"][0];
    assert_eq!(
        (&sent["event"], &one["awaited"], &one["waits_for"]),
        (&json!("deploy"), &json!(true), &json!("deploy"))
    );
    place.until_status(&id, "completed");
    let idle = place.enqueue(&["-u", "idle", "--", "true"]);
    let told = place.ok(&["emit", "response", "--task", &idle]).err;
    assert!(told.contains("task_2 does not wait now; MESSAGE_RECEIVED is kept"), "{told}");
}

#[test]
fn a_near_miss_of_a_member_is_told() {
    let place = Place::new();
    for (kind, data, meant) in [
        ("response", "{\"content\":\"yes\"}", "takes \"text\" from the data, and not \"content\""),
        ("test", "{\"score\":1}", "takes \"testScore\""),
        ("signature", "{\"url\":\"/a\"}", "takes \"signedDocumentUrl\""),
    ] {
        let id = waiting(&place, kind);
        let told = place.ok(&["emit", kind, "--task", &id, "--data", data]).err;
        assert!(told.contains(meant), "{told}");
        place.until_status(&id, "completed");
    }
}

#[test]
fn data_comes_from_a_file_or_standard_input() {
    let place = pending();
    std::fs::write(place.path("data.json"), "{\"n\":1}").unwrap();
    place.ok(&["emit", "E", "--task", "1", "--data", &format!("@{}", place.text("data.json"))]);
    let piped = "printf '{\"n\":2}' | $LUZIA emit E --task 1 --data -";
    place.spawn(&mut place.shell(piped)).end().coded(0);
    assert_eq!((&mail(&place, 1, 1)["data"], &mail(&place, 1, 2)["data"]), (&json!({ "n": 1 }), &json!({ "n": 2 })));
    let before = place.snapshot();
    place.luzia(&["emit", "E", "--task", "1", "--data", "@missing"]).coded(74);
    place.assert_unchanged(&before, "data that cannot be read");
}

#[test]
fn the_words_of_await_lead_to_the_right_ones() {
    let place = pending();
    for (args, hint) in [
        (&["await", "MESSAGE_RECEIVED"][..], "`luzia await response`"),
        (&["await", "task_5"], "luzia await agent --match child=task_5"),
        (&["await", "respons"], "did you mean response?"),
        (&["await", "response", "5s"], "--timeout says how long at most"),
        (&["await", "response", "--any"], "unless --expect says more"),
    ] {
        let refused = place.luzia(args).coded(2);
        assert!(refused.err.contains(hint), "{args:?}: {}", refused.err);
    }
    for verb in ["await", "emit"] {
        let help = place.ok(&[verb, "--help"]).out;
        for row in ["signature  SIGNATURE_COMPLETED", "testScore, testResult", "documentUrls"] {
            assert!(help.contains(row), "{row}: {help}");
        }
    }
    let page = include_str!("../../../docs/waits.md");
    assert!(page.contains(&luzia::policy::steps::members::table()), "docs/waits.md has the table of the help");
}

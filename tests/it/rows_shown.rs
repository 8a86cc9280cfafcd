//! Rows of `docs/rows.md` that no other test shows.

use crate::support::{Place, lines, until};
use luzia::model::Timestamp;
use serde_json::{Value, json};

#[test]
fn a_child_that_waits_behind_its_parent_is_told_that_a_parent_lends_to_a_child_it_waits_for() {
    // S0.36
    let place = Place::new();
    place.gate("end");
    let parent = place.enqueue(&["-u", "p", "--thread", "7", "--shell", "echo up > $PLACE/up; read _ < $PLACE/end"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let child = place.enqueue(&["-u", "c", "--parent", &parent, "--thread", "7", "--", "true"]);
    let told = place.ok(&["explain", &child]).out;
    assert!(told.contains("that is its parent, which lends its lanes to a child it waits for (use --wait)"), "{told}");
    assert!(told.contains(&parent), "{told}");
    place.open_gate("end");
    place.until_status(&child, "completed");
}

#[test]
fn an_enqueue_that_waits_and_is_told_to_end_ends_its_child_before_the_parent_goes_on() {
    // S0.20, X5
    let place = Place::new();
    let child = "while :; do echo C >> $PLACE/log; : > $PLACE/up; sleep 0.02; done";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script = "$LUZIA enqueue --wait --thread 7 -- sh $PLACE/child.sh & waiter=$!
        until [ -e $PLACE/up ]; do sleep 0.02; done; kill $waiter; wait $waiter
        for n in 1 2 3 4 5; do echo P >> $PLACE/log; sleep 0.05; done";
    let parent = place.enqueue(&["-u", "a", "--thread", "7", "--shell", script]);
    place.ok(&["dispatch"]);
    place.until_status(&parent, "completed");
    let mut authors = lines(&place.path("log"));
    authors.dedup();
    assert_eq!((authors, place.status("task_2")), (vec!["C".to_owned(), "P".to_owned()], "cancelled".into()));
}

#[test]
fn the_seven_states_have_their_words_in_a_list() {
    // S1.1
    let place = Place::new();
    let ended = [&["--", "true"][..], &["--", "false"], &["--timeout", "50ms", "--", "sleep", "1000"]];
    for options in ended {
        place.enqueue(&[&["-u", "a"], options].concat());
    }
    place.drain();
    let cancelled = place.enqueue(&["-u", "a", "--", "true"]);
    place.ok(&["cancel", &cancelled]);
    let running = place.enqueue(&["-u", "b", "--", "sleep", "1000"]);
    let waiting = place.enqueue(&["-u", "c", "--shell", "\"$LUZIA\" await response"]);
    place.ok(&["dispatch"]);
    place.until_status(&running, "running");
    place.until_status(&waiting, "waiting");
    place.enqueue(&["-u", "d", "--", "true"]);
    let listed = place.json(&["list", "-a", "--sort", "id"]);
    let states: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["completed", "failed", "timeout", "cancelled", "running", "waiting", "pending"]);
    place.ok(&["cancel", "--yes", "--grace", "0", &running, &waiting]);
}

#[test]
fn a_task_that_nothing_holds_up_starts_at_once_and_not_at_the_next_poll() {
    // S1.14
    let place = Place::new();
    let _daemon = place.start(&["daemon", "--poll", "1h"]);
    until("it is at work", || place.json(&["status"])["has_dispatcher"].as_bool()?.then_some(()));
    for _ in 0..5 {
        let id = place.enqueue(&["-u", "a", "--", "true"]);
        place.ok(&["wait", &id]).within(1);
    }
    let waits: Vec<u64> =
        place.events_named("locked").iter().map(|event| event["data"]["waited_ms"].as_u64().unwrap()).collect();
    assert!(waits.len() == 5 && waits.iter().all(|ms| *ms < 30_000), "{waits:?}");
}

#[test]
fn a_signature_gives_the_document_and_the_moment() {
    // S1.26
    let place = Place::new();
    let script = "\"$LUZIA\" await signature; \"$LUZIA\" get signedDocumentUrl; \"$LUZIA\" get signedAt";
    let signed = |data: &Value| {
        let id = place.enqueue(&["-u", "a", "--", "sh", "-ec", script]);
        place.ok(&["emit", "SIGNATURE_COMPLETED", "--task", &id, "--data", &data.to_string()]);
        place.drain();
        lines(&place.path(&format!("state/conductor/_/done/{id}/stdout.log")))
    };
    let at = "2026-11-25T10:00:00Z";
    let said = signed(&json!({ "signedDocumentUrl": "/in/a.pdf", "signedAt": at }));
    assert!(said.ends_with(&["/in/a.pdf".to_owned(), at.to_owned()]), "{said:?}");
    // Where the event does not say the moment, it is that of its arrival.
    let said = signed(&json!({ "signedDocumentUrl": "/in/b.pdf" }));
    assert!(said[said.len() - 2] == "/in/b.pdf" && Timestamp::parse(&said[said.len() - 1]).is_some(), "{said:?}");
}

#[test]
fn each_kind_of_wait_has_its_usual_and_its_longest_time() {
    // S1.30, X13
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    let times = [
        ("response", 24, "7d"),
        ("agent", 1, "1d"),
        ("document", 7 * 24, "30d"),
        ("signature", 7 * 24, "30d"),
        ("test", 7 * 24, "30d"),
        ("event", 24, "30d"),
    ];
    let ids = times.map(|(kind, _, _)| {
        let child = if kind == "agent" { "\"$LUZIA\" enqueue -u kid --hold -- true; " } else { "" };
        place.enqueue(&["-u", kind, "--shell", &format!("{child}\"$LUZIA\" await {kind}")])
    });
    place.ok(&["dispatch"]);
    for ((kind, hours, most), id) in times.iter().zip(&ids) {
        place.until_status(id, "waiting");
        let shown = place.show(id);
        let ms = |name: &str| Timestamp::parse(shown[name].as_str().unwrap()).unwrap().0;
        assert_eq!(ms("waiting_until") - ms("waiting_since"), hours * 3_600_000, "{kind}");
        let refused = place.luzia(&["await", kind, "--timeout", &format!("{most}1s")]).coded(2);
        assert!(refused.err.contains(&format!("lasts {most} at most")), "{kind}: {}", refused.err);
    }
    assert!(place.luzia(&["await", "delay", "--for", "30d1s"]).coded(2).err.contains("lasts 30d at most"));
    assert!(place.luzia(&["await", "delay"]).coded(2).err.contains("a delay needs its time"));
    place.ok(&["cancel", "--all", "--yes", "--grace", "0"]);
}

#[test]
fn a_wait_that_ran_out_less_than_an_hour_ago_is_not_stuck() {
    // S1.44
    let place = Place::new();
    let id = place.enqueue(&["-u", "a", "--shell", "exec \"$LUZIA\" await response --timeout 1h"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    let path = place.state().join("spool/steps/1/waits.json");
    let is_stuck_after = |minutes: i64| {
        let mut waits: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let until = Timestamp::parse(&chrono::Utc::now().to_rfc3339()).unwrap().0 - minutes * 60_000;
        waits["open"]["until"] = Timestamp(until).to_string().into();
        std::fs::write(&path, waits.to_string()).unwrap();
        place.json(&["list", "--stuck"])["items"] != json!([])
    };
    assert_eq!([30, 59, 61].map(is_stuck_after), [false, false, true]);
    place.ok(&["cancel", "--yes", "--grace", "0", &id]);
}

#[test]
fn a_step_takes_what_the_task_remembers_at_its_start() {
    // S2.2: nothing is handed over from the step before
    let place = Place::new();
    place.gate("gate");
    let text = "echo \"<$LUZIA_VAR_x>\" >> $PLACE/log; echo up > $PLACE/up
        [ $LUZIA_STEP = 0 ] && read _ < $PLACE/gate || \"$LUZIA\" finish";
    let id = place.enqueue(&["-u", "a", "--stepwise", "--", "sh", "-c", text]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    place.ok(&["set", "--task", &id, "x=edited"]);
    place.open_gate("gate");
    place.until_status(&id, "completed");
    assert_eq!(lines(&place.path("log")), ["<>", "<edited>"]);
}

#[test]
fn a_task_is_pending_or_waiting_between_its_steps_and_its_slot_is_free() {
    // S2.10
    let place = Place::new();
    place.gate("gate");
    let text = "if [ $LUZIA_STEP = 0 ]; then echo up > $PLACE/up; read _ < $PLACE/gate
        else \"$LUZIA\" await response --park; \"$LUZIA\" finish; fi";
    let id = place.enqueue(&["-u", "alice", "--stepwise", "--", "sh", "-ec", text]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    // Without the pause the next step would begin at once.
    place.ok(&["pause", "alice"]);
    place.open_gate("gate");
    let locks = || place.ok(&["list-locks", "-o", "name"]).out;
    until("the step is over", || (locks().is_empty() && place.status(&id) == "pending").then_some(()));
    assert_eq!(place.show(&id)["stepwise"]["step"], 1);
    place.ok(&["resume", "alice"]);
    place.ok(&["dispatch"]);
    until("it waits without a process", || (place.show(&id)["parked"] == true).then_some(()));
    until("its slot is free", || (locks() == "user:alice\n").then_some(()));
    assert_eq!(place.status(&id), "waiting");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id]);
    place.until_status(&id, "completed");
}

#[test]
fn one_rule_limits_each_goal_and_each_project_by_its_lane() {
    // S2.F2, S3.F1
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    for (kind, most) in [("goal", 2), ("project", 1)] {
        place.ok(&["lanes", "set", &format!("{kind}:*"), "--max", &most.to_string()]);
        let script = format!("echo up >> $PLACE/{kind}.up; until test -e $PLACE/{kind}.go; do sleep 0.01; done");
        for n in 0..4 {
            place.enqueue(&["-u", &format!("{kind}{n}"), "-l", &format!("{kind}:report"), "--shell", &script]);
        }
        let other = place.enqueue(&["-u", "other", "-l", &format!("{kind}:else"), "--", "true"]);
        place.ok(&["dispatch"]);
        place.until_status(&other, "completed");
        let up = || lines(&place.path(&format!("{kind}.up"))).len();
        until("as many as may run", || (up() == most).then_some(()));
        place.ok(&["dispatch"]);
        assert_eq!((up(), &place.json(&["status", "--capacity"])["slots"]["used"]), (most, &json!(most)));
        std::fs::write(place.path(&format!("{kind}.go")), "").unwrap();
        place.drain();
        assert_eq!(up(), 4);
    }
}

#[test]
fn a_session_starts_while_the_lanes_of_cron_and_of_subagents_are_full() {
    // S4.4
    let place = Place::configured(&json!({ "lanes": { "subagent": { "max": 1 } } }));
    let behind = ["cron", "subagent"].map(|lane| {
        place.ok(&["acquire", lane, "--task", "busy"]);
        place.enqueue(&["-u", "a", "-l", lane, "--", "true"])
    });
    let session = place.enqueue(&["-l", "session:telegram:ana", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&session, "completed");
    assert_eq!(behind.map(|id| place.status(&id)), ["pending", "pending"]);
}

//! Retries (S2.18, S2.20, X19, X20): their pauses, what an interruption means, and the alert.

use crate::support::{Place, signal, until};
use rustix::process::Signal;
use serde_json::json;

/// The pauses between the attempts of a task, in milliseconds.
fn gaps(place: &Place, id: &str) -> Vec<i64> {
    let at = |kind: &str| -> Vec<i64> {
        let events = place.events_named(kind).into_iter().filter(|event| event["task"] == id);
        events.map(|event| event["boot_ms"].as_i64().unwrap()).collect()
    };
    let (ends, starts) = (at("requeued"), at("started"));
    ends.iter().zip(&starts[1..]).map(|(end, start)| start - end).collect()
}

#[test]
fn the_pauses_double_from_the_first_to_the_longest() {
    // S2.20: with --retries 3 four runs in all.
    let place = Place::new();
    let asked = ["-u", "a", "--retries", "3", "--backoff", "100ms", "--max-backoff", "200ms"];
    let id = place.enqueue(&[&asked[..], &["--", "sh", "-c", "echo x >> $PLACE/effects; exit 1"]].concat());
    place.drain();
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["starts"]), (&json!("failed"), &json!(4)));
    assert_eq!(std::fs::read_to_string(place.path("effects")).unwrap(), "x\n".repeat(4));
    let gaps = gaps(&place, &id);
    assert_eq!(gaps.len(), 3);
    for (gap, least) in gaps.iter().zip([90, 180, 180]) {
        assert!(*gap >= least, "{gaps:?}");
    }
    // Each failure from the third on alerts.
    let alerts: Vec<u64> =
        place.events_named("alert").iter().map(|one| one["data"]["failures"].as_u64().unwrap()).collect();
    assert_eq!(alerts, [3, 4]);
}

#[test]
fn the_configuration_has_the_usual_pauses() {
    let place = Place::configured(
        &json!({ "retries": { "backoff_seconds": 7200, "max_backoff_seconds": 10800, "on_interrupt": "fail" } }),
    );
    let id = place.enqueue(&["-u", "a", "--retries", "1", "--", "false"]);
    let shown = place.show(&id);
    assert_eq!((&shown["backoff_ms"], &shown["max_backoff_ms"]), (&json!(7_200_000), &json!(10_800_000)));
    assert_eq!(shown["on_interrupt"], "fail");
    place.ok(&["dispatch"]);
    until("it is queued again", || (place.show(&id)["due_at"] != json!(null)).then_some(()));
    assert_eq!(place.status(&id), "pending");
    // An option goes before it, and a usual one leaves no member.
    let own = place.enqueue(&["-u", "b", "--backoff", "2s", "--on-interrupt", "retry", "--", "true"]);
    assert_eq!((place.show(&own).get("backoff_ms"), place.show(&own).get("on_interrupt")), (None, None));
    for wrong in
        [json!({ "backoff_seconds": -1 }), json!({ "on_interrupt": "maybe" }), json!({ "max_backoff_seconds": "x" })]
    {
        place.configure(&json!({ "retries": wrong }));
        place.luzia(&["enqueue", "--", "true"]).coded(78);
    }
}

#[test]
fn an_interruption_is_an_attempt_or_the_end() {
    for (policy, status) in [("retry", "pending"), ("fail", "failed")] {
        let place = Place::new();
        let asked = ["-u", "a", "--retries", "2", "--backoff", "1h", "--on-interrupt", policy];
        let id = place.enqueue(&[&asked[..], &["--", "sh", "-c", "echo on > $PLACE/on; exec sleep 1000"]].concat());
        place.ok(&["dispatch"]);
        place.until_file("on");
        signal(place.supervisor(&id), Signal::KILL);
        until("a pass has recovered it", || {
            place.ok(&["dispatch"]);
            (place.status(&id) == status).then_some(())
        });
        // P3: what killed its runner has spent an attempt.
        assert_eq!(place.show(&id)["starts"], 1, "{policy}");
        place.ok(&["check", "a"]);
    }
}

#[test]
fn a_step_that_names_no_number_is_tried_three_times_more() {
    // X19
    let place = Place::new();
    let stepwise = |verb: &str| place.json(&[verb, "--dry-run", "--stepwise", "--", "true"])["retries"].clone();
    assert_eq!(stepwise("enqueue"), 3);
    assert_eq!(place.json(&["enqueue", "--dry-run", "--", "true"])["retries"], 0);
    assert_eq!(place.json(&["enqueue", "--dry-run", "--stepwise", "--retries", "0", "--", "true"])["retries"], 0);
    // A caller that waits in `run` sees a failure at once.
    place.luzia(&["run", "-u", "a", "--stepwise", "--", "sh", "-c", "exit 4"]).coded(4);
}

#[test]
fn bad_terms_queue_nothing() {
    let place = Place::new();
    for (args, word) in [
        (&["--backoff", "0"][..], "longer than 0"),
        (&["--max-backoff", "soon"], "max-backoff"),
        (&["--on-interrupt", "maybe"], "maybe"),
        (&["--log-sample", "1.5"], "0 to 1"),
        (&["--log-sample", "nan"], "0 to 1"),
        (&["--reuse", "goal"], "--goal"),
        (&["--reuse", ""], "must name a goal"),
        (&["--group", ""], "group"),
    ] {
        let ran = place.luzia(&[&["enqueue", "-u", "a"], args, &["--", "true"]].concat()).coded(2);
        assert!(ran.err.contains(word), "{args:?}: {ran:?}");
    }
    assert_eq!(place.json(&["list", "-a"])["items"], json!([]));
}

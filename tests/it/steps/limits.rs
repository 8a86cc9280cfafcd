//! The usage limit of a provider: a task says from when on it can be tried again.

use crate::support::Place;
use serde_json::{Value, json};

fn limited(place: &Place, options: &[&str], said: &str) -> String {
    let text = format!("[ ! -e $PLACE/open ] || exit 0; printf '%s' '{said}' > \"$LUZIA_RESULT_FILE\"; exit 75");
    let id = place.enqueue(&[options, &["-u", "alice", "--", "sh", "-c", &text]].concat());
    place.ok(&["dispatch"]);
    id
}

fn events(place: &Place, name: &str) -> Vec<Value> {
    place.events().into_iter().filter(|event| event["event"] == name).collect()
}

fn in_an_hour() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    (now.as_secs() + 3600).to_string()
}

#[test]
fn a_limited_task_waits_without_an_attempt_and_its_lane_pauses_until_a_success() {
    let place = Place::new();
    let id = limited(&place, &["-l", "claude"], &format!("{{\"retry_at\":{},\"pause\":\"claude\"}}", in_an_hour()));
    place.until_status(&id, "pending");
    let shown = place.show(&id);
    assert_eq!((&shown["attempt"], &shown["starts"]), (&json!(1), &json!(1)), "{shown:#}");
    assert!(shown["due_at"].is_string(), "{shown:#}");
    assert_eq!(events(&place, "limited").len(), 1);
    // Another task of the lane waits, and is told why.
    let other = place.enqueue(&["-u", "bob", "-l", "claude", "--", "true"]);
    place.ok(&["dispatch"]);
    let why = place.json(&["explain", &other]);
    assert_eq!((&why["reasons"][0]["reason"], &why["status"]), (&json!("Paused"), &json!("pending")), "{why:#}");
    assert!(why.to_string().contains("usage limit"), "{why:#}");
    // One that is outside of the lane does not.
    let free = place.enqueue(&["-u", "carol", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&free, "completed");
    // A person resumes the lane; a success in it leaves no hold behind.
    place.ok(&["resume", "lane:claude"]);
    place.ok(&["dispatch"]);
    place.until_status(&other, "completed");
}

#[test]
fn a_success_in_the_lane_lifts_the_pause() {
    let place = Place::new();
    place.gate("gate");
    place.ok(&["lanes", "set", "claude", "--max", "2"]);
    let long =
        place.enqueue(&["-u", "bob", "-l", "claude", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    let id = limited(&place, &["-l", "claude"], &format!("{{\"retry_at\":{},\"pause\":\"claude\"}}", in_an_hour()));
    place.until_status(&id, "pending");
    let third = place.enqueue(&["-u", "dora", "-l", "claude", "--", "true"]);
    assert_eq!(place.json(&["explain", &third])["reasons"][0]["reason"], "Paused");
    place.open_gate("gate");
    place.until_status(&long, "completed");
    place.until_status(&third, "completed");
}

#[test]
fn a_limit_that_cannot_be_meant_is_a_failure_and_is_told() {
    for said in ["{\"retry_at\":\"soon\"}", "no json", "{\"retry_at\":7}"] {
        let place = Place::new();
        let id = limited(&place, &["-l", "claude"], said);
        place.until_status(&id, "failed");
        assert_eq!(events(&place, "limit_ignored").len(), 1, "{said}");
    }
    // Nothing was said, or another code: as ever.
    for (said, code) in [("{}", "75"), ("{\"retry_at\":99999999999}", "75"), ("", "1")] {
        let place = Place::new();
        let text = format!("printf '%s' '{said}' > \"$LUZIA_RESULT_FILE\"; exit {code}");
        let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", &text]);
        place.drain();
        assert_eq!(place.status(&id), "failed", "{said}");
    }
}

#[test]
fn a_task_pauses_only_lanes_that_it_takes_itself() {
    let place = Place::new();
    let id = limited(&place, &[], &format!("{{\"retry_at\":{},\"pause\":\"claude\"}}", in_an_hour()));
    place.until_status(&id, "pending");
    assert_eq!(events(&place, "limit_ignored").len(), 1);
    let other = place.enqueue(&["-u", "bob", "-l", "claude", "--", "true"]);
    place.ok(&["dispatch"]);
    place.until_status(&other, "completed");
}

//! Slots that came while nobody looked, and schedules that are paused.

use super::{Timed, at, daily};
use crate::support::Place;
use luzia::app::queue::pause::{Wish, pausable, pause, resume};
use luzia::model::calendar::Overlap;
use luzia::request::ScheduleRequest;
use serde_json::{Value, json};

fn line(name: &str, expression: &str) -> ScheduleRequest {
    ScheduleRequest { expression: expression.into(), overlap: Some(Overlap::Queue), ..daily(name) }
}

fn missed(timed: &Timed, schedule: &str) -> Vec<Value> {
    let mut events = timed.place.events_named("slot_missed");
    events.retain(|event| event["data"]["schedule"] == schedule);
    events.into_iter().map(|event| event["data"]["slot"].clone()).collect()
}

#[test]
fn a_line_that_is_rarer_than_daily_is_made_up_once_however_long_ago_its_slot_was() {
    let timed = Timed::new("2082-06-10T12:00:00Z");
    for (name, expression) in [("weekly", "0 3 * * sun"), ("monthly", "0 3 1 * *"), ("yearly", "@yearly")] {
        timed.add(line(name, expression)).unwrap();
    }
    timed.add(ScheduleRequest { fill: Some("1d".into()), ..line("narrow", "0 3 * * sun") }).unwrap();
    for _ in 0..2 {
        timed.look("2083-01-27T12:00:00Z");
        let mut slots = timed.slots();
        slots.sort();
        assert_eq!(slots, ["2082-12-31T23:00:00.000Z", "2083-01-01T02:00:00.000Z", "2083-01-24T02:00:00.000Z"]);
    }
    assert_eq!(missed(&timed, "yearly"), [json!("2082-12-31T23:00:00.000Z")]);
    // Of many one event is enough.
    assert_eq!(missed(&timed, "weekly"), [json!("2083-01-24T02:00:00.000Z")]);
    let row = timed.row("weekly").schedule;
    assert_eq!((row.missed, row.missed_count), (Some(at("2083-01-24T02:00:00Z")), 33));
    assert_eq!(missed(&timed, "monthly").len(), 7);
    assert_eq!(timed.row("narrow").schedule.missed_count, 33);
}

#[test]
fn each_missed_slot_of_a_daily_line_is_an_event_and_counts_in_its_row() {
    let timed = Timed::new("2082-11-20T12:00:00Z");
    timed.add(line("day", "0 9 * * *")).unwrap();
    timed.look("2082-11-25T12:00:00Z");
    assert_eq!(timed.slots(), ["2082-11-25T08:00:00.000Z"]);
    let days = ["21", "22", "23", "24"].map(|day| json!(format!("2082-11-{day}T08:00:00.000Z")));
    assert_eq!(missed(&timed, "day"), days);
    let listed = timed.place.json(&["cron", "list"])["items"][0].clone();
    assert_eq!((&listed["missed"], &listed["last_missed"]), (&json!(4), &json!("2082-11-24T08:00:00.000Z")));
    let shown = timed.place.ok(&["cron", "list"]).out;
    assert!(shown.contains("MISSED") && shown.contains("4, last 2082-11-24 09:00 +01:00"), "{shown}");
    // On time, nothing is missed.
    timed.look("2082-11-26T08:00:00Z");
    assert_eq!((timed.slots().len(), missed(&timed, "day").len()), (2, 4));
}

#[test]
fn a_paused_schedule_makes_no_tasks_and_is_not_made_up_for() {
    let timed = Timed::new("2082-11-24T07:00:00Z");
    timed.add(line("minutes", "* * * * *")).unwrap();
    timed.add(line("other", "* * * * *")).unwrap();
    let act = |now: &str, until: Option<&str>| {
        timed.set(now);
        let what = pausable(&timed.app(), "cron:minutes").unwrap();
        let wish = Wish { until: until.map(at), ..Wish::default() };
        pause(&timed.app(), &what, &wish).unwrap();
    };
    let own = || {
        let tasks = timed.tasks();
        let slots =
            tasks.iter().filter_map(|task| task.schedule.as_ref()).filter(|of| of.schedule.as_str() == "minutes");
        slots.map(|of| of.slot.to_string()[11..16].to_owned()).collect::<Vec<_>>()
    };
    act("2082-11-24T07:01:30Z", None);
    timed.look("2082-11-24T07:01:40Z");
    assert_eq!(own(), ["07:01"], "the slot came before the pause");
    timed.look("2082-11-24T07:03:00Z");
    let row = timed.row("minutes");
    assert!(row.pause.is_some() && timed.row("other").pause.is_none());
    timed.set("2082-11-24T07:05:30Z");
    resume(&timed.app(), &pausable(&timed.app(), "cron:minutes").unwrap()).unwrap();
    timed.look("2082-11-24T07:05:40Z");
    assert_eq!(own(), ["07:01"]);
    timed.look("2082-11-24T07:06:00Z");
    // Until a moment, and nobody looks before it has passed.
    act("2082-11-24T07:06:30Z", Some("2082-11-24T07:09:00Z"));
    timed.look("2082-11-24T07:09:10Z");
    assert_eq!(own(), ["07:01", "07:06", "07:09"]);
    assert_eq!(missed(&timed, "minutes"), Vec::<Value>::new());
    assert!(!missed(&timed, "other").is_empty());
}

#[test]
fn a_schedule_that_is_removed_is_not_paused_when_it_is_added_again() {
    let place = Place::new();
    let add = || place.ok(&["cron", "add", "tick", "0 9 * * *", "-u", "a", "--", "true"]);
    let paused = || place.json(&["cron", "list"])["items"][0]["paused"].clone();
    add();
    place.ok(&["pause", "cron:tick", "--reason", "release"]);
    assert_eq!(paused(), json!(true));
    let shown = place.ok(&["cron", "list"]).out;
    assert!(shown.lines().any(|line| line.starts_with("tick") && line.contains("paused")), "{shown}");
    assert!(!place.ok(&["lanes"]).out.contains("cron:tick"));
    place.ok(&["cron", "rm", "tick"]);
    add();
    assert_eq!(paused(), json!(false));
}

#[test]
fn the_name_of_a_schedule_is_no_lane_and_an_unknown_one_is_not_paused() {
    let place = Place::new();
    place.ok(&["cron", "add", "tick", "0 9 * * *", "-u", "a", "--", "true"]);
    let before = place.snapshot();
    for verb in ["pause", "resume"] {
        place.luzia(&[verb, "cron:none"]).coded(66);
        place.luzia(&[verb, "-l", "cron:tick"]).coded(2);
    }
    for args in [
        &["check", "cron:tick"][..],
        &["explain", "cron:tick"],
        &["acquire", "cron:tick", "--task", "x"],
        &["lock", "-l", "cron:tick", "--", "true"],
        &["enqueue", "-l", "cron:tick", "--", "true"],
        &["lanes", "set", "cron:tick", "--max", "2"],
    ] {
        let ran = place.luzia(args);
        assert!(ran.code == 2 && ran.err.contains("names a schedule"), "{args:?}: {ran:?}");
    }
    place.assert_unchanged(&before, "refused");
}

//! Times as people say them, in `--at`, `--in` and `--until`: read by the clock of the caller's zone, and said back with it.

use crate::support::{Place, Ran};
use luzia::model::Timestamp;
use luzia::model::calendar::{Zone, spoken};
use luzia::os::Clock;
use luzia::os::real::RealClock;

fn in_zone(place: &Place, zone: &str, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command.env("TZ", zone);
    place.spawn(&mut command).end()
}

fn due(place: &Place, id: &str) -> Timestamp {
    Timestamp::parse(place.show(id)["due_at"].as_str().unwrap()).unwrap()
}

#[test]
fn a_time_is_meant_by_the_clock_of_the_zone_and_said_back() {
    let place = Place::new();
    for name in ["Europe/Berlin", "America/New_York", "Asia/Kolkata"] {
        let zone = Zone::parse(name).unwrap();
        for text in ["08:00", "tomorrow 8:00", "8:30 pm", "fri 18:30", "2099-12-24 18:00", "2099-07-24"] {
            // The clock may pass the time in between.
            let before = spoken(text, RealClock.now(), &zone).unwrap();
            let ran = in_zone(&place, name, &["enqueue", "-u", "a", "--at", text, "--", "true"]).coded(0);
            let after = spoken(text, RealClock.now(), &zone).unwrap();
            let at = due(&place, &ran.line());
            assert!(at == before || at == after, "{text} in {name}: {at}");
            let said = format!("starts at {}, in ", zone.text(at));
            assert!(ran.err.contains(&said), "{said}: {}", ran.err);
        }
    }
    let ran = in_zone(&place, "Europe/Berlin", &["enqueue", "-u", "a", "--at", "2099-12-24T18:00:00Z", "--", "true"]);
    assert!(ran.err.contains("2099-12-24 19:00 +01:00 (Europe/Berlin)"), "{}", ran.err);
}

#[test]
fn lengths_of_time_have_words_in_each_command() {
    let place = Place::new();
    let ran = in_zone(&place, "UTC", &["enqueue", "-u", "a", "--in", "2 hours", "--", "true"]).coded(0);
    let id = ran.line();
    assert!(ran.err.contains("+00:00 (UTC), in 2h") || ran.err.contains("in 1h59m"), "{}", ran.err);
    let left = due(&place, &id).ms_since(RealClock.now());
    assert!((7_000_000..=7_200_000).contains(&left), "{left}");
    let edited = in_zone(&place, "UTC", &["edit", &id, "--at", "2099-01-01 8:00"]).coded(0);
    assert!(edited.err.contains("it starts at 2099-01-01 08:00 +00:00 (UTC), in "), "{}", edited.err);
    assert_eq!(due(&place, &id).to_string(), "2099-01-01T08:00:00.000Z");
    let paused = in_zone(&place, "Asia/Kolkata", &["pause", "a", "--until", "2099-01-01 8:00"]).coded(0);
    assert!(paused.err.contains("is paused until 2099-01-01 08:00 +05:30 (Asia/Kolkata), in "), "{}", paused.err);
    let paused = in_zone(&place, "UTC", &["pause", "c", "--for", "an hour"]).coded(0);
    assert!(
        paused.err.contains("(UTC), in ") && place.luzia(&["pause", "c", "--for", "long"]).code == 2,
        "{}",
        paused.err
    );
    let mut run = place.start(&["run", "-u", "b", "--at", "tomorrow 8:00", "--", "true"]);
    crate::support::until("it is said", || run.err().contains("starts at ").then_some(()));
    assert!(!run.is_over(), "{}", run.err());
    run.kill();
}

#[test]
fn a_time_that_means_nothing_is_refused_and_nothing_is_queued() {
    let place = Place::new();
    place.ok(&["enqueue", "-u", "a", "--", "true"]);
    let before = place.snapshot();
    for (args, said) in [
        (["enqueue", "--at", "25:00"], "is not a time"),
        (["enqueue", "--at", "8"], "is not a time"),
        (["enqueue", "--at", "today 0:00"], "has passed"),
        (["enqueue", "--in", "tomorrow"], "is not a duration"),
        (["edit", "--at", "2026-02-30"], "is not a time"),
    ] {
        let mut all: Vec<&str> = args.to_vec();
        if args[0] == "edit" {
            all.push("1");
        } else {
            all.extend(["--", "true"]);
        }
        let ran = in_zone(&place, "UTC", &all).coded(2);
        assert!(ran.err.contains(said), "{all:?}: {}", ran.err);
        place.assert_unchanged(&before, &format!("{all:?}"));
    }
    let ran = in_zone(&place, "Europe/Berlin", &["pause", "a", "--until", "soon"]).coded(2);
    assert!(ran.err.contains("the zone here is Europe/Berlin"), "{}", ran.err);
}

//! Cron lines at changes of the clock: the table of the manual page, and an oracle that walks over each minute and knows neither
//! croner nor jiff.

use chrono::{DateTime, Datelike, Timelike};
use luzia::model::Timestamp;
use luzia::model::calendar::{Pattern, Zone};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// One change of the clock of a zone, by what its law says. Moments and offsets are in seconds.
struct Change {
    zone: &'static str,
    at: &'static str,
    before: i64,
    after: i64,
}

const HOUR: i64 = 3600;

const CHANGES: [Change; 8] = [
    Change { zone: "Europe/Berlin", at: "2027-03-28T01:00:00Z", before: HOUR, after: 2 * HOUR },
    Change { zone: "Europe/Berlin", at: "2027-10-31T01:00:00Z", before: 2 * HOUR, after: HOUR },
    Change { zone: "America/New_York", at: "2027-03-14T07:00:00Z", before: -5 * HOUR, after: -4 * HOUR },
    Change { zone: "America/New_York", at: "2026-11-01T06:00:00Z", before: -4 * HOUR, after: -5 * HOUR },
    // Half an hour.
    Change { zone: "Australia/Lord_Howe", at: "2026-10-03T15:30:00Z", before: 21 * HOUR / 2, after: 11 * HOUR },
    Change { zone: "Australia/Lord_Howe", at: "2027-04-03T15:00:00Z", before: 11 * HOUR, after: 21 * HOUR / 2 },
    // At midnight.
    Change { zone: "America/Santiago", at: "2026-09-06T04:00:00Z", before: -4 * HOUR, after: -3 * HOUR },
    Change { zone: "America/Santiago", at: "2027-04-04T03:00:00Z", before: -3 * HOUR, after: -4 * HOUR },
];

/// How long before and after a change slots are compared.
const AROUND: i64 = 30 * HOUR;

/// A field of a line, and the numbers that it means.
#[derive(Clone, Debug)]
struct Field {
    text: String,
    numbers: BTreeSet<u32>,
}

/// A field of numbers up to `last`. Single ones are `most` at most, so that many lie where clocks change.
fn field(last: u32, most: u32) -> impl Strategy<Value = Field> {
    let of = |text: String, numbers: BTreeSet<u32>| Field { text, numbers };
    let number = 0..=most;
    prop_oneof![
        1 => Just(of("*".to_owned(), (0..=last).collect())),
        1 => (1..=last / 2).prop_map(move |step| of(format!("*/{step}"), (0..=last).step_by(step as usize).collect())),
        2 => number.clone().prop_map(move |one| of(one.to_string(), [one].into())),
        3 => proptest::collection::btree_set(number.clone(), 2..5).prop_map(move |all| {
            of(all.iter().map(u32::to_string).collect::<Vec<_>>().join(","), all)
        }),
        2 => (number.clone(), number, 1..5u32).prop_map(move |(one, other, step)| {
            let (first, end) = (one.min(other), one.max(other));
            let text = if step == 1 { format!("{first}-{end}") } else { format!("{first}-{end}/{step}") };
            of(text, (first..=end).step_by(step as usize).collect())
        }),
    ]
}

/// An hour of the night, when clocks change.
fn hours() -> impl Strategy<Value = Field> {
    prop_oneof![field(23, 23), field(23, 3)]
}

fn weekdays() -> impl Strategy<Value = Field> {
    let all = Field { text: "*".to_owned(), numbers: (0..=6).collect() };
    prop_oneof![2 => Just(all), 1 => proptest::collection::btree_set(0..=6u32, 1..6).prop_map(|days| {
        Field { text: days.iter().map(u32::to_string).collect::<Vec<_>>().join(","), numbers: days }
    })]
}

/// The slots of a line around a change, in seconds: the rule of luzia-cron-add(1) for each minute by itself.
fn expected(minute: &Field, hour: &Field, weekday: &Field, change: &Change) -> Vec<i64> {
    let at = seconds(change.at);
    let offset = |moment: i64| if moment < at { change.before } else { change.after };
    let is_meant = |shown: i64| {
        let shown = DateTime::from_timestamp(shown, 0).unwrap();
        minute.numbers.contains(&shown.minute())
            && hour.numbers.contains(&shown.hour())
            && weekday.numbers.contains(&shown.weekday().num_days_from_sunday())
    };
    let (begin, end) = (at - AROUND, at + AROUND);
    let is_passing = minute.text.starts_with('*') || hour.text.starts_with('*');
    let slots: BTreeSet<i64> = if is_passing {
        (begin..=end).step_by(60).filter(|moment| is_meant(moment + offset(*moment))).collect()
    } else {
        let shown = (begin - 24 * HOUR..=end + 24 * HOUR).step_by(60).filter(|shown| is_meant(*shown));
        let moment = |shown: i64| {
            let both = [shown - change.before, shown - change.after];
            both.into_iter().filter(|moment| moment + offset(*moment) == shown).min().unwrap_or(at)
        };
        shown.map(moment).collect()
    };
    slots.into_iter().filter(|slot| (begin + 1..=end).contains(slot)).collect()
}

fn seconds(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().unix_seconds()
}

fn found(line: &str, zone: &str, begin: i64, end: i64) -> Vec<i64> {
    let pattern = Pattern::parse(line, Zone::parse(zone).unwrap()).unwrap();
    let first = pattern.after(Timestamp(begin * 1000));
    let slots = std::iter::successors(first, |at| pattern.after(*at)).map(Timestamp::unix_seconds);
    slots.take_while(|slot| *slot <= end).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]
    #[test]
    fn random_lines_agree_with_a_walk_over_each_minute(
        minute in field(59, 59), hour in hours(), weekday in weekdays(), change in 0..CHANGES.len(),
    ) {
        let change = &CHANGES[change];
        let line = format!("{} {} * * {}", minute.text, hour.text, weekday.text);
        let at = seconds(change.at);
        let ours = found(&line, change.zone, at - AROUND, at + AROUND);
        let right = expected(&minute, &hour, &weekday, change);
        let differ = ours.iter().zip(&right).find(|(one, other)| one != other);
        prop_assert!(
            differ.is_none() && ours.len() == right.len(),
            "{} {} around {}: {} slots, not {}, and first {:?}", line, change.zone, change.at, ours.len(), right.len(), differ
        );
    }
}

/// The slots of each line on one day of its zone.
#[test]
fn a_line_with_several_hours_or_minutes_loses_and_doubles_no_slot_at_a_change() {
    let (new_york, berlin) = ("America/New_York", "Europe/Berlin");
    for (line, zone, begin, slots) in [
        ("30 1,13 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:30", "18:30"]),
        ("15,45 1 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:15", "05:45"]),
        ("30 2,3 * * sun", berlin, "2027-10-30T22:00:00Z", vec!["00:30", "02:30"]),
        ("30 2,14 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00", "18:30"]),
        ("15,45 2 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00"]),
        ("30 2-4 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00", "07:30", "08:30"]),
        ("32 2,21 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00", "01:32"]),
        ("32 2-4 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00", "07:32", "08:32"]),
        ("5,10 2 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00"]),
        ("30 1,2 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:30", "07:30"]),
        ("30 1,20 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:30", "01:30"]),
        ("5,10 1 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:05", "05:10"]),
        ("30 2 * * mon-sun", berlin, "2027-10-30T22:00:00Z", vec!["00:30"]),
        ("30 2 1-31 * *", berlin, "2027-10-30T22:00:00Z", vec!["00:30"]),
        ("30 2-2 * * *", berlin, "2027-10-30T22:00:00Z", vec!["00:30"]),
        ("0 30 1 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:30"]),
        ("*/30 30 2 * * *", new_york, "2027-03-14T05:00:00Z", vec!["07:00"]),
        // Lines whose minute or hour begins with a star go by the time that passes.
        ("*/20 1 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:00", "05:20", "05:40", "06:00", "06:20", "06:40"]),
        ("*/30 2 * * *", new_york, "2027-03-14T05:00:00Z", vec![]),
        ("0,20,40 1 * * *", new_york, "2026-11-01T04:00:00Z", vec!["05:00", "05:20", "05:40"]),
    ] {
        let begin = seconds(begin);
        let clock = |slot: &i64| Timestamp(slot * 1000).to_string()[11..16].to_owned();
        let day: Vec<String> = found(line, zone, begin - 1, begin + 23 * HOUR).iter().map(clock).collect();
        assert_eq!(day, slots, "{line} {zone}");
    }
}

#[test]
fn midnight_is_a_word_for_a_line_as_daily_is() {
    let slots = |word| found(word, "Europe/Berlin", seconds("2026-11-24T00:00:00Z"), seconds("2026-11-27T00:00:00Z"));
    assert_eq!(slots("@midnight"), slots("@daily"));
    assert_eq!(slots("@MIDNIGHT").len(), 3);
}

//! Moments and lengths of time in the forms that people write: "8:00", "tomorrow 8:00", "fri 18:30", "2026-12-24", "2 hours".

use super::zone::{Day, TimeOfDay, Zone};
use crate::model::Timestamp;
use crate::model::time::{MAX_DURATION_MS, parse_duration};

/// The reason that a time was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpokenError {
    /// The text cannot be parsed.
    #[error("\"{0}\" is not a time")]
    Unread(String),
    /// The text names a moment of today that has passed.
    #[error("\"{0}\" has passed")]
    Passed(String),
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A day in the form in which it was given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Today,
    Tomorrow,
    Weekday(i64),
    Date(Day),
}

/// Parses a moment: RFC 3339; `in 2 hours`, `now + 2 hours` or `2 hours from now`; `now`; or a day, a time of day, or both, by
/// the clock of a zone. A day is `today`, `tomorrow`, a day of the week (the next one) or `2026-12-24`. A time of day is
/// `8:00`, `08:00:30`, `8am`, `8:30pm`, `noon` or `midnight`. A time of day alone means the next moment at which the clock
/// shows it. A day alone means its beginning.
pub fn spoken(text: &str, now: Timestamp, zone: &Zone) -> Result<Timestamp, SpokenError> {
    let unread = || SpokenError::Unread(text.chars().take(80).collect());
    if let Some(at) = Timestamp::parse(text.trim()) {
        return Ok(at);
    }
    let text_of = text.trim().to_ascii_lowercase();
    if text_of == "now" {
        return Ok(now);
    }
    let length = text_of.strip_prefix("in ").or_else(|| text_of.strip_prefix("now")?.trim_start().strip_prefix('+'));
    if let Some(rest) = length.or_else(|| text_of.strip_suffix(" from now")) {
        let ms = spoken_duration(rest).ok_or_else(unread)?;
        return Ok(now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX)).min(Timestamp::LAST));
    }
    let (day, time) = parts(&text_of).ok_or_else(unread)?;
    let today = zone.wall(now).0;
    let first = |day: Day| zone.moments(day, time.unwrap_or(TimeOfDay::MIDNIGHT)).map(|(first, _)| first);
    let later = |days: i64| today.plus(days).and_then(|day| next_of(zone, day, time, now));
    let found = match day {
        Some(Said::Date(day)) => first(day),
        Some(Said::Tomorrow) => today.plus(1).and_then(first),
        Some(Said::Today) => match next_of(zone, today, time, now) {
            None => return Err(SpokenError::Passed(text.chars().take(80).collect())),
            found => found,
        },
        Some(Said::Weekday(wanted)) => {
            let ahead = (wanted - today.weekday()).rem_euclid(7);
            later(ahead).or_else(|| later(ahead + 7))
        }
        // A zone may skip a whole day.
        None => (0..3).find_map(later),
    };
    found.ok_or_else(unread)
}

/// The moment of a time on a day; `None` if it has passed.
fn next_of(zone: &Zone, day: Day, time: Option<TimeOfDay>, now: Timestamp) -> Option<Timestamp> {
    let (first, second) = zone.moments(day, time.unwrap_or(TimeOfDay::MIDNIGHT))?;
    [Some(first), second].into_iter().flatten().find(|at| *at > now)
}

/// A day, a time of day, or both, in either order.
fn parts(text: &str) -> Option<(Option<Said>, Option<TimeOfDay>)> {
    let words: Vec<&str> = match text.split_once('t') {
        // The form of RFC 3339, without the zone.
        Some((date, time)) if date_of(date).is_some() => vec![date, time],
        _ => text.split_ascii_whitespace().filter(|word| !["at", "on", "next"].contains(word)).collect(),
    };
    let (mut day, mut time) = (None, None);
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        // "8 am" is one time in two words.
        let joined = words.peek().filter(|next| ["am", "pm"].contains(*next)).map(|half| format!("{word}{half}"));
        if let Some(joined) = joined {
            words.next();
            if time.replace(time_of(&joined)?).is_some() {
                return None;
            }
        } else if let Some(found) = day_of(word) {
            if day.replace(found).is_some() {
                return None;
            }
        } else if time.replace(time_of(word)?).is_some() {
            return None;
        }
    }
    (day.is_some() || time.is_some()).then_some((day, time))
}

fn day_of(word: &str) -> Option<Said> {
    let word = word.trim_end_matches(',');
    match word {
        "today" => Some(Said::Today),
        "tomorrow" => Some(Said::Tomorrow),
        _ => {
            let weekday = || {
                let is_meant = |name: &&str| word.len() >= 3 && name.starts_with(word);
                WEEKDAYS.iter().position(is_meant).and_then(|at| i64::try_from(at).ok())
            };
            date_of(word).map(Said::Date).or_else(|| weekday().map(Said::Weekday))
        }
    }
}

fn date_of(word: &str) -> Option<Day> {
    let [year, month, day] = word.split('-').collect::<Vec<&str>>()[..] else { return None };
    let is_date = year.len() == 4 && month.len() == 2 && day.len() == 2;
    if !is_date || !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    Day::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
}

fn time_of(word: &str) -> Option<TimeOfDay> {
    match word {
        "noon" => return TimeOfDay::new(12, 0, 0),
        "midnight" => return Some(TimeOfDay::MIDNIGHT),
        _ => {}
    }
    let half = [("am", 0), ("pm", 12)].into_iter().find_map(|(end, add)| Some((word.strip_suffix(end)?, add)));
    let (digits, add) = half.map_or((word, None), |(digits, add)| (digits, Some(add)));
    let numbers: Vec<&str> = digits.split(':').collect();
    let number = |text: &&str| -> Option<i8> {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let read = numbers.iter().map(number).collect::<Option<Vec<i8>>>()?;
    let (hour, minute, second) = match (&read[..], add) {
        // A bare number is not a time of day.
        ([hour], Some(_)) => (*hour, 0, 0),
        ([hour, minute], _) => (*hour, *minute, 0),
        ([hour, minute, second], _) => (*hour, *minute, *second),
        _ => return None,
    };
    // Minutes and seconds have two digits: 8:5 is not a time.
    if numbers[1..].iter().any(|text| text.len() != 2) {
        return None;
    }
    let hour = match add {
        Some(add) if (1..=12).contains(&hour) => hour % 12 + add,
        Some(_) => return None,
        None => hour,
    };
    TimeOfDay::new(hour, minute, second)
}

/// Parses a length of time in milliseconds: any text that [`parse_duration`] accepts, or words such as `2 hours`, `an hour`,
/// `half an hour`, `1 hour 30 minutes`.
pub fn spoken_duration(text: &str) -> Option<u64> {
    const UNITS: [(&[&str], u64); 5] = [
        (&["s", "sec", "secs", "second", "seconds"], 1000),
        (&["m", "min", "mins", "minute", "minutes"], 60_000),
        (&["h", "hr", "hrs", "hour", "hours"], 3_600_000),
        (&["d", "day", "days"], 86_400_000),
        (&["w", "week", "weeks"], 7 * 86_400_000),
    ];
    if let Ok(ms) = parse_duration(text.trim()) {
        return Some(ms);
    }
    let text = text.trim().to_ascii_lowercase();
    if text == "half an hour" {
        return Some(1_800_000);
    }
    let words: Vec<&str> = text.split_ascii_whitespace().filter(|word| *word != "and").collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return None;
    }
    let mut total: u64 = 0;
    let mut least = u64::MAX;
    for pair in words.chunks(2) {
        let [number, unit] = pair else { return None };
        let number: u64 = match *number {
            "a" | "an" | "one" => 1,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
            _ => return None,
        };
        let (_, ms) = UNITS.iter().find(|(names, _)| names.contains(&unit.trim_end_matches(',')))?;
        // Units go from large to small, each at most once.
        if *ms >= least {
            return None;
        }
        least = *ms;
        total = total.checked_add(number.checked_mul(*ms)?)?;
    }
    (total <= MAX_DURATION_MS).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a moment")
    }

    fn zone(name: &str) -> Zone {
        Zone::parse(name).expect("a zone")
    }

    #[test]
    fn moments_are_meant_by_the_clock_of_the_zone() {
        let (now, berlin) = (at("2026-11-24T00:00:00Z"), zone("Europe/Berlin"));
        for (text, moment) in [
            ("08:00", "2026-11-24T07:00:00Z"),
            ("8:00", "2026-11-24T07:00:00Z"),
            ("0:30", "2026-11-24T23:30:00Z"),
            ("01:00", "2026-11-25T00:00:00Z"),
            ("8am", "2026-11-24T07:00:00Z"),
            ("8:15 pm", "2026-11-24T19:15:00Z"),
            ("12am", "2026-11-24T23:00:00Z"),
            ("12pm", "2026-11-24T11:00:00Z"),
            ("noon", "2026-11-24T11:00:00Z"),
            ("midnight", "2026-11-24T23:00:00Z"),
            ("today 8:00", "2026-11-24T07:00:00Z"),
            ("tomorrow 8:00", "2026-11-25T07:00:00Z"),
            ("tomorrow at 8:00", "2026-11-25T07:00:00Z"),
            ("8:00 tomorrow", "2026-11-25T07:00:00Z"),
            ("Tomorrow, midnight", "2026-11-24T23:00:00Z"),
            ("friday 18:30", "2026-11-27T17:30:00Z"),
            ("tue 00:30", "2026-11-30T23:30:00Z"),
            ("tue 8:00", "2026-11-24T07:00:00Z"),
            ("2026-12-24", "2026-12-23T23:00:00Z"),
            ("tomorrow", "2026-11-24T23:00:00Z"),
            ("friday", "2026-11-26T23:00:00Z"),
            ("next fri", "2026-11-26T23:00:00Z"),
            // It is Tuesday, after midnight.
            ("tue", "2026-11-30T23:00:00Z"),
            ("now + 2 hours", "2026-11-24T02:00:00Z"),
            ("now +90m", "2026-11-24T01:30:00Z"),
            ("2 hours from now", "2026-11-24T02:00:00Z"),
            ("2026-12-24 18:00", "2026-12-24T17:00:00Z"),
            ("2026-12-24T18:00:05", "2026-12-24T17:00:05Z"),
            ("18:00 2026-07-24", "2026-07-24T16:00:00Z"),
            ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z"),
            ("2026-12-24T18:00:00-05:00", "2026-12-24T23:00:00Z"),
            ("in 2 hours", "2026-11-24T02:00:00Z"),
            ("in 90m", "2026-11-24T01:30:00Z"),
            ("now", "2026-11-24T00:00:00Z"),
        ] {
            assert_eq!(spoken(text, now, &berlin), Ok(at(moment)), "{text}");
        }
    }

    #[test]
    fn a_change_of_the_clock_is_minded() {
        for (text, name, now, moment) in [
            // In the gap: the moment after it.
            ("02:30", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
            ("2026-03-29 02:30", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-03-29T01:00:00Z"),
            // In the fold: the first of the two that is to come.
            ("02:30", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"),
            ("02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
            ("02:30", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"),
            // Over a change the hour of the wall counts.
            ("tomorrow 8:00", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T06:00:00Z"),
            ("tomorrow 8:00", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T13:00:00Z"),
            // Samoa had no 30 December 2011.
            ("12:00", "Pacific/Apia", "2011-12-29T22:30:00Z", "2011-12-30T10:00:00Z"),
        ] {
            assert_eq!(spoken(text, at(now), &zone(name)), Ok(at(moment)), "{text} {name} {now}");
        }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let (now, utc) = (at("2026-11-24T12:00:00Z"), Zone::utc());
        for text in [
            "",
            " ",
            "8",
            "25:00",
            "8:60",
            "8:5",
            "13pm",
            "0am",
            "2026-02-30",
            "2026-13-01",
            "20261224",
            "tomorrow today",
            "8:00 9:00",
            "to",
            "mo",
            "yesterday",
            "8:00:00:00",
            "-1:00",
            "+8:00",
            "in",
            "in x",
            "١:٠٠",
            "8:00 am pm",
            "2026-12-24T",
            "now +",
            "now 2h",
            "from now",
            "at",
            "99999-01-01",
        ] {
            assert!(matches!(spoken(text, now, &utc), Err(SpokenError::Unread(_))), "{text}");
        }
        for passed in ["today 8:00", "today"] {
            assert_eq!(spoken(passed, now, &utc), Err(SpokenError::Passed(passed.into())));
        }
    }

    #[test]
    fn lengths_of_time_have_words() {
        for (text, ms) in [
            ("10m", Some(600_000)),
            ("2 hours", Some(7_200_000)),
            ("an hour", Some(3_600_000)),
            ("half an hour", Some(1_800_000)),
            ("1 hour and 30 minutes", Some(5_400_000)),
            ("1 hour 30 min", Some(5_400_000)),
            ("2 weeks", Some(1_209_600_000)),
            ("30 minutes 1 hour", None),
            ("1 hour 1 hour", None),
            ("hour", None),
            ("2 lightyears", None),
            ("-2 hours", None),
            ("99999999999999 weeks", None),
        ] {
            assert_eq!(spoken_duration(text), ms, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}", now in any::<i64>()) {
            let _ = spoken(&text, Timestamp(now), &Zone::utc());
            let _ = spoken_duration(&text);
        }

        #[test]
        fn a_time_of_day_comes_within_two_days(hour in 0u8..24, minute in 0u8..60, days in 0i64..800) {
            let now = at("2026-01-01T11:11:11Z").plus_ms(days * 43_200_000);
            for name in ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe"] {
                let found = spoken(&format!("{hour}:{minute:02}"), now, &zone(name)).expect("it reads");
                prop_assert!(found > now && found.ms_since(now) <= 49 * 3_600_000, "{} {}", name, found);
            }
        }
    }
}

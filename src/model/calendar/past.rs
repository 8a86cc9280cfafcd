//! Moments in the past, in the forms that people write: `2h`, `yesterday`, `8:00`, `2026-11-20`. Pure.

use super::{SpokenError, TimeOfDay, Zone, spoken, spoken_duration};
use crate::model::Timestamp;

/// Parses a moment for `--since` and `--until`. The text is RFC 3339; a length of time, which means so long ago; `now`, `today`
/// or `yesterday`, with or without a time of day; a time of day alone, which means the latest that has passed; or a date, with
/// or without a time of day.
pub fn past(text: &str, now: Timestamp, zone: &Zone) -> Result<Timestamp, SpokenError> {
    let unread = || SpokenError::Unread(text.chars().take(80).collect());
    if let Some(at) = Timestamp::parse(text.trim()) {
        return Ok(at);
    }
    let said = text.trim().to_ascii_lowercase();
    if said == "now" {
        return Ok(now);
    }
    let length = said.strip_suffix("ago").map_or(said.as_str(), str::trim_end);
    if let Some(ms) = spoken_duration(length) {
        return Ok(Timestamp(now.0.saturating_sub_unsigned(ms)).max(Timestamp::FIRST));
    }
    for (word, days) in [("yesterday", -1), ("today", 0)] {
        match said.strip_prefix(word) {
            Some("") => return begin_of(days, now, zone).ok_or_else(unread),
            Some(rest) if rest.starts_with(' ') => return clock_of(days, rest, now, zone).ok_or_else(unread),
            Some(_) | None => {}
        }
    }
    if let Some(today) = clock_of(0, &said, now, zone) {
        return if today <= now { Ok(today) } else { clock_of(-1, &said, now, zone).ok_or_else(unread) };
    }
    // A remaining text that begins with a digit is a date. The other words of `--at` mean moments in the future.
    if said.starts_with(|c: char| c.is_ascii_digit()) { spoken(&said, now, zone) } else { Err(unread()) }
}

fn begin_of(days: i64, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let day = zone.wall(now).0.plus(days)?;
    zone.moments(day, TimeOfDay::MIDNIGHT).map(|(first, _)| first)
}

fn clock_of(days: i64, time: &str, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    if time.trim().is_empty() {
        return None;
    }
    let date = zone.text(begin_of(days, now, zone)?);
    spoken(&format!("{} {}", date.split(' ').next()?, time.trim()), now, zone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a moment")
    }

    #[test]
    fn moments_that_lie_behind_are_read() {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let now = at("2026-11-24T09:30:00Z");
        for (text, expected) in [
            ("2h", "2026-11-24T07:30:00Z"),
            ("2 hours ago", "2026-11-24T07:30:00Z"),
            ("1d", "2026-11-23T09:30:00Z"),
            ("now", "2026-11-24T09:30:00Z"),
            ("today", "2026-11-23T23:00:00Z"),
            ("Yesterday", "2026-11-22T23:00:00Z"),
            ("yesterday 8:00", "2026-11-23T07:00:00Z"),
            ("8:00", "2026-11-24T07:00:00Z"),
            ("18:00", "2026-11-23T17:00:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20 12:00", "2026-11-20T11:00:00Z"),
            ("2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"),
        ] {
            assert_eq!(past(text, now, &zone).ok(), Some(at(expected)), "{text}");
        }
        for wrong in ["", "tomorrow", "fri 8:00", "yesterdays", "yesterday 25:00", "ago", "soon", "in 2h", "-1h"] {
            assert!(past(wrong, now, &zone).is_err(), "{wrong}");
        }
    }
}

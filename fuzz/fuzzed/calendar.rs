//! Schedules, cron lines and spoken times.

use super::records::is_object;
use super::text;
use crate::model::Timestamp;
use crate::model::calendar::{Pattern, Zone, spoken, spoken_duration};
use crate::model::time::MAX_DURATION_MS;
use crate::store::files::schedules::{decode_schedule, encode_schedule};

/// Zones with changes of the clock of an hour, of half an hour, at midnight, of whole days, and with none.
const ZONES: [&str; 6] =
    ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia", "Asia/Kolkata", "UTC"];
/// About the years 0 and 9999 what the clock on the wall shows may have no four digits.
const ORDINARY: std::ops::Range<i64> = -60_000_000_000_000..250_000_000_000_000;

/// A moment and a zone, of the first bytes, and the rest as text.
fn parts(bytes: &[u8]) -> (Timestamp, Zone, String) {
    let mut wide = [0; 8];
    let (head, rest) = bytes.split_at(bytes.len().min(6));
    wide.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
    // Six bytes are the moments from 1970 to the year 10000.
    let now = Timestamp(i64::from_le_bytes(wide).rem_euclid(ORDINARY.end));
    let name = ZONES[usize::from(head.first().copied().unwrap_or(0)) % ZONES.len()];
    (now, Zone::parse(name).expect("a zone"), text(rest))
}

/// A schedule: a valid one reads back after it was written.
pub fn schedule(bytes: &[u8]) {
    let Ok(read) = decode_schedule("x", bytes) else { return };
    assert!(is_object(bytes), "{}", text(bytes));
    let written = encode_schedule(&read).expect("what reads can be written");
    assert_eq!(decode_schedule("x", &written).expect("it reads again"), read, "{}", text(&written));
}

/// A cron line: its moments come one after the other, and each is the next one of the moment before it.
pub fn cron(bytes: &[u8]) {
    let (now, zone, line) = parts(bytes);
    let Ok(pattern) = Pattern::parse(&line, zone) else { return };
    assert!(line.is_ascii(), "{line:?}");
    let Some(first) = pattern.after(now) else { return };
    assert!(first > now, "{line:?}");
    assert_eq!(pattern.after(first.plus_ms(-1)), Some(first), "{line:?} about {first}");
    assert!(pattern.after(first).is_none_or(|second| second > first), "{line:?}");
}

/// A time in the words of people: its wall clock reads back, as the first of the moments with that wall clock.
pub fn said(bytes: &[u8]) {
    let (now, zone, words) = parts(bytes);
    assert!(spoken_duration(&words).is_none_or(|ms| ms <= MAX_DURATION_MS), "{words:?}");
    let Ok(at) = spoken(&words, now, &zone) else { return };
    assert!((Timestamp::FIRST..=Timestamp::LAST).contains(&at), "{words:?}");
    if !ORDINARY.contains(&at.0) {
        return;
    }
    let shown = zone.text(at);
    let wall = shown.rsplitn(3, ' ').nth(2).expect("a day, a time, an offset and a zone");
    let again = spoken(wall, now, &zone).expect("what is shown reads");
    assert!(again <= at, "{wall:?}: of two moments the first");
    assert!(at.ms_since(again) < 4 * 3_600_000, "{wall:?}: {again} and {at}");
    assert!(zone.text(again).starts_with(wall), "{wall:?} is {}", zone.text(again));
}

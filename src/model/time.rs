//! Moments, lengths of time, and timers.
//!
//! Only this file and `os/real` use chrono. `Timestamp` is a moment by the wall clock. `parse_duration` and `format_duration`
//! convert lengths of time between text and milliseconds. `Timer` is a moment at which a pass looks at a task or a schedule.

use super::name::Name;
use super::task::TaskId;
use chrono::{DateTime, SecondsFormat, Utc};
use std::fmt;

/// A moment by the wall clock, in milliseconds since 1970 (UTC).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The first moment that can be written: the beginning of the year 0 (UTC).
    pub const FIRST: Self = Self(-62_167_219_200_000);
    /// The last moment that can be written: the end of the year 9999 (UTC).
    pub const LAST: Self = Self(253_402_300_799_999);

    /// Parses an RFC 3339 date and time. A moment outside the years 0 to 9999 in UTC cannot be written again, and is refused.
    pub fn parse(text: &str) -> Option<Self> {
        let at = DateTime::parse_from_rfc3339(text).ok().map(|at| Self(at.timestamp_millis()))?;
        (Self::FIRST..=Self::LAST).contains(&at).then_some(at)
    }

    /// Whole seconds since 1970.
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The UTC day as `2026-01-31`, the name of a folder of finished tasks and of an events file.
    pub fn day(self) -> String {
        self.date_time().date_naive().to_string()
    }

    /// The time of day in UTC as `14:01:07`.
    pub fn clock(self) -> String {
        self.date_time().format("%H:%M:%S").to_string()
    }

    /// This moment moved by a number of milliseconds, saturating.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; negative if this moment is earlier.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Milliseconds from `earlier` to this moment; 0 if this moment is earlier.
    pub fn saturating_ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.ms_since(earlier)).unwrap_or(0)
    }

    fn date_time(self) -> DateTime<Utc> {
        let writable = self.clamp(Self::FIRST, Self::LAST);
        DateTime::from_timestamp_millis(writable.0).unwrap_or(DateTime::<Utc>::UNIX_EPOCH)
    }
}

super::record::as_text!(Timestamp, |text| Self::parse(text).ok_or_else(|| format!("\"{text}\" is not a time")));

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds. A moment that cannot be written is written as the nearest one that can.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.date_time().to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// The reason that a duration was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DurationError {
    /// The text cannot be parsed.
    #[error("\"{0}\" is not a duration; write 100ms, 30s, 10m, 1h30m, 2d, or seconds as a bare number")]
    Unread(String),
    /// The duration is longer than [`MAX_DURATION_MS`].
    #[error("\"{0}\" is longer than 100 years")]
    TooLong(String),
}

/// The longest valid duration: 100 years, in milliseconds.
pub const MAX_DURATION_MS: u64 = 100 * 365 * 24 * 3600 * 1000;

/// Parses a duration in milliseconds: `100ms`, `30s`, `10m`, `1h30m`, `2d`. A bare number is seconds, and may have a fraction.
/// Units go from large to small, each at most once.
pub fn parse_duration(text: &str) -> Result<u64, DurationError> {
    let shown = || text.chars().take(80).collect();
    if !text.is_ascii() || text.is_empty() {
        return Err(DurationError::Unread(shown()));
    }
    let total = if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        parse_bare_seconds(text)
    } else {
        parse_units(text)
    };
    match total {
        Some(ms) if ms <= MAX_DURATION_MS => Ok(ms),
        Some(_) => Err(DurationError::TooLong(shown())),
        None => Err(DurationError::Unread(shown())),
    }
}

/// A number of any length; a number that does not fit becomes the greatest one.
fn amount(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

fn parse_bare_seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds = amount(whole)?;
    if text.contains('.') && (fraction.is_empty() || fraction.len() > 3 || fraction.contains('.')) {
        return None;
    }
    let ms: u64 = format!("{fraction:0<3}").parse().ok()?;
    Some(seconds.saturating_mul(1000).saturating_add(ms))
}

fn parse_units(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
    let mut total: u64 = 0;
    let mut next_unit = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let letters = rest[digits..].bytes().take_while(u8::is_ascii_lowercase).count();
        let number = amount(&rest[..digits])?;
        let unit = &rest[digits..digits + letters];
        let at = UNITS.iter().position(|(name, _)| *name == unit)?;
        if at < next_unit {
            return None;
        }
        next_unit = at + 1;
        total = total.saturating_add(number.saturating_mul(UNITS[at].1));
        rest = &rest[digits + letters..];
    }
    Some(total)
}

/// Writes a length of time in milliseconds for people: the two largest units, as `1h30m`, `12s`, `250ms`.
pub fn format_duration(ms: u64) -> String {
    let (days, hours, minutes, seconds) = (ms / 86_400_000, ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1000 % 60);
    let two = |a: u64, x: &str, b: u64, y: &str| {
        if b == 0 { format!("{a}{x}") } else { format!("{a}{x}{b}{y}") }
    };
    match ms {
        0..1000 => format!("{ms}ms"),
        1000..60_000 => format!("{seconds}s"),
        60_000..3_600_000 => two(minutes, "m", seconds, "s"),
        3_600_000..86_400_000 => two(hours, "h", minutes, "m"),
        _ => two(days, "d", hours, "h"),
    }
}

/// A schedule's key in places where its name may be too long: the encoded name, or the digest of a long one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScheduleKey(String);

impl ScheduleKey {
    /// The key of a schedule of this name.
    pub fn of(name: &Name) -> Self {
        Self(name.encoded())
    }

    /// A key as it was read; a schedule with this key may not exist.
    pub fn read(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The object of a timer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Alarm {
    /// A task: it is due, its time to start has run out, or its wait has run out.
    Task(TaskId),
    /// A schedule: a slot has come.
    Schedule(ScheduleKey),
}

impl From<TaskId> for Alarm {
    fn from(id: TaskId) -> Self {
        Self::Task(id)
    }
}

impl From<&ScheduleKey> for Alarm {
    fn from(key: &ScheduleKey) -> Self {
        Self::Schedule(key.clone())
    }
}

/// A timer: at `at` a pass looks at its object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timer {
    /// The time at which the timer fires.
    pub at: Timestamp,
    /// The object of the timer.
    pub alarm: Alarm,
}

impl Timer {
    /// A timer for a task or a schedule.
    pub fn of(alarm: impl Into<Alarm>, at: Timestamp) -> Self {
        Self { at, alarm: alarm.into() }
    }

    /// The task of the timer; `None` for a timer without a task.
    pub fn task(&self) -> Option<TaskId> {
        match &self.alarm {
            Alarm::Task(id) => Some(*id),
            Alarm::Schedule(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read() {
        for (text, ms) in [
            ("100ms", 100),
            ("30s", 30_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("30", 30_000),
            ("0.5", 500),
            ("2d", 172_800_000),
            ("1m100ms", 60_100),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn durations_refused() {
        for text in [
            "",
            "-5s",
            "1e400",
            "99999999999999999999",
            "5m5",
            "١s",
            "5s5m",
            "s",
            "1.",
            "1.2.3",
            " 1s",
            "1 s",
            "NaN",
            "5M",
            "1s1s",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["99999999999999999999", "36501d", "99999999999999999999h", "876000h1ms"] {
            assert_eq!(parse_duration(text), Err(DurationError::TooLong(text.into())), "and that is said");
        }
    }

    #[test]
    fn moments_are_written_as_rfc3339_with_milliseconds() {
        assert_eq!(Timestamp(1_768_005_905_120).to_string(), "2026-01-10T00:45:05.120Z");
        assert_eq!(Timestamp::parse("2026-01-10T00:45:05.120Z"), Some(Timestamp(1_768_005_905_120)));
        assert_eq!(Timestamp::parse("2026-01-10T01:45:05.12+01:00"), Some(Timestamp(1_768_005_905_120)));
    }

    #[test]
    fn a_moment_that_could_not_be_written_again_is_refused() {
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-23:59"), None);
        assert_eq!(Timestamp::parse("0000-01-01T00:00:00+23:59"), None);
        assert_eq!(Timestamp::parse("0000-01-01T00:00:00Z"), Some(Timestamp::FIRST));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59.999Z"), Some(Timestamp::LAST));
        assert_eq!(Timestamp(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_duration_panic(text in "\\PC{0,12}") {
            let _ = parse_duration(&text);
        }

        #[test]
        fn any_moment_can_be_written(ms in any::<i64>()) {
            let _ = (Timestamp(ms).to_string(), Timestamp(ms).day());
        }
    }
}

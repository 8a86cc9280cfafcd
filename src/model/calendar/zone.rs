//! Time zones by their names in the IANA database. luzia uses the database of the host (`TZDIR`, `/usr/share/zoneinfo`), so it
//! agrees with the other clocks of the host. A copy of the database is part of the program, for zones that the host does not
//! have. Only this file and `pattern` use jiff.

use crate::model::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{ToSpan, Zoned};

/// Number of similar names that an error shows.
const MOST_NEAR: usize = 3;
/// Number of characters of a wrong name that an error shows.
const MOST_SHOWN: usize = 80;

/// A time zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Day(Date);

/// A date and time of day of the local clock, in whole seconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct WallTime(DateTime);

/// A time of day of the local clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeOfDay(Time);

/// A name that is not a time zone.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{given}\" is not a time zone")]
pub struct ZoneError {
    /// The name, shortened.
    pub given: String,
    /// Names of zones that are similar to the unknown name.
    pub near: Vec<String>,
}

impl Day {
    /// A day, if it exists.
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        Date::new(year, month, day).ok().filter(|_| (0..=9999).contains(&year)).map(Self)
    }

    /// The day that is so many days later.
    pub fn plus(self, days: i64) -> Option<Self> {
        self.0.checked_add(days.days()).ok().map(Self)
    }

    /// Days since Monday.
    pub fn weekday(self) -> i64 {
        i64::from(self.0.weekday().to_monday_zero_offset())
    }
}

impl WallTime {
    /// The date and time in UTC, where each date and time exists exactly once.
    pub(super) fn as_utc(self) -> Zoned {
        self.0.to_zoned(TimeZone::UTC).unwrap_or_default()
    }

    /// The reverse of [`WallTime::as_utc`].
    pub(super) fn of_utc(zoned: &Zoned) -> Self {
        Self(zoned.datetime())
    }
}

impl TimeOfDay {
    /// The beginning of a day.
    pub const MIDNIGHT: Self = Self(Time::midnight());

    /// A time of day, if it exists.
    pub fn new(hour: i8, minute: i8, second: i8) -> Option<Self> {
        Time::new(hour, minute, second, 0).ok().map(Self)
    }
}

impl Zone {
    /// Parses the name of a zone, such as `Europe/Berlin`, or a POSIX `TZ` rule, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    pub fn parse(name: &str) -> Result<Self, ZoneError> {
        let bundled = |_| TimeZoneDatabase::bundled().get(name);
        let rule = |_| TimeZone::posix(name);
        let found = TimeZone::get(name).or_else(bundled).or_else(rule).ok().filter(|_| name.len() <= MOST_SHOWN);
        let Some(zone) = found else {
            return Err(ZoneError { given: name.chars().take(MOST_SHOWN).collect(), near: near(name) });
        };
        let name = zone.iana_name().map_or_else(|| name.to_owned(), str::to_owned);
        Ok(Self { name, zone })
    }

    /// The first moment from `from` to `to` at which the host's database and the program's own copy give different local times.
    pub fn differs_at(&self, from: Timestamp, to: Timestamp) -> Option<Timestamp> {
        let own = Self { name: self.name.clone(), zone: TimeZoneDatabase::bundled().get(&self.name).ok()? };
        let changes = |zone: &Self| {
            std::iter::successors(zone.change_after(from), |at| zone.change_after(*at))
                .take_while(|at| *at <= to)
                .collect::<Vec<Timestamp>>()
        };
        let mut moments = [vec![from], changes(self), changes(&own)].concat();
        moments.sort_unstable();
        moments.into_iter().find(|at| self.wall_time(*at) != own.wall_time(*at))
    }

    /// Whether a name is a UTC offset such as `UTC+2`. POSIX reverses the sign: there `UTC+2` is two hours behind UTC.
    pub fn is_difference(name: &str) -> bool {
        let digits =
            ["UTC", "GMT"].iter().find_map(|word| name.get(..3).filter(|begin| begin.eq_ignore_ascii_case(word)));
        digits.is_some() && name[3..].starts_with(['+', '-'])
    }

    /// Universal time.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// The name of the zone.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Day and time of the local clock at a moment.
    pub fn wall(&self, at: Timestamp) -> (Day, TimeOfDay) {
        let zoned = self.at(at);
        (Day(zoned.date()), TimeOfDay(zoned.time()))
    }

    /// The moments at which the local clock shows a time. There are two if the clock is set back over it; the second one is
    /// later. For a time that the clock skips forward, it is the moment of the change.
    pub fn moments(&self, day: Day, time: TimeOfDay) -> Option<(Timestamp, Option<Timestamp>)> {
        self.moments_of(WallTime(DateTime::from_parts(day.0, time.0)))
    }

    pub(super) fn moments_of(&self, shown: WallTime) -> Option<(Timestamp, Option<Timestamp>)> {
        let ambiguous = self.zone.to_ambiguous_timestamp(shown.0);
        let earlier = ambiguous.earlier().ok()?;
        let later = ambiguous.later().ok()?;
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => Some((moment(earlier)?, None)),
            AmbiguousOffset::Fold { .. } => Some((moment(earlier)?, moment(later))),
            AmbiguousOffset::Gap { .. } => {
                // The moment of the change itself counts as well.
                let after = later.checked_add(1.second()).ok()?;
                Some((moment(self.zone.preceding(after).next()?.timestamp())?, None))
            }
        }
    }

    /// Date and time of the local clock at a moment.
    pub(super) fn wall_time(&self, at: Timestamp) -> WallTime {
        let second = Timestamp(at.0.div_euclid(1000).saturating_mul(1000));
        WallTime(self.at(second).datetime())
    }

    /// The moment at which the local clock would show a time if its UTC offset remained the one of another moment.
    pub(super) fn moment_by_offset_at(&self, from: Timestamp, shown: WallTime) -> Option<Timestamp> {
        moment(self.at(from).offset().to_timestamp(shown.0).ok()?)
    }

    /// The first moment after another one at which the clock may change.
    pub(super) fn change_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.zone.following(self.at(at).timestamp()).next().and_then(|change| moment(change.timestamp()))
    }

    /// A moment for people, as `2026-11-25 08:00 +01:00 (Europe/Berlin)`.
    pub fn text(&self, at: Timestamp) -> String {
        let zoned = self.at(at);
        let has_seconds = zoned.second() != 0;
        let time = if has_seconds { "%H:%M:%S" } else { "%H:%M" };
        zoned.strftime(&format!("%Y-%m-%d {time} %:z ({})", self.name)).to_string()
    }

    /// A moment as a date and time of this zone.
    fn at(&self, at: Timestamp) -> Zoned {
        let (first, last) = (jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond());
        let at = jiff::Timestamp::from_millisecond(at.0.clamp(first, last)).unwrap_or_default();
        at.to_zoned(self.zone.clone())
    }
}

fn moment(at: jiff::Timestamp) -> Option<Timestamp> {
    let at = Timestamp(at.as_millisecond());
    (Timestamp::FIRST..=Timestamp::LAST).contains(&at).then_some(at)
}

/// The names of zones that are similar to a wrong one, the most similar first. Compares the whole name and the place alone.
fn near(wrong: &str) -> Vec<String> {
    let place = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let given: String = wrong.chars().take(MOST_SHOWN).collect();
    let distance = |name: &str| {
        let whole = strsim::damerau_levenshtein(&given.to_lowercase(), &name.to_lowercase());
        whole.min(strsim::damerau_levenshtein(&place(&given), &place(name)))
    };
    let names = jiff::tz::db().available().map(|name| name.as_str().to_owned());
    let mut rated: Vec<(usize, String)> = names.map(|name| (distance(&name), name)).collect();
    // A short name is similar to many others.
    let most = place(&given).chars().count().div_ceil(4).min(2);
    rated.retain(|(distance, _)| *distance <= most);
    rated.sort_unstable();
    rated.into_iter().take(MOST_NEAR).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a moment")
    }

    #[test]
    fn zones_are_known_by_their_names_and_by_rules() {
        for (given, name) in
            [("Europe/Berlin", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("UTC", "UTC"), ("EST5", "EST5")]
        {
            assert_eq!(Zone::parse(given).map(|zone| zone.name().to_owned()), Ok(name.to_owned()));
        }
        for (wrong, near) in
            [("Berlin", "Europe/Berlin"), ("Europe/Berln", "Europe/Berlin"), ("America/New_Yrok", "America/New_York")]
        {
            let error = Zone::parse(wrong).expect_err("no zone");
            assert!(error.near.iter().any(|name| name == near), "{error:?}");
        }
        assert_eq!(Zone::parse("Mars/Base").expect_err("no zone").near.first(), None);
        assert_eq!(Zone::parse("Nowhere/At_all").expect_err("no zone").near, Vec::<String>::new());
        assert!(Zone::parse("").is_err() && Zone::parse(&"A".repeat(5000)).is_err());
    }

    #[test]
    fn a_difference_from_utc_is_known_by_its_sign() {
        for (name, is_difference) in [
            ("UTC+2", true),
            ("gmt-05:30", true),
            ("UTC", false),
            ("GMT0", false),
            ("Etc/GMT-2", false),
            ("CET-1CEST", false),
            ("ü", false),
        ] {
            assert_eq!(Zone::is_difference(name), is_difference, "{name}");
        }
    }

    #[test]
    fn a_moment_is_written_with_its_zone() {
        let berlin = Zone::parse("Europe/Berlin").expect("a zone");
        assert_eq!(berlin.text(at("2026-11-25T07:00:00Z")), "2026-11-25 08:00 +01:00 (Europe/Berlin)");
        assert_eq!(berlin.text(at("2026-07-01T07:00:05Z")), "2026-07-01 09:00:05 +02:00 (Europe/Berlin)");
        assert_eq!(Zone::utc().text(at("2026-11-25T07:00:00Z")), "2026-11-25 07:00 +00:00 (UTC)");
    }

    #[test]
    fn a_time_in_a_gap_is_the_moment_after_it_and_one_in_a_fold_has_two() {
        let zone = |name| Zone::parse(name).expect("a zone");
        for (name, day, time, first, second) in [
            ("Europe/Berlin", (2026, 3, 29), (2, 30), "2026-03-29T01:00:00Z", None),
            ("Europe/Berlin", (2026, 3, 29), (2, 0), "2026-03-29T01:00:00Z", None),
            ("Europe/Berlin", (2026, 3, 29), (3, 0), "2026-03-29T01:00:00Z", None),
            ("Europe/Berlin", (2026, 10, 25), (2, 30), "2026-10-25T00:30:00Z", Some("2026-10-25T01:30:00Z")),
            ("America/New_York", (2026, 3, 8), (2, 59), "2026-03-08T07:00:00Z", None),
            ("America/New_York", (2026, 11, 1), (1, 0), "2026-11-01T05:00:00Z", Some("2026-11-01T06:00:00Z")),
            ("Australia/Lord_Howe", (2026, 10, 4), (2, 15), "2026-10-03T15:30:00Z", None),
            ("Asia/Kolkata", (2026, 3, 29), (2, 30), "2026-03-28T21:00:00Z", None),
        ] {
            let (year, month, day) = day;
            let day = Day::new(year, month, day).expect("a day");
            let time = TimeOfDay::new(time.0, time.1, 0).expect("a time");
            assert_eq!(zone(name).moments(day, time), Some((at(first), second.map(at))), "{name} {day:?}");
        }
    }

    #[test]
    fn moments_at_the_ends_of_time_have_a_wall_clock() {
        let zone = Zone::parse("Pacific/Kiritimati").expect("a zone");
        for end in [Timestamp::FIRST, Timestamp::LAST, Timestamp(i64::MIN), Timestamp(i64::MAX)] {
            assert!(!zone.text(end).is_empty());
            let _ = zone.wall(end);
        }
    }
}

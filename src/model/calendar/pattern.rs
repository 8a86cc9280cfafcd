//! Cron lines in a time zone, and the schedules that use them.
//!
//! croner parses a cron line and finds dates and times of day. `Pattern` gives the moments that the line means in a zone, and
//! decides the effect of clock changes on them. `Schedule` has a cron line, and the task that luzia makes at each of its moments.

use super::zone::{WallTime, Zone};
use crate::model::control::TaskHold;
use crate::model::record::{Extra, Version, as_word, is_default, words};
use crate::model::{LaneName, Name, Task, TaskId, Timestamp};
use croner::Cron;
use croner::errors::CronError;
use croner::parser::CronParser;
use serde::{Deserialize, Serialize};

/// Greatest length of a cron line, in bytes.
const LONGEST: usize = 200;

/// A cron line in a zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    cron: Cron,
    zone: Zone,
    /// Whether the line follows elapsed time instead of local clock time: its minute or its hour begins with `*`.
    is_passing: bool,
}

/// The reason that a cron line was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// The line cannot be parsed.
    #[error("\"{0}\" is not a cron line: {1}")]
    Unread(String, String),
    /// The line means no moment in the future.
    #[error("\"{0}\" never comes: no such day exists, or it has passed")]
    Never(String),
}

impl Pattern {
    /// Parses a cron line: minute, hour, day of the month, month, day of the week. Seconds may precede these fields, and a year
    /// may follow them. A word such as `@daily` is valid too.
    pub fn parse(text: &str, zone: Zone) -> Result<Self, PatternError> {
        let shown: String = text.chars().take(LONGEST).collect();
        let unread = |why: String| PatternError::Unread(shown.clone(), why);
        if text.len() > LONGEST || !text.is_ascii() || text.contains(|c: char| c.is_ascii_control()) {
            return Err(unread(format!("it is longer than {LONGEST} bytes, or holds letters of another alphabet")));
        }
        let word = text.trim();
        const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
        if word.contains('@') && !WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Err(unread(format!("the words are {}", WORDS.join(", "))));
        }
        let fields = word.split_ascii_whitespace().count();
        if !word.starts_with('@') && !(5..=7).contains(&fields) {
            return Err(unread(format!("it has {fields} fields, and 5 are usual, as in '30 9 * * mon-fri'")));
        }
        // croner does not know this word.
        let word = if word.eq_ignore_ascii_case("@midnight") { "@daily" } else { word };
        let cron =
            CronParser::new().parse(word).map_err(|error| unread(wrong_field(word).unwrap_or_else(|| why(&error))))?;
        let minute = usize::from(fields > 5);
        let mut minute_and_hour = word.split_ascii_whitespace().skip(minute).take(2);
        let is_passing = word.eq_ignore_ascii_case("@hourly") || minute_and_hour.any(|field| field.starts_with('*'));
        Ok(Self { cron, zone, is_passing })
    }

    /// Like `parse`, but refuses a line that means no moment after `now`.
    pub fn to_come(text: &str, zone: Zone, now: Timestamp) -> Result<Self, PatternError> {
        let pattern = Self::parse(text, zone)?;
        match pattern.after(now) {
            Some(_) => Ok(pattern),
            None => Err(PatternError::Never(text.chars().take(LONGEST).collect())),
        }
    }

    /// The zone of the pattern.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The first moment of the line after `at`; `None` if there is no further moment.
    pub fn after(&self, at: Timestamp) -> Option<Timestamp> {
        let found = if self.is_passing { self.passing_after(at) } else { self.fixed_after(at) };
        found.filter(|next| *next <= Timestamp::LAST)
    }

    /// Each moment at which the local clock shows a time of the line.
    fn passing_after(&self, at: Timestamp) -> Option<Timestamp> {
        let mut shown = self.wall_after(self.zone.wall_time(at), false)?;
        let mut begin = at;
        loop {
            let next = self.zone.moment_by_offset_at(begin, shown)?;
            match self.zone.change_after(begin) {
                Some(change) if change <= next => {
                    shown = self.wall_after(self.zone.wall_time(change), true)?;
                    begin = change;
                }
                _ => return Some(next),
            }
        }
    }

    /// Each time of the line once. For a time that the local clock shows twice, this is the first moment. For a time that a
    /// clock change skips, it is the moment of the change.
    fn fixed_after(&self, at: Timestamp) -> Option<Timestamp> {
        let mut shown = self.zone.wall_time(at);
        loop {
            shown = self.wall_after(shown, false)?;
            let (next, _) = self.zone.moments_of(shown)?;
            if next > at {
                return Some(next);
            }
        }
    }

    /// The first date and time of the line after another one, or at it.
    fn wall_after(&self, from: WallTime, or_at: bool) -> Option<WallTime> {
        let found = self.cron.find_next_occurrence(&from.as_utc(), or_at).ok()?;
        Some(WallTime::of_utc(&found))
    }
}

/// The field of a line that cannot be parsed. Each field is parsed on its own, with stars for the others.
fn wrong_field(line: &str) -> Option<String> {
    const NAMES: [&str; 7] = ["second", "minute", "hour", "day of a month", "month", "day of the week", "year"];
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let names = if fields.len() == 5 { &NAMES[1..6] } else { &NAMES[..fields.len().min(7)] };
    let reads = |at: usize| {
        let alone: Vec<&str> = (0..fields.len()).map(|other| if other == at { fields[at] } else { "*" }).collect();
        CronParser::new().parse(&alone.join(" ")).is_ok()
    };
    let (field, name) = fields.iter().zip(names).enumerate().find(|(at, _)| !reads(*at)).map(|(_, pair)| pair)?;
    Some(format!("\"{field}\" is not a valid {name}"))
}

fn why(error: &CronError) -> String {
    match error {
        CronError::EmptyPattern => "it is empty".to_owned(),
        CronError::InvalidDate | CronError::InvalidTime | CronError::TimeSearchLimitExceeded => {
            "no such date exists".to_owned()
        }
        CronError::InvalidPattern(why) | CronError::IllegalCharacters(why) | CronError::ComponentError(why) => {
            let why = why.trim_end_matches('.');
            let mut letters = why.chars();
            letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        }
    }
}

/// The rule for a slot while the former task of its schedule is not over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overlap {
    /// The slot makes no task.
    #[default]
    Skip,
    /// The slot makes a task, which waits for its turn like any other.
    Queue,
}

words!(Overlap { Skip = "skip", Queue = "queue" });

as_word!(Overlap, Self::word, Self::parse, "is not a rule for slots that overlap");

/// The last task that a schedule made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// The moment for which the task was made: a slot, or the time of a `cron run`.
    pub slot: Timestamp,
    /// The task.
    pub task: TaskId,
}

/// The last task of a schedule, in the form of its record.
mod last {
    use super::{Made, TaskId, Timestamp};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Members {
        #[serde(skip_serializing_if = "Option::is_none")]
        last_slot: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_task: Option<TaskId>,
    }

    pub(super) fn serialize<S: Serializer>(made: &Option<Made>, to: S) -> Result<S::Ok, S::Error> {
        Members { last_slot: made.map(|made| made.slot), last_task: made.map(|made| made.task) }.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Made>, D::Error> {
        match Members::deserialize(from)? {
            Members { last_slot: Some(slot), last_task: Some(task) } => Ok(Some(Made { slot, task })),
            Members { last_slot: None, last_task: None } => Ok(None),
            _ => Err(D::Error::custom("it names a last slot or a last task, and not both")),
        }
    }
}

/// The schedule of a task, in the record of the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlotOf {
    /// The schedule.
    pub schedule: Name,
    /// The moment for which the task was made.
    pub slot: Timestamp,
}

/// A schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The version of the schedule's record.
    pub v: Version,
    /// The name of the schedule.
    pub name: Name,
    /// The cron line as it was given.
    pub expression: String,
    /// The name of the schedule's time zone.
    #[serde(rename = "tz")]
    pub zone: String,
    /// The rule for a slot while the former task is not over.
    pub overlap: Overlap,
    /// The time within which every missed slot is made; without it, only the last one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_ms: Option<u64>,
    /// Whether the last missed slot is made however long ago it was. `fill_ms` is `None` then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fill_once: bool,
    /// `--start-within` of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_within_ms: Option<u64>,
    /// Whether each task is queued paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// The time at which the schedule was added.
    pub created_at: Timestamp,
    /// The first slot that no pass has dealt with; `None` if there is no further slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// The last task that the schedule made.
    #[serde(flatten, with = "last")]
    pub last: Option<Made>,
    /// The last slot that made no task because the former task was not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Timestamp>,
    /// The last slot that was missed because no pass ran in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<Timestamp>,
    /// Number of slots that were missed so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missed_count: u64,
    /// The task that each slot makes, without its number, its moments and its slot.
    pub task: Task,
    /// Members of the record that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Schedule {
    /// The name under which the schedule is paused and resumed. The name has the form of a lane's name, although `cron` is
    /// no kind of lane.
    pub fn pause_name(name: &Name) -> LaneName {
        LaneName::new(LaneName::SCHEDULE, name.clone()).expect("the kind is a word")
    }

    /// The task of a slot.
    pub fn task_for(&self, id: TaskId, slot: Timestamp, now: Timestamp) -> Task {
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        Task {
            id,
            created_at: now,
            hold: self.hold.then_some(TaskHold {
                since: now,
                until: None,
                reason: None,
                by: None,
                start_left_ms: self.start_within_ms,
            }),
            start_by: self.start_within_ms.filter(|_| !self.hold).map(|within| now.plus_ms(ms(within))),
            schedule: Some(SlotOf { schedule: self.name.clone(), slot }),
            ..self.task.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a moment")
    }

    fn pattern(text: &str, zone: &str) -> Pattern {
        Pattern::parse(text, Zone::parse(zone).expect("a zone")).expect("a cron line")
    }

    /// The first moments after another one.
    fn slots(pattern: &Pattern, from: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(pattern.after(from), |at| pattern.after(*at)).take(count).collect()
    }

    #[test]
    fn a_line_means_moments_of_its_zone() {
        for (line, zone, from, next) in [
            ("0 9 * * *", "Europe/Berlin", "2026-11-24T07:59:59.999Z", "2026-11-24T08:00:00Z"),
            ("0 9 * * *", "Europe/Berlin", "2026-11-24T08:00:00Z", "2026-11-25T08:00:00Z"),
            ("0 9 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z"),
            ("*/15 * * * *", "UTC", "2026-11-24T07:46:00Z", "2026-11-24T08:00:00Z"),
            ("30 18 * * fri", "America/New_York", "2026-11-24T00:00:00Z", "2026-11-27T23:30:00Z"),
            ("0 0 29 2 *", "UTC", "2026-11-24T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 12 L * *", "UTC", "2026-11-24T00:00:00Z", "2026-11-30T12:00:00Z"),
            ("*/10 * * * * *", "UTC", "2026-11-24T07:46:01.500Z", "2026-11-24T07:46:10Z"),
            ("@daily", "Asia/Kolkata", "2026-11-24T00:00:00Z", "2026-11-24T18:30:00Z"),
        ] {
            assert_eq!(pattern(line, zone).after(at(from)), Some(at(next)), "{line} {zone} after {from}");
        }
    }

    /// The effect on a slot of a day on which the clock changes: the table of the manual page.
    #[test]
    fn a_slot_in_a_gap_comes_once_at_the_moment_after_and_one_in_a_fold_comes_once() {
        for (line, zone, from, next) in [
            // Berlin: 02:00 becomes 03:00.
            ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
            ("0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]),
            ("0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"]),
            ("59 1 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T00:59:00Z", "2026-03-29T23:59:00Z"]),
            // Berlin: 03:00 becomes 02:00.
            ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]),
            ("0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"]),
            ("0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"]),
            // A line for every hour follows the hours that pass.
            ("0 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]),
            ("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"]),
            (
                "30 2 * * *",
                "America/New_York",
                "2026-03-07T12:00:00Z",
                ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"],
            ),
            (
                "30 1 * * *",
                "America/New_York",
                "2026-10-31T12:00:00Z",
                ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
            ),
            // Half an hour.
            (
                "15 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T00:00:00Z",
                ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
            ),
            // At midnight.
            (
                "30 0 * * *",
                "America/Santiago",
                "2026-09-05T12:00:00Z",
                ["2026-09-06T04:00:00Z", "2026-09-07T03:30:00Z"],
            ),
        ] {
            assert_eq!(slots(&pattern(line, zone), at(from), 2), next.map(at), "{line} {zone}");
        }
    }

    #[test]
    fn lines_that_mean_nothing_are_refused_and_what_is_wrong_is_said() {
        for (line, why) in [
            ("", "fields"),
            ("0 9 * *", "4 fields"),
            ("0 9 * * * * * *", "8 fields"),
            ("60 9 * * *", "\"60\" is not a valid minute"),
            ("0 9 * * xyz", "\"xyz\" is not a valid day of the week"),
            ("0 0 25 * * *", "\"25\" is not a valid hour"),
            ("0 0 1 1 1 1 99999", "\"99999\" is not a valid year"),
            ("@reboot", "@daily"),
            ("0 9 * * ١", "another alphabet"),
            ("0 9-5 * * *", "not a cron line"),
        ] {
            let error = Pattern::parse(line, Zone::utc()).expect_err("it is refused").to_string();
            assert!(error.contains(why), "{line}: {error}");
        }
        for line in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 1 1 * 2020"] {
            let error = Pattern::to_come(line, Zone::utc(), at("2026-11-24T00:00:00Z")).expect_err("it never comes");
            assert!(matches!(error, PatternError::Never(_)), "{line}: {error}");
        }
    }

    proptest! {
        #[test]
        fn moments_are_the_same_from_wherever_they_are_counted(offset in 0i64..172_800, line in 0usize..6, zone in 0usize..4) {
            const LINES: [&str; 6] =
                ["30 2 * * *", "0 2 * * *", "*/20 * * * *", "0 */2 * * *", "15 2,3 * * *", "0 0 * * *"];
            const ZONES: [(&str, &str); 4] = [
                ("Europe/Berlin", "2026-03-28T00:00:00Z"),
                ("Europe/Berlin", "2026-10-24T00:00:00Z"),
                ("Australia/Lord_Howe", "2026-04-04T00:00:00Z"),
                ("America/Santiago", "2026-09-05T00:00:00Z"),
            ];
            let (zone, begin) = ZONES[zone];
            let (pattern, begin) = (pattern(LINES[line], zone), at(begin));
            let from = begin.plus_ms(offset * 1000);
            let all: Vec<Timestamp> = slots(&pattern, begin, 400).into_iter().filter(|at| *at > from).collect();
            prop_assert_eq!(pattern.after(from), all.first().copied());
        }

        #[test]
        fn no_text_makes_a_line_panic(text in "[0-9*,/LW#@a-z -]{0,24}") {
            if let Ok(pattern) = Pattern::parse(&text, Zone::utc()) {
                let _ = pattern.after(Timestamp(1_700_000_000_000));
            }
        }
    }
}

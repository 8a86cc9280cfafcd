//! The files of the event log. A day has one segment, `events/<day>.jsonl`, and more once that is full:
//! `<day>.2.jsonl`, `<day>.3.jsonl` and so on. Segments are only appended to, and are removed whole.

use crate::store::{Result, Spool, file_name, layout};
use std::fmt;

/// A writer that finds a segment longer than this goes on to the next one. So a segment can exceed this by simultaneous
/// writes, and by one piece.
pub const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// One file of the event log. The order of segments is the order in which they were begun.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Segment {
    /// The day in UTC as `2026-01-31`.
    pub day: String,
    /// Its number on that day, from 1.
    pub number: u64,
}

impl Segment {
    /// The first segment of a day.
    pub fn first(day: &str) -> Self {
        Self { day: day.to_owned(), number: 1 }
    }

    /// The segment that follows on the same day.
    pub fn next(&self) -> Self {
        Self { day: self.day.clone(), number: self.number.saturating_add(1) }
    }

    /// Parses the file name of a [`Segment`], in its one spelling.
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".jsonl")?;
        let (day, number) = match stem.split_once('.') {
            None => (stem, 1),
            Some((day, number)) => (day, file_name::number(number).filter(|number| *number > 1)?),
        };
        file_name::is_day(day).then(|| Self { day: day.to_owned(), number })
    }

    /// Its path.
    pub fn path(&self) -> String {
        format!("{}/{self}", layout::EVENTS)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 | 1 => write!(f, "{}.jsonl", self.day),
            number => write!(f, "{}.{number}.jsonl", self.day),
        }
    }
}

impl Spool {
    /// The segments of the event log, the oldest first.
    pub fn event_segments(&self) -> Result<Vec<Segment>> {
        let names = self.list(layout::EVENTS)?;
        let mut segments: Vec<Segment> = names.iter().filter_map(|entry| Segment::parse(&entry.name)).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    /// Length of a segment in bytes.
    pub fn event_bytes(&self, segment: &Segment) -> Result<u64> {
        Ok(self.meta(&segment.path())?.map_or(0, |meta| meta.size))
    }

    /// The segment after one, in which events were written later.
    pub(crate) fn segment_after(&self, segment: &Segment) -> Result<Option<Segment>> {
        Ok(self.event_segments()?.into_iter().find(|other| other > segment))
    }

    /// The newest segment of a day; the first number for a day without segments.
    pub(crate) fn newest_segment(&self, day: &str) -> Result<Segment> {
        let last = self.event_segments()?.into_iter().rfind(|segment| segment.day == day);
        Ok(last.unwrap_or_else(|| Segment::first(day)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_one_name_and_they_sort_as_they_were_begun() {
        let (first, tenth) = (Segment::first("2026-01-31"), Segment { day: "2026-01-31".into(), number: 10 });
        assert_eq!((first.to_string(), tenth.to_string()), ("2026-01-31.jsonl".into(), "2026-01-31.10.jsonl".into()));
        for segment in [&first, &tenth, &first.next()] {
            assert_eq!(Segment::parse(&segment.to_string()).as_ref(), Some(segment));
        }
        assert!(first < first.next() && first.next() < tenth && tenth < Segment::first("2026-02-01"));
        for wrong in ["2026-01-31.1.jsonl", "2026-01-31.0.jsonl", "2026-01-31.02.jsonl", "2026-01-31", "today.jsonl"] {
            assert_eq!(Segment::parse(wrong), None, "{wrong}");
        }
    }
}

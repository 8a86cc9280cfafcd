//! Readers of the event log: from a moment on, and as it grows.

use super::{SEGMENT_BYTES, Segment, decode};
use crate::model::Timestamp;
use crate::os::{Handle, Open};
use crate::store::{Result, Spool, StoreError};
use serde_json::Value;

/// Number of bytes that are read at once.
const PART_BYTES: u64 = 256 * 1024;
/// Time by which an event may follow a later one: their writers took the time before they wrote.
const OUT_OF_ORDER_MS: i64 = 60_000;
/// Number of bytes of a segment that are read to find the time of its events at an offset.
const LOOK_BYTES: usize = 16 * 1024;

/// An event as it was read back.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadEvent {
    /// The time at which the event was written.
    pub at: Timestamp,
    /// The whole line.
    pub line: Value,
}

/// Takes an event, and returns whether to go on.
pub type TakeEvents<'a> = dyn FnMut(ReadEvent) -> bool + 'a;

/// Takes the line of an event, and returns whether to go on.
type TakeLines<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// A line of the log that was not parsed. It may be invalid.
pub struct EventLine<'a>(&'a str);

impl<'a> EventLine<'a> {
    /// The text of the line.
    pub fn text(&self) -> &'a str {
        self.0
    }

    /// Whether the line is of an event of this kind.
    pub fn is_of(&self, kind: &str) -> bool {
        let value = self.0.split_once("\"event\":\"").map_or("", |(_, value)| value);
        value.strip_prefix(kind).is_some_and(|rest| rest.starts_with('"'))
    }

    /// The event, if the line is valid.
    pub fn event(&self) -> Option<ReadEvent> {
        decode(self.0.as_bytes())
    }
}

/// Reads events as they are written.
pub struct EventReader {
    at: Position,
    /// The segment before, for a while: a writer may have opened it before it was full, or before midnight.
    before: Option<(Position, Timestamp)>,
    /// Whether the reader has come to the end of the newest segment.
    is_at_end: bool,
}

/// Progress of the reading of a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) segment: Segment,
    /// The offset of the first byte that was not read.
    pub(super) from: u64,
}

impl Spool {
    /// Gives the events since the last call to `take`, without a line that is not whole yet. Once `take` returns false, it is
    /// not called again, and the reader is of no further use.
    pub fn read_on(&self, reader: &mut EventReader, take: &mut TakeEvents<'_>) -> Result<()> {
        if let Some((late, left)) = &mut reader.before {
            if !late.read(self, take)? {
                return Ok(());
            }
            if self.host.clock.now().ms_since(*left) > OUT_OF_ORDER_MS {
                reader.before = None;
            }
        }
        loop {
            let today = self.host.clock.now().day();
            if !reader.at.read(self, take)? {
                return Ok(());
            }
            if reader.is_at_end && reader.at.segment.day >= today && reader.at.from < SEGMENT_BYTES {
                return Ok(());
            }
            let Some(next) = self.segment_after(&reader.at.segment)? else {
                reader.is_at_end = true;
                return Ok(());
            };
            let left = std::mem::replace(&mut reader.at, Position { segment: next, from: 0 });
            // A segment that was left long ago no longer has a writer.
            reader.before = Some((left, self.host.clock.now()));
        }
    }

    /// A reader of the events that are written from now on.
    pub fn follow_events(&self) -> Result<EventReader> {
        let mut segment = Segment::first(&self.host.clock.now().day());
        let mut from = self.event_bytes(&segment)?;
        if from >= SEGMENT_BYTES {
            segment = self.newest_segment(&segment.day)?;
            from = self.event_bytes(&segment)?;
        }
        Ok(EventReader { at: Position { segment, from }, before: None, is_at_end: true })
    }

    /// A reader of the events since a moment; some that are a little older come first.
    pub fn events_from(&self, since: Timestamp) -> Result<EventReader> {
        let first = since.day();
        let mut segments = self.event_segments()?.into_iter().filter(|segment| segment.day >= first);
        let Some(mut segment) = segments.next() else { return self.follow_events() };
        // The last segment that begins well before.
        for next in segments {
            if !self.begins_before(&next, since)? {
                break;
            }
            segment = next;
        }
        let from = self.start_of(&segment, since)?;
        Ok(EventReader { at: Position { segment, from }, before: None, is_at_end: false })
    }

    /// Gives the newest events to `take`, of about `bytes` bytes at most, in the order in which they were written.
    pub fn recent_events(&self, bytes: u64, take: &mut TakeEvents<'_>) -> Result<()> {
        self.recent_lines(bytes, &mut |line| decode(line).is_none_or(&mut *take))
    }

    /// Like `recent_events`, for a caller that parses few of the lines.
    pub fn recent_unparsed(&self, bytes: u64, take: &mut dyn FnMut(&EventLine<'_>)) -> Result<()> {
        self.recent_lines(bytes, &mut |line| {
            if let Ok(line) = str::from_utf8(line) {
                take(&EventLine(line));
            }
            true
        })
    }

    fn recent_lines(&self, bytes: u64, take: &mut TakeLines<'_>) -> Result<()> {
        let (mut left, mut positions) = (bytes, Vec::new());
        for segment in self.event_segments()?.into_iter().rev() {
            let size = self.event_bytes(&segment)?;
            positions.push(Position { segment, from: size.saturating_sub(left) });
            left = left.saturating_sub(size);
            if left == 0 {
                break;
            }
        }
        for mut at in positions.into_iter().rev() {
            // The part may begin with the rest of a line, which is invalid.
            if !at.read_lines(self, take)? {
                break;
            }
        }
        Ok(())
    }

    /// Every event since `since`, in the order in which they were written; invalid lines are left out.
    pub fn events_since(&self, since: Timestamp) -> Result<Vec<ReadEvent>> {
        let mut events = Vec::new();
        self.visit_events(since, &mut |event| {
            events.push(event);
            true
        })?;
        Ok(events)
    }

    /// Gives every event since `since` to `take`, without keeping them.
    pub fn visit_events(&self, since: Timestamp, take: &mut TakeEvents<'_>) -> Result<()> {
        self.read_on(&mut self.events_from(since)?, &mut |event| event.at < since || take(event))
    }

    fn begins_before(&self, segment: &Segment, since: Timestamp) -> Result<bool> {
        let path = segment.path();
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(false) };
        let look = look_at(file.as_mut(), &path, 0)?;
        let head = look.split(|byte| *byte == b'\n').find_map(decode);
        Ok(head.is_some_and(|event| event.at.plus_ms(OUT_OF_ORDER_MS) < since))
    }

    /// An offset before the first event of a segment that is not well before `since`. Events are nearly in the order of
    /// their times, so it is looked for by halves: a day may have hundreds of megabytes.
    fn start_of(&self, segment: &Segment, since: Timestamp) -> Result<u64> {
        let path = segment.path();
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(0) };
        let (mut old, mut end) = (0, file.meta().map_err(StoreError::io("look at", &path))?.size);
        while end - old > PART_BYTES {
            let middle = old + (end - old) / 2;
            match first_whole(&look_at(file.as_mut(), &path, middle)?) {
                Some(at) if at.plus_ms(OUT_OF_ORDER_MS) < since => old = middle,
                _ => end = middle,
            }
        }
        if old == 0 { Ok(0) } else { line_after(file.as_mut(), &path, old) }
    }
}

/// Content of a segment from an offset on, enough to show its time.
fn look_at(file: &mut dyn Handle, path: &str, from: u64) -> Result<Vec<u8>> {
    file.read_part(from, LOOK_BYTES).map_err(StoreError::io("read", path))
}

/// The offset of the first line that begins after `from`.
fn line_after(file: &mut dyn Handle, path: &str, mut from: u64) -> Result<u64> {
    loop {
        let part = look_at(file, path, from)?;
        if let Some(end) = part.iter().position(|byte| *byte == b'\n') {
            return Ok(from + end as u64 + 1);
        }
        if part.is_empty() {
            return Ok(from);
        }
        from += part.len() as u64;
    }
}

/// The time of the first valid line, in a part that may begin in the middle of one.
fn first_whole(part: &[u8]) -> Option<Timestamp> {
    let mut lines = part.split(|byte| *byte == b'\n').skip(1);
    lines.find_map(decode).map(|event| event.at)
}

impl Position {
    /// Reads on to the end of the segment. False once `take` returns false.
    pub(super) fn read(&mut self, store: &Spool, take: &mut TakeEvents<'_>) -> Result<bool> {
        self.read_lines(store, &mut |line| decode(line).is_none_or(&mut *take))
    }

    fn read_lines(&mut self, store: &Spool, take: &mut TakeLines<'_>) -> Result<bool> {
        let path = self.segment.path();
        let Some(mut file) = store.open(&path, Open::ReadOnly)? else { return Ok(true) };
        let mut most = PART_BYTES;
        loop {
            let length = usize::try_from(most).unwrap_or(usize::MAX);
            let part = file.read_part(self.from, length).map_err(StoreError::io("read", &path))?;
            let whole = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if !part[..whole].split(|byte| *byte == b'\n').all(&mut *take) {
                return Ok(false);
            }
            self.from += whole as u64;
            if part.len() < length {
                return Ok(true);
            }
            // A line that is longer than a part is read in a longer one.
            most = if whole == 0 { most.saturating_mul(2) } else { PART_BYTES };
        }
    }
}

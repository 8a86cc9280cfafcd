//! Events: one append-only record of something that happened, a line of JSON in `events/<day>.jsonl`. They inform; no
//! decision of luzia rests on them, so a failure to write one never fails the verb.

use crate::model::{LaneName, TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::error::Result;
use crate::store::files::disk::layout;
use crate::store::{FORMAT_VERSION, Store};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// How much of a day's events is read at once.
const PART_BYTES: u64 = 256 * 1024;
/// By how much an event may stand behind a later one: their writers took the time before they wrote.
const OUT_OF_ORDER_MS: i64 = 60_000;

/// The file to which this process wrote last, by its path, kept open.
pub(crate) type Journal = Arc<Mutex<Option<(String, Box<dyn Handle>)>>>;

/// One event, with what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// What happened, one word.
    pub name: &'static str,
    /// The task it happened to.
    pub task: Option<TaskId>,
    /// The task's user.
    pub user: Option<String>,
    /// The lane it happened in.
    pub lane: Option<LaneName>,
    /// A sentence; log lines quoted from a source stand here word for word.
    pub message: Option<String>,
    /// Further members.
    pub data: Value,
}

/// An event as it was read back.
#[derive(Clone, PartialEq, Debug)]
pub struct EventSink {
    /// When.
    pub at: Timestamp,
    /// The whole line.
    pub line: Value,
}

impl Event {
    /// An event without details.
    pub fn new(name: &'static str) -> Self {
        Self { name, task: None, user: None, lane: None, message: None, data: Value::Null }
    }

    /// An event of a task.
    pub fn of(name: &'static str, task: &crate::model::Task) -> Self {
        Self { task: Some(task.id), user: Some(task.user.to_string()), ..Self::new(name) }
    }

    /// The same with a message.
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The same in a lane.
    pub fn in_lane(mut self, lane: &LaneName) -> Self {
        self.lane = Some(lane.clone());
        self
    }

    /// The same with further members.
    pub fn with(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

impl Store {
    /// Appends an event. It is not synced, and a failure is not reported: events inform.
    pub fn note(&self, event: &Event) {
        self.note_all(std::iter::once(event.clone()));
    }

    /// Appends events in one piece.
    pub fn note_all(&self, events: impl Iterator<Item = Event>) {
        let now = self.clock.now();
        let boot_ms = self.clock.boot_ms();
        let lines: String = events.map(|event| encode(&event, now, boot_ms, self.me.pid)).collect();
        let path = layout::events(&now.day());
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was removed meanwhile has no name.
        let is_in_use = |file: &dyn Handle| file.meta().is_ok_and(|meta| meta.links > 0);
        if !journal.as_ref().is_some_and(|(open, file)| *open == path && is_in_use(&**file)) {
            let file = self.vfs.open(&path, Open::Append(0o600)).ok().flatten();
            *journal = file.map(|file| (path, file));
        }
        if let Some((_, file)) = &mut *journal {
            let _ = file.write_all(lines.as_bytes());
        }
    }

    /// The days that have events, by the names of their files.
    pub(crate) fn event_days(&self) -> Result<Vec<String>> {
        let names = self.list(layout::EVENTS)?;
        Ok(names.iter().filter_map(|entry| entry.name.strip_suffix(".jsonl").map(str::to_owned)).collect())
    }

    /// Every event since `since`, in the order in which they were written; lines that do not read are left out.
    pub fn events_since(&self, since: Timestamp) -> Result<Vec<EventSink>> {
        let first = since.day();
        let mut days = self.event_days()?;
        days.retain(|day| *day >= first);
        days.sort_unstable();
        let mut events = Vec::new();
        for day in days {
            for part in self.last_parts(&layout::events(&day), since)? {
                events.extend(part.split(|byte| *byte == b'\n').filter_map(decode).filter(|event| event.at >= since));
            }
        }
        Ok(events)
    }

    /// The end of a day's events, in parts of whole lines: from the last part that begins well before `since`. A day may
    /// have hundreds of megabytes of events.
    fn last_parts(&self, path: &str, since: Timestamp) -> Result<Vec<Vec<u8>>> {
        let failed = || crate::store::StoreError::io("read", path);
        let Some(mut file) = self.open(path, Open::ReadOnly)? else { return Ok(Vec::new()) };
        let mut begin = file.meta().map_err(failed())?.size;
        let (mut parts, mut rest) = (Vec::new(), Vec::new());
        while begin > 0 {
            let length = begin.min(PART_BYTES);
            begin -= length;
            let mut part = file.read_part(begin, usize::try_from(length).unwrap_or(0)).map_err(failed())?;
            part.append(&mut rest);
            // What stands before the first end of a line belongs to a line of the part before.
            let first = part.iter().position(|byte| *byte == b'\n').map_or(part.len(), |at| at + 1);
            let lines = if begin == 0 { std::mem::take(&mut part) } else { part.split_off(first) };
            rest = part;
            let head = lines.split(|byte| *byte == b'\n').next().and_then(decode);
            parts.push(lines);
            if head.is_some_and(|event| event.at.plus_ms(OUT_OF_ORDER_MS) < since) {
                break;
            }
        }
        parts.reverse();
        Ok(parts)
    }
}

/// Reads events as they are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventReader {
    day: String,
    /// The offset of the first byte that was not read.
    from: u64,
}

impl Store {
    /// A reader of the events that are written from now on.
    pub fn follow_events(&self) -> Result<EventReader> {
        let day = self.clock.now().day();
        let from = self.meta(&layout::events(&day))?.map_or(0, |meta| meta.size);
        Ok(EventReader { day, from })
    }
}

impl EventReader {
    /// The events since the last call; of a line that is not whole yet, nothing.
    pub fn more(&mut self, store: &Store) -> Result<Vec<EventSink>> {
        let mut events = Vec::new();
        loop {
            let today = store.clock.now().day();
            self.read_day(store, &mut events)?;
            if today <= self.day {
                return Ok(events);
            }
            // Nothing is written to a day that is over, but by a writer that took the time before midnight.
            let next = store.event_days()?.into_iter().filter(|day| *day > self.day).min();
            *self = Self { day: next.unwrap_or(today), from: 0 };
        }
    }

    fn read_day(&mut self, store: &Store, events: &mut Vec<EventSink>) -> Result<()> {
        let path = layout::events(&self.day);
        let Some(mut file) = store.open(&path, Open::ReadOnly)? else { return Ok(()) };
        loop {
            let most = usize::try_from(PART_BYTES).unwrap_or(usize::MAX);
            let part = file.read_part(self.from, most).map_err(crate::store::StoreError::io("read", &path))?;
            let whole = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            events.extend(part[..whole].split(|byte| *byte == b'\n').filter_map(decode));
            self.from += whole as u64;
            if part.len() < most || whole == 0 {
                return Ok(());
            }
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    v: u64,
    at: String,
    boot_ms: u64,
    event: &'a str,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    data: &'a Value,
}

/// The line of an event.
pub(crate) fn encode(event: &Event, now: Timestamp, boot_ms: u64, pid: u32) -> String {
    let mut line = serde_json::to_string(&Line {
        v: FORMAT_VERSION,
        at: now.to_string(),
        boot_ms,
        event: event.name,
        pid,
        task: event.task.map(|task| task.to_string()),
        user: event.user.as_deref(),
        lane: event.lane.as_ref().map(LaneName::to_string),
        message: event.message.as_deref(),
        data: &event.data,
    })
    .expect("text keys and plain values make JSON");
    line.push('\n');
    line
}

/// Reads the line of an event, without its end; `None` for what is none.
pub(crate) fn decode(line: &[u8]) -> Option<EventSink> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let at = line.get("at").and_then(Value::as_str).and_then(Timestamp::parse)?;
    Some(EventSink { at, line })
}

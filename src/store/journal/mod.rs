//! Events: one append-only record of something that happened, a line of JSON in `events/<day>.jsonl`. They inform; no
//! decision of luzia rests on them, so a failure to write one never fails the verb.

pub(crate) mod hooks;
mod kinds;
pub(crate) mod reading;
mod segments;
pub(crate) mod tally;

pub use kinds::{KINDS, is_kind};
pub use reading::{EventReader, ReadEvent};
pub use segments::{SEGMENT_BYTES, Segment};
pub use tally::Add;

use crate::model::record::Version;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::Spool;
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The segment to which this process wrote last, kept open.
pub(crate) type Journal = Arc<Mutex<Option<(Segment, Box<dyn Handle>)>>>;

/// One event, with its known details.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Event {
    /// The kind of the event, one word.
    #[serde(skip)]
    pub name: &'static str,
    /// The task it happened to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The task's user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The lane it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneName>,
    /// The lanes that the task names beside its user's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneName>,
    /// A sentence; log lines quoted from a source are here word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further members.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl Event {
    /// An event without details.
    pub fn new(name: &'static str) -> Self {
        debug_assert!(is_kind(name), "{name} stands in no list of kinds");
        Self { name, task: None, user: None, lane: None, lanes: Vec::new(), message: None, data: Value::Null }
    }

    /// An event of a task.
    pub fn of(name: &'static str, task: &crate::model::Task) -> Self {
        Self { task: Some(task.id), user: Some(task.user.to_string()), lanes: task.lanes.clone(), ..Self::new(name) }
    }

    /// Adds a message.
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Adds a lane.
    pub fn in_lane(mut self, lane: &LaneName) -> Self {
        self.lane = Some(lane.clone());
        self
    }

    /// Adds the lane of a lock, and the user if it is a user's lane.
    pub fn for_lock(mut self, lane: &LaneName) -> Self {
        self.user = lane.is_user().then(|| lane.key().to_string());
        self.in_lane(lane)
    }

    /// Adds the lane of the task's user, if the task takes that lane.
    pub fn in_lane_of(mut self, task: &crate::model::Task) -> Self {
        self.lane = task.takes_user_lane.then(|| LaneName::user(&task.user));
        self
    }

    /// Adds further members.
    pub fn with(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

impl Spool {
    /// Appends an event. It is not synced, and a failure is not reported: events inform.
    pub fn note(&self, event: &Event) {
        self.note_all(&mut std::iter::once(event.clone()));
    }

    /// Appends events in one piece.
    pub fn note_all(&self, events: &mut dyn Iterator<Item = Event>) {
        let now = self.host.clock.now();
        let boot_ms = self.host.clock.boot_ms();
        let at = now.to_string();
        let line = |event: Event| {
            let line = encode(&event, &at, boot_ms, self.host.me.pid);
            self.remember(event, now);
            line
        };
        let lines: String = events.map(line).collect();
        let day = now.day();
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        // A segment that was removed meanwhile has no name, and a write to one with several names appears under all of them.
        let has_room = |file: &dyn Handle| file.meta().is_ok_and(|meta| meta.links == 1 && meta.size < SEGMENT_BYTES);
        if !journal.as_ref().is_some_and(|(open, file)| open.day == day && has_room(&**file)) {
            *journal = self.open_segment(&day);
        }
        if let Some((_, file)) = &mut *journal {
            let _ = file.write_all(lines.as_bytes());
        }
    }

    /// The segment of a day that is not full, opened for writing. One with several names counts as full.
    fn open_segment(&self, day: &str) -> Option<(Segment, Box<dyn Handle>)> {
        let open = |segment: &Segment| {
            let file = self.vfs.open(&segment.path(), Open::Append(0o600)).ok().flatten()?;
            let meta = file.meta().ok()?;
            Some((file, if meta.links > 1 { SEGMENT_BYTES } else { meta.size }))
        };
        let mut segment = Segment::first(day);
        let (mut file, mut size) = open(&segment)?;
        if size >= SEGMENT_BYTES {
            segment = self.newest_segment(day).ok()?;
            (file, size) = open(&segment)?;
        }
        while size >= SEGMENT_BYTES {
            segment = segment.next();
            (file, size) = open(&segment)?;
        }
        Some((segment, file))
    }
}

#[derive(Serialize)]
struct Line<'a> {
    v: Version,
    at: &'a str,
    boot_ms: u64,
    event: &'a str,
    pid: u32,
    #[serde(flatten)]
    of: &'a Event,
}

/// The line of an event at a moment.
pub(crate) fn encode(event: &Event, at: &str, boot_ms: u64, pid: u32) -> String {
    let mut line = serde_json::to_string(&Line { v: Version, at, boot_ms, event: event.name, pid, of: event })
        .expect("text keys and plain values make JSON");
    line.push('\n');
    line
}

/// Reads the line of an event, without its end; `None` if the line is not a valid event.
pub(crate) fn decode(line: &[u8]) -> Option<ReadEvent> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let at = line.get("at").and_then(Value::as_str).and_then(Timestamp::parse)?;
    Some(ReadEvent { at, line })
}

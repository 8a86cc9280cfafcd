//! The event log: events, their files and their kinds.
//!
//! `Event` is one append-only record of something that happened, a line of JSON in `events/<day>.jsonl`. Events inform; no
//! decision of luzia rests on them, so a failure to write one never fails the verb. `Segment` is a file of the log. A day has one
//! segment, `events/<day>.jsonl`, and more once that is full: `<day>.2.jsonl`, `<day>.3.jsonl` and so on. Segments are only
//! appended to, and are removed whole. `KINDS` lists the kinds of events, each with its meaning. The list is append-only.

pub(crate) mod hooks;
pub(crate) mod reading;
pub(crate) mod tally;

use crate::model::record::Version;
use crate::model::sorted::sort;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::{Result, Spool, file_name, layout};
pub use reading::{EventLine, EventReader, ReadEvent};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
pub use tally::Add;

/// The segment to which this process wrote last, kept open.
pub(crate) type Journal = Arc<Mutex<Option<(Segment, Box<dyn Handle>)>>>;

/// One event, with its known details.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Event {
    /// The kind of the event, one word.
    #[serde(skip)]
    pub name: &'static str,
    /// The task of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The task's user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The lane of the event.
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

/// A writer that finds a segment longer than this goes on to the next one. So a segment can exceed this by simultaneous
/// writes, and by one piece.
pub const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// One file of the event log. The order of segments is the order in which they were begun.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Segment {
    /// The day in UTC as `2026-01-31`.
    pub day: String,
    /// The number of the segment on its day, from 1.
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

    /// The path of the segment.
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
        sort(&mut segments);
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

/// Every kind of event, in the order of its name.
pub const KINDS: &[(&str, &str)] = &[
    ("agent_completed", "a task ended that another task had asked for"),
    ("alert", "a task has failed three times or more, or a command of --timeout-do may not have run to its end"),
    ("background_ended", "processes that a command had left running were ended"),
    ("borrowed", "a task has borrowed a lane from its parent"),
    ("cancel_requested", "somebody asked a running task to end"),
    ("cancelled", "a task that had not started was cancelled"),
    ("checkpoint", "a task saves the record of its wait"),
    ("claim_refused", "a conductor directory claims a lock that is not its own"),
    ("clock_moved", "the wall clock was set, and the boot clock counts the delay of a task"),
    ("conductor_failed", "a conductor directory could not be written"),
    ("continued", "a task goes on after a wait"),
    ("cpu_share_failed", "the share of processors of a holder could not be changed"),
    ("dispatched", "a supervisor is about to start the command of a task"),
    ("edited", "a task that had not started was changed"),
    ("emitted", "a task was sent an event"),
    ("ended", "the command of a task ended, and nothing of it lives"),
    ("enqueued", "a task was accepted"),
    ("finish_said", "a task has recorded its end"),
    ("finished", "a task is over, and others have its lanes"),
    ("gate_opened", "a lane grants again: the host is no more too busy for it"),
    ("gate_shut", "a lane grants nothing, because the host is too busy for it"),
    ("gave_up", "a task that waits for an event has given up slots for others"),
    ("guard_busy", "a pass left a lane alone, because a process was stopped in its guard"),
    ("guard_lost", "the lock of a guarded command was lost"),
    ("hook_failed", "a hook failed; no task depends on it"),
    ("hook_ran", "a hook ran"),
    ("lane_set", "a rule of a lane was set"),
    ("lane_unset", "the rules of a lane were removed"),
    ("limit_ignored", "a task reported a usage limit that cannot be right"),
    ("limited", "a usage limit of a provider keeps a task"),
    ("line_passed", "a lane went to a later waiter, because earlier ones did not take their turn"),
    ("lock_acquired", "a lane was taken by `lock`, `acquire` or a session"),
    ("lock_broken", "a lock was removed whose holder was proven dead"),
    ("lock_file_put_back", "another program removed the lock file of a holder, and it is back"),
    ("lock_refused", "a lane was not given"),
    ("lock_released", "a lane was given back by `lock`, `release` or a session"),
    ("lock_waiting", "a `lock` or an `acquire` waits for a lane"),
    ("locked", "a task has all its lanes"),
    ("logs_cut", "the oldest output of a task was dropped"),
    ("logs_not_cut", "the logs of a task could not be cut"),
    ("parked", "a task waits for an event without a process"),
    ("pass_failed", "a scheduling pass ended with an error"),
    ("paused", "a task, a lane, a user or the host was paused"),
    ("polled", "a pass has looked at the queue of a task"),
    ("preempted", "a running task was asked to make room for another one"),
    ("prompt", "the command and input of a start of a task, if its starts are sampled"),
    ("prune_failed", "records past their retention could not be removed"),
    ("pruned", "finished tasks past their retention were removed"),
    ("recovered", "a task whose supervisor had died was recovered"),
    ("released", "a task has given its lanes back"),
    ("requeued", "a task is queued again after an attempt"),
    ("response", "the end of the output of a start of a task, if its starts are sampled"),
    ("result_failed", "the result of a task could not be written yet"),
    ("resume_ready", "a task has what it waited for, and waits for its lanes"),
    ("resumed", "a wait of a task, or a pause, is over"),
    ("retried", "a task that was over was queued again"),
    ("schedule_added", "a schedule was added or replaced"),
    ("schedule_failed", "a schedule could not make its task"),
    ("schedule_removed", "a schedule was removed"),
    ("schedule_skipped", "a schedule skipped a slot, because its last task was not over"),
    ("selected", "a pass has chosen a task"),
    ("session_ended", "a session of an agent ended"),
    ("session_started", "a session of an agent began"),
    ("set_aside", "a damaged record was set aside"),
    ("sidecar_rebuilt", "a holder wrote a lost sidecar of its lock anew"),
    ("slot_missed", "a slot of a schedule passed while nothing was running; its task is late, or is not made"),
    ("spawned", "a task has asked for another one"),
    ("start_waits", "the start of a task waits for space, memory or processes"),
    ("started", "the command of a task runs"),
    ("state_updated", "the end of the wait of a task was recorded"),
    ("step", "a step of a task ended"),
    ("step_ended", "a run of a stepwise task ended"),
    ("subject_changed", "the work tree of a task changed after the task was queued"),
    ("subject_unknown", "whether the work tree of a task changed cannot be told"),
    ("supervisor_failed", "a supervisor ended with an error"),
    ("taken_here", "a task was taken out of a sandbox that has ended into the context of the caller"),
    ("timeout_command", "the command of --timeout-do was run"),
    ("took_again", "a task has the slots again that it gave up while it waited"),
    ("vars_damaged", "the newest variables of a task cannot be read"),
    ("vars_left_out", "the data of an event are too large for a variable"),
    ("vars_set", "variables of a task were set"),
    ("vars_unset", "places of variables in a command have no value, and stay as they are written"),
    ("wait_needed", "a task asks to wait"),
    ("wait_timeout", "the time of a wait ran out"),
    ("wait_warning", "a task or a lock has waited for as long as its lane says"),
    ("waiting", "a task waits"),
    ("withdrawn", "a task could not be accepted after all"),
];

/// Whether events of a name are written.
pub fn is_kind(name: &str) -> bool {
    KINDS.iter().any(|(kind, _)| *kind == name)
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

    #[test]
    fn kinds_are_sorted_and_each_stands_once() {
        assert!(KINDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(is_kind("enqueued") && !is_kind("enqueue"));
    }
}

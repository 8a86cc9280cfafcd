//! The notes beside the logs of a task: the lengths of both at some moments, and the beginning of each attempt. They give
//! back the order of the two streams, and the time of a line. Only `luzia logs` reads them, and nothing depends on them.

use crate::model::{TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::conductor::{Conductor, STDERR_LOG, STDOUT_LOG, dir};
use crate::store::{Result, StoreError};
use serde_json::{Map, Value};

/// File name of the notes.
pub const ORDER_NOTES: &str = "order.jsonl";
/// The longest line that can be a note.
const LONGEST: usize = 256;
/// Number of bytes that are read at once.
const BLOCK: usize = 64 * 1024;

/// The lengths of the logs at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogNote {
    /// The moment.
    pub at: Timestamp,
    /// The lengths of standard output and standard error.
    pub ends: [u64; 2],
    /// The attempt that begins here, if one does.
    pub attempt: Option<u32>,
}

impl LogNote {
    /// A note as a line. A note that begins an attempt begins with an empty line, since a crash may have cut the note before
    /// it short.
    pub fn to_line(self) -> String {
        let Self { at, ends: [out, err], attempt } = self;
        match attempt {
            Some(attempt) => {
                format!("\n{{\"at\":\"{at}\",\"out\":{out},\"err\":{err},\"attempt\":{attempt}}}\n")
            }
            None => format!("{{\"at\":\"{at}\",\"out\":{out},\"err\":{err}}}\n"),
        }
    }

    /// A line as a note; `None` if the line is not a note.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let members: Map<String, Value> = serde_json::from_slice(line).ok()?;
        let number = |name: &str| members.get(name).and_then(Value::as_u64);
        Some(Self {
            at: Timestamp::parse(members.get("at")?.as_str()?)?,
            ends: [number("out")?, number("err")?],
            attempt: number("attempt").and_then(|attempt| u32::try_from(attempt).ok()),
        })
    }
}

/// The notes of a task, read as they grow.
#[derive(Default)]
pub struct LogNotes {
    file: Option<Box<dyn Handle>>,
    at: u64,
    rest: Vec<u8>,
    last: [u64; 2],
}

impl LogNotes {
    /// The notes that were made since the last call. Invalid notes, and those that would lead backwards, are left out.
    pub fn more(&mut self, conductor: &Conductor, id: TaskId) -> Result<Vec<LogNote>> {
        if self.file.is_none() {
            self.file = conductor.read_log(id, ORDER_NOTES)?;
        }
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        let mut notes = Vec::new();
        loop {
            let block = file.read_part(self.at, BLOCK).map_err(StoreError::io("read", ORDER_NOTES))?;
            if block.is_empty() {
                return Ok(notes);
            }
            self.at += block.len() as u64;
            for piece in block.split_inclusive(|byte| *byte == b'\n') {
                if self.rest.len() <= LONGEST {
                    self.rest.extend_from_slice(&piece[..piece.len().min(LONGEST)]);
                }
                if piece.ends_with(b"\n") {
                    let note = LogNote::parse(&std::mem::take(&mut self.rest));
                    let is_next = |note: &LogNote| (0..2).all(|n| note.ends[n] >= self.last[n]);
                    if let Some(note) = note.filter(is_next) {
                        self.last = note.ends;
                        notes.push(note);
                    }
                }
            }
        }
    }
}

impl Conductor {
    /// Opens both logs of a running task, to look at them and to cut them. `None` when one does not exist, or has another name,
    /// under which it would be cut as well.
    pub fn logs_of_running(&self, id: TaskId) -> Result<Option<[Box<dyn Handle>; 2]>> {
        let open = |name: &str| {
            let path = format!("{}/{name}", dir("active", id));
            let opened = self.files.open(&path, Open::Existing).map_err(StoreError::io("open", &path));
            opened.map(|log| log.filter(|log| log.meta().is_ok_and(|meta| meta.links == 1)))
        };
        Ok(open(STDOUT_LOG)?.zip(open(STDERR_LOG)?).map(|(out, err)| [out, err]))
    }

    /// Opens the notes of a running task, for appending.
    pub fn open_notes(&self, id: TaskId) -> Result<Box<dyn Handle>> {
        self.open_log(id, ORDER_NOTES)
    }

    /// Notes the beginning of an attempt.
    pub fn note_attempt(&self, id: TaskId, note: LogNote) -> Result<()> {
        self.open_notes(id)?.write_all(note.to_line().as_bytes()).map_err(StoreError::io("write", ORDER_NOTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_as_it_was_written_and_other_lines_are_none() {
        for attempt in [None, Some(2)] {
            let note = LogNote { at: Timestamp(1_700_000_000_123), ends: [u64::MAX, 7], attempt };
            assert_eq!(LogNote::parse(note.to_line().trim().as_bytes()), Some(note));
            assert!(note.to_line().len() < LONGEST);
        }
        for wrong in
            ["", "{}", "[]", "{\"at\":\"x\",\"out\":1,\"err\":1}", "{\"at\":\"2026-01-01T00:00:00Z\",\"out\":-1}"]
        {
            assert_eq!(LogNote::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}

//! One log of a task, read as it grows and perhaps cut at its front meanwhile.

use crate::app::{AppError, Code};
use crate::model::{Task, Timestamp};
use crate::os::Handle;
use crate::store::{RunDir, STDERR_LOG, STDOUT_LOG};
use std::io;

/// Number of bytes that are read at once.
const BLOCK: u64 = 64 * 1024;

/// One of the two streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Stream {
    /// The place of the stream in an array of both.
    pub fn index(self) -> usize {
        match self {
            Self::Out => 0,
            Self::Err => 1,
        }
    }
}

/// A part of the logs of a task, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Output of the command.
    Bytes {
        /// The stream of the bytes.
        stream: Stream,
        /// The bytes themselves.
        bytes: &'a [u8],
        /// The attempt, from 1.
        attempt: u32,
        /// The time by which the bytes were written.
        at: Timestamp,
    },
    /// Earlier output that is not kept.
    Dropped {
        /// The stream that was cut.
        stream: Stream,
        /// Number of bytes.
        bytes: u64,
    },
    /// Another attempt begins.
    Attempt {
        /// The number of the attempt.
        attempt: u32,
        /// The time at which the attempt begins.
        at: Timestamp,
    },
}

/// Takes pieces, and says whether to go on.
pub type Sink<'a> = dyn FnMut(Piece<'_>) -> bool + 'a;

/// The pause between two looks at logs that grow: a quarter of the time since the last new byte, within bounds. A silent command
/// costs its followers little.
pub(crate) struct Pace {
    read: u64,
    since_ms: u64,
}

impl Pace {
    /// The bounds, in milliseconds.
    const SHORTEST: u64 = 20;
    const LONGEST: u64 = 250;

    /// A pace that begins at a moment of the boot clock.
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { read: 0, since_ms: now_ms }
    }

    /// The pause after a look that has read up to here, in milliseconds.
    pub(crate) fn pause_ms(&mut self, read: u64, now_ms: u64) -> u64 {
        if read != self.read {
            *self = Self { read, since_ms: now_ms };
        }
        (now_ms.saturating_sub(self.since_ms) / 4).clamp(Self::SHORTEST, Self::LONGEST)
    }
}

/// A log that is read as it grows.
pub struct Tail {
    pub(crate) stream: Stream,
    file: Option<Box<dyn Handle>>,
    at: u64,
    /// Number of bytes that were cut since the last piece; the rest of a line at the cut is still to be added.
    dropped: u64,
}

impl Tail {
    /// A tail of one stream, not open yet.
    pub fn new(stream: Stream) -> Self {
        Self { stream, file: None, at: 0, dropped: 0 }
    }

    /// Opens the log, if that has not been done and the log exists; true when it was opened just now.
    pub(crate) fn open(&mut self, run_dir: &RunDir, task: &Task) -> Result<bool, AppError> {
        if self.file.is_some() {
            return Ok(false);
        }
        let name = match self.stream {
            Stream::Out => STDOUT_LOG,
            Stream::Err => STDERR_LOG,
        };
        let conductor = run_dir.conductor(&task.conductor_dir, false)?;
        self.file = conductor.map(|conductor| conductor.read_log(task.id, name)).transpose()?.flatten();
        Ok(self.file.is_some())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// The length of the log, and when it was written last.
    pub(crate) fn look(&self) -> io::Result<Option<(u64, Timestamp)>> {
        self.file.as_ref().map(|file| file.meta().map(|meta| (meta.size, meta.modified))).transpose()
    }

    /// The offset up to which the log was read.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Leaves out the bytes before an offset.
    pub(crate) fn skip_to(&mut self, to: u64) {
        self.at = self.at.max(to);
    }

    /// Skips to the last `lines` lines before `end`.
    pub(crate) fn skip_to_last(&mut self, lines: usize, end: u64) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let first = file.first_data()?.min(end);
        let (mut at, mut seen) = (end, 0);
        if lines == 0 {
            self.at = end;
            return Ok(());
        }
        while at > first {
            let from = at.saturating_sub(BLOCK).max(first);
            let block = file.read_part(from, usize::try_from(at - from).unwrap_or_default())?;
            for (offset, byte) in block.iter().enumerate().rev() {
                let position = from + offset as u64;
                if *byte == b'\n' && position + 1 < end {
                    seen += 1;
                    if seen == lines {
                        self.at = position + 1;
                        return Ok(());
                    }
                }
            }
            at = from;
        }
        Ok(())
    }

    /// Gives the bytes before `to` that were not given yet. False if the sink wants no more.
    pub(crate) fn copy(&mut self, to: u64, attempt: u32, at: Timestamp, sink: &mut Sink<'_>) -> io::Result<bool> {
        let Some(file) = &mut self.file else { return Ok(true) };
        while self.at < to {
            let size = usize::try_from(BLOCK.min(to - self.at)).unwrap_or_default();
            let block = file.read_part(self.at, size)?;
            if block.is_empty() {
                return Ok(true);
            }
            // After the read: bytes that were cut meanwhile read as zeros.
            let first = file.first_data()?;
            if first > self.at {
                self.dropped += first - self.at;
                self.at = first;
                continue;
            }
            self.at += block.len() as u64;
            let mut bytes = block.as_slice();
            if self.dropped > 0 {
                // The rest of a line whose beginning was cut; a log without lines is given from the cut on.
                let rest = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                bytes = &bytes[rest..];
                let dropped = std::mem::take(&mut self.dropped) + rest as u64;
                if !sink(Piece::Dropped { stream: self.stream, bytes: dropped }) {
                    return Ok(false);
                }
            }
            if !bytes.is_empty() && !sink(Piece::Bytes { stream: self.stream, bytes, attempt, at }) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

pub(crate) fn unread(task: &Task) -> impl Fn(io::Error) -> AppError {
    let id = task.id;
    move |error| AppError::new(Code::Io, format!("cannot read the log of {id}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn logs_of_a_silent_command_are_looked_at_four_times_a_second_and_new_bytes_soon() {
        let mut pace = Pace::new(1000);
        let pauses = [(0, 1010), (0, 1400), (0, 9000), (7, 9250), (7, 9270), (7, 9650), (8, 9700)];
        let pauses = pauses.map(|(read, now)| pace.pause_ms(read, now));
        assert_eq!(pauses, [20, 100, 250, 20, 20, 100, 20]);
    }
}

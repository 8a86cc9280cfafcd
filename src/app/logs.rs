//! `logs`: what a task has written, from its conductor directory; `-f` goes on until the task is over.

use super::{App, AppError};
use crate::model::{Task, TaskId};
use crate::store::{STDERR_LOG, STDOUT_LOG};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

/// One of the two streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A log that is read as it grows.
pub struct Tail {
    stream: Stream,
    file: Option<File>,
}

impl Tail {
    /// A tail of one stream, not open yet.
    pub fn new(stream: Stream) -> Self {
        Self { stream, file: None }
    }

    /// Skips to the last `lines` lines.
    fn skip_to_last(&mut self, lines: usize) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let end = file.seek(SeekFrom::End(0))?;
        let (mut at, mut seen) = (end, 0);
        let mut block = vec![0; 64 * 1024];
        while at > 0 {
            let size = u64::try_from(block.len()).unwrap_or(u64::MAX).min(at);
            at -= size;
            let length = usize::try_from(size).unwrap_or(block.len());
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut block[..length])?;
            for offset in (0..length).rev() {
                let position = at + u64::try_from(offset).unwrap_or(0);
                if block[offset] == b'\n' && position + 1 < end {
                    seen += 1;
                    if seen == lines {
                        file.seek(SeekFrom::Start(position + 1))?;
                        return Ok(());
                    }
                }
            }
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(())
    }

    fn copy(&mut self, sink: &mut dyn FnMut(Stream, &[u8]) -> bool) -> std::io::Result<bool> {
        let Some(file) = &mut self.file else { return Ok(true) };
        let mut block = vec![0; 64 * 1024];
        // As long as it is now: a command may write faster than this is read.
        let left = file.metadata()?.len().saturating_sub(file.stream_position()?);
        let mut file = file.take(left);
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                return Ok(true);
            }
            if !sink(self.stream, &block[..count]) {
                return Ok(false);
            }
        }
    }
}

impl App {
    /// Opens what is not open yet, and gives what was written since the last call to `sink`, which says whether to go
    /// on. False when it does not.
    pub fn copy_logs(
        &self,
        task: &Task,
        tails: &mut [Tail],
        last_lines: Option<usize>,
        sink: &mut dyn FnMut(Stream, &[u8]) -> bool,
    ) -> Result<bool, AppError> {
        let failed = |error: std::io::Error| {
            AppError::new(super::Kind::Io, "IO", format!("cannot read the log of {}: {error}", task.id))
        };
        for tail in tails.iter_mut() {
            if tail.file.is_none() {
                let name = match tail.stream {
                    Stream::Out => STDOUT_LOG,
                    Stream::Err => STDERR_LOG,
                };
                let conductor = self.store.conductor(&task.conductor_dir, false)?;
                let handle = conductor.map(|conductor| conductor.read_log(task.id, name)).transpose()?.flatten();
                tail.file = handle.and_then(crate::os::Handle::into_file);
                match last_lines {
                    Some(0) => {
                        if let Some(file) = &mut tail.file {
                            file.seek(SeekFrom::End(0)).map_err(failed)?;
                        }
                    }
                    Some(lines) => tail.skip_to_last(lines).map_err(failed)?,
                    None => {}
                }
            }
            if !tail.copy(sink).map_err(failed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints the logs of a task; with `follow`, waits for a task that has not started and goes on until it is over.
    pub fn logs(
        &self,
        id: TaskId,
        streams: &[Stream],
        last_lines: Option<usize>,
        follow: bool,
        sink: &mut dyn FnMut(Stream, &[u8]) -> bool,
    ) -> Result<(), AppError> {
        let mut tails: Vec<Tail> = streams.iter().map(|stream| Tail::new(*stream)).collect();
        let mut changes = follow.then(|| self.store.watch());
        loop {
            // The state is read before the log: whatever a finished task wrote is then there to be read.
            let task = self.existing(id)?;
            let is_read = self.copy_logs(&task, &mut tails, last_lines, sink)?;
            let Some(changes) = changes.as_mut().filter(|_| is_read && !task.status.is_final()) else { return Ok(()) };
            let pause = Duration::from_millis(if tails.iter().any(|tail| tail.file.is_some()) { 50 } else { 500 });
            changes.wait(pause);
        }
    }
}

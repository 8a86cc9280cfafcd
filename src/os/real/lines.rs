//! Standard input and output of a server, of a process for one request, and of the hook of an agent.
//!
//! `serve_lines` reads lines of standard input and runs jobs on threads beside the reader, for a server that speaks over its
//! standard streams. `OneRequest` is a process of this very program that answers one request over its standard streams. For the
//! hook of an agent, `read_document` reads standard input with a time limit, and `end_with_success_after` sets a timer that ends
//! the process with success.

use super::process::launch::{fork_and_exec, own_program};
use crate::os::real::process::poll::{deadline, poll_until};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::alarm;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{read, retry_on_intr};
use signal_hook::consts::signal::SIGALRM;
use signal_hook::flag::register_conditional_shutdown;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A line of standard input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// Without its line feed.
    Whole(Vec<u8>),
    /// A line that is longer than the limit; it was skipped.
    TooLong,
}

/// Work that goes on beside the reader.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Reads standard input to its end and gives each line to `take`. A job that `take` returns runs on a thread of its own, or
/// at once without lines. After the last line `at_end` is called, and then the jobs are awaited.
pub fn serve_lines<'a>(most_bytes: u64, take: &mut dyn FnMut(Line) -> Option<Job<'a>>, at_end: &dyn Fn()) {
    std::thread::scope(|scope| {
        let mut input = std::io::stdin().lock();
        while let Some(line) = next_line(&mut input, most_bytes) {
            let Some(job) = take(line) else { continue };
            // The job is in a slot, so that it is not lost where no thread can be made.
            let slot = Arc::new(Mutex::new(Some(job)));
            let run = move || {
                let job = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(job) = job {
                    job();
                }
            };
            if std::thread::Builder::new().spawn_scoped(scope, run.clone()).is_err() {
                run();
            }
        }
        at_end();
    });
}

/// The next line; `None` at the end, and when standard input cannot be read. A last line without a line feed counts.
fn next_line(input: &mut impl BufRead, most_bytes: u64) -> Option<Line> {
    let mut line = Vec::new();
    input.by_ref().take(most_bytes + 1).read_until(b'\n', &mut line).ok()?;
    if line.is_empty() {
        return None;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Some(Line::Whole(line));
    }
    if line.len() as u64 <= most_bytes {
        return Some(Line::Whole(line));
    }
    loop {
        let buffer = input.fill_buf().ok()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (count, is_over) = (end.map_or(buffer.len(), |at| at + 1), end.is_some() || buffer.is_empty());
        input.consume(count);
        if is_over {
            return Some(Line::TooLong);
        }
    }
}

/// A process that answers one request.
pub struct OneRequest {
    input: Mutex<Option<ChildStdin>>,
    output: Mutex<(BufReader<ChildStdout>, Child)>,
}

impl OneRequest {
    /// Starts this program with arguments.
    pub fn start(name: &OsString, arguments: &[OsString]) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(own_program());
        fork_and_exec(&mut command);
        command.arg0(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { input: Mutex::new(child.stdin.take()), output: Mutex::new((BufReader::new(output), child)) })
    }

    /// Writes a line to it. A process that has ended reads nothing; [`OneRequest::next_line`] sees its end.
    pub fn tell(&self, line: &[u8]) {
        if let Some(input) = self.input.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let _ = input.write_all(&[line, b"\n"].concat());
        }
    }

    /// Closes its standard input.
    pub fn close(&self) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Its next line, with the line feed. At its end the process is waited for.
    pub fn next_line(&self) -> Option<Vec<u8>> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        let read = output.0.read_until(b'\n', &mut line);
        if read.is_ok() && line.last() == Some(&b'\n') {
            return Some(line);
        }
        // It has ended or was killed; half a line is no message.
        self.close();
        let _ = output.1.wait();
        None
    }
}

/// Reads standard input up to its end, up to a whole document, or until the time is over. `None` when it is longer than
/// `limit` bytes. A terminal has no document.
pub fn read_document(limit: usize, time: Duration, is_whole: &dyn Fn(&[u8]) -> bool) -> io::Result<Option<Vec<u8>>> {
    let stdin = rustix::stdio::stdin();
    let mut bytes = Vec::new();
    if rustix::termios::isatty(stdin) {
        return Ok(Some(bytes));
    }
    let until = deadline(time);
    let mut part = vec![0; 64 * 1024];
    loop {
        if !poll_until(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], until)? {
            return Ok(Some(bytes));
        }
        let count = retry_on_intr(|| read(stdin, &mut part))?;
        bytes.extend_from_slice(&part[..count]);
        if bytes.len() > limit {
            return Ok(None);
        }
        // An agent may keep the pipe open.
        if count == 0 || (count < part.len() && is_whole(&bytes)) {
            return Ok(Some(bytes));
        }
    }
}

/// Ends this process with 0 after so many seconds, even in the middle of its work. A later call sets another time.
pub fn end_with_success_after(seconds: u32) -> io::Result<()> {
    register_conditional_shutdown(SIGALRM, 0, Arc::new(AtomicBool::new(true)))?;
    // The mask is inherited.
    SigSet::from(Signal::SIGALRM).thread_unblock()?;
    alarm::set(seconds);
    Ok(())
}

/// Sets another time for the end of [`end_with_success_after`].
pub fn end_after(seconds: u32) {
    alarm::set(seconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_whole_and_the_last_one_counts() {
        let mut input: &[u8] = b"one\n\n123456789\nlonger than that\ntwo";
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, 8) {
            lines.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("one"), whole(""), Line::TooLong, Line::TooLong, whole("two")]);
    }
}

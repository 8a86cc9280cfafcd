//! A process of this very program that answers one request over its standard streams.

use super::process::launch::{fork_and_exec, own_program};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

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

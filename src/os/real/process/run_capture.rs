//! Asks a short program something.

use crate::os::real::process::launch::fork_and_exec;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much of an answer is read: the members of a very large group fit.
const LONGEST: u64 = 1 << 20;
/// How long one that is killed may take to end.
const LAST: Duration = Duration::from_secs(1);

/// Runs a program and gives what it wrote. One that is not over at `until` is killed with its group, and the error is
/// [`io::ErrorKind::TimedOut`]. What it says goes to a file: whatever it leaves behind may keep that open, and nobody waits
/// for it.
pub(crate) fn ask(command: &mut Command, until: Instant) -> io::Result<(ExitStatus, Vec<u8>)> {
    let (status, said) = ask_at_length(command, until)?;
    let mut answer = Vec::new();
    said.take(LONGEST).read_to_end(&mut answer)?;
    Ok((status, answer))
}

/// Like `ask`, for an answer of any length, to be read from its beginning.
pub(crate) fn ask_at_length(command: &mut Command, until: Instant) -> io::Result<(ExitStatus, File)> {
    let mut said = File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?);
    fork_and_exec(command);
    command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let Some(status) = end_of(&mut child, until)? else {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended in this very moment.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Where the kernel does not let go of it (a file of a dead server), nobody waits.
        end_of(&mut child, Instant::now() + LAST)?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time"));
    };
    said.rewind()?;
    Ok((status, said))
}

fn end_of(child: &mut Child, until: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            ended => return Ok(ended),
        }
    }
}

//! Asks a short program something.

use super::launch::fork_and_exec;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much of an answer is read: the members of a very large group fit.
const LONGEST: u64 = 1 << 20;

/// Runs a program and gives what it wrote. One that takes longer than `patience` is killed with its group, and the error is
/// [`io::ErrorKind::TimedOut`]. What it says goes to a file: whatever it leaves behind may keep that open, and nobody waits
/// for it.
pub(super) fn ask(command: &mut Command, patience: Duration) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut said = File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?);
    fork_and_exec(command);
    command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let end = Instant::now() + patience;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            let mut answer = Vec::new();
            said.rewind()?;
            said.take(LONGEST).read_to_end(&mut answer)?;
            return Ok((status, answer));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended in this very moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {} s", patience.as_secs())))
}

//! Runs a short program for its effect: it gets a text, has a limited time, and what it says on standard error is kept.

use crate::os::real::process::launch::{fork_and_exec, leave_the_task};
use crate::os::{Called, Exit};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much of what it says is read.
const LONGEST: u64 = 4096;
/// How long one that is asked to end, and then one that is killed, may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program in a group of its own, with this process's environment but no variable of a task, and gives how it ended
/// and what it said. One that is not over in time is ended with its group, and the error is [`io::ErrorKind::TimedOut`].
pub(crate) fn call(called: &Called) -> io::Result<(Exit, Vec<u8>)> {
    let no_command = || io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
    let (program, args) = called.argv.split_first().ok_or_else(no_command)?;
    let mut given = File::from(memfd_create("payload", MemfdFlags::CLOEXEC)?);
    given.write_all(called.input)?;
    given.rewind()?;
    let mut said = File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?);
    let mut command = Command::new(program);
    fork_and_exec(&mut command);
    command.args(args).process_group(0).current_dir(called.cwd);
    command.stdin(given).stdout(Stdio::null()).stderr(said.try_clone()?);
    leave_the_task(&mut command);
    command.envs(called.env.iter().map(|(key, value)| (key, value)));
    let mut child = command.spawn()?;
    let Some(status) = end_of(&mut child, called.time)? else {
        for signal in [Signal::TERM, Signal::KILL] {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // It may have ended in this very moment.
                let _ = kill_process_group(group, signal);
            }
            if end_of(&mut child, GRACE)?.is_some() {
                break;
            }
        }
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end in time"));
    };
    let mut answer = Vec::new();
    said.rewind()?;
    said.take(LONGEST).read_to_end(&mut answer)?;
    let exit = match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    };
    Ok((exit, answer))
}

fn end_of(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + time;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(pause),
            ended => return Ok(ended),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

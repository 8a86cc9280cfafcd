//! Short programs that run to their end within a limited time.

use crate::os::real::process::launch::{fork_and_exec, leave_the_task};
use crate::os::{CALL_GRACE, Called, Exit, Output};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Number of bytes of an answer that are read: the members of a very large group fit.
const LONGEST: u64 = 1 << 20;
/// Time that a killed program has to end.
const LAST: Duration = Duration::from_secs(1);
/// The most bytes that are read of the standard error of a called program.
const LONGEST_SAID: u64 = 4096;

/// Runs a program and returns its output. A program that is not over at `until` is killed with its group, and the error is
/// [`io::ErrorKind::TimedOut`]. The output goes to a file: a process that the program leaves behind may keep the file open,
/// and this process does not wait for it.
pub(crate) fn ask(command: &mut Command, until: Instant) -> io::Result<(ExitStatus, Vec<u8>)> {
    let (status, said) = ask_at_length(command, until)?;
    let mut answer = Vec::new();
    said.take(LONGEST).read_to_end(&mut answer)?;
    Ok((status, answer))
}

/// Like `ask`, for an answer of any length, to be read from its beginning.
pub(crate) fn ask_at_length(command: &mut Command, until: Instant) -> io::Result<(ExitStatus, File)> {
    let mut said = answer_file()?;
    fork_and_exec(command);
    command.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(Stdio::null());
    let mut child = command.spawn()?;
    // This process does not wait for a killed program that the kernel does not let go of (a file of a dead server).
    let status = await_end(&mut child, until, &[Signal::KILL], LAST, "it did not answer in time")?;
    said.rewind()?;
    Ok((status, said))
}

/// A file in memory for the output of a program, which the program may leave open.
pub(crate) fn answer_file() -> io::Result<File> {
    Ok(File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?))
}

/// The beginning of such a file, as far as errors are read.
pub(crate) fn beginning(mut said: &File) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    said.rewind()?;
    said.take(LONGEST_SAID).read_to_end(&mut answer)?;
    Ok(answer)
}

/// Runs a program for its effect, in a group of its own, with this process's environment but no variable of a task. Returns
/// its exit and its standard error. A program that is not over in time is ended with its group, and the error is
/// [`io::ErrorKind::TimedOut`].
pub(crate) fn call(called: &Called) -> io::Result<(Exit, Vec<u8>)> {
    let mut given = File::from(memfd_create("payload", MemfdFlags::CLOEXEC)?);
    given.write_all(called.input)?;
    given.rewind()?;
    let said = answer_file()?;
    let mut command = outside_of_the_task(called.argv, called.env)?;
    command.process_group(0).current_dir(called.cwd);
    command.stdin(given).stdout(Stdio::null()).stderr(said.try_clone()?);
    let mut child = command.spawn()?;
    let until = Instant::now() + called.time;
    let status = await_end(&mut child, until, &[Signal::TERM, Signal::KILL], CALL_GRACE, "it did not end in time")?;
    Ok((exit_of(status), beginning(&said)?))
}

/// Runs a program to its end and gives its output. It has this process's environment plus `env`, but no variable of a task.
/// It has nothing on standard input, and no descriptor of ours.
pub fn output(argv: &[String], env: &[(String, String)]) -> io::Result<Output> {
    let done = outside_of_the_task(argv, env)?.stdin(Stdio::null()).output()?;
    Ok(Output { exit: exit_of(done.status), stdout: done.stdout, stderr: done.stderr })
}

pub(crate) fn outside_of_the_task(argv: &[String], env: &[(String, String)]) -> io::Result<Command> {
    let no_command = || io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
    let (program, args) = argv.split_first().ok_or_else(no_command)?;
    let mut command = Command::new(program);
    fork_and_exec(&mut command);
    command.args(args);
    leave_the_task(&mut command);
    command.envs(env.iter().map(|(key, value)| (key, value)));
    Ok(command)
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Waits for a child that leads a group of its own. A child that is not over in time gets the signals, with its group, one
/// after the other, and has `grace` after each. The lateness is the error.
fn await_end(
    child: &mut Child,
    until: Instant,
    signals: &[Signal],
    grace: Duration,
    late: &str,
) -> io::Result<ExitStatus> {
    if let Some(status) = end_of(child, until)? {
        return Ok(status);
    }
    for signal in signals {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended in this very moment.
            let _ = kill_process_group(group, *signal);
        }
        if end_of(child, Instant::now() + grace)?.is_some() {
            break;
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, late))
}

fn end_of(child: &mut Child, until: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(pause),
            ended => return Ok(ended),
        }
        pause = (pause + pause / 8).min(Duration::from_millis(50));
    }
}

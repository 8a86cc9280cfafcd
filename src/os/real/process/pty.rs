//! The hidden verb `exec-pty`: gives a command a terminal of its own (pty(7)), as script(1) does. It runs as the command of a
//! task. It copies the output of the command to its own standard output, which is the log, and passes its own input to the
//! command. It ends as the command ends.

use crate::os::real::process::account::become_with_own_environment;
use crate::os::real::process::child::{Reach, RealChild};
use crate::os::real::process::launch::{fork_and_exec, own_program};
use crate::os::real::process::procfs;
use crate::os::real::process::signals::{self, Caught};
use crate::os::{Child, Command, Exit, Signal, StartError, Woken};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::process::{Resource, Rlimit, ioctl_tiocsctty, setrlimit, setsid};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command as StdCommand, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The size of a terminal without a viewer.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
/// The interval between two looks at the size of the caller's terminal.
const SIZE_LOOK: Duration = Duration::from_millis(500);
/// Time for which the last output of the command is awaited after its end.
const LAST_OUTPUT: Duration = Duration::from_millis(20);
/// The pause before output is written again for which the log had no space.
const NO_SPACE: Duration = Duration::from_millis(200);
/// Instead of a process whose standard input is read.
const NOBODY: &str = "-";
/// The byte that a terminal reads as the end of its input (VEOF, termios(3)).
const END_OF_INPUT: &[u8] = &[4];

/// Runs a command on a terminal of its own and waits for it. Its standard input and its size are those of this process.
/// `input_of` names the process whose standard input that is, as `PID.START`, or `-`.
pub fn run_on_terminal(input_of: &str, argv: &[String]) -> Result<Exit, StartError> {
    let input_of = input_of.split_once('.').and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)));
    let other = |error: Errno| StartError::Other(error.into());
    signals::catch_child_deaths().and_then(|()| signals::catch(&[Caught::Terminate])).map_err(StartError::Other)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).map_err(other)?;
    grantpt(&master).and_then(|()| unlockpt(&master)).map_err(other)?;
    let slave = File::from(ioctl_tiocgptpeer(&master, flags).map_err(other)?);
    let stdin = rustix::stdio::stdin();
    // The command runs even if the size of its terminal cannot be set.
    let _ = tcsetwinsize(&master, tcgetwinsize(stdin).unwrap_or(SIZE));
    let mut inner = StdCommand::new(own_program());
    fork_and_exec(&mut inner);
    let copy = || slave.try_clone().map(Stdio::from).map_err(StartError::Other);
    inner.arg0("luzia").args(["exec-pty", "--inner", "--"]).args(argv);
    inner.stdin(copy()?).stdout(copy()?).stderr(copy()?);
    let spawned = inner.spawn().map_err(StartError::Other)?;
    drop((inner, slave));
    let mut child = RealChild::adopt(spawned.id(), Reach::Group).map_err(StartError::Other)?;
    let master = Arc::new(master);
    let is_over = Arc::new(AtomicBool::new(false));
    let (reader, end) = (Arc::clone(&master), Arc::clone(&is_over));
    let output = std::thread::spawn(move || copy_output(reader.as_fd(), &end));
    std::thread::spawn(move || copy_input(master.as_fd(), input_of));
    let exit = watch(&mut child)?;
    is_over.store(true, Ordering::SeqCst);
    let _ = output.join();
    Ok(exit)
}

/// Waits for the end of the command. SIGTERM is passed on to its process group.
fn watch(child: &mut RealChild) -> Result<Exit, StartError> {
    loop {
        match child.wait(None).map_err(StartError::Other)? {
            Woken::Exited(exit) => return Ok(exit),
            Woken::Terminate => child.signal(Signal::Term).map_err(StartError::Other)?,
            Woken::Interrupt | Woken::Pass | Woken::Wrote | Woken::Token | Woken::Gone | Woken::TimeUp => {}
        }
    }
}

/// The inner process of the hidden verb: begins a session whose terminal is standard input, and becomes the command. Returns
/// only an error.
pub fn become_on_terminal(argv: &[String]) -> StartError {
    match setsid().and_then(|_| ioctl_tiocsctty(rustix::stdio::stdin())) {
        Ok(()) => become_with_own_environment(argv),
        Err(error) => StartError::Other(error.into()),
    }
}

/// Ends this process as its command ended: by the same signal, where a signal ended the command.
pub fn end_as(exit: Exit) -> u8 {
    let signal = match exit {
        Exit::Code(code) => return u8::try_from(code).unwrap_or(u8::MAX),
        Exit::Signal(signal) => signal,
    };
    // The command has left its own core file.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: None });
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // SIGKILL has no handler to emulate.
    let _ = nix::sys::signal::Signal::try_from(signal).map(nix::sys::signal::raise);
    u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
}

/// Copies the output of the command, until the command has ended and nothing is left.
fn copy_output(master: BorrowedFd, is_over: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    loop {
        let was_over = is_over.load(Ordering::SeqCst);
        if !has_input(master, if was_over { LAST_OUTPUT } else { SIZE_LOOK }) {
            if was_over {
                return;
            }
            continue;
        }
        match retry_on_intr(|| read(master, &mut bytes)) {
            Ok(0) => return,
            Ok(count) => log(&bytes[..count]),
            // EIO: no process has the terminal open any more.
            Err(_) => return,
        }
    }
}

/// Writes to standard output. The command waits as long as there is no space, as it would for a slow terminal.
fn log(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match retry_on_intr(|| write(rustix::stdio::stdout(), bytes)) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::NOSPC | Errno::DQUOT | Errno::AGAIN) => std::thread::sleep(NO_SPACE),
            Err(_) => return,
        }
    }
}

/// Copies the data on standard input, and the size of the terminal if it is one. When the process that owns that terminal has
/// ended, the keys belong to another process.
fn copy_input(master: BorrowedFd, input_of: Option<(u32, u64)>) {
    let is_ours = || input_of.is_none_or(|(pid, start)| procfs::stat(pid).is_some_and(|stat| stat.start == start));
    let stdin = rustix::stdio::stdin();
    let mut size = tcgetwinsize(stdin).ok();
    let mut bytes = [0; 4096];
    loop {
        let has_input = has_input(stdin, SIZE_LOOK);
        let is_ours = is_ours();
        if has_input || !is_ours {
            let count = if is_ours { retry_on_intr(|| read(stdin, &mut bytes)).unwrap_or(0) } else { 0 };
            let piece = if count == 0 { END_OF_INPUT } else { &bytes[..count] };
            if !give(master, piece) || count == 0 {
                return;
            }
        }
        let now = tcgetwinsize(stdin).ok();
        if let Some(now) = now.filter(|now| size.is_none_or(|old| (old.ws_row, old.ws_col) != (now.ws_row, now.ws_col)))
        {
            // The kernel sends SIGWINCH to the command.
            let _ = tcsetwinsize(master, now);
            size = Some(now);
        }
    }
}

/// Writes to the terminal of the command; false when it is gone.
fn give(master: BorrowedFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match retry_on_intr(|| write(master, bytes)) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) => return false,
        }
    }
    true
}

fn has_input(fd: BorrowedFd, time: Duration) -> bool {
    let limit = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    retry_on_intr(|| poll(&mut fds, Some(&limit))).is_ok_and(|count| count > 0)
}

/// The first process of a terminal is `luzia exec-pty`; its command is the rest.
pub(crate) fn wrapped(command: &Command) -> Vec<String> {
    let own = own_program().to_string_lossy().into_owned();
    let of = command.input_of.as_ref().map_or_else(|| NOBODY.to_owned(), |who| format!("{}.{}", who.pid, who.start));
    let words = [own, "exec-pty".to_owned(), "--input-of".to_owned(), of, "--".to_owned()];
    words.into_iter().chain(command.argv.iter().cloned()).collect()
}

/// The state of a terminal before its input was made raw. Dropping this value restores it.
pub struct RawInput(pub(crate) rustix::termios::Termios);

impl RawInput {
    /// Passes each key of the terminal on standard input on at once and unchanged, and output unchanged, because it comes
    /// from another terminal. `None` if standard input is not a terminal.
    pub fn begin() -> Option<Self> {
        use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
        let stdin = rustix::stdio::stdin();
        let before = tcgetattr(stdin).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin, OptionalActions::Now, &raw).ok()?;
        Some(Self(before))
    }
}

impl Drop for RawInput {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &self.0);
    }
}

//! Signals of this process: which are caught, and a pipe that wakes the waiter. The meaning of a signal is not known here.
//!
//! An exec resets a handler to the default; an ignored signal stays ignored in every descendant. So no signal is ever set to
//! "ignore" here. A signal that must do no harm gets a handler that does nothing.

use crate::os::real::process::procfs;
use nix::sys::signal::SigSet;
use signal_hook::consts::signal::{
    SIGCHLD, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGSEGV, SIGSTOP, SIGTERM, SIGTSTP, SIGUSR1,
    SIGWINCH, SIGXFSZ,
};
use signal_hook::{flag, low_level::pipe};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A signal that can be caught and queried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caught {
    /// SIGTERM.
    Terminate,
    /// SIGINT, as Ctrl-C sends it.
    Interrupt,
    /// SIGHUP.
    Hangup,
    /// SIGUSR1: one scheduling pass.
    Pass,
    /// SIGTSTP, as Ctrl-Z sends it.
    Stop,
    /// SIGWINCH: the terminal has another size.
    Resize,
}

/// The signals that ask a process to end.
pub(crate) const ENDS: [Caught; 3] = [Caught::Interrupt, Caught::Terminate, Caught::Hangup];

impl Caught {
    const ALL: [Self; 6] = [Self::Terminate, Self::Interrupt, Self::Hangup, Self::Pass, Self::Stop, Self::Resize];

    /// Its number (signal(7)).
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Terminate => SIGTERM,
            Self::Interrupt => SIGINT,
            Self::Hangup => SIGHUP,
            Self::Pass => SIGUSR1,
            Self::Stop => SIGTSTP,
            Self::Resize => SIGWINCH,
        }
    }
}

struct Desk {
    came: [Arc<AtomicBool>; Caught::ALL.len()],
    reader: UnixStream,
    writer: UnixStream,
}

/// Every signal with a handler, so that no handler is registered twice. Kept outside the desk, because most verbs never need
/// its pipe.
static HANDLED: Mutex<Vec<(i32, Purpose)>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Nothing,
    Wake,
}

static DESK: OnceLock<Desk> = OnceLock::new();

fn desk() -> io::Result<&'static Desk> {
    if DESK.get().is_none() {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        // The first thread wins; the pipe of the other is closed.
        let _ = DESK.set(Desk { came: Default::default(), reader, writer });
    }
    DESK.get().ok_or_else(|| io::Error::other("no signal desk"))
}

/// To be called first in `main`. A file size limit becomes an error instead of a death, and a wake-up that comes too early
/// does no harm. Dead children can be waited for even if the caller of this program ignores SIGCHLD.
pub fn prepare_process() -> io::Result<()> {
    let ignored = procfs::ignored_signals();
    for signal in [SIGXFSZ, SIGUSR1] {
        if !ignored.contains(&signal) {
            make_harmless(signal)?;
        }
    }
    if ignored.contains(&SIGCHLD) {
        make_harmless(SIGCHLD)?;
    }
    Ok(())
}

/// Catches signals. Each is remembered until [`take`] asks for it, and ends a wait for a child or for a directory. A signal
/// that was ignored when this process was started stays ignored.
pub fn catch(signals: &[Caught]) -> io::Result<()> {
    let ignored = procfs::ignored_signals();
    for signal in signals {
        if !ignored.contains(&signal.number()) {
            catch_always(*signal)?;
        }
    }
    Ok(())
}

/// Whether a caught signal came since the last call.
pub fn take(signal: Caught) -> bool {
    DESK.get().is_some_and(|desk| desk.came[signal as usize].swap(false, Ordering::SeqCst))
}

/// Catches a signal even if it was ignored.
pub(crate) fn catch_always(signal: Caught) -> io::Result<()> {
    let desk = desk()?;
    let mut handled = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (signal.number(), Purpose::Wake);
    if !handled.contains(&key) {
        // First the flag, then the pipe: a waiter that the pipe wakes finds the flag.
        flag::register(signal.number(), Arc::clone(&desk.came[signal as usize]))?;
        pipe::register(signal.number(), desk.writer.try_clone()?)?;
        handled.push(key);
    }
    Ok(())
}

/// Lets the death of a child end a wait. SIGCHLD is never left ignored, since the kernel would then throw exit statuses away.
pub(crate) fn catch_child_deaths() -> io::Result<()> {
    let desk = desk()?;
    let mut handled = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (SIGCHLD, Purpose::Wake);
    if !handled.contains(&key) {
        pipe::register(SIGCHLD, desk.writer.try_clone()?)?;
        handled.push(key);
    }
    Ok(())
}

/// Gives a signal a handler that does nothing.
pub(crate) fn make_harmless(signal: i32) -> io::Result<()> {
    let mut handled = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (signal, Purpose::Nothing);
    if !handled.contains(&key) {
        flag::register(signal, Arc::default())?;
        handled.push(key);
    }
    Ok(())
}

/// Keeps the keys of the terminal from ending this process while a command of ours runs beside it.
pub(crate) fn outlive_the_keyboard() -> io::Result<()> {
    let ignored = procfs::ignored_signals();
    for signal in [SIGINT, SIGQUIT] {
        if !ignored.contains(&signal) {
            make_harmless(signal)?;
        }
    }
    Ok(())
}

/// Makes processes that are started from here on begin with default dispositions and an empty mask, whatever this process
/// inherited. SIGPIPE is left to the standard library, which ignores it here and resets it in children. An ignored SIGILL,
/// SIGFPE or SIGSEGV stays ignored: no handler may be set for them without unsafe code.
pub(crate) fn start_clean() -> io::Result<()> {
    const OUT_OF_REACH: [i32; 6] = [SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV, SIGPIPE];
    for signal in procfs::ignored_signals().iter().copied() {
        // 32 and 33 belong to the C library.
        if !OUT_OF_REACH.contains(&signal) && !matches!(signal, 32 | 33) {
            make_harmless(signal)?;
        }
    }
    for signal in [SIGHUP, SIGINT, SIGQUIT] {
        make_harmless(signal)?;
    }
    // Last, because a signal that the mask holds back arrives now.
    Ok(SigSet::empty().thread_set_mask()?)
}

/// The end of the pipe that becomes readable when a caught signal came; `None` while none is caught.
pub(crate) fn wakeups() -> Option<&'static UnixStream> {
    DESK.get().map(|desk| &desk.reader)
}

/// Empties the pipe. The flags stay.
pub(crate) fn drain() {
    let Some(mut reader) = wakeups() else {
        return;
    };
    let mut buffer = [0_u8; 64];
    while matches!(reader.read(&mut buffer), Ok(1..)) {}
}

//! Functions of the terminal, the streams and the environment of a command line. They format nothing.
//!
//! `Screen` is the terminal as a full screen: its second screen, each key at once, and the first screen again at every end.

use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::real::process::pty::RawInput;
use crate::os::real::process::signals::{self, Caught};
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec, read, retry_on_intr, write};
use rustix::process::{getegid, geteuid, getpgrp, getsid};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetwinsize, tcsetattr};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One of the two streams that are written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Result of a write.
#[derive(Debug)]
pub enum Written {
    /// Everything was written.
    Done,
    /// The reader has gone (EPIPE).
    Closed,
    /// It could not be written: no space, no such descriptor, an error of the device.
    Failed(io::Error),
}

/// Whether a stream is a terminal.
pub fn is_terminal(stream: Stream) -> bool {
    isatty(descriptor(stream))
}

/// Whether standard input is a terminal.
pub fn can_ask() -> bool {
    isatty(rustix::stdio::stdin())
}

/// Whether standard input is a pipe with unread data.
pub fn has_unread_input() -> bool {
    let stdin = rustix::stdio::stdin();
    let is_pipe = rustix::fs::fstat(stdin)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo);
    if !is_pipe {
        return false;
    }
    let mut input = [PollFd::new(&stdin, PollFlags::IN)];
    let ready = rustix::event::poll(&mut input, Some(&rustix::event::Timespec::default()));
    ready.is_ok_and(|count| count > 0) && input[0].revents().contains(PollFlags::IN)
}

/// The width of a terminal in columns; `None` when the stream is not a terminal or does not know.
pub fn width(stream: Stream) -> Option<u16> {
    let size = tcgetwinsize(descriptor(stream)).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

/// Number of bytes that a pipe takes without a wait once [`has_room`] says so (PIPE_BUF, pipe(7)).
pub const PIECE: usize = 4096;

/// Waits until a stream takes bytes, or its reader has gone; false when a caught signal came before that, or the time is
/// over (`None`: never).
pub fn has_room(stream: Stream, time: Option<Duration>) -> bool {
    let fd = descriptor(stream);
    let mut fds = vec![PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    fds.extend(crate::os::real::process::signals::wakeups().map(|signals| PollFd::new(signals, PollFlags::IN)));
    match crate::os::real::process::poll::poll_until(&mut fds, time.and_then(crate::os::real::process::poll::deadline))
    {
        Ok(_) => !fds[0].revents().is_empty(),
        // The write itself reports an error.
        Err(_) => true,
    }
}

/// Writes all bytes, unbuffered. Unlike `println!` it never panics.
pub fn write_all(stream: Stream, bytes: &[u8]) -> Written {
    let fd = descriptor(stream);
    let mut rest = bytes;
    while !rest.is_empty() {
        match retry_on_intr(|| write(fd, rest)) {
            Ok(0) => return Written::Failed(io::ErrorKind::WriteZero.into()),
            Ok(done) => rest = &rest[done..],
            Err(Errno::PIPE) => return Written::Closed,
            // Another process that shares the stream made it non-blocking.
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
                if let Err(error) = crate::os::real::process::poll::poll_until(&mut fds, None) {
                    return Written::Failed(error);
                }
            }
            Err(error) => return Written::Failed(error.into()),
        }
    }
    Written::Done
}

/// The value of an environment variable.
pub fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The whole environment of this process, as bytes.
pub fn environment() -> Vec<(Vec<u8>, Vec<u8>)> {
    std::env::vars_os().map(|(key, value)| (key.into_vec(), value.into_vec())).collect()
}

/// The working directory; an error when it was removed or its name is not UTF-8.
pub fn working_directory() -> io::Result<String> {
    let path = std::env::current_dir()?.into_os_string();
    path.into_string().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "its name is not UTF-8"))
}

/// Everything in a file, or on standard input for `-`; `None` when it is longer than `limit` bytes.
pub fn read_whole(path: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    if path == "-" {
        io::stdin().lock().take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok((length <= limit).then_some(bytes))
}

/// One line from standard input without its end; empty at the end of the input. Bytes behind the line stay unread.
pub fn read_line() -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        let count = retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut byte))?;
        if count == 0 || byte == *b"\n" {
            return Ok(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned());
        }
        line.extend(byte);
    }
}

/// The path of this program.
pub fn own_program() -> String {
    crate::os::real::process::launch::own_program().to_string_lossy().into_owned()
}

/// The file mode creation mask of this process. It can be read only by setting it for an instant; no thread exists that could
/// notice.
pub fn umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}

/// Effective uid and gid.
pub fn account() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

fn descriptor(stream: Stream) -> BorrowedFd<'static> {
    match stream {
        Stream::Out => rustix::stdio::stdout(),
        Stream::Err => rustix::stdio::stderr(),
    }
}

/// The second screen of the terminal, empty and without a cursor.
const BEGIN: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Plain text, the cursor, and the first screen.
const END: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";
/// The size where the terminal does not know it.
const SIZE: (u16, u16) = (80, 24);
/// The time in which the rest of a key arrives that begins with ESC.
const REST: Duration = Duration::from_millis(30);
const ESC: u8 = 0x1b;

/// Whether the second screen is shown.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// The second screen, until this value is dropped. A panic gives the first screen back, too.
pub struct Screen {
    raw: Option<RawInput>,
}

impl Screen {
    /// Shows the second screen. From now on SIGTSTP and SIGWINCH are caught. `None` without a terminal on standard input.
    pub fn begin() -> Option<Self> {
        let raw = RawInput::begin()?;
        let (before, earlier) = (raw.0.clone(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            give_back(&before);
            earlier(panic);
        }));
        let _ = signals::catch(&[Caught::Stop, Caught::Resize]);
        show();
        Some(Self { raw: Some(raw) })
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let size = tcgetwinsize(stdout()).map(|size| (size.ws_col, size.ws_row));
        size.ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(SIZE)
    }

    /// Standard input, for a wait that ends with a key.
    pub fn input(&self) -> Option<File> {
        fcntl_dupfd_cloexec(stdin(), 3).map(File::from).ok()
    }

    /// Waits for a key or a caught signal.
    pub fn wait(&self, time: Duration) {
        let (keys, woken) = (stdin(), signals::wakeups());
        let mut fds = vec![PollFd::new(&keys, PollFlags::IN)];
        fds.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        let _ = poll_until(&mut fds, deadline(time));
        signals::drain();
    }

    /// The bytes of the keys that were pressed since the last call; `None` when the terminal has gone.
    pub fn keys(&self) -> Option<Vec<u8>> {
        let (mut keys, mut bytes) = (Vec::new(), [0; 1024]);
        loop {
            let rest = if keys.last() == Some(&ESC) { REST } else { Duration::ZERO };
            let keyboard = stdin();
            if !matches!(poll_until(&mut [PollFd::new(&keyboard, PollFlags::IN)], deadline(rest)), Ok(true)) {
                return Some(keys);
            }
            match retry_on_intr(|| read(stdin(), &mut bytes)) {
                Ok(count @ 1..) => keys.extend_from_slice(&bytes[..count]),
                _ => return None,
            }
        }
    }

    /// Whether SIGTSTP came since the last call.
    pub fn was_stopped() -> bool {
        signals::take(Caught::Stop)
    }

    /// Gives the first screen back and stops this process, until SIGCONT. Where no shell with jobs has started it, nobody would
    /// continue it, and it goes on.
    pub fn stop(&mut self) -> io::Result<()> {
        if getsid(None).is_ok_and(|session| session == getpgrp()) {
            return Ok(());
        }
        if let Some(raw) = self.raw.take() {
            give_back(&raw.0);
        }
        signal_hook::low_level::emulate_default_handler(Caught::Stop.number())?;
        self.raw = RawInput::begin();
        show();
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(raw) = &self.raw {
            give_back(&raw.0);
        }
    }
}

fn show() {
    IS_SHOWN.store(true, Ordering::SeqCst);
    write_all(Stream::Out, BEGIN);
}

/// Shows the first screen, with the terminal as it was.
fn give_back(before: &Termios) {
    if IS_SHOWN.swap(false, Ordering::SeqCst) {
        write_all(Stream::Out, END);
        let _ = tcsetattr(stdin(), OptionalActions::Drain, before);
    }
}

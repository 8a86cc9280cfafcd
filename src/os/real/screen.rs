//! The terminal as a full screen: its second screen, each key at once, and the first screen again at every end.

use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::real::process::pty::RawInput;
use crate::os::real::process::signals::{self, Caught};
use crate::os::real::term::{Stream, write_all};
use rustix::event::{PollFd, PollFlags};
use rustix::io::{fcntl_dupfd_cloexec, read, retry_on_intr};
use rustix::process::{getpgrp, getsid};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetwinsize, tcsetattr};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

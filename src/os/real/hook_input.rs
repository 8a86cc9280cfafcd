//! Functions of the system for the hook of an agent: a read of standard input with a time limit, and a timer that ends the
//! process with success.

use crate::os::real::process::poll::{deadline, poll_until};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::alarm;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{read, retry_on_intr};
use signal_hook::consts::signal::SIGALRM;
use signal_hook::flag::register_conditional_shutdown;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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

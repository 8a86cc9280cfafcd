//! Waiting for descriptors until a deadline. It never reads from them.

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The longest single sleep in the kernel: far below every limit of its types. A longer wait sleeps again.
const LONGEST: Duration = Duration::from_secs(3600);

/// The end of a wait that begins now. `None` if the clock cannot represent the end: then the wait lasts for ever.
pub(crate) fn deadline(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Waits until a descriptor is ready or the deadline has passed; true when one is ready. A signal does not end the wait.
pub(crate) fn poll_until(fds: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = until.map_or(LONGEST, |end| end.saturating_duration_since(Instant::now()));
        let turn = left.min(LONGEST);
        let limit =
            Timespec { tv_sec: i64::try_from(turn.as_secs()).unwrap_or(3600), tv_nsec: turn.subsec_nanos().into() };
        match poll(fds, Some(&limit)) {
            Ok(0) if left <= turn && until.is_some() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Empties a descriptor that does not block.
pub(crate) fn drain(fd: impl AsFd) -> io::Result<()> {
    let mut buffer = [0_u8; 4096];
    loop {
        match retry_on_intr(|| read(&fd, &mut buffer)) {
            Ok(0) | Err(Errno::AGAIN) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::PollFlags;

    #[test]
    fn the_longest_duration_neither_overflows_nor_ends_the_wait() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut fds = [PollFd::new(&reader, PollFlags::IN)];
        for time in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
            let until = deadline(time);
            rustix::io::write(&writer, b"x").expect("room in the pipe");
            assert!(poll_until(&mut fds, until).expect("poll"));
        }
    }

    #[test]
    fn a_wait_of_no_time_ends_at_once() {
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        let mut fds = [PollFd::new(&reader, PollFlags::IN)];
        assert!(!poll_until(&mut fds, deadline(Duration::ZERO)).expect("poll"));
        assert!(!poll_until(&mut fds, deadline(Duration::from_nanos(1))).expect("poll"));
    }
}

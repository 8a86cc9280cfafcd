//! Waiting for changes in directories: inotify(7), or short sleeps where it cannot be had. What changed is not told.

use crate::os::Watch;
use crate::os::real::files::dir_root::Place;
use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::real::process::signals;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::{Errno, read, retry_on_intr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// Names that come, go or change. Not CLOSE_WRITE: a process that probes a lock opens it for writing, and two waiters would
/// wake each other for ever.
const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR);

/// What happens to one file that is watched.
const FILE_EVENTS: WatchFlags =
    WatchFlags::MOVE_SELF.union(WatchFlags::DELETE_SELF).union(WatchFlags::ATTRIB).union(WatchFlags::MODIFY);

/// How long one sleep is where the kernel tells nothing.
const NAP: Duration = Duration::from_millis(50);

/// Starts to watch. Where a limit of inotify is reached, a watch that wakes every 50 ms is given instead.
pub(crate) fn start(places: &[Place<'_>]) -> io::Result<Box<dyn Watch>> {
    let Ok(queue) = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) else {
        return Ok(Box::new(Naps));
    };
    for place in places {
        // The kernel wants a path; this one leads to the directory that is open, wherever it was moved.
        let link = format!("/proc/self/fd/{}", place.as_fd().as_raw_fd());
        match retry_on_intr(|| inotify::add_watch(&queue, link.as_str(), EVENTS)) {
            Ok(_) => {}
            Err(Errno::NOSPC | Errno::NOMEM) => return Ok(Box::new(Naps)),
            // Removed since it was opened.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Box::new(Queue { queue, others: Vec::new() }))
}

/// Starts to watch one open file. `None` where a limit of inotify is reached.
pub(crate) fn start_file(file: &File) -> io::Result<Option<Box<dyn Watch>>> {
    let Ok(queue) = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) else {
        return Ok(None);
    };
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    match retry_on_intr(|| inotify::add_watch(&queue, link.as_str(), FILE_EVENTS)) {
        Ok(_) => Ok(Some(Box::new(Queue { queue, others: Vec::new() }))),
        Err(Errno::NOSPC | Errno::NOMEM | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

struct Queue {
    queue: OwnedFd,
    others: Vec<File>,
}

impl Watch for Queue {
    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        // A signal that this process catches ends the wait as well, so that a daemon need not sleep on.
        let woken = signals::wakeups().map_or_else(|| self.queue.as_fd(), AsFd::as_fd);
        let mut fds = vec![PollFd::new(&self.queue, PollFlags::IN), PollFd::from_borrowed_fd(woken, PollFlags::IN)];
        fds.extend(self.others.iter().map(|other| PollFd::new(other, PollFlags::IN)));
        if !poll_until(&mut fds, deadline(time))? {
            return Ok(false);
        }
        signals::drain();
        // An overflow of the queue is an event in it like any other.
        let mut buffer = [0_u8; 4096];
        loop {
            match retry_on_intr(|| read(&self.queue, &mut buffer)) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(true),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn heed(&mut self, other: File) {
        self.others.push(other);
    }
}

struct Naps;

impl Watch for Naps {
    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        std::thread::sleep(time.min(NAP));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_inotify_a_wait_is_short_and_says_that_anything_may_have_changed() {
        let begin = std::time::Instant::now();
        assert!(Naps.wait(Duration::MAX).expect("a nap"));
        assert!(begin.elapsed() >= NAP);
    }
}

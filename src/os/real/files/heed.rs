//! Files that somebody else writes to: tells that one may have grown, by inotify(7) or, where it cannot be had, after a
//! pause. After each time it is deaf for a while, so that a fast writer costs its watcher little.

use crate::os::real::process::poll::{drain, poll_until};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::retry_on_intr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// For how long nothing is set up. Most commands are over before, and cost nothing more.
const AT_FIRST: Duration = Duration::from_millis(3);
/// For how long it is deaf after it told something.
const DEAF: Duration = Duration::from_millis(10);
/// How often something is told where the kernel tells nothing.
const BLIND: Duration = Duration::from_millis(50);

/// One write to the file, and the watch is gone: the writer pays for no event that nobody would read.
const ONE_WRITE: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ONESHOT);

/// The files, and what the kernel tells of them.
#[derive(Debug)]
pub(crate) struct Heed {
    files: Vec<File>,
    queue: Option<OwnedFd>,
    /// Until when nothing is heard.
    deaf_until: Option<Instant>,
}

impl Heed {
    /// Heeds files, from a moment later on.
    pub(crate) fn of(files: Vec<File>) -> Self {
        Self { files, queue: None, deaf_until: Instant::now().checked_add(AT_FIRST) }
    }

    /// What to poll for reading.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.queue.as_ref().filter(|_| self.deaf_until.is_none()).map(AsFd::as_fd)
    }

    /// When to ask again even if nothing was told.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.deaf_until
    }

    /// Whether a file may have grown since the last yes.
    pub(crate) fn has_news(&mut self) -> bool {
        let now = Instant::now();
        match self.deaf_until {
            Some(until) if now < until => false,
            // What was written while it was deaf is found by a look, and what comes after this by the kernel.
            Some(_) => {
                self.deaf_until = if self.listen() { None } else { now.checked_add(BLIND) };
                true
            }
            None => {
                let is_told = self.is_readable();
                if is_told {
                    self.deaf_until = now.checked_add(DEAF);
                }
                is_told
            }
        }
    }

    /// Asks the kernel to tell the next write to each of the files; false where it cannot.
    fn listen(&mut self) -> bool {
        if self.queue.is_none() {
            self.queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        }
        let Some(queue) = &self.queue else { return false };
        // What was told meanwhile is answered by the look that follows. Watches that fired tell their end as well.
        let _ = drain(queue);
        let watch = |file: &File| {
            let link = format!("/proc/self/fd/{}", file.as_raw_fd());
            retry_on_intr(|| inotify::add_watch(queue, link.as_str(), ONE_WRITE)).is_ok()
        };
        self.files.iter().all(watch)
    }

    fn is_readable(&self) -> bool {
        let Some(queue) = &self.queue else { return false };
        let mut fds = [PollFd::new(queue, PollFlags::IN)];
        poll_until(&mut fds, Some(Instant::now())).unwrap_or(true)
    }
}

//! Files that other processes write to. It reports that one may have grown, by inotify(7) or, where that is not available,
//! after a pause. After each report it is deaf for a while, so that a fast writer costs its watcher little.

use crate::os::real::process::poll::{drain, poll_until};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::retry_on_intr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Time during which no watch is set up. Most commands end before, and cost nothing more.
const AT_FIRST: Duration = Duration::from_millis(3);
/// Time for which it is deaf after a report.
const DEAF: Duration = Duration::from_millis(10);
/// Interval between reports where the kernel reports nothing.
const BLIND: Duration = Duration::from_millis(50);

/// The watch ends at the first write to the file: the writer pays for no event that is never read.
const ONE_WRITE: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ONESHOT);

/// The files, and the events that the kernel reports for them.
#[derive(Debug)]
pub(crate) struct Heed {
    files: Vec<File>,
    queue: Option<OwnedFd>,
    /// The end of the time in which it is deaf.
    deaf_until: Option<Instant>,
}

impl Heed {
    /// Heeds files, from a moment later on.
    pub(crate) fn of(files: Vec<File>) -> Self {
        Self { files, queue: None, deaf_until: Instant::now().checked_add(AT_FIRST) }
    }

    /// The descriptor to poll for reading.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.queue.as_ref().filter(|_| self.deaf_until.is_none()).map(AsFd::as_fd)
    }

    /// The time of the next question if no event came.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.deaf_until
    }

    /// Whether a file may have grown since the last yes.
    pub(crate) fn has_news(&mut self) -> bool {
        let now = Instant::now();
        match self.deaf_until {
            Some(until) if now < until => false,
            // A look finds data written while it was deaf, and the kernel reports later writes.
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

    /// Asks the kernel to report the next write to each of the files; false where it cannot.
    fn listen(&mut self) -> bool {
        if self.queue.is_none() {
            self.queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        }
        let Some(queue) = &self.queue else { return false };
        // The look that follows covers the events of the meantime. A watch that has fired reports its own end as well.
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

//! Watches of directories, and of files that other processes write to.
//!
//! `start` watches directories: by inotify(7), or by short sleeps where that is not available. The change itself is not reported.
//! `Heed` reports that one of its files may have grown: by inotify(7), or after a pause where that is not available. After each
//! report it is deaf for a while, so that a fast writer costs its watcher little.

use crate::os::Watch;
use crate::os::real::files::dir_root::Place;
use crate::os::real::process::poll::{deadline, drain, poll_until};
use crate::os::real::process::signals;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Names that come, go or change. Not CLOSE_WRITE: a process that probes a lock opens it for writing, and two waiters would
/// wake each other for ever.
const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR);

/// Events of one watched file.
const FILE_EVENTS: WatchFlags =
    WatchFlags::MOVE_SELF.union(WatchFlags::DELETE_SELF).union(WatchFlags::ATTRIB).union(WatchFlags::MODIFY);

/// Length of one sleep where the kernel reports nothing.
const NAP: Duration = Duration::from_millis(50);

/// Lengths of the first sleeps of a watch, before the kernel is asked to report changes, in milliseconds. The close of an
/// inotify queue takes until the kernel has released what it watched, some 10 ms, and a process with a queue ends that much
/// later. A wait that ends within these sleeps needs no queue.
const FIRST_NAPS: [u64; 8] = [1, 2, 4, 4, 4, 4, 4, 4];

/// Watches directories. The first waits are short and report that anything may have changed; the later ones end with a
/// change. Where a limit of inotify is reached, each wait is 50 ms long.
pub(crate) fn start(places: &[Place<'_>]) -> io::Result<Box<dyn Watch>> {
    let places: Result<Vec<OwnedFd>, Errno> =
        places.iter().map(|place| fcntl_dupfd_cloexec(place.as_fd(), 3)).collect();
    Ok(Box::new(Soon { places: places?, naps: FIRST_NAPS.iter(), others: Vec::new(), watch: None }))
}

fn queue_of(places: &[OwnedFd]) -> io::Result<Option<Queue>> {
    let Ok(queue) = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) else { return Ok(None) };
    for place in places {
        // The kernel wants a path; this one leads to the directory that is open, wherever it was moved.
        let link = format!("/proc/self/fd/{}", place.as_fd().as_raw_fd());
        match retry_on_intr(|| inotify::add_watch(&queue, link.as_str(), EVENTS)) {
            Ok(_) => {}
            Err(Errno::NOSPC | Errno::NOMEM) => return Ok(None),
            // The directory was removed since it was opened.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(Queue { queue, others: Vec::new() }))
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

/// A watch that begins with sleeps.
struct Soon {
    places: Vec<OwnedFd>,
    naps: std::slice::Iter<'static, u64>,
    others: Vec<File>,
    watch: Option<Box<dyn Watch>>,
}

impl Watch for Soon {
    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        if let Some(watch) = &mut self.watch {
            return watch.wait(time);
        }
        if let Some(nap) = self.naps.next() {
            let mut fds: Vec<PollFd<'_>> = self.others.iter().map(|other| PollFd::new(other, PollFlags::IN)).collect();
            fds.extend(signals::wakeups().map(|woken| PollFd::new(woken, PollFlags::IN)));
            poll_until(&mut fds, deadline(time.min(Duration::from_millis(*nap))))?;
            signals::drain();
            return Ok(true);
        }
        let mut watch: Box<dyn Watch> = match queue_of(&self.places)? {
            Some(queue) => Box::new(queue),
            None => Box::new(Naps),
        };
        self.others.drain(..).for_each(|other| watch.heed(other));
        self.watch = Some(watch);
        // From here on the kernel reports every change; the caller has to look for earlier ones.
        Ok(true)
    }

    fn heed(&mut self, other: File) {
        match &mut self.watch {
            Some(watch) => watch.heed(other),
            None => self.others.push(other),
        }
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
        drain(&self.queue).map(|()| true)
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

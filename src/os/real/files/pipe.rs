//! Named pipes that show whether their makers live (fifo(7)). The maker holds its pipe open for reading and writing, so it is
//! the only lasting writer. When it dies, the kernel reports that to every reader (POLLHUP). A byte in the pipe is a call.

use crate::os::Pipe;
use crate::os::real::files::dir_root::{Beneath, fault, refused};
use crate::os::real::process::poll::{deadline, drain, poll_until};
use crate::os::real::process::signals;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, mknodat, unlinkat};
use rustix::io::{Errno, read, retry_on_intr, write};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of bytes that a write does in one piece (PIPE_BUF, pipe(7)).
const PIPE_BUF: usize = 4096;

const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// A pipe that this process made, and one of another process that it watches.
#[derive(Debug)]
pub(crate) struct RealPipe {
    beneath: Arc<Beneath>,
    own: OwnedFd,
    other: Option<OwnedFd>,
}

/// Makes a pipe; `None` when the name exists.
pub(crate) fn make(beneath: &Arc<Beneath>, path: &str) -> io::Result<Option<RealPipe>> {
    let mode = Mode::RUSR.union(Mode::WUSR);
    match beneath.on_name(path, |dir, name| mknodat(dir, name, FileType::Fifo, mode, 0)) {
        Err(Errno::EXIST) => return Ok(None),
        other => other.map_err(|error| fault(path, error))?,
    }
    match beneath.open(path, OFlags::RDWR | AT_ONCE, Mode::empty()) {
        Ok(own) => Ok(Some(RealPipe { beneath: Arc::clone(beneath), own, other: None })),
        Err(error) => {
            // A umask without these bits, for example. This call made the pipe and returns an error, so it removes the pipe.
            let _ = beneath.on_name(path, |dir, name| unlinkat(dir, name, rustix::fs::AtFlags::empty()));
            Err(fault(path, error))
        }
    }
}

/// The reading end of a pipe whose maker lives; `None` for a pipe whose maker is dead, and for anything else.
pub(crate) fn living_end(beneath: &Beneath, path: &str) -> io::Result<Option<OwnedFd>> {
    let open = |how: OFlags| match beneath.open(path, how | AT_ONCE, Mode::empty()) {
        Ok(fd) => Ok(Some((fstat(&fd)?, fd))),
        // A directory, a link or a socket is no pipe, and a pipe may go meanwhile.
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => Ok(None),
        Err(error) => Err(fault(path, error)),
    };
    let Some((stat, reader)) = open(OFlags::RDONLY)? else { return Ok(None) };
    if !is_fifo(&stat) {
        return Ok(None);
    }
    // The kernel reports the absence of a writer only to a reader that has seen a writer come and go. This is that writer.
    let Some((seen, writer)) = open(OFlags::WRONLY)? else { return Ok(None) };
    if (seen.st_dev, seen.st_ino) != (stat.st_dev, stat.st_ino) {
        // The name belongs to another pipe by now, so the first one is over.
        return Ok(None);
    }
    drop(writer);
    let is_over = poll_until(&mut [PollFd::new(&reader, PollFlags::empty())], Some(Instant::now()))?;
    Ok((!is_over).then_some(reader))
}

/// Writes a call into a pipe; false when no process has it open for reading.
pub(crate) fn call(beneath: &Beneath, path: &str) -> io::Result<bool> {
    let writer = match beneath.open(path, OFlags::WRONLY | AT_ONCE, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Ok(false),
        other => other.map_err(|error| fault(path, error))?,
    };
    if !is_fifo(&fstat(&writer)?) {
        return Err(refused(path, "is no pipe"));
    }
    match retry_on_intr(|| write(&writer, b"!")) {
        // A full pipe has enough calls.
        Ok(_) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::PIPE) => Ok(false),
        Err(error) => Err(fault(path, error)),
    }
}

fn is_fifo(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Fifo
}

impl Pipe for RealPipe {
    fn watch(&mut self, path: &str) -> io::Result<bool> {
        self.other = living_end(&self.beneath, path)?;
        Ok(self.other.is_some())
    }

    fn watch_none(&mut self) {
        self.other = None;
    }

    fn watches(&self) -> bool {
        self.other.is_some()
    }

    fn wait(&mut self, time: Duration) -> io::Result<bool> {
        // Descriptors without requested events stand in for missing ones: the kernel reports only their end.
        let woken = signals::wakeups().map_or_else(|| self.own.as_fd(), AsFd::as_fd);
        let other = self.other.as_ref().map_or_else(|| self.own.as_fd(), AsFd::as_fd);
        let mut fds = [
            PollFd::new(&self.own, PollFlags::IN),
            PollFd::from_borrowed_fd(woken, PollFlags::IN),
            PollFd::from_borrowed_fd(other, PollFlags::empty()),
        ];
        if !poll_until(&mut fds, deadline(time))? {
            return Ok(false);
        }
        if !fds[2].revents().is_empty() {
            self.other = None;
            return Ok(true);
        }
        signals::drain();
        drain(&self.own).map(|()| true)
    }

    fn put(&mut self, tokens: u32) -> io::Result<()> {
        let bytes = vec![b'+'; usize::try_from(tokens).unwrap_or(0)];
        // A write of fewer bytes than a pipe holds at least is done in one piece (pipe(7)).
        for some in bytes.chunks(PIPE_BUF) {
            retry_on_intr(|| write(&self.own, some))?;
        }
        Ok(())
    }

    fn take(&mut self, most: u32) -> io::Result<u32> {
        let mut buffer = [0_u8; PIPE_BUF];
        let most = usize::try_from(most).unwrap_or(PIPE_BUF).min(PIPE_BUF);
        match retry_on_intr(|| read(&self.own, &mut buffer[..most])) {
            Err(Errno::AGAIN) => Ok(0),
            other => Ok(u32::try_from(other?).unwrap_or(0)),
        }
    }

    fn share(&self) -> Option<std::fs::File> {
        self.own.try_clone().ok().map(std::fs::File::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::Vfs;
    use crate::os::real::RealFiles;

    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(20);

    fn files() -> (tempfile::TempDir, Arc<RealFiles>) {
        let dir = tempfile::tempdir().expect("a directory");
        let files =
            RealFiles::open_at(dir.path().to_str().expect("UTF-8"), false).expect("a root").expect("it is there");
        (dir, Arc::new(files))
    }

    #[test]
    fn a_pipe_lives_as_long_as_its_maker_has_it_open() {
        let (_dir, files) = files();
        let first = files.make_pipe("1").expect("made").expect("new");
        assert!(files.make_pipe("1").expect("an answer").is_none(), "the name exists");
        assert!(files.is_pipe_alive("1").expect("an answer"));
        drop(first);
        assert!(!files.is_pipe_alive("1").expect("an answer"));
        assert!(!files.is_pipe_alive("absent").expect("an answer"));
        assert!(!files.call_pipe("1").expect("an answer"), "nobody hears it");
    }

    #[test]
    fn the_end_of_a_watched_pipe_wakes_and_a_call_at_it_does_not() {
        let (_dir, files) = files();
        let first = files.make_pipe("1").expect("made").expect("new");
        let mut second = files.make_pipe("2").expect("made").expect("new");
        assert!(second.watch("1").expect("an answer"));
        assert!(files.call_pipe("1").expect("an answer"));
        assert!(!second.wait(SOON).expect("a wait"), "the call was for another");
        assert!(files.call_pipe("2").expect("an answer") && second.watches());
        drop(first);
        assert!(second.wait(LONG).expect("a wait") && !second.watches());
        assert!(second.wait(LONG).expect("a wait"), "a call beside the end is not lost");
        assert!(!second.wait(SOON).expect("a wait"), "the end is told once");
        assert!(!second.watch("1").expect("an answer"), "it is over");
    }

    #[test]
    fn a_call_wakes_the_maker_also_when_it_came_before_the_wait() {
        let (_dir, files) = files();
        let mut own = files.make_pipe("1").expect("made").expect("new");
        assert!(!own.wait(SOON).expect("a wait"));
        assert!(files.call_pipe("1").expect("an answer") && files.call_pipe("1").expect("an answer"));
        assert!(own.wait(LONG).expect("a wait"));
        assert!(!own.wait(SOON).expect("a wait"), "calls are heard together");
    }

    #[test]
    fn tokens_are_bytes_that_a_client_takes_and_gives_back() {
        use std::io::{Read, Write};
        let (dir, files) = files();
        let mut own = files.make_pipe("jobs").expect("made").expect("new");
        own.put(3).expect("room");
        let path = dir.path().join("jobs");
        let mut client = std::fs::OpenOptions::new().read(true).write(true).open(path).expect("a client");
        let mut token = [0_u8];
        client.read_exact(&mut token).expect("a token");
        assert_eq!((own.take(9).expect("taken"), own.take(9).expect("none is left")), (2, 0));
        client.write_all(&token).expect("given back");
        assert_eq!(own.take(1).expect("taken"), 1);
        assert!(own.share().is_some());
    }

    #[test]
    fn a_call_sets_the_time_of_the_last_change() {
        let (_dir, files) = files();
        let _own = files.make_pipe("1").expect("made").expect("new");
        let time = |files: &RealFiles| files.meta("1").expect("a look").expect("it is there").modified;
        let before = time(&files);
        std::thread::sleep(Duration::from_millis(60));
        assert!(files.call_pipe("1").expect("an answer"));
        assert!(time(&files).ms_since(before) >= 30);
    }

    #[test]
    fn what_is_no_pipe_is_neither_called_nor_alive() {
        let (dir, files) = files();
        std::fs::write(dir.path().join("file"), "text").expect("a file");
        std::fs::create_dir(dir.path().join("folder")).expect("a folder");
        std::os::unix::fs::symlink("file", dir.path().join("link")).expect("a link");
        for name in ["file", "folder", "link"] {
            assert!(!files.is_pipe_alive(name).expect("an answer"), "{name}");
            assert!(!files.call_pipe(name).unwrap_or(false), "{name}");
        }
        assert_eq!(std::fs::read(dir.path().join("file")).expect("read"), b"text");
    }
}

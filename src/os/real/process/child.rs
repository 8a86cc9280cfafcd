//! One watched child process. Its caller decides which signals it gets.
//!
//! The child is not waited for (reaped) until this value is dropped. Until then the kernel gives its number to no other
//! process, neither as a pid nor as the number of a group. So a signal to the group never reaches strangers, even when only
//! grandchildren are left in it.

use crate::os::real::files::watch::Heed;
use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::real::process::{number, signals};
use crate::os::{Child, Exit, Signal, Woken};
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, pidfd_open, waitid, waitpid,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Children that a value of this file will wait for.
static WATCHED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Recipients of a signal to the group of a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// The process group that it leads.
    Group,
    /// The child alone, because its group is also ours.
    Alone,
}

/// A child process.
#[derive(Debug)]
pub(crate) struct RealChild {
    pid: Pid,
    /// `None` if this process had no descriptor left when it started the child. Then SIGCHLD alone reports the end of the
    /// child, unless the caller of this program blocked that signal.
    pidfd: Option<OwnedFd>,
    reach: Reach,
    ended: Option<Exit>,
    /// The files to which it writes.
    heed: Option<Heed>,
    /// The pipe of its job server, and whether a token was seen in it.
    tokens: Option<File>,
    has_token: bool,
    /// Other processes for whose end it waits, and whether one of them has ended.
    others: Vec<File>,
    is_one_gone: bool,
    /// A further end of its waits, and whether that has come.
    timer: Option<Arc<File>>,
    is_due: bool,
}

impl RealChild {
    /// Takes over a child that was just started.
    pub(crate) fn adopt(pid: u32, reach: Reach) -> io::Result<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = raw.ok_or_else(|| io::Error::other("a child without a pid"))?;
        watched().insert(pid.as_raw_nonzero().get());
        Ok(Self {
            pid,
            pidfd: retry_on_intr(|| pidfd_open(pid, PidfdFlags::empty())).ok(),
            reach,
            ended: None,
            heed: None,
            tokens: None,
            has_token: false,
            others: Vec::new(),
            is_one_gone: false,
            timer: None,
            is_due: false,
        })
    }

    /// Looks whether it is over, and leaves it to be waited for.
    fn look(&mut self) -> io::Result<Option<Exit>> {
        if self.ended.is_none() {
            let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = retry_on_intr(|| waitid(WaitId::Pid(self.pid), how))?;
            self.ended = status.and_then(|status| match status.exit_status() {
                Some(code) => Some(Exit::Code(code)),
                None => status.terminating_signal().map(Exit::Signal),
            });
        }
        Ok(self.ended)
    }

    fn sleep(&mut self, until: Option<Instant>) -> io::Result<()> {
        let wakeups = signals::wakeups().map(AsFd::as_fd);
        let ends = self.pidfd.as_ref().map(AsFd::as_fd);
        let tokens = self.tokens.as_ref().map(AsFd::as_fd);
        let timer = self.timer.as_ref().map(AsFd::as_fd);
        let mut fds: Vec<PollFd<'_>> = [tokens, wakeups, ends, self.heed.as_ref().and_then(Heed::fd)]
            .into_iter()
            .flatten()
            .chain(self.others.iter().map(AsFd::as_fd))
            .chain(timer)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        // Without a pidfd and with SIGCHLD blocked, nothing reports the end.
        let nap = deadline(Duration::from_millis(100)).filter(|_| self.pidfd.is_none());
        poll_until(&mut fds, nap.into_iter().chain(until).chain(self.heed.as_ref().and_then(Heed::due)).min())?;
        let has_token = tokens.is_some() && fds.first().is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        let is_due = timer.is_some() && fds.pop().is_some_and(|fd| !fd.revents().is_empty());
        let ends = fds.len() - self.others.len();
        let is_one_gone = fds[ends..].iter().any(|fd| !fd.revents().is_empty());
        self.has_token = has_token;
        if is_due {
            (self.is_due, self.timer) = (true, None);
        }
        if is_one_gone {
            self.is_one_gone = true;
            self.others.clear();
        }
        signals::drain();
        Ok(())
    }
}

impl Child for RealChild {
    fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    fn wait(&mut self, time: Option<Duration>) -> io::Result<Woken> {
        let until = time.and_then(deadline);
        let is_over = || until.is_some_and(|end| Instant::now() >= end);
        loop {
            if let Some(exit) = self.look()? {
                return Ok(Woken::Exited(exit));
            }
            for (signal, woken) in [
                (signals::Caught::Terminate, Woken::Terminate),
                (signals::Caught::Interrupt, Woken::Interrupt),
                (signals::Caught::Pass, Woken::Pass),
            ] {
                if signals::take(signal) {
                    return Ok(woken);
                }
            }
            if is_over() || std::mem::take(&mut self.is_due) {
                return Ok(Woken::TimeUp);
            }
            if std::mem::take(&mut self.has_token) {
                return Ok(Woken::Token);
            }
            if std::mem::take(&mut self.is_one_gone) {
                return Ok(Woken::Gone);
            }
            if self.heed.as_mut().is_some_and(Heed::has_news) {
                return Ok(Woken::Wrote);
            }
            self.sleep(until)?;
        }
    }

    fn heed(&mut self, files: Vec<File>) {
        self.heed = Some(Heed::of(files));
    }

    fn heed_tokens(&mut self, pipe: Option<File>) {
        self.tokens = pipe;
        self.has_token = false;
    }

    fn heed_ends(&mut self, ends: Vec<File>) {
        self.others = ends;
    }

    fn heed_timer(&mut self, timer: Option<Arc<File>>) {
        (self.timer, self.is_due) = (timer, false);
    }

    fn signal(&mut self, signal: Signal) -> io::Result<()> {
        // An error here means that the number is not reserved any more; then it must not be signalled.
        self.look()?;
        let sent = match self.reach {
            Reach::Group => kill_process_group(self.pid, number(signal)),
            Reach::Alone => kill_process(self.pid, number(signal)),
        };
        match sent {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for RealChild {
    fn drop(&mut self) {
        // `reap` waits for a child that still runs.
        let _ = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::NOHANG));
        watched().remove(&self.pid.as_raw_nonzero().get());
    }
}

/// Whether a value of this file will wait for a child.
pub(crate) fn is_watched(pid: i32) -> bool {
    watched().contains(&pid)
}

fn watched() -> MutexGuard<'static, BTreeSet<i32>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

//! `dispatch` and `daemon`: passes, once, until nothing is left, or for ever.

use super::dispatch::Pass;
use super::{App, AppError};
use crate::model::Timestamp;
use crate::os::Watch;
use std::io;
use std::time::Duration;

/// How long a dispatcher that drains sleeps at most between two looks.
const DRAIN_PAUSE: Duration = Duration::from_millis(250);

/// The same where nothing can be watched.
const POLL: Duration = Duration::from_millis(20);
/// For how long changes are let come together while tasks run.
const TOGETHER: Duration = Duration::from_millis(5);

/// What a dispatcher tells whoever started it.
pub trait Log {
    /// A pass was made.
    fn pass(&mut self, pass: &Pass);
    /// A pass failed; the dispatcher goes on.
    fn failed(&mut self, error: &AppError);
    /// Whether it was asked to end.
    fn is_ended(&mut self) -> bool;
}

impl App {
    /// Dispatches until nothing runs and nothing is pending.
    pub fn drain(&self, log: &mut dyn Log) -> Result<(), AppError> {
        if !self.store.is_there() {
            // Nothing was ever queued here.
            return Ok(());
        }
        self.store.prepare()?;
        let _presence = self.store.join_dispatchers()?;
        let mut watch = self.store.watch();
        while !log.is_ended() {
            let pass = self.pass()?;
            let is_quiet = pass.started.is_empty() && pass.recovered.is_empty();
            log.pass(&pass);
            if is_quiet && self.is_drained(&pass)? {
                return Ok(());
            }
            let pause = until(pass.next_due, self.store.now(), DRAIN_PAUSE);
            self.wait_for_change(&mut watch, pause);
        }
        Ok(())
    }

    /// Waits for a change. While tasks run, their supervisors make the passes as they end, and a dispatcher that joined
    /// in at every change would only stand in their way: it lets a few milliseconds of changes come together.
    fn wait_for_change(&self, watch: &mut io::Result<Box<dyn Watch>>, pause: Duration) {
        match watch {
            Ok(watch) => drop(watch.wait(pause)),
            Err(_) => self.store.sleep(pause.min(POLL)),
        }
        if self.store.in_flight().is_ok_and(|ids| !ids.is_empty()) {
            self.store.sleep(TOGETHER);
        }
    }

    fn is_drained(&self, pass: &Pass) -> Result<bool, AppError> {
        let inside = self.inside.as_ref().map(|inside| inside.task);
        let is_left = |id| pass.left.iter().any(|left| left.task == id);
        if self.store.in_flight()?.into_iter().any(|id| Some(id) != inside && !is_left(id)) {
            return Ok(false);
        }
        // An empty folder that a crash left is no task: what looks like work is counted before it is waited for. What
        // only a newer luzia can start is not waited for.
        let blocked: u64 = pass.left.iter().map(|left| left.blocked).sum();
        Ok(self.store.is_queue_empty()? || self.store.counts()?.total() <= blocked)
    }

    /// Dispatches for ever: at every change, when something is due, and every `poll` in case a change was not seen.
    pub fn daemon(&self, poll: Duration, log: &mut dyn Log) -> Result<(), AppError> {
        if self.inside.is_some() {
            return Err(AppError::usage("a daemon cannot run inside a task: it would end with it"));
        }
        self.store.prepare()?;
        let _presence = self.store.join_dispatchers()?;
        let mut watch = self.store.watch();
        while !log.is_ended() {
            if !self.store.is_still_there()? {
                return Err(AppError::new(
                    super::Kind::Unavailable,
                    "STATE_DIR_GONE",
                    "the state directory was removed",
                ));
            }
            let next_due = match self.pass() {
                Ok(pass) => {
                    log.pass(&pass);
                    pass.next_due
                }
                Err(error) => {
                    log.failed(&error);
                    None
                }
            };
            let pause = until(next_due, self.store.now(), poll);
            self.wait_for_change(&mut watch, pause);
        }
        Ok(())
    }
}

/// The pause until a moment, at most `longest`.
fn until(due: Option<Timestamp>, now: Timestamp, longest: Duration) -> Duration {
    let left = due.map(|at| Duration::from_millis(u64::try_from(at.ms_since(now)).unwrap_or(0)));
    left.map_or(longest, |left| left.min(longest)).max(Duration::from_millis(1))
}

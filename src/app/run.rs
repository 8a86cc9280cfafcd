//! `run`: enqueue, dispatch if need be, stream the output, and end as the command ended.

mod batch;

use super::cancel::TASK_OVER;
use super::daemon::is_of_rules;
use super::tail::{Piece, Stream, Tail};
use super::{App, AppError, Kind};
use crate::model::{Status, Task, TaskId};
use crate::policy::admission::Obstacle;
use std::time::Duration;

/// What the user of `run` wants next; asked between two steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Go on.
    GoOn,
    /// Nobody reads the output any more: cancel, as SIGPIPE ends a command in a pipeline.
    Unread,
    /// The same of a task that somebody else has queued: leave it alone.
    Leave,
    /// The first Ctrl-C: cancel with the grace.
    Cancel,
    /// The second: kill.
    Kill,
}

/// How `run` talks to its user.
pub trait Audience {
    /// Output of the command. False when not all of it could be passed on yet; the rest is kept for the
    /// next call.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> bool;
    /// So many bytes of a stream were dropped from the log before they could be passed on.
    fn dropped(&mut self, stream: Stream, bytes: u64);
    /// The task changed its state, or waits for another reason than before.
    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>);
    /// Something failed that is tried again.
    fn failed(&mut self, error: &AppError);
    /// What the user wants.
    fn wish(&mut self) -> Wish;
}

impl App {
    /// For `run --no-wait`: makes a pass, and takes a task that this did not start out of the queue again. Gives that task
    /// and what kept it.
    pub fn start_or_take_back(&self, id: TaskId) -> Result<Option<(Task, Obstacle)>, AppError> {
        self.pass()?;
        let task = self.existing(id)?;
        Ok(self.take_back_if_blocked(&task)?.map(|obstacle| (task, obstacle)))
    }

    /// For `run --no-wait`: takes a task that did not start at once out of the queue again, and says what kept it.
    fn take_back_if_blocked(&self, task: &Task) -> Result<Option<Obstacle>, AppError> {
        if task.status != Status::Pending {
            return Ok(None);
        }
        let obstacle = self.first_obstacle(task)?;
        match self.cancel_pending(task.id, "run --no-wait", Some("it could not start at once"))? {
            Some(_) => Ok(Some(obstacle.unwrap_or(Obstacle::Priority { ahead: 0 }))),
            // It started after all.
            None => Ok(None),
        }
    }

    /// The messages of a task's events, in the words of their source, for `-v`.
    pub fn event_messages(&self, id: TaskId, since: crate::model::Timestamp) -> Result<Vec<String>, AppError> {
        let name = id.to_string();
        let is_its = |line: &serde_json::Value| line.get("task").and_then(|task| task.as_str()) == Some(name.as_str());
        let events = self.store.events_since(since)?;
        let messages = events.iter().filter(|event| is_its(&event.line)).filter_map(|event| event.line.get("message"));
        Ok(messages.filter_map(|message| message.as_str()).map(str::to_owned).collect())
    }

    /// Sees an accepted task to its end: dispatches while it waits, passes its output on, carries out wishes. Gives it as
    /// it is when it is to be left.
    pub fn see_through(&self, id: TaskId, group_output: bool, audience: &mut dyn Audience) -> Result<Task, AppError> {
        self.watch_over(id, group_output, audience).map_err(|error| self.after_accepting(id, error))
    }

    fn watch_over(&self, id: TaskId, group_output: bool, audience: &mut dyn Audience) -> Result<Task, AppError> {
        let mut presence = None;
        let mut tails = [Tail::new(Stream::Out), Tail::new(Stream::Err)];
        let mut changes = self.store.watch();
        let (mut told, mut shortage) = (None, None);
        let mut wished = Wish::GoOn;
        let mut looked_ms = self.store.boot_ms();
        loop {
            let wish = audience.wish();
            // What was asked for while an attempt came to its end is asked for again before the next one.
            let is_new = wish != wished || wish != Wish::GoOn && self.existing(id)?.status == Status::Pending;
            if is_new && self.carry_out_or_tell(id, wish, audience)? {
                wished = wish;
            }
            let mut task = self.existing(id)?;
            if wish == Wish::Leave {
                return Ok(task);
            }
            if task.status == Status::Pending {
                if presence.is_none() {
                    presence = Some(self.store.join_dispatchers()?);
                }
                // A pass at once, and again whenever something may have changed.
                self.pass_patiently(is_of_rules, &mut |error| audience.failed(error))?;
                task = self.existing(id)?;
            } else {
                // It makes no passes for others while its own task runs, and does not count as somebody who does.
                presence = None;
                if self.store.boot_ms().saturating_sub(looked_ms) >= self.config().poll_interval_ms {
                    looked_ms = self.store.boot_ms();
                    // Its supervisor may be dead, and nothing on disk changes by that: without this nobody would notice.
                    if !task.status.is_final() && !self.store.is_supervised(id)? {
                        self.pass_patiently(is_of_rules, &mut |error| audience.failed(error))?;
                        task = self.existing(id)?;
                    }
                    shortage = self.shortage(&task)?;
                }
            }
            let obstacle = match task.status {
                Status::Pending => self.first_obstacle(&task)?,
                Status::Running => shortage.clone(),
                _ => None,
            };
            let word = (task.status, obstacle.as_ref().map(Obstacle::word));
            if told.replace(word) != Some(word) {
                audience.progress(&task, obstacle.as_ref());
            }
            let may_print = (!group_output || task.status.is_final()) && wished != Wish::Unread;
            let mut is_told = true;
            // What never started has no logs, and perhaps no directory for them.
            if may_print && task.last_start.is_some() {
                // A command may write faster than its output can be passed on: the wish of its user does not wait for that.
                let kept_wish = (!task.status.is_final()).then_some(wished);
                is_told = self.pass_logs_on(&task, &mut tails, kept_wish, audience)?;
            }
            if task.status.is_final() && (is_told || wished == Wish::Kill) {
                return Ok(task);
            }
            let is_patient = task.status == Status::Pending && audience.wish() == wished;
            let pause = if is_patient { self.config().poll_interval_ms } else { 20 };
            let pause = Duration::from_millis(pause.clamp(1, 1000));
            changes.wait(pause);
        }
    }

    /// Passes on what a task has written since the last call; stops when the user wants something else than `wished`. False
    /// when not all of it could be passed on: `tails` and `audience` keep the rest.
    fn pass_logs_on(
        &self,
        task: &Task,
        tails: &mut [Tail],
        wished: Option<Wish>,
        audience: &mut dyn Audience,
    ) -> Result<bool, AppError> {
        let mut sink = |piece: Piece<'_>| {
            match piece {
                Piece::Bytes { stream, bytes, .. } if !audience.output(stream, bytes) => return false,
                Piece::Dropped { stream, bytes } => audience.dropped(stream, bytes),
                Piece::Bytes { .. } | Piece::Attempt { .. } => {}
            }
            wished.is_none_or(|wished| audience.wish() == wished)
        };
        // What the audience kept from the last call goes first.
        let nothing = Piece::Bytes { stream: Stream::Out, bytes: b"", attempt: 0, at: task.created_at };
        Ok(sink(nothing) && self.copy_logs(task, tails, &mut sink)?)
    }

    /// False when it is to be tried again.
    fn carry_out_or_tell(&self, id: TaskId, wish: Wish, audience: &mut dyn Audience) -> Result<bool, AppError> {
        match self.carry_out(id, wish) {
            // Whoever wants to go is not kept.
            Err(error) if wish == Wish::Unread && is_of_disk(&error) => {
                audience.failed(&self.after_accepting(id, error));
                Ok(false)
            }
            other => other,
        }
    }

    /// False when it is to be tried again.
    fn carry_out(&self, id: TaskId, wish: Wish) -> Result<bool, AppError> {
        let (reason, grace_ms) = match wish {
            Wish::GoOn | Wish::Leave => return Ok(true),
            Wish::Unread => ("nobody reads its output any more", None),
            Wish::Cancel => ("interrupted by its user", None),
            Wish::Kill => ("interrupted by its user", Some(0)),
        };
        // The end itself is seen by the loop of the caller; here the request is only made.
        match self.request_end(id, "run", Some(reason), grace_ms) {
            Err(error) if error.0.code == TASK_OVER => Ok(true),
            other => other,
        }
    }
}

fn is_of_disk(error: &AppError) -> bool {
    matches!(error.0.kind, Kind::Io | Kind::CannotCreate)
}

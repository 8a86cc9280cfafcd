//! Tasks that wait without a process: each pass, and each process that sends an event, looks at those whose timer rang. What decides
//! is the table of a wait, as for a process that waits; what it decides is durable before anything rests on it.

use super::came::{answer_of, as_wait, is_meant, vars_of};
use super::output::{Looked as Output, OutputReader};
use crate::app::{App, AppError};
use crate::model::config::Keeps;
use crate::model::{LaneName, Task, TaskId, Timer, Timestamp};
use crate::policy::lifecycle::{self, Trigger};
use crate::policy::outcome::Happened;
use crate::policy::steps::waits::{Effect, Phase, Wait, WaitEvent, WaitKind, next};
use crate::store::{DoneWait, Event, Hold, Mail, OpenWait, OutputEnd, Removed, StoreError, Waits, var_text};
use crate::supervise::run_beside;
use serde_json::json;
use std::time::Duration;

/// How often is looked for a task at which another process looks, and the pause between two tries.
const MOST_LOOKS: u32 = 40;
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What a look at a waiting task gave.
pub(crate) enum Looked {
    /// It waits, or somebody acts for it.
    Waits,
    /// It has what it waited for, or goes on without: it needs its lanes.
    Ready,
    /// Its time has run out, and it is over.
    Over,
    /// A command is to be run first, for which it needs a supervisor: its `supervisor.lock`.
    NeedsCommand(Hold),
}

/// How a wait stands.
enum Judged {
    Waits,
    Ready,
    TimedOut,
    Command,
}

impl App {
    /// The lanes that a task keeps while it waits without a process (X3).
    pub(crate) fn lanes_kept(&self, task: &Task) -> Vec<String> {
        task.all_lanes().iter().filter(|lane| self.is_kept_in_wait(lane)).map(LaneName::to_string).collect()
    }

    /// Whether a lane is kept while its task waits without a process.
    pub(crate) fn is_kept_in_wait(&self, lane: &LaneName) -> bool {
        self.config().keeps(lane) == Keeps::Keep
    }

    /// Looks at a waiting task whose timers of `due` rang. `may_run`: this process is a supervisor, and may run a command.
    pub(crate) fn look_at_wait(&self, id: TaskId, due: &[Timestamp], may_run: bool) -> Result<Looked, AppError> {
        for _ in 0..MOST_LOOKS {
            match self.store.take_waiting(id)? {
                Removed::Taken(task, lock) => return self.look_at_taken(&task, lock, due, may_run),
                Removed::NotPending => break,
                // Another process looks at it, perhaps since before the event came.
                Removed::Busy => self.host.sleep(LOOK_AGAIN),
            }
        }
        Ok(Looked::Waits)
    }

    /// Like `look_at_wait`, for a task whose lock this process has.
    pub(crate) fn look_at_taken(
        &self,
        task: &Task,
        lock: Hold,
        due: &[Timestamp],
        may_run: bool,
    ) -> Result<Looked, AppError> {
        match self.judge_wait(task, due, may_run) {
            Ok(Judged::TimedOut) => self.end_taken(task, lock, &Happened::WaitedTooLong).map(|_| Looked::Over),
            Ok(Judged::Command) => Ok(Looked::NeedsCommand(lock)),
            Ok(Judged::Waits) => self.store.stay_waiting(task.id, lock).map(|()| Looked::Waits).map_err(Into::into),
            Ok(Judged::Ready) => self.store.stay_waiting(task.id, lock).map(|()| Looked::Ready).map_err(Into::into),
            Err(AppErrorOr::Lost(why)) => {
                let happened = Happened::NotStarted(125, format!("what it waits for does not read: {why}"));
                self.end_taken(task, lock, &happened).map(|_| Looked::Over)
            }
            Err(AppErrorOr::Error(error)) => {
                self.store.stay_waiting(task.id, lock)?;
                Err(error)
            }
        }
    }

    fn judge_wait(&self, task: &Task, due: &[Timestamp], may_run: bool) -> Result<Judged, AppErrorOr> {
        let id = task.id;
        let mut waits = match self.store.waits(id) {
            Err(wrong @ StoreError::Corrupt { .. }) => return Err(AppErrorOr::Lost(wrong.to_string())),
            waits => waits?,
        };
        if self.tell_lost(task, &mut waits) {
            let waiter = self.store.begin_wait(id)?;
            self.store.write_waits(&waiter, &waits)?;
        }
        loop {
            let Some(open) = waits.open.clone() else {
                return Ok(if waits.is_failed() { Judged::TimedOut } else { Judged::Ready });
            };
            let numbers = self.store.mail_numbers(id)?;
            let (mut wait, mut got) = (as_wait(&open), Vec::new());
            let used: Vec<u64> = waits.done.iter().flat_map(|done| done.mail.iter().copied()).collect();
            for number in numbers.iter().filter(|number| !used.contains(number)) {
                if wait.phase != Phase::Waiting {
                    break;
                }
                let Some(mail) = self.store.mail(id, *number)?.filter(|mail| is_meant(mail, &open)) else { continue };
                if let Some((after, _)) = next(wait, WaitEvent::Match) {
                    wait = after;
                    got.push(mail);
                }
            }
            let (seen, again) = self.see_output(task, &mut waits, &open, &mut wait)?;
            if matches!(wait.phase, Phase::Resumed | Phase::Missed) {
                self.resume_ready(task, &mut waits, &open, (&got, seen), wait)?;
                return Ok(Judged::Ready);
            }
            let until = Timestamp::parse(&open.until).unwrap_or(Timestamp::FIRST);
            if lifecycle::decide(task.status(), Trigger::TimeOut, self.host.now(), Some(until)).is_none() {
                if let Some(again) = again {
                    self.store.set_timer(&Timer::of(id, again))?;
                }
                if self.store.has_rest(id, due, &numbers)? {
                    return Ok(Judged::Waits);
                }
                // An event came meanwhile.
                continue;
            }
            if let Some(judged) = self.time_up(task, &mut waits, &open, (wait, &got), may_run)? {
                return Ok(judged);
            }
        }
    }

    /// Looks at the output that is waited for: what ended the wait, or when to look again.
    fn see_output(
        &self,
        task: &Task,
        waits: &mut Waits,
        open: &OpenWait,
        wait: &mut Wait,
    ) -> Result<(Option<OutputEnd>, Option<Timestamp>), AppErrorOr> {
        let Some(watch) = open.output.as_ref().filter(|_| wait.phase == Phase::Waiting) else {
            return Ok((None, None));
        };
        let mut reader = OutputReader::new(watch).map_err(AppErrorOr::Lost)?;
        match reader.look(self) {
            Output::Over(event, end) => {
                if let Some((after, _)) = next(*wait, event) {
                    *wait = after;
                }
                Ok((Some(end), None))
            }
            Output::Again(ms) => {
                if let Some(from) = reader.progress() {
                    let output = Some(crate::store::OutputWatch { from, ..watch.clone() });
                    self.write_open(task.id, waits, &OpenWait { output, ..open.clone() })?;
                }
                Ok((None, Some(self.host.now().plus_ms(i64::try_from(ms).unwrap_or(i64::MAX)))))
            }
        }
    }

    /// Does what the end of the time means; `None` when a further time has begun.
    fn time_up(
        &self,
        task: &Task,
        waits: &mut Waits,
        open: &OpenWait,
        (wait, got): (Wait, &[Mail]),
        may_run: bool,
    ) -> Result<Option<Judged>, AppErrorOr> {
        let Some((after, effects)) = next(wait, WaitEvent::TimeUp) else { return Ok(Some(Judged::Waits)) };
        let command = open.timeout_command.as_ref().filter(|_| effects.contains(&Effect::TimeoutCommand));
        if command.is_some() && !may_run {
            return Ok(Some(Judged::Command));
        }
        if after.timeouts > wait.timeouts {
            self.note_late(task, open, after);
        }
        let mut open = OpenWait { timeouts: after.timeouts, ..open.clone() };
        if let Some(command) = command {
            self.late_begins(waits, open.position);
            // Just before it starts: a kill between the two runs it no second time, and one before runs it.
            let mut begin = || self.write_open(task.id, waits, &open);
            let ended = run_beside(&self.site(), self.config_path.as_deref(), task, command, &mut begin)?;
            Self::late_ended(waits, ended);
            self.write_open(task.id, waits, &open)?;
        } else if after.timeouts > wait.timeouts {
            self.write_open(task.id, waits, &open)?;
        }
        if effects.contains(&Effect::BeginTime) {
            let until = self.host.now().plus_ms(i64::try_from(open.time_ms).unwrap_or(i64::MAX));
            open.until = until.to_string();
            self.store.set_timer(&Timer::of(task.id, until))?;
            self.write_open(task.id, waits, &open)?;
            if let Some(kept) = task.wait() {
                self.store.keep_for_wait(task, &crate::model::task::TaskWait { until, ..kept.clone() })?;
            }
            return Ok(None);
        }
        // No child works in the lanes of a task that goes on (decision 256).
        self.ask_borrowers(task)?;
        self.forget_answer(task.id, &open, after)?;
        if effects.contains(&Effect::EndTask) {
            // A retry of the task asks for it anew, with a time of its own.
            (waits.open, waits.failed_in) = (None, Some(waits.start));
            let waiter = self.store.begin_wait(task.id)?;
            self.store.write_waits(&waiter, waits)?;
            return Ok(Some(Judged::TimedOut));
        }
        self.resume_ready(task, waits, &open, (got, None), after)?;
        Ok(Some(Judged::Ready))
    }

    fn write_open(&self, id: TaskId, waits: &mut Waits, open: &OpenWait) -> Result<(), StoreError> {
        waits.open = Some(open.clone());
        let waiter = self.store.begin_wait(id)?;
        self.store.write_waits(&waiter, waits)
    }

    /// Records that the wait is over, its variables first: until the wait is closed, all of this is done again.
    fn resume_ready(
        &self,
        task: &Task,
        waits: &mut Waits,
        open: &OpenWait,
        (got, seen): (&[Mail], Option<OutputEnd>),
        wait: Wait,
    ) -> Result<(), AppErrorOr> {
        if let (Phase::Resumed, Some(kind)) = (wait.phase, WaitKind::parse(&open.kind)) {
            let new = vars_of(kind, got, seen.as_ref());
            self.take_in_vars(task, new)?;
        }
        (waits.open, waits.failed_in) = (None, None);
        waits.done.push(DoneWait {
            kind: open.kind.clone(),
            event: open.event.clone(),
            mail: got.iter().map(|mail| mail.number).collect(),
            is_timed_out: wait.phase == Phase::PassedOver,
            at: self.host.now().to_string(),
            is_missed: wait.phase == Phase::Missed,
            output: seen,
            key: open.key.clone(),
            turn: open.turn,
        });
        let waiter = self.store.begin_wait(task.id)?;
        self.store.write_waits(&waiter, waits)?;
        self.store.note(&Event::of("resume_ready", task).with(json!({ "waited_for": open.kind })));
        Ok(())
    }

    /// What is told when a waiting task has its lanes again, in the words and the order of S1.47.
    pub(crate) fn note_resumed(&self, task: &Task) {
        let note = |name, text: String| self.store.note(&Event::of(name, task).saying(text));
        note("resumed", format!("Resuming execution {}", task.id.0));
        let last = self.store.waits(task.id).ok().and_then(|waits| waits.done.last().cloned());
        let mail =
            last.filter(|done| done.kind == WaitKind::Response.word()).and_then(|done| done.mail.last().copied());
        let mail = mail.and_then(|number| self.store.mail(task.id, number).ok().flatten());
        let said = mail.map_or_else(String::new, |mail| {
            let text: String = var_text(&answer_of(&mail)).chars().take(200).collect();
            format!(", lastResponse={text:?}")
        });
        note("state_updated", format!("Updating state: shouldWait=false{said}"));
        note("continued", "Continuing from checkpoint".to_owned());
    }
}

/// An error, or a wait of which nothing can be known any more.
enum AppErrorOr {
    Error(AppError),
    Lost(String),
}

impl<E: Into<AppError>> From<E> for AppErrorOr {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

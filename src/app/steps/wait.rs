//! `await`: a process of a task blocks until an event comes, or its time runs out. The task keeps its lanes meanwhile.

use crate::app::steps::came::{answer_of, as_wait, is_meant, vars_of};
use crate::app::steps::known::Known;
use crate::app::steps::output::{Looked, OutputOrder, OutputReader};
use crate::app::{App, AppError, Code, Kind};
use crate::model::task::TaskState;
use crate::model::{LaneName, Status, Task, TaskId, Timestamp};
use crate::os::{Exit, InPlace};
use crate::policy::steps::waits::{Effect, OnTimeout, Phase, Wait, WaitEvent, WaitKind, next};
use crate::store::{DoneWait, Event, Mail, OpenWait, OutputEnd, StoreError, Waiter, Waits, var_text};
use crate::supervise::told_end;
use std::time::Duration;

/// How long is waited without a look at the clock and the mailbox.
const LOOK: Duration = Duration::from_secs(15);

/// How often a process that waits looks at the output for which it waits.
pub(super) const OUTPUT_PAUSE: Duration = Duration::from_millis(200);

/// How often a supervisor is asked to end a run.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// How often is looked for a supervisor where none is left.
const ORPHAN_PAUSE: Duration = Duration::from_millis(200);

/// How many events that did not match are told of.
const MOST_SHOWN: usize = 5;

/// A wait as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitOrder {
    /// Its name, by which it is known in a later start.
    pub name: Option<String>,
    /// The step around it.
    pub around: Option<String>,
    /// What is waited for.
    pub kind: WaitKind,
    /// The event that ends it.
    pub event: String,
    /// How long, in milliseconds.
    pub time_ms: u64,
    /// What the end of the time means.
    pub on_timeout: OnTimeout,
    /// A shell command that is run once when the time has run out.
    pub timeout_command: Option<String>,
    /// What an event must say, by name.
    pub filter: Vec<(String, String)>,
    /// How many events are expected; 0 for the ends of all children that are not over.
    pub expect: u32,
    /// Whether the run ends meanwhile, and the command is started again when the wait is over.
    pub ends_run: bool,
    /// The output that is waited for.
    pub output: Option<OutputOrder>,
}

/// What came of a wait.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitEnd {
    /// The task.
    pub task: TaskId,
    /// The events that ended it.
    pub mail: Vec<Mail>,
    /// Whether its time ran out.
    pub is_timed_out: bool,
    /// Whether the task is to end for that.
    pub is_failed: bool,
    /// Whether it was over in an earlier start.
    pub is_remembered: bool,
    /// Whether what it waited for can come no more.
    pub is_missed: bool,
    /// How a wait for output ended.
    pub output: Option<OutputEnd>,
}

/// A wait that goes on.
struct Going<'a> {
    task: Task,
    order: &'a WaitOrder,
    waiter: Waiter,
    waits: Waits,
    open: OpenWait,
    wait: Wait,
    got: Vec<Mail>,
    reader: Option<OutputReader>,
    seen: Option<OutputEnd>,
}

impl App {
    /// The task as it is seen: one of which a process waits for an event is `waiting`.
    pub(crate) fn as_seen(&self, task: Task) -> Task {
        let waits = task.status() == Status::Running && matches!(self.store.open_wait(task.id), Ok(Some(_)));
        if waits { Task { state: TaskState::Waiting(None), ..task } } else { task }
    }

    /// The wait in which a task stands, with a process that waits or without.
    pub fn open_wait(&self, id: TaskId) -> Result<Option<OpenWait>, AppError> {
        match self.store.open_wait(id)? {
            Some(open) => Ok(Some(open)),
            None if self.store.stands_waiting(id)? => Ok(self.store.waits(id)?.open),
            None => Ok(None),
        }
    }

    /// Whether a task has what it waited for, and waits for its lanes (X16).
    pub fn is_resume_ready(&self, id: TaskId) -> Result<bool, AppError> {
        if !self.store.stands_waiting(id)? {
            return Ok(false);
        }
        // What does not read ends the task, and keeps no list from being shown.
        Ok(self.store.waits(id).is_ok_and(|waits| waits.open.is_none() && !waits.is_failed()))
    }

    /// The mail of a task that no finished wait has taken.
    pub(crate) fn unused_mail(&self, id: TaskId, waits: &Waits) -> Result<Vec<Mail>, AppError> {
        let is_used = |number: &u64| waits.done.iter().any(|done| done.mail.contains(number));
        let numbers: Vec<u64> = self.store.mail_numbers(id)?.into_iter().filter(|number| !is_used(number)).collect();
        self.mail_of(id, &numbers)
    }

    /// Why a task still waits: its wait, and the last events that came and did not match (S1.49).
    pub fn wait_why(&self, id: TaskId) -> Result<Option<(OpenWait, Vec<Mail>)>, AppError> {
        let Some(open) = self.open_wait(id)? else { return Ok(None) };
        let unused = self.unused_mail(id, &self.store.waits(id)?)?;
        let mut others: Vec<Mail> = unused.into_iter().filter(|mail| !is_meant(mail, &open)).collect();
        others.drain(..others.len().saturating_sub(MOST_SHOWN));
        Ok(Some((open, others)))
    }

    /// Waits for an event, or for output of another task, inside a task.
    pub fn await_event(&self, order: &WaitOrder, say: &mut dyn FnMut(&str)) -> Result<WaitEnd, AppError> {
        let id = self.own_task("luzia await response")?;
        let task = self.unfinished(id)?;
        let start = self.store.started(id)?.flatten().map(|started| u64::from(started.start));
        let Some(start) = start.filter(|_| task.status() == Status::Running) else {
            return Err(AppError::new(
                Kind::No,
                Code::TaskNotRunning,
                format!("{id} does not run; nothing is waited for"),
            )
            .next(format!("luzia show {id}")));
        };
        if let Some(output) = &order.output {
            self.check_output(output, Some(id))?;
        }
        let waiter =
            self.store.begin_wait_within(id, order.time_ms.max(1)).map_err(|error| waits_already(id, error))?;
        let mut waits = self.store.waits(id)?;
        if self.tell_lost(&task, &mut waits) {
            self.store.write_waits(&waiter, &waits)?;
        }
        let step = task.stepwise.as_ref().map_or(0, |stepwise| stepwise.step);
        if waits.step != step {
            // Each step of a stepwise task has waits of its own.
            (waits.step, waits.base, waits.open) = (step, waits.done.len(), None);
        }
        if waits.start != start {
            (waits.start, waits.next) = (start, waits.base);
            waits.asked.clear();
        }
        let known = Known::of(order, step, &mut waits);
        if let Some(done) = known.done(order, &waits)? {
            self.store.write_waits(&waiter, &waits)?;
            say("luzia: this await was over in an earlier start; nothing is waited for");
            let mail = self.mail_of(id, &done.mail)?;
            let DoneWait { is_timed_out, is_missed, output, .. } = done;
            let is_failed = false;
            return Ok(WaitEnd { task: id, mail, is_timed_out, is_failed, is_remembered: true, is_missed, output });
        }
        let open = self.opened(&task, &waits, known, order)?;
        waits.open = Some(open.clone());
        let wait = as_wait(&open);
        let reader = open.output.as_ref().map(OutputReader::new).transpose().map_err(AppError::usage)?;
        let mut going = Going { task, order, waiter, waits, open, wait, got: Vec::new(), reader, seen: None };
        self.enter(&mut going, say)?;
        self.go_on(&mut going, say)
    }

    /// The wait that stands open since an earlier start, or a new one.
    fn opened(&self, task: &Task, waits: &Waits, known: Known, order: &WaitOrder) -> Result<OpenWait, AppError> {
        if let Some(open) = known.open(order, waits)? {
            let (since, until) = (open.since.clone(), open.until.clone());
            let (timeouts, output, expect) = (open.timeouts, open.output.clone(), open.expect);
            return Ok(OpenWait { since, until, timeouts, output, expect, ..self.open_now(task, known, order) });
        }
        let output = order.output.as_ref().map(|output| output.watch(waits));
        let mut open = OpenWait { output, ..self.open_now(task, known, order) };
        if open.expect == 0 {
            open.expect = self.ends_expected(task.id, waits, &open)?;
        }
        Ok(open)
    }

    fn open_now(&self, task: &Task, known: Known, order: &WaitOrder) -> OpenWait {
        let now = self.host.now();
        OpenWait {
            position: known.position,
            key: known.key,
            turn: known.turn,
            kind: order.kind.word().to_owned(),
            event: order.event.clone(),
            since: now.to_string(),
            until: later(now, order.time_ms).to_string(),
            filter: order.filter.clone(),
            expect: order.expect,
            timeouts: 0,
            time_ms: order.time_ms,
            on_timeout: order.on_timeout.text(),
            timeout_command: order.timeout_command.clone(),
            ends_run: false,
            keep: Some(self.lanes_kept(task)),
            output: None,
        }
    }

    /// Makes the wait durable and says so, in the words and the order of S1.46.
    fn enter(&self, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
        let (task, kind) = (&going.task, &going.open.kind);
        let note = |name, text: String| self.store.note(&Event::of(name, task).saying(text));
        note("wait_needed", format!("Action wait_for_{kind} requires wait"));
        note("checkpoint", format!("Saving checkpoint for execution {}", task.id.0));
        let kept = |lane: &LaneName| self.is_kept_in_wait(lane);
        let lanes: Vec<LaneName> = task.all_lanes().into_iter().filter(kept).collect();
        self.store.secure_locks(&self.store.locks_of(task.id, &lanes)?)?;
        self.store.write_waits(&going.waiter, &going.waits)?;
        note("waiting", format!("Execution {} entering WAITING state (waitingFor: {kind})", task.id.0));
        self.run_hooks(say);
        say(&format!("luzia: {} waits for {} until {}", task.id, going.open.event, going.open.until));
        Ok(())
    }

    fn go_on(&self, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<WaitEnd, AppError> {
        let id = going.task.id;
        let mut changes = self.store.watch_mail(id);
        let mut lent = Vec::new();
        let used: Vec<u64> = going.waits.done.iter().flat_map(|done| done.mail.iter().copied()).collect();
        let mut seen = used;
        loop {
            self.heed_signals(&mut lent)?;
            if !self.run_dir.is_supervised(id)? {
                // Recovery ends this run, and takes the wait over as it stands.
                self.host.sleep(ORPHAN_PAUSE);
                continue;
            }
            for number in self.store.mail_numbers(id)? {
                if seen.contains(&number) || going.wait.phase != Phase::Waiting {
                    continue;
                }
                seen.push(number);
                let Some(mail) = self.store.mail(id, number)? else { continue };
                let event = if is_meant(&mail, &going.open) { WaitEvent::Match } else { WaitEvent::Other };
                self.step_wait(going, event, Some(mail), say)?;
            }
            let pause = self.look_at_output(going, say)?;
            let until = Timestamp::parse(&going.open.until).unwrap_or(Timestamp::FIRST);
            let left = until.ms_since(self.host.now());
            if going.wait.phase == Phase::Waiting && left <= 0 {
                if next(going.wait, WaitEvent::TimeUp).is_some_and(|(after, _)| after.phase != Phase::Waiting) {
                    self.end_loans(std::mem::take(&mut lent), false, None)?;
                }
                self.step_wait(going, WaitEvent::TimeUp, None, say)?;
            }
            match going.wait.phase {
                Phase::Waiting => {}
                phase => {
                    let left = u64::try_from(left).unwrap_or(0);
                    self.end_loans(lent, true, Some(self.host.boot_ms().saturating_add(left)))?;
                    return Ok(self.ended(going, phase));
                }
            }
            if going.order.ends_run {
                return self.end_run(going);
            }
            if [WaitKind::Agent, WaitKind::Output].contains(&going.order.kind) {
                // A task that waits for its children lends them its lanes.
                lent = self.lend_to_children(id, &going.open.filter, lent)?;
            }
            let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
            changes.wait(left.clamp(Duration::from_millis(1), pause));
        }
    }

    /// Looks at the output that is waited for; how long to sleep then at most.
    fn look_at_output(&self, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<Duration, AppError> {
        let Some(reader) = going.reader.as_mut().filter(|_| going.wait.phase == Phase::Waiting) else {
            return Ok(LOOK);
        };
        match reader.look(self) {
            Looked::Over(event, end) => {
                going.seen = Some(end);
                self.step_wait(going, event, None, say)?;
                Ok(LOOK)
            }
            Looked::Again(ms) => {
                if let (Some(from), Some(output)) = (reader.progress(), going.open.output.as_mut()) {
                    output.from = from;
                    going.waits.open = Some(going.open.clone());
                    self.store.write_waits(&going.waiter, &going.waits)?;
                }
                Ok(Duration::from_millis(ms).clamp(Duration::from_millis(1), OUTPUT_PAUSE))
            }
        }
    }

    /// Asks the supervisor to end this run. From the checkpoint on the wait is not this process's any more: an event that
    /// comes now is for the process that looks at the task when its run has ended.
    fn end_run(&self, going: &mut Going) -> Result<WaitEnd, AppError> {
        going.open.ends_run = true;
        going.waits.open = Some(going.open.clone());
        self.store.write_waits(&going.waiter, &going.waits)?;
        loop {
            self.wake_supervisor(going.task.id)?;
            self.host.sleep(ASK_AGAIN);
        }
    }

    /// Does what the table says of an event.
    fn step_wait(
        &self,
        going: &mut Going,
        event: WaitEvent,
        mail: Option<Mail>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let Some((after, effects)) = next(going.wait, event) else { return Ok(()) };
        let is_late = after.timeouts > going.wait.timeouts;
        going.wait = after;
        if is_late {
            self.note_late(&going.task, &going.open, after);
            // Before the command: a kill between the two runs it no second time.
            going.open.timeouts = after.timeouts;
            going.waits.open = Some(going.open.clone());
            if going.order.timeout_command.is_some() && effects.contains(&Effect::TimeoutCommand) {
                self.late_begins(&mut going.waits, going.open.position);
            }
            self.store.write_waits(&going.waiter, &going.waits)?;
        }
        for effect in effects {
            match effect {
                Effect::Take => going.got.extend(mail.clone()),
                Effect::TimeoutCommand => self.run_timeout_command(going, say)?,
                Effect::SetVariables => self.set_resumed(going)?,
                Effect::BeginTime => {
                    going.open.until = later(self.host.now(), going.order.time_ms).to_string();
                    going.waits.open = Some(going.open.clone());
                    self.store.write_waits(&going.waiter, &going.waits)?;
                    say(&format!("luzia: {} waits once more, until {}", going.task.id, going.open.until));
                }
                Effect::GoOn => {
                    self.forget_answer(going.task.id, &going.open, after)?;
                    self.close(going, None)?;
                }
                Effect::EndTask => self.close(going, Some(going.waits.start))?,
            }
        }
        Ok(())
    }

    /// Records that the wait is over. One that ends the task is asked for anew by a retry of it.
    fn close(&self, going: &mut Going, failed_in: Option<u64>) -> Result<(), AppError> {
        going.waits.open = None;
        going.waits.failed_in = failed_in;
        if failed_in.is_none() {
            going.waits.done.push(DoneWait {
                kind: going.open.kind.clone(),
                event: going.open.event.clone(),
                mail: going.got.iter().map(|mail| mail.number).collect(),
                is_timed_out: going.wait.phase == Phase::PassedOver,
                at: self.host.now().to_string(),
                is_missed: going.wait.phase == Phase::Missed,
                output: going.seen.clone(),
                key: going.open.key.clone(),
                turn: going.open.turn,
            });
        }
        Ok(self.store.write_waits(&going.waiter, &going.waits)?)
    }

    fn ended(&self, going: &Going, phase: Phase) -> WaitEnd {
        let id = going.task.id;
        let note = |name, text: String| self.store.note(&Event::of(name, &going.task).saying(text));
        note("resumed", format!("Resuming execution {}", id.0));
        let answer = going.got.last().filter(|_| going.order.kind == WaitKind::Response).map(answer_of);
        let said = answer.map_or_else(String::new, |answer| {
            let text: String = var_text(&answer).chars().take(200).collect();
            format!(", lastResponse={text:?}")
        });
        note("state_updated", format!("Updating state: shouldWait=false{said}"));
        note("continued", "Continuing from checkpoint".to_owned());
        let is_failed = phase == Phase::Failed;
        let is_timed_out = is_failed || phase == Phase::PassedOver;
        let (mail, output, is_missed) = (going.got.clone(), going.seen.clone(), phase == Phase::Missed);
        WaitEnd { task: id, mail, is_timed_out, is_failed, is_remembered: false, is_missed, output }
    }

    fn run_timeout_command(&self, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
        let Some(text) = &going.order.timeout_command else { return Ok(()) };
        let argv = ["/bin/sh".to_owned(), "-c".to_owned(), text.clone()];
        let place = InPlace { argv: &argv, env: &[], cwd: None, has_input: false, held: Vec::new(), output: None };
        let ended = match self.run_here(place, crate::app::locks::lock::Care::default(), &|_| {}) {
            Ok(exit) => {
                let told = told_end(exit);
                if exit != Exit::Code(0) {
                    say(&format!("luzia: the command of --timeout-do: {told}"));
                }
                told
            }
            Err(error) => {
                say(&format!("luzia: the command of --timeout-do was not run: {}", error.0.message));
                format!("it was not run: {}", error.0.message)
            }
        };
        Self::late_ended(&mut going.waits, ended);
        Ok(self.store.write_waits(&going.waiter, &going.waits)?)
    }

    /// Sets the variables of what came (S1.21–S1.28).
    fn set_resumed(&self, going: &Going) -> Result<(), AppError> {
        let new = vars_of(going.order.kind, &going.got, going.seen.as_ref());
        self.take_in_vars(&going.task, new)
    }

    fn mail_of(&self, id: TaskId, numbers: &[u64]) -> Result<Vec<Mail>, AppError> {
        let found = numbers.iter().map(|number| Ok(self.store.mail(id, *number)?));
        found.filter_map(Result::transpose).collect()
    }
}

fn later(now: Timestamp, ms: u64) -> Timestamp {
    now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX))
}

fn waits_already(id: TaskId, error: StoreError) -> AppError {
    match error {
        StoreError::FileBusy { .. } => {
            AppError::new(Kind::Busy, Code::WaitsAlready, format!("another process of {id} waits already"))
                .hint("a task waits for one thing at a time")
        }
        other => other.into(),
    }
}

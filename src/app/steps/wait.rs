//! `await`: a process of a task blocks until an event comes, or its time runs out. Its supervisor gives slots to other tasks
//! meanwhile, and the process returns when the task has them again.

use crate::app::hooks::hand_hooks_over;
use crate::app::loans::{die_of, end_loans, heed_signals, is_ending, lend_to_children};
use crate::app::locks::lock::run_here;
use crate::app::processes::wake_supervisor;
use crate::app::steps::child::{check_output, ends_expected};
use crate::app::steps::known::Known;
use crate::app::steps::{own_task, start_of, unfinished};
use crate::app::waits::came::{
    as_wait, forget_answer, is_meant, late_begins, late_ended, note_late, take_in_vars, tell_lost, vars_of,
};
use crate::app::waits::mail_of;
use crate::app::waits::output::{Looked, OutputOrder, OutputReader};
use crate::app::waits::resting::{close_wait, is_kept_in_wait, lanes_kept, note_going_on};
use crate::app::{App, AppError, Code};
use crate::model::{LaneName, Task, TaskId, Timestamp};
use crate::os::{Exit, InPlace};
use crate::policy::steps::waits::{Effect, OnTimeout, Phase, Wait, WaitEvent, WaitKind, next};
use crate::store::{DoneWait, Event, Mail, OpenWait, OutputEnd, StoreError, Waiter, Waits};
use crate::supervise::told_end;
use std::time::Duration;

/// Longest wait without a look at the clock and the mailbox.
const LOOK: Duration = Duration::from_secs(15);

/// Interval at which a waiting process looks at the output for which it waits.
pub(super) const OUTPUT_PAUSE: Duration = Duration::from_millis(200);

/// Interval of the requests to a supervisor to end a run.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Interval of the looks for a supervisor if none is left.
const ORPHAN_PAUSE: Duration = Duration::from_millis(200);

/// Time before the first message of a process that waits for the slots of its task, and interval of its requests to the
/// supervisor, in milliseconds.
const SILENT_MS: u64 = 300;
const REMIND_MS: u64 = 5000;

/// A wait as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitOrder {
    /// The name of the wait, by which it is known in a later start.
    pub name: Option<String>,
    /// The step around the wait.
    pub around: Option<String>,
    /// The kind of the wait.
    pub kind: WaitKind,
    /// The event that ends the wait.
    pub event: String,
    /// The time of the wait, in milliseconds.
    pub time_ms: u64,
    /// The meaning of the end of the time.
    pub on_timeout: OnTimeout,
    /// A shell command that is run once when the time has run out.
    pub timeout_command: Option<String>,
    /// The values that an event must have, by name.
    pub filter: Vec<(String, String)>,
    /// Number of expected events; 0 for the ends of all children that are not over.
    pub expect: u32,
    /// Whether the run ends meanwhile, and the command is started again when the wait is over.
    pub ends_run: bool,
    /// The output that is waited for.
    pub output: Option<OutputOrder>,
}

/// The result of a wait.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitEnd {
    /// The task.
    pub task: TaskId,
    /// The events that ended the wait.
    pub mail: Vec<Mail>,
    /// Whether the wait's time ran out.
    pub is_timed_out: bool,
    /// Whether the task must end because of that.
    pub is_failed: bool,
    /// Whether the wait was over in an earlier start.
    pub is_remembered: bool,
    /// Whether the wait's event can come no more.
    pub is_missed: bool,
    /// The end of a wait for output.
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

/// Waits for an event, or for output of another task, inside a task.
pub fn await_event(app: &App, order: &WaitOrder, say: &mut dyn FnMut(&str)) -> Result<WaitEnd, AppError> {
    await_within(app, order, order.time_ms.max(1), say)
}

/// Like `await_event`, where another process of the task may wait for no longer than so many milliseconds.
pub(super) fn await_within(
    app: &App,
    order: &WaitOrder,
    ms: u64,
    say: &mut dyn FnMut(&str),
) -> Result<WaitEnd, AppError> {
    let id = own_task(app, "luzia await response")?;
    let task = unfinished(app, id)?;
    let start = u64::from(start_of(app, &task, "nothing is waited for")?);
    if let Some(output) = &order.output {
        check_output(app, output, Some(id))?;
    }
    let waiter = app.store.begin_wait_within(id, ms).map_err(|error| waits_already(id, error))?;
    let mut waits = app.store.waits(id)?;
    if tell_lost(app, &task, &mut waits) {
        app.store.write_waits(&waiter, &waits)?;
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
        app.store.write_waits(&waiter, &waits)?;
        say("luzia: this await was over in an earlier start; nothing is waited for");
        let mail = mail_of(app, id, &done.mail)?;
        let DoneWait { is_timed_out, is_missed, output, .. } = done;
        let is_failed = false;
        return Ok(WaitEnd { task: id, mail, is_timed_out, is_failed, is_remembered: true, is_missed, output });
    }
    let open = opened(app, &task, &waits, known, order)?;
    waits.open = Some(open.clone());
    let wait = as_wait(&open);
    let reader = open.output.as_ref().map(OutputReader::new).transpose().map_err(AppError::usage)?;
    let mut going = Going { task, order, waiter, waits, open, wait, got: Vec::new(), reader, seen: None };
    enter(app, &mut going, say)?;
    go_on(app, going, say)
}

/// The wait that is open since an earlier start, or a new one.
fn opened(app: &App, task: &Task, waits: &Waits, known: Known, order: &WaitOrder) -> Result<OpenWait, AppError> {
    if let Some(open) = known.open(order, waits)? {
        let (since, until) = (open.since.clone(), open.until.clone());
        let (timeouts, output, expect) = (open.timeouts, open.output.clone(), open.expect);
        return Ok(OpenWait { since, until, timeouts, output, expect, ..open_now(app, task, known, order) });
    }
    let output = order.output.as_ref().map(|output| output.watch(waits));
    let mut open = OpenWait { output, ..open_now(app, task, known, order) };
    if open.expect == 0 {
        open.expect = ends_expected(app, task.id, waits, &open)?;
    }
    Ok(open)
}

fn open_now(app: &App, task: &Task, known: Known, order: &WaitOrder) -> OpenWait {
    let now = app.host.now();
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
        keep: Some(lanes_kept(app, task)),
        output: None,
    }
}

/// Makes the wait durable and reports it, in the words and the order of S1.46.
fn enter(app: &App, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
    let (task, kind) = (&going.task, &going.open.kind);
    let note = |name, text: String| app.store.note(&Event::of(name, task).saying(text));
    note("wait_needed", format!("Action wait_for_{kind} requires wait"));
    note("checkpoint", format!("Saving checkpoint for execution {}", task.id.0));
    let kept = |lane: &LaneName| is_kept_in_wait(app, lane);
    let lanes: Vec<LaneName> = task.all_lanes().into_iter().filter(kept).collect();
    app.store.secure_locks(&app.store.locks_of(task.id, &lanes)?)?;
    app.store.write_waits(&going.waiter, &going.waits)?;
    note("waiting", format!("Execution {} entering WAITING state (waitingFor: {kind})", task.id.0));
    hand_hooks_over(app, say);
    say(&format!("luzia: {} waits for {} until {}", task.id, going.open.event, going.open.until));
    Ok(())
}

fn go_on(app: &App, mut going: Going, say: &mut dyn FnMut(&str)) -> Result<WaitEnd, AppError> {
    let id = going.task.id;
    let mut changes = app.store.watch_mail(id);
    let mut lent = Vec::new();
    let used: Vec<u64> = going.waits.done.iter().flat_map(|done| done.mail.iter().copied()).collect();
    let mut seen = used;
    let keeps_all = going.task.all_lanes().iter().all(|lane| is_kept_in_wait(app, lane));
    if !keeps_all && !going.order.ends_run && going.order.kind != WaitKind::Agent {
        // The supervisor gives up the slots that the wait does not keep. This process ends when the task has them again.
        app.host.procs.catch_ends();
        wake_supervisor(app, id)?;
    }
    loop {
        heed_signals(app, &mut lent)?;
        if let Some(signal) = app.host.procs.asked_to_end() {
            return Err(leave(app, (id, going.waits.start), signal, going.waiter)?);
        }
        if !app.run_dir.is_supervised(id)? {
            // Recovery ends this run, and takes the wait over as it is.
            app.host.sleep(ORPHAN_PAUSE);
            continue;
        }
        for number in app.store.mail_numbers(id)? {
            if seen.contains(&number) || going.wait.phase != Phase::Waiting {
                continue;
            }
            seen.push(number);
            let Some(mail) = app.store.mail(id, number)? else { continue };
            let event = if is_meant(&mail, &going.open) { WaitEvent::Match } else { WaitEvent::Other };
            step_wait(app, &mut going, event, Some(mail), say)?;
        }
        let pause = look_at_output(app, &mut going, say)?;
        let until = Timestamp::parse(&going.open.until).unwrap_or(Timestamp::FIRST);
        let left = until.ms_since(app.host.now());
        if going.wait.phase == Phase::Waiting && left <= 0 {
            if next(going.wait, WaitEvent::TimeUp).is_some_and(|(after, _)| after.phase != Phase::Waiting) {
                end_loans(app, std::mem::take(&mut lent), false, None)?;
            }
            step_wait(app, &mut going, WaitEvent::TimeUp, None, say)?;
        }
        match going.wait.phase {
            Phase::Waiting => {}
            phase => {
                let left = u64::try_from(left).unwrap_or(0);
                end_loans(app, lent, true, Some(app.host.boot_ms().saturating_add(left)))?;
                come_back(app, id, going.waits.start, say)?;
                return Ok(ended(app, &going, phase));
            }
        }
        if going.order.ends_run {
            return end_run(app, &mut going);
        }
        if [WaitKind::Agent, WaitKind::Output].contains(&going.order.kind) {
            // A task that waits for its children lends them its lanes.
            lent = lend_to_children(app, id, &going.open.filter, lent)?;
        }
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        changes.wait(left.clamp(Duration::from_millis(1), pause));
    }
}

/// Looks at the output that is waited for; returns the longest sleep until the next look.
fn look_at_output(app: &App, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<Duration, AppError> {
    let Some(reader) = going.reader.as_mut().filter(|_| going.wait.phase == Phase::Waiting) else {
        return Ok(LOOK);
    };
    match reader.look(app) {
        Looked::Over(event, end) => {
            going.seen = Some(end);
            step_wait(app, going, event, None, say)?;
            Ok(LOOK)
        }
        Looked::Again(ms) => {
            if let (Some(from), Some(output)) = (reader.progress(), going.open.output.as_mut()) {
                output.from = from;
                going.waits.open = Some(going.open.clone());
                app.store.write_waits(&going.waiter, &going.waits)?;
            }
            Ok(Duration::from_millis(ms).clamp(Duration::from_millis(1), OUTPUT_PAUSE))
        }
    }
}

/// Asks the supervisor to end this run. From the checkpoint on the wait does not belong to this process any more. An event that
/// comes now is for the process that looks at the task when its run has ended.
fn end_run(app: &App, going: &mut Going) -> Result<WaitEnd, AppError> {
    going.open.ends_run = true;
    going.waits.open = Some(going.open.clone());
    app.store.write_waits(&going.waiter, &going.waits)?;
    loop {
        wake_supervisor(app, going.task.id)?;
        app.host.sleep(ASK_AGAIN);
    }
}

/// Acts on an event as the table says.
fn step_wait(
    app: &App,
    going: &mut Going,
    event: WaitEvent,
    mail: Option<Mail>,
    say: &mut dyn FnMut(&str),
) -> Result<(), AppError> {
    let Some((after, effects)) = next(going.wait, event) else { return Ok(()) };
    let is_late = after.timeouts > going.wait.timeouts;
    going.wait = after;
    if is_late {
        note_late(app, &going.task, &going.open, after);
        // Before the command: a kill between the two runs it no second time.
        going.open.timeouts = after.timeouts;
        going.waits.open = Some(going.open.clone());
        if going.order.timeout_command.is_some() && effects.contains(&Effect::TimeoutCommand) {
            late_begins(app, &mut going.waits, going.open.position);
        }
        app.store.write_waits(&going.waiter, &going.waits)?;
    }
    for effect in effects {
        match effect {
            Effect::Take => going.got.extend(mail.clone()),
            Effect::TimeoutCommand => run_timeout_command(app, going, say)?,
            Effect::SetVariables => {
                take_in_vars(app, &going.task, vars_of(going.order.kind, &going.got, going.seen.as_ref()))?;
            }
            Effect::BeginTime => {
                going.open.until = later(app.host.now(), going.order.time_ms).to_string();
                going.waits.open = Some(going.open.clone());
                app.store.write_waits(&going.waiter, &going.waits)?;
                say(&format!("luzia: {} waits once more, until {}", going.task.id, going.open.until));
            }
            Effect::GoOn => {
                forget_answer(app, going.task.id, &going.open, after)?;
                close(app, going)?;
            }
            Effect::EndTask => close(app, going)?,
        }
    }
    Ok(())
}

fn close(app: &App, going: &mut Going) -> Result<(), AppError> {
    close_wait(app, &mut going.waits, &going.open, going.wait.phase, (&going.got, going.seen.clone()));
    Ok(app.store.write_waits(&going.waiter, &going.waits)?)
}

fn ended(app: &App, going: &Going, phase: Phase) -> WaitEnd {
    let id = going.task.id;
    note_going_on(app, &going.task, going.got.last().filter(|_| going.order.kind == WaitKind::Response));
    let is_failed = phase == Phase::Failed;
    let is_timed_out = is_failed || phase == Phase::PassedOver;
    let (mail, output, is_missed) = (going.got.clone(), going.seen.clone(), phase == Phase::Missed);
    WaitEnd { task: id, mail, is_timed_out, is_failed, is_remembered: false, is_missed, output }
}

fn run_timeout_command(app: &App, going: &mut Going, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
    let Some(text) = &going.order.timeout_command else { return Ok(()) };
    let argv = ["/bin/sh".to_owned(), "-c".to_owned(), text.clone()];
    let place = InPlace { argv: &argv, env: &[], cwd: None, has_input: false, held: Vec::new(), output: None };
    let ended = match run_here(app, place, crate::app::locks::lock::Care::default(), &|_| {}) {
        Ok(exit) => {
            let told = told_end(exit);
            if exit != Exit::Code(0) {
                say(&format!("luzia: the command of --timeout-do: {told}"));
            }
            told
        }
        Err(error) => {
            say(&format!("luzia: the command of --timeout-do was not run: {error}"));
            format!("it was not run: {error}")
        }
    };
    late_ended(&mut going.waits, ended);
    Ok(app.store.write_waits(&going.waiter, &going.waits)?)
}

/// Returns when a task has all its lanes in this start. `say` gets one message if that takes time.
fn come_back(app: &App, id: TaskId, start: u64, say: &mut dyn FnMut(&str)) -> Result<(), AppError> {
    let (mut changes, mut asked_ms, mut is_told) = (app.run_dir.watch(id), None, false);
    while let Some(lanes) = app.run_dir.away(id, u32::try_from(start).unwrap_or(u32::MAX))? {
        if let Some(signal) = app.host.procs.asked_to_end() {
            // The supervisor stops a process that goes on without its slots.
            return Err(die_of(app, signal));
        }
        let now = app.host.boot_ms();
        let passed = asked_ms.map(|asked: u64| now.saturating_sub(asked));
        if passed.is_none_or(|passed| passed >= REMIND_MS) {
            wake_supervisor(app, id)?;
            asked_ms = Some(now);
        } else if !is_told && passed.is_some_and(|passed| passed >= SILENT_MS) {
            let lanes: Vec<String> = lanes.iter().map(LaneName::to_string).collect();
            say(&format!("luzia: {id} has what it waited for, and waits for its place in {}", lanes.join(", ")));
            is_told = true;
        }
        changes.wait(Duration::from_millis(if is_told { REMIND_MS } else { SILENT_MS }));
    }
    Ok(())
}

/// For a process that a signal asks to end. Its wait stays as it is, the task takes its slots back, and then the process ends.
/// Does not return if no signal came.
fn leave(app: &App, (id, start): (TaskId, u64), signal: i32, waiter: Waiter) -> Result<AppError, AppError> {
    if !is_ending(app)? {
        app.store.leave_wait(waiter)?;
        come_back(app, id, start, &mut |_| {})?;
    }
    Ok(die_of(app, signal))
}

fn later(now: Timestamp, ms: u64) -> Timestamp {
    now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX))
}

fn waits_already(id: TaskId, error: StoreError) -> AppError {
    match error {
        StoreError::FileBusy { .. } => {
            AppError::new(Code::WaitsAlready, format!("another process of {id} waits already"))
                .hint("a task waits for one thing at a time")
        }
        other => other.into(),
    }
}

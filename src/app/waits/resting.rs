//! Tasks that wait without a process: each pass, and each process that sends an event, looks at those whose timer rang. The table
//! of a wait decides, as for a process that waits. Its decision is durable before anything depends on it.

use super::came::{
    answer_of, as_wait, forget_answer, is_meant, late_begins, late_ended, note_late, take_in_vars, tell_lost, vars_of,
};
use super::output::{Looked as Output, OutputReader};
use crate::app::config_reload::config;
use crate::app::lifecycle::{ask_borrowers, end_taken};
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

/// Number of looks for a task at which another process looks, and the pause between two tries.
const MOST_LOOKS: u32 = 40;
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The result of a look at a waiting task.
pub(crate) enum Looked {
    /// The task waits, or another process acts for it.
    Waits,
    /// The task has what it waited for, or goes on without it: it needs its lanes.
    Ready,
    /// The time of the wait has run out, and the wait is over.
    Over,
    /// A command must run first, for which the task needs a supervisor: its `supervisor.lock`.
    NeedsCommand(Hold),
}

/// The state of a wait.
enum Judged {
    Waits,
    Ready,
    TimedOut,
    Command,
}

/// The lanes that a task keeps while it waits without a process (X3).
pub(crate) fn lanes_kept(app: &App, task: &Task) -> Vec<String> {
    task.all_lanes().iter().filter(|lane| is_kept_in_wait(app, lane)).map(LaneName::to_string).collect()
}

/// Whether a lane is kept while its task waits without a process.
pub(crate) fn is_kept_in_wait(app: &App, lane: &LaneName) -> bool {
    config(app).keeps(lane) == Keeps::Keep
}

/// Looks at a waiting task whose timers of `due` rang. `may_run`: this process is a supervisor, and may run a command.
pub(crate) fn look_at_wait(app: &App, id: TaskId, due: &[Timestamp], may_run: bool) -> Result<Looked, AppError> {
    for _ in 0..MOST_LOOKS {
        match app.store.take_waiting(id)? {
            Removed::Taken(task, lock) => return look_at_taken(app, &task, lock, due, may_run),
            Removed::NotPending => break,
            // Another process looks at it, perhaps since before the event came.
            Removed::Busy => app.host.sleep(LOOK_AGAIN),
        }
    }
    Ok(Looked::Waits)
}

/// Like `look_at_wait`, for a task whose lock this process has.
pub(crate) fn look_at_taken(
    app: &App,
    task: &Task,
    lock: Hold,
    due: &[Timestamp],
    may_run: bool,
) -> Result<Looked, AppError> {
    match judge_wait(app, task, due, may_run) {
        Ok(Judged::TimedOut) => end_taken(app, task, lock, &Happened::WaitedTooLong).map(|_| Looked::Over),
        Ok(Judged::Command) => Ok(Looked::NeedsCommand(lock)),
        Ok(Judged::Waits) => app.store.stay_waiting(task.id, lock).map(|()| Looked::Waits).map_err(Into::into),
        Ok(Judged::Ready) => app.store.stay_waiting(task.id, lock).map(|()| Looked::Ready).map_err(Into::into),
        Err(AppErrorOr::Lost(why)) => {
            let happened = Happened::NotStarted(125, format!("the record of its wait cannot be read: {why}"));
            end_taken(app, task, lock, &happened).map(|_| Looked::Over)
        }
        Err(AppErrorOr::Error(error)) => {
            app.store.stay_waiting(task.id, lock)?;
            Err(error)
        }
    }
}

fn judge_wait(app: &App, task: &Task, due: &[Timestamp], may_run: bool) -> Result<Judged, AppErrorOr> {
    let id = task.id;
    let mut waits = match app.store.waits(id) {
        Err(wrong @ StoreError::Corrupt { .. }) => return Err(AppErrorOr::Lost(wrong.to_string())),
        waits => waits?,
    };
    if tell_lost(app, task, &mut waits) {
        write(app, id, &waits)?;
    }
    loop {
        let Some(open) = waits.open.clone() else {
            return Ok(if waits.is_failed() { Judged::TimedOut } else { Judged::Ready });
        };
        let numbers = app.store.mail_numbers(id)?;
        let (mut wait, mut got) = (as_wait(&open), Vec::new());
        let used: Vec<u64> = waits.done.iter().flat_map(|done| done.mail.iter().copied()).collect();
        for number in numbers.iter().filter(|number| !used.contains(number)) {
            if wait.phase != Phase::Waiting {
                break;
            }
            let Some(mail) = app.store.mail(id, *number)?.filter(|mail| is_meant(mail, &open)) else { continue };
            if let Some((after, _)) = next(wait, WaitEvent::Match) {
                wait = after;
                got.push(mail);
            }
        }
        let (seen, again) = see_output(app, task, &mut waits, &open, &mut wait)?;
        if matches!(wait.phase, Phase::Resumed | Phase::Missed) {
            resume_ready(app, task, &mut waits, &open, (&got, seen), wait)?;
            return Ok(Judged::Ready);
        }
        let until = Timestamp::parse(&open.until).unwrap_or(Timestamp::FIRST);
        if lifecycle::decide(task.status(), Trigger::TimeOut, app.host.now(), Some(until)).is_none() {
            if let Some(again) = again {
                app.store.set_timer(&Timer::of(id, again))?;
            }
            if app.store.has_rest(id, due, &numbers)? {
                return Ok(Judged::Waits);
            }
            // An event came meanwhile.
            continue;
        }
        if let Some(judged) = time_up(app, task, &mut waits, &open, (wait, &got), may_run)? {
            return Ok(judged);
        }
    }
}

/// Looks at the output that is waited for; returns the end of the wait, or the moment of the next look.
fn see_output(
    app: &App,
    task: &Task,
    waits: &mut Waits,
    open: &OpenWait,
    wait: &mut Wait,
) -> Result<(Option<OutputEnd>, Option<Timestamp>), AppErrorOr> {
    let Some(watch) = open.output.as_ref().filter(|_| wait.phase == Phase::Waiting) else {
        return Ok((None, None));
    };
    let mut reader = OutputReader::new(watch).map_err(AppErrorOr::Lost)?;
    match reader.look(app) {
        Output::Over(event, end) => {
            if let Some((after, _)) = next(*wait, event) {
                *wait = after;
            }
            Ok((Some(end), None))
        }
        Output::Again(ms) => {
            if let Some(from) = reader.progress() {
                let output = Some(crate::store::OutputWatch { from, ..watch.clone() });
                write_open(app, task.id, waits, &OpenWait { output, ..open.clone() })?;
            }
            Ok((None, Some(app.host.now().plus_ms(i64::try_from(ms).unwrap_or(i64::MAX)))))
        }
    }
}

/// Acts on the end of the time; `None` if a further time has begun.
fn time_up(
    app: &App,
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
        note_late(app, task, open, after);
    }
    let mut open = OpenWait { timeouts: after.timeouts, ..open.clone() };
    if let Some(command) = command {
        late_begins(app, waits, open.position);
        // Just before it starts: a kill between the two runs it no second time, and one before runs it.
        let mut begin = || write_open(app, task.id, waits, &open);
        let ended = run_beside(&app.site(), app.config_path.as_deref(), task, command, &mut begin)?;
        late_ended(waits, ended);
        write_open(app, task.id, waits, &open)?;
    } else if after.timeouts > wait.timeouts {
        write_open(app, task.id, waits, &open)?;
    }
    if effects.contains(&Effect::BeginTime) {
        let until = app.host.now().plus_ms(i64::try_from(open.time_ms).unwrap_or(i64::MAX));
        open.until = until.to_string();
        app.store.set_timer(&Timer::of(task.id, until))?;
        write_open(app, task.id, waits, &open)?;
        if let Some(kept) = task.wait() {
            app.store.keep_for_wait(task, &crate::model::task::TaskWait { until, ..kept.clone() })?;
        }
        return Ok(None);
    }
    // No child works in the lanes of a task that goes on (decision 256).
    ask_borrowers(app, task)?;
    forget_answer(app, task.id, &open, after)?;
    if effects.contains(&Effect::EndTask) {
        close_wait(app, waits, &open, after.phase, (&[], None));
        write(app, task.id, waits)?;
        return Ok(Some(Judged::TimedOut));
    }
    resume_ready(app, task, waits, &open, (got, None), after)?;
    Ok(Some(Judged::Ready))
}

fn write_open(app: &App, id: TaskId, waits: &mut Waits, open: &OpenWait) -> Result<(), StoreError> {
    waits.open = Some(open.clone());
    write(app, id, waits)
}

fn write(app: &App, id: TaskId, waits: &Waits) -> Result<(), StoreError> {
    let waiter = app.store.begin_wait(id)?;
    app.store.write_waits(&waiter, waits)
}

/// Records that the wait is over, its variables first: until the wait is closed, all of this is done again.
fn resume_ready(
    app: &App,
    task: &Task,
    waits: &mut Waits,
    open: &OpenWait,
    (got, seen): (&[Mail], Option<OutputEnd>),
    wait: Wait,
) -> Result<(), AppErrorOr> {
    if let (Phase::Resumed, Some(kind)) = (wait.phase, WaitKind::parse(&open.kind)) {
        let new = vars_of(kind, got, seen.as_ref());
        take_in_vars(app, task, new)?;
    }
    close_wait(app, waits, open, wait.phase, (got, seen));
    write(app, task.id, waits)?;
    app.store.note(&Event::of("resume_ready", task).with(json!({ "waited_for": open.kind })));
    Ok(())
}

/// Notes in the waits of a task that a wait is over. A retry of the task asks anew for a wait that ended the task.
pub(crate) fn close_wait(
    app: &App,
    waits: &mut Waits,
    open: &OpenWait,
    phase: Phase,
    (got, output): (&[Mail], Option<OutputEnd>),
) {
    waits.open = None;
    waits.failed_in = (phase == Phase::Failed).then_some(waits.start);
    waits.done.extend((phase != Phase::Failed).then(|| DoneWait {
        kind: open.kind.clone(),
        event: open.event.clone(),
        mail: got.iter().map(|mail| mail.number).collect(),
        is_timed_out: phase == Phase::PassedOver,
        at: app.host.now().to_string(),
        is_missed: phase == Phase::Missed,
        output,
        key: open.key.clone(),
        turn: open.turn,
    }));
}

/// Reports that a waiting task has its lanes again.
pub(crate) fn note_resumed(app: &App, task: &Task) {
    let last = app.store.waits(task.id).ok().and_then(|waits| waits.done.last().cloned());
    let mail = last.filter(|done| done.kind == WaitKind::Response.word()).and_then(|done| done.mail.last().copied());
    let mail = mail.and_then(|number| app.store.mail(task.id, number).ok().flatten());
    note_going_on(app, task, mail.as_ref());
}

/// Reports that a task goes on after a wait, in the words and the order of S1.47. `response` is the mail that ended a wait for a
/// response.
pub(crate) fn note_going_on(app: &App, task: &Task, response: Option<&Mail>) {
    let note = |name, text: String| app.store.note(&Event::of(name, task).saying(text));
    note("resumed", format!("Resuming execution {}", task.id.0));
    let said = response.map_or_else(String::new, |mail| {
        let text: String = var_text(&answer_of(mail)).chars().take(200).collect();
        format!(", lastResponse={text:?}")
    });
    note("state_updated", format!("Updating state: shouldWait=false{said}"));
    note("continued", "Continuing from checkpoint".to_owned());
}

/// An error, or a wait whose facts cannot be found out any more.
enum AppErrorOr {
    Error(AppError),
    Lost(String),
}

impl<E: Into<AppError>> From<E> for AppErrorOr {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

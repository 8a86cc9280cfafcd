//! `run`: enqueue, dispatch if need be, stream the output, and end as the command ended.

pub(crate) mod batch;
mod shared;
mod standby;

use super::enqueue::after_accepting;
use crate::app::admission::own_context;
use crate::app::admission::turns::position;
use crate::app::config_reload::config;
use crate::app::estimate::{Estimate, QUICK, expected};
use crate::app::hooks::hand_hooks_over_telling;
use crate::app::lifecycle::Accepted;
use crate::app::lifecycle::{cancel_pending, request_end};
use crate::app::loans::{end_loans, lend_to};
use crate::app::pass::daemon::{is_passing, pass_patiently};
use crate::app::pass::pass;
use crate::app::query::cycles::await_in_locks;
use crate::app::query::details::standstill;
use crate::app::query::explain::first_obstacle;
use crate::app::query::logs::copy_logs;
use crate::app::waits::tail::{Pace, Piece, Stream, Tail};
use crate::app::{App, AppError, Code, Kind};
use crate::model::{Status, Task, TaskId};
use crate::policy::admission::Obstacle;
use crate::store::{CancelRequest, Changes, Duty, Lending, Presence};
use standby::stand_by;
use std::time::Duration;

/// The shortest rest of a `run` on standby between two reports.
const SHORTEST_REST: Duration = Duration::from_millis(100);

/// The wish of the user of `run`; asked between two steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Go on.
    GoOn,
    /// The reader of the output has gone: cancel, as SIGPIPE ends a command in a pipeline.
    Unread,
    /// Another process has queued the task, or waits for it: leave it alone.
    Leave,
    /// The first Ctrl-C: cancel with the grace.
    Cancel,
    /// The second: kill.
    Kill,
}

/// The user of a `run`, as `run` talks to it.
pub trait Audience {
    /// Output of the command. False when not all of it could be passed on yet; the rest is kept for the
    /// next call.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> bool;
    /// Some bytes of a stream were dropped from the log before they could be passed on.
    fn dropped(&mut self, stream: Stream, bytes: u64);
    /// The task changed its state, or waits for another reason than before.
    /// `place` is that of a pending task that waits for something.
    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>, place: Option<&InQueue>);
    /// The error of something that is tried again.
    fn failed(&mut self, error: &AppError);
    /// The wish of the user.
    fn wish(&mut self) -> Wish;
    /// The time after which a task that waits is reported again, although nothing has changed.
    fn again(&mut self) -> Option<Duration> {
        None
    }
    /// So many tasks of several are over.
    fn over(&mut self, _over: usize, _all: usize) {}
    /// Whether this process waits on, by a later call, for a task that it leaves alone now.
    fn waits_on(&self) -> bool {
        false
    }
}

/// The place of a waiting task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InQueue {
    /// The place of the task among those of its user, from 1.
    pub position: u64,
    /// The expected start of the task.
    pub estimate: Option<Estimate>,
}

/// The state of a `run` that waits for the end of its task.
struct Seat {
    presence: Option<Presence>,
    duty: Option<Duty>,
    changes: Option<Changes>,
    looked_ms: u64,
    /// The obstacle of a running task, as of the last look.
    shortage: Option<Obstacle>,
}

/// For `run --no-wait`: makes a pass, and takes the task out of the queue again if the pass did not start it. Returns that task
/// and its obstacle.
pub fn start_or_take_back(app: &App, id: TaskId) -> Result<Option<(Task, Obstacle)>, AppError> {
    if let Some(fleet) = &app.fleet {
        return shared::start_or_take_back(app, &**fleet, id);
    }
    pass(app)?;
    let task = app.existing(id)?;
    let mut status = task.status();
    // A dispatcher that tries the task holds its lock for a moment, and lets go of it when a lane is held.
    while status == Status::Pending {
        let obstacle = first_obstacle(app, &task)?;
        if cancel_pending(app, id, &CancelRequest::by("run --no-wait", "it could not start at once"))?.is_some() {
            return Ok(Some((task, obstacle.unwrap_or(Obstacle::Priority { ahead: 0 }))));
        }
        status = app.existing(id)?.status();
    }
    Ok(None)
}

/// For `run --no-wait` that has met a task with its key: makes a pass, and returns the task, with its obstacle if it has not
/// started. The task stays where it is.
pub fn start_or_leave(app: &App, id: TaskId) -> Result<Option<(Task, Option<Obstacle>)>, AppError> {
    if let Some(fleet) = &app.fleet {
        return shared::start_or_leave(app, &**fleet, id);
    }
    pass(app)?;
    let task = app.existing(id)?;
    let obstacle = match task.status() {
        Status::Pending => first_obstacle(app, &task)?,
        Status::Waiting => None,
        _ => return Ok(None),
    };
    Ok(Some((task, obstacle)))
}

/// Whether others wait for the end of a task by its key.
pub fn is_followed(app: &App, id: TaskId) -> bool {
    app.store.is_followed(id).unwrap_or(false)
}

/// Records that this process waits for a task that it has met by its key, as long as it keeps the result. An interrupt of another
/// process does not end such a task.
pub fn follow(app: &App, accepted: &Accepted) -> Result<Option<Lending>, AppError> {
    let is_met = app.fleet.is_none() && !accepted.created && !accepted.task.status().is_final();
    Ok(is_met.then(|| app.store.follow(accepted.task.id)).transpose()?)
}

/// The messages of a task's events, in the words of their source, for `-v`.
pub fn event_messages(app: &App, id: TaskId, since: crate::model::Timestamp) -> Result<Vec<String>, AppError> {
    let name = id.to_string();
    let is_its = |line: &serde_json::Value| line.get("task").and_then(|task| task.as_str()) == Some(name.as_str());
    let events = app.store.events_since(since)?;
    let messages = events.iter().filter(|event| is_its(&event.line)).filter_map(|event| event.line.get("message"));
    Ok(messages.filter_map(|message| message.as_str()).map(str::to_owned).collect())
}

/// Sees an accepted task to its end: dispatches while it waits, passes its output on, carries out wishes. Returns the task as it
/// is if it is to be left.
pub fn see_through(app: &App, id: TaskId, group_output: bool, audience: &mut dyn Audience) -> Result<Task, AppError> {
    watch_over(app, id, group_output, audience).map_err(|error| after_accepting(app, id, error))
}

fn watch_over(app: &App, id: TaskId, group_output: bool, audience: &mut dyn Audience) -> Result<Task, AppError> {
    let mut tails = [Tail::new(Stream::Out), Tail::new(Stream::Err)];
    let _awaited = await_in_locks(app, &[id])?;
    let lent = lend_to(app, std::iter::once(id))?;
    let changes = Some(app.store.watch());
    let mut seat = Seat { presence: None, duty: None, changes, looked_ms: app.host.boot_ms(), shortage: None };
    let mut pace = Pace::new(app.host.boot_ms());
    let mut told = None;
    let mut wished = Wish::GoOn;
    loop {
        hand_hooks_over_telling(app, &mut |error| audience.failed(error));
        let wish = match audience.wish() {
            Wish::Unread | Wish::Cancel | Wish::Kill if is_followed(app, id) => Wish::Leave,
            wish => wish,
        };
        // A wish that came while an attempt came to its end is carried out again before the next one.
        let is_new = wish != wished || wish != Wish::GoOn && app.existing(id)?.status() == Status::Pending;
        if is_new && carry_out_or_tell(app, id, wish, audience)? {
            wished = wish;
        }
        let mut task = app.existing(id)?;
        if wish == Wish::Leave {
            if audience.waits_on() {
                // Until this process ends.
                std::mem::forget(lent);
            } else {
                end_loans(app, lent, false, None)?;
            }
            return Ok(task);
        }
        let is_waiting = wish == wished && told.is_some_and(|(status, _)| status == Status::Pending);
        if task.status() != Status::Pending {
            task = look_after(app, task, &mut seat, audience)?;
        } else if dispatch_or_stand_by(app, &task, &mut seat, is_waiting.then_some(wished), audience)? {
            task = app.existing(id)?;
        } else {
            continue;
        }
        let obstacle = obstacle_of(app, &task, &seat)?;
        let word = (task.status(), obstacle.as_ref().map(Obstacle::word));
        let is_first = told.is_none();
        if told.replace(word) != Some(word) {
            let place = place_of(app, &task, obstacle.as_ref(), is_first)?;
            audience.progress(&task, obstacle.as_ref(), place.as_ref());
        } else {
            report_again(app, &task, audience);
        }
        let may_print = (!group_output || task.status().is_final()) && wished != Wish::Unread;
        let mut is_told = true;
        if may_print {
            // A command may write faster than its output can be passed on: the wish of its user does not wait for that.
            let kept_wish = (!task.status().is_final()).then_some(wished);
            is_told = pass_logs_on(app, &task, &mut tails, kept_wish, audience)?;
        }
        if task.status().is_final() && (is_told || wished == Wish::Kill) {
            end_loans(app, lent, true, None)?;
            return Ok(task);
        }
        let is_patient = task.status() == Status::Pending && audience.wish() == wished;
        if !is_told || wish != wished {
            // It is tried again soon.
            pace = Pace::new(app.host.boot_ms());
        }
        let paced = pace.pause_ms(tails.iter().map(Tail::at).sum(), app.host.boot_ms());
        let pause = Duration::from_millis(if is_patient { config(app).poll_interval_ms.clamp(1, 1000) } else { paced });
        seat.changes.get_or_insert_with(|| app.store.watch()).wait(pause);
    }
}

/// The place of a waiting task; with an estimate if that is asked for and costs little.
pub fn place_of(
    app: &App,
    task: &Task,
    obstacle: Option<&Obstacle>,
    estimates: bool,
) -> Result<Option<InQueue>, AppError> {
    let Some(obstacle) = obstacle.filter(|_| task.status() == Status::Pending) else { return Ok(None) };
    let position = position(app, task)?.saturating_add(1);
    // An estimate is a courtesy: an error there does not fail the verb.
    let estimate =
        if estimates { expected(app, task, std::slice::from_ref(obstacle), QUICK).ok().flatten() } else { None };
    Ok(Some(InQueue { position, estimate }))
}

/// Reports a task that waits again, if its audience wants that by now. An error is left to the next look at the task.
fn report_again(app: &App, task: &Task, audience: &mut dyn Audience) {
    if task.status() != Status::Pending || audience.again() != Some(Duration::ZERO) {
        return;
    }
    let Ok(obstacle) = first_obstacle(app, task) else { return };
    if let Ok(place) = place_of(app, task, obstacle.as_ref(), true) {
        audience.progress(task, obstacle.as_ref(), place.as_ref());
    }
}

/// One round for a task that waits: a pass, or a wait while another `run` has the duty. False if nothing was tried and the caller
/// is to look again. `wished` is the wish of the user while the wait may go on.
fn dispatch_or_stand_by(
    app: &App,
    task: &Task,
    seat: &mut Seat,
    wished: Option<Wish>,
    audience: &mut dyn Audience,
) -> Result<bool, AppError> {
    if seat.presence.is_none() {
        // A file that stays locked keeps no `run` from dispatching; it is tried again in the next round.
        seat.presence = patiently(app.store.join_dispatchers(own_context(app).0.id()), audience)?;
    }
    if seat.duty.is_none() {
        seat.duty = app.store.try_duty(own_context(app).0.id())?;
    }
    if let (None, Some(wished)) = (&seat.duty, wished) {
        seat.changes = None;
        let mut stays = || {
            report_again(app, task, audience);
            // A report that failed is tried again, but not at once.
            (audience.wish() == wished).then(|| audience.again().map_or(Duration::MAX, |left| left.max(SHORTEST_REST)))
        };
        if stand_by(app, task, &mut seat.duty, &mut stays)? {
            return Ok(false);
        }
    }
    if let (Some(duty), Some(_)) = (&mut seat.duty, wished) {
        app.store.show_duty(duty, own_context(app).0.id());
    }
    seat.changes.get_or_insert_with(|| app.store.watch());
    // A pass at once, and again whenever something may have changed.
    pass_beside(app, task.id, audience)?;
    Ok(true)
}

/// A pass in which the tasks of others may fail: a task that has left the queue is followed all the same.
fn pass_beside(app: &App, id: TaskId, audience: &mut dyn Audience) -> Result<(), AppError> {
    match pass_patiently(app, is_passing, &mut |error| audience.failed(error)) {
        Err(error) if app.existing(id)?.status() != Status::Pending => audience.failed(&error),
        other => drop(other?),
    }
    Ok(())
}

/// One round for a task that has left the queue. Its `run` makes no passes for others and does not count as a
/// dispatcher.
fn look_after(app: &App, task: Task, seat: &mut Seat, audience: &mut dyn Audience) -> Result<Task, AppError> {
    seat.presence = None;
    if seat.duty.take().is_some() {
        // A `run` that found the duty taken relies on a pass after its record appeared.
        pass_beside(app, task.id, audience)?;
    }
    if app.host.boot_ms().saturating_sub(seat.looked_ms) < config(app).poll_interval_ms {
        return Ok(task);
    }
    seat.looked_ms = app.host.boot_ms();
    // Its supervisor may be dead, and nothing on disk changes by that: only this look notices it.
    let task = if task.status().is_final() || app.run_dir.is_supervised(task.id)? {
        task
    } else {
        pass_patiently(app, is_passing, &mut |error| audience.failed(error))?;
        app.existing(task.id)?
    };
    seat.shortage = standstill(app, &task)?;
    Ok(task)
}

/// The obstacle of a pending task, or of a running one. It is unknown while a file stays locked.
fn obstacle_of(app: &App, task: &Task, seat: &Seat) -> Result<Option<Obstacle>, AppError> {
    match task.status() {
        Status::Pending => {}
        Status::Running => return Ok(seat.shortage.clone()),
        _ => return Ok(None),
    }
    match first_obstacle(app, task) {
        Err(error) if is_busy(&error) => Ok(None),
        other => other,
    }
}

/// `None`, and a message to the user, if another process keeps a file locked. The task was accepted, so this never ends its
/// `run`.
fn patiently<T, E: Into<AppError>>(result: Result<T, E>, audience: &mut dyn Audience) -> Result<Option<T>, AppError> {
    match result.map_err(Into::into) {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_busy(&error) => {
            audience.failed(&error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Passes on the output of a task since the last call; stops if the user wants something else than `wished`. False if not all of
/// it could be passed on: `tails` and `audience` keep the rest.
fn pass_logs_on(
    app: &App,
    task: &Task,
    tails: &mut [Tail],
    wished: Option<Wish>,
    audience: &mut dyn Audience,
) -> Result<bool, AppError> {
    // A task that never started has no logs, and perhaps no directory for them.
    if task.last_start.is_none() {
        return Ok(true);
    }
    let mut sink = |piece: Piece<'_>| {
        match piece {
            Piece::Bytes { stream, bytes, .. } if !audience.output(stream, bytes) => return false,
            Piece::Dropped { stream, bytes } => audience.dropped(stream, bytes),
            Piece::Bytes { .. } | Piece::Attempt { .. } => {}
        }
        wished.is_none_or(|wished| audience.wish() == wished)
    };
    // Output that the audience kept from the last call goes first.
    let nothing = Piece::Bytes { stream: Stream::Out, bytes: b"", attempt: 0, at: task.created_at };
    Ok(sink(nothing) && copy_logs(app, task, tails, &mut sink)?)
}

/// Carries out a wish, or reports the error; false if it must be tried again.
fn carry_out_or_tell(app: &App, id: TaskId, wish: Wish, audience: &mut dyn Audience) -> Result<bool, AppError> {
    match carry_out(app, id, wish) {
        Err(error) if is_busy(&error) => {
            audience.failed(&error);
            Ok(false)
        }
        // A user who wants to leave is not kept.
        Err(error) if wish == Wish::Unread && matches!(error.kind(), Kind::Io | Kind::CannotCreate) => {
            audience.failed(&after_accepting(app, id, error));
            Ok(false)
        }
        other => other,
    }
}

/// Carries out a wish; false if it must be tried again.
fn carry_out(app: &App, id: TaskId, wish: Wish) -> Result<bool, AppError> {
    let (reason, grace_ms) = match wish {
        Wish::GoOn | Wish::Leave => return Ok(true),
        Wish::Unread => ("nobody reads its output any more", None),
        Wish::Cancel => ("interrupted by its user", None),
        Wish::Kill => ("interrupted by its user", Some(0)),
    };
    // The end itself is seen by the loop of the caller; here the request is only made.
    match request_end(app, id, &CancelRequest { grace_ms, ..CancelRequest::by("run", reason) }) {
        Err(error) if error.code() == Code::TaskOver => Ok(true),
        other => other,
    }
}

/// Whether another process keeps a file locked that is to be locked only for an instant.
pub(crate) fn is_busy(error: &AppError) -> bool {
    error.kind() == Kind::Busy
}

//! `dispatch --drain`: passes until nothing is left that this dispatcher waits for.
//! `drain` waits for no task that waits for an event, and for no task that a schedule has made since it began: both may go on for
//! ever. `Ends` reports the tasks that have ended while a dispatcher drains, including those that others started.

use crate::app::admission::{is_near, may_start, own_context};
use crate::app::hooks::hand_hooks_over_telling;
use crate::app::lifecycle::Pass;
use crate::app::pass::daemon::{Log, Rhythm, is_passing, pass_patiently, until};
use crate::app::queue::inside::refuse_draining_inside;
use crate::app::waits::came::is_meant;
use crate::app::waits::{open_wait, unused_mail};
use crate::app::{App, AppError, config_reload};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::drain::{Stand, is_awaited};
use crate::policy::hold::pause_of;
use crate::policy::steps::waits::WaitKind;
use crate::store::EventReader;
use std::collections::BTreeSet;
use std::time::Duration;

/// Longest sleep of a draining dispatcher between two looks.
const DRAIN_PAUSE: Duration = Duration::from_millis(250);

/// Dispatches until nothing is left that a drain waits for (`policy::drain`).
pub fn drain(app: &App, log: &mut dyn Log) -> Result<(), AppError> {
    if !app.store.is_there() {
        // Nothing was ever queued here.
        return Ok(());
    }
    app.store.prepare()?;
    let _presence = app.store.join_dispatchers(own_context(app).0.id())?;
    let (begun, mut rhythm) = (app.host.now(), Rhythm::new(&app.site()));
    let (mut ends, mut tell_ms) = (Ends::begin(app)?, 0);
    while !log.is_ended() {
        let Some(pass) = pass_patiently(app, is_passing, &mut |error| log.failed(error))? else { continue };
        log.pass(&pass);
        hand_hooks_over_telling(app, &mut |error| log.failed(error));
        if pass.is_quiet() && is_drained(app, &pass, begun)? {
            return ends.finish(app, &mut |task| log.ended(task));
        }
        ends.look(app, &mut |task| log.ended(task))?;
        if app.host.boot_ms() >= tell_ms {
            let interval_ms = u64::try_from(log.interval().as_millis()).unwrap_or(u64::MAX);
            tell_ms = app.host.boot_ms().saturating_add(interval_ms);
            let counts = app.store.counts()?;
            log.waits(app.store.in_flight()?.len(), counts.pending.iter().sum::<u64>() + counts.parked);
        }
        refuse_draining_inside(app)?;
        let pause = until(pass.next_due, app.host.now(), DRAIN_PAUSE);
        rhythm.wait(&app.site(), pause, pass.is_quiet());
    }
    ends.finish(app, &mut |task| log.ended(task))
}

fn is_drained(app: &App, pass: &Pass, begun: Timestamp) -> Result<bool, AppError> {
    let inside = app.inside.as_ref().map(|inside| inside.task);
    // A task that only a process elsewhere can recover is not waited for: this dispatcher would wait for ever.
    let is_left =
        |id| pass.left.iter().any(|left| left.task == id) || pass.unseen.iter().any(|unseen| unseen.task == id);
    for id in app.store.in_flight()? {
        if Some(id) != inside && !is_left(id) && is_run_awaited(app, id, begun)? {
            return Ok(false);
        }
    }
    // An empty folder that a crash left is no task, so apparent work is counted before it is waited for. A task that only a newer
    // luzia or a pass in another sandbox can start is not waited for.
    let blocked: u64 = pass.left.iter().map(|left| left.blocked).sum();
    let counts = |queue: &str| is_near(app, queue).unwrap_or(true);
    let has_pending = !app.store.is_queue_empty()? && app.store.has_more_waiting_than(blocked, &counts)?;
    let is_awaited = (has_pending && has_awaited_among(app, app.store.pending_tasks(None)?, begun)?)
        || has_awaited_among(app, app.store.started_tasks(), begun)?;
    Ok(!is_awaited)
}

/// Whether a task in flight is waited for. A task whose record is damaged may run.
fn is_run_awaited(app: &App, id: TaskId, begun: Timestamp) -> Result<bool, AppError> {
    match app.find(id) {
        Ok(Some((_, task))) => awaits(app, &task, begun),
        Ok(None) | Err(_) => Ok(true),
    }
}

/// Whether a draining dispatcher waits for one of these tasks. It stops at the first.
fn has_awaited_among(
    app: &App,
    tasks: impl Iterator<Item = Result<Task, crate::store::StoreError>>,
    begun: Timestamp,
) -> Result<bool, AppError> {
    let (control, now) = (config_reload::control(app), app.host.now());
    for task in tasks {
        // A task that is damaged, or that starts elsewhere, was reported or counted before.
        let Ok(task) = task else { continue };
        if task.status() == Status::Running || pause_of(&task, &control.holds, now).is_some() || !may_start(app, &task)
        {
            continue;
        }
        if awaits(app, &task, begun)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn awaits(app: &App, task: &Task, begun: Timestamp) -> Result<bool, AppError> {
    let made = task.schedule.as_ref().map(|_| task.created_at);
    Ok(is_awaited(stand_of(app, task)?, made, begun))
}

/// The state of a task towards the event that it waits for.
fn stand_of(app: &App, task: &Task) -> Result<Stand, AppError> {
    let open = match open_wait(app, task.id) {
        // A damaged wait keeps no drain from its end: the next look at it ends the task.
        Err(error) if error.is_damage() => return Ok(Stand::WaitsForEvent),
        open => open?,
    };
    let Some(open) = open else { return Ok(Stand::Goes) };
    let is_late = Timestamp::parse(&open.until).is_some_and(|until| until <= app.host.now());
    if is_late || WaitKind::parse(&open.kind) == Some(WaitKind::Delay) {
        return Ok(Stand::Goes);
    }
    let waits = app.store.waits(task.id).unwrap_or_default();
    let came = unused_mail(app, task.id, &waits)?.iter().filter(|mail| is_meant(mail, &open)).count();
    // A task with all that it waits for is about to go on.
    Ok(if u32::try_from(came).unwrap_or(u32::MAX) >= open.expect.max(1) { Stand::Goes } else { Stand::WaitsForEvent })
}

/// The tasks that were over already, or were reported.
struct Ends {
    seen: BTreeSet<TaskId>,
    /// The first day whose finished tasks are looked through.
    first_day: String,
    events: EventReader,
}

impl Ends {
    /// From now on.
    fn begin(app: &App) -> Result<Self, AppError> {
        let first_day = app.host.now().day();
        let events = app.store.follow_events()?;
        Ok(Self { seen: app.store.done_since(&first_day)?.into_iter().collect(), first_day, events })
    }

    /// Reports the tasks whose ends are in the events. An event may be lost; [`Ends::finish`] reports the rest.
    fn look(&mut self, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        let mut events = Vec::new();
        app.store.read_on(&mut self.events, &mut |event| {
            events.push(event);
            true
        })?;
        for event in events {
            let word = |member: &str| event.line.get(member).and_then(serde_json::Value::as_str);
            if matches!(word("event"), Some("finished" | "cancelled"))
                && let Some(id) = word("task").and_then(TaskId::parse)
            {
                self.tell(id, app, tell)?;
            }
        }
        Ok(())
    }

    /// Reports every task that has ended since, by the records.
    fn finish(mut self, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        self.look(app, tell)?;
        for id in app.store.done_since(&self.first_day)? {
            self.tell(id, app, tell)?;
        }
        Ok(())
    }

    fn tell(&mut self, id: TaskId, app: &App, tell: &mut dyn FnMut(&Task)) -> Result<(), AppError> {
        if self.seen.contains(&id) {
            return Ok(());
        }
        // A record that was pruned, or is damaged, has no end to report.
        let found = app.store.find_description(id).ok().flatten();
        if let Some((_, task)) = found.filter(|(_, task)| task.status().is_final()) {
            self.seen.insert(id);
            tell(&task);
        }
        Ok(())
    }
}

//! The part of a pass for schedules whose timers fired: each slot makes exactly one task, however many processes look, and
//! however often.

use crate::app::cron::{enqueued, pattern_of};
use crate::app::lifecycle::Pass;
use crate::app::queue::terms::with_ruled_lanes;
use crate::app::{App, AppError, config_reload};
use crate::model::calendar::{Made, Schedule};
use crate::model::{ScheduleKey, Timer, Timestamp};
use crate::policy::cron::{MOST_AT_ONCE, SlotPlan, due, plan};
use crate::store::{Event, ScheduleBook, StoreError};
use serde_json::json;

/// Time until a look that failed is made again, in milliseconds.
const AGAIN_MS: i64 = 1000;
/// Time until a schedule of a newer luzia is looked at again, in milliseconds.
const NEWER_AGAIN_MS: i64 = 60_000;

/// Makes the tasks of slots that are due, and returns the moment of the next slot of these schedules. A damaged schedule is
/// set aside. A failure stops neither the other schedules nor the pass.
pub(crate) fn make_due_slots(
    app: &App,
    due: &[(ScheduleKey, Timestamp)],
    now: Timestamp,
    pass: &mut Pass,
) -> Option<Timestamp> {
    if due.is_empty() {
        return None;
    }
    let again = Some(now.plus_ms(AGAIN_MS));
    // A pause counts as soon as it is recorded. If the pauses cannot be read, no task is made.
    if let Err(error) = config_reload::follow_control(app) {
        note_failed(app, None, &error, pass);
        return again;
    }
    let book = match app.store.try_schedules() {
        Ok(Some(book)) => book,
        // The process that has the lock does the same work.
        Ok(None) => return again,
        Err(error) => {
            note_failed(app, None, &error.into(), pass);
            return again;
        }
    };
    let mut next: Option<Timestamp> = None;
    for (key, at) in due {
        let found = match look_at_schedule(app, &book, key, *at, now) {
            Ok(found) => found,
            Err(error) => match after_failure(app, key, *at, now, error, pass) {
                Ok(found) => found,
                Err(error) => {
                    note_failed(app, Some(key), &error, pass);
                    again
                }
            },
        };
        next = next.into_iter().chain(found).min();
    }
    next
}

fn look_at_schedule(
    app: &App,
    book: &ScheduleBook<'_>,
    key: &ScheduleKey,
    at: Timestamp,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    book.settle(key)?;
    let Some(mut schedule) = app.store.schedule_at(key)? else {
        app.store.clear_timer(&Timer::of(key, at))?;
        return Ok(None);
    };
    let pattern = pattern_of(&schedule)?;
    let due = due(&schedule, &config_reload::control(app).holds, &pattern, now);
    note_missed(app, &mut schedule, &due.missed);
    for (place, slot) in due.slots.iter().enumerate() {
        let next = due.slots.get(place + 1).copied().or(due.next);
        schedule = take_slot(app, book, Schedule { next, ..schedule }, *slot, now)?;
    }
    if schedule.next != due.next {
        schedule.next = due.next;
        book.write(&schedule)?;
    }
    if let Some(next) = schedule.next {
        app.store.set_timer(&Timer::of(key, next))?;
    }
    if schedule.next != Some(at) {
        app.store.clear_timer(&Timer::of(key, at))?;
    }
    Ok(schedule.next)
}

/// Makes the task of a slot, or skips the slot. Returns the schedule as it is then.
fn take_slot(
    app: &App,
    book: &ScheduleBook<'_>,
    mut schedule: Schedule,
    slot: Timestamp,
    now: Timestamp,
) -> Result<Schedule, StoreError> {
    let former = schedule.last.map(|made| made.task);
    let is_former_unfinished = former.map(|id| app.store.is_unfinished(id)).transpose()?.unwrap_or(false);
    match plan(schedule.overlap, is_former_unfinished) {
        SlotPlan::Make => make_slot(app, book, &mut schedule, slot, now)?,
        SlotPlan::Skip => {
            schedule.skipped = Some(slot);
            book.write(&schedule)?;
            let data = json!({ "schedule": schedule.name.as_str(), "slot": slot.to_string() });
            app.store.note(&Event { task: former, ..Event::new("schedule_skipped").with(data) });
        }
    }
    Ok(schedule)
}

/// Reports the slots that were missed: each by itself if they are few.
fn note_missed(app: &App, schedule: &mut Schedule, missed: &[Timestamp]) {
    let Some(last) = missed.last() else { return };
    schedule.missed = Some(*last);
    schedule.missed_count = schedule.missed_count.saturating_add(u64::try_from(missed.len()).unwrap_or(u64::MAX));
    let tell = |slot: Timestamp, first: Timestamp, count: usize| {
        let data = json!({
            "schedule": schedule.name.as_str(), "slot": slot.to_string(), "first": first.to_string(), "count": count,
        });
        app.store.note(&Event::new("slot_missed").with(data));
    };
    match missed.len() {
        0..=MOST_AT_ONCE => missed.iter().for_each(|slot| tell(*slot, *slot, 1)),
        many => tell(*last, missed[0], many),
    }
}

/// Makes a task of a schedule and records the task in the schedule.
pub(super) fn make_slot(
    app: &App,
    book: &ScheduleBook<'_>,
    schedule: &mut Schedule,
    slot: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    let id = app.store.reserve_ids(1)?;
    let mut task = schedule.task_for(id, slot, now);
    // A rule may have been set since the schedule was added.
    if let Ok(lanes) = with_ruled_lanes(app, task.lanes.clone(), task.project.as_ref(), task.goal.as_deref()) {
        task.lanes = lanes;
    }
    schedule.last = Some(Made { slot, task: id });
    book.make(schedule, &task, &enqueued)
}

/// Handles a schedule that cannot be looked at. A damaged one is set aside. One of a newer luzia is looked at again later, so
/// that it does not keep every pass busy.
fn after_failure(
    app: &App,
    key: &ScheduleKey,
    at: Timestamp,
    now: Timestamp,
    error: StoreError,
    pass: &mut Pass,
) -> Result<Option<Timestamp>, AppError> {
    match error {
        wrong @ StoreError::Corrupt { .. } => {
            app.store.set_aside(&wrong)?;
            app.store.clear_timer(&Timer::of(key, at))?;
            pass.set_aside.push(wrong.to_string());
            Ok(None)
        }
        StoreError::Newer { .. } => {
            let later = now.plus_ms(NEWER_AGAIN_MS);
            app.store.set_timer(&Timer::of(key, later))?;
            app.store.clear_timer(&Timer::of(key, at))?;
            Ok(Some(later))
        }
        other => Err(other.into()),
    }
}

fn note_failed(app: &App, key: Option<&ScheduleKey>, error: &AppError, pass: &mut Pass) {
    pass.not_made.push(error.to_string());
    let event = Event::new("schedule_failed").saying(error.to_string());
    app.store.note(&event.with(json!({ "file": key.map(ScheduleKey::as_str) })));
}

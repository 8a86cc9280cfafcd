//! The starts that a task waiting for several slots prevents (`policy::backfill`), by the present locks and events.

use crate::app::admission::{Firsts, lenders_of, situation_queued};
use crate::app::capacity::{limited_until, occupied};
use crate::app::config_reload::config;
use crate::app::estimate::{QUICK, longest};
use crate::app::waits::as_seen;
use crate::app::{App, AppError, estimate};
use crate::model::lock::loan::is_loan;
use crate::model::{LaneName, LockKind, Status, Task, TaskId, Timestamp};
use crate::policy::admission::{Booked, Situation, first_obstacle};
use crate::policy::backfill::{Booking, Slots, Wanted, bookings, may_pass};
use crate::policy::simulate::history::History;
use crate::store::{LockView, Place};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The first tasks that wait for several slots, by each lane of theirs, in one pass or one look at its order.
#[derive(Default)]
pub(crate) struct Bookings {
    by_lane: BTreeMap<LaneName, Booking>,
    history: OnceCell<History>,
}

/// Whether a task takes several slots of capacity lanes, so that it may wait for one while others take the rest.
pub(crate) fn wants_several(task: &Task) -> bool {
    task.lanes.iter().filter(|lane| lane.is_capacity_lane()).map(|lane| task.slots_of(lane)).sum::<u32>() > 1
}

impl Bookings {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_lane.is_empty()
    }

    /// The first task of a lane that the start of a task would keep from its own.
    pub(crate) fn against(&self, app: &App, task: &Task) -> Option<Booked> {
        let (now, mut most) = (app.host.now(), None);
        let booked = |lane: &LaneName| {
            let by = *self.by_lane.get(lane)?;
            let most = *most.get_or_insert_with(|| self.longest(app, task));
            (by.first != task.id && !may_pass(by, task.id, now, most)).then(|| Booked { lane: lane.clone(), by })
        };
        task.lanes.iter().find_map(booked)
    }

    /// Books the start of a task that waits for a capacity lane, if it wants several slots and comes first in its lanes.
    pub(crate) fn book(&mut self, app: &App, task: &Task) -> Result<(), AppError> {
        if !wants_several(task) || task.lanes.iter().any(|lane| self.by_lane.contains_key(lane)) {
            return Ok(());
        }
        let Some(wanted) = self.wanted(app, task)? else { return Ok(()) };
        let (lanes, slots): (Vec<LaneName>, Vec<Wanted>) = wanted.into_iter().unzip();
        self.by_lane.extend(lanes.into_iter().zip(bookings(task.id, &slots, app.host.now())));
        Ok(())
    }

    /// The slots that a task wants; `None` if it waits for something else as well.
    fn wanted(&self, app: &App, task: &Task) -> Result<Option<Vec<(LaneName, Wanted)>>, AppError> {
        if !lenders_of(app, task)?.is_empty() || !waits_for_lanes_only(app, task)? {
            return Ok(None);
        }
        let (locks, mut wanted) = (app.store.lock_index()?, Vec::new());
        for lane in task.all_lanes() {
            let limit = config(app).limit(&lane);
            if !lane.is_capacity_lane() {
                if locks.holders(&lane) >= limit {
                    return Ok(None);
                }
                continue;
            }
            let views = app.holders_in(&locks, &lane)?;
            if limited_until(app, &lane)?.is_some() || occupied(app, &lane, &views).is_some() {
                return Ok(None);
            }
            let counts = |view: &&LockView| !is_loan(view.slot) && !view.verdict.is_stale();
            let of = |view: &LockView| Slots { count: 1, until: self.expected_end(app, &lane, view) };
            let holders = views.iter().filter(counts).map(of).collect();
            wanted.push((lane.clone(), Wanted { count: task.slots_of(&lane), limit, holders }));
        }
        Ok(Some(wanted))
    }

    /// Latest expected end of a holder of a lane.
    fn expected_end(&self, app: &App, lane: &LaneName, view: &LockView) -> Option<Timestamp> {
        let record = view.record()?;
        let held_since = record.acquired_at?;
        if record.kind != LockKind::Task {
            let length = self.history(app).lengths(None, std::slice::from_ref(lane));
            let most = longest(&length, None).and_then(|ms| i64::try_from(ms).ok()).map(|ms| held_since.plus_ms(ms));
            let expires = record.expires_at.filter(|_| record.kind == LockKind::Lease);
            return most.into_iter().chain(expires).min();
        }
        let (place, task) = app.store.find(view.holder().and_then(TaskId::parse)?).ok().flatten()?;
        let stands_still = matches!(app.store.run_pause(task.id), Ok(Some(_)));
        if place != Place::Running || stands_still || as_seen(app, task.clone()).status() != Status::Running {
            return None;
        }
        let since = task.last_start.as_ref().map_or(held_since, |start| start.at);
        self.longest(app, &task).and_then(|ms| i64::try_from(ms).ok()).map(|ms| since.plus_ms(ms))
    }

    /// Longest expected run of a task.
    fn longest(&self, app: &App, task: &Task) -> Option<u64> {
        longest(&self.history(app).lengths_of(task), task.timeout_ms)
    }

    /// Damaged events keep no task from its start.
    fn history(&self, app: &App) -> &History {
        self.history.get_or_init(|| estimate::history(app, QUICK.event_bytes).unwrap_or_default())
    }
}

/// Whether only missing room in its lanes keeps a task from starting.
fn waits_for_lanes_only(app: &App, task: &Task) -> Result<bool, AppError> {
    let first_in_lane = Firsts::default().before(&app.store, task)?;
    let situation = Situation { first_in_lane, ..situation_queued(app, task) };
    Ok(first_obstacle(task, &situation).is_none())
}

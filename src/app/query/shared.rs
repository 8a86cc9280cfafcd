//! Looks at the lanes of several hosts, in the values of looks at files.

use crate::app::capacity::Bars;
use crate::app::fleet::lanes::{LaneRules, rules};
use crate::app::fleet::{Fleet, local_only};
use crate::app::query::explain::{LaneWhy, TaskWhy, Why, holder_of, of_pending};
use crate::app::{App, AppError};
use crate::model::{LaneName, Target, Task, TaskId};
use crate::policy::admission::LaneNow;
use crate::store::{LockView, Place};

/// A lane of a store with its holders.
pub(crate) struct HeldLane {
    /// Number of holders that the lane may have.
    pub limit: u32,
    /// The bars of the lane, apart from its holders.
    pub bars: Bars,
    /// The holders of the lane.
    pub holders: Vec<LockView>,
}

/// A lane of a store with its holders. Each host has a lane `global` of its own.
pub(crate) fn held_lane(fleet: &dyn Fleet, lane: &LaneName) -> Result<HeldLane, AppError> {
    if lane.is_global() {
        return Err(local_only("the lane \"global\""));
    }
    let LaneRules { limit, pause, limited } = rules(fleet, lane)?;
    let limited_until = limited.map(|(_, until)| until);
    Ok(HeldLane {
        limit,
        bars: Bars { paused: pause, limited_until, ..Bars::default() },
        holders: fleet.holds(Some(lane))?,
    })
}

fn lane_now(app: &App, fleet: &dyn Fleet, lane: &LaneName) -> Result<(LaneNow, Bars), AppError> {
    let HeldLane { limit, bars, holders } = held_lane(fleet, lane)?;
    let holders = holders.iter().map(|view| holder_of(app, view)).collect();
    Ok((LaneNow::new(lane.clone(), limit, holders), bars))
}

/// Finds why a task, or the first task in a lane, does not run on any host.
pub(super) fn explain(app: &App, fleet: &dyn Fleet, target: &Target) -> Result<Why, AppError> {
    match target {
        Target::Task(id) => explain_task(app, fleet, *id).map(|why| Why::Task(Box::new(why))),
        Target::Lane(lane) => explain_lane(app, fleet, lane).map(|why| Why::Lane(Box::new(why))),
    }
}

fn explain_task(app: &App, fleet: &dyn Fleet, id: TaskId) -> Result<TaskWhy, AppError> {
    let task = app.existing(id)?;
    let taken = task.all_lanes().into_iter().filter(|lane| !lane.is_global() && !task.status().is_final());
    let lanes = taken.map(|lane| lane_now(app, fleet, &lane).map(|(now, _)| now)).collect::<Result<_, _>>()?;
    let obstacles = match pending_here(app, fleet, id)? {
        Some(own) => of_pending(app, &own)?,
        None => fleet.obstacles(&task)?,
    };
    Ok(TaskWhy { obstacles, lanes, task, supervisor: None })
}

/// The record on this host of a task that was granted to it and has not started.
fn pending_here(app: &App, fleet: &dyn Fleet, id: TaskId) -> Result<Option<Task>, AppError> {
    let found = if app.store.has_layout()? { app.store.find(id)? } else { None };
    let pending = found.filter(|(place, _)| *place == Place::Pending).map(|(_, task)| task);
    Ok(if pending.is_some() && fleet.host_of(id)?.as_deref() == Some(fleet.host_name()) { pending } else { None })
}

fn explain_lane(app: &App, fleet: &dyn Fleet, lane: &LaneName) -> Result<LaneWhy, AppError> {
    let (now, bars) = lane_now(app, fleet, lane)?;
    let (pending, first) = fleet.waiting_in(lane)?;
    let task = first.map(|id| fleet.find(id)).transpose()?.flatten();
    let obstacles = task.map_or(Ok(Vec::new()), |task| fleet.obstacles(&task))?;
    Ok(LaneWhy { lane: now, pending, first, obstacles, waiters: Vec::new(), bars, ring: None })
}

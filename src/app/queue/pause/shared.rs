//! `pause` and `resume` with a store: lanes, users, patterns and everything, for all hosts.

use super::{Changed, Wish, nothing_paused};
use crate::app::fleet::lanes::{FleetLanes, hold_of};
use crate::app::fleet::refuse_local;
use crate::app::{App, AppError, Code};
use crate::model::LaneName;
use crate::model::control::{Held, Hold};

/// Refuses what is about one host.
fn check(held: &Held) -> Result<(), AppError> {
    let Held::Lane(lane) = held else { return Ok(()) };
    refuse_local([
        (lane.kind() == LaneName::SCHEDULE, "a pause of a schedule"),
        (lane.is_global(), "a pause of the lane global"),
    ])
}

/// Keeps tasks from being assigned that take a lane, all of a user, or all.
pub(crate) fn pause(app: &App, fleet: &dyn FleetLanes, held: &Held, wish: &Wish) -> Result<Changed, AppError> {
    check(held)?;
    let Wish { until, reason, by } = wish.clone();
    let hold = Hold { held: held.clone(), since: app.host.now(), until, reason, by };
    let text = serde_json::to_string(&hold).map_err(|error| AppError::new(Code::Bug, error.to_string()))?;
    let name = held.text();
    let hold = hold_of(&name, &fleet.pause_lane(&name, until, &text)?)?;
    Ok(Changed::by(name, hold))
}

/// Lets such tasks be assigned again.
pub(crate) fn resume(fleet: &dyn FleetLanes, held: &Held) -> Result<Vec<Changed>, AppError> {
    check(held)?;
    let name = held.text();
    let ended = fleet.resume_lane(&name)?;
    if ended.is_empty() {
        return nothing_paused(held);
    }
    ended.iter().map(|text| hold_of(&name, text).map(|hold| Changed::by(hold.held.text(), hold))).collect()
}

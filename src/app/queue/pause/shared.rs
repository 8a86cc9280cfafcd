//! `pause` and `resume` with a store: lanes and users, for all hosts.

use super::{Changed, What, Wish};
use crate::app::fleet::lanes::{FleetLanes, hold_of};
use crate::app::fleet::local_only;
use crate::app::{App, AppError, Code};
use crate::model::LaneName;
use crate::model::control::{Held, Hold};

/// The lane of `pause` and `resume`. A task, a pattern, a schedule and the whole host are about one host.
fn pausable(what: &What) -> Result<&LaneName, AppError> {
    match what {
        What::Task(_) => Err(local_only("a pause of one task")),
        What::Lanes(Held::All) => Err(local_only("a pause of everything").next("luzia hosts")),
        What::Lanes(Held::Pattern(_)) => Err(local_only("a pause of a pattern of lanes")),
        What::Lanes(Held::Lane(lane)) if lane.kind() == LaneName::SCHEDULE => Err(local_only("a pause of a schedule")),
        What::Lanes(Held::Lane(lane)) if lane.is_global() => Err(local_only("a pause of the lane global")),
        What::Lanes(Held::Lane(lane)) => Ok(lane),
    }
}

/// Keeps tasks from being assigned that take a lane, or all of a user.
pub(crate) fn pause(app: &App, fleet: &dyn FleetLanes, what: &What, wish: &Wish) -> Result<Changed, AppError> {
    let lane = pausable(what)?;
    let Wish { until, reason, by } = wish.clone();
    let hold = Hold { held: Held::Lane(lane.clone()), since: app.host.now(), until, reason, by };
    let text = serde_json::to_string(&hold).map_err(|error| AppError::new(Code::Bug, error.to_string()))?;
    let name = lane.to_string();
    let hold = hold_of(&name, &fleet.pause_lane(&name, until, &text)?)?;
    Ok(Changed { what: name, hold: Some(hold), is_changed: true })
}

/// Lets tasks be assigned again that take a lane.
pub(crate) fn resume(fleet: &dyn FleetLanes, what: &What) -> Result<Vec<Changed>, AppError> {
    let name = pausable(what)?.to_string();
    let ended = fleet.resume_lane(&name)?.map(|text| hold_of(&name, &text)).transpose()?;
    Ok(vec![Changed { what: name, is_changed: ended.is_some(), hold: ended }])
}

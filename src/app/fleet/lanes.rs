//! Lanes of a store: their rules, their pauses and their holders. The database keeps a limit and the values of slots; the other rules
//! of a lane are about one host.

use crate::app::{AppError, Code, Pause};
use crate::model::config::{Config, LaneRule};
use crate::model::control::Hold;
use crate::model::{LaneName, Timestamp};
use crate::store::config::rules_from_json;
use std::collections::BTreeMap;

/// A lane as the database has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedLane {
    /// Its name.
    pub name: String,
    /// Its rules as [`FleetLanes::set_lane`] took them.
    pub rules: String,
    /// Number of slots that are held.
    pub used: u64,
    /// Number of tasks that wait for it, of those that were counted.
    pub waiting: u64,
    /// The pause that is in force.
    pub pause: Option<String>,
    /// Whether every waiting task was counted.
    pub is_counted: bool,
}

/// The lanes of a database.
pub trait FleetLanes {
    /// One lane by its name, or the lanes in use and those with rules whose names begin with a text. At most so many waiting tasks are
    /// counted.
    fn lanes(&self, name: Option<&str>, prefix: &str, most_counted: usize) -> Result<Vec<SharedLane>, AppError>;

    /// Replaces the rules of a lane, with the number of its slots and their values. False if the rules are not `seen`.
    fn set_lane(
        &self,
        lane: &str,
        seen: &str,
        rules: &str,
        capacity: u32,
        values: Option<&[String]>,
    ) -> Result<bool, AppError>;

    /// Pauses a lane until a moment or a resume; the pause that is in force.
    fn pause_lane(&self, lane: &str, until: Option<Timestamp>, pause: &str) -> Result<String, AppError>;

    /// Ends the pause of a lane; the pause that was in force.
    fn resume_lane(&self, lane: &str) -> Result<Option<String>, AppError>;
}

/// The limit of a lane and its pause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneRules {
    /// Number of holders it may have.
    pub limit: u32,
    /// Its pause.
    pub pause: Option<Pause>,
}

/// The rules of a lane; those of a lane that no task has named yet are the default ones.
pub(crate) fn rules(fleet: &dyn FleetLanes, lane: &LaneName) -> Result<LaneRules, AppError> {
    let name = lane.to_string();
    let known = fleet.lanes(Some(&name), "", 0)?.into_iter().next();
    let rules = known.as_ref().map(rules_of).transpose()?.unwrap_or_default();
    let pause = known.and_then(|known| known.pause).map(|text| hold_of(&name, &text)).transpose()?;
    Ok(LaneRules { limit: config_of(rules).limit(lane), pause: pause.map(|hold| Pause::by(&hold)) })
}

/// Whether a task has named a lane, or somebody has set a rule of it or paused it.
pub(crate) fn is_known(fleet: &dyn FleetLanes, lane: &LaneName) -> Result<bool, AppError> {
    Ok(!fleet.lanes(Some(&lane.to_string()), "", 0)?.is_empty())
}

fn damaged(lane: &str, why: impl std::fmt::Display) -> AppError {
    AppError::new(Code::RecordCorrupt, format!("the rules of lane \"{lane}\" in the store are invalid: {why}"))
}

pub(crate) fn rules_of(lane: &SharedLane) -> Result<BTreeMap<String, LaneRule>, AppError> {
    let read = serde_json::from_str(&lane.rules).map_err(|error| damaged(&lane.name, error))?;
    rules_from_json(&read).map_err(|why| damaged(&lane.name, why))
}

/// The rules of a store, as a configuration that says nothing else.
pub(crate) fn config_of(rules: BTreeMap<String, LaneRule>) -> Config {
    Config { lanes: rules, ..Config::default() }
}

/// The pause of a lane as the database has it.
pub(crate) fn hold_of(lane: &str, text: &str) -> Result<Hold, AppError> {
    serde_json::from_str(text).map_err(|error| damaged(lane, error))
}

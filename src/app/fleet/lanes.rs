//! Lanes of a store: their rules, their pauses and their holders. The database keeps the rules that are about all hosts together.

use crate::app::config_reload::config;
use crate::app::{App, AppError, Code, Pause};
use crate::model::config::{Config, LaneRule, Rate};
use crate::model::control::Hold;
use crate::model::{LaneName, Timestamp};
use crate::store::config::rules_from_json;
use std::collections::BTreeMap;

/// A lane or a pattern as the database has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SharedLane {
    /// Its name.
    pub name: String,
    /// The rules that mean it, of its own name and of patterns, as [`FleetLanes::set_lane`] took them.
    pub rules: String,
    /// Number of slots that are held.
    pub used: u64,
    /// Number of tasks that wait for it, of those that were counted.
    pub waiting: u64,
    /// The pause that is in force.
    pub pause: Option<String>,
    /// The moment until which its rate allows no grant.
    pub limited_until: Option<Timestamp>,
    /// Whether every waiting task was counted.
    pub is_counted: bool,
}

impl SharedLane {
    /// A lane that nobody holds and that has no rules.
    pub fn of(name: &str) -> Self {
        Self { name: name.to_owned(), rules: "{}".to_owned(), is_counted: true, ..Self::default() }
    }
}

/// The lanes of a database.
pub trait FleetLanes {
    /// One lane or pattern by its name, or those in use or with rules whose names begin with a text. At most so many waiting tasks are
    /// counted.
    fn lanes(&self, name: Option<&str>, prefix: &str, most_counted: usize) -> Result<Vec<SharedLane>, AppError>;

    /// The rules and the pause in force of a lane or a pattern, also of one that no task has named yet.
    fn in_force(&self, name: &str) -> Result<SharedLane, AppError>;

    /// Replaces the rules of a lane or a pattern. False if the rules are not `seen`.
    fn set_lane(&self, lane: &str, seen: &str, rules: &str) -> Result<bool, AppError>;

    /// The names that are paused, with their pauses.
    fn pauses(&self) -> Result<Vec<(String, String)>, AppError>;

    /// Pauses a lane, or the lanes of a pattern, until a moment or a resume; the pause that is in force.
    fn pause_lane(&self, lane: &str, until: Option<Timestamp>, pause: &str) -> Result<String, AppError>;

    /// Ends the pause of a lane, or those of the names that a pattern means; the pauses that were in force.
    fn resume_lane(&self, lane: &str) -> Result<Vec<String>, AppError>;
}

/// The limit of a lane, and what keeps all tasks from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneRules {
    /// Number of holders it may have.
    pub limit: u32,
    /// Its pause.
    pub pause: Option<Pause>,
    /// Its rate, and the moment until which that allows no grant.
    pub limited: Option<(Rate, Timestamp)>,
}

/// The rules of a lane, also of one that no task has named yet.
pub(crate) fn rules(fleet: &dyn FleetLanes, lane: &LaneName) -> Result<LaneRules, AppError> {
    let name = lane.to_string();
    let known = fleet.in_force(&name)?;
    let config = config_of(rules_of(&known)?);
    let pause = known.pause.map(|text| hold_of(&name, &text)).transpose()?;
    let limited = config.rate(lane).zip(known.limited_until);
    Ok(LaneRules { limit: config.limit(lane), pause: pause.map(|hold| Pause::by(&hold)), limited })
}

/// Time after which a lease of lanes without a time to live of its own is over: the shortest by the rules of the store, else by the
/// configuration.
pub(crate) fn shortest_timeout_ms(app: &App, fleet: &dyn FleetLanes, lanes: &[LaneName]) -> Result<u64, AppError> {
    let mut shortest = None;
    for lane in lanes {
        let set = rules_of(&fleet.in_force(&lane.to_string())?)?;
        let mut config = Config::clone(&config(app));
        config.lanes.extend(set.into_iter().filter(|(_, rule)| rule.lock_timeout_ms.is_some()));
        shortest = shortest.into_iter().chain([config.lock_timeout_ms(lane)]).min();
    }
    Ok(shortest.unwrap_or_default())
}

/// The pauses in force.
pub(crate) fn holds(fleet: &dyn FleetLanes) -> Result<Vec<Hold>, AppError> {
    fleet.pauses()?.iter().map(|(name, text)| hold_of(name, text)).collect()
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

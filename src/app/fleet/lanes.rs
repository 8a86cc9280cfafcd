//! Lanes of a store: their rules, their pauses and their holders. The database keeps a limit and the values of slots; the other rules
//! of a lane are about one host.

use super::{Fleet, local_only};
use crate::app::capacity::NamedSlot;
use crate::app::query::lanes::{LaneRow, Lanes, MOST_COUNTED, Named, Source, lane_named};
use crate::app::queue::pause::{Changed, What, Wish};
use crate::app::queue::terms::is_ruled;
use crate::app::{App, AppError, Code};
use crate::model::config::{Config, LaneRule};
use crate::model::control::{Held, Hold};
use crate::model::{LaneName, Task, TaskId, Timestamp};
use crate::store::config::{rules_from_json, rules_to_json};
use std::collections::BTreeMap;

/// The rules that the database keeps, by their keys.
const KEPT: [&str; 2] = ["max", "values"];
/// Number of tries of a change while others change the same lane.
const TRIES: usize = 5;

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

    /// The slots of a lane that are held: the slot, the task, and the value.
    fn slots(&self, lane: &str) -> Result<Vec<(u32, TaskId, Option<String>)>, AppError>;

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

/// The lanes that match, as rows of `lanes`.
pub(crate) fn rows(fleet: &dyn Fleet, wanted: Option<&Named>) -> Result<Lanes, AppError> {
    let name = wanted.filter(|wanted| !wanted.is_pattern()).map(Named::text);
    let prefix = wanted.map_or("", |wanted| wanted.text().trim_end_matches('*'));
    let found = fleet.lanes(name, prefix, MOST_COUNTED)?;
    let is_complete = found.iter().all(|lane| lane.is_counted);
    Ok(Lanes { rows: found.iter().map(row).collect::<Result<_, _>>()?, is_complete })
}

/// The numbers of slots of the lanes of a task.
pub(crate) fn limits(fleet: &dyn Fleet, task: &Task) -> Result<BTreeMap<LaneName, u32>, AppError> {
    let mut limits = BTreeMap::new();
    for lane in &task.lanes {
        let found = fleet.lanes(Some(&lane.to_string()), "", 0)?.into_iter().next();
        let rules = found.as_ref().map(rules_of).transpose()?.unwrap_or_default();
        limits.insert(lane.clone(), config_of(rules).limit(lane));
    }
    Ok(limits)
}

fn damaged(lane: &str, why: impl std::fmt::Display) -> AppError {
    AppError::new(Code::RecordCorrupt, format!("the rules of lane \"{lane}\" in the store do not read: {why}"))
}

fn rules_of(lane: &SharedLane) -> Result<BTreeMap<String, LaneRule>, AppError> {
    let read = serde_json::from_str(&lane.rules).map_err(|error| damaged(&lane.name, error))?;
    rules_from_json(&read).map_err(|why| damaged(&lane.name, why))
}

/// The rules of a store, as a configuration that says nothing else.
fn config_of(rules: BTreeMap<String, LaneRule>) -> Config {
    Config { lanes: rules, ..Config::default() }
}

fn row(lane: &SharedLane) -> Result<LaneRow, AppError> {
    let rules = rules_of(lane)?;
    let source = if rules.is_empty() { Source::Default } else { Source::Set };
    let (config, name) = (config_of(rules), lane_named(&lane.name)?);
    Ok(LaneRow {
        name: lane.name.clone(),
        max: config.limit(&name),
        rule: config.rule_in_force(&name),
        active: lane.used,
        queue: lane.waiting,
        source,
        is_pattern: false,
        hold: lane.pause.as_deref().map(|text| hold_of(&lane.name, text)).transpose()?,
        shut: None,
        limited_until: None,
    })
}

/// Changes the rule of a lane: `change` gives the new rule for the present one. Returns whether it had one, and the lane.
pub(crate) fn set(
    fleet: &dyn Fleet,
    named: &Named,
    change: &dyn Fn(&LaneRule) -> LaneRule,
) -> Result<(bool, LaneRow), AppError> {
    let lane = one_lane(named)?;
    let name = lane.to_string();
    for _ in 0..TRIES {
        let known = fleet.lanes(Some(&name), "", 0)?.into_iter().next();
        let (seen, mut rules) = match &known {
            Some(known) => (known.rules.clone(), rules_of(known)?),
            None => ("{}".to_owned(), BTreeMap::new()),
        };
        let had = rules.remove(&name);
        let rule = change(&had.clone().unwrap_or_default());
        if rule != LaneRule::default() {
            rules.insert(name.clone(), rule);
        }
        let config = config_of(rules.clone());
        if let Some(found) = config.contradictions().into_iter().next() {
            return Err(AppError::usage(found.to_string()).hint("nothing was set").next("luzia lanes"));
        }
        let values = config.values(&lane).map(|values| values.all());
        let text = rules_to_json(&rules).to_string();
        if fleet.set_lane(&name, &seen, &text, config.limit(&lane), values.as_deref())? {
            let lane = SharedLane { name, rules: text, used: 0, waiting: 0, pause: None, is_counted: true };
            return Ok((had.is_some(), row(&lane)?));
        }
    }
    Err(AppError::new(Code::FileBusy, format!("others change the rules of lane \"{name}\" at this moment"))
        .hint("try again; nothing was set"))
}

/// Refuses rules that are about one host.
pub(crate) fn check_options(options: &[(&str, &str)]) -> Result<(), AppError> {
    match options.iter().find(|(key, _)| !KEPT.contains(key)) {
        None => Ok(()),
        Some((key, _)) => Err(local_only(&format!("the rule {key} of a lane"))),
    }
}

/// The lane that is named, if the database may have rules of it.
fn one_lane(named: &Named) -> Result<LaneName, AppError> {
    if named.is_pattern() {
        return Err(local_only("a rule for a pattern of lanes"));
    }
    let lane = lane_named(named.text())?;
    match (lane.is_global(), is_ruled(named.text())) {
        (true, _) => Err(local_only("the lane global")),
        (_, true) => Err(local_only("a rule that puts tasks into the lane of a project or a goal")),
        (false, false) => Ok(lane),
    }
}

/// The values of a lane with their holders, and the removed values that holders still have.
pub(crate) fn named_slots(fleet: &dyn Fleet, row: &LaneRow) -> Result<Vec<NamedSlot>, AppError> {
    let Some(values) = row.rule.slots() else { return Ok(Vec::new()) };
    let (held, all) = (fleet.slots(&row.name)?, values.all());
    let slot = |value: &String, is_drained| {
        let of = held.iter().find(|(_, _, known)| known.as_ref() == Some(value));
        NamedSlot {
            value: value.clone(),
            slot: of.map(|(slot, ..)| *slot),
            holder: of.map(|(_, task, _)| task.to_string()),
            is_drained,
            user: None,
        }
    };
    let gone = held.iter().filter_map(|(_, _, value)| value.as_ref()).filter(|value| !all.contains(value));
    Ok(all.iter().map(|value| slot(value, false)).chain(gone.map(|value| slot(value, true))).collect())
}

/// The pause of a lane as the database has it.
pub(crate) fn hold_of(lane: &str, text: &str) -> Result<Hold, AppError> {
    serde_json::from_str(text).map_err(|error| damaged(lane, error))
}

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
pub(crate) fn pause(app: &App, fleet: &dyn Fleet, what: &What, wish: &Wish) -> Result<Changed, AppError> {
    let lane = pausable(what)?;
    let Wish { until, reason, by } = wish.clone();
    let hold = Hold { held: Held::Lane(lane.clone()), since: app.host.now(), until, reason, by };
    let text = serde_json::to_string(&hold).map_err(|error| AppError::new(Code::Bug, error.to_string()))?;
    let name = lane.to_string();
    let hold = hold_of(&name, &fleet.pause_lane(&name, until, &text)?)?;
    Ok(Changed { what: name, hold: Some(hold), is_changed: true })
}

/// Lets tasks be assigned again that take a lane.
pub(crate) fn resume(fleet: &dyn Fleet, what: &What) -> Result<Vec<Changed>, AppError> {
    let name = pausable(what)?.to_string();
    let ended = fleet.resume_lane(&name)?.map(|text| hold_of(&name, &text)).transpose()?;
    Ok(vec![Changed { what: name, is_changed: ended.is_some(), hold: ended }])
}

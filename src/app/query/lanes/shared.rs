//! `lanes` with a store: the database keeps a limit and the values of slots; the other rules of a lane are about one host.

use super::{LaneRow, Lanes, MOST_COUNTED, Named, Source, is_ruled, lane_named};
use crate::app::capacity::NamedSlot;
use crate::app::fleet::lanes::{FleetLanes, SharedLane, config_of, hold_of, rules_of};
use crate::app::fleet::{Fleet, local_only};
use crate::app::{AppError, Code};
use crate::model::LaneName;
use crate::model::config::LaneRule;
use crate::store::LockView;
use crate::store::config::rules_to_json;
use std::collections::BTreeMap;

/// The rules that the database keeps, by their keys.
const KEPT: [&str; 2] = ["max", "values"];
/// Number of tries of a change while others change the same lane.
const TRIES: usize = 5;

/// The lanes that match, as rows of `lanes`.
pub(crate) fn rows(fleet: &dyn FleetLanes, wanted: Option<&Named>) -> Result<Lanes, AppError> {
    let name = wanted.filter(|wanted| !wanted.is_pattern()).map(Named::text);
    let prefix = wanted.map_or("", |wanted| wanted.text().trim_end_matches('*'));
    let found = fleet.lanes(name, prefix, MOST_COUNTED)?;
    let is_complete = found.iter().all(|lane| lane.is_counted);
    Ok(Lanes { rows: found.iter().map(row).collect::<Result<_, _>>()?, is_complete })
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
    fleet: &dyn FleetLanes,
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
pub fn named_slots(fleet: &dyn Fleet, row: &LaneRow) -> Result<Vec<NamedSlot>, AppError> {
    let Some(values) = row.rule.slots() else { return Ok(Vec::new()) };
    let (views, all) = (fleet.holds(Some(&lane_named(&row.name)?))?, values.all());
    let value_of = |view: &'_ LockView| view.record().and_then(|record| record.value.clone());
    let held: Vec<(String, &LockView)> = views.iter().filter_map(|view| Some((value_of(view)?, view))).collect();
    let slot = |value: &String, is_drained| {
        let of = held.iter().find(|(known, _)| known == value).map(|(_, view)| view);
        NamedSlot {
            value: value.clone(),
            slot: of.map(|view| view.slot),
            holder: of.and_then(|view| view.holder()).map(str::to_owned),
            is_drained,
            user: None,
        }
    };
    let gone = held.iter().map(|(value, _)| value).filter(|value| !all.contains(value));
    Ok(all.iter().map(|value| slot(value, false)).chain(gone.map(|value| slot(value, true))).collect())
}

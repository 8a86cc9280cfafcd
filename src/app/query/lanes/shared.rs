//! `lanes` with a store: the database keeps the rules that are about all hosts together; the others are about one host.

use super::{LaneRow, Lanes, MOST_COUNTED, Named, Source, is_ruled, lane_named};
use crate::app::capacity::NamedSlot;
use crate::app::fleet::lanes::{FleetLanes, SharedLane, config_of, hold_of, rules_of};
use crate::app::fleet::{Fleet, local_only, refuse_local};
use crate::app::{AppError, Code};
use crate::model::LaneName;
use crate::model::config::LaneRule;
use crate::store::LockView;
use crate::store::config::rules_to_json;

/// The rules that the database keeps, by their keys.
const KEPT: [&str; 5] = ["max", "weight", "lock_timeout_seconds", "rate", "values"];
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
    let source = if rules.contains_key(&lane.name) { Source::Set } else { Source::Default };
    // The rule of a pattern is that of a name that matches it.
    let (config, name) = (config_of(rules), lane_named(&lane.name.replace('*', "x"))?);
    Ok(LaneRow {
        name: lane.name.clone(),
        max: config.limit(&name),
        rule: config.rule_in_force(&name),
        active: lane.used,
        queue: lane.waiting,
        source,
        is_pattern: lane.name.ends_with('*'),
        hold: lane.pause.as_deref().map(|text| hold_of(&lane.name, text)).transpose()?,
        shut: None,
        limited_until: lane.limited_until,
    })
}

/// Changes the rule of a lane: `change` gives the new rule for the present one. Returns whether it had one, and the lane.
pub(crate) fn set(
    fleet: &dyn FleetLanes,
    named: &Named,
    change: &dyn Fn(&LaneRule) -> LaneRule,
) -> Result<(bool, LaneRow), AppError> {
    check_name(named)?;
    let name = named.text();
    let own = |rule: &LaneRule| {
        let rule = Some(rule).filter(|rule| **rule != LaneRule::default());
        rules_to_json(&rule.map(|rule| (name.to_owned(), rule.clone())).into_iter().collect()).to_string()
    };
    for _ in 0..TRIES {
        let mut rules = rules_of(&fleet.in_force(name)?)?;
        let had = rules.remove(name);
        let seen = had.clone().unwrap_or_default();
        let rule = change(&seen);
        if rule != LaneRule::default() {
            rules.insert(name.to_owned(), rule.clone());
        }
        if let Some(found) = config_of(rules).contradictions().into_iter().next() {
            return Err(AppError::usage(found.to_string()).hint("nothing was set").next("luzia lanes"));
        }
        if fleet.set_lane(name, &own(&seen), &own(&rule))? {
            return Ok((had.is_some(), row(&fleet.in_force(name)?)?));
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

/// Refuses a lane or a pattern of which the database has no rules.
fn check_name(named: &Named) -> Result<(), AppError> {
    refuse_local([
        (named.text() == LaneName::global().to_string(), "the lane global"),
        (is_ruled(named.text()), "a rule that puts tasks into the lane of a project or a goal"),
    ])
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

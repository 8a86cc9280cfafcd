//! `lanes`: the lanes, their load, and their rules; and `lanes set` and `rm`, which change a rule while luzia runs.

pub mod shared;

use crate::app::capacity::{busy, limited_until};
use crate::app::config_reload::follow_control;
use crate::app::cron::refuse_schedule;
use crate::app::names::lane_option;
use crate::app::query::list;
use crate::app::{App, AppError, config_reload};
use crate::model::config::LaneRule;
use crate::model::control::{Control, Held, Hold};
use crate::model::lane::BUILT_IN;
use crate::model::lock::loan;
use crate::model::{Config, LaneName, Name, Task, Timestamp};
use crate::policy::capacity::Busy;
use crate::policy::hold::means_lane;
use crate::store::Event;
use crate::store::config::{lane_or_pattern, rule_from_options, rule_json, rule_without};
pub use crate::store::config::{rule_options, rule_text};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Number of waiting tasks that are looked at for the depth of lanes.
pub const MOST_COUNTED: usize = 10_000;

/// The source of the rule of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// No rule was set.
    Default,
    /// The configuration.
    Config,
    /// `lanes set`.
    Set,
}

impl Source {
    /// The word in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Config => "config",
            Self::Set => "set",
        }
    }
}

/// One lane, or a pattern that has a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneRow {
    /// The lane or the pattern.
    pub name: String,
    /// Number of holders that the lane may have at once; `u32::MAX` for no limit.
    pub max: u32,
    /// The rule in force; members without a value or a default are `None`.
    pub rule: LaneRule,
    /// Number of the lane's living holders.
    pub active: u64,
    /// Number of tasks that wait for the lane.
    pub queue: u64,
    /// The source of the lane's rule.
    pub source: Source,
    /// Whether the lane is a pattern.
    pub is_pattern: bool,
    /// The hold that keeps the tasks of the lane from starting.
    pub hold: Option<Hold>,
    /// The reason why the gate of the lane is shut.
    pub shut: Option<Busy>,
    /// The moment from which the lane's rate allows a grant, if it allows none now.
    pub limited_until: Option<Timestamp>,
}

/// Lanes as they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// By name.
    pub rows: Vec<LaneRow>,
    /// Whether every waiting task was counted.
    pub is_complete: bool,
}

/// A lane, or a pattern that ends in `*`, as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named(String);

impl Named {
    /// Whether the name stands for many lanes.
    pub fn is_pattern(&self) -> bool {
        self.0.ends_with('*')
    }

    /// The one spelling.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the name stands for a lane of this name.
    pub fn means(&self, name: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == self.0,
        }
    }
}

impl From<LaneName> for Named {
    fn from(lane: LaneName) -> Self {
        Self(lane.to_string())
    }
}

/// Reads the value of `--lane` where it may be a pattern.
pub fn named_lanes(app: &App, text: &str) -> Result<Named, AppError> {
    if text.ends_with('*') { lane_pattern(text) } else { lane_option(app, text, None).map(Named::from) }
}

/// The lanes that match a pattern and have a holder, a waiting task or a rule of their own; for a lane, the lane itself.
pub fn lanes_meant(app: &App, wanted: &Named) -> Result<Vec<LaneName>, AppError> {
    if !wanted.is_pattern() {
        return Ok(vec![lane_named(wanted.text())?]);
    }
    let rows = lane_rows(app, Some(wanted))?.rows;
    rows.iter().filter(|row| !row.is_pattern).map(|row| lane_named(&row.name)).collect()
}

/// Reads a lane or a pattern. A bare word is a lane here, and never a user: `user:alice` is alice's.
pub fn lane_pattern(text: &str) -> Result<Named, AppError> {
    refuse_schedule(text)?;
    lane_or_pattern(text).map(Named).map_err(|why| {
        AppError::usage(why).hint("write a lane such as build or user:alice, or a pattern such as session:*")
    })
}

/// The lane of a name that [`LaneRow`] has.
pub fn lane_named(name: &str) -> Result<LaneName, AppError> {
    LaneName::parse(name).map_err(|error| AppError::usage(format!("\"{name}\" is not a lane: {error}")))
}

/// The lanes in use, those with a rule, and the built-in ones; for a pattern, those that match it.
pub fn lane_rows(app: &App, wanted: Option<&Named>) -> Result<Lanes, AppError> {
    if let Some(fleet) = &app.fleet {
        return shared::rows(&**fleet, wanted);
    }
    let (mut active, mut queue, mut is_complete) = (BTreeMap::new(), BTreeMap::new(), true);
    if app.store.has_locks()? {
        active = holders(app)?;
        for (at, task) in app.store.pending_tasks(None)?.enumerate() {
            is_complete = at < MOST_COUNTED;
            if !is_complete {
                break;
            }
            // `doctor` reports a damaged record.
            let Ok(task) = task else { continue };
            for lane in lanes_of(&task) {
                *queue.entry(lane.to_string()).or_insert(0) += 1;
            }
        }
    }
    let (config, control) = (config_reload::config(app), config_reload::control(app));
    let mut names: Vec<String> = BUILT_IN.iter().map(|name| (*name).to_owned()).collect();
    names.extend(config.lanes.keys().chain(active.keys()).chain(queue.keys()).cloned());
    names.extend(control.standing(app.host.now()).filter_map(|hold| match &hold.held {
        Held::Lane(lane) if lane.kind() == LaneName::SCHEDULE => None,
        Held::Lane(lane) => Some(lane.to_string()),
        Held::All | Held::Pattern(_) => None,
    }));
    names.extend(wanted.filter(|wanted| !wanted.is_pattern()).map(|wanted| wanted.0.clone()));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| wanted.is_none_or(|wanted| wanted.means(name)));
    let count = |of: &BTreeMap<String, u64>, name: &str| of.get(name).copied().unwrap_or(0);
    let rows = names.into_iter().map(|name| lane_row(app, &name, count(&active, &name), count(&queue, &name)));
    Ok(Lanes { rows: rows.collect(), is_complete })
}

/// Numbers of living holders, by lane. A lender and its borrowers are one holder.
pub(super) fn holders(app: &App) -> Result<BTreeMap<String, u64>, AppError> {
    let (mut active, mut families) = (BTreeMap::new(), BTreeSet::new());
    for view in list::locks(app)?.iter().filter(|view| !view.verdict.is_stale()) {
        if families.insert((view.lane_name(), loan::root(view.slot))) {
            *active.entry(view.lane_name()).or_insert(0) += 1;
        }
    }
    Ok(active)
}

pub(super) fn lane_row(app: &App, name: &str, active: u64, queue: u64) -> LaneRow {
    let (config, control, now) = (config_reload::config(app), config_reload::control(app), app.host.now());
    let is_pattern = name.ends_with('*');
    // The rule of a pattern is that of a name that matches it.
    let lane = LaneName::parse(&name.replace('*', "x")).unwrap_or_else(|_| LaneName::global());
    let source = match (control.lanes.contains_key(name), app.settings.written().lanes.contains_key(name)) {
        (true, _) => Source::Set,
        (false, true) => Source::Config,
        (false, false) => Source::Default,
    };
    LaneRow {
        name: name.to_owned(),
        max: config.limit(&lane),
        rule: config.rule_in_force(&lane),
        shut: if is_pattern { None } else { busy(app, &lane, false) },
        active,
        queue,
        source,
        is_pattern,
        limited_until: if is_pattern { None } else { limited_until(app, &lane).unwrap_or_default() },
        hold: control.standing(now).find(|hold| !is_pattern && means_lane(&hold.held, &lane)).cloned(),
    }
}

/// Whether a lane is known: built in, in use, paused, or with a rule of its own.
pub fn is_known_lane(row: &LaneRow) -> bool {
    let is_built_in = BUILT_IN.contains(&row.name.as_str());
    is_built_in || row.active > 0 || row.queue > 0 || row.source != Source::Default || row.hold.is_some()
}

/// Changes the rule of a lane or a pattern from the next grant on. The rows of the configuration read the options of `lanes
/// set`. An option with `none` takes back what an earlier call has set; options that are not given stay.
pub fn set_lane(app: &App, named: &Named, options: &[(&str, &str)]) -> Result<LaneRow, AppError> {
    let (taken_back, given): (Vec<_>, Vec<_>) = options.iter().copied().partition(|(_, text)| *text == "none");
    let taken_back: Vec<&str> = taken_back.into_iter().map(|(key, _)| key).collect();
    let rule = &rule_from_options(&given).map_err(|why| {
            AppError::usage(why).hint(
                "`luzia lanes set --help` has examples; the value none takes an option back; `luzia pause` stops a lane; nothing was set",
            )
        })?;
    let is_user = LaneName::parse(&named.0.replace('*', "x")).is_ok_and(|lane| lane.is_user());
    if rule.weight.is_some() && !is_user {
        return Err(AppError::usage(format!("\"{}\" is not the lane of a user, and has no weight", named.0))
            .hint("weights are shares of users: luzia lanes set user:alice --weight 2; nothing was set"));
    }
    if let Some(fleet) = &app.fleet {
        shared::check_options(options)?;
        return Ok(shared::set(&**fleet, named, &|known| rule.clone().or(&rule_without(known, &taken_back)))?.1);
    }
    app.store.prepare()?;
    app.store.change_control::<_, AppError>(|control| {
        let before = control.over(&app.settings.written());
        let known = control.lanes.remove(&named.0).unwrap_or_default();
        let changed = rule.clone().or(&rule_without(&known, &taken_back));
        if changed != LaneRule::default() {
            control.lanes.insert(named.0.clone(), changed);
        }
        no_new_contradiction(app, &before, control, "nothing was set")
    })?;
    let data = json!({ "what": named.0, "max": rule.max, "weight": rule.weight, "lock_timeout_ms": rule.lock_timeout_ms, "rule": rule_json(rule), "taken_back": taken_back });
    app.store.note(&Event::new("lane_set").with(data));
    after_a_change(app, named)
}

/// Takes back what `lanes set` has set, so that the configuration counts again. False if nothing was set.
pub fn unset_lane(app: &App, named: &Named) -> Result<(bool, LaneRow), AppError> {
    if let Some(fleet) = &app.fleet {
        return shared::set(&**fleet, named, &|_| LaneRule::default());
    }
    let was_set = config_reload::control(app).lanes.contains_key(&named.0);
    if was_set {
        app.store.change_control::<_, AppError>(|control| {
            let before = control.over(&app.settings.written());
            control.lanes.remove(&named.0);
            no_new_contradiction(app, &before, control, "nothing was taken back")
        })?;
        app.store.note(&Event::new("lane_unset").with(json!({ "what": named.0 })));
    }
    Ok((was_set, after_a_change(app, named)?))
}

/// Refuses a change that makes rules contradict each other that did not before.
fn no_new_contradiction(app: &App, before: &Config, control: &Control, undone: &str) -> Result<(), AppError> {
    let (known, after) = (before.contradictions(), control.over(&app.settings.written()).contradictions());
    let new = after.into_iter().find(|found| !known.iter().any(|known| known.is_like(found)));
    new.map_or(Ok(()), |found| Err(AppError::usage(found.to_string()).hint(undone).next("luzia lanes")))
}

fn after_a_change(app: &App, named: &Named) -> Result<LaneRow, AppError> {
    follow_control(app)?;
    if app.store.has_layout()? {
        // The waiters for a lane look at the new limit.
        let locks = app.store.lock_index()?;
        let lanes = locks.lanes().filter(|lane| named.means(&lane.to_string()));
        lanes.for_each(|lane| app.store.call_waiters(&lane));
    }
    Ok(lane_row(app, named.text(), 0, 0))
}

/// The lanes that a task takes, without `global`, which every task takes.
pub(super) fn lanes_of(task: &Task) -> Vec<LaneName> {
    let user: Option<&Name> = task.takes_user_lane.then_some(&task.user);
    user.map(LaneName::user).into_iter().chain(task.lanes.iter().cloned()).collect()
}

/// The kinds of lanes that a task takes by a rule alone.
pub(crate) const RULED: [&str; 2] = ["project", "goal"];

/// Whether a lane or a pattern is of projects or goals.
pub fn is_ruled(lane: &str) -> bool {
    lane.split_once(':').is_some_and(|(kind, _)| RULED.contains(&kind))
}

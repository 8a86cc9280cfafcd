//! Resources that lanes give beside a place in them, as the verbs use them.

pub mod bars;
pub mod gates;
pub mod holders;

use super::config_reload::config;
use crate::app::App;
use crate::model::LaneName;
use crate::model::capacity::slot_variable;
use crate::model::lock::Grant;
use crate::policy::capacity::knows_fifos;
use crate::supervise::CpuPlan;

/// The plan by which the processors of a lane with a budget are shared.
pub(crate) fn cpu_plan(app: &App, lane: &LaneName) -> Option<CpuPlan> {
    let rule = config(app).cpu_rule(lane)?;
    let (allowed, parallelism) = app.host.processors();
    Some(CpuPlan { budget: rule.budget.cpus(parallelism), allowed: rule.is_bound.then_some(allowed) })
}

/// The variables that give a holder the values of its slots.
pub(crate) fn slot_variables(grants: &[Grant]) -> impl Iterator<Item = (String, String)> + '_ {
    grants.iter().filter_map(|grant| Some((slot_variable(&grant.lane), grant.value.clone()?)))
}

/// Why budgets do not bound `make -jN` on this host: its make does not follow a job server of luzia.
pub fn old_make(app: &App) -> Option<String> {
    let path = (app.inherited)("PATH");
    let said = app.host.version_of("make", path.as_deref().map(str::as_bytes))?;
    let name = said.lines().next().filter(|_| !knows_fifos(&said))?;
    Some(format!(
        "{name} of this host takes its share as -j and follows no job server (GNU make 4.4 does), so `make -jN` is not bounded by a CPU budget"
    ))
}

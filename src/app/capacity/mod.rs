//! Resources that lanes give beside a place in them, and bars that keep a lane with room from granting, as the verbs use them.
//! `cpu_plan` and `slot_variables` give the resources: a share of the processors, and the values of slots. `bars` gives the bars
//! of a lane apart from its holders: pauses, gates, rates, and strangers that use its values. `busy` tells whether the gate of a
//! lane lets it grant anything now; a grant is never taken back for a gate. `named_slots` lists the slots of a lane with names,
//! and their holders.

use crate::app::config_reload::{config, control};
use crate::app::{App, AppError, Pause, shell_word};
use crate::model::capacity::{Choice, Occupied, Readings, slot_variable};
use crate::model::lock::{Grant, loan};
use crate::model::time::format_duration;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::policy::admission::Shut;
use crate::policy::capacity::{Busy, judge, knows_fifos};
use crate::store::{Event, LockView, NotNow};
use crate::supervise::CpuPlan;
use serde_json::json;

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
        "{name} of this host does not follow the job server of luzia (GNU make 4.4 does): it gets its share as -j, \
         and `make -jN` exceeds a CPU budget"
    ))
}

/// The bars of a lane now, apart from its holders.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bars {
    /// The pause of the lane, of a pattern that matches the lane, or of the host.
    pub paused: Option<Pause>,
    /// The reason why the gate of the lane is shut.
    pub busy: Option<Busy>,
    /// The moment from which the lane's rate allows a grant.
    pub limited_until: Option<Timestamp>,
    /// The strangers that use every value of the lane that no holder has.
    pub occupied: Option<Occupied>,
}

impl Bars {
    /// Whether the lane has no bars.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// A sentence for each bar.
    pub fn texts(&self, lane: &LaneName, now: Timestamp) -> Vec<String> {
        let paused = self.paused.as_ref().map(|pause| format!("grants nothing: {}", pause_text(pause, "", now)));
        let busy = self.busy.as_ref().map(|busy| format!("grants nothing while the host is busy: {}", busy.text()));
        let limited = self.limited_until.map(|until| {
            let left = format_duration(until.saturating_ms_since(now));
            format!("is free, but its rate is used up for {left} (until {until})")
        });
        let occupied = self.occupied.as_ref().map(|occupied| {
            let by =
                occupied.pid.map_or_else(|| "a process that cannot be seen".to_owned(), |pid| format!("process {pid}"));
            let more = if occupied.count > 1 { format!(", and {} more", occupied.count - 1) } else { String::new() };
            format!("has no free value: {} is in use by {by}{more}", occupied.value)
        });
        let texts = [paused, busy, limited, occupied].into_iter().flatten();
        texts.map(|text| format!("lane \"{lane}\" {text}")).collect()
    }
}

/// The bars of a lane with these holders.
pub(crate) fn bars(app: &App, lane: &LaneName, holders: &[LockView]) -> Result<Bars, AppError> {
    Ok(Bars {
        paused: pause_of_lane(app, lane),
        busy: busy(app, lane, false),
        limited_until: limited_until(app, lane)?,
        occupied: occupied(app, lane, holders),
    })
}

/// The moment from which the rate of a lane allows a grant; `None` if it allows one now.
pub(crate) fn limited_until(app: &App, lane: &LaneName) -> Result<Option<Timestamp>, AppError> {
    let rate = config(app).rate(lane);
    Ok(rate.map_or(Ok(None), |rate| app.store.granted_again(lane, rate))?)
}

/// The pause of a lane.
pub(crate) fn pause_of_lane(app: &App, lane: &LaneName) -> Option<Pause> {
    control(app).standing(app.host.now()).find(|hold| hold.held.is_of(lane)).map(Pause::by)
}

/// A pause in words: its subject, its begin, its author, its reason, and the time left.
pub fn pause_text(pause: &Pause, task: &str, now: Timestamp) -> String {
    let what = match pause.what.as_str() {
        "*" => "every task is paused".to_owned(),
        own if own == task => "it is paused".to_owned(),
        other => format!("\"{}\" is paused", full_name(other)),
    };
    let ago = format_duration(now.saturating_ms_since(pause.since));
    let by = pause.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let why = pause.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let end = match pause.until {
        Some(until) => {
            let left = format_duration(until.saturating_ms_since(now));
            format!(", for {left} more")
        }
        None => format!(", until somebody calls luzia resume {}", resume_word(&pause.what)),
    };
    format!("{what} since {ago}{by}{why}{end}")
}

/// The argument of `resume` that lifts a hold.
pub fn resume_word(what: &str) -> String {
    if what == "*" { "--all".to_owned() } else { shell_word(full_name(what)) }
}

/// A task, a lane or a pattern in a form that has no other meaning: a bare word would be a user.
pub fn full_name(what: &str) -> String {
    let is_bare = !what.contains([':', '*']) && TaskId::parse(what).is_none();
    if is_bare { format!("lane:{what}") } else { what.to_owned() }
}

/// Largest age of readings of this process, in milliseconds: the kernel averages over seconds.
const FRESH_MS: u64 = 250;
/// Time until a lane that grants nothing now is tried again, in milliseconds. No event reports that a host has become idle or
/// that a stranger has given a port back.
pub(crate) const AGAIN_MS: i64 = 1000;

/// Readings with the moment of the boot clock at which they were taken.
pub(crate) type Read = Option<(u64, Readings)>;

/// The lanes with shut gates, among some lanes. `notes` as for [`busy`].
pub(crate) fn shut<'a>(app: &App, lanes: impl Iterator<Item = &'a LaneName>, notes: bool) -> Vec<Shut> {
    lanes.filter_map(|lane| Some(Shut { lane: lane.clone(), busy: busy(app, lane, notes)? })).collect()
}

/// The reason why the gate of a lane is shut. `None` if it is open, or if the lane has no gate. With `notes` the store remembers
/// the state of the gate, and an event reports a change of that state.
pub(crate) fn busy(app: &App, lane: &LaneName, notes: bool) -> Option<Busy> {
    let gate = config(app).hold_while(lane)?;
    let was_shut = app.store.was_shut(lane);
    let busy = judge(&gate, &fresh_readings(app), was_shut);
    if notes && busy.is_some() != was_shut && app.store.mark_gate(lane, busy.is_some()) {
        let (name, said) = match &busy {
            Some(busy) => ("gate_shut", format!("{lane} grants nothing: {}", busy.text())),
            None => ("gate_opened", format!("{lane} grants again")),
        };
        let data = json!({ "hold_while": gate.to_string(), "readings": busy.as_ref().map(|busy| &busy.readings) });
        app.store.note(&Event::new(name).in_lane(lane).saying(said).with(data));
    }
    busy
}

/// The readings of the gauges, taken anew if the last ones are old.
pub(crate) fn fresh_readings(app: &App) -> Readings {
    let now = app.host.boot_ms();
    if let Some((at, known)) = *app.readings.borrow()
        && now.saturating_sub(at) < FRESH_MS
    {
        return known;
    }
    let read = app.host.readings();
    *app.readings.borrow_mut() = Some((now, read));
    read
}

/// Why a lane that has room grants nothing now, in words.
pub(crate) fn not_now_text(app: &App, why: &NotNow) -> String {
    let bars = match why {
        NotNow::Narrow(lane) => return format!("lane \"{lane}\" has fewer slots than the request needs"),
        NotNow::Occupied(_, occupied) => Bars { occupied: Some(occupied.clone()), ..Bars::default() },
        NotNow::Shut(lane) => {
            Bars { paused: pause_of_lane(app, lane), busy: busy(app, lane, false), ..Bars::default() }
        }
    };
    let was = || format!("lane \"{}\" granted nothing", why.lane());
    bars.texts(why.lane(), app.host.now()).into_iter().next().unwrap_or_else(was)
}

/// One value of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedSlot {
    /// The value that the slot stands for.
    pub value: String,
    /// The slot that the value's holder has.
    pub slot: Option<u32>,
    /// The holder of the value.
    pub holder: Option<String>,
    /// Whether the value was removed from the values, and goes with its holder.
    pub is_drained: bool,
    /// Whether another program uses the value; with the process, where that can be seen.
    pub user: Option<Option<u32>>,
}

/// The values of a lane, and the removed values that holders still have. Empty for a lane without values.
pub fn named_slots(app: &App, lane: &LaneName) -> Result<Vec<NamedSlot>, AppError> {
    let Some(values) = config(app).values(lane) else { return Ok(Vec::new()) };
    let views = app.holders(lane)?;
    let held = views.iter().filter(|view| !view.verdict.is_stale());
    let value_of = |view: &LockView| {
        let recorded = view.record().and_then(|record| record.value.clone());
        recorded.or_else(|| values.get(loan::root(view.slot)))
    };
    let held: Vec<(Option<String>, &LockView)> = held.map(|view| (value_of(view), view)).collect();
    let row = |value: &str, is_drained| {
        let of = held.iter().find(|(known, _)| known.as_deref() == Some(value)).map(|(_, view)| view);
        NamedSlot {
            value: value.to_owned(),
            slot: of.map(|view| view.slot),
            holder: of.and_then(|view| view.shown().or_else(|| view.holder().map(str::to_owned))),
            is_drained,
            user: match (of, values.port(value)) {
                (None, Some(port)) => app.host.user_of_port(port),
                _ => None,
            },
        }
    };
    let all = values.all();
    let gone =
        held.iter().filter_map(|(value, _)| value.as_deref()).filter(|value| !all.iter().any(|one| one == value));
    let rows = all.iter().map(|value| row(value, false)).chain(gone.map(|value| row(value, true)));
    Ok(rows.collect())
}

/// The bar of a lane with room, if strangers use every value that no holder has.
pub(crate) fn occupied(app: &App, lane: &LaneName, views: &[LockView]) -> Option<Occupied> {
    let values = config(app).values(lane)?;
    match app.host.choose_value(&values, &taken(views)) {
        Choice::Occupied(occupied) => Some(occupied),
        Choice::Slot(..) | Choice::Full => None,
    }
}

/// The slots of living holders with their values, as the store counts them.
fn taken(views: &[LockView]) -> Vec<(u32, Option<String>)> {
    let living = views.iter().filter(|view| !view.verdict.is_stale());
    living.map(|view| (loan::root(view.slot), view.record().and_then(|record| record.value.clone()))).collect()
}

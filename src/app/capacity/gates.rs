//! Gates: whether a lane grants anything now. A grant is never taken back for a gate.

use super::bars::{Bars, pause_of_lane};
use crate::app::App;
use crate::app::config_reload::config;
use crate::model::LaneName;
use crate::model::capacity::Readings;
use crate::policy::admission::Shut;
use crate::policy::capacity::{Busy, judge};
use crate::store::{Event, NotNow};
use serde_json::json;

/// Largest age of readings of this process, in milliseconds: the kernel averages over seconds.
const FRESH_MS: u64 = 250;
/// Time until a lane that grants nothing now is tried again, in milliseconds. No event reports that a host has become idle or
/// that a stranger has given a port back.
pub(crate) const AGAIN_MS: i64 = 1000;

/// Readings with the moment of the boot clock at which they were taken.
pub(crate) type Read = Option<(u64, Readings)>;

/// Those of the lanes whose gates are shut. `notes` as for [`busy`].
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
        NotNow::Narrow(lane) => return format!("lane \"{lane}\" has fewer slots than are wanted"),
        NotNow::Occupied(_, occupied) => Bars { occupied: Some(occupied.clone()), ..Bars::default() },
        NotNow::Shut(lane) => {
            Bars { paused: pause_of_lane(app, lane), busy: busy(app, lane, false), ..Bars::default() }
        }
    };
    let was = || format!("lane \"{}\" granted nothing", why.lane());
    bars.texts(why.lane(), app.host.now()).into_iter().next().unwrap_or_else(was)
}

//! Bars of a lane apart from its holders: pauses, gates, rates, and strangers that use its values.

use super::gates::busy;
use super::holders::occupied;
use crate::app::config_reload::{config, control};
use crate::app::{App, AppError, Busy, Pause, shell_word};
use crate::model::capacity::Occupied;
use crate::model::time::format_duration;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::store::LockView;

/// The bars of a lane now, apart from its holders.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bars {
    /// The pause of the lane, of a pattern that matches the lane, or of the host.
    pub paused: Option<Pause>,
    /// The reason why its gate is shut.
    pub busy: Option<Busy>,
    /// The moment from which its rate allows a grant.
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
            let by = occupied.pid.map_or_else(|| "a process of another".to_owned(), |pid| format!("process {pid}"));
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
        "*" => "every task of the host is paused".to_owned(),
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

//! Messages of a waiter: for whom it waits, that it has waited for long, and the error with which it ends.

use super::{Bar, SILENT_MS, Seen, TELL_MS, Wait, place_of};
use crate::app::capacity::Bars;
use crate::app::config_reload::config;
use crate::app::estimate::{about, expected_lock};
use crate::app::hooks::hand_hooks_over;
use crate::app::locks::acquire::locked_line;
use crate::app::locks::release::{held_error, held_text};
use crate::app::locks::waiting;
use crate::app::wait_warnings::{LongWait, WAIT_WARNING};
use crate::app::{App, AppError, Code, Kind, lane_word, shell_word};
use crate::model::lock::loan;
use crate::model::{LaneName, Timestamp};
use crate::policy::wait_warning::rule_of;
use crate::store::{Event, LaneNeed, LockView, NotNow, Request};
use serde_json::json;
use std::time::Duration;

/// The full lanes of a request, each with its holders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Full(pub Vec<(LaneName, Vec<LockView>)>);

impl Full {
    fn views(&self) -> impl Iterator<Item = &LockView> {
        self.holders().map(|(_, view)| view)
    }

    /// Each holder with its lane, the one that was met first.
    pub fn holders(&self) -> impl Iterator<Item = (&LaneName, &LockView)> {
        self.0.iter().flat_map(|(lane, views)| views.iter().map(move |view| (lane, view)))
    }

    /// The lines for `-v` about the threads among them.
    pub fn locked_lines(&self, wanted_by: &str, mut met: impl FnMut(&LaneName, &str)) -> Vec<String> {
        let line = |(lane, view): (&LaneName, &LockView)| {
            locked_line(lane, view.holder(), wanted_by).inspect(|line| met(lane, line))
        };
        self.holders().filter_map(line).collect()
    }

    fn text(&self, now: Timestamp) -> String {
        let texts: Vec<String> = self.holders().map(|(lane, view)| held_text(lane, view, now)).collect();
        texts.join("; ")
    }

    /// The error that names all holders.
    pub fn error(&self, now: Timestamp) -> AppError {
        let mut holders = self.holders();
        let Some((lane, view)) = holders.next() else {
            return AppError::new(Code::Bug, "a lane is held, and nobody holds it");
        };
        let error = held_error(lane, view, now);
        if holders.next().is_none() {
            return error;
        }
        let mut next = error.refusal().next.clone();
        let place = next.len().min(1);
        let further = self.0.iter().skip(1).map(|(lane, _)| format!("luzia explain {}", lane_word(lane)));
        next.splice(place..place, further);
        error.reworded(|_| self.text(now)).with_next(next)
    }
}

/// The full lanes of a request with all their holders; `met` is the one that was met.
pub(super) fn lanes_held(app: &App, request: &Request, met: &LockView) -> Full {
    let mut full = Vec::new();
    for need in &request.needs {
        let is_met = request.needs.len() == 1 || met.lane.as_ref() == Some(&need.lane);
        if is_met && need.limit <= 1 {
            full.insert(0, (need.lane.clone(), vec![met.clone()]));
            continue;
        }
        let holders = living(app, need);
        let roots = loan::holders(holders.iter().map(|view| view.slot));
        if is_met {
            // The holder may be gone since; those that hold the lane with it are named after it.
            let others = holders.into_iter().filter(|view| view.slot != met.slot);
            full.insert(0, (need.lane.clone(), std::iter::once(met.clone()).chain(others).collect()));
        } else if roots.saturating_add(need.count) > need.limit {
            full.push((need.lane.clone(), holders));
        }
    }
    if full.is_empty() {
        let lane = met.lane.clone().or_else(|| request.needs.first().map(|need| need.lane.clone()));
        full.extend(lane.map(|lane| (lane, vec![met.clone()])));
    }
    Full(full)
}

fn first_holder(app: &App, lane: &LaneName) -> Full {
    let views: Vec<LockView> = app.holders(lane).unwrap_or_default().into_iter().take(1).collect();
    Full(if views.is_empty() { Vec::new() } else { vec![(lane.clone(), views)] })
}

fn living(app: &App, need: &LaneNeed) -> Vec<LockView> {
    let mut views = app.holders(&need.lane).unwrap_or_default();
    views.retain(|view| !view.verdict.is_stale());
    views
}

/// Reports once that this wait has lasted for as long as a lane says: during the wait if a rule was written, else when it
/// `is_over`. Returns the time until then.
pub(super) fn warn_of_lock(
    app: &App,
    request: &Request,
    seen: Option<&Seen>,
    is_over: bool,
    wait: &mut Wait,
) -> Duration {
    let lanes: Vec<LaneName> = request.needs.iter().map(|need| need.lane.clone()).collect();
    let Some(rule) = rule_of(&config(app), &lanes).filter(|rule| rule.is_explicit || is_over) else {
        return Duration::MAX;
    };
    let waited_ms = waiting::waited_ms(app, wait);
    if wait.is_warned || wait.limit_ms == Some(0) {
        return Duration::MAX;
    }
    if waited_ms < rule.after_ms {
        return Duration::from_millis(rule.after_ms - waited_ms);
    }
    wait.is_warned = true;
    let held_by = match seen {
        Some(Seen::Held(view)) => view.holder(),
        _ => None,
    };
    let position = wait.in_line.position().map_or(1, |ahead| ahead + 1);
    let event = LongWait { rule: &rule, waited_ms, position, held_by }.event(Event::new(WAIT_WARNING));
    app.store.note(&event.saying(format!("{} waits", request.holder)));
    hand_hooks_over(app, &mut |text| (wait.tell)(text));
    Duration::MAX
}

/// Names the holder for which a request waits, after it has waited for a while, and again when the holder has changed.
pub(super) fn tell_wait(app: &App, request: &Request, seen: &Seen, wait: &mut Wait) {
    let waited = waiting::waited_ms(app, wait);
    let is_soon = wait.told.as_ref().is_some_and(|(at, _)| waited.saturating_sub(*at) < TELL_MS);
    let Some(need) = place_of(request, wait).filter(|_| waited >= SILENT_MS && !is_soon) else { return };
    let full = match seen {
        Seen::Held(view) => lanes_held(app, request, view),
        Seen::Behind(lane) => first_holder(app, lane),
        Seen::Barred(_) => Full::default(),
    };
    let holder = full.views().next();
    let who: Vec<&str> = full.views().filter_map(LockView::lock_id).collect();
    let who = who.join(" ");
    let ahead = wait.in_line.position();
    let state = format!("{who} {ahead:?}");
    if wait.told.as_ref().is_some_and(|(_, told)| *told == state) {
        return;
    }
    let what = match (holder, seen) {
        (_, Seen::Barred(bar)) => barred_text(bar, app.host.now()),
        (Some(_), _) => full.text(app.host.now()),
        (None, _) => format!("lane \"{}\" is free, but others wait in its line", need.lane),
    };
    let place = ahead.map_or_else(String::new, |ahead| format!("; position {}", ahead + 1));
    let is_one = request.needs.len() == 1 && wait.told.is_none();
    let expected = is_one.then(|| expected_lock(app, &need.lane, ahead.unwrap_or(0) as u64)).flatten();
    let about = expected.map_or_else(String::new, |expected| format!("; {}", about(expected.p50_ms)));
    (wait.tell)(&format!("luzia: waits: {what}{place}{about}"));
    if wait.told.is_none() {
        let data =
            json!({ "holder": request.holder, "waited_ms": waited, "held_by": holder.and_then(LockView::holder) });
        app.store.note(&Event::new("lock_waiting").in_lane(&need.lane).saying(what).with(data));
        hand_hooks_over(app, &mut |text| (wait.tell)(text));
    }
    wait.told = Some((waited, state));
}

/// A bar of a lane with room, in words for people.
fn barred_text(bar: &Bar, now: Timestamp) -> String {
    match bar {
        Bar::Rate { lane, until } => {
            let bars = Bars { limited_until: Some(*until), ..Bars::default() };
            bars.texts(lane, now).concat()
        }
        Bar::NotNow { text, .. } => text.clone(),
        Bar::Kept => "the free slots of \"global\" are reserved for other lanes".to_owned(),
    }
}

/// The error of a lane with room that a rule bars.
pub(super) fn barred_error(bar: &Bar, now: Timestamp) -> AppError {
    let (code, lane) = match bar {
        Bar::Rate { lane, .. } => (Code::RateLimited, lane.clone()),
        Bar::Kept => (Code::Reserved, LaneName::global()),
        Bar::NotNow { why, is_paused, .. } => {
            let code = match why {
                NotNow::Shut(_) if *is_paused => Code::LanePaused,
                NotNow::Shut(_) => Code::HostBusy,
                NotNow::Narrow(_) => Code::TooFewSlots,
                NotNow::Occupied(..) => Code::SlotOccupied,
            };
            (code, why.lane().clone())
        }
    };
    if code == Code::LanePaused {
        return AppError::new(code, barred_text(bar, now))
            .hint("wait until the pause ends")
            .next(format!("luzia explain {}", lane_word(&lane)));
    }
    AppError::new(code, barred_text(bar, now))
        .with_kind(Kind::Busy)
        .hint("wait for the lane, or look at its rule with luzia lanes show")
        .next(format!("luzia lanes show {}", shell_word(lane.to_string())))
}

/// The error of a free lane that others are about to take.
pub(super) fn behind_error(lane: &LaneName) -> AppError {
    AppError::new(Code::LockHeld, format!("lane \"{lane}\" is free, but others wait in its line and go first"))
        .hint("wait in the line with -w, or try again")
        .next(format!("luzia explain {}", lane_word(lane)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_lane_is_told_as_a_busy_lane() {
        let lane = LaneName::global();
        let not_now = |why, is_paused| Bar::NotNow { why, is_paused, text: String::new() };
        let bars = [
            Bar::Rate { lane: lane.clone(), until: Timestamp(0) },
            Bar::Kept,
            not_now(NotNow::Shut(lane.clone()), false),
            not_now(NotNow::Shut(lane.clone()), true),
            not_now(NotNow::Narrow(lane.clone()), false),
        ];
        let errors = bars.iter().map(|bar| barred_error(bar, Timestamp(0))).chain([behind_error(&lane)]);
        errors.for_each(|error| assert!(error.is_of_busy_lane(), "{error:?}"));
        assert!(!AppError::new(Code::LockLost, "a lease is over").is_of_busy_lane());
    }
}

//! Checks estimates against the real starts. Events are processed in their order. At each acceptance the queue of that moment
//! is simulated with the data of that moment, and compared with the real start. Nothing has to be recorded when a task is queued.

use super::estimate::estimate;
use super::history::{History, Told, expect};
use super::load::{Job, Load};
use crate::model::config::Config;
use crate::model::{LaneName, TaskId, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::fair::{Ledger, Payer};
use std::collections::BTreeMap;

/// Greatest number of looks at heads for one estimate.
const LOOKS: u64 = 20_000;

/// The score of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LaneScore {
    /// Number of tasks that had to wait and started, or have waited for longer than was expected.
    pub tasks: u64,
    /// Number of these tasks with an estimate.
    pub known: u64,
    /// Number of tasks that started within the median of their estimate.
    pub within_p50: u64,
    /// Number of tasks that started within the 90th percentile of their estimate.
    pub within_p90: u64,
}

impl LaneScore {
    /// The sum of two.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        Self {
            tasks: self.tasks + other.tasks,
            known: self.known + other.known,
            within_p50: self.within_p50 + other.within_p50,
            within_p90: self.within_p90 + other.within_p90,
        }
    }

    /// The share of the estimated tasks that started within the 90th percentile, to four digits.
    pub fn share(&self) -> Option<f64> {
        let parts = self.within_p90.saturating_mul(10_000).checked_div(self.known)?;
        Some(f64::from(u32::try_from(parts).unwrap_or(10_000)) / 10_000.0)
    }
}

/// A task as events describe it.
#[derive(Clone, Debug)]
struct Seen {
    id: TaskId,
    told: Told,
    at: Timestamp,
    /// The time from which the task has its lanes.
    since: Option<Timestamp>,
    estimate: Option<(u64, u64)>,
    /// Whether the task is counted: it had to wait, and arrived since the requested moment.
    counts: bool,
}

/// Processes events in their order.
pub struct Score<'a> {
    since: Timestamp,
    config: &'a Config,
    history: History,
    ledger: Ledger,
    open: BTreeMap<TaskId, Seen>,
    now: Timestamp,
    /// Number of estimates that may still be made.
    left: u64,
    /// By the lane of the task's user, or its first named one.
    pub lanes: BTreeMap<String, LaneScore>,
}

impl<'a> Score<'a> {
    /// A score of the tasks that were accepted since a moment, `most` of them at most, by the present limits and weights.
    pub fn new(since: Timestamp, config: &'a Config, most: u64) -> Self {
        Self {
            since,
            config,
            history: History::default(),
            ledger: Ledger::default(),
            open: BTreeMap::new(),
            now: since,
            left: most,
            lanes: BTreeMap::new(),
        }
    }

    /// Processes one event.
    pub fn take(&mut self, record: &Record) {
        self.history.take(record);
        self.now = self.now.max(record.at);
        let Some(id) = record.task else { return };
        match record.kind.as_str() {
            "enqueued" => self.accepted(id, record),
            "locked" => self.granted(id, record.at),
            "finished" | "cancelled" | "withdrawn" | "edited" | "taken_here" | "requeued" => self.gone(id, record.at),
            _ => {}
        }
    }

    /// A task that still waits beyond its estimate did not start within it.
    pub fn finish(mut self) -> BTreeMap<String, LaneScore> {
        let now = self.now;
        for seen in std::mem::take(&mut self.open).into_values() {
            let waited = now.saturating_ms_since(seen.at);
            if seen.since.is_none() && seen.estimate.is_some_and(|(_, p90)| waited > p90) {
                self.count(&seen, waited);
            }
        }
        self.lanes
    }

    fn accepted(&mut self, id: TaskId, record: &Record) {
        let (lane, work, priority) = (record.lane.as_deref(), record.text("work"), record.number("priority"));
        let told = record.user.as_deref().and_then(|user| Told::read(user, lane, &record.lanes, work, priority));
        let Some(told) = told else { return };
        // A task that must not start yet waits for something else.
        if record.data.get("delayed").is_some() {
            return;
        }
        let counts = record.at >= self.since;
        let mut seen = Seen { id, told, at: record.at, since: None, estimate: None, counts };
        if seen.counts && self.left > 0 {
            let (load, target) = self.load_with(&seen);
            let found = estimate(&load, &self.ledger, record.at, target, LOOKS, id.0);
            seen.estimate = found.map(|found| (found.p50_ms, found.p90_ms));
            // An immediate start is easy to predict and does not count.
            seen.counts = found.is_none_or(|found| found.p90_ms > 0);
            self.left -= u64::from(seen.counts);
        } else {
            seen.counts = false;
        }
        self.open.insert(id, seen);
    }

    fn granted(&mut self, id: TaskId, at: Timestamp) {
        let Some(mut seen) = self.open.remove(&id) else { return };
        seen.since = Some(at);
        let waited = at.saturating_ms_since(seen.at);
        self.count(&seen, waited);
        seen.counts = false;
        self.ledger.granted(seen.told.priority.tier(), &self.payer(&seen), at);
        self.open.insert(id, seen);
    }

    fn gone(&mut self, id: TaskId, at: Timestamp) {
        let Some(seen) = self.open.remove(&id) else { return };
        if let Some(since) = seen.since {
            let ran = at.saturating_ms_since(since);
            self.ledger.ended(&self.payer(&seen), ran, at);
        }
    }

    fn count(&mut self, seen: &Seen, waited: u64) {
        if !seen.counts {
            return;
        }
        let lane = seen.told.lane.as_ref().or(seen.told.lanes.first()).map_or_else(String::new, LaneName::to_string);
        let score = self.lanes.entry(lane).or_default();
        score.tasks += 1;
        if let Some((p50, p90)) = seen.estimate {
            score.known += 1;
            score.within_p50 += u64::from(waited <= p50);
            score.within_p90 += u64::from(waited <= p90);
        }
    }

    fn payer(&self, seen: &Seen) -> Payer {
        let told = &seen.told;
        Payer { user: told.user.clone(), queue: told.queue(), weights: told.weights(self.config), has_shares: false }
    }

    /// The queue at that moment, with one more task; and the place of that task.
    fn load_with(&self, target: &Seen) -> (Load, usize) {
        let mut load = Load::empty(self.config.slots_max, self.config.tier_shares);
        for seen in self.open.values().chain([target]) {
            let job = seen.told.job(&mut load, &self.history, self.config, seen.id, seen.at);
            load.jobs.push(Job { since: seen.since, ..job });
        }
        let place = load.jobs.len() - 1;
        expect(&mut load, &self.history, self.config, target.at);
        (load, place)
    }
}

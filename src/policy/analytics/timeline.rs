//! Holds and waits of lanes over time, from events; and the trace of these. Pure.

use super::record::Record;
use crate::model::Timestamp;
use crate::model::sorted::sort_by_key;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One hold of one lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hold {
    /// The lane.
    pub lane: String,
    /// The task, or the id of the lock.
    pub holder: String,
    /// The user of a task.
    pub user: Option<String>,
    /// The host, where a store of several hosts has the hold.
    pub host: Option<String>,
    /// The time from which the task waited for it.
    pub asked: Timestamp,
    /// The time of the grant.
    pub from: Timestamp,
    /// The time of the release; `None` while the hold lasts.
    pub to: Option<Timestamp>,
    /// The beginning and the end of the task's command.
    pub run: Option<(Timestamp, Option<Timestamp>)>,
    /// The end of the command, in one word.
    pub end: String,
    /// The task that lends the lane, where the hold is a loan.
    pub lender: Option<String>,
    /// The times in which the task waited for an event and kept the lane.
    pub waits: Vec<(Timestamp, Option<Timestamp>)>,
}

/// The row of a hold; `None` for a hold that has none.
pub type RowOf = fn(&Hold) -> Option<Cow<'_, str>>;

impl Hold {
    /// Whether the hold is one of `global`, of which each run of a task has one.
    pub fn is_global(&self) -> bool {
        self.lane == "global"
    }

    /// The row of the hold's lane. Each host has a `global` of its own.
    pub fn of_lane(&self) -> Option<Cow<'_, str>> {
        let own = self.host.as_ref().filter(|_| self.is_global()).map(|host| format!("global on {host}").into());
        Some(own.unwrap_or(Cow::Borrowed(&self.lane)))
    }

    /// The row of the hold's user.
    pub fn of_user(&self) -> Option<Cow<'_, str>> {
        self.user.as_deref().filter(|_| self.is_global()).map(Cow::Borrowed)
    }

    /// The row of the hold's host.
    pub fn of_host(&self) -> Option<Cow<'_, str>> {
        self.host.as_deref().filter(|_| self.is_global()).map(Cow::Borrowed)
    }

    /// The hold's beginning and its end; it lasts until `now` where it has not ended.
    pub fn span(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        (self.from, self.to.unwrap_or(now).max(self.from))
    }

    fn end_run(&mut self, at: Timestamp, word: &str) {
        if let Some((_, to @ None)) = &mut self.run {
            *to = Some(at);
            word.clone_into(&mut self.end);
        }
    }
}

/// Gathers holds from events; events come in their order.
#[derive(Default)]
pub struct Holds {
    asked: BTreeMap<String, Timestamp>,
    open: BTreeMap<(String, String), usize>,
    /// The lenders of loans that are about to begin.
    lenders: BTreeMap<(String, String), String>,
    /// All holds, in the order of their grants.
    pub all: Vec<Hold>,
}

impl Holds {
    /// Processes one event.
    pub fn take(&mut self, record: &Record) {
        let task = record.task.map(|task| task.to_string()).unwrap_or_default();
        match record.kind.as_str() {
            "enqueued" | "requeued" | "retried" => drop(self.asked.insert(task, record.at)),
            "withdrawn" => drop(self.asked.remove(&task)),
            "locked" => {
                let asked = self.asked.remove(&task).unwrap_or(record.at);
                for lane in record.listed_lanes() {
                    self.begin(lane, &task, record, asked);
                }
            }
            "dispatched" => self.each_of(&task, |hold| hold.run = Some((record.at, None))),
            "ended" | "recovered" => {
                let word = record.text("status").filter(|_| record.kind == "ended").unwrap_or("interrupted");
                self.each_of(&task, |hold| hold.end_run(record.at, word));
            }
            "borrowed" => {
                if let (Some(lane), Some(lender)) = (record.lane.clone(), record.text("from")) {
                    self.lenders.insert((lane, task), lender.to_owned());
                }
            }
            "waiting" => self.each_of(&task, |hold| hold.waits.push((record.at, None))),
            "resumed" => self.each_of(&task, |hold| {
                if let Some((_, to @ None)) = hold.waits.last_mut() {
                    *to = Some(record.at);
                }
            }),
            "gave_up" => {
                for lane in record.listed_lanes() {
                    self.of(&lane, &task, |hold| hold.end_run(record.at, "waiting"));
                    self.finish(&lane, &task, record.at);
                }
            }
            "took_again" => {
                for lane in record.listed_lanes() {
                    self.begin(lane.clone(), &task, record, record.at);
                    self.of(&lane, &task, |hold| hold.run = Some((record.at, None)));
                }
            }
            "released" => record.listed_lanes().iter().for_each(|lane| self.finish(lane, &task, record.at)),
            "finished" => {
                self.asked.remove(&task);
                let lanes: Vec<String> =
                    self.open.keys().filter(|(_, of)| *of == task).map(|key| key.0.clone()).collect();
                lanes.iter().for_each(|lane| self.finish(lane, &task, record.at));
            }
            "lock_acquired" => {
                let waited = i64::try_from(record.number("waited_ms").unwrap_or(0)).unwrap_or(0);
                if let (Some(lane), Some(id)) = (record.lane.clone(), record.text("lock_id")) {
                    self.begin(lane, id, record, record.at.plus_ms(-waited));
                }
            }
            "lock_released" | "lock_broken" => {
                if let (Some(lane), Some(id)) = (&record.lane, record.text("lock_id")) {
                    self.finish(lane, id, record.at);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, lane: String, holder: &str, record: &Record, asked: Timestamp) {
        self.finish(&lane, holder, record.at);
        let key = (lane.clone(), holder.to_owned());
        let lender = self.lenders.remove(&key);
        self.open.insert(key, self.all.len());
        let (holder, user) = (holder.to_owned(), record.user.clone());
        let asked = asked.min(record.at);
        let (from, end) = (record.at, String::new());
        let (host, to, run, waits) = (None, None, None, Vec::new());
        self.all.push(Hold { lane, holder, user, host, asked, from, to, run, end, lender, waits });
    }

    /// Changes the open hold of a task in a lane.
    fn of(&mut self, lane: &str, task: &str, change: impl FnOnce(&mut Hold)) {
        if let Some(place) = self.open.get(&(lane.to_owned(), task.to_owned())) {
            change(&mut self.all[*place]);
        }
    }

    fn finish(&mut self, lane: &str, holder: &str, at: Timestamp) {
        if let Some(place) = self.open.remove(&(lane.to_owned(), holder.to_owned())) {
            let hold = &mut self.all[place];
            // A hold never ends before it begins, even if the clock was set back.
            hold.to = Some(at.max(hold.from));
        }
    }

    fn each_of(&mut self, task: &str, mut change: impl FnMut(&mut Hold)) {
        let places: Vec<usize> = self.open.iter().filter(|((_, of), _)| of == task).map(|(_, place)| *place).collect();
        places.into_iter().for_each(|place| change(&mut self.all[place]));
    }

    /// The holds that lasted at a moment or later, in the order of their grants.
    pub fn since(self, since: Timestamp) -> Vec<Hold> {
        let mut holds: Vec<Hold> = self.all.into_iter().filter(|hold| hold.to.is_none_or(|to| to >= since)).collect();
        sort_by_key(&mut holds, |hold| hold.from);
        holds
    }
}

/// Assigns each span a row, from 0. No two spans of one row overlap.
pub fn rows(spans: impl IntoIterator<Item = (Timestamp, Timestamp)>) -> Vec<usize> {
    let mut ends: Vec<Timestamp> = Vec::new();
    let place = |(from, to): (Timestamp, Timestamp)| {
        let row = ends.iter().position(|busy| *busy <= from).unwrap_or(ends.len());
        ends.resize(ends.len().max(row + 1), to);
        ends[row] = to;
        row
    };
    spans.into_iter().map(place).collect()
}

/// Holds by their lane, and those of `global` by their host, too.
pub fn by_lane(holds: &[Hold]) -> BTreeMap<Cow<'_, str>, Vec<&Hold>> {
    let mut lanes: BTreeMap<_, Vec<&Hold>> = BTreeMap::new();
    holds.iter().for_each(|hold| lanes.entry(hold.of_lane().unwrap_or_default()).or_default().push(hold));
    lanes
}

/// A trace for Perfetto: a process for each lane, and a thread for each slot. Slices are holds, with slices of commands in
/// them. Waits are asynchronous slices, because waits overlap. A counter shows the holders.
pub fn trace(holds: &[Hold], now: Timestamp) -> Value {
    const FIRST: i64 = i64::MIN;
    let mut events = Vec::new();
    let us = |at: Timestamp| at.0.saturating_mul(1000);
    for (pid, (lane, holds)) in (1..).zip(by_lane(holds)) {
        let mut event = |mut event: Value, tid: usize, ts: i64, args: Value| {
            // Names come before all other events.
            (event["pid"], event["tid"], event["ts"]) =
                (json!(pid), json!(tid), json!(if ts == FIRST { 0 } else { ts }));
            if !args.is_null() {
                event["args"] = args;
            }
            events.push((ts, event));
        };
        event(json!({ "ph": "M", "name": "process_name" }), 0, FIRST, json!({ "name": lane }));
        let (mut changes, mut slots) = (Vec::new(), std::collections::BTreeSet::new());
        for (hold, slot) in holds.iter().zip(rows(holds.iter().map(|hold| hold.span(now)))) {
            let tid = slot + 1;
            if slots.insert(tid) {
                let name = json!({ "name": format!("slot {slot}") });
                event(json!({ "ph": "M", "name": "thread_name" }), tid, FIRST, name);
            }
            let (from, to) = hold.span(now);
            let mut slice = |ph: &str, name: &str, at: Timestamp| {
                event(json!({ "ph": ph, "name": name, "cat": "hold" }), tid, us(at), Value::Null);
            };
            slice("B", &hold.holder, from);
            if let Some((begin, end)) = hold.run {
                let begin = begin.clamp(from, to);
                slice("B", "command", begin);
                slice("E", "command", end.unwrap_or(to).clamp(begin, to));
            }
            slice("E", &hold.holder, to);
            for (ph, at) in [("b", hold.asked), ("e", from)] {
                let id = format!("{} {}", hold.holder, us(from));
                event(json!({ "ph": ph, "name": hold.holder, "cat": "wait", "id": id }), 0, us(at), Value::Null);
            }
            changes.extend([(from, 1), (to, -1)]);
        }
        sort_by_key(&mut changes, |(at, change)| (*at, -change));
        let mut active = 0_i64;
        for (at, change) in changes {
            active += change;
            event(json!({ "ph": "C", "name": "active" }), 0, us(at), json!({ "holders": active }));
        }
    }
    // The sort is stable: events of one moment keep the order in which they were written.
    sort_by_key(&mut events, |(at, _)| *at);
    let events: Vec<Value> = events.into_iter().map(|(_, event)| event).collect();
    json!({ "displayTimeUnit": "ms", "traceEvents": events })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hold(lane: &str, from: i64, length: i64, run: bool) -> Hold {
        let (from, to) = (Timestamp(from), Timestamp(from + length));
        let run = run.then_some((from, Some(to)));
        let (lane, holder) = (lane.to_owned(), format!("task_{}", from.0));
        let (user, host, asked, to, end) = (None, None, from.plus_ms(-3), Some(to), String::new());
        Hold { lane, holder, user, host, asked, from, to, run, end, lender: None, waits: Vec::new() }
    }

    proptest! {
        #[test]
        fn slices_nest(
            parts in proptest::collection::vec((0_i64..40, 0_i64..20, any::<bool>(), any::<bool>()), 0..30),
        ) {
            let lane = |first: bool| if first { "user:a" } else { "<b>" };
            let mut holds: Vec<Hold> =
                parts.iter().map(|(from, length, run, first)| hold(lane(*first), *from, *length, *run)).collect();
            holds.sort_by_key(|hold| hold.from);
            let whole = trace(&holds, Timestamp(50));
            let (mut stacks, mut last) = (BTreeMap::<String, Vec<Value>>::new(), i64::MIN);
            for event in whole["traceEvents"].as_array().into_iter().flatten() {
                let at = event["ts"].as_i64().unwrap_or(0);
                prop_assert!(event["ph"] == "M" || at >= last);
                last = if event["ph"] == "M" { last } else { at };
                let stack = stacks.entry(format!("{} {}", event["pid"], event["tid"])).or_default();
                if event["ph"] == "B" {
                    stack.push(event["name"].clone());
                } else if event["ph"] == "E" {
                    prop_assert_eq!(stack.pop(), Some(event["name"].clone()));
                }
                prop_assert!(stack.len() <= 2);
            }
            prop_assert!(stacks.values().all(Vec::is_empty));
        }
    }
}

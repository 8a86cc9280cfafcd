//! Waits and holds of lanes and tasks, from one pass over all events. Grants and ends since a moment count. Earlier events are
//! read too, because they show which tasks held and waited at that moment.

use super::record::Record;
use crate::model::{TaskId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A summary of some lengths of time, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spread {
    /// Number of lengths.
    pub count: u64,
    /// The smallest length that at least half of them do not exceed.
    pub p50_ms: u64,
    /// The smallest length that at least 95 percent of them do not exceed.
    pub p95_ms: u64,
    /// The longest length.
    pub max_ms: u64,
}

impl Spread {
    /// The spread of lengths in any order; zeros without lengths.
    pub fn of(lengths: &[u64]) -> Self {
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable();
        let rank = |percent| rank(&sorted, percent).unwrap_or(0);
        Self { count: sorted.len() as u64, p50_ms: rank(50), p95_ms: rank(95), max_ms: rank(100) }
    }
}

/// The smallest number that so many percent of the numbers do not exceed; `sorted` is in order.
pub fn rank(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

/// Statistics of a lane.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LaneStats {
    /// Wait of each grant.
    pub waits: Vec<u64>,
    /// Duration of each hold.
    pub holds: Vec<u64>,
    /// Number of grants that waited while the lane was full.
    pub contended: u64,
    /// Number of tasks that wait for the lane, by the events.
    pub depth: u64,
    /// Number of holders, by the events.
    pub active: u64,
    /// The most tasks that waited for the lane at once.
    pub depth_max: u64,
    /// The most holders at once. A release is reported late, so a lane that changes hands may count both holders.
    pub active_max: u64,
    /// The time at which the lane was last full; it has not been full since.
    full_until: Option<Timestamp>,
}

/// Statistics of tasks by their end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskStats {
    /// Times from the moment at which tasks could have started to their grant.
    pub waits: Vec<u64>,
    /// Run times of the commands.
    pub runs: Vec<u64>,
    /// Times from the acceptance of tasks to their end.
    pub durations: Vec<u64>,
}

/// Processes events in their order.
pub struct Replay<'a> {
    since: Timestamp,
    is_within: bool,
    limit: &'a dyn Fn(&str) -> u32,
    open: BTreeMap<TaskId, Open>,
    held: BTreeMap<(String, String), Timestamp>,
    /// Statistics by lane.
    pub lanes: BTreeMap<String, LaneStats>,
    /// Statistics by final state.
    pub tasks: BTreeMap<String, TaskStats>,
    /// Number of attempts after which a task was queued again.
    pub requeued: u64,
}

/// A task that is not over.
#[derive(Default)]
struct Open {
    since: Option<Timestamp>,
    waits_for: BTreeSet<String>,
    waited: u64,
}

impl<'a> Replay<'a> {
    /// A replay that counts since a moment. `limit` returns the greatest number of holders of a lane at once.
    pub fn new(since: Timestamp, limit: &'a dyn Fn(&str) -> u32) -> Self {
        Self {
            since,
            is_within: false,
            limit,
            open: BTreeMap::new(),
            held: BTreeMap::new(),
            lanes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            requeued: 0,
        }
    }

    /// Processes one event.
    pub fn take(&mut self, record: &Record) {
        if !self.is_within && record.at >= self.since {
            self.is_within = true;
            for lane in self.lanes.values_mut() {
                (lane.depth_max, lane.active_max) = (lane.depth, lane.active);
            }
        }
        match (record.kind.as_str(), record.task) {
            ("enqueued" | "requeued" | "retried", Some(id)) => self.begin_wait(id, record),
            ("withdrawn", Some(id)) => self.end_wait(id),
            ("locked", Some(id)) => self.grant_task(id, record),
            ("released", Some(id)) => {
                for lane in record.listed_lanes() {
                    self.release(&lane, &id.to_string(), record.at);
                }
            }
            ("finished", Some(id)) => self.finish(id, record),
            ("lock_acquired", _) => {
                let waited = record.number("waited_ms").unwrap_or(0);
                if let (Some(lane), Some(holder)) = (&record.lane, record.text("lock_id")) {
                    self.grant(lane, holder, record.at, waited);
                }
            }
            ("lock_released" | "lock_broken", _) => {
                if let (Some(lane), Some(lock_id)) = (&record.lane, record.text("lock_id")) {
                    self.release(lane, lock_id, record.at);
                    // The task identifies its lock.
                    let task = lock_id.rsplit_once('_').map_or("", |(task, _)| task);
                    self.release(lane, task, record.at);
                }
            }
            _ => {}
        }
    }

    fn begin_wait(&mut self, id: TaskId, record: &Record) {
        self.let_go(id, record.at);
        self.end_wait(id);
        self.requeued += u64::from(self.is_within && record.kind == "requeued");
        let lanes: BTreeSet<String> =
            record.lane.iter().chain(&record.lanes).cloned().chain(["global".to_owned()]).collect();
        for name in &lanes {
            let is_within = self.is_within;
            let lane = self.lane(name);
            lane.depth += 1;
            if is_within {
                lane.depth_max = lane.depth_max.max(lane.depth);
            }
        }
        let open = self.open.entry(id).or_default();
        (open.since, open.waits_for) = (Some(record.at), lanes);
    }

    fn end_wait(&mut self, id: TaskId) {
        let lanes = self.open.get_mut(&id).map(|open| std::mem::take(&mut open.waits_for)).unwrap_or_default();
        for name in lanes {
            let lane = self.lane(&name);
            lane.depth = lane.depth.saturating_sub(1);
        }
    }

    fn grant_task(&mut self, id: TaskId, record: &Record) {
        self.end_wait(id);
        let open = self.open.entry(id).or_default();
        let waited = open.since.map_or(0, |since| record.at.saturating_ms_since(since));
        open.waited = open.waited.saturating_add(waited);
        for lane in record.listed_lanes() {
            self.grant(&lane, &id.to_string(), record.at, waited);
        }
    }

    fn grant(&mut self, name: &str, holder: &str, at: Timestamp, waited: u64) {
        self.held.insert((name.to_owned(), holder.to_owned()), at);
        let is_within = self.is_within;
        let lane = self.lane(name);
        lane.active += 1;
        if is_within {
            lane.waits.push(waited);
            let asked = at.plus_ms(-i64::try_from(waited).unwrap_or(i64::MAX));
            lane.contended += u64::from(lane.full_until.is_some_and(|full| full > asked));
            lane.active_max = lane.active_max.max(lane.active);
        }
    }

    fn release(&mut self, name: &str, holder: &str, at: Timestamp) {
        let Some(since) = self.held.remove(&(name.to_owned(), holder.to_owned())) else { return };
        let (limit, is_within) = ((self.limit)(name), self.is_within);
        let lane = self.lane(name);
        if lane.active >= u64::from(limit) {
            lane.full_until = Some(at);
        }
        lane.active = lane.active.saturating_sub(1);
        if is_within {
            lane.holds.push(at.saturating_ms_since(since));
        }
    }

    /// Ends the holds of a task. A crash may have kept the events of their ends from being written.
    fn let_go(&mut self, id: TaskId, at: Timestamp) {
        let holder = id.to_string();
        let lanes: Vec<String> =
            self.held.keys().filter(|(_, held_by)| *held_by == holder).map(|(lane, _)| lane.clone()).collect();
        for lane in lanes {
            self.release(&lane, &holder, at);
        }
    }

    fn finish(&mut self, id: TaskId, record: &Record) {
        self.let_go(id, record.at);
        self.end_wait(id);
        let open = self.open.remove(&id).unwrap_or_default();
        if !self.is_within {
            return;
        }
        let stats = self.tasks.entry(record.text("status").unwrap_or("unknown").to_owned()).or_default();
        stats.waits.push(open.waited);
        stats.runs.extend(record.number("ran_ms"));
        let created = record.text("created_at").and_then(Timestamp::parse);
        stats.durations.extend(created.map(|created| record.at.saturating_ms_since(created)));
    }

    fn lane(&mut self, name: &str) -> &mut LaneStats {
        self.lanes.entry(name.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn of(at: i64, kind: &str, task: u64, data: Value) -> Record {
        record(at, json!({ "event": kind, "task": format!("task_{task}"), "lane": "user:a", "data": data }))
    }

    fn replayed(since: i64, records: &[Record]) -> (LaneStats, BTreeMap<String, TaskStats>) {
        let mut replay = Replay::new(Timestamp(since), &|lane| if lane == "global" { 4 } else { 1 });
        records.iter().for_each(|record| replay.take(record));
        (replay.lanes.get("user:a").cloned().unwrap_or_default(), replay.tasks)
    }

    fn two_tasks() -> Vec<Record> {
        let lanes = || json!({ "lanes": ["user:a", "global"] });
        let back = || json!({ "lanes": ["global", "user:a"] });
        vec![
            of(0, "enqueued", 1, Value::Null),
            of(0, "enqueued", 2, Value::Null),
            of(10, "locked", 1, lanes()),
            of(60, "released", 1, back()),
            of(61, "finished", 1, json!({ "status": "completed", "ran_ms": 45 })),
            of(70, "locked", 2, lanes()),
            of(100, "released", 2, back()),
            of(101, "finished", 2, json!({ "status": "failed", "ran_ms": 25 })),
        ]
    }

    #[test]
    fn waits_holds_and_contention_are_those_of_the_events() {
        let (lane, tasks) = replayed(0, &two_tasks());
        assert_eq!((&lane.waits, &lane.holds), (&vec![10, 70], &vec![50, 30]));
        assert_eq!((lane.contended, lane.depth_max, lane.active_max), (1, 2, 1));
        assert_eq!((lane.depth, lane.active), (0, 0));
        assert_eq!((&tasks["completed"].waits, &tasks["failed"].runs), (&vec![10], &vec![25]));
    }

    #[test]
    fn only_what_was_granted_or_ended_since_counts_but_what_was_before_is_known() {
        let (lane, tasks) = replayed(65, &two_tasks());
        assert_eq!((&lane.waits, &lane.holds, lane.contended), (&vec![70], &vec![30], 1));
        assert_eq!((lane.depth_max, lane.active_max), (1, 1));
        assert_eq!(tasks.keys().collect::<Vec<_>>(), ["failed"]);
    }

    #[test]
    fn a_release_that_was_never_written_ends_with_the_task() {
        let mut records = two_tasks();
        records.remove(3);
        let (lane, _) = replayed(0, &records);
        assert_eq!((&lane.holds, lane.active), (&vec![51, 30], 0));
    }

    #[test]
    fn a_lock_that_was_broken_ends_there_and_its_waiter_met_contention() {
        let lock = |at: i64, kind: &str, id: &str, waited: u64| {
            record(at, json!({ "event": kind, "lane": "user:a", "data": { "lock_id": id, "waited_ms": waited } }))
        };
        let records = [
            lock(0, "lock_acquired", "pid-1_0", 0),
            lock(40, "lock_broken", "pid-1_0", 0),
            lock(41, "lock_acquired", "pid-2_0", 30),
            lock(50, "lock_released", "pid-2_0", 0),
            lock(60, "lock_acquired", "pid-3_0", 0),
        ];
        let (lane, _) = replayed(0, &records);
        assert_eq!((&lane.waits, &lane.holds), (&vec![0, 30, 0], &vec![40, 9]));
        assert_eq!((lane.contended, lane.active), (1, 1));
    }

    #[test]
    fn nine_of_ten_do_not_exceed_p90() {
        let p90 = |lengths: &[u64]| rank(lengths, 90);
        assert_eq!(p90(&[]), None);
        assert_eq!([&[7][..], &[1, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]].map(p90), [Some(7), Some(3), Some(9)]);
    }

    proptest! {
        #[test]
        fn a_percentile_is_the_smallest_value_that_enough_do_not_exceed(
            lengths in proptest::collection::vec(0_u64..50, 1..60),
        ) {
            let spread = Spread::of(&lengths);
            for (percent, value) in [(50, spread.p50_ms), (95, spread.p95_ms), (100, spread.max_ms)] {
                let at_most = |limit: u64| lengths.iter().filter(|one| **one <= limit).count() * 100;
                prop_assert!(at_most(value) >= percent * lengths.len());
                prop_assert!(value == 0 || at_most(value - 1) < percent * lengths.len());
            }
        }
    }
}

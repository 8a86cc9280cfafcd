//! Run times of work and expected arrivals of tasks, from events.
//!
//! `History` has the last lengths of the same work, and of the other holders of a lane. `expect` adds arrivals to a load: kinds
//! of tasks that came again and again are expected to continue. Without them, an estimate is too early if a later task of another
//! user may start first.

use super::load::{Coming, Job, Length, Load};
use crate::model::config::Config;
use crate::model::queue::digest;
use crate::model::sorted::sort_by_key;
use crate::model::{LaneName, Name, Priority, Task, TaskId, Timestamp};
use crate::policy::analytics::record::Record;
use crate::policy::fair::Weights;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Number of lengths that are remembered for one work, and for one lane.
pub const MOST_LENGTHS: usize = 50;
/// Least number of lengths for an answer.
pub const LEAST_LENGTHS: usize = 3;

/// Greatest number of kinds of work, and of open locks, that are remembered.
const MOST_KINDS: usize = 10_000;

/// The key of a kind of arrivals: the user, the lane of the user if it is taken, and the named lanes.
pub(super) type Kind = (String, Option<String>, Vec<String>);

/// Arrivals of tasks of one kind.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Arrivals {
    /// The time of the last arrival.
    pub last: Timestamp,
    /// The times between two arrivals.
    pub gaps: VecDeque<u64>,
    /// The work of the last task.
    pub work: Option<String>,
    /// The priority of the last task.
    pub priority: Option<u64>,
}

/// The observed history.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct History {
    work: BTreeMap<String, VecDeque<u64>>,
    lanes: BTreeMap<String, VecDeque<u64>>,
    pub(super) arrivals: BTreeMap<Kind, Arrivals>,
    /// Open locks without a task, by lane and lock id.
    open: BTreeMap<(String, String), Timestamp>,
}

/// The kinds of events that tell how long locks without a task lasted.
pub const OF_LOCKS: [&str; 3] = ["lock_acquired", "lock_released", "lock_broken"];

/// The members of the event of a lock that its length needs.
#[derive(Deserialize)]
struct LockLine<'a> {
    at: Timestamp,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    lane: Cow<'a, str>,
    #[serde(borrow)]
    data: LockData<'a>,
}

#[derive(Deserialize)]
struct LockData<'a> {
    #[serde(borrow)]
    lock_id: Cow<'a, str>,
}

impl History {
    /// Learns from an event.
    pub fn take(&mut self, record: &Record) {
        match record.kind.as_str() {
            "finished" => self.finished(record),
            "enqueued" => self.arrived(record),
            kind => {
                if let (Some(lane), Some(id)) = (&record.lane, record.text("lock_id")) {
                    self.lock(kind, lane, id, record.at);
                }
            }
        }
    }

    /// Like [`History::take`], for the line of an event of a lock. Other members of it are not read.
    pub fn take_lock(&mut self, line: &str) {
        if let Ok(LockLine { at, event, lane, data }) = serde_json::from_str(line) {
            self.lock(&event, &lane, &data.lock_id, at);
        }
    }

    /// Handles the begin or the end of a lock without a task.
    fn lock(&mut self, kind: &str, lane: &str, id: &str, at: Timestamp) {
        let place = || (lane.to_owned(), id.to_owned());
        match kind {
            "lock_acquired" if self.open.len() < MOST_KINDS => {
                self.open.insert(place(), at);
            }
            "lock_released" | "lock_broken" => {
                if let Some(since) = self.open.remove(&place()) {
                    remember(&mut self.lanes, lane, at.saturating_ms_since(since));
                }
            }
            _ => {}
        }
    }

    /// Handles the end of a task. A task that was cancelled gives no evidence of its run time.
    fn finished(&mut self, record: &Record) {
        let Some(ran) = record.number("ran_ms").filter(|_| record.text("status") != Some("cancelled")) else { return };
        if let Some(work) = record.text("work") {
            remember(&mut self.work, work, ran);
        }
        for lane in record.lanes.iter().chain(&record.lane) {
            remember(&mut self.lanes, lane, ran);
        }
    }

    fn arrived(&mut self, record: &Record) {
        let Some(user) = record.user.clone() else { return };
        let kind = (user, record.lane.clone(), record.lanes.clone());
        let is_new = !self.arrivals.contains_key(&kind);
        if is_new && self.arrivals.len() >= MOST_KINDS {
            return;
        }
        let seen = self.arrivals.entry(kind).or_default();
        if !is_new {
            push(&mut seen.gaps, record.at.saturating_ms_since(seen.last));
        }
        (seen.last, seen.work) = (record.at, record.text("work").map(str::to_owned));
        seen.priority = record.number("priority");
    }

    /// The lengths of the work of a task.
    pub fn lengths_of(&self, task: &Task) -> Length {
        let user = task.takes_user_lane.then(|| LaneName::user(&task.user));
        let named: Vec<LaneName> = task.lanes.iter().cloned().chain(user).collect();
        self.lengths(Some(&task.work()), &named)
    }

    /// The lengths of some work. If too few are known, the lengths of the first of its lanes with enough of them. `global` is
    /// not used.
    pub fn lengths(&self, work: Option<&str>, lanes: &[LaneName]) -> Length {
        let own = work.and_then(|work| self.work.get(work));
        let of_lanes =
            lanes.iter().filter(|lane| !lane.is_global()).filter_map(|lane| self.lanes.get(&lane.to_string()));
        let enough = own.into_iter().chain(of_lanes).find(|lengths| lengths.len() >= LEAST_LENGTHS);
        enough.map_or(Length::Unknown, |lengths| {
            let mut lengths: Vec<u64> = lengths.iter().copied().collect();
            lengths.sort_unstable();
            Length::Seen(Arc::from(lengths))
        })
    }
}

fn remember(of: &mut BTreeMap<String, VecDeque<u64>>, name: &str, length: u64) {
    if of.len() >= MOST_KINDS && !of.contains_key(name) {
        return;
    }
    push(of.entry(name.to_owned()).or_default(), length);
}

fn push(lengths: &mut VecDeque<u64>, length: u64) {
    if lengths.len() >= MOST_LENGTHS {
        lengths.pop_front();
    }
    lengths.push_back(length);
}

/// Greatest number of kinds of tasks that are expected to come: the ones that came last.
const MOST_EXPECTED: usize = 40;

/// A task as its events describe it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The user.
    pub user: Name,
    /// The lane of the user, if the task takes it.
    pub lane: Option<LaneName>,
    /// The named lanes.
    pub lanes: Vec<LaneName>,
    /// The digest of the task's work.
    pub work: Option<String>,
    /// The priority.
    pub priority: Priority,
}

impl Told {
    /// The task that the members of an event describe; `None` without a valid user. Other members that are invalid are left out.
    pub fn read(
        user: &str,
        lane: Option<&str>,
        lanes: &[String],
        work: Option<&str>,
        priority: Option<u64>,
    ) -> Option<Self> {
        let priority = priority.and_then(|number| u8::try_from(number).ok()).and_then(Priority::new);
        Some(Self {
            user: Name::new(user).ok()?,
            lane: lane.and_then(|lane| LaneName::parse(lane).ok()),
            lanes: lanes.iter().filter_map(|lane| LaneName::parse(lane).ok()).collect(),
            work: work.map(str::to_owned),
            priority: priority.unwrap_or(Priority::DEFAULT),
        })
    }

    /// A name for the task's queue. It replaces the real name, because events do not have the session.
    pub fn queue(&self) -> String {
        let mut name = LaneName::user_stem(&self.user);
        if self.lane.is_none() {
            let lanes: Vec<String> = self.lanes.iter().map(LaneName::to_string).collect();
            name += &format!("~n{}", digest(&lanes.join("\n")));
        }
        name
    }

    /// The weights of the task by a configuration.
    pub fn weights(&self, config: &Config) -> Weights {
        Weights::of(config, &self.user, &self.lanes)
    }

    /// The job that the task is in a load.
    pub fn job(&self, load: &mut Load, history: &History, config: &Config, id: TaskId, ready: Timestamp) -> Job {
        let all = self.lane.iter().chain(&self.lanes);
        let mut lanes: Vec<(usize, u32)> = all.map(|lane| (load.lane(lane, || config.limit(lane)), 1)).collect();
        lanes.push((0, 1));
        let named: Vec<LaneName> = self.lanes.iter().chain(&self.lane).cloned().collect();
        let length = history.lengths(self.work.as_deref(), &named);
        Job {
            id,
            is_task: true,
            user: load.user(&self.user, || config.weight(&self.user)),
            queue: self.queue().into(),
            takes_user_lane: self.lane.is_some(),
            weights: self.weights(config),
            priority: self.priority,
            lanes,
            ready,
            after: Vec::new(),
            since: None,
            most_ms: length.p90(),
            length,
        }
    }
}

/// Adds the expected arrivals to a load.
pub fn expect(load: &mut Load, history: &History, config: &Config, now: Timestamp) {
    let mut kinds: Vec<_> =
        history.arrivals.iter().filter(|(_, seen)| seen.gaps.len() >= LEAST_LENGTHS && seen.last <= now).collect();
    sort_by_key(&mut kinds, |(_, seen)| std::cmp::Reverse(seen.last));
    for ((user, lane, lanes), seen) in kinds.into_iter().take(MOST_EXPECTED) {
        let Some(told) = Told::read(user, lane.as_deref(), lanes, seen.work.as_deref(), seen.priority) else {
            continue;
        };
        let job = told.job(load, history, config, TaskId(0), now);
        let mut gaps: Vec<u64> = seen.gaps.iter().copied().collect();
        gaps.sort_unstable();
        if job.length != Length::Unknown {
            load.coming.push(Coming { job, gaps: Length::Seen(Arc::from(gaps)), last: seen.last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::analytics::record::tests::record;
    use serde_json::json;

    fn ended(work: &str, lane: &str, ran: u64, status: &str) -> Record {
        let data = json!({ "status": status, "ran_ms": ran, "work": work });
        record(0, json!({ "event": "finished", "task": "task_1", "lane": lane, "lanes": ["build"], "data": data }))
    }

    fn seen(length: &Length) -> Vec<u64> {
        match length {
            Length::Seen(lengths) => lengths.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_fifty_lengths_of_the_same_work_count_else_those_of_a_lane() {
        let mut history = History::default();
        let lanes = [LaneName::parse("user:a").expect("a lane"), LaneName::parse("build").expect("a lane")];
        (1..=60).for_each(|ran| history.take(&ended("w", "user:a", ran, "completed")));
        assert_eq!(seen(&history.lengths(Some("w"), &lanes)), (11..=60).collect::<Vec<u64>>());
        assert_eq!(seen(&history.lengths(Some("other"), &lanes)).len(), 50);
        assert_eq!(history.lengths(Some("other"), &lanes[..0]), Length::Unknown);
        let mut few = History::default();
        few.take(&ended("w", "user:b", 5, "completed"));
        few.take(&ended("w", "user:b", 5, "failed"));
        few.take(&ended("w", "user:b", 5, "cancelled"));
        assert_eq!(few.lengths(Some("w"), &lanes), Length::Unknown, "two are too few");
    }

    #[test]
    fn a_lock_without_a_task_counts_for_its_lane() {
        let lock = |at: i64, kind: &str| {
            record(at, json!({ "event": kind, "lane": "deploy", "data": { "lock_id": "pid-1_0" } }))
        };
        let mut history = History::default();
        for at in [0, 100, 200] {
            history.take(&lock(at, "lock_acquired"));
            history.take(&lock(at + 30, "lock_released"));
        }
        let lane = [LaneName::global(), LaneName::parse("deploy").expect("a lane")];
        assert_eq!(seen(&history.lengths(None, &lane)), [30, 30, 30]);
        for (at, kind) in [("2026-01-31T00:00:00.000Z", OF_LOCKS[0]), ("2026-01-31T00:00:00.040Z", OF_LOCKS[1])] {
            let data = r#"{"lock_id":"pid-1_0","fence":7,"holder":"pid-1"}"#;
            history
                .take_lock(&format!(r#"{{"v":1,"at":"{at}","event":"{kind}","pid":1,"lane":"deploy","data":{data}}}"#));
        }
        history.take_lock("{\"v\":1");
        assert_eq!(seen(&history.lengths(None, &lane)), [30, 30, 30, 40]);
    }
}

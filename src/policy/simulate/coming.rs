//! Expected arrivals: kinds of tasks that came again and again are expected to continue. Without them, an estimate is too early
//! if a later task of another user may start first.

use super::history::{History, LEAST_LENGTHS};
use super::load::{Coming, Job, Length, Load};
use crate::model::config::Config;
use crate::model::queue::digest;
use crate::model::{LaneName, Name, Priority, TaskId, Timestamp};
use crate::policy::fair::Weights;
use std::sync::Arc;

/// Greatest number of kinds of tasks that are expected to come: the ones that came last.
const MOST_KINDS: usize = 40;

/// A task as its events describe it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The user.
    pub user: Name,
    /// The lane of the user, if the task takes it.
    pub lane: Option<LaneName>,
    /// The named lanes.
    pub lanes: Vec<LaneName>,
    /// The digest of its work.
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

    /// A name for its queue. It replaces the real name, because events do not have the session.
    pub fn queue(&self) -> String {
        let mut name = LaneName::user(&self.user).stem();
        if self.lane.is_none() {
            let lanes: Vec<String> = self.lanes.iter().map(LaneName::to_string).collect();
            name += &format!("~n{}", digest(&lanes.join("\n")));
        }
        name
    }

    /// Its weights by a configuration.
    pub fn weights(&self, config: &Config) -> Weights {
        Weights::of(config, &self.user, &self.lanes)
    }

    /// The job that it is in a load.
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
    kinds.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.last));
    for ((user, lane, lanes), seen) in kinds.into_iter().take(MOST_KINDS) {
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

//! What is going to come: kinds of tasks that came again and again are expected to go on so. Without them an estimate is too
//! early wherever a task of another user that comes later may start first.

use super::history::{History, LEAST_LENGTHS, p90};
use super::load::{Coming, Job, Length, Load};
use crate::model::config::Config;
use crate::model::queue::digest;
use crate::model::{LaneName, Name, Priority, TaskId, Timestamp};
use crate::policy::fair::Weights;
use std::sync::Arc;

/// How many kinds of tasks are expected to come at most, those that came last.
const MOST_KINDS: usize = 40;

/// A task by what events tell of it.
#[derive(Clone, Debug)]
pub(super) struct Told<'a> {
    /// The user.
    pub user: &'a Name,
    /// The lane of the user, where it is taken.
    pub lane: Option<&'a LaneName>,
    /// The named lanes.
    pub lanes: &'a [LaneName],
    /// The digest of its work.
    pub work: Option<&'a str>,
    /// The priority.
    pub priority: Priority,
}

impl Told<'_> {
    /// A name for its queue: as good as the real one, of which events do not tell the session.
    pub fn queue(&self) -> String {
        let mut name = LaneName::user(self.user).stem();
        if self.lane.is_none() {
            let lanes: Vec<String> = self.lanes.iter().map(LaneName::to_string).collect();
            name += &format!("~n{}", digest(&lanes.join("\n")));
        }
        name
    }

    /// Its weights by a configuration.
    pub fn weights(&self, config: &Config) -> Weights {
        Weights::of(config, self.user, self.lanes)
    }

    /// The job that it is in a load.
    pub fn job(&self, load: &mut Load, history: &History, config: &Config, id: TaskId, ready: Timestamp) -> Job {
        let own = self.lane.cloned();
        let all: Vec<LaneName> = own.iter().chain(self.lanes).cloned().collect();
        let mut lanes: Vec<(usize, u32)> = all.iter().map(|lane| (load.lane(lane, || config.limit(lane)), 1)).collect();
        lanes.push((0, 1));
        let named: Vec<LaneName> = self.lanes.iter().cloned().chain(own).collect();
        let length = history.lengths(self.work, &named);
        let most_ms = if let Length::Seen(lengths) = &length { p90(lengths) } else { None };
        Job {
            id,
            is_task: true,
            user: load.user(self.user, || config.weight(self.user)),
            queue: self.queue().into(),
            takes_user_lane: self.lane.is_some(),
            weights: self.weights(config),
            priority: self.priority,
            lanes,
            ready,
            after: Vec::new(),
            since: None,
            length,
            most_ms,
        }
    }
}

/// Adds to a load what is expected to come.
pub fn expect(load: &mut Load, history: &History, config: &Config, now: Timestamp) {
    let mut kinds: Vec<_> =
        history.arrivals.iter().filter(|(_, seen)| seen.gaps.len() >= LEAST_LENGTHS && seen.last <= now).collect();
    kinds.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.last));
    for ((user, lane, lanes), seen) in kinds.into_iter().take(MOST_KINDS) {
        let Ok(user) = Name::new(user) else { continue };
        let lane = lane.as_deref().and_then(|lane| LaneName::parse(lane).ok());
        let lanes: Vec<LaneName> = lanes.iter().filter_map(|lane| LaneName::parse(lane).ok()).collect();
        let number = seen.priority.and_then(|number| u8::try_from(number).ok());
        let priority = number.and_then(Priority::new).unwrap_or(Priority::DEFAULT);
        let told = Told { user: &user, lane: lane.as_ref(), lanes: &lanes, work: seen.work.as_deref(), priority };
        let job = told.job(load, history, config, TaskId(0), now);
        let mut gaps: Vec<u64> = seen.gaps.iter().copied().collect();
        gaps.sort_unstable();
        if job.length != Length::Unknown {
            load.coming.push(Coming { job, gaps: Length::Seen(Arc::from(gaps)), last: seen.last });
        }
    }
}

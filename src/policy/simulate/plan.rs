//! The load of a file: streams of tasks by user, and changes of limits and weights to compare with.

use super::history::{History, Told};
use super::load::{Job, Length, Load, Random};
use crate::model::config::Config;
use crate::model::queue::digest;
use crate::model::sorted::sort_by_key;
use crate::model::{LaneName, Name, Priority, TaskId, Timestamp};

/// The most tasks of one simulation.
pub const MOST_TASKS: u64 = 1_000_000;

/// A described load.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Slots, shares of the tiers, and rules of lanes.
    pub config: Config,
    /// The streams of tasks.
    pub streams: Vec<Stream>,
}

/// Tasks of one user that arrive one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The user.
    pub user: Name,
    /// The session of the agent that asks for them.
    pub session: Option<String>,
    /// The named lanes; a stream without any takes the lane of the user.
    pub lanes: Vec<LaneName>,
    /// Whether the task takes the lane of the user.
    pub takes_user_lane: bool,
    /// Number of slots that a task takes of each named lane.
    pub slots: u32,
    /// The priority.
    pub priority: Priority,
    /// Number of tasks.
    pub count: u64,
    /// The arrival of the first one, in milliseconds.
    pub from_ms: u64,
    /// The gaps before the others.
    pub gap: Gap,
    /// The run times of the tasks.
    pub runs: Length,
    /// The time limit of the tasks, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// The time between two tasks of a stream, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Always this time.
    Every(u64),
    /// This time on average, with arrivals that are equally likely at any moment.
    About(u64),
}

/// A change to compare with: `build.max=3`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The lane or the pattern whose rule changes.
    pub lane: String,
    /// The new value.
    pub to: To,
}

/// The changed member of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// Greatest number of holders.
    Max(u32),
    /// The weight of the lane in fair share.
    Weight(u32),
}

impl Change {
    /// Parses `LANE.max=N` or `LANE.weight=N`, with N from 1; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (left, number) = text.rsplit_once('=')?;
        let (lane, member) = left.trim().rsplit_once('.')?;
        let number: u32 = number.trim().parse().ok().filter(|number| (1..=1_000_000).contains(number))?;
        let to = match member {
            "max" => To::Max(number),
            "weight" => To::Weight(number),
            _ => return None,
        };
        let is_lane = LaneName::parse(
            lane.strip_suffix('*').map_or(lane, |prefix| if prefix.ends_with(':') { "user:x" } else { prefix }),
        );
        is_lane.ok().map(|_| Self { lane: lane.to_owned(), to })
    }

    /// Makes the change.
    pub fn apply(&self, config: &mut Config) {
        match (self.lane.as_str(), self.to) {
            ("global", To::Max(number)) => config.slots_max = number,
            (lane, To::Max(number)) => config.lanes.entry(lane.to_owned()).or_default().max = Some(number),
            (lane, To::Weight(number)) => config.lanes.entry(lane.to_owned()).or_default().weight = Some(number),
        }
    }
}

impl Plan {
    /// Number of tasks of the load.
    pub fn count(&self) -> u64 {
        self.streams.iter().fold(0, |sum, stream| sum.saturating_add(stream.count))
    }

    /// The tasks. `random` decides their arrivals.
    pub fn load(&self, random: &mut Random) -> Load {
        let mut load = Load::empty(self.config.slots_max, self.config.tier_shares);
        for stream in &self.streams {
            self.add(stream, &mut load, random);
        }
        sort_by_key(&mut load.jobs, |job| job.ready);
        for (number, job) in (1..).zip(&mut load.jobs) {
            job.id = TaskId(number);
        }
        load.follow_rules(&self.config, &|_, _| Vec::new());
        load
    }

    fn add(&self, stream: &Stream, load: &mut Load, random: &mut Random) {
        let told = Told {
            user: stream.user.clone(),
            lane: stream.takes_user_lane.then(|| LaneName::user(&stream.user)),
            lanes: stream.lanes.clone(),
            work: None,
            priority: stream.priority,
        };
        let mut job = told.job(load, &History::default(), &self.config, TaskId(0), Timestamp(0));
        (job.length, job.most_ms) = (stream.runs.clone(), stream.timeout_ms);
        if let Some(session) = &stream.session {
            job.queue = format!("{}~s{}", job.queue, digest(&format!("session:{session}"))).into();
        }
        if !stream.lanes.is_empty() {
            job.weights.slots = stream.slots;
            let named = job.lanes.iter_mut().skip(usize::from(stream.takes_user_lane)).take(stream.lanes.len());
            named.for_each(|(_, slots)| *slots = stream.slots);
        }
        let mut at = stream.from_ms;
        for _ in 0..stream.count {
            let drawn = job.length.draw(0, random).unwrap_or(0);
            let length = Length::Fixed(stream.timeout_ms.map_or(drawn, |limit| drawn.min(limit)));
            load.jobs.push(Job { ready: Timestamp(i64::try_from(at).unwrap_or(i64::MAX)), length, ..job.clone() });
            at = at.saturating_add(match stream.gap {
                Gap::Every(ms) => ms,
                Gap::About(ms) => random.gap(ms),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_a_lane_or_a_pattern_and_a_number_from_one() {
        let of = |text: &str| Change::parse(text).map(|change| (change.lane, change.to));
        assert_eq!(of("build.max=3"), Some(("build".into(), To::Max(3))));
        assert_eq!(of("user:alice.weight = 2"), Some(("user:alice".into(), To::Weight(2))));
        assert_eq!(of("thread:a.b.max=1"), Some(("thread:a.b".into(), To::Max(1))));
        assert_eq!(of("user:*.max=2"), Some(("user:*".into(), To::Max(2))));
        for wrong in ["", "build", "build.max", "build.max=0", "build.max=x", "build.rate=3", ".max=3", "A:b.max=1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        let mut config = Config::default();
        for text in ["global.max=7", "build.max=3", "user:alice.weight=2"] {
            Change::parse(text).expect("a change").apply(&mut config);
        }
        let lane = |text| LaneName::parse(text).expect("a lane");
        assert_eq!((config.slots_max, config.limit(&lane("build"))), (7, 3));
        assert_eq!(config.lane_weight(&lane("user:alice")), 2);
    }
}

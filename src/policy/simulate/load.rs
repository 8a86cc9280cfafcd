//! The input of a simulation (`Load`): lanes, users, and jobs with their arrivals and durations.
//!
//! `Random` gives pseudo-random numbers that are the same for the same seed, on every host.

use crate::model::config::{Config, Rate};
use crate::model::{LaneName, Name, Priority, TaskId, Timestamp};
use crate::policy::analytics::stats::rank;
use crate::policy::fair::Weights;
use std::collections::HashMap;
use std::sync::Arc;

/// A load: all running, waiting and future jobs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Load {
    /// The lanes; the first one is `global`.
    pub lanes: Vec<LaneSpec>,
    /// The users.
    pub users: Vec<UserSpec>,
    /// The jobs, in the order of their ids.
    pub jobs: Vec<Job>,
    /// The shares of the tiers.
    pub tier_shares: [u32; 3],
    /// Expected arrivals beside the jobs.
    pub coming: Vec<Coming>,
    by_lane: HashMap<LaneName, usize>,
    by_user: HashMap<Name, usize>,
}

/// A lane and its limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneSpec {
    /// The lane.
    pub name: LaneName,
    /// Number of the lane's slots.
    pub limit: u32,
    /// The rate of grants of the lane, and the times of recent grants, oldest first.
    pub rate: Option<(Rate, Vec<Timestamp>)>,
    /// Number of slots of `global` that are kept for the lane's tasks.
    pub reserve: u32,
}

/// A user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserSpec {
    /// The name.
    pub name: Name,
    /// The weight in fair share.
    pub weight: u32,
}

/// A task, or another holder of lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The number of the job, which orders the queue.
    pub id: TaskId,
    /// Whether the job is a task, whose slot time is charged; otherwise it is a holder by `lock` or `acquire`.
    pub is_task: bool,
    /// The place of the job's user among the users.
    pub user: usize,
    /// The name of the job's queue.
    pub queue: Arc<str>,
    /// Whether the job takes the lane of its user.
    pub takes_user_lane: bool,
    /// The weights of the job's slot time.
    pub weights: Weights,
    /// The priority of the job.
    pub priority: Priority,
    /// The lanes of the job by their places, and the number of slots that it takes of each; `global` is among them.
    pub lanes: Vec<(usize, u32)>,
    /// The time at which the job arrives, or could start.
    pub ready: Timestamp,
    /// The places of the jobs that this job comes after.
    pub after: Vec<usize>,
    /// The time of the job's start, for a job that runs already.
    pub since: Option<Timestamp>,
    /// The run time of the job.
    pub length: Length,
    /// The longest run time of the job: its time limit, or the length that nine of ten jobs of its kind did not exceed.
    /// `None` if it is not known.
    pub most_ms: Option<u64>,
}

/// Jobs of one kind that come again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coming {
    /// A job of this kind.
    pub job: Job,
    /// The observed times between two jobs of this kind.
    pub gaps: Length,
    /// The arrival of the last job of this kind.
    pub last: Timestamp,
}

/// Run time of a job, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Length {
    /// Exactly this length.
    Fixed(u64),
    /// As long as one of some observed lengths.
    Seen(Arc<[u64]>),
    /// Any length of a range.
    Between(u64, u64),
    /// Not known.
    Unknown,
}

impl Length {
    /// A length; `None` if it is not known. For a job that has run for `ran` already, the result is at least `ran`. If no observed
    /// length is longer, it is `ran` and half as much again.
    pub fn draw(&self, ran: u64, random: &mut Random) -> Option<u64> {
        let drawn = match self {
            Self::Fixed(ms) => *ms,
            Self::Between(least, most) => random.between(*least, *most),
            Self::Seen(lengths) => {
                let longer = lengths.iter().filter(|length| **length >= ran);
                let count = longer.clone().count() as u64;
                let nth = usize::try_from(random.below(count)).unwrap_or(0);
                longer.clone().nth(nth).copied().unwrap_or(ran.saturating_add(ran / 2))
            }
            Self::Unknown => return None,
        };
        Some(drawn.max(ran))
    }

    /// The length that nine of ten of the observed lengths did not exceed.
    pub fn p90(&self) -> Option<u64> {
        if let Self::Seen(lengths) = self { rank(lengths, 90) } else { None }
    }

    /// Number of observed lengths from which the length is drawn; `None` if it is not drawn from observed lengths.
    pub fn samples(&self) -> Option<usize> {
        match self {
            Self::Fixed(_) | Self::Between(..) => None,
            Self::Seen(lengths) => Some(lengths.len()),
            Self::Unknown => Some(0),
        }
    }
}

impl Load {
    /// A load without jobs, with one lane: `global`.
    pub fn empty(slots: u32, tier_shares: [u32; 3]) -> Self {
        let mut load = Self { tier_shares, ..Self::default() };
        load.lane(&LaneName::global(), || slots);
        load
    }

    /// The load with further jobs that may arrive until a moment, `most` of each kind at most.
    #[must_use]
    pub fn with_arrivals(&self, now: Timestamp, until: Timestamp, most: usize, random: &mut Random) -> Self {
        let mut load = self.clone();
        let mut number = self.jobs.iter().map(|job| job.id.0).filter(|id| *id < u64::MAX).max().unwrap_or(0);
        for coming in &self.coming {
            let mut passed = now.saturating_ms_since(coming.last);
            let mut at = coming.last;
            for _ in 0..most {
                let Some(gap) = coming.gaps.draw(passed, random).and_then(|gap| i64::try_from(gap).ok()) else { break };
                (at, passed) = (at.plus_ms(gap), 0);
                if at >= until {
                    break;
                }
                number = number.saturating_add(1);
                load.jobs.push(Job { id: TaskId(number), ready: at.max(now), ..coming.job.clone() });
            }
        }
        load
    }

    /// The place of a lane. The lane is added with a limit if it is absent.
    pub fn lane(&mut self, name: &LaneName, limit: impl FnOnce() -> u32) -> usize {
        if let Some(at) = self.by_lane.get(name) {
            return *at;
        }
        self.lanes.push(LaneSpec { name: name.clone(), limit: limit(), rate: None, reserve: 0 });
        self.by_lane.insert(name.clone(), self.lanes.len() - 1);
        self.lanes.len() - 1
    }

    /// Takes over the rates and reserves of a configuration, once all lanes are present. `granted` returns the times of recent
    /// grants of a lane with a rate.
    pub fn follow_rules(&mut self, config: &Config, granted: &dyn Fn(&LaneName, Rate) -> Vec<Timestamp>) {
        for (lane, reserve) in config.reserves() {
            let at = self.lane(&lane, || config.limit(&lane));
            self.lanes[at].reserve = reserve;
        }
        for spec in &mut self.lanes {
            spec.rate = config.rate(&spec.name).map(|rate| (rate, granted(&spec.name, rate)));
        }
    }

    /// The place of a user. The user is added with a weight if it is absent.
    pub fn user(&mut self, name: &Name, weight: impl FnOnce() -> u32) -> usize {
        if let Some(at) = self.by_user.get(name) {
            return *at;
        }
        self.users.push(UserSpec { name: name.clone(), weight: weight() });
        self.by_user.insert(name.clone(), self.users.len() - 1);
        self.users.len() - 1
    }
}

/// A source of numbers (SplitMix64).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random(u64);

impl Random {
    /// A source that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 for the limit 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number of the range, both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// The gap to the next arrival. Arrivals are equally likely at any moment, with a mean gap of `mean`; a gap is at most 20
    /// means. Whole numbers only, so that it is the same on every host: the tails of 2^-k of the exponential distribution,
    /// linear in between.
    pub fn gap(&mut self, mean: u64) -> u64 {
        // ln 2 in units of 2^-32: each halving of the remainder takes this part of the mean.
        const LN_2: u128 = 2_977_044_472;
        let number = self.number();
        let halvings = u128::from(number.leading_zeros().min(28));
        let rest = u128::from(self.below(1 << 32));
        let units = (halvings << 32) + rest;
        u64::try_from((units * LN_2 * u128::from(mean)) >> 64).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        // From the published reference implementation, seed 1234567.
        let mut random = Random::new(1_234_567);
        let first = [(); 3].map(|()| random.number());
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn gaps_have_their_mean_and_ranges_their_ends() {
        let mut random = Random::new(7);
        let sum: u64 = (0..20_000).map(|_| random.gap(1000)).sum();
        assert!((950..1050).contains(&(sum / 20_000)), "{}", sum / 20_000);
        let seen: std::collections::BTreeSet<u64> = (0..1000).map(|_| random.between(3, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!((random.below(0), random.between(5, 5), random.between(0, u64::MAX) > 0), (0, 5, true));
    }
}

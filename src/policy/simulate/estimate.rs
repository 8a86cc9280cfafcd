//! Estimates the start of a task. Running and waiting jobs are simulated up to the target's start, many times, with observed
//! lengths.

use super::engine::World;
use super::history::LEAST_LENGTHS;
use super::load::{Length, Load, Random};
use crate::model::Timestamp;
use crate::policy::analytics::stats::rank;
use crate::policy::fair::Ledger;

/// Number of simulated runs.
pub const RUNS: usize = 200;
/// Least number of runs for an estimate.
const LEAST_RUNS: usize = 20;
/// Number of early runs that decide how far ahead arrivals matter.
const ROUGH_RUNS: usize = 10;
/// Greatest number of jobs of one kind that may arrive in one run.
const MOST_ARRIVALS: usize = 50;

/// The expected start of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Time to the start that half of the runs do not exceed, in milliseconds.
    pub p50_ms: u64,
    /// Time to the start that nine of ten runs do not exceed.
    pub p90_ms: u64,
    /// The least number of observed lengths from which a length was drawn; 0 if nothing is in its way.
    pub samples: usize,
    /// Number of tasks waiting now, of all users, that start before it in the median run.
    pub position: u64,
}

/// The estimate for a job of a load, as of a moment. `None` if too little is known of a length that matters, if the job never
/// starts, or if fewer than 20 runs can be made with so many looks at heads. One seed always gives one answer.
pub fn estimate(
    load: &Load,
    ledger: &Ledger,
    now: Timestamp,
    target: usize,
    looks: u64,
    seed: u64,
) -> Option<Estimate> {
    let mut random = Random::new(seed);
    let ledger = ledger.of_users(load.users.iter().map(|user| &user.name));
    let (mut waits, mut places) = (Vec::new(), Vec::new());
    let (mut samples, mut left, mut horizon) = (usize::MAX, looks, now);
    // Later arrivals may start before it, so the first runs decide how far to look ahead. They count if there are no arrivals.
    let is_alone = load.coming.is_empty();
    for run in 0..RUNS + ROUGH_RUNS {
        let is_rough = run < ROUGH_RUNS;
        let arriving = (!is_rough && !is_alone && horizon > now)
            .then(|| load.with_arrivals(now, horizon, MOST_ARRIVALS, &mut random));
        let mut world = World::new(arriving.as_ref().unwrap_or(load), ledger.clone(), now, &mut random);
        if !world.run(left, &mut random, &|times| times[target].start.is_some()) {
            break;
        }
        left = left.saturating_sub(world.looks.max(1));
        let wait = world.times[target].start?.ms_since(now).max(0);
        samples = samples.min(world.samples);
        if samples < LEAST_LENGTHS {
            return None;
        }
        if is_rough {
            horizon = horizon.max(now.plus_ms(wait.saturating_mul(3)));
        }
        if !is_rough || is_alone {
            let started = world.times.iter().zip(&load.jobs).enumerate();
            let before =
                started.filter(|(at, (times, job))| *at != target && job.since.is_none() && times.start.is_some());
            places.push(before.count() as u64);
            waits.push(u64::try_from(wait).unwrap_or(0));
        }
        if left == 0 {
            break;
        }
    }
    if waits.len() < LEAST_RUNS {
        return None;
    }
    waits.sort_unstable();
    places.sort_unstable();
    let p90_ms = rank(&waits, 90)?;
    let samples = if samples == usize::MAX { 0 } else { samples };
    // It waits for a holder without an observed length, e.g. the end of a lease.
    if samples == 0 && p90_ms > 0 {
        return None;
    }
    Some(Estimate { p50_ms: rank(&waits, 50)?, p90_ms, samples, position: rank(&places, 50)? })
}

/// The holder of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holding {
    /// The beginning of the hold.
    pub since: Timestamp,
    /// The total length of the hold.
    pub length: Length,
}

/// The time at which a member of a line gets the lane, with `ahead` others before it that hold the lane for `lengths` each.
pub fn estimate_lock(
    holders: &[Holding],
    limit: u32,
    ahead: u64,
    lengths: &Length,
    now: Timestamp,
) -> Option<Estimate> {
    let drawn = holders.iter().map(|holding| &holding.length).chain((ahead > 0).then_some(lengths));
    let samples = drawn.filter_map(Length::samples).min()?;
    if samples < LEAST_LENGTHS || ahead > MOST_AHEAD {
        return None;
    }
    let mut random = Random::new(ahead);
    let mut waits = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mut ends = Vec::new();
        for holding in holders {
            let ran = now.saturating_ms_since(holding.since);
            ends.push(holding.length.draw(ran, &mut random)?.saturating_sub(ran));
        }
        ends.resize(ends.len().max(usize::try_from(limit).unwrap_or(usize::MAX).min(MOST_SLOTS)), 0);
        for _ in 0..ahead {
            ends.sort_unstable();
            ends[0] = ends[0].saturating_add(lengths.draw(0, &mut random)?);
        }
        waits.push(ends.into_iter().min().unwrap_or(0));
    }
    waits.sort_unstable();
    Some(Estimate { p50_ms: rank(&waits, 50)?, p90_ms: rank(&waits, 90)?, samples, position: ahead })
}

/// Greatest number of other members of a line that are simulated.
const MOST_AHEAD: u64 = 100;
/// Greatest number of slots of a lane that are simulated.
const MOST_SLOTS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(lengths: &[u64]) -> Length {
        Length::Seen(lengths.into())
    }

    #[test]
    fn a_lock_is_had_after_those_before_it() {
        let holder = |since| Holding { since: Timestamp(since), length: seen(&[100, 100, 100]) };
        let of = |holders: &[Holding], limit, ahead| {
            estimate_lock(holders, limit, ahead, &seen(&[100, 100, 100]), Timestamp(40)).map(|found| found.p90_ms)
        };
        assert_eq!(of(&[holder(0)], 1, 0), Some(60));
        assert_eq!(of(&[holder(0)], 1, 2), Some(260));
        assert_eq!(of(&[holder(0), holder(40)], 2, 0), Some(60));
        assert_eq!(of(&[holder(0), holder(40)], 2, 1), Some(100));
        let few = Holding { since: Timestamp(0), length: seen(&[1, 2]) };
        assert_eq!(of(&[few], 1, 0), None);
    }

    #[test]
    fn what_has_run_for_longer_than_all_that_were_seen_goes_on_for_half_as_much_again() {
        let old = Holding { since: Timestamp(0), length: seen(&[10, 20, 30]) };
        let found = estimate_lock(&[old], 1, 0, &Length::Unknown, Timestamp(1000));
        assert_eq!(found.map(|found| found.p50_ms), Some(500));
    }
}

//! Results of a simulation: waits, the part of its due that each user got, and overtakings.

use super::engine::Times;
use super::load::Load;
use crate::model::{Name, Tier, Timestamp};
use crate::policy::analytics::stats::Spread;
use crate::policy::fair::MAX_WEIGHT;
use std::collections::BTreeSet;

/// The course of a run, user by user. The default book is closed: nothing is written into it.
#[derive(Clone, Default, Debug)]
pub struct Book {
    at: Timestamp,
    rows: Vec<Row>,
}

#[derive(Clone, Default, Debug)]
struct Row {
    waiting: u32,
    running: u32,
    /// Number of tasks of the user that can run at once; `u32::MAX` if only slots limit it.
    at_once: u32,
    got_ms: u64,
    due_ms: f64,
    overtaken: u64,
    overtaken_most: u64,
}

impl Book {
    /// A book that begins at a moment.
    pub(super) fn new(load: &Load, at: Timestamp) -> Self {
        let mut rows: Vec<Row> = load.users.iter().map(|_| Row::default()).collect();
        for job in &load.jobs {
            let user_lane = job.lanes.iter().find(|(lane, _)| load.lanes[*lane].name.is_user());
            let limit = user_lane.map_or(u32::MAX, |(lane, _)| load.lanes[*lane].limit);
            rows[job.user].at_once = rows[job.user].at_once.max(limit);
            rows[job.user].running += u32::from(job.since.is_some() && job.is_task);
        }
        Self { at, rows }
    }

    pub(super) fn came(&mut self, user: usize) {
        let Some(row) = self.rows.get_mut(user) else { return };
        if row.waiting == 0 {
            row.overtaken = 0;
        }
        row.waiting += 1;
    }

    pub(super) fn granted(&mut self, user: usize) {
        self.rows.iter_mut().filter(|row| row.waiting > 0).for_each(|row| row.overtaken += 1);
        let Some(row) = self.rows.get_mut(user) else { return };
        (row.waiting, row.running) = (row.waiting.saturating_sub(1), row.running + 1);
        row.overtaken = 0;
    }

    pub(super) fn ended(&mut self, user: usize) {
        let Some(row) = self.rows.get_mut(user) else { return };
        (row.running, row.overtaken) = (row.running.saturating_sub(1), 0);
    }

    /// Handles the end of a pass. A user whose tasks could not run, because a lane of theirs was full, was not overtaken.
    pub(super) fn passed(&mut self, blocked: &BTreeSet<usize>) {
        for (user, row) in self.rows.iter_mut().enumerate() {
            if blocked.contains(&user) || row.running >= row.at_once {
                row.overtaken = 0;
            }
            row.overtaken_most = row.overtaken_most.max(row.overtaken);
        }
    }

    /// Lets time pass: the slots in use are divided among the users with work by weight, as far as each can use them.
    pub(super) fn pass_time(&mut self, load: &Load, to: Timestamp) {
        let ms = to.saturating_ms_since(self.at);
        self.at = to.max(self.at);
        if ms == 0 || self.rows.is_empty() {
            return;
        }
        let in_use: u32 = self.rows.iter().map(|row| row.running).sum();
        let wants = |row: &Row| f64::from(row.waiting.saturating_add(row.running).min(row.at_once));
        let mut open: Vec<usize> = (0..self.rows.len()).filter(|at| wants(&self.rows[*at]) > 0.0).collect();
        let mut left = f64::from(in_use);
        let length = ms_as_number(ms);
        while !open.is_empty() {
            let weight = |at: &usize| f64::from(load.users[*at].weight.clamp(1, MAX_WEIGHT));
            let all: f64 = open.iter().map(weight).sum();
            let level = left / all;
            // A user that can use less than its part leaves the rest to the others.
            let (small, large): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|at| wants(&self.rows[**at]) < level * weight(at));
            for at in if small.is_empty() { &large } else { &small } {
                let part = wants(&self.rows[*at]).min(level * weight(at));
                self.rows[*at].due_ms += part * length;
                left -= part;
            }
            open = if small.is_empty() { Vec::new() } else { large };
        }
        for row in &mut self.rows {
            row.got_ms = row.got_ms.saturating_add(ms.saturating_mul(u64::from(row.running)));
        }
    }
}

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Results of each user.
    pub users: Vec<UserReport>,
    /// Jain's index of the time that each user got over its due: 1 if all got the same part of it, 1/n if one got all.
    pub jain: f64,
    /// The bound of `policy::schedule`: fewer grants than this overtake a waiting user that could run.
    pub bound: u64,
    /// The most grants that overtook one user.
    pub overtaken: u64,
    /// Number of tasks that never started.
    pub never: u64,
    /// The time of the end of the last task.
    pub end: Timestamp,
}

/// Results of one user.
#[derive(Clone, PartialEq, Debug)]
pub struct UserReport {
    /// The user.
    pub name: Name,
    /// The weight of the user.
    pub weight: u32,
    /// Number of the user's tasks.
    pub tasks: u64,
    /// Waits of the user's tasks that started.
    pub waits: Spread,
    /// The slot time that the user got, in milliseconds.
    pub got_ms: u64,
    /// The slot time that the user got, divided by its due; `None` if nothing was due.
    pub part: Option<f64>,
    /// The most grants to others between two of the user's own while it could run.
    pub overtaken: u64,
}

impl Report {
    /// The report of a run.
    pub fn of(load: &Load, times: &[Times], book: &Book, end: Timestamp) -> Self {
        let users: Vec<UserReport> = load
            .users
            .iter()
            .enumerate()
            .map(|(at, user)| {
                let own = || load.jobs.iter().zip(times).filter(|(job, _)| job.user == at && job.since.is_none());
                let wait = |times: &Times| {
                    let waited = times.start.zip(times.ready).map(|(start, ready)| start.ms_since(ready))?;
                    u64::try_from(waited).ok()
                };
                let waits: Vec<u64> = own().filter_map(|(_, times)| wait(times)).collect();
                let row = &book.rows[at];
                UserReport {
                    name: user.name.clone(),
                    weight: user.weight,
                    tasks: own().count() as u64,
                    waits: Spread::of(&waits),
                    got_ms: row.got_ms,
                    part: (row.due_ms > 0.0).then(|| ms_as_number(row.got_ms) / row.due_ms),
                    overtaken: row.overtaken_most,
                }
            })
            .collect();
        let never = times.iter().filter(|times| times.start.is_none()).count() as u64;
        let overtaken = users.iter().map(|user| user.overtaken).max().unwrap_or(0);
        let parts: Vec<f64> = users.iter().filter_map(|user| user.part).collect();
        Self { jain: jain(&parts), bound: bound(load), overtaken, never, end, users }
    }
}

fn ms_as_number(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64() * 1000.0
}

/// Jain's index of some numbers: the square of their sum over their count times the sum of their squares; 1 for no numbers.
pub fn jain(numbers: &[f64]) -> f64 {
    let (sum, squares) = numbers.iter().fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    let count = numbers.iter().fold(0.0, |count, _| count + 1.0);
    if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
}

/// The bound of `policy::schedule` for the user with the greatest one: fewer grants than this come between two of its own,
/// while it can run.
pub fn bound(load: &Load) -> u64 {
    let shares = load.tier_shares.map(|share| u64::from(share.max(1)));
    let all: u64 = shares.iter().sum();
    let mut tiers: Vec<BTreeSet<Tier>> = load.users.iter().map(|_| BTreeSet::new()).collect();
    for job in &load.jobs {
        tiers[job.user].insert(job.priority.tier());
    }
    let used: BTreeSet<&Tier> = tiers.iter().flatten().collect();
    let grants = |user: usize| 60 * u64::from(load.users[user].weight.clamp(1, MAX_WEIGHT)) + 1;
    let total: u64 = (0..load.users.len()).map(grants).sum();
    let of = |(user, tiers): (usize, &BTreeSet<Tier>)| {
        let share = tiers.iter().map(|tier| shares[tier.index()]).min().unwrap_or(all);
        let between_tiers = if used.len() > 1 { 2 * all / share + 1 } else { 1 };
        between_tiers.saturating_mul(1 + total - grants(user))
    };
    tiers.iter().enumerate().map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_over_n_for_one_that_has_all() {
        assert!((jain(&[0.5, 0.5, 0.5]) - 1.0).abs() < 1e-9);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-9);
        assert!((jain(&[]) - 1.0).abs() < 1e-9 && (jain(&[0.0]) - 1.0).abs() < 1e-9);
    }
}

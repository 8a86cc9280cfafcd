//! The bounds of the scheduler, checked by simulation: pretend users, slots and time, and the real decision.

use super::cases::{SHARES, head, name};
use crate::policy::schedule::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A pretend user: any number of tasks, none of which exists before it runs.
#[derive(Clone, Debug)]
struct User {
    tier: Tier,
    weight: u32,
    at_once: usize,
    tasks: u64,
    /// The times that the user's tasks run, in turn, in milliseconds.
    durations: Vec<u64>,
    /// The times at which the user's tasks come.
    arrival: i64,
    /// The user cannot run in every pass whose number divides by this (a thread is locked, say).
    blocked_every: u64,
}

/// The grants of one other user since a waiting user was charged last.
#[derive(Clone, Copy, Default, Debug)]
struct Overtaking {
    grants: u64,
    slot_ms: u64,
}

struct World {
    users: Vec<User>,
    slots: usize,
    now: i64,
    passes: u64,
    ledger: Ledger,
    /// End, user, length.
    running: BTreeSet<(i64, usize, u64, u64)>,
    /// By waiting user, then by the user that was granted.
    overtaken: Vec<Vec<Overtaking>>,
    trace: Vec<usize>,
}

impl World {
    fn new(users: &[User], slots: usize) -> Self {
        Self {
            users: users.to_vec(),
            slots,
            now: 0,
            passes: 0,
            ledger: Ledger::default(),
            running: BTreeSet::new(),
            overtaken: vec![vec![Overtaking::default(); users.len()]; users.len()],
            trace: Vec::new(),
        }
    }

    fn name_of(user: usize) -> Name {
        name(&format!("user-{user}"))
    }

    fn has_work(&self, user: usize) -> bool {
        let it = &self.users[user];
        let runs = self.running.iter().filter(|run| run.1 == user).count();
        it.tasks > 0 && it.arrival <= self.now && runs < it.at_once
    }

    fn is_blocked(&self, user: usize) -> bool {
        self.passes.is_multiple_of(self.users[user].blocked_every)
    }

    fn forget_waiting_of(&mut self, user: usize) {
        self.overtaken[user].fill(Overtaking::default());
    }

    /// One pass of a dispatcher: every user is tried until the slots are full.
    fn pass(&mut self) {
        self.passes += 1;
        for user in 0..self.users.len() {
            if !self.has_work(user) || self.is_blocked(user) {
                self.forget_waiting_of(user);
            }
        }
        let offered: Vec<usize> = (0..self.users.len()).filter(|u| self.has_work(*u)).collect();
        let heads = offered
            .iter()
            .map(|user| LaneHead { user: Self::name_of(*user), ..head("any", self.users[*user].tier) })
            .collect();
        let mut ledger = std::mem::take(&mut self.ledger);
        let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(self.now));
        while self.running.len() < self.slots {
            let Some(candidate) = round.next() else { break };
            let user = *offered
                .iter()
                .find(|user| Self::name_of(**user) == candidate.user)
                .expect("only what was offered is given");
            if self.is_blocked(user) {
                continue;
            }
            let again = LaneHead { user: candidate.user.clone(), ..head("any", candidate.tier) };
            round.started(candidate, self.users[user].weight);
            self.start(user);
            if self.has_work(user) {
                round.offer(again);
            }
        }
        self.ledger = ledger;
    }

    fn start(&mut self, user: usize) {
        let number = self.trace.len() as u64;
        let it = &mut self.users[user];
        it.tasks -= 1;
        let index = usize::try_from(it.tasks).expect("few") % it.durations.len();
        let ms = it.durations[index];
        let end = self.now + i64::try_from(ms).expect("short");
        self.running.insert((end, user, ms, number));
        self.trace.push(user);
        for waiting in 0..self.users.len() {
            let seen = &mut self.overtaken[waiting][user];
            seen.grants += 1;
            seen.slot_ms += ms;
        }
        self.forget_waiting_of(user);
    }

    /// Goes to the next end, or a second on; false when nothing is left to do.
    fn step(&mut self) -> bool {
        self.pass();
        let waits = self.users.iter().any(|user| user.tasks > 0);
        let next_end = self.running.first().map(|run| run.0);
        if next_end.is_none() && !waits {
            return false;
        }
        let second = self.now + 1000;
        self.now = next_end.map_or(second, |end| if waits { end.min(second) } else { end });
        while let Some(run) = self.running.first().copied().filter(|run| run.0 <= self.now) {
            self.running.remove(&run);
            let (_, user, ms, _) = run;
            let (who, weight) = (Self::name_of(user), self.users[user].weight);
            self.ledger.charge_end(&who, ms, weight, Timestamp(self.now));
            self.forget_waiting_of(user);
        }
        true
    }

    /// The bounds of the module's head, for every user that waits now, against every other of its tier.
    fn check_bounds(&self) -> Result<(), TestCaseError> {
        for (waiting, seen) in self.overtaken.iter().enumerate() {
            for (other, overtaking) in seen.iter().enumerate() {
                let (u, x) = (&self.users[waiting], &self.users[other]);
                if waiting == other || u.tier != x.tier {
                    continue;
                }
                let longest = x.durations.iter().max().expect("a duration");
                let slot_ms = 60_000 * u64::from(x.weight) + x.at_once as u64 * longest;
                let grants = 60 * u64::from(x.weight) + 1;
                prop_assert!(
                    overtaking.slot_ms <= slot_ms && overtaking.grants <= grants,
                    "user {waiting} waits, user {other} got {overtaking:?} of {slot_ms} ms, {grants} grants"
                );
            }
        }
        Ok(())
    }
}

fn users(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<User>> {
    let duration = prop_oneof![1..20u64, 500..3000u64, 20_000..400_000u64];
    let user = (
        prop_oneof![4 => Just(Tier::Normal), 1 => Just(Tier::High), 1 => Just(Tier::Low)],
        prop_oneof![4 => Just(1u32), 1 => 2..5u32],
        prop_oneof![4 => Just(1usize), 1 => 2..4usize],
        prop_oneof![1..20u64, Just(1_000_000)],
        proptest::collection::vec(duration, 1..3),
        prop_oneof![Just(0i64), 0..900_000i64],
        prop_oneof![4 => Just(u64::MAX), 1 => 2..9u64],
    );
    let user = user.prop_map(|(tier, weight, at_once, tasks, durations, arrival, blocked_every)| User {
        tier,
        weight,
        at_once,
        tasks,
        durations,
        arrival,
        blocked_every,
    });
    proptest::collection::vec(user, count)
}

/// A user with these tasks. All other fields are the same for each such user.
fn plain(tasks: u64, ms: u64, arrival: i64) -> User {
    User { tier: Tier::Normal, weight: 1, at_once: 1, tasks, durations: vec![ms], arrival, blocked_every: u64::MAX }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nobody_overtakes_a_waiting_user_by_more_than_the_bound(users in users(2..7), slots in 1..9usize) {
        let mut world = World::new(&users, slots);
        while world.trace.len() < 600 && world.step() {
            world.check_bounds()?;
        }
    }

    #[test]
    fn every_accepted_task_runs_in_the_end(users in users(1..6), slots in 1..9usize) {
        let users: Vec<User> = users.into_iter().map(|user| User { tasks: user.tasks.min(20), ..user }).collect();
        let mut world = World::new(&users, slots);
        while world.step() {}
        for (number, user) in users.iter().enumerate() {
            let ran = world.trace.iter().filter(|u| **u == number).count() as u64;
            prop_assert_eq!(ran, user.tasks);
        }
    }

    #[test]
    fn a_user_with_one_task_is_next_but_one_beside_a_user_with_a_million(
        ms in 1..4_000_000u64,
        arrival in 0..40_000_000i64,
    ) {
        let mut world = World::new(&[plain(1_000_000, ms, 0), plain(1, 1, arrival)], 1);
        let mut grants_before = None;
        while world.users[1].tasks > 0 && world.trace.len() < 5000 {
            if world.now >= arrival {
                grants_before.get_or_insert(world.trace.len());
            }
            world.step();
        }
        let waited = world.trace.len() - grants_before.unwrap_or(world.trace.len());
        prop_assert!(waited <= 2, "{}", waited);
    }

    #[test]
    fn users_with_equal_weight_get_equal_time_however_long_their_tasks_are(
        a in 1000..20_000u64,
        b in 1000..20_000u64,
    ) {
        let mut world = World::new(&[plain(1_000_000, a, 0), plain(1_000_000, b, 0)], 1);
        while world.trace.len() < 400 {
            world.step();
        }
        let time = |user| world.trace.iter().filter(|u| **u == user).count() as u64 * [a, b][user];
        prop_assert!(time(0).abs_diff(time(1)) <= 4 * (a + b), "{} {}", time(0), time(1));
    }
}

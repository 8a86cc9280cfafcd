//! The bounds of the scheduler, checked by simulation: pretend users, slots and time, and the real decision.

use super::*;
use crate::policy::fair::MAX_WEIGHT;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const SHARES: [u32; 3] = [16, 4, 1];

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn head(user: &str, tier: Tier) -> LaneHead {
    LaneHead {
        user: name(user),
        tier,
        priority: tier.priorities().next().expect("a priority"),
        sequence: None,
    }
}

/// One pass that starts one task: of whom?
fn grant(ledger: &mut Ledger, shares: [u32; 3], heads: Vec<LaneHead>, now: Timestamp) -> Candidate {
    let mut round = Round::new(ledger, shares, heads, now);
    let candidate = round.next().expect("somebody is runnable");
    round.started(candidate.clone(), 1);
    candidate
}

/// A pretend user: any number of tasks, none of which exists before it runs.
#[derive(Clone, Debug)]
struct User {
    tier: Tier,
    weight: u32,
    at_once: usize,
    tasks: u64,
    /// How long its tasks run, in turn, in milliseconds.
    durations: Vec<u64>,
    /// When its tasks come.
    arrival: i64,
    /// It cannot run in every pass whose number divides by this (a thread is locked, say).
    blocked_every: u64,
}

/// What one other user was granted since a waiting user was charged last.
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
        let offered: Vec<usize> = (0..self.users.len())
            .filter(|u| self.has_work(*u))
            .collect();
        let heads = offered
            .iter()
            .map(|user| LaneHead {
                user: Self::name_of(*user),
                ..head("any", self.users[*user].tier)
            })
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
            let again = LaneHead {
                user: candidate.user.clone(),
                ..head("any", candidate.tier)
            };
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
        while let Some(run) = self
            .running
            .first()
            .copied()
            .filter(|run| run.0 <= self.now)
        {
            self.running.remove(&run);
            let (_, user, ms, _) = run;
            let (who, weight) = (Self::name_of(user), self.users[user].weight);
            self.ledger
                .charge_end(&who, ms, weight, Timestamp(self.now));
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
    let user = user.prop_map(
        |(tier, weight, at_once, tasks, durations, arrival, blocked_every)| User {
            tier,
            weight,
            at_once,
            tasks,
            durations,
            arrival,
            blocked_every,
        },
    );
    proptest::collection::vec(user, count)
}

/// Users that differ in nothing but what is given.
fn plain(tasks: u64, ms: u64, arrival: i64) -> User {
    User {
        tier: Tier::Normal,
        weight: 1,
        at_once: 1,
        tasks,
        durations: vec![ms],
        arrival,
        blocked_every: u64::MAX,
    }
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

    #[test]
    fn whatever_the_shares_a_runnable_tier_waits_less_than_the_bound(shares in [1..8u32, 1..8u32, 1..8u32]) {
        let total = shares.iter().sum::<u32>();
        for (share, most) in shares.into_iter().zip(explore(shares)) {
            prop_assert!(most * share < 2 * total, "{} grants before share {}", most, share);
        }
    }

    #[test]
    fn every_window_of_a_round_holds_the_shares_give_or_take_one(
        before in proptest::collection::vec(1..8u8, 0..60),
    ) {
        let mut ledger = Ledger::default();
        for active in before {
            tier_granted(&mut ledger, SHARES, active);
        }
        let run: Vec<usize> = (0..200).map(|_| tier_granted(&mut ledger, SHARES, 0b111)).collect();
        for window in run.windows(21) {
            for (tier, share) in SHARES.into_iter().enumerate() {
                let got = window.iter().filter(|t| **t == tier).count();
                prop_assert!(got.abs_diff(share as usize) <= 1, "{:?}", window);
            }
        }
    }
}

/// One grant while the tiers in the bits of `active` have work, high in the lowest bit; which of them got it?
fn tier_granted(ledger: &mut Ledger, shares: [u32; 3], active: u8) -> usize {
    let heads = Tier::ALL
        .into_iter()
        .filter(|tier| active >> tier_index(*tier) & 1 == 1)
        .map(|tier| head("a", tier))
        .collect();
    tier_index(grant(ledger, shares, heads, Timestamp(0)).tier)
}

/// One grant from a state of credits: which tiers had work, which got it, and the credits that leaves.
type Edge = (u8, usize, [i64; 3]);

/// Goes through every state of credits that any coming and going of the tiers leads to. Checks that none reaches the
/// sum of the shares, and gives the most grants that other tiers can get before each tier while it has work.
fn explore(shares: [u32; 3]) -> [u32; 3] {
    let total = i64::from(shares.iter().sum::<u32>());
    let mut edges: BTreeMap<[i64; 3], Vec<Edge>> = BTreeMap::new();
    let mut todo = vec![[0i64; 3]];
    while let Some(credits) = todo.pop() {
        assert!(credits.iter().all(|c| c.abs() < total), "{credits:?}");
        if edges.contains_key(&credits) {
            continue;
        }
        let next = (1..8u8).map(|active| {
            let mut ledger = Ledger {
                credits,
                ..Ledger::default()
            };
            let granted = tier_granted(&mut ledger, shares, active);
            (active, granted, ledger.credits)
        });
        let next: Vec<_> = next.collect();
        todo.extend(next.iter().map(|edge| edge.2));
        edges.insert(credits, next);
    }
    [0, 1, 2].map(|tier| {
        // A tier that waits earns at every grant, so longest paths can be counted from the most credits down.
        let mut states: Vec<&[i64; 3]> = edges.keys().collect();
        states.sort_by_key(|credits| Reverse(credits[tier]));
        let mut most: BTreeMap<[i64; 3], u32> = BTreeMap::new();
        for state in states {
            let waits = edges[state]
                .iter()
                .filter(|(active, granted, _)| active >> tier & 1 == 1 && *granted != tier)
                .map(|(_, _, to)| 1 + most[to]);
            let longest = waits.max().unwrap_or(0);
            most.insert(*state, longest);
        }
        most.into_values().max().unwrap_or(0)
    })
}

#[test]
fn by_default_a_runnable_tier_waits_for_2_8_or_31_grants_at_most() {
    assert_eq!(explore(SHARES), [2, 8, 31]);
}

#[test]
fn from_the_start_each_round_of_21_grants_is_shared_exactly() {
    let mut ledger = Ledger::default();
    let run: Vec<usize> = (0..210)
        .map(|_| tier_granted(&mut ledger, SHARES, 0b111))
        .collect();
    for window in run.windows(21) {
        let counts = [0, 1, 2].map(|tier| window.iter().filter(|t| **t == tier).count());
        assert_eq!(counts, [16, 4, 1]);
    }
}

#[test]
fn a_low_task_behind_a_saturated_high_tier_starts_within_32_grants() {
    for earlier in 0..40 {
        let mut ledger = Ledger::default();
        for _ in 0..earlier {
            grant(
                &mut ledger,
                SHARES,
                vec![head("busy", Tier::High)],
                Timestamp(0),
            );
        }
        let heads = || vec![head("busy", Tier::High), head("late", Tier::Low)];
        let waited = (1..)
            .find(|_| grant(&mut ledger, SHARES, heads(), Timestamp(0)).tier == Tier::Low)
            .expect("it starts");
        assert!(waited <= 32, "{waited}");
    }
}

#[test]
fn bob_starts_within_two_grants_after_a_hundred_tasks_of_alice() {
    // S3.12, whatever alice ran before.
    for ran_ms in [0, 1, 1000, 3_600_000] {
        let mut ledger = Ledger::default();
        ledger.charge_end(&name("alice"), ran_ms, 1, Timestamp(0));
        let heads = || vec![head("alice", Tier::Normal), head("bob", Tier::Normal)];
        let first = [(); 2].map(|()| grant(&mut ledger, SHARES, heads(), Timestamp(0)).user);
        assert!(first.contains(&name("bob")), "{first:?}");
    }
}

#[test]
fn an_old_heavy_user_waits_for_sixty_slot_seconds_of_a_newcomer_at_most() {
    let mut ledger = Ledger::default();
    ledger.charge_end(&name("heavy"), 100_000_000, 1, Timestamp(0));
    let heads = || vec![head("heavy", Tier::Normal), head("new", Tier::Normal)];
    let waited = (1..)
        .find(|_| grant(&mut ledger, SHARES, heads(), Timestamp(0)).user == name("heavy"))
        .expect("it starts");
    assert_eq!(waited, 61);
}

#[test]
fn tasks_too_short_to_measure_take_turns() {
    let mut ledger = Ledger::default();
    let users = ["a", "b", "c"];
    let run: Vec<Name> = (0..30)
        .map(|_| {
            let heads = users.map(|user| head(user, Tier::Normal)).to_vec();
            grant(&mut ledger, SHARES, heads, Timestamp(0)).user
        })
        .collect();
    for turn in run.chunks(3) {
        let turn: BTreeSet<&Name> = turn.iter().collect();
        assert_eq!(turn.len(), 3);
    }
}

#[test]
fn among_users_of_whom_nothing_is_known_priority_decides_then_age() {
    let offer = |user, priority, sequence| LaneHead {
        priority: Priority::new(priority).expect("a priority"),
        sequence: Some(sequence),
        ..head(user, Tier::High)
    };
    let mut ledger = Ledger::default();
    let heads = vec![
        offer("c", 1, 7),
        offer("a", 1, 9),
        offer("b", 0, 8),
        offer("d", 1, 6),
    ];
    let order: Vec<String> = Round::new(&mut ledger, SHARES, heads, Timestamp(0))
        .map(|candidate| candidate.user.to_string())
        .collect();
    assert_eq!(order, ["b", "d", "c", "a"]);
}

#[test]
fn names_that_are_counted_up_do_not_starve_another_new_user() {
    let mut ledger = Ledger::default();
    let waited = (0..2000).find(|number| {
        let heads = (0..4).map(|ahead| head(&format!("run-{:06}", number + ahead), Tier::Normal));
        let heads = heads.chain([head("zoe", Tier::Normal)]).collect();
        grant(&mut ledger, SHARES, heads, Timestamp(0)).user == name("zoe")
    });
    assert!(waited.is_some_and(|waited| waited < 100), "{waited:?}");
}

#[test]
fn a_user_that_was_started_is_not_given_again_in_the_same_pass_unless_offered() {
    let mut ledger = Ledger::default();
    let heads = Tier::ALL.map(|tier| head("alice", tier)).to_vec();
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    let first = round.next().expect("alice");
    round.started(first, 1);
    assert_eq!(round.next(), None);
    round.offer(head("alice", Tier::Low));
    assert_eq!(round.next().map(|c| c.tier), Some(Tier::Low));
}

#[test]
fn what_is_blocked_costs_neither_its_user_nor_its_tier_anything() {
    let mut ledger = Ledger::default();
    let heads = vec![head("blocked", Tier::High), head("free", Tier::Low)];
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    assert_eq!(round.next().map(|c| c.tier), Some(Tier::High));
    let free = round.next().expect("the other one");
    round.started(free, 1);
    assert_eq!(ledger.credits, [0; 3]);
    assert_eq!(ledger.usage(&name("blocked")).used_us, 0);
}

#[test]
fn a_damaged_ledger_does_not_lock_a_tier_out() {
    let mut ledger = Ledger {
        credits: [i64::MAX, i64::MIN, 0],
        ..Ledger::default()
    };
    let normal = (1..)
        .find(|_| tier_granted(&mut ledger, SHARES, 0b111) == 1)
        .expect("it starts");
    assert!(normal < 40, "{normal}");
}

#[test]
fn ten_thousand_users_are_each_given_once_in_a_pass() {
    let mut ledger = Ledger::default();
    let heads: Vec<LaneHead> = (0..10_000)
        .map(|number| head(&format!("user-{number}"), Tier::ALL[number % 3]))
        .collect();
    let mut given = BTreeSet::new();
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    while let Some(candidate) = round.next() {
        assert!(given.insert(candidate.user.clone()));
        round.started(candidate, MAX_WEIGHT);
    }
    assert_eq!(given.len(), 10_000);
}

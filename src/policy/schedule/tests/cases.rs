//! The scheduler case by case, and the shares of the tiers in every state they can reach.

use crate::policy::fair::MAX_WEIGHT;
use crate::policy::schedule::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::policy::schedule) const SHARES: [u32; 3] = [16, 4, 1];

pub(in crate::policy::schedule) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

pub(in crate::policy::schedule) fn head(user: &str, tier: Tier) -> LaneHead {
    LaneHead {
        user: name(user),
        tier,
        priority: tier.priorities().next().expect("a priority"),
        sequence: None,
        queue: user.into(),
        takes_user_lane: true,
        turn: u64::MAX,
    }
}

/// One pass that starts one task: of whom?
fn grant(ledger: &mut Ledger, shares: [u32; 3], heads: Vec<LaneHead>, now: Timestamp) -> Candidate {
    let mut round = Round::new(ledger, shares, heads, now);
    let candidate = round.next().expect("somebody is runnable");
    round.started(candidate.clone(), 1);
    candidate
}

/// One grant while the tiers in the bits of `active` have work, high in the lowest bit; which of them got it?
fn tier_granted(ledger: &mut Ledger, shares: [u32; 3], active: u8) -> usize {
    let heads =
        Tier::ALL.into_iter().filter(|tier| active >> tier.index() & 1 == 1).map(|tier| head("a", tier)).collect();
    grant(ledger, shares, heads, Timestamp(0)).tier.index()
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
            let mut ledger = Ledger { credits, ..Ledger::default() };
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
    let run: Vec<usize> = (0..210).map(|_| tier_granted(&mut ledger, SHARES, 0b111)).collect();
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
            grant(&mut ledger, SHARES, vec![head("busy", Tier::High)], Timestamp(0));
        }
        let heads = || vec![head("busy", Tier::High), head("late", Tier::Low)];
        let waited =
            (1..).find(|_| grant(&mut ledger, SHARES, heads(), Timestamp(0)).tier == Tier::Low).expect("it starts");
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
    let waited =
        (1..).find(|_| grant(&mut ledger, SHARES, heads(), Timestamp(0)).user == name("heavy")).expect("it starts");
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
    let heads = vec![offer("c", 1, 7), offer("a", 1, 9), offer("b", 0, 8), offer("d", 1, 6)];
    let order: Vec<String> =
        Round::new(&mut ledger, SHARES, heads, Timestamp(0)).map(|candidate| candidate.user.to_string()).collect();
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
fn a_user_that_was_started_in_one_tier_is_skipped_in_every_other() {
    let mut ledger = Ledger::default();
    ledger.charge_end(&name("alice"), 5000, 1, Timestamp(0));
    let heads = vec![head("alice", Tier::High), head("bob", Tier::Low), head("alice", Tier::Low)];
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    let first = round.next().expect("alice");
    round.started(first, 1);
    assert_eq!(round.next().map(|c| c.user), Some(name("bob")));
    assert_eq!(round.next(), None);
}

#[test]
fn a_user_that_was_offered_again_stays_in_the_pass_when_others_start() {
    let mut ledger = Ledger::default();
    let heads = vec![head("alice", Tier::High), head("bob", Tier::High)];
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    let first = round.next().expect("somebody");
    let user = first.user.clone();
    round.started(first, 1);
    round.offer(head(user.as_str(), Tier::High));
    let second = round.next().expect("the other one");
    round.started(second, 1);
    assert_eq!(round.next().map(|c| c.user), Some(user));
}

#[test]
fn users_that_are_forgiven_down_to_the_same_use_still_take_turns() {
    // Newcomers pull both down to 60 s in every pass and move the rotation, so that only the latest grant tells the
    // two apart.
    let mut ledger = Ledger::default();
    let mut last = None;
    for number in 0..20 {
        for heavy in ["h", "k"] {
            ledger.charge_end(&name(heavy), 3_600_000, 1, Timestamp(0));
        }
        let starts = format!("new-{number}");
        grant(&mut ledger, SHARES, vec![head(&starts, Tier::Normal)], Timestamp(0));
        let heads = ["h", "k", "blocked"].map(|user| head(user, Tier::Normal));
        let mut round = Round::new(&mut ledger, SHARES, heads.to_vec(), Timestamp(0));
        assert_eq!(round.next().map(|c| c.user), Some(name("blocked")));
        let candidate = round.next().expect("a heavy user");
        let user = Some(candidate.user.clone());
        round.started(candidate, 1);
        assert_ne!(user, last);
        last = user;
    }
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
    let mut ledger = Ledger { credits: [i64::MAX, i64::MIN, 0], ..Ledger::default() };
    let normal = (1..).find(|_| tier_granted(&mut ledger, SHARES, 0b111) == 1).expect("it starts");
    assert!(normal < 40, "{normal}");
}

#[test]
fn ten_thousand_users_are_each_given_once_in_a_pass() {
    let mut ledger = Ledger::default();
    let heads: Vec<LaneHead> =
        (0..10_000).map(|number| head(&format!("user-{number}"), Tier::ALL[number % 3])).collect();
    let mut given = BTreeSet::new();
    let mut round = Round::new(&mut ledger, SHARES, heads, Timestamp(0));
    while let Some(candidate) = round.next() {
        assert!(given.insert(candidate.user.clone()));
        round.started(candidate, MAX_WEIGHT);
    }
    assert_eq!(given.len(), 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

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

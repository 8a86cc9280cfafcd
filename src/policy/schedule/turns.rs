//! The order in which the queues of one user's lane take turns, as far as it is known before their tasks have run: each task
//! counts as a nominal second. Pure; the order of [`super::Round`] for one user and one tier.

use crate::model::sorted::map_of;
use crate::model::{Name, Turn};
use crate::policy::fair::{CAP_US, Ledger, NOMINAL_MS, Usage, has_own_share, over_weight, share_names};
use std::collections::{BTreeMap, BTreeSet};

/// A queue in the lane of a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// The name of the queue.
    pub queue: String,
    /// The weight of the queue's session or project.
    pub weight: u32,
    /// The queue's tasks of one tier in their order.
    pub turns: Vec<Turn>,
}

/// The tasks of a user's lane, of one tier, in the order of their starts.
pub struct Turns<'a> {
    sides: &'a [Side],
    names: Vec<[Option<Name>; 3]>,
    /// The use of each session.
    used: BTreeMap<Option<Name>, Usage>,
    /// The groups that have begun.
    begun: BTreeSet<Name>,
    /// Number of tasks of each queue that have started.
    started: Vec<usize>,
    grants: u64,
}

impl<'a> Turns<'a> {
    /// Begins with the state of a ledger.
    pub fn new(ledger: &Ledger, user: &Name, sides: &'a [Side]) -> Self {
        let is_shared = sides.iter().any(|side| has_own_share(&side.queue));
        let names = |side: &Side| if is_shared { share_names(user, &side.queue) } else { Default::default() };
        let names: Vec<[Option<Name>; 3]> = sides.iter().map(names).collect();
        let of = |[session, ..]: &[Option<Name>; 3]| (session.clone(), ledger.share_usage(session.as_ref()));
        let mut used: BTreeMap<Option<Name>, Usage> = map_of(names.iter().map(of));
        let least = used.values().map(|usage| usage.used_us).min().unwrap_or(0);
        used.values_mut().for_each(|usage| usage.used_us = usage.used_us.min(least.saturating_add(CAP_US)));
        let begun = names.iter().filter_map(|names| names[2].clone()).filter(|group| ledger.knows(group)).collect();
        Self { sides, names, used, begun, started: vec![0; sides.len()], grants: ledger.grants }
    }

    /// The queue whose first task starts next, and that task.
    pub fn next(&self) -> Option<(usize, Turn)> {
        let first_of = |(at, side): (usize, &Side)| side.turns.get(self.started[at]).map(|turn| (at, *turn));
        let firsts = || self.sides.iter().enumerate().filter_map(first_of);
        let best = firsts().map(|(_, turn)| turn.0).min()?;
        firsts().min_by_key(|(at, turn)| {
            let [session, _, group] = &self.names[*at];
            let goes_on = turn.0 == best && group.as_ref().is_some_and(|group| self.begun.contains(group));
            (!goes_on, self.used[session], *turn)
        })
    }

    fn start(&mut self, at: usize) {
        self.started[at] += 1;
        self.grants += 1;
        let [session, _, group] = &self.names[at];
        self.begun.extend(group.clone());
        let usage = self.used.entry(session.clone()).or_default();
        usage.used_us = usage.used_us.saturating_add(over_weight(NOMINAL_MS, 1, self.sides[at].weight));
        usage.last_grant = self.grants;
    }
}

/// The order in which the tasks of some queues start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// The places of the tasks of each queue, in ascending order.
    places: Vec<Vec<usize>>,
}

impl Order {
    /// The order of the first `most` tasks.
    pub fn of(mut turns: Turns, most: u64) -> Self {
        let mut places = vec![Vec::new(); turns.sides.len()];
        for place in 0..usize::try_from(most).unwrap_or(usize::MAX) {
            let Some((at, _)) = turns.next() else { break };
            places[at].push(place);
            turns.start(at);
        }
        Self { places }
    }

    /// Number of tasks of each queue that start before the task with this number in the queue `own`.
    pub fn before(&self, own: usize, number: usize) -> Vec<usize> {
        let place = self.places[own].get(number).copied().unwrap_or(usize::MAX);
        self.places.iter().map(|places| places.partition_point(|other| *other < place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cases::{SHARES, head, name};
    use super::super::{LaneHead, Round};
    use super::*;
    use crate::model::{Priority, TaskId, Tier, Timestamp};
    use proptest::prelude::*;

    fn side(session: u8, group: Option<u64>, turns: &[(u8, u64)]) -> Side {
        let share = if session == 0 { String::new() } else { format!("~s{session:016x}") };
        let group = group.map_or_else(String::new, |first| format!("~g{first}"));
        let queue = format!("user_alice{share}{group}");
        let turn = |(priority, id): &(u8, u64)| {
            (Priority::new(*priority).expect("a priority"), crate::model::QueueName::place_in(&queue, TaskId(*id)))
        };
        let mut turns: Vec<Turn> = turns.iter().map(turn).collect();
        turns.sort_unstable();
        Side { weight: 1, turns, queue }
    }

    /// All tasks in the order in which passes start them, when each runs for a moment.
    fn started(ledger: &mut Ledger, sides: &[Side]) -> Vec<(usize, Turn)> {
        let (mut at, mut order) = (vec![0; sides.len()], Vec::new());
        loop {
            let first = |(number, side): (usize, &Side)| {
                let (priority, (place, _)) = side.turns.get(at[number]).copied()?;
                let known = LaneHead { queue: side.queue.as_str().into(), priority, ..head("alice", Tier::Normal) };
                Some(LaneHead { turn: place.0, sequence: Some(place.0), ..known })
            };
            let heads: Vec<LaneHead> = sides.iter().enumerate().filter_map(first).collect();
            let mut round = Round::new(&mut *ledger, SHARES, heads, Timestamp(0));
            let Some(candidate) = round.next() else { return order };
            let number = sides.iter().position(|side| *side.queue == *candidate.queue).expect("it was offered");
            round.started(candidate, 1);
            order.push((number, sides[number].turns[at[number]]));
            at[number] += 1;
        }
    }

    /// The priorities and numbers of tasks, by session and first task of the group.
    type Queues = BTreeMap<(u8, Option<u64>), Vec<(u8, u64)>>;

    fn sides() -> impl Strategy<Value = Vec<Side>> {
        let tasks = proptest::collection::vec((0..4u8, proptest::option::weighted(0.3, 0..2u64), 4..7u8), 1..40);
        tasks.prop_map(|tasks| {
            let mut queues = Queues::new();
            let mut firsts: BTreeMap<(u8, u64), u64> = BTreeMap::new();
            for (number, (session, group, priority)) in (1..).zip(tasks) {
                let first = group.map(|group| *firsts.entry((session, group)).or_insert(number));
                let priority = if first.is_some() { 5 } else { priority };
                queues.entry((session, first)).or_default().push((priority, number));
            }
            queues.into_iter().map(|((session, group), turns)| side(session, group, &turns)).collect()
        })
    }

    proptest! {
        #[test]
        fn as_many_come_before_a_task_as_passes_start_before_it(
            sides in sides(), ran in proptest::collection::vec((0..4u8, 1..200_000u64), 0..4),
        ) {
            let mut ledger = Ledger::default();
            for (session, ran_ms) in ran {
                let [of_session, ..] = share_names(&name("alice"), &side(session, None, &[]).queue);
                ledger.charge_end(&of_session.expect("a name"), ran_ms, 1, Timestamp(0));
            }
            let before = ledger.clone();
            let order = started(&mut ledger, &sides);
            let known = Order::of(Turns::new(&before, &name("alice"), &sides), u64::MAX >> 1);
            for (at, (own, turn)) in order.iter().enumerate() {
                let number = sides[*own].turns.iter().position(|other| other == turn).expect("it is there");
                prop_assert_eq!(known.before(*own, number).iter().sum::<usize>(), at, "{:?} in {:?}", turn, order);
            }
            let first = Turns::new(&before, &name("alice"), &sides).next();
            prop_assert_eq!(first, order.first().copied());
        }
    }

    #[test]
    fn a_group_runs_in_a_row_beside_another_session_and_better_work_goes_before_the_rest() {
        let sides = [side(1, Some(1), &[(5, 1), (5, 3), (5, 5)]), side(2, None, &[(5, 2), (5, 4)]), side(2, None, &[])];
        let mut ledger = Ledger::default();
        let numbers = |order: Vec<(usize, Turn)>| order.iter().map(|(_, turn)| turn.1.1.0).collect::<Vec<_>>();
        assert_eq!(numbers(started(&mut ledger, &sides[..2])), [1, 3, 5, 2, 4]);
        let sides = [side(1, Some(1), &[(5, 3), (5, 5)]), side(2, None, &[(4, 6), (5, 7)])];
        // The group has begun: it is in the ledger.
        assert_eq!(numbers(started(&mut ledger, &sides)), [6, 3, 5, 7]);
    }
}

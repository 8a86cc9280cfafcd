//! Finds the tasks that wait for each other for ever, in a graph of waits. A task waits for needs, and a need is met as soon as
//! so many of its places are free. A lane of several slots is such a need: it blocks only if too few of its slots are held by
//! tasks that can end. Pure.

use crate::model::{Member, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// Places, some of which must be free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need<M = Member> {
    /// The holder of each place. A holder of several places is listed as often.
    pub holders: Vec<M>,
    /// Number of the places that must be free. A number above that of the places can never be met, and is no evidence of a cycle.
    pub count: usize,
}

impl Need {
    /// A task that must be over.
    pub fn of(task: TaskId) -> Self {
        Self { holders: vec![Member::Task(task)], count: 1 }
    }
}

/// The graph of waits: the needs of each member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waits<M = Member>(BTreeMap<M, Vec<Need<M>>>);

impl<M> Default for Waits<M> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<M: Copy + Ord> Waits<M> {
    /// Adds a need of a task. A task without needs ends by itself, and so does a holder without an entry.
    pub fn add(&mut self, task: M, need: Need<M>) {
        self.0.entry(task).or_default().push(need);
    }

    /// The tasks that can never end: each has a need that stays open, because too many of its holders can never end.
    pub fn stuck(&self) -> BTreeSet<M> {
        let mut stuck: BTreeSet<M> = self.0.keys().copied().collect();
        loop {
            let left: BTreeSet<M> =
                stuck.iter().copied().filter(|task| self.hopeless(*task, &stuck).is_some()).collect();
            if left.len() == stuck.len() {
                return left;
            }
            stuck = left;
        }
    }

    /// A stuck holder of the first need of a task that can never be met.
    fn hopeless(&self, task: M, stuck: &BTreeSet<M>) -> Option<M> {
        let keeper = |need: &Need<M>| {
            let kept = need.holders.iter().filter(|holder| stuck.contains(holder));
            let is_hopeless = need.holders.len() < need.count.saturating_add(kept.clone().count());
            kept.copied().next().filter(|_| is_hopeless)
        };
        self.0.get(&task)?.iter().find_map(keeper)
    }

    /// The tasks that wait for each other for ever and keep this one from its end, each followed by one that it waits for.
    /// `None` if the task can end. The task itself need not be in the cycle.
    pub fn cycle(&self, task: M) -> Option<Vec<M>> {
        let stuck = self.stuck();
        let mut path = Vec::new();
        let mut at = stuck.get(&task).copied()?;
        loop {
            if let Some(begin) = path.iter().position(|seen| *seen == at) {
                return Some(path.split_off(begin));
            }
            path.push(at);
            at = self.hopeless(at, &stuck)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TASKS: usize = 6;

    fn waits(of: &[(u64, &[u64])]) -> Waits<TaskId> {
        let mut waits = Waits::default();
        for (task, need) in of {
            waits.add(TaskId(*task), some(need, 1));
        }
        waits
    }

    fn some(holders: &[u64], count: usize) -> Need<TaskId> {
        Need { holders: holders.iter().map(|id| TaskId(*id)).collect(), count }
    }

    #[test]
    fn three_tasks_in_a_ring_are_named_from_each_of_them_and_from_behind() {
        let ring = waits(&[(1, &[2]), (2, &[3]), (3, &[1]), (4, &[2])]);
        assert_eq!(ring.cycle(TaskId(3)), Some(vec![TaskId(3), TaskId(1), TaskId(2)]));
        assert_eq!(ring.cycle(TaskId(4)), Some(vec![TaskId(2), TaskId(3), TaskId(1)]));
        assert_eq!(ring.cycle(TaskId(9)), None);
    }

    #[test]
    fn a_lane_with_one_holder_that_ends_blocks_nobody() {
        assert_eq!(waits(&[(1, &[3]), (2, &[4]), (3, &[1, 2]), (4, &[1, 2, 5])]).stuck(), BTreeSet::new());
        let full = waits(&[(1, &[3]), (2, &[4]), (3, &[1, 2]), (4, &[1, 2])]);
        assert_eq!(full.stuck().len(), 4);
    }

    #[test]
    fn who_wants_several_slots_waits_for_ever_when_too_few_of_them_can_be_free() {
        // Four slots: task 2 has two of them, and tasks 1 and 2 wait for task 9, which wants some.
        for (wanted, is_stuck) in [(1, false), (2, true), (3, true)] {
            let mut waits = waits(&[(1, &[9]), (2, &[9])]);
            waits.add(TaskId(9), some(&[1, 2, 2, 5], wanted));
            assert_eq!(waits.stuck().contains(&TaskId(9)), is_stuck, "{wanted}");
            assert_eq!(waits.cycle(TaskId(9)), is_stuck.then(|| vec![TaskId(9), TaskId(1)]), "{wanted}");
        }
        let mut free = waits(&[(1, &[3])]);
        free.add(TaskId(9), some(&[4, 5], 3));
        assert_eq!(free.stuck(), BTreeSet::new(), "nobody waits for it");
    }

    /// Tries every order in which tasks can end. Returns the tasks that end in at least one order, as bits.
    fn every_order(needs: &[Vec<(Vec<usize>, usize)>]) -> u32 {
        let (mut open, mut seen, mut all) = (vec![0u32], BTreeSet::new(), 0);
        while let Some(over) = open.pop() {
            all |= over;
            for (at, needs) in needs.iter().enumerate() {
                let is_over = |other: &usize| over & (1 << other) != 0;
                let next = over | (1 << at);
                if needs.iter().all(|(need, count)| need.iter().filter(|one| is_over(one)).count() >= *count)
                    && seen.insert(next)
                {
                    open.push(next);
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn stuck_is_what_ends_in_no_order(
            needs in proptest::collection::vec(
                proptest::collection::vec((proptest::collection::vec(0..TASKS, 1..5), 1usize..4), 0..3), TASKS)
        ) {
            let mut waits = Waits::default();
            let mut needs = needs;
            needs.iter_mut().flatten().for_each(|(need, count)| *count = need.len().min(*count));
            for (at, all) in needs.iter().enumerate() {
                for (need, count) in all {
                    let holders = need.iter().map(|id| TaskId(*id as u64)).collect();
                    waits.add(TaskId(at as u64), Need { holders, count: *count });
                }
            }
            let ends = every_order(&needs);
            let stuck = waits.stuck();
            for at in 0..TASKS {
                let id = TaskId(at as u64);
                prop_assert_eq!(stuck.contains(&id), ends & (1 << at) == 0);
                let cycle = waits.cycle(id);
                prop_assert_eq!(cycle.is_some(), stuck.contains(&id));
                let cycle = cycle.unwrap_or_default();
                for (place, member) in cycle.iter().enumerate() {
                    let next = cycle[(place + 1) % cycle.len()];
                    let of = &needs[usize::try_from(member.0).expect("small")];
                    prop_assert!(of.iter().any(|(need, _)| need.contains(&usize::try_from(next.0).expect("small"))));
                }
            }
        }
    }
}

//! Tasks that continue after a wait, among new work (X16).

use super::{Candidate, Round};
use crate::model::sorted::sort_by_key;
use crate::model::{Name, Priority, TaskId, Tier};
use std::sync::Arc;

/// A task whose wait is over, and that needs its lanes again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resumed {
    /// The priority of the task.
    pub priority: Priority,
    /// The number of the task.
    pub id: TaskId,
    /// The user of the task.
    pub user: Name,
    /// The queue of the task while it is pending.
    pub queue: Arc<str>,
    /// Whether the task takes the lane of its user.
    pub takes_user_lane: bool,
}

impl<L: std::ops::DerefMut<Target = super::Ledger>> Round<L> {
    /// Adds tasks that continue after a wait.
    #[must_use]
    pub fn with_resumed(mut self, mut tasks: Vec<Resumed>) -> Self {
        sort_by_key(&mut tasks, |task| std::cmp::Reverse((task.priority, task.id)));
        for task in tasks {
            self.resumed[task.priority.tier().index()].push(task);
        }
        self
    }

    /// Whether a tier has work to try.
    pub(super) fn has_work(&self, tier: usize) -> bool {
        !self.queues[tier].is_empty() || !self.resumed[tier].is_empty() || self.cuts[tier].is_some()
    }

    /// The first task of a tier that continues after a wait, unless new work comes before it.
    pub(super) fn next_resumed(&mut self, tier: Tier) -> Option<Candidate> {
        let first = self.resumed[tier.index()].last()?;
        let (priority, used) = (first.priority, self.ledger.usage(&first.user).used_us);
        if let Some(entry) = self.pop(tier) {
            let goes_before = entry.priority < priority && entry.used.used_us <= used;
            self.queues[tier.index()].push(std::cmp::Reverse(entry));
            if goes_before {
                return None;
            }
        }
        let first = self.resumed[tier.index()].pop()?;
        Some(Candidate {
            user: first.user,
            queue: first.queue,
            takes_user_lane: first.takes_user_lane,
            tier,
            priority: first.priority,
            sequence: None,
            resumed: Some(first.id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cases::{SHARES, head, name};
    use super::*;
    use crate::model::Timestamp;
    use crate::policy::fair::Ledger;
    use crate::policy::schedule::LaneHead;
    use proptest::prelude::*;

    fn new_work(user: usize, priority: u8) -> LaneHead {
        let priority = Priority::new(priority).expect("a priority");
        LaneHead { priority, ..head(&format!("new{user}"), priority.tier()) }
    }

    fn resumed(at: usize, priority: u8) -> Resumed {
        let user = format!("old{at}");
        let priority = Priority::new(priority).expect("a priority");
        Resumed {
            priority,
            id: TaskId(at as u64),
            user: name(&user),
            queue: user.as_str().into(),
            takes_user_lane: true,
        }
    }

    fn order(ledger: &mut Ledger, new: &[u8], old: &[u8]) -> Vec<(bool, u8)> {
        let heads = new.iter().enumerate().map(|(at, priority)| new_work(at, *priority)).collect();
        let old = old.iter().enumerate().map(|(at, priority)| resumed(at, *priority)).collect();
        let mut round = Round::new(ledger, SHARES, heads, Timestamp(0)).with_resumed(old);
        let mut order = Vec::new();
        while let Some(candidate) = round.next() {
            order.push((candidate.resumed.is_some(), candidate.priority.number()));
            round.started(candidate, 1);
        }
        order
    }

    #[test]
    fn it_goes_before_new_work_of_its_priority_and_not_before_better() {
        let mut ledger = Ledger::default();
        assert_eq!(order(&mut ledger, &[5, 4, 6], &[5]), [(false, 4), (true, 5), (false, 5), (false, 6)]);
        // High work earns more of the grants than normal work, and normal work more than low work.
        assert_eq!(order(&mut Ledger::default(), &[1], &[5, 8]), [(false, 1), (true, 5), (true, 8)]);
    }

    #[test]
    fn better_work_of_a_user_who_has_used_more_lets_it_go_first() {
        let mut ledger = Ledger::default();
        ledger.charge_end(&name("new0"), 5_000, 1, Timestamp(0));
        assert_eq!(order(&mut ledger, &[4], &[5]), [(true, 5), (false, 4)]);
    }

    proptest! {
        #[test]
        fn each_is_tried_once_and_before_all_new_work_that_is_not_better(
            new in proptest::collection::vec(0..10_u8, 0..12),
            old in proptest::collection::vec(0..10_u8, 0..6),
            used in proptest::collection::vec(0..100_000_000_u64, 12),
        ) {
            let mut ledger = Ledger::default();
            for (at, used) in used.iter().enumerate() {
                ledger.charge_end(&name(&format!("new{at}")), *used, 1, Timestamp(0));
            }
            let order = order(&mut ledger, &new, &old);
            let mut tried: Vec<u8> = order.iter().filter(|(is_old, _)| *is_old).map(|(_, priority)| *priority).collect();
            prop_assert_eq!(order.len(), new.len() + old.len());
            let tier = |priority: u8| Priority::new(priority).expect("a priority").tier();
            for (at, (is_old, priority)) in order.iter().enumerate().filter(|(_, (is_old, _))| *is_old) {
                let overtaken = order[..at].iter().any(|(other_old, other)| {
                    !other_old && *is_old && tier(*other) == tier(*priority) && other >= priority
                });
                prop_assert!(!overtaken, "{order:?}");
            }
            tried.sort_unstable();
            let mut expected = old.clone();
            expected.sort_unstable();
            prop_assert_eq!(tried, expected);
        }
    }
}

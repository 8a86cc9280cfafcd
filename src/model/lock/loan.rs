//! Loans: a waited-for child takes a lane that its waiting parent holds. The child gets a slot of its own above the slot of the
//! parent, so each task has its own lock. luzia judges and releases each of these locks like any other. Slots above each other
//! are a family and count as one holder (contract P1). Pure.

use crate::model::TaskId;
use std::collections::{BTreeMap, BTreeSet};

/// The distance between a slot and the slot of its borrower. It is the greatest number of slots of a lane.
pub const STEP: u32 = 1_000_000;

/// The lowest slot of the family of a slot: two slots of one family are one holder.
pub fn root(slot: u32) -> u32 {
    slot % STEP
}

/// Whether a slot belongs to a borrower.
pub fn is_loan(slot: u32) -> bool {
    slot >= STEP
}

/// The slot of a borrower of the holder of a slot; `None` beyond the deepest chain, which has 4,294 tasks.
pub fn above(slot: u32) -> Option<u32> {
    slot.checked_add(STEP)
}

/// Number of holders of some slots.
pub fn holders(slots: impl Iterator<Item = u32>) -> u32 {
    u32::try_from(slots.map(root).collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX)
}

/// The first slot whose family has no member.
pub fn free_slot(occupied: &BTreeSet<u32>) -> u32 {
    (0..).find(|slot| !occupied.contains(slot)).unwrap_or(u32::MAX)
}

/// State of a lane for a task that may borrow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lent {
    /// No lender of the task holds the lane.
    No,
    /// The holder of this slot lends the lane.
    By(u32),
    /// A lender holds the lane, and the holder of this slot has borrowed it: borrowers take turns.
    Taken(u32),
}

/// Whether a lane is lent to a task. `living` are the slots of living holders, with the holder if it is a task. `lenders` are
/// the tasks that wait for the borrower: its parent, and those that wait for the parent.
pub fn lent(living: impl Iterator<Item = (u32, Option<TaskId>)>, lenders: &[TaskId]) -> Lent {
    let families = families(living, lenders);
    let mut taken = Lent::No;
    for mut members in families.into_values() {
        members.sort_unstable();
        match members.last() {
            Some((slot, true)) => return Lent::By(*slot),
            Some((slot, false)) if members.iter().any(|(_, lends)| *lends) => taken = Lent::Taken(*slot),
            _ => {}
        }
    }
    taken
}

/// Number of slots of a lane that a borrower can borrow.
pub fn lendable(living: impl Iterator<Item = (u32, Option<TaskId>)>, lenders: &[TaskId]) -> u32 {
    let is_lent = |members: &&Vec<(u32, bool)>| members.iter().max().is_some_and(|(_, lends)| *lends);
    u32::try_from(families(living, lenders).values().filter(is_lent).count()).unwrap_or(u32::MAX)
}

/// The slots of each family, and for each slot whether its holder lends it.
fn families(
    living: impl Iterator<Item = (u32, Option<TaskId>)>,
    lenders: &[TaskId],
) -> BTreeMap<u32, Vec<(u32, bool)>> {
    let mut families: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for (slot, holder) in living {
        let lends = holder.is_some_and(|holder| lenders.contains(&holder));
        families.entry(root(slot)).or_default().push((slot, lends));
    }
    families
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(id: u64) -> Option<TaskId> {
        Some(TaskId(id))
    }

    #[test]
    fn a_lane_is_lent_by_its_topmost_holder_only() {
        let lenders = [TaskId(2), TaskId(1)];
        for (living, expected) in [
            (vec![], Lent::No),
            (vec![(0, None)], Lent::No),
            (vec![(0, task(9))], Lent::No),
            (vec![(0, task(1))], Lent::By(0)),
            (vec![(0, task(1)), (STEP, task(2))], Lent::By(STEP)),
            (vec![(0, task(1)), (STEP, task(7))], Lent::Taken(STEP)),
            // The borrower in the middle of a chain has ended.
            (vec![(0, task(1)), (2 * STEP, task(7))], Lent::Taken(2 * STEP)),
            (vec![(0, task(9)), (3, task(1))], Lent::By(3)),
            (vec![(0, task(9)), (STEP + 3, task(1))], Lent::By(STEP + 3)),
        ] {
            assert_eq!(lent(living.iter().copied(), &lenders), expected, "{living:?}");
            let lendable = lendable(living.iter().copied(), &lenders);
            assert_eq!(lendable > 0, matches!(expected, Lent::By(_)), "{living:?}");
        }
    }

    proptest! {
        #[test]
        fn a_loan_never_adds_a_holder(roots in proptest::collection::btree_set(0..STEP, 1..6), at in 0usize..6) {
            let slots: Vec<u32> = roots.iter().copied().collect();
            let lender = slots[at % slots.len()];
            let with = slots.iter().copied().chain(above(lender));
            prop_assert_eq!(holders(with), holders(slots.iter().copied()));
            let free = free_slot(&roots);
            prop_assert!(!roots.contains(&free) && !is_loan(free));
        }
    }
}

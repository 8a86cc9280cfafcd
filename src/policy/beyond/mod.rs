//! The tasks of a user that may start before the user's first one, because that one waits for a capacity lane that they do not
//! need. Pure.
//!
//! **Bound.** Only tasks whose numbers are at most [`MOST_PASSED`] above its own pass a task. Every task has a number of its
//! own, so at most that many pass it, however long its lane is full; then its user's queue waits for it. A pass looks at
//! [`MOST_TRIED`] tasks behind the first one at most.

use crate::model::TaskId;

/// Number of tasks behind the first one of a queue that a pass tries.
pub const MOST_TRIED: usize = 16;
/// Greatest difference between the number of a task that passes and the number of the task that it passes.
pub const MOST_PASSED: u64 = 1000;

/// Whether a task may start before other tasks that wait for capacity lanes.
pub fn may_pass(passed: &[TaskId], id: TaskId) -> bool {
    passed.len() <= MOST_TRIED && passed.iter().all(|before| id.0 <= before.0.saturating_add(MOST_PASSED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However tasks come and go, a task that stays is passed by a thousand at most.
        #[test]
        fn a_task_that_waits_is_passed_by_a_thousand_at_most(first in 0..5000u64, gaps in prop::collection::vec(1..4u64, 3000)) {
            let (mut id, mut count) = (first, 0);
            for gap in gaps {
                id += gap;
                count += u64::from(may_pass(&[TaskId(first)], TaskId(id)));
            }
            prop_assert!((1..=MOST_PASSED).contains(&count));
        }
    }

    #[test]
    fn no_more_are_passed_at_once_than_a_pass_looks_at() {
        let many: Vec<TaskId> = (0..=MOST_TRIED as u64).map(TaskId).collect();
        assert_eq!(
            [may_pass(&many[1..], TaskId(50)), may_pass(&many, TaskId(50)), may_pass(&[], TaskId(1))],
            [true, false, true]
        );
    }
}

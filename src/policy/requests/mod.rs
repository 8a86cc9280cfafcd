//! Decisions on a request beside its command: its sampled starts, the ends after which it starts, and its group. Pure.
//!
//! `is_sampled` decides which starts of a task are logged with their prompt and answer (`--log-sample`). `met` decides whether
//! one task that it comes after allows a task to start. `joined` and `place` keep groups: tasks that run one after another on
//! their lane (`--group`, S3.F3).
//!
//! Each task of a group records the first of its tasks and takes its turn as if it had been queued right behind that one. So the
//! order of a queue needs no memory of the last run. The order is priority, then the first task of the group (for a task without
//! a group: itself), then the number.
//!
//! **Bound.** A group takes [`MOST_IN_A_ROW`] tasks; the next one begins another group of the same name at its own place. So a
//! task waits for at most `MOST_IN_A_ROW - 1` later tasks for each group that was open when it was queued. It never waits for a
//! group that began later. A continuous stream of new tasks does not keep it waiting.

use crate::model::task::Wanted;
use crate::model::{Priority, Status, Task, TaskId};
use crate::policy::outcome::mixed;

/// All starts, in parts of a million.
const ALL: u64 = 1_000_000;

/// Whether a start is in the sample. The task and the start decide, so that every call for one start returns one result.
pub fn is_sampled(task: &Task, start: u32) -> bool {
    task.terms.log_sample.is_some_and(|share| mixed(task.id.0, start) % ALL < u64::from(share))
}

/// The effect of the state of the task before on the task after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// The task may start.
    Yes,
    /// The task waits: the task before is not over.
    NotYet,
    /// The task can never start: the task before did not end in the wanted way.
    Never,
}

/// Whether a task before ended in the wanted way. `before` is its state; `None` if its record is gone, so that its end is not
/// known. Every answer lets a task stop waiting for one that is over (`DependencyFailed`).
pub fn met(wanted: Wanted, before: Option<Status>) -> Met {
    let Some(before) = before else { return if wanted == Wanted::Any { Met::Yes } else { Met::Never } };
    if !before.is_final() {
        return Met::NotYet;
    }
    let is_wanted = match wanted {
        Wanted::Completed => before == Status::Completed,
        Wanted::Any => true,
        // A cancel of a task also ends the tasks that were to follow it.
        Wanted::Failed => matches!(before, Status::Failed | Status::Timeout),
    };
    if is_wanted { Met::Yes } else { Met::Never }
}

/// Number of tasks that a group takes before another one begins.
pub const MOST_IN_A_ROW: u32 = 16;

/// A group that still takes tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenGroup {
    /// The first of the group's tasks.
    pub first: TaskId,
    /// The last of the group's tasks.
    pub last: TaskId,
    /// Number of the group's tasks.
    pub count: u32,
}

/// The group of the name after it has taken a task. `is_waiting` is true if its last task has not ended. A group is over if all
/// its tasks are over, or if it has all tasks that it may have.
pub fn joined(open: Option<OpenGroup>, is_waiting: bool, task: TaskId) -> OpenGroup {
    match open {
        Some(group) if is_waiting && group.count < MOST_IN_A_ROW && group.first < task => {
            OpenGroup { last: task, count: group.count + 1, ..group }
        }
        _ => OpenGroup { first: task, last: task, count: 1 },
    }
}

/// The place of a task in the order of its queue.
pub fn place(priority: Priority, first: Option<TaskId>, id: TaskId) -> (Priority, TaskId, TaskId) {
    (priority, first.unwrap_or(id), id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_share_of_the_starts_is_sampled_and_always_the_same() {
        let mut one = task(3);
        assert!(!is_sampled(&one, 1));
        for (share, from, to) in [(0, 0, 0), (100_000, 800, 1200), (1_000_000, 10_000, 10_000)] {
            one.terms.log_sample = Some(share);
            let sampled = || (1..=10_000).filter(|start| is_sampled(&one, *start)).count();
            assert!((from..=to).contains(&sampled()), "{share}: {}", sampled());
            assert_eq!(sampled(), sampled());
        }
    }

    #[test]
    fn each_kind_of_dependency_is_met_by_its_ends_and_waits_for_no_task_that_is_over() {
        for (wanted, met_by) in [
            (Wanted::Completed, &[Status::Completed][..]),
            (Wanted::Any, &[Status::Completed, Status::Failed, Status::Timeout, Status::Cancelled]),
            (Wanted::Failed, &[Status::Failed, Status::Timeout]),
        ] {
            for status in Status::ALL {
                let expected = match (status.is_final(), met_by.contains(&status)) {
                    (false, _) => Met::NotYet,
                    (true, true) => Met::Yes,
                    (true, false) => Met::Never,
                };
                assert_eq!(met(wanted, Some(status)), expected, "{wanted:?} {status}");
            }
            assert_ne!(met(wanted, None), Met::NotYet);
        }
    }

    /// A lane of limit 1: tasks are queued with or without a group, and the first of the order runs.
    fn served(tasks: &[(Option<u8>, bool)]) -> Vec<(TaskId, Option<TaskId>)> {
        let mut open: BTreeMap<u8, OpenGroup> = BTreeMap::new();
        let mut waiting: Vec<(TaskId, Option<TaskId>)> = Vec::new();
        let mut order = Vec::new();
        let next = |waiting: &mut Vec<(TaskId, Option<TaskId>)>, order: &mut Vec<_>| {
            waiting.sort_unstable_by_key(|(id, first)| place(Priority::DEFAULT, *first, *id));
            if !waiting.is_empty() {
                order.push(waiting.remove(0));
            }
        };
        for (number, (group, is_served)) in (1..).zip(tasks) {
            let id = TaskId(number);
            let first = group.map(|name| {
                let known = open.get(&name).copied();
                let is_waiting = known.is_some_and(|group| waiting.iter().any(|(id, _)| *id == group.last));
                let group = joined(known, is_waiting, id);
                open.insert(name, group);
                group.first
            });
            waiting.push((id, first));
            if *is_served {
                next(&mut waiting, &mut order);
            }
        }
        while !waiting.is_empty() {
            next(&mut waiting, &mut order);
        }
        order
    }

    proptest! {
        #[test]
        fn no_task_waits_for_more_than_the_rest_of_the_groups_before_it(
            tasks in proptest::collection::vec((proptest::option::weighted(0.7, 0_u8..3), any::<bool>()), 0..200)
        ) {
            let order = served(&tasks);
            prop_assert_eq!(order.len(), tasks.len());
            for (at, (id, first)) in order.iter().enumerate() {
                let own = first.unwrap_or(*id);
                let passed: Vec<_> = order[..at].iter().filter(|(other, _)| other > id).collect();
                let mut by_group: BTreeMap<TaskId, usize> = BTreeMap::new();
                for (other, group) in passed {
                    let group = group.unwrap_or(*other);
                    prop_assert!(group <= own, "{other} of a group that began later went before {id}");
                    *by_group.entry(group).or_default() += 1;
                }
                let most = usize::try_from(MOST_IN_A_ROW).expect("a small number");
                prop_assert!(by_group.values().all(|count| *count < most));
            }
        }

        #[test]
        fn tasks_of_a_group_that_wait_together_run_in_a_row(
            tasks in proptest::collection::vec(proptest::option::weighted(0.7, 0_u8..3), 0..100)
        ) {
            // All are queued before the first one runs.
            let order = served(&tasks.iter().map(|group| (*group, false)).collect::<Vec<_>>());
            let mut left: Vec<TaskId> = Vec::new();
            for pair in order.windows(2) {
                let [one, other] = pair else { continue };
                let (one, other) = (one.1.unwrap_or(one.0), other.1.unwrap_or(other.0));
                if one != other {
                    left.push(one);
                    prop_assert!(!left.contains(&other), "the group of {other} was taken up again");
                }
            }
        }
    }

    #[test]
    fn a_group_that_is_full_or_over_begins_anew() {
        let full = OpenGroup { first: TaskId(1), last: TaskId(9), count: MOST_IN_A_ROW };
        assert_eq!(joined(Some(full), true, TaskId(10)).first, TaskId(10));
        let open = OpenGroup { count: 3, ..full };
        assert_eq!(joined(Some(open), true, TaskId(10)), OpenGroup { last: TaskId(10), count: 4, ..open });
        assert_eq!(joined(Some(open), false, TaskId(10)).first, TaskId(10));
        assert_eq!(joined(None, false, TaskId(10)).count, 1);
    }
}

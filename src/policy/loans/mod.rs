//! The lenders of a task's lanes. Pure: the caller supplies the facts by functions.

use crate::model::{Status, Task, TaskId};

/// The longest chain of waiting parents that is followed.
const MOST_LENDERS: usize = 1000;

/// The tasks that lend a task their lanes, its parent first. A parent lends while it runs and a process waits for the child in
/// its name (`waits`). A parent that is lent lanes passes on those that it may use. A chain ends at the first link without a wait.
pub fn lenders<E>(
    task: &Task,
    waits: &dyn Fn(TaskId) -> Result<bool, E>,
    find: &dyn Fn(TaskId) -> Result<Option<Task>, E>,
) -> Result<Vec<Task>, E> {
    let mut chain: Vec<Task> = Vec::new();
    let (mut child, mut parent, mut inherits) = (task.id, task.parent, !task.no_inherit);
    while let Some(id) = parent.filter(|_| inherits && chain.len() < MOST_LENDERS) {
        // The caller waits for a task that has no number yet.
        if child.0 > 0 && !waits(child)? {
            break;
        }
        let Some(lender) = find(id)?.filter(|lender| matches!(lender.status(), Status::Running | Status::Waiting))
        else {
            break;
        };
        // Parents are older than their children, so that a forged record cannot make a cycle.
        if child.0 > 0 && lender.id >= child {
            break;
        }
        (child, parent, inherits) = (lender.id, lender.parent, !lender.no_inherit);
        chain.push(lender);
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;
    use crate::model::task::TaskState;
    use crate::policy::outcome::{Happened, conclude};
    use crate::store::tests_support::task;
    use std::collections::BTreeSet;

    fn family() -> Vec<Task> {
        let running =
            |id: u64, parent: Option<u64>| Task { state: TaskState::RUNNING, parent: parent.map(TaskId), ..task(id) };
        vec![running(1, None), running(2, Some(1)), running(3, Some(2)), running(4, Some(3))]
    }

    fn lent(tasks: &[Task], waited: &[u64], to: u64) -> Vec<u64> {
        let waited: BTreeSet<u64> = waited.iter().copied().collect();
        let find = |id: TaskId| Ok::<_, ()>(tasks.iter().find(|task| task.id == id).cloned());
        let of = tasks.iter().find(|task| task.id.0 == to).expect("a task");
        let found = lenders(of, &|id| Ok(waited.contains(&id.0)), &find).expect("no error");
        found.iter().map(|task| task.id.0).collect()
    }

    #[test]
    fn a_chain_goes_through_waiting_links_only() {
        let tasks = family();
        assert_eq!(lent(&tasks, &[2, 3, 4], 4), [3, 2, 1]);
        assert_eq!(lent(&tasks, &[2, 4], 4), [3]);
        assert_eq!(lent(&tasks, &[2, 3], 4), Vec::<u64>::new());
        assert_eq!(lent(&tasks, &[2, 3, 4], 1), Vec::<u64>::new());
    }

    #[test]
    fn a_parent_that_is_over_or_gone_lends_nothing() {
        let mut tasks = family();
        tasks[1] = conclude(&tasks[1], &Happened::Exited(0), Timestamp(9), None);
        assert_eq!(lent(&tasks, &[2, 3, 4], 4), [3]);
        tasks.remove(1);
        assert_eq!(lent(&tasks, &[2, 3, 4], 4), [3]);
    }

    #[test]
    fn a_child_that_does_not_inherit_ends_the_chain() {
        let mut tasks = family();
        tasks[2].no_inherit = true;
        assert_eq!(lent(&tasks, &[2, 3, 4], 4), [3]);
        assert_eq!(lent(&tasks, &[2, 3, 4], 3), Vec::<u64>::new());
    }

    #[test]
    fn forged_parents_make_no_circle() {
        let mut tasks = family();
        tasks[0].parent = Some(TaskId(4));
        assert_eq!(lent(&tasks, &[1, 2, 3, 4], 4), [3, 2, 1]);
    }
}

//! Whether a task may start as far as one task goes that it comes after. Pure.

use crate::model::Status;
use crate::model::task::Wanted;

/// What the state of the task before means for the one after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It may start.
    Yes,
    /// It waits: the task before is not over.
    NotYet,
    /// It can never start: the task before ended in another way than was wanted.
    Never,
}

/// Whether a task before ended as was wanted. `before` is its state; `None` where its record is gone, so that nobody knows
/// how it ended. No answer leaves a task waiting for one that is over (`DependencyFailed`).
pub fn met(wanted: Wanted, before: Option<Status>) -> Met {
    let Some(before) = before else { return if wanted == Wanted::Any { Met::Yes } else { Met::Never } };
    if !before.is_final() {
        return Met::NotYet;
    }
    let is_wanted = match wanted {
        Wanted::Completed => before == Status::Completed,
        Wanted::Any => true,
        // A cancel of a task also ends what was to follow it.
        Wanted::Failed => matches!(before, Status::Failed | Status::Timeout),
    };
    if is_wanted { Met::Yes } else { Met::Never }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

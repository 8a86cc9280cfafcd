//! Decides whether one task that it comes after allows a task to start. Pure.

use crate::model::Status;
use crate::model::task::Wanted;

/// The effect of the state of the task before on the task after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It may start.
    Yes,
    /// It waits: the task before is not over.
    NotYet,
    /// It can never start: the task before did not end in the wanted way.
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

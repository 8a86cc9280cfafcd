//! The state machine of a task (S1.1–S1.12): which trigger leads from which state to which. Everything else is refused.

use crate::model::Status;

/// What happens to a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// Its command is launched.
    Start,
    /// Its command ended with 0.
    Succeed,
    /// Its command ended otherwise, could not run, or was interrupted for good.
    Fail,
    /// A time limit ran out.
    TimeOut,
    /// Somebody cancels it.
    Cancel,
    /// It goes back into the queue: another attempt, or a claim that came to nothing.
    Requeue,
    /// It waits for an event.
    Await,
    /// The event came.
    Resume,
    /// Somebody asks for it to be done again (`luzia retry`).
    Retry,
}

impl Trigger {
    /// Every trigger.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Succeed,
        Self::Fail,
        Self::TimeOut,
        Self::Cancel,
        Self::Requeue,
        Self::Await,
        Self::Resume,
        Self::Retry,
    ];
}

/// The state after a trigger; `None` when the trigger is not possible in that state.
pub fn next(status: Status, trigger: Trigger) -> Option<Status> {
    match (status, trigger) {
        (Status::Pending, Trigger::Start) | (Status::Waiting, Trigger::Resume) => Some(Status::Running),
        (Status::Running, Trigger::Succeed) => Some(Status::Completed),
        (Status::Running, Trigger::Await) => Some(Status::Waiting),
        (Status::Running, Trigger::Requeue) => Some(Status::Pending),
        (Status::Pending | Status::Running | Status::Waiting, Trigger::Fail) => Some(Status::Failed),
        (Status::Pending | Status::Running | Status::Waiting, Trigger::TimeOut) => Some(Status::Timeout),
        (Status::Pending | Status::Running | Status::Waiting, Trigger::Cancel) => Some(Status::Cancelled),
        (Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled, Trigger::Retry) => {
            Some(Status::Pending)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of each state, the triggers that leave it and where they lead (S1.3–S1.11).
    const DIAGRAM: [(Status, &[(Trigger, Status)]); 7] = [
        (
            Status::Pending,
            &[
                (Trigger::Start, Status::Running),
                (Trigger::Fail, Status::Failed),
                (Trigger::TimeOut, Status::Timeout),
                (Trigger::Cancel, Status::Cancelled),
            ],
        ),
        (
            Status::Running,
            &[
                (Trigger::Succeed, Status::Completed),
                (Trigger::Fail, Status::Failed),
                (Trigger::TimeOut, Status::Timeout),
                (Trigger::Cancel, Status::Cancelled),
                (Trigger::Requeue, Status::Pending),
                (Trigger::Await, Status::Waiting),
            ],
        ),
        (
            Status::Waiting,
            &[
                (Trigger::Resume, Status::Running),
                (Trigger::Fail, Status::Failed),
                (Trigger::TimeOut, Status::Timeout),
                (Trigger::Cancel, Status::Cancelled),
            ],
        ),
        (Status::Completed, &[(Trigger::Retry, Status::Pending)]),
        (Status::Failed, &[(Trigger::Retry, Status::Pending)]),
        (Status::Timeout, &[(Trigger::Retry, Status::Pending)]),
        (Status::Cancelled, &[(Trigger::Retry, Status::Pending)]),
    ];

    #[test]
    fn every_state_is_left_by_the_triggers_of_the_diagram_and_no_other() {
        for status in Status::ALL {
            let (_, leaves) = DIAGRAM.iter().find(|(from, _)| *from == status).expect("a row for each state");
            for trigger in Trigger::ALL {
                let expected = leaves.iter().find(|(by, _)| *by == trigger).map(|(_, to)| *to);
                assert_eq!(next(status, trigger), expected, "{status} {trigger:?}");
            }
        }
    }

    #[test]
    fn nothing_but_a_retry_leaves_a_final_state() {
        for status in Status::ALL.into_iter().filter(|status| status.is_final()) {
            for trigger in Trigger::ALL {
                let expected = (trigger == Trigger::Retry).then_some(Status::Pending);
                assert_eq!(next(status, trigger), expected, "{status} {trigger:?}");
            }
        }
    }

    #[test]
    fn every_unfinished_state_can_be_cancelled() {
        for status in Status::ALL.into_iter().filter(|status| !status.is_final()) {
            assert_eq!(next(status, Trigger::Cancel), Some(Status::Cancelled));
        }
    }

    proptest! {
        #[test]
        fn any_sequence_of_triggers_stays_in_the_diagram(steps in proptest::collection::vec(0..Trigger::ALL.len(), 0..40)) {
            let mut status = Status::Pending;
            let mut was_running = false;
            for step in steps {
                let trigger = Trigger::ALL[step];
                let Some(after) = next(status, trigger) else { continue };
                was_running = (was_running || after == Status::Running) && trigger != Trigger::Retry;
                prop_assert!(after != Status::Completed || was_running, "completed without having run");
                prop_assert!(status.is_final() == (trigger == Trigger::Retry));
                status = after;
            }
        }
    }
}

//! The state machine of a task (S1.1–S1.12): for each state and trigger, the next state and the effects. Every other
//! combination is refused.

use crate::model::{Status, Timestamp};

/// A trigger of a change of a task's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// The command of the task is launched.
    Start,
    /// The command of the task ended with 0.
    Succeed,
    /// The command of the task ended with another code, could not run, or was interrupted for good.
    Fail,
    /// A time limit ran out.
    TimeOut,
    /// A caller cancels the task.
    Cancel,
    /// The task goes back into the queue: another attempt follows, or its claim ended without a start.
    Requeue,
    /// The task waits for an event.
    Await,
    /// The event came.
    Resume,
    /// A caller asks for another try (`luzia retry`).
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

/// The effects of a new state of a task, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The start of the task is recorded, then its command is launched.
    Launch,
    /// The lanes that the task's rules keep become locks of its wait; the others are given back.
    KeepLanes,
    /// A timer is set for the end of its time.
    SetTimer,
    /// The lanes of the task are given back.
    FreeLanes,
    /// The end of the task is reported to its parent.
    TellParent,
    /// Tasks that come after the task are checked.
    WakeDependents,
}

/// The effects of a new state of a task.
pub fn effects(to: Status) -> &'static [Effect] {
    match to {
        Status::Pending => &[Effect::FreeLanes],
        Status::Running => &[Effect::Launch],
        Status::Waiting => &[Effect::KeepLanes, Effect::SetTimer],
        Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => {
            &[Effect::FreeLanes, Effect::TellParent, Effect::WakeDependents]
        }
    }
}

/// The whole table: the state after a trigger and the effects, at a moment. `until` is the end of the time of a waiting task;
/// before it, the task does not time out. `None` if the trigger is refused, and then nothing changes.
pub fn decide(
    status: Status,
    trigger: Trigger,
    now: Timestamp,
    until: Option<Timestamp>,
) -> Option<(Status, &'static [Effect])> {
    let is_early = status == Status::Waiting && trigger == Trigger::TimeOut && until.is_some_and(|until| now < until);
    next(status, trigger).filter(|_| !is_early).map(|to| (to, effects(to)))
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

    #[test]
    fn a_task_that_waits_times_out_at_the_end_of_its_time_and_not_before() {
        let at = |now: i64| decide(Status::Waiting, Trigger::TimeOut, Timestamp(now), Some(Timestamp(100)));
        assert_eq!(at(99), None);
        assert_eq!(at(100).map(|(to, _)| to), Some(Status::Timeout));
        assert_eq!(
            decide(Status::Running, Trigger::TimeOut, Timestamp(0), Some(Timestamp(100))).map(|(to, _)| to),
            Some(Status::Timeout)
        );
    }

    proptest! {
        #[test]
        fn lanes_are_held_between_a_start_and_a_state_that_frees_them(
            steps in proptest::collection::vec((0..Trigger::ALL.len(), 0..200_i64), 0..60),
        ) {
            let (mut status, mut is_held, mut told) = (Status::Pending, false, 0);
            for (step, now) in steps {
                let trigger = Trigger::ALL[step];
                let Some((after, done)) = decide(status, trigger, Timestamp(now), Some(Timestamp(100))) else {
                    prop_assert!(next(status, trigger).is_none() || (status == Status::Waiting && now < 100));
                    continue;
                };
                for effect in done {
                    match effect {
                        Effect::Launch => is_held = true,
                        Effect::KeepLanes => prop_assert!(is_held, "a wait keeps what it never had"),
                        Effect::FreeLanes => is_held = false,
                        Effect::TellParent => told += 1,
                        Effect::SetTimer | Effect::WakeDependents => {}
                    }
                }
                prop_assert_eq!(is_held, matches!(after, Status::Running | Status::Waiting));
                told = if trigger == Trigger::Retry { 0 } else { told };
                prop_assert_eq!(told, i32::from(after.is_final()), "a parent is told of each end once");
                status = after;
            }
        }

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

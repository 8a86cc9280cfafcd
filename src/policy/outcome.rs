//! The effect of a run's end on its task: the task is over, or queued again (P3). Pure.

use crate::model::task::terms::{FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS};
use crate::model::task::{EndState, Finish, OnInterrupt, Outcome, TaskState, TaskWait, Wanted};
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::policy::lifecycle;
use crate::policy::lifecycle::Trigger;
use crate::policy::simulate::load::Random;
use crate::policy::steps::course::at_next_step;

/// Number of times that a supervisor may take over a task without a launch before the task is given up. A claim without a
/// supervisor does not count: if no supervisor comes up (a damaged program, a full table of processes), the task is not the cause.
pub const MOST_CLAIMS: u32 = 5;

/// The end of a granted task with the lease of its host, in words.
const CUT_OFF: &str = "interrupted: the lease of the host ended (HostCutOff)";

/// The end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The command exited with a code.
    Exited(i32),
    /// A signal ended the command.
    Killed(i32),
    /// The task's own time limit ran out.
    TimedOut,
    /// The task was not started in time (`--start-within`).
    StartedTooLate,
    /// A caller cancelled the task.
    Cancelled {
        /// The canceller.
        by: String,
        /// The reason.
        reason: Option<String>,
    },
    /// The task was interrupted: the supervisor or the host went down.
    Interrupted(String),
    /// The command could not be started: the exit code of a shell for that (125, 126, 127), and the reason.
    NotStarted(i32, String),
    /// The command cannot be started with the values of its variables, and the reason. Another try would end like this one.
    Unfit(String),
    /// The task was claimed and taken over by a supervisor, but no launch was recorded.
    NeverLaunched,
    /// The task was claimed, but no supervisor took it over, or the supervisor was ended while it waited for the host. The
    /// task is not the cause.
    GivenBack,
    /// A step of the task's command is done, and another one follows.
    StepDone,
    /// The task took all steps that it may take, and did not call `luzia finish`.
    TooManySteps(u32),
    /// The task reported its end with `luzia finish`.
    Finished(Finish),
    /// The task makes room for another task, and is queued again. That does not count as a failure of the task.
    Preempted,
    /// A provider refuses more of the task's work before this moment. That does not count as a failure of the task.
    Limited(Timestamp),
    /// The time of the task's wait ran out, while it had no process.
    WaitedTooLong,
    /// The lease of the host ended, under which another scheduler had granted its lanes. That scheduler decides whether it runs again.
    CutOff,
    /// The task waits for an event without a process.
    Waits(TaskWait),
    /// A task that this one had to come after did not end in the wanted way.
    DependencyFailed(TaskId),
}

/// The task after a run: with an outcome if it is over, without one if it is to be queued again. `ran_ms` is the run time of
/// the command; `None` if it was never launched.
pub fn conclude(task: &Task, happened: &Happened, now: Timestamp, ran_ms: Option<u64>) -> Task {
    let mut after = task.clone();
    let trigger = trigger_of(task, happened);
    match trigger {
        Trigger::Await => {
            let wait = if let Happened::Waits(wait) = happened { Some(wait.clone()) } else { None };
            let state = TaskState::Waiting(wait);
            after = Task { claims: 0, due_at: None, after: Vec::new(), state, ..after };
        }
        Trigger::Requeue => {
            match happened {
                Happened::GivenBack => {}
                // Retries are counted for each step.
                Happened::StepDone => after = Task { claims: 0, failures: 0, due_at: None, ..at_next_step(task) },
                Happened::Preempted => after.claims = 0,
                Happened::Limited(until) => (after.claims, after.due_at) = (0, Some(*until)),
                Happened::NeverLaunched => after.claims = after.claims.saturating_add(1),
                _ => {
                    after.failures = after.failures.saturating_add(1);
                    after.claims = 0;
                    after.due_at = Some(now.plus_ms(backoff_ms(&after)));
                }
            }
            after.after = Vec::new();
            after.state = match (happened, task.wait()) {
                // It was resumed, but not started: it still waits.
                (Happened::GivenBack | Happened::NeverLaunched, Some(wait)) => TaskState::Waiting(Some(wait.clone())),
                _ => TaskState::Pending,
            };
        }
        _ => {
            let is_failure = matches!(trigger, Trigger::Fail);
            after.failures = after.failures.saturating_add(u32::from(is_failure));
            let status = lifecycle::next(Status::Running, trigger);
            let end = status.and_then(EndState::of).unwrap_or(EndState::Failed);
            if let Happened::DependencyFailed(before) = happened {
                after.terms.failed_dependency = Some(*before);
            }
            let is_cut_off = matches!(happened, Happened::CutOff);
            after.terms.granted.iter_mut().for_each(|granted| granted.is_cut_off = is_cut_off);
            after.state = TaskState::Over(outcome(task, end, happened, now, ran_ms));
        }
    }
    after
}

/// The pause before the next attempt of a task that has failed `failures` times, in milliseconds. The pause is 2, 4, 8 …
/// seconds and at most an hour, or as the task asks (S2.20). Each pause is longer or shorter by up to a tenth (X19). The task
/// and its attempt decide this difference, so tasks that failed together do not come back together, and each call for one
/// attempt returns one result.
pub fn backoff_ms(task: &Task) -> i64 {
    let longest = task.terms.most_backoff_ms.unwrap_or(LONGEST_BACKOFF_MS);
    let first = task.terms.backoff_ms.unwrap_or(FIRST_BACKOFF_MS);
    let doublings = task.failures.saturating_sub(1);
    let pause = first.checked_shl(doublings).filter(|ms| ms >> doublings == first).unwrap_or(longest).min(longest);
    let most = pause / 10;
    let jittered = pause - most + mixed(task.id.0, task.failures) % (2 * most + 1);
    // No pause is longer than the longest: the excess is subtracted instead.
    i64::try_from(if jittered > longest { 2 * longest - jittered } else { jittered }).unwrap_or(i64::MAX)
}

/// A number that differs in every bit for tasks and attempts that differ in one.
pub(crate) fn mixed(task: u64, attempt: u32) -> u64 {
    Random::new(task ^ (u64::from(attempt) << 48)).number()
}

fn trigger_of(task: &Task, happened: &Happened) -> Trigger {
    let again = task.failures < task.retries;
    let is_last = matches!(happened, Happened::Interrupted(_)) && task.terms.on_interrupt == OnInterrupt::Fail;
    match happened {
        Happened::Exited(0) => Trigger::Succeed,
        Happened::Interrupted(_) if is_last => Trigger::Fail,
        Happened::Exited(_) | Happened::Killed(_) | Happened::Interrupted(_) | Happened::NotStarted(..) if again => {
            Trigger::Requeue
        }
        Happened::GivenBack | Happened::StepDone | Happened::Limited(_) | Happened::Preempted => Trigger::Requeue,
        Happened::Waits(_) => Trigger::Await,
        Happened::Finished(finish) if finish.status == Status::Completed => Trigger::Succeed,
        Happened::NeverLaunched if task.claims.saturating_add(1) < MOST_CLAIMS => Trigger::Requeue,
        Happened::Exited(_)
        | Happened::Killed(_)
        | Happened::Interrupted(_)
        | Happened::NotStarted(..)
        | Happened::Unfit(_)
        | Happened::TooManySteps(_)
        | Happened::Finished(_)
        | Happened::CutOff
        | Happened::NeverLaunched => Trigger::Fail,
        Happened::TimedOut | Happened::StartedTooLate | Happened::WaitedTooLong => Trigger::TimeOut,
        Happened::Cancelled { .. } | Happened::DependencyFailed(_) => Trigger::Cancel,
    }
}

fn outcome(task: &Task, end: EndState, happened: &Happened, now: Timestamp, ran_ms: Option<u64>) -> Outcome {
    let (summary, exit_code, signal) = match happened {
        Happened::Exited(0) => ("the command completed".to_owned(), Some(0), None),
        Happened::Exited(code) => (format!("the command exited with {code}"), Some(*code), None),
        Happened::Killed(signal) => (format!("the command was killed by signal {signal}"), None, Some(*signal)),
        Happened::TimedOut => ("its time limit ran out".to_owned(), None, None),
        Happened::WaitedTooLong => ("the time of its wait ran out".to_owned(), None, None),
        Happened::Waits(wait) => (format!("it waits until {}", wait.until), None, None),
        Happened::StartedTooLate => ("it could not be started in time".to_owned(), None, None),
        Happened::Cancelled { by, reason: None } => (format!("cancelled by {by}"), None, None),
        Happened::Cancelled { by, reason: Some(reason) } => (format!("cancelled by {by}: {reason}"), None, None),
        Happened::Interrupted(why) => (format!("interrupted: {why}"), None, None),
        Happened::CutOff => (CUT_OFF.to_owned(), None, None),
        Happened::NotStarted(code, why) => (format!("the command could not be started: {why}"), Some(*code), None),
        Happened::Unfit(why) => (format!("the command could not be started: {why}"), Some(125), None),
        Happened::GivenBack => ("claimed without a supervisor".to_owned(), None, None),
        Happened::NeverLaunched => (format!("claimed {MOST_CLAIMS} times without a launch"), None, None),
        Happened::Preempted => ("it made room for another task".to_owned(), None, None),
        Happened::StepDone => ("a step is done".to_owned(), Some(0), None),
        Happened::TooManySteps(most) => (format!("it took {most} steps and called no `luzia finish`"), None, None),
        Happened::Finished(finish) => {
            let exit_code = if finish.status == Status::Completed { Some(0) } else { None };
            (said(finish), exit_code, None)
        }
        Happened::Limited(until) => (format!("a usage limit keeps it until {until}"), None, None),
        Happened::DependencyFailed(before) => (unmet(task, *before), None, None),
    };
    let (cancelled_by, cancel_reason) = match happened {
        Happened::Cancelled { by, reason } => (Some(by.clone()), reason.clone()),
        Happened::DependencyFailed(_) => (Some("luzia".to_owned()), Some(summary.clone())),
        _ => (None, None),
    };
    let error = (end == EndState::Failed).then(|| summary.clone());
    let data = match happened {
        Happened::Finished(finish) => finish.data.clone(),
        _ => None,
    };
    let (completed_at, step) = (now, None);
    Outcome { end, completed_at, exit_code, signal, summary, data, error, cancelled_by, cancel_reason, ran_ms, step }
}

/// The reason that a task can never start.
fn unmet(task: &Task, before: TaskId) -> String {
    match task.wanted(before) {
        Wanted::Completed | Wanted::Any => format!("{before}, which it comes after, did not complete"),
        Wanted::Failed => format!("{before}, which it comes after, did not fail"),
    }
}

fn said(finish: &Finish) -> String {
    finish.summary.clone().unwrap_or_else(|| format!("the task said that it {}", finish.status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;

    const NOW: Timestamp = Timestamp(1_700_000_100_000);

    fn with(retries: u32, failures: u32, claims: u32) -> Task {
        Task { retries, failures, claims, ..task(3) }
    }

    fn check(before: &Task, happened: &Happened, status: Status, failures: u32) -> Task {
        let after = conclude(before, happened, NOW, Some(5));
        assert_eq!((after.status(), after.failures), (status, failures), "{happened:?}");
        assert_eq!(after.outcome().is_some(), status.is_final());
        after
    }

    #[test]
    fn an_attempt_is_spent_by_a_failure_or_an_interruption_only() {
        check(&with(0, 0, 0), &Happened::Exited(0), Status::Completed, 0);
        check(&with(0, 0, 0), &Happened::Exited(3), Status::Failed, 1);
        check(&with(0, 0, 0), &Happened::Interrupted("power".into()), Status::Failed, 1);
        check(&with(0, 0, 0), &Happened::NeverLaunched, Status::Pending, 0);
        check(&with(0, 0, 0), &Happened::TimedOut, Status::Timeout, 0);
        check(&with(2, 0, 0), &Happened::Killed(9), Status::Pending, 1);
        check(&with(2, 2, 0), &Happened::Killed(9), Status::Failed, 3);
        let preempted = check(&with(0, 0, 3), &Happened::Preempted, Status::Pending, 0);
        assert_eq!((preempted.claims, preempted.due_at), (0, None), "it keeps its place");
    }

    #[test]
    fn a_task_that_is_never_launched_does_not_loop_for_ever() {
        let mut task = with(9, 0, 0);
        for _ in 1..MOST_CLAIMS {
            task = check(&task, &Happened::NeverLaunched, Status::Pending, 0);
        }
        check(&task, &Happened::NeverLaunched, Status::Failed, 1);
        check(&task, &Happened::GivenBack, Status::Pending, 0);
    }

    #[test]
    fn attempts_wait_two_four_eight_seconds() {
        let mut task = with(3, 0, 0);
        for seconds in [2, 4, 8] {
            task = conclude(&task, &Happened::Exited(1), NOW, Some(1));
            let pause = task.due_at.map_or(0, |at| at.ms_since(NOW));
            assert!((seconds * 900..=seconds * 1100).contains(&pause), "{pause} for {seconds} s");
        }
        assert_eq!(conclude(&task, &Happened::Exited(1), NOW, Some(1)).status(), Status::Failed);
    }

    #[test]
    fn pauses_are_spread_by_a_tenth_and_never_exceed_an_hour() {
        let pause = |id, failures| backoff_ms(&Task { id: TaskId(id), failures, ..task(3) });
        for failures in [1, 2, 3, 11, 12, 13, 40, 63, 64, 500, u32::MAX] {
            let base = 2_f64.powf(f64::from(failures)).min(3600.0) * 1000.0;
            let pauses: Vec<i64> = (1..=1000).map(|id| pause(id, failures)).collect();
            let (least, most) = (pauses.iter().min().expect("some"), pauses.iter().max().expect("some"));
            #[expect(clippy::cast_possible_truncation, reason = "below an hour and a tenth, in milliseconds")]
            let (from, to) = ((base * 0.9).floor() as i64, ((base * 1.1).ceil() as i64).min(3_600_000));
            assert!(*least >= from && *most <= to, "{failures}: {least} to {most}");
            // They fill the range: of ten parts of it each has some.
            let part = |pause: &i64| ((pause - from) * 10 / (to - from + 1)).clamp(0, 9);
            let parts: std::collections::BTreeSet<i64> = pauses.iter().map(part).collect();
            assert!(parts.len() >= if base < 3_600_000.0 { 9 } else { 5 }, "{failures}: {parts:?}");
            assert_eq!(pauses, (1..=1000).map(|id| pause(id, failures)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_cancel_says_who_and_why() {
        let by_me = Happened::Cancelled { by: "me".into(), reason: Some("enough".into()) };
        let over = conclude(&with(5, 0, 0), &by_me, NOW, None);
        let outcome = over.outcome().expect("it is over");
        assert_eq!((outcome.cancelled_by.as_deref(), outcome.cancel_reason.as_deref()), (Some("me"), Some("enough")));
        assert_eq!(outcome.result_type(), "cancelled");
    }

    #[test]
    fn a_failed_dependency_cancels_in_the_name_of_luzia_and_is_named() {
        let happened = Happened::DependencyFailed(TaskId(7));
        let over = conclude(&with(5, 0, 0), &happened, NOW, None);
        let outcome = over.outcome().expect("it is over");
        assert_eq!((outcome.end, outcome.cancelled_by.as_deref()), (EndState::Cancelled, Some("luzia")));
        assert!(outcome.cancel_reason.as_deref().is_some_and(|reason| reason.contains("task_7")));
        assert_eq!(conclude(&with(5, 0, 0), &happened, NOW, None).terms.failed_dependency, Some(TaskId(7)));
        let mut after_failed = with(0, 0, 0);
        after_failed.terms.after_failed = vec![TaskId(7)];
        let over = conclude(&after_failed, &happened, NOW, None);
        let outcome = over.outcome().expect("it is over");
        assert!(outcome.summary.ends_with("did not fail"), "{}", outcome.summary);
    }

    #[test]
    fn an_interruption_is_the_end_of_a_task_that_says_so() {
        let mut task = with(5, 0, 0);
        check(&task, &Happened::Interrupted("power".into()), Status::Pending, 1);
        task.terms.on_interrupt = OnInterrupt::Fail;
        check(&task, &Happened::Interrupted("power".into()), Status::Failed, 1);
        check(&task, &Happened::Exited(1), Status::Pending, 1);
    }

    #[test]
    fn a_task_chooses_the_first_and_the_longest_pause() {
        let mut task = with(9, 0, 0);
        (task.terms.backoff_ms, task.terms.most_backoff_ms) = (Some(100), Some(250));
        for expected in [100, 200, 250, 250] {
            task = conclude(&task, &Happened::Exited(1), NOW, Some(1));
            let pause = task.due_at.map_or(0, |at| at.ms_since(NOW));
            assert!((expected * 9 / 10..=expected.min(227) * 11 / 10).contains(&pause), "{pause} for {expected}");
        }
    }

    #[test]
    fn only_what_failed_has_an_error_and_only_what_was_cancelled_says_by_whom() {
        let cancelled = Happened::Cancelled { by: "me".into(), reason: None };
        for (happened, status) in [
            (Happened::Exited(0), Status::Completed),
            (Happened::Exited(3), Status::Failed),
            (Happened::Killed(9), Status::Failed),
            (Happened::Interrupted("power".into()), Status::Failed),
            (Happened::NotStarted(127, "not found".into()), Status::Failed),
            (Happened::TimedOut, Status::Timeout),
            (Happened::StartedTooLate, Status::Timeout),
            (cancelled, Status::Cancelled),
            (Happened::DependencyFailed(TaskId(7)), Status::Cancelled),
        ] {
            let after = check(&with(0, 0, 0), &happened, status, u32::from(status == Status::Failed));
            let outcome = after.outcome().expect("it is over");
            assert_eq!(outcome.error.is_some(), status == Status::Failed, "{happened:?}");
            assert_eq!(outcome.cancelled_by.is_some(), status == Status::Cancelled, "{happened:?}");
        }
    }
}

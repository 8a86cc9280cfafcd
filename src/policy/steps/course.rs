//! The effect of a run's end on a task with steps, and on one that has called `luzia finish`. Pure.

use crate::model::Task;
use crate::model::task::{Finish, Stepwise};
use crate::policy::outcome::Happened;

/// The event for a task, given its own report of its end and the number of steps that it has taken.
pub fn verdict(task: &Task, happened: Happened, finish: Option<Finish>) -> Happened {
    let is_run_over = matches!(
        happened,
        Happened::Exited(_)
            | Happened::Killed(_)
            | Happened::TimedOut
            | Happened::Interrupted(_)
            | Happened::Limited(_)
    );
    match (happened, finish, &task.stepwise) {
        // The answer to `finish` remains valid, however the process of the task ended. Only a cancel comes before it.
        (_, Some(finish), _) if is_run_over => Happened::Finished(finish),
        (Happened::Exited(0), None, Some(stepwise)) => after_step(stepwise),
        (happened, ..) => happened,
    }
}

/// Whether the end of a run becomes a wait of its task, if a wait was open in the run. `is_asked` is true if the command asked
/// for the end of its run. Otherwise only a kill does so: of the supervisor, of the command, or of the waiting process, which a
/// script passes on as 128 and the signal.
pub fn becomes_wait(happened: &Happened, is_asked: bool) -> bool {
    const KILLS: [i32; 4] = [1, 2, 9, 15];
    match happened {
        Happened::Interrupted(_) => true,
        Happened::Killed(signal) => is_asked || KILLS.contains(signal),
        // A command that ends with 0 did not wait for its end.
        Happened::Exited(code) => *code != 0 && (is_asked || KILLS.contains(&code.saturating_sub(128))),
        _ => false,
    }
}

fn after_step(stepwise: &Stepwise) -> Happened {
    let taken = stepwise.step.saturating_add(1);
    match stepwise.actions.len() {
        0 if taken >= stepwise.most => Happened::TooManySteps(stepwise.most),
        0 => Happened::StepDone,
        all if usize::try_from(taken).unwrap_or(usize::MAX) >= all => Happened::Exited(0),
        _ => Happened::StepDone,
    }
}

/// The command of the next step.
pub fn command_of(task: &Task) -> &[String] {
    let own = task.command.as_slice();
    let Some(stepwise) = &task.stepwise else { return own };
    let at = usize::try_from(stepwise.step).unwrap_or(usize::MAX);
    stepwise.actions.get(at).map_or(own, Vec::as_slice)
}

/// The task at its next step, within the same claim.
pub fn at_next_step(task: &Task) -> Task {
    let next = |stepwise: &Stepwise| Stepwise { step: stepwise.step.saturating_add(1), ..stepwise.clone() };
    Task { stepwise: task.stepwise.as_ref().map(next), ..task.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;
    use crate::store::tests_support::task;

    fn at(step: u32, most: u32, actions: usize) -> Task {
        let actions = vec![vec!["true".to_owned()]; actions];
        Task {
            stepwise: Some(Stepwise { step, most, per_run: 1, actions, names: Vec::new(), seen_mail: 0, last: None }),
            ..task(3)
        }
    }

    fn finish() -> Finish {
        Finish { status: Status::Completed, summary: None, data: None }
    }

    #[test]
    fn a_task_goes_on_until_it_says_that_it_is_over() {
        assert_eq!(verdict(&at(0, 1000, 0), Happened::Exited(0), None), Happened::StepDone);
        assert_eq!(verdict(&at(998, 1000, 0), Happened::Exited(0), None), Happened::StepDone);
        assert_eq!(verdict(&at(999, 1000, 0), Happened::Exited(0), None), Happened::TooManySteps(1000));
        assert_eq!(verdict(&at(0, 1000, 0), Happened::Exited(1), None), Happened::Exited(1));
        assert_eq!(verdict(&task(3), Happened::Exited(0), None), Happened::Exited(0));
        assert_eq!(verdict(&at(0, 1000, 0), Happened::Exited(0), Some(finish())), Happened::Finished(finish()));
    }

    #[test]
    fn a_kill_of_a_waiting_process_becomes_a_wait_and_an_end_of_its_own_does_not() {
        for happened in
            [Happened::Interrupted("power".into()), Happened::Killed(9), Happened::Exited(137), Happened::Exited(143)]
        {
            assert!(becomes_wait(&happened, false) && becomes_wait(&happened, true), "{happened:?}");
        }
        for happened in [Happened::Exited(1), Happened::Exited(124), Happened::Killed(11)] {
            assert!(!becomes_wait(&happened, false) && becomes_wait(&happened, true), "{happened:?}");
        }
        let cancelled = Happened::Cancelled { by: "me".into(), reason: None };
        for happened in
            [Happened::Exited(0), Happened::StepDone, Happened::TimedOut, cancelled, Happened::Finished(finish())]
        {
            assert!(!becomes_wait(&happened, false) && !becomes_wait(&happened, true), "{happened:?}");
        }
    }

    #[test]
    fn a_list_of_steps_ends_with_its_last() {
        assert_eq!(verdict(&at(0, 1000, 2), Happened::Exited(0), None), Happened::StepDone);
        assert_eq!(verdict(&at(1, 1000, 2), Happened::Exited(0), None), Happened::Exited(0));
        assert_eq!(command_of(&at(1, 1000, 2)), ["true"]);
        assert_eq!(at_next_step(&at(1, 9, 0)).stepwise.map(|stepwise| stepwise.step), Some(2));
    }

    #[test]
    fn what_was_said_of_the_end_stands_unless_the_task_is_cancelled() {
        for happened in
            [Happened::Exited(1), Happened::Killed(9), Happened::TimedOut, Happened::Interrupted("power".into())]
        {
            assert_eq!(verdict(&task(3), happened, Some(finish())), Happened::Finished(finish()));
        }
        let cancelled = Happened::Cancelled { by: "me".into(), reason: None };
        assert_eq!(verdict(&task(3), cancelled.clone(), Some(finish())), cancelled);
        assert_eq!(verdict(&task(3), Happened::GivenBack, Some(finish())), Happened::GivenBack);
    }
}

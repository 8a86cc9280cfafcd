//! The order of turns at a lane with a line when the lane becomes free. Members of the line go first to first. The turn
//! alternates between the line and the tasks of the queue, as long as both want it. Neither keeps a turn that it does not use.

use crate::model::lock::{Asker, LineFacts};
use std::time::Duration;

/// Time in which the owner of the turn has to take the lane, in milliseconds. After that, others pass a stopped first member of
/// the line, and the line continues if no task came.
pub const TURN_MS: i64 = 3000;

/// The longest pause of the first member of the line between two looks at the life of the holder.
pub const LIFE_LOOK: Duration = Duration::from_secs(1);
/// Interval at which the first member of the line asks again if no kernel lock shows the holder's life.
pub const NO_LOCK_LOOK: Duration = Duration::from_millis(500);
/// Interval at which a waiter asks again in any case.
pub const LONGEST_TRUST: Duration = Duration::from_secs(30);

/// Whether the asker may take a lane that is free.
pub fn has_turn(facts: &LineFacts) -> bool {
    let is_recent = |ms: i64| (-TURN_MS..TURN_MS).contains(&ms);
    let is_tasks_turn = facts.tasks_called_ms.is_some_and(is_recent);
    let is_called = facts.called_ms.is_some_and(is_recent);
    match facts.asker {
        Asker::Task => is_tasks_turn || !is_called || !facts.comes_again,
        Asker::First => !is_tasks_turn,
        Asker::Behind | Asker::Once => !is_tasks_turn && !is_called,
        // The asker has a place in the line to wait in.
        Asker::Newcomer => !is_tasks_turn && facts.called_ms.is_none(),
    }
}

/// Time that a member behind `ahead` others sleeps before it checks whether those before it are stopped. The n-th checks n
/// times more rarely than the second, so a long line together costs little.
pub fn patience(ahead: usize) -> Duration {
    let turns = u32::try_from(ahead).unwrap_or(u32::MAX).max(1);
    Duration::from_millis(TURN_MS.unsigned_abs() + 100).saturating_mul(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(asker: Asker, called_ms: Option<i64>, tasks_called_ms: Option<i64>) -> LineFacts {
        LineFacts { asker, called_ms, tasks_called_ms, comes_again: true }
    }

    #[test]
    fn the_called_first_goes_before_everybody_until_its_turn_is_over() {
        for asker in [Asker::Behind, Asker::Newcomer, Asker::Once, Asker::Task] {
            assert!(!has_turn(&facts(asker, Some(10), None)), "{asker:?}");
        }
        assert!(has_turn(&facts(Asker::First, Some(10), None)));
        for asker in [Asker::First, Asker::Behind, Asker::Once, Asker::Task] {
            assert!(has_turn(&facts(asker, Some(TURN_MS), None)), "{asker:?}");
        }
    }

    #[test]
    fn a_newcomer_that_can_wait_goes_behind_those_that_live_in_the_line() {
        assert!(!has_turn(&facts(Asker::Newcomer, Some(TURN_MS * 100), None)));
        assert!(has_turn(&facts(Asker::Newcomer, None, None)));
    }

    #[test]
    fn in_the_turn_of_the_tasks_nobody_of_the_line_takes_the_lane() {
        for asker in [Asker::First, Asker::Behind, Asker::Newcomer, Asker::Once] {
            assert!(!has_turn(&facts(asker, Some(TURN_MS), Some(5))), "{asker:?}");
            assert!(has_turn(&facts(asker, None, Some(TURN_MS))), "{asker:?}");
        }
        assert!(has_turn(&facts(Asker::Task, Some(5), Some(5))));
    }

    #[test]
    fn a_task_for_which_nobody_would_come_again_does_not_give_way() {
        assert!(has_turn(&LineFacts { comes_again: false, ..facts(Asker::Task, Some(5), None) }));
    }

    #[test]
    fn a_clock_that_was_set_back_far_keeps_no_turn() {
        assert!(has_turn(&facts(Asker::Behind, Some(-3_600_000), None)));
        assert!(!has_turn(&facts(Asker::Behind, Some(-4), None)), "file times are a little coarse");
    }

    #[test]
    fn all_of_a_long_line_ask_less_than_three_times_a_second() {
        let each_second: f64 = (1..1000).map(|ahead| 1.0 / patience(ahead).as_secs_f64()).sum();
        assert!(each_second < 3.0, "{each_second}");
        assert_eq!(patience(usize::MAX), patience(u32::MAX as usize));
    }
}

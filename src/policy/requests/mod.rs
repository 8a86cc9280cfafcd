//! Conditions of a request beside its command: the ends after which it starts, and the tasks beside which it runs.
//!
//! The starts of a task that are logged with their prompt and answer (`--log-sample`). Pure.

pub mod dependency;
pub mod groups;

use crate::model::Task;
use crate::policy::outcome::mixed;

/// All starts, in parts of a million.
const ALL: u64 = 1_000_000;

/// Whether a start is in the sample. The task and the start decide, so that every call for one start returns one result.
pub fn is_sampled(task: &Task, start: u32) -> bool {
    task.terms.log_sample.is_some_and(|share| mixed(task.id.0, start) % ALL < u64::from(share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;

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
}

//! The recovery table of `supervision.md`: the action on a task without a supervisor. Pure.

/// Place of the record of an unsupervised task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// No record of the task can be found, or none is valid.
    Nowhere,
    /// In the queue: pending or parked. A copy elsewhere is older.
    Queued,
    /// In `running`.
    Running,
    /// In `waiting`.
    Waiting,
    /// In `done`.
    Over,
}

/// Facts about a task without a supervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The place of the task's record.
    pub standing: Standing,
    /// A whole result was recorded.
    pub has_result: bool,
    /// A launch was recorded.
    pub is_started: bool,
    /// A process of the task's tree holds `tree.lock`.
    pub is_tree_locked: bool,
}

/// The action on the task. Every action ends with the removal of the run folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Kill the rest of the task's tree, then do the rest of the recorded end.
    FinishEnd,
    /// Kill the task's tree, wait until it is dead, then end the task as interrupted.
    Interrupt,
    /// Give the lanes of the task back and queue the task again in its old place; a claim is counted, but no attempt is
    /// spent.
    Unclaim,
    /// Sweep if the task was ever launched, give its lanes back and remove the files that the crash left; its record stays
    /// in its place.
    Discard,
    /// Kill leftovers, and give back the lanes of a claim without a start; it stays waiting with the lanes that it keeps.
    StayWaiting,
}

/// The row of the table that applies.
pub fn action(seen: Seen) -> Action {
    if seen.has_result {
        return Action::FinishEnd;
    }
    match seen.standing {
        Standing::Waiting => Action::StayWaiting,
        Standing::Running if seen.is_started || seen.is_tree_locked => Action::Interrupt,
        Standing::Running => Action::Unclaim,
        Standing::Nowhere | Standing::Queued | Standing::Over => Action::Discard,
    }
}

/// Whether an action may have to kill or to wait, so that a supervisor of its own must do it instead of a pass.
pub fn needs_supervisor(seen: Seen) -> bool {
    match action(seen) {
        Action::FinishEnd | Action::Interrupt => true,
        Action::Unclaim => false,
        Action::Discard | Action::StayWaiting => seen.is_started || seen.is_tree_locked,
    }
}

/// Whether an action depends on a sweep for the task's processes, which must be made where they can be seen. A result is
/// recorded once they are dead; then only a held `tree.lock` shows that one of them lives.
pub fn needs_witness(seen: Seen) -> bool {
    seen.is_tree_locked || (seen.is_started && !seen.has_result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDINGS: [Standing; 5] =
        [Standing::Nowhere, Standing::Queued, Standing::Running, Standing::Waiting, Standing::Over];

    fn all() -> impl Iterator<Item = Seen> {
        STANDINGS.into_iter().flat_map(|standing| {
            (0..8).map(move |bits| Seen {
                standing,
                has_result: bits & 1 != 0,
                is_started: bits & 2 != 0,
                is_tree_locked: bits & 4 != 0,
            })
        })
    }

    #[test]
    fn each_row_of_the_table_has_its_action_and_says_who_does_it() {
        for (standing, never_launched, may_have_a_tree) in [
            (Standing::Nowhere, (Action::Discard, false), (Action::Discard, true)),
            (Standing::Queued, (Action::Discard, false), (Action::Discard, true)),
            (Standing::Running, (Action::Unclaim, false), (Action::Interrupt, true)),
            (Standing::Waiting, (Action::StayWaiting, false), (Action::StayWaiting, true)),
            (Standing::Over, (Action::Discard, false), (Action::Discard, true)),
        ] {
            for seen in all().filter(|seen| seen.standing == standing) {
                let expected = match seen {
                    Seen { has_result: true, .. } => (Action::FinishEnd, true),
                    Seen { is_started: false, is_tree_locked: false, .. } => never_launched,
                    _ => may_have_a_tree,
                };
                assert_eq!((action(seen), needs_supervisor(seen)), expected, "{seen:?}");
            }
        }
    }

    #[test]
    fn a_recorded_result_is_always_brought_to_its_end() {
        assert!(all().filter(|seen| seen.has_result).all(|seen| action(seen) == Action::FinishEnd));
    }

    #[test]
    fn nothing_that_may_live_is_given_up_without_a_supervisor() {
        let may_live = |seen: &Seen| seen.is_tree_locked || seen.is_started;
        assert!(all().filter(may_live).all(needs_supervisor));
    }

    #[test]
    fn what_may_have_processes_needs_a_witness_and_nothing_else_does() {
        for seen in all() {
            let may_have_some = match seen {
                Seen { is_tree_locked: true, .. } => true,
                Seen { has_result: true, .. } => false,
                _ => seen.is_started,
            };
            assert_eq!(needs_witness(seen), may_have_some, "{seen:?}");
        }
    }

    #[test]
    fn only_a_claim_without_a_launch_goes_back_without_spending_an_attempt() {
        for seen in all().filter(|seen| action(*seen) == Action::Unclaim) {
            let expected =
                Seen { standing: Standing::Running, has_result: false, is_started: false, is_tree_locked: false };
            assert_eq!(seen, expected);
        }
    }
}

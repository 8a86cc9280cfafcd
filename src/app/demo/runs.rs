//! Computes runs from recorded events, and from the runs whether any user ever had two at once. Pure.
//!
//! A run begins with the event `dispatched`, which a supervisor writes just before it starts the command. It ends with
//! `ended`, or, if the supervisor was killed, with `recovered`: both are written after the last process of the task is dead.
//! So a run is never shorter than what it stands for. Events are appended, so their order in the file is the order in which
//! they were written. That order is finer than any clock: it decides, and the clock draws the bars.

use crate::model::TaskId;
use serde_json::Value;
use std::collections::BTreeSet;

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// The command ended by itself, or its supervisor ended it.
    Ended,
    /// The supervisor of the run was killed; this is the moment at which a recovery had seen its last process dead.
    Recovered,
    /// The run has not ended.
    Open,
}

impl Closed {
    /// The word for people and programs: the event.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Recovered => "recovered",
            Self::Open => "open",
        }
    }
}

/// One run of a task's command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The user.
    pub user: String,
    /// The task.
    pub task: TaskId,
    /// The command, once it was started.
    pub command_pid: Option<u64>,
    /// The begin of the run, by the boot clock in milliseconds.
    pub from_ms: u64,
    /// The end of the run; of an open run, the moment of its last event.
    pub to_ms: u64,
    /// The kind of the run's end.
    pub closed: Closed,
    /// The places of the run's begin and its end among the events.
    order: (usize, usize),
}

impl Run {
    fn overlaps(&self, other: &Self) -> bool {
        self.user == other.user && self.order.0 < other.order.1 && other.order.0 < self.order.1
    }
}

/// The statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No user ever had two at once.
    Never {
        /// Number of runs that were compared.
        runs: usize,
        /// Number of users.
        users: usize,
    },
    /// These pairs of runs, by their places, were of one user and at one time.
    Twice(Vec<(usize, usize)>),
    /// These runs have no end, or there are no runs at all, so that the answer is unknown.
    Unknown(Vec<usize>),
}

impl Verdict {
    /// Whether exclusion is shown to have held.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Never { .. })
    }
}

/// The runs that events report, in the order in which they began.
pub(crate) fn runs<'a>(events: impl Iterator<Item = &'a Value>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, event) in events.enumerate() {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let (Some(task), Some(user)) = (text("task").and_then(TaskId::parse), text("user")) else { continue };
        let Some(now_ms) = event.get("boot_ms").and_then(Value::as_u64) else { continue };
        let open = runs.iter_mut().rev().find(|run| run.task == task && run.closed == Closed::Open);
        match (text("event"), open) {
            (Some("dispatched"), _) => runs.push(Run {
                user: user.to_owned(),
                task,
                command_pid: None,
                from_ms: now_ms,
                to_ms: now_ms,
                closed: Closed::Open,
                order: (at, usize::MAX),
            }),
            (Some("started"), Some(run)) => {
                run.command_pid = event.pointer("/data/command_pid").and_then(Value::as_u64);
                run.to_ms = now_ms;
            }
            (Some(word @ ("ended" | "recovered")), Some(run)) => {
                run.closed = if word == "ended" { Closed::Ended } else { Closed::Recovered };
                (run.to_ms, run.order.1) = (now_ms, at);
            }
            _ => {}
        }
    }
    runs
}

/// Compares every run with every other one of the same user.
pub fn verdict(runs: &[Run]) -> Verdict {
    let mut twice = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let later = runs.iter().enumerate().skip(at + 1);
        twice.extend(later.filter(|(_, other)| run.overlaps(other)).map(|(other, _)| (at, other)));
    }
    if !twice.is_empty() {
        return Verdict::Twice(twice);
    }
    let open: Vec<usize> = (0..runs.len()).filter(|at| runs[*at].closed == Closed::Open).collect();
    if runs.is_empty() || !open.is_empty() {
        return Verdict::Unknown(open);
    }
    let users: BTreeSet<&str> = runs.iter().map(|run| run.user.as_str()).collect();
    Verdict::Never { runs: runs.len(), users: users.len() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// The runs of events `word task user` at moments of the boot clock.
    pub(crate) fn runs_of_lines(lines: &[(&str, u64)]) -> Vec<Run> {
        let event = |(line, at): &(&str, u64)| {
            let words: Vec<&str> = line.split(' ').collect();
            json!({ "event": words[0], "task": words[1], "user": words[2], "boot_ms": at, "data": { "command_pid": 7 } })
        };
        let events: Vec<Value> = lines.iter().map(event).collect();
        runs(events.iter())
    }

    fn numbered(lines: &[&str]) -> Vec<Run> {
        let timed: Vec<(&str, u64)> = lines.iter().copied().zip(0..).collect();
        runs_of_lines(&timed)
    }

    fn check(lines: &[&str], wanted: &Verdict) {
        assert_eq!(verdict(&numbered(lines)), *wanted, "{lines:?}");
    }

    #[test]
    fn runs_of_a_user_one_after_another_do_not_overlap() {
        check(
            &[
                "dispatched task_1 alice",
                "dispatched task_2 bob",
                "started task_1 alice",
                "ended task_1 alice",
                "dispatched task_3 alice",
                "ended task_2 bob",
                "ended task_3 alice",
            ],
            &Verdict::Never { runs: 3, users: 2 },
        );
    }

    #[test]
    fn two_at_once_are_seen() {
        check(
            &["dispatched task_1 alice", "dispatched task_2 alice", "ended task_1 alice", "ended task_2 alice"],
            &Verdict::Twice(vec![(0, 1)]),
        );
        check(
            &[
                "dispatched task_1 alice",
                "dispatched task_2 alice",
                "ended task_2 alice",
                "dispatched task_3 alice",
                "ended task_3 alice",
                "ended task_1 alice",
            ],
            &Verdict::Twice(vec![(0, 1), (0, 2)]),
        );
    }

    #[test]
    fn a_killed_run_lasts_until_it_is_recovered() {
        let next = ["dispatched task_2 alice", "ended task_2 alice"];
        check(
            &["dispatched task_1 alice", "started task_1 alice", "recovered task_1 alice", next[0], next[1]],
            &Verdict::Never { runs: 2, users: 1 },
        );
        check(
            &["dispatched task_1 alice", "started task_1 alice", next[0], "recovered task_1 alice", next[1]],
            &Verdict::Twice(vec![(0, 1)]),
        );
    }

    #[test]
    fn a_run_without_an_end_overlaps_what_comes_after_it_and_proves_nothing() {
        check(&["dispatched task_1 alice"], &Verdict::Unknown(vec![0]));
        check(&[], &Verdict::Unknown(vec![]));
        check(
            &["dispatched task_1 alice", "dispatched task_2 alice", "ended task_2 alice"],
            &Verdict::Twice(vec![(0, 1)]),
        );
    }

    #[test]
    fn a_task_that_runs_twice_has_two_runs() {
        let lines = [
            "dispatched task_1 alice",
            "recovered task_1 alice",
            "dispatched task_1 alice",
            "started task_1 alice",
            "ended task_1 alice",
            // The end of an end that was finished by somebody else.
            "recovered task_1 alice",
        ];
        let runs = numbered(&lines);
        let seen: Vec<_> = runs.iter().map(|run| (run.from_ms, run.to_ms, run.closed, run.command_pid)).collect();
        assert_eq!(seen, [(0, 1, Closed::Recovered, None), (2, 4, Closed::Ended, Some(7))]);
    }
}

//! A task in the cells of a table: the reason why it waits in a few words, and lengths of time in whole seconds. The full
//! sentence is that of `messages`.

use crate::app::query::list::Stuck;
use crate::app::steps::{OpenWait, WaitKind};
use crate::app::{Holder, Life, Obstacle, shell_word};
use crate::model::task::Outcome;
use crate::model::time::format_duration;
use crate::model::{Member, Status, Task, Timestamp};

/// The first reason why a task waits, for the REASON column.
pub fn reason(obstacle: &Obstacle, task: &Task, now: Timestamp) -> String {
    match obstacle {
        Obstacle::Cycle { members } => match members.iter().find(|member| **member != Member::Task(task.id)) {
            Some(other) => format!("waits in a circle with {other}"),
            None => "waits for itself".to_owned(),
        },
        Obstacle::Paused { pause } => match pause.until {
            Some(until) => format!("paused for {}", length(until.ms_since(now))),
            None => "paused".to_owned(),
        },
        Obstacle::Delayed { until } => format!("due in {}", length(until.ms_since(now))),
        Obstacle::After { tasks } => match tasks.as_slice() {
            [] => "comes after others".to_owned(),
            [one] => format!("comes after {one}"),
            [one, rest @ ..] => format!("comes after {one} and {} more", rest.len()),
        },
        Obstacle::OtherContext { life: Life::Ended, .. } => "its sandbox has ended".to_owned(),
        Obstacle::OtherContext { .. } => "queued in another sandbox".to_owned(),
        Obstacle::NoGrant { lane: Some(lane) } => format!("needs a new grant ({lane})"),
        Obstacle::NoGrant { lane: None } => "the lease of this host has ended".to_owned(),
        Obstacle::NoHost { place: Some(place) } => format!("host {place} takes no tasks"),
        Obstacle::HostsFull { place: Some(place) } => format!("host {place} has no free slot"),
        Obstacle::HostsFull { place: None } => "no host has a free slot".to_owned(),
        Obstacle::NoDirectory { host, .. } => format!("host {host} lacks its directory"),
        Obstacle::NoHost { place: None } => "no host takes tasks".to_owned(),
        Obstacle::NewerRecord { .. } => "needs a newer luzia".to_owned(),
        Obstacle::Priority { ahead: 1 } => format!("1 task of {} first", task.user),
        Obstacle::Priority { ahead } => format!("{ahead} tasks of {} first", task.user),
        Obstacle::LaneOrder { lane, first } => format!("waits for {first} ({lane})"),
        Obstacle::Booked { booked } => format!("waits behind {} ({})", booked.by.first, booked.lane),
        Obstacle::HostBusy { shut } => super::capacity::busy_brief(shut),
        Obstacle::SlotOccupied { lane, occupied } => format!("{} in use ({lane})", occupied.value),
        Obstacle::TooFewSlots { narrow } => {
            format!("needs {} of {} slots ({})", narrow.needed, narrow.max, narrow.lane)
        }
        Obstacle::UserLockHeld { holder } => format!("waits for {} ({})", name(holder), task.user),
        Obstacle::Loan { lane, holder } => format!("waits for {} (loan of {lane})", name(holder)),
        Obstacle::LaneFull { lane, used, max, .. } if lane.is_global() => format!("{used} of {max} slots in use"),
        Obstacle::LaneFull { lane, used, max, needed: needed @ 2.., .. } => {
            format!("needs {needed}, {used} of {max} in use ({lane})")
        }
        Obstacle::LaneFull { lane, max: 1, holder, .. } => format!("waits for {} ({lane})", name(holder)),
        Obstacle::LaneFull { lane, used, max, .. } => format!("{used} of {max} in use ({lane})"),
        Obstacle::Reserved { used, max, kept } => format!("{used} of {max} slots in use, {kept} reserved for others"),
        Obstacle::RateLimited { lane, until, .. } => format!("{lane} again in {}", length(until.ms_since(now))),
        Obstacle::StartWaits { .. } => "start waits for space".to_owned(),
        Obstacle::ResultWaits { .. } => "result waits for space".to_owned(),
        Obstacle::NoDispatcher => "nothing starts tasks".to_owned(),
    }
}

fn name(holder: &Holder) -> &str {
    holder.name.as_deref().unwrap_or("an unknown holder")
}

/// The reason why no live supervisor watches a task.
pub fn stuck(stuck: Stuck) -> String {
    match stuck {
        Stuck::Orphan => "orphan: supervisor dead".to_owned(),
        Stuck::Dead => "supervisor dead".to_owned(),
        Stuck::Stopped(pid) => format!("supervisor {pid} stopped"),
        Stuck::Expired(until) => format!("wait over since {until}"),
    }
}

/// The event that a task waits for, and the end of the wait.
pub fn wait(open: &OpenWait, now: Timestamp) -> String {
    let what = if open.kind == WaitKind::Event.word() { &open.event } else { &open.kind };
    format!("waits for {what} {}", until(open, now))
}

/// The end of a wait, or the moment since which it is overdue.
pub fn until(open: &OpenWait, now: Timestamp) -> String {
    let is_overdue = Timestamp::parse(&open.until).is_some_and(|until| until <= now);
    format!("{} {}", if is_overdue { "overdue since" } else { "until" }, open.until)
}

/// The end of a task that did not end well. For a task that was retried and did not start again, also the end before the retry.
pub fn outcome(outcome: &Outcome, earlier: Option<&Outcome>) -> String {
    let how = how_ended(outcome);
    let before = earlier.filter(|_| outcome.ran_ms.is_none()).map(how_ended);
    match before.filter(|before| !before.is_empty()) {
        Some(before) if how.is_empty() => format!("before: {before}"),
        Some(before) => format!("{how}; before: {before}"),
        None => how,
    }
}

fn how_ended(outcome: &Outcome) -> String {
    match (outcome.exit_code, outcome.signal) {
        (Some(0), _) => String::new(),
        (Some(code), _) => format!("exit={code}"),
        (None, Some(signal)) => format!("signal={signal}"),
        (None, None) => outcome.cancel_reason.clone().or_else(|| outcome.error.clone()).unwrap_or_default(),
    }
}

/// A length of time in whole seconds or larger units.
pub fn length(ms: i64) -> String {
    match u64::try_from(ms).unwrap_or(0) {
        0..1000 => "0s".to_owned(),
        ms => format_duration(ms),
    }
}

/// A command as a shell reads it.
pub fn command(words: &[String]) -> String {
    words.iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Time that the command of a task ran, or has been running, in milliseconds. `None` before the command starts.
pub fn ran_ms(task: &Task, now: Timestamp) -> Option<i64> {
    match (task.outcome(), &task.last_start) {
        (Some(outcome), _) => {
            // A task that was cancelled after a retry, and before its start, has run before.
            let last = outcome.ran_ms.or_else(|| task.terms.earlier.last().and_then(|earlier| earlier.ran_ms));
            last.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX))
        }
        (None, Some(start)) if task.status() == Status::Running => Some(now.ms_since(start.at).max(0)),
        (None, _) => None,
    }
}

/// Time that a task waited, in milliseconds, from the moment at which it was queued and due to its latest start. None before
/// it is due.
pub fn waited_ms(task: &Task, now: Timestamp) -> Option<i64> {
    let from = task.due_since();
    let is_pending = task.status() == Status::Pending;
    let started = task.last_start.as_ref().filter(|_| !is_pending).map(|start| start.at);
    let over = task.outcome().map(|outcome| outcome.completed_at);
    let to = started.or(over).unwrap_or(now);
    (to >= from).then(|| to.ms_since(from))
}

/// The moment at which a task started, or is due.
pub fn start(task: &Task, now: Timestamp) -> String {
    match (&task.last_start, task.due_at) {
        (Some(start), _) if task.status() != Status::Pending => {
            format!("{} ago", length(now.ms_since(start.at)))
        }
        (_, Some(due)) if due > now && task.outcome().is_none() => format!("in {}", length(due.ms_since(now))),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::{Reason, Verdict};
    use crate::model::task::TaskState;
    use crate::model::{LaneName, TaskId};
    use crate::store::tests_support::task;

    #[test]
    fn a_reason_names_the_holder_and_the_lane_in_a_few_words() {
        let verdict = Verdict::Live { why: Reason::SupervisorLives, overdue: false };
        let holder = || Holder::unknown(Some("task_1"), verdict.clone());
        let lane = |name: &str| LaneName::parse(name).expect("a lane");
        for (obstacle, text) in [
            (Obstacle::UserLockHeld { holder: holder() }, "waits for task_1 (alice)"),
            (
                Obstacle::LaneFull { lane: lane("repo:a"), used: 1, max: 1, needed: 1, holder: holder() },
                "waits for task_1 (repo:a)",
            ),
            (
                Obstacle::LaneFull { lane: lane("build"), used: 3, max: 3, needed: 1, holder: holder() },
                "3 of 3 in use (build)",
            ),
            (
                Obstacle::LaneFull { lane: LaneName::global(), used: 4, max: 4, needed: 1, holder: holder() },
                "4 of 4 slots in use",
            ),
            (Obstacle::Priority { ahead: 1 }, "1 task of alice first"),
            (Obstacle::After { tasks: vec![TaskId(3), TaskId(4)] }, "comes after task_3 and 1 more"),
            (Obstacle::Delayed { until: Timestamp(61_500) }, "due in 1m1s"),
            (Obstacle::NoDispatcher, "nothing starts tasks"),
        ] {
            assert_eq!(reason(&obstacle, &task(2), Timestamp(0)), text);
        }
    }

    #[test]
    fn waits_and_runs_are_measured_by_the_life_of_the_task() {
        let mut one = task(1);
        one.created_at = Timestamp(1000);
        assert_eq!((waited_ms(&one, Timestamp(5000)), ran_ms(&one, Timestamp(5000))), (Some(4000), None));
        one.due_at = Some(Timestamp(9000));
        assert_eq!(waited_ms(&one, Timestamp(5000)), None, "it is not due");
        assert_eq!(start(&one, Timestamp(5000)), "in 4s");
        one.last_start = Some(crate::model::task::Start {
            at: Timestamp(10_000),
            lock_id: String::new(),
            fence: 1,
            slots: Default::default(),
        });
        one.state = TaskState::RUNNING;
        assert_eq!((waited_ms(&one, Timestamp(15_000)), ran_ms(&one, Timestamp(15_000))), (Some(1000), Some(5000)));
        assert_eq!(start(&one, Timestamp(15_400)), "5s ago");
        assert_eq!([length(-5), length(999), length(61_999)], ["0s", "0s", "1m1s"]);
    }

    #[test]
    fn a_command_can_be_pasted() {
        let words = ["sh", "-c", "sleep 3; exit 4", "it's", ""].map(str::to_owned);
        assert_eq!(command(&words), r"sh -c 'sleep 3; exit 4' 'it'\''s' ''");
    }
}

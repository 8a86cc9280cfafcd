//! Holds: the tasks that may not start because of `pause`, and the effect of paused time on limits. Pure.

use crate::model::control::{Held, Hold};
use crate::model::sorted::sort;
use crate::model::{LaneName, Task, Timestamp};

/// The pause of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pause {
    /// The held object: `task_<n>`, `*` for the host, a lane or a pattern.
    pub what: String,
    /// The time at which the pause began.
    pub since: Timestamp,
    /// The time at which the pause ends; `None` if it lasts until a `resume`.
    pub until: Option<Timestamp>,
    /// The reason, in words for people.
    pub reason: Option<String>,
    /// The requester.
    pub by: Option<String>,
}

impl Pause {
    /// The pause by a hold.
    pub fn by(hold: &Hold) -> Self {
        let Hold { held, since, until, reason, by } = hold.clone();
        Self { what: held.text(), since, until, reason, by }
    }

    /// A pause without a reason that lasts until a `resume`.
    pub fn of(what: String, since: Timestamp) -> Self {
        Self { what, since, until: None, reason: None, by: None }
    }
}

/// Whether a hold covers a task: a hold of its user, of one of its lanes or of the host.
pub fn means(held: &Held, task: &Task) -> bool {
    held.is_of(&LaneName::user(&task.user)) || task.lanes.iter().any(|lane| held.is_of(lane)) || is_global(held)
}

/// Whether a hold keeps the tasks of a lane from starting.
pub fn means_lane(held: &Held, lane: &LaneName) -> bool {
    held.is_of(lane) || is_global(held)
}

fn is_global(held: &Held) -> bool {
    matches!(held, Held::Lane(lane) if lane.is_global())
}

/// The pause of a task at a moment: its own hold first, then the others in their order.
pub fn pause_of(task: &Task, holds: &[Hold], now: Timestamp) -> Option<Pause> {
    if let Some(hold) = task.hold.as_ref().filter(|hold| hold.stands(now)) {
        let (reason, by) = (hold.reason.clone(), hold.by.clone());
        return Some(Pause { until: hold.until, reason, by, ..Pause::of(task.id.to_string(), hold.since) });
    }
    holds.iter().find(|hold| hold.stands(now) && means(&hold.held, task)).map(Pause::by)
}

/// Whether every task of a user is held, so that a pass can skip the queues of the user.
pub fn holds_user(holds: &[Hold], user: &LaneName, now: Timestamp) -> bool {
    holds.iter().any(|hold| hold.stands(now) && (hold.held.is_of(user) || is_global(&hold.held)))
}

/// The time by which a task must have started (`--start-within`). Holds of its user, its lanes or the host delay it by their
/// duration since the task was accepted. `None` while such a hold is in force, because the time then does not count.
pub fn start_limit(task: &Task, holds: &[Hold], now: Timestamp) -> Option<Timestamp> {
    let mut limit = task.start_by?;
    if pause_of(task, holds, now).is_some() {
        return None;
    }
    let mut spans: Vec<(i64, i64)> = holds
        .iter()
        .filter(|hold| means(&hold.held, task))
        .filter_map(|hold| Some((hold.since.0.max(task.created_at.0), hold.until?.0)))
        .filter(|(from, to)| from < to)
        .collect();
    sort(&mut spans);
    let mut counted = i64::MIN;
    for (from, to) in spans {
        let from = from.max(counted);
        if from >= limit.0 {
            break;
        }
        limit = Timestamp(limit.0.saturating_add((to - from).max(0)));
        counted = counted.max(to);
    }
    Some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests_support::task;
    use proptest::prelude::*;

    fn hold(text: &str, since: i64, until: Option<i64>) -> Hold {
        let held = Held::parse(text).expect("it reads");
        Hold { held, since: Timestamp(since), until: until.map(Timestamp), reason: None, by: None }
    }

    #[test]
    fn a_hold_keeps_those_it_means_until_its_moment() {
        let mut one = task(1);
        one.lanes = vec![LaneName::parse("build").expect("a lane")];
        for (text, is_held) in [
            ("*", true),
            ("user:alice", true),
            ("user:bob", false),
            ("build", true),
            ("user:*", true),
            ("global", true),
        ] {
            let holds = [hold(text, 0, Some(10))];
            assert_eq!(pause_of(&one, &holds, Timestamp(9)).is_some(), is_held, "{text}");
            assert_eq!(pause_of(&one, &holds, Timestamp(10)), None, "{text}");
        }
        let user = LaneName::user(&one.user);
        assert!(holds_user(&[hold("user:a*", 0, None)], &user, Timestamp(1)));
        assert!(!holds_user(&[hold("build", 0, None)], &user, Timestamp(1)));
    }

    proptest! {
        #[test]
        fn paused_time_moves_the_limit_by_exactly_what_passed_before_it(
            holds in proptest::collection::vec((0..200i64, 1..60i64, proptest::bool::ANY), 0..5),
            start in 1..100i64,
        ) {
            let mut one = task(1);
            one.created_at = Timestamp(50);
            one.start_by = Some(Timestamp(50 + start));
            let text = |mine: bool| if mine { "user:alice" } else { "user:bob" };
            let all: Vec<Hold> =
                holds.iter().map(|(from, long, mine)| hold(text(*mine), *from, Some(from + long))).collect();
            // Counted tick by tick: the limit comes when as many ticks have passed in which nothing held it.
            let held = |at: i64| holds.iter().any(|(from, long, mine)| *mine && (*from..from + long).contains(&at));
            let (mut left, mut at) = (start, 50);
            while left > 0 {
                left -= i64::from(!held(at));
                at += 1;
            }
            let limit = start_limit(&one, &all, Timestamp(10_000)).expect("a limit");
            // A hold that begins at the very limit does not move it.
            prop_assert_eq!(limit.0, at);
        }
    }
}

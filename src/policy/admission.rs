//! May this task start now, and if not, why not? Dispatch asks for the first obstacle, `explain` for all of them; it is
//! the same code. Pure.

use crate::model::evidence::Verdict;
use crate::model::{LaneName, Task, TaskId, Timestamp, Who};
use crate::policy::context::Difference;

/// What is known of one holder of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// `task_<n>` or the name given to `acquire`.
    pub name: Option<String>,
    /// The holder in words for people.
    pub shown: Option<String>,
    /// What its lock says of whoever asked for it.
    pub who: Who,
    /// The name of the grant.
    pub lock_id: Option<String>,
    /// When it was granted.
    pub since: Option<Timestamp>,
    /// When its lease runs out, or when it is overdue.
    pub expires_at: Option<Timestamp>,
    /// Milliseconds since its last refresh.
    pub age_ms: u64,
    /// Whether it lives, and how that is known.
    pub verdict: Verdict,
    /// The process that holds it, when that is stopped (SIGSTOP) and does nothing.
    pub stopped: Option<u32>,
    /// Whether it is a task whose start or result waits for space.
    pub is_short: bool,
}

impl Holder {
    /// A holder of which nothing is known but its name and whether it lives.
    pub fn unknown(name: Option<&str>, verdict: Verdict) -> Self {
        Self {
            name: name.map(str::to_owned),
            shown: None,
            who: Who::default(),
            lock_id: None,
            since: None,
            expires_at: None,
            age_ms: 0,
            verdict,
            stopped: None,
            is_short: false,
        }
    }
}

/// One lane of a task, as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNow {
    /// The lane.
    pub lane: LaneName,
    /// How many may hold it.
    pub limit: u32,
    /// Who holds it.
    pub holders: Vec<Holder>,
}

/// Everything that admission looks at, beside the task itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Situation {
    /// The wall clock.
    pub now: Timestamp,
    /// Tasks it comes after that are not over.
    pub unfinished: Vec<TaskId>,
    /// How its sandbox differs from that of the process that looks; empty when that process may start it.
    pub context: Vec<Difference>,
    /// A record of a newer version that is first in its user's lane: that task, and what is known of the record.
    pub newer: Option<(TaskId, String)>,
    /// How many tasks of its user come before it.
    pub ahead: u64,
    /// For each further key lane in which another task is first: that task.
    pub first_in_lane: Vec<(LaneName, TaskId)>,
    /// Its lanes, in the order in which they are taken.
    pub lanes: Vec<LaneNow>,
    /// Whether anything would start it: a daemon, a `run`, or a running task whose supervisor makes a pass at its end.
    pub has_dispatcher: bool,
}

/// One reason why a task does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// Tasks wait for each other for ever, and it waits for one of them or is one of them.
    Cycle {
        /// Those tasks, each followed by one it waits for.
        members: Vec<TaskId>,
    },
    /// It is not due.
    Delayed {
        /// When it is.
        until: Timestamp,
    },
    /// It comes after tasks that are not over.
    After {
        /// Those tasks.
        tasks: Vec<TaskId>,
    },
    /// It was queued in another sandbox, and waits for a pass there.
    OtherContext {
        /// In what the sandboxes differ.
        differences: Vec<Difference>,
    },
    /// A record that this version cannot read is first in the lane of its user.
    NewerRecord {
        /// The task of that record.
        first: TaskId,
        /// The record and its version.
        record: String,
    },
    /// Other tasks of its user come first.
    Priority {
        /// How many.
        ahead: u64,
    },
    /// Another task is first in one of its key lanes.
    LaneOrder {
        /// The lane.
        lane: LaneName,
        /// The first task.
        first: TaskId,
    },
    /// Its user's lock is held.
    UserLockHeld {
        /// By whom.
        holder: Holder,
    },
    /// Another lane is full.
    LaneFull {
        /// The lane.
        lane: LaneName,
        /// How many hold it.
        used: u32,
        /// How many may.
        max: u32,
        /// The first of them.
        holder: Holder,
    },
    /// It was claimed, and its start waits for space, a process or memory.
    StartWaits {
        /// The file systems that it writes to.
        rooms: Vec<Room>,
    },
    /// Its command is over, and its result waits for space.
    ResultWaits {
        /// The file systems that it writes to.
        rooms: Vec<Room>,
    },
    /// Nothing runs that would start it.
    NoDispatcher,
}

/// What is left of a file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// The directory on it that is written to.
    pub path: String,
    /// Its kind, as `ext4`.
    pub name: String,
    /// Free bytes for an ordinary account.
    pub free_bytes: u64,
    /// Free inodes.
    pub free_inodes: u64,
}

impl Obstacle {
    /// The word in the REASON column and in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Cycle { .. } => "Cycle",
            Self::Delayed { .. } => "Delayed",
            Self::After { .. } => "After",
            Self::OtherContext { .. } => "OtherContext",
            Self::NewerRecord { .. } => "NewerRecord",
            Self::Priority { .. } => "Priority",
            Self::LaneOrder { .. } => "LaneOrder",
            Self::UserLockHeld { .. } => "UserLockHeld",
            Self::LaneFull { .. } => "LaneFull",
            Self::StartWaits { .. } => "StartWaits",
            Self::ResultWaits { .. } => "ResultWaits",
            Self::NoDispatcher => "NoDispatcher",
        }
    }
}

/// Every obstacle, in the order in which dispatch meets them.
pub fn obstacles<'a>(task: &'a Task, now: &'a Situation) -> impl Iterator<Item = Obstacle> + 'a {
    let delayed = task.due_at.filter(|at| *at > now.now).map(|until| Obstacle::Delayed { until });
    let after = (!now.unfinished.is_empty()).then(|| Obstacle::After { tasks: now.unfinished.clone() });
    let elsewhere = (!now.context.is_empty()).then(|| Obstacle::OtherContext { differences: now.context.clone() });
    let newer = now.newer.clone().map(|(first, record)| Obstacle::NewerRecord { first, record });
    let order = (now.ahead > 0).then_some(Obstacle::Priority { ahead: now.ahead });
    let lane_order =
        now.first_in_lane.iter().map(|(lane, first)| Obstacle::LaneOrder { lane: lane.clone(), first: *first });
    // A pass of this process would not start it, so a dispatcher is missing elsewhere: the reason above says so.
    let nobody = (!now.has_dispatcher && now.context.is_empty()).then_some(Obstacle::NoDispatcher);
    delayed
        .into_iter()
        .chain(after)
        .chain(elsewhere)
        .chain(newer)
        .chain(order)
        .chain(lane_order)
        .chain(now.lanes.iter().filter_map(full))
        .chain(nobody)
}

/// What keeps a task from starting in this very pass; `None` when nothing does.
pub fn first_obstacle(task: &Task, now: &Situation) -> Option<Obstacle> {
    obstacles(task, now).find(|obstacle| !matches!(obstacle, Obstacle::NoDispatcher))
}

fn full(lane: &LaneNow) -> Option<Obstacle> {
    let mut living = lane.holders.iter().filter(|holder| !matches!(holder.verdict, Verdict::Stale { .. }));
    let used = u32::try_from(living.clone().count()).unwrap_or(u32::MAX);
    let holder = living.next().filter(|_| used >= lane.limit)?.clone();
    Some(if lane.lane.is_user() {
        Obstacle::UserLockHeld { holder }
    } else {
        Obstacle::LaneFull { lane: lane.lane.clone(), used, max: lane.limit, holder }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Reason;
    use crate::store::tests_support::task;

    fn holder(verdict: Verdict) -> Holder {
        Holder::unknown(None, verdict)
    }

    fn free() -> Situation {
        Situation {
            now: Timestamp(1000),
            unfinished: vec![],
            context: vec![],
            newer: None,
            ahead: 0,
            first_in_lane: vec![],
            lanes: vec![],
            has_dispatcher: true,
        }
    }

    fn words(task: &Task, now: &Situation) -> Vec<&'static str> {
        obstacles(task, now).map(|obstacle| obstacle.word()).collect()
    }

    #[test]
    fn a_free_task_has_no_obstacle() {
        assert_eq!(first_obstacle(&task(1), &free()), None);
    }

    #[test]
    fn obstacles_come_in_the_order_in_which_dispatch_meets_them() {
        let live = Verdict::Live { why: Reason::SupervisorLives, overdue: false };
        let lane = |name: &str| LaneNow {
            lane: LaneName::parse(name).expect("a lane"),
            limit: 1,
            holders: vec![holder(live.clone())],
        };
        let mut delayed = task(1);
        delayed.due_at = Some(Timestamp(2000));
        let now = Situation {
            unfinished: vec![TaskId(9)],
            context: vec![Difference::Root],
            newer: Some((TaskId(2), String::new())),
            ahead: 3,
            first_in_lane: vec![(LaneName::parse("thread:7").expect("a lane"), TaskId(4))],
            lanes: vec![lane("user:alice"), lane("global")],
            has_dispatcher: false,
            ..free()
        };
        let expected =
            ["Delayed", "After", "OtherContext", "NewerRecord", "Priority", "LaneOrder", "UserLockHeld", "LaneFull"];
        assert_eq!(words(&delayed, &now), expected);
    }

    #[test]
    fn a_stale_lock_and_a_missing_dispatcher_do_not_keep_dispatch_from_starting() {
        let stale = Verdict::Stale { why: Reason::ProcessGone, age_ms: 1 };
        let lanes = vec![LaneNow { lane: LaneName::global(), limit: 1, holders: vec![holder(stale)] }];
        let now = Situation { lanes, has_dispatcher: false, ..free() };
        assert_eq!(first_obstacle(&task(1), &now), None);
    }

    #[test]
    fn the_first_obstacle_keeps_a_task_from_starting_until_the_very_moment_it_is_due() {
        let mut due = task(1);
        due.due_at = Some(Timestamp(1000));
        assert_eq!(first_obstacle(&due, &free()), None);
        due.due_at = Some(Timestamp(1001));
        assert_eq!(first_obstacle(&due, &free()), Some(Obstacle::Delayed { until: Timestamp(1001) }));
    }

    #[test]
    fn a_lane_is_full_with_as_many_living_holders_as_its_limit() {
        let live = || holder(Verdict::Live { why: Reason::SupervisorLives, overdue: false });
        for (living, is_full) in [(0, false), (1, false), (2, true), (3, true)] {
            let holders: Vec<Holder> = (0..living).map(|_| live()).collect();
            let lanes = vec![LaneNow { lane: LaneName::global(), limit: 2, holders }];
            let found = first_obstacle(&task(1), &Situation { lanes, ..free() });
            let wanted = Obstacle::LaneFull {
                lane: LaneName::global(),
                used: u32::try_from(living).expect("few"),
                max: 2,
                holder: live(),
            };
            assert_eq!(found, is_full.then_some(wanted), "{living}");
        }
    }
}

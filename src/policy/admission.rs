//! Decides whether a task may start now, and the obstacles if it may not. Dispatch asks for the first obstacle, `explain` for
//! all of them; both call the same code. Pure.

mod obstacle;

use crate::model::capacity::Occupied;
use crate::model::config::Rate;
use crate::model::evidence::Verdict;
use crate::model::lock::loan::{self, Lent};
use crate::model::{LaneName, Task, TaskId, Timestamp, Who};
use crate::policy::backfill::Booking;
use crate::policy::capacity::Busy;
use crate::policy::context::{Difference, Life};
use crate::policy::hold::Pause;
pub use obstacle::{Obstacle, Room};

/// Facts about one holder of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The slot of the holder. Slots of one family are one holder (`model::lock::loan`).
    pub slot: u32,
    /// `task_<n>` or the name given to `acquire`.
    pub name: Option<String>,
    /// The holder in words for people.
    pub shown: Option<String>,
    /// The requester, as the lock names it.
    pub who: Who,
    /// The name of the grant.
    pub lock_id: Option<String>,
    /// The time of the grant.
    pub since: Option<Timestamp>,
    /// The time at which the holder's lease runs out, or at which it becomes overdue.
    pub expires_at: Option<Timestamp>,
    /// Milliseconds since the holder's last refresh.
    pub age_ms: u64,
    /// Whether the holder lives, with the evidence.
    pub verdict: Verdict,
    /// The process of the holder, if it is stopped (SIGSTOP).
    pub stopped: Option<u32>,
    /// Whether the holder is a task whose start or result waits for space.
    pub is_short: bool,
    /// The evidence in words, if that names more than the verdict: the process that keeps the lane after its command has
    /// ended, or the host that has the task.
    pub left_behind: Option<String>,
}

impl Holder {
    /// A holder of which only the name and the verdict are known.
    pub fn unknown(name: Option<&str>, verdict: Verdict) -> Self {
        Self {
            slot: 0,
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
            left_behind: None,
        }
    }
}

/// The present state of one lane of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNow {
    /// The lane.
    pub lane: LaneName,
    /// Greatest number of holders.
    pub limit: u32,
    /// Number of slots that the task wants, without its borrowed slots.
    pub wanted: u32,
    /// The holders.
    pub holders: Vec<Holder>,
    /// Whether a waiting parent lends the lane to the task.
    pub lent: Lent,
    /// The rate of the lane, and the earliest moment of the next grant, if the rate allows none now.
    pub limited: Option<(Rate, Timestamp)>,
    /// For `global`: number of slots that are kept for lanes that the task does not take.
    pub kept: u32,
    /// The values in use, if foreign processes use every value without a holder.
    pub occupied: Option<Occupied>,
}

/// A lane whose gate is shut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shut {
    /// The lane.
    pub lane: LaneName,
    /// The conditions that shut the gate of the lane.
    pub busy: Busy,
}

/// A lane with fewer slots than a task takes: its limit was lowered since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Narrow {
    /// The lane.
    pub lane: LaneName,
    /// Number of slots that the task takes.
    pub needed: u32,
    /// Number of slots of the lane.
    pub max: u32,
}

/// The lanes with fewer slots than a task takes.
pub fn narrow(task: &Task, limit: impl Fn(&LaneName) -> u32) -> Vec<Narrow> {
    let of = |lane: &LaneName| Narrow { lane: lane.clone(), needed: task.slots_of(lane), max: limit(lane) };
    task.lanes.iter().map(of).filter(|lane| lane.needed > lane.max.max(1)).collect()
}

/// A lane of a task in which another task keeps its computed start. The other task waits for several slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Booked {
    /// The lane.
    pub lane: LaneName,
    /// The place of the other task.
    pub by: Booking,
}

impl LaneNow {
    /// A lane with holders and without any other rule than its limit.
    pub fn new(lane: LaneName, limit: u32, holders: Vec<Holder>) -> Self {
        Self { lane, limit, wanted: 1, holders, lent: Lent::No, limited: None, kept: 0, occupied: None }
    }
}

/// All inputs of admission, beside the task itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Situation {
    /// The time of the wall clock.
    pub now: Timestamp,
    /// The pause of the task, if there is one.
    pub paused: Option<Pause>,
    /// The unfinished tasks that the task comes after.
    pub unfinished: Vec<TaskId>,
    /// The differences between the sandbox of the task and that of the observing process; empty if that process may start
    /// the task.
    pub context: Vec<Difference>,
    /// The life of the task's sandbox, if the sandbox differs, and whether the caller asked for the task.
    pub origin: (Life, bool),
    /// The grant that the task lacks, if another scheduler grants its lanes.
    pub no_grant: Option<Option<LaneName>>,
    /// The first task in the lane of the task's user, if the record of that first task is of a newer version, and a
    /// description of that record.
    pub newer: Option<(TaskId, String)>,
    /// Number of tasks of the task's user that come before it.
    pub ahead: u64,
    /// For each further key lane in which another task is first: the lane and that task.
    pub first_in_lane: Vec<(LaneName, TaskId)>,
    /// The lanes of the task whose gate is shut and that no task lends to it.
    pub shut: Vec<Shut>,
    /// The lanes of the task that have fewer slots than it takes.
    pub narrow: Vec<Narrow>,
    /// The lane in which the task's start would delay the first task of that lane.
    pub booked: Option<Booked>,
    /// The lanes of the task, in the order in which they are taken.
    pub lanes: Vec<LaneNow>,
    /// Whether no process would start the task: no daemon, no `run`, and no supervisor that makes a pass at the end of its
    /// task.
    pub lacks_dispatcher: bool,
}

/// The obstacles that dispatch meets before it looks at the lanes of a task, in their order.
pub fn before_lanes<'a>(task: &'a Task, now: &'a Situation) -> impl Iterator<Item = Obstacle> + 'a {
    let paused = now.paused.clone().map(|pause| Obstacle::Paused { pause });
    let delayed = task.due_at.filter(|at| *at > now.now).map(|until| Obstacle::Delayed { until });
    let after = (!now.unfinished.is_empty()).then(|| Obstacle::After { tasks: now.unfinished.clone() });
    let elsewhere = (!now.context.is_empty()).then(|| Obstacle::OtherContext {
        differences: now.context.clone(),
        life: now.origin.0,
        is_own: now.origin.1,
    });
    let no_grant = now.no_grant.clone().map(|lane| Obstacle::NoGrant { lane });
    let newer = now.newer.clone().map(|(first, record)| Obstacle::NewerRecord { first, record });
    let order = (now.ahead > 0).then_some(Obstacle::Priority { ahead: now.ahead });
    paused.into_iter().chain(delayed).chain(after).chain(elsewhere).chain(no_grant).chain(newer).chain(order)
}

/// Every obstacle, in the order in which dispatch meets them.
pub fn obstacles<'a>(task: &'a Task, now: &'a Situation) -> impl Iterator<Item = Obstacle> + 'a {
    let lane_order =
        now.first_in_lane.iter().map(|(lane, first)| Obstacle::LaneOrder { lane: lane.clone(), first: *first });
    // A pass of this process would not start the task, so the missing dispatcher is elsewhere. The reason above already reports
    // that.
    let nobody = (now.lacks_dispatcher && now.context.is_empty()).then_some(Obstacle::NoDispatcher);
    before_lanes(task, now)
        .chain(lane_order)
        .chain(now.shut.iter().map(|shut| Obstacle::HostBusy { shut: shut.clone() }))
        .chain(now.narrow.iter().map(|narrow| Obstacle::TooFewSlots { narrow: narrow.clone() }))
        .chain(now.booked.iter().map(|booked| Obstacle::Booked { booked: booked.clone() }))
        .chain(now.lanes.iter().filter_map(full))
        .chain(nobody)
}

/// The obstacle that keeps a task from starting in this pass; `None` if it may start.
pub fn first_obstacle(task: &Task, now: &Situation) -> Option<Obstacle> {
    obstacles(task, now).find(|obstacle| !matches!(obstacle, Obstacle::NoDispatcher))
}

fn full(lane: &LaneNow) -> Option<Obstacle> {
    match lane.lent {
        Lent::No => {}
        // Slots that are not lent to the task are taken by the ordinary rules.
        Lent::By(_) if lane.wanted > 0 => {}
        Lent::By(_) => return None,
        Lent::Taken(slot) => {
            let holder = lane.holders.iter().find(|holder| holder.slot == slot)?.clone();
            return Some(Obstacle::Loan { lane: lane.lane.clone(), holder });
        }
    }
    let mut living = lane.holders.iter().filter(|holder| !holder.verdict.is_stale());
    let used = loan::holders(living.clone().map(|holder| holder.slot));
    let is_short = used.saturating_add(lane.wanted) > lane.limit;
    let Some(holder) = living.next().filter(|_| is_short).cloned() else {
        let is_kept = lane.kept > 0 && used.saturating_add(1).saturating_add(lane.kept) > lane.limit;
        let reserved = is_kept.then_some(Obstacle::Reserved { used, max: lane.limit, kept: lane.kept });
        let limited =
            || lane.limited.map(|(rate, until)| Obstacle::RateLimited { lane: lane.lane.clone(), rate, until });
        let occupied =
            || lane.occupied.clone().map(|occupied| Obstacle::SlotOccupied { lane: lane.lane.clone(), occupied });
        return reserved.or_else(limited).or_else(occupied);
    };
    Some(if lane.lane.is_user() {
        Obstacle::UserLockHeld { holder }
    } else {
        Obstacle::LaneFull { lane: lane.lane.clone(), used, max: lane.limit, needed: lane.wanted, holder }
    })
}

#[cfg(test)]
mod tests;

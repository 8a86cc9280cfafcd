//! Decides whether a task may start now, and the obstacles if it may not. Dispatch asks for the first obstacle, `explain` for
//! all of them; both call the same code. Pure.

mod obstacle;

pub use obstacle::{Obstacle, Room};

use crate::model::capacity::Occupied;
use crate::model::config::Rate;
use crate::model::evidence::Verdict;
use crate::model::lock::loan::{self, Lent};
use crate::model::{LaneName, Task, TaskId, Timestamp, Who};
use crate::policy::backfill::Booking;
use crate::policy::capacity::gate::Busy;
use crate::policy::context::Difference;
use crate::policy::context::life::Life;
use crate::policy::hold::Pause;

/// Facts about one holder of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Its slot. Slots of one family are one holder (`model::lock::loan`).
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
    /// The time at which its lease runs out, or at which it becomes overdue.
    pub expires_at: Option<Timestamp>,
    /// Milliseconds since its last refresh.
    pub age_ms: u64,
    /// Whether it lives, with the evidence.
    pub verdict: Verdict,
    /// The process that holds it, if that process is stopped (SIGSTOP).
    pub stopped: Option<u32>,
    /// Whether it is a task whose start or result waits for space.
    pub is_short: bool,
    /// The evidence that a process keeps the lane after its command has ended.
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
    /// Whether a waiting parent lends it to the task.
    pub lent: Lent,
    /// Its rate, and the earliest moment of the next grant, if the rate allows none now.
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
    /// The conditions that shut it.
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Situation {
    /// The time of the wall clock.
    pub now: Timestamp,
    /// The pause of the task, if there is one.
    pub paused: Option<Pause>,
    /// The unfinished tasks that it comes after.
    pub unfinished: Vec<TaskId>,
    /// The differences between its sandbox and that of the observing process; empty if that process may start the task.
    pub context: Vec<Difference>,
    /// The life of its sandbox, if the sandbox differs, and whether the caller asked for the task.
    pub origin: (Life, bool),
    /// The grant that it lacks, if another scheduler grants its lanes.
    pub no_grant: Option<Option<LaneName>>,
    /// The first task in its user's lane, if its record is of a newer version, and a description of that record.
    pub newer: Option<(TaskId, String)>,
    /// Number of tasks of its user that come before it.
    pub ahead: u64,
    /// For each further key lane in which another task is first: the lane and that task.
    pub first_in_lane: Vec<(LaneName, TaskId)>,
    /// Those of its lanes whose gate is shut and that no task lends to it.
    pub shut: Vec<Shut>,
    /// Those of its lanes with fewer slots than it takes.
    pub narrow: Vec<Narrow>,
    /// The lane in which its start would delay the first task of that lane.
    pub booked: Option<Booked>,
    /// Its lanes, in the order in which they are taken.
    pub lanes: Vec<LaneNow>,
    /// Whether any process would start it: a daemon, a `run`, or a supervisor that makes a pass at the end of its task.
    pub has_dispatcher: bool,
}

/// Every obstacle, in the order in which dispatch meets them.
pub fn obstacles<'a>(task: &'a Task, now: &'a Situation) -> impl Iterator<Item = Obstacle> + 'a {
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
    let lane_order =
        now.first_in_lane.iter().map(|(lane, first)| Obstacle::LaneOrder { lane: lane.clone(), first: *first });
    // A pass of this process would not start the task, so the missing dispatcher is elsewhere. The reason above already reports
    // that.
    let nobody = (!now.has_dispatcher && now.context.is_empty()).then_some(Obstacle::NoDispatcher);
    let paused = now.paused.clone().map(|pause| Obstacle::Paused { pause });
    paused
        .into_iter()
        .chain(delayed)
        .chain(after)
        .chain(elsewhere)
        .chain(no_grant)
        .chain(newer)
        .chain(order)
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
            paused: None,
            unfinished: vec![],
            context: vec![],
            origin: (Life::Unseen, false),
            no_grant: None,
            newer: None,
            ahead: 0,
            first_in_lane: vec![],
            shut: vec![],
            narrow: vec![],
            booked: None,
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
        let lane = |name: &str| LaneNow::new(LaneName::parse(name).expect("a lane"), 1, vec![holder(live.clone())]);
        let limited = LaneNow {
            limited: Some((Rate { grants: 1, window_ms: 9 }, Timestamp(1009))),
            ..LaneNow::new(LaneName::parse("api").expect("a lane"), 1, vec![])
        };
        let kept = LaneNow { kept: 1, limit: 2, ..lane("global") };
        let mut delayed = task(1);
        delayed.due_at = Some(Timestamp(2000));
        let pause = Pause::of("*".to_owned(), Timestamp(0));
        let now = Situation {
            paused: Some(pause),
            unfinished: vec![TaskId(9)],
            context: vec![Difference::Root],
            no_grant: Some(None),
            newer: Some((TaskId(2), String::new())),
            ahead: 3,
            first_in_lane: vec![(LaneName::parse("thread:7").expect("a lane"), TaskId(4))],
            shut: vec![Shut { lane: LaneName::global(), busy: Busy { conditions: vec![], readings: vec![] } }],
            narrow: vec![Narrow { lane: LaneName::global(), needed: 3, max: 2 }],
            booked: Some(Booked {
                lane: LaneName::global(),
                by: Booking { first: TaskId(5), start: None, is_short: true },
            }),
            lanes: vec![lane("user:alice"), limited, kept, lane("global")],
            has_dispatcher: false,
            ..free()
        };
        let expected = [
            "Paused",
            "Delayed",
            "After",
            "OtherContext",
            "NoGrant",
            "NewerRecord",
            "Priority",
            "LaneOrder",
            "HostBusy",
            "TooFewSlots",
            "Booked",
            "UserLockHeld",
            "RateLimited",
            "Reserved",
            "LaneFull",
        ];
        assert_eq!(words(&delayed, &now), expected);
    }

    #[test]
    fn a_stale_lock_and_a_missing_dispatcher_do_not_keep_dispatch_from_starting() {
        let stale = Verdict::Stale { why: Reason::ProcessGone, age_ms: 1 };
        let lanes = vec![LaneNow::new(LaneName::global(), 1, vec![holder(stale)])];
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
    fn a_lane_with_room_whose_values_strangers_use_is_occupied() {
        let held = || vec![holder(Verdict::Live { why: Reason::SupervisorLives, overdue: false })];
        let lane = |limit| LaneNow {
            occupied: Some(Occupied { value: "4000".to_owned(), pid: Some(7), count: 1 }),
            ..LaneNow::new(LaneName::parse("port").expect("a lane"), limit, held())
        };
        assert_eq!(words(&task(1), &Situation { lanes: vec![lane(2)], ..free() }), ["SlotOccupied"]);
        assert_eq!(words(&task(1), &Situation { lanes: vec![lane(1)], ..free() }), ["LaneFull"]);
        let lent = vec![LaneNow { lent: Lent::By(0), wanted: 0, ..lane(2) }];
        assert_eq!(first_obstacle(&task(1), &Situation { lanes: lent, ..free() }), None);
    }

    #[test]
    fn a_lane_is_full_with_as_many_living_holders_as_its_limit() {
        let live = || holder(Verdict::Live { why: Reason::SupervisorLives, overdue: false });
        for (living, is_full) in [(0, false), (1, false), (2, true), (3, true)] {
            let holders: Vec<Holder> = (0..living).map(|slot| Holder { slot, ..live() }).collect();
            let lanes = vec![LaneNow::new(LaneName::global(), 2, holders)];
            let found = first_obstacle(&task(1), &Situation { lanes, ..free() });
            let wanted =
                Obstacle::LaneFull { lane: LaneName::global(), used: living, max: 2, needed: 1, holder: live() };
            assert_eq!(found, is_full.then_some(wanted), "{living}");
        }
    }

    #[test]
    fn several_slots_are_free_together_or_the_lane_is_full() {
        let live = || holder(Verdict::Live { why: Reason::SupervisorLives, overdue: false });
        for living in 0..5u32 {
            for wanted in 1..5u32 {
                let holders = (0..living).map(|slot| Holder { slot, ..live() }).collect();
                let lane = |lent| LaneNow { wanted, lent, ..LaneNow::new(LaneName::global(), 4, holders) };
                let now = Situation { lanes: vec![lane(Lent::No)], ..free() };
                assert_eq!(first_obstacle(&task(1), &now).is_some(), living + wanted > 4, "{living} {wanted}");
            }
        }
        let lent = |wanted| LaneNow { wanted, lent: Lent::By(0), ..LaneNow::new(LaneName::global(), 1, vec![live()]) };
        assert_eq!(words(&task(1), &Situation { lanes: vec![lent(0)], ..free() }), Vec::<&str>::new());
        assert_eq!(words(&task(1), &Situation { lanes: vec![lent(1)], ..free() }), ["LaneFull"]);
    }

    #[test]
    fn slots_that_are_kept_are_full_for_others_only() {
        let live = || holder(Verdict::Live { why: Reason::SupervisorLives, overdue: false });
        for (living, kept, word) in [
            (0, 0, None),
            (2, 1, None),
            (3, 1, Some("Reserved")),
            (3, 0, None),
            (0, 4, Some("Reserved")),
            (4, 1, Some("LaneFull")),
        ] {
            let holders = (0..living).map(|slot| Holder { slot, ..live() }).collect();
            let lanes = vec![LaneNow { kept, ..LaneNow::new(LaneName::global(), 4, holders) }];
            let found = first_obstacle(&task(1), &Situation { lanes, ..free() });
            assert_eq!(found.map(|obstacle| obstacle.word()), word, "{living} {kept}");
        }
    }
}

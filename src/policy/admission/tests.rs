//! Obstacles of tasks in made-up situations.

use super::*;
use crate::model::evidence::Reason;

fn task(id: u64) -> Task {
    let alice = crate::model::Name::new("alice").expect("a name");
    Task::plain(TaskId(id), alice, vec!["true".into()], Timestamp(0))
}

fn holder(verdict: Verdict) -> Holder {
    Holder::unknown(None, verdict)
}

fn free() -> Situation {
    Situation { now: Timestamp(1000), ..Situation::default() }
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
        lacks_dispatcher: true,
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
    let now = Situation { lanes, lacks_dispatcher: true, ..free() };
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
        let wanted = Obstacle::LaneFull { lane: LaneName::global(), used: living, max: 2, needed: 1, holder: live() };
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

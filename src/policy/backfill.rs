//! Backfill: the tasks that may start beside a task that waits for several slots at once (issue 21, section 4).
//!
//! A task that takes several slots, of one lane or of several, gets all or none. Single tasks could take every slot that
//! becomes free before it has all. So the first such task keeps its computed start: the moment at which all its slots are free
//! if no other task takes one and each holder ends at its expected time. That time comes from its time limit or the 90th
//! percentile of its kind. Another task passes it only if it ends before that moment by the same calculation.
//!
//! If the end of a holder is not known, or that moment has passed, the start is not known either. Then no task passes in a lane
//! that has too few free slots for the waiting task. In a lane with enough free slots, tasks pass whose numbers are at most
//! [`MOST_PASSED`] above its own, as in [`super::beyond`]. Otherwise one lock of unknown length would keep every other lane idle.
//!
//! **Bound.** Let a task wait for several slots and come before all others of its lanes in the order of the schedule. Let H be
//! the holders of slots of its lanes at the time it became the first. As long as its start is known, it starts at the latest
//! when all of H have ended, if all tasks run no longer than expected. If its start is not known, every task that passes it has
//! a number of its own that is at most a thousand above its number. So at most a thousand tasks pass it. After them it starts
//! when the remaining holders of slots of its lanes have ended. `global` and lanes with an order of their own (users, threads,
//! sessions) are not counted: there the order of the schedule decides. Pure.

use super::beyond::MOST_PASSED;
use crate::model::{TaskId, Timestamp};

/// A holder of slots of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    /// Number of slots that the holder holds.
    pub count: u32,
    /// The latest time at which the holder is expected to end; `None` if it is not known.
    pub until: Option<Timestamp>,
}

/// A lane in which a task wants slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Number of slots that the task wants.
    pub count: u32,
    /// Number of slots of the lane.
    pub limit: u32,
    /// The holders.
    pub holders: Vec<Slots>,
}

/// The place of the first task that waits for several slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Booking {
    /// The task.
    pub first: TaskId,
    /// The computed start of the task; `None` if it is not known.
    pub start: Option<Timestamp>,
    /// Whether the lane has too few free slots for it.
    pub is_short: bool,
}

/// The places of a task in the lanes in which it wants slots, in their order. Empty if it wants one slot only, if all slots are
/// free, or if it wants more slots than there are.
pub fn bookings(first: TaskId, wanted: &[Wanted], now: Timestamp) -> Vec<Booking> {
    let slots = wanted.iter().fold(0u32, |sum, lane| sum.saturating_add(lane.count));
    let is_possible = wanted.iter().all(|lane| lane.count <= lane.limit);
    if slots < 2 || !is_possible {
        return Vec::new();
    }
    let waits: Vec<Option<Option<Timestamp>>> = wanted.iter().map(|lane| wait(lane, now)).collect();
    let known: Option<Vec<Timestamp>> = waits.iter().flatten().copied().collect();
    if known.as_ref().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let start = known.and_then(|moments| moments.into_iter().max());
    waits.iter().map(|wait| Booking { first, start, is_short: wait.is_some() }).collect()
}

/// The time at which enough slots of a lane are free; `None` if they are free now.
fn wait(lane: &Wanted, now: Timestamp) -> Option<Option<Timestamp>> {
    let held = lane.holders.iter().fold(0u32, |sum, holder| sum.saturating_add(holder.count));
    let mut free = lane.limit.saturating_sub(held);
    if lane.count <= free {
        return None;
    }
    let known = |holder: &Slots| holder.until.filter(|until| *until > now).map(|until| (until, holder.count));
    let mut ends: Vec<(Timestamp, u32)> = lane.holders.iter().filter_map(known).collect();
    ends.sort_unstable();
    let enough = ends.into_iter().find(|(_, count)| {
        free = free.saturating_add(*count);
        free >= lane.count
    });
    Some(enough.map(|(at, _)| at))
}

/// Whether a task may start now beside a booking of a lane that it takes. The task is expected to run for `most_ms` at the most.
pub fn may_pass(booking: Booking, id: TaskId, now: Timestamp, most_ms: Option<u64>) -> bool {
    let Some(start) = booking.start else {
        return !booking.is_short && id.0 <= booking.first.0.saturating_add(MOST_PASSED);
    };
    let ends = most_ms.and_then(|ms| i64::try_from(ms).ok()).map(|ms| now.plus_ms(ms));
    ends.is_some_and(|ends| ends <= start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(count: u32, until: i64) -> Slots {
        Slots { count, until: Some(Timestamp(until)) }
    }

    fn lane(count: u32, limit: u32, holders: &[Slots]) -> Wanted {
        Wanted { count, limit, holders: holders.to_vec() }
    }

    fn start(wanted: &[Wanted]) -> Option<Option<i64>> {
        bookings(TaskId(1), wanted, Timestamp(0)).first().map(|booking| booking.start.map(|at| at.0))
    }

    #[test]
    fn a_start_is_when_enough_slots_are_free() {
        let holders = [slots(1, 50), slots(1, 20), slots(2, 30)];
        let of = |wanted| start(&[lane(wanted, 4, &holders)]);
        assert_eq!([2, 3, 4].map(of), [Some(Some(30)), Some(Some(30)), Some(Some(50))]);
        assert_eq!((of(5), start(&[lane(2, 6, &holders)])), (None, None), "never, and at once");
        assert_eq!(of(1), None, "one slot is taken as soon as it is free, which nobody can keep from it");
    }

    #[test]
    fn a_task_of_several_lanes_starts_when_the_last_of_them_is_free() {
        let (free, short, long) =
            (lane(1, 1, &[]), lane(1, 1, &[slots(1, 20)]), lane(1, 2, &[slots(1, 90), slots(1, 70)]));
        assert_eq!(start(&[free.clone(), short.clone()]), Some(Some(20)));
        assert_eq!(start(&[free.clone(), short.clone(), long]), Some(Some(70)));
        assert_eq!(start(&[free.clone(), free.clone()]), None);
        let endless = lane(1, 1, &[Slots { count: 1, until: None }]);
        assert_eq!(start(&[short, endless]), Some(None));
        assert_eq!(start(&[free, lane(1, 1, &[slots(1, 0)])]), Some(None), "it is late, and nobody knows until when");
    }

    #[test]
    fn who_ends_in_time_passes_and_who_may_not_end_waits() {
        let at = |start| Booking { first: TaskId(7), start, is_short: false };
        let (now, start) = (Timestamp(100), at(Some(Timestamp(130))));
        let passes = [Some(0), Some(30), Some(31), None].map(|most| may_pass(start, TaskId(8), now, most));
        assert_eq!(passes, [true, true, false, false]);
    }

    #[test]
    fn where_the_start_is_not_known_a_thousand_pass_in_lanes_with_room_and_nobody_in_others() {
        let endless = lane(1, 1, &[Slots { count: 1, until: None }]);
        let [free, full] = bookings(TaskId(7), &[lane(1, 1, &[]), endless], Timestamp(0)).try_into().expect("two");
        let ids = [8, 7 + MOST_PASSED, 8 + MOST_PASSED];
        assert_eq!(ids.map(|id| may_pass(free, TaskId(id), Timestamp(0), Some(1))), [true, true, false]);
        assert_eq!(ids.map(|id| may_pass(full, TaskId(id), Timestamp(0), Some(1))), [false; 3]);
    }

    proptest! {
        /// Single tasks that come at any moment never delay the booked one beyond its first computed start.
        #[test]
        fn a_booked_task_starts_by_its_computed_start(
            limit in 2..6u32,
            first in proptest::collection::vec((1..3u32, 1..50i64), 1..5),
            later in proptest::collection::vec((0..60i64, 1..40u64, 0..10u64), 0..40),
        ) {
            let mut running: Vec<Slots> = Vec::new();
            for (count, until) in first {
                let held: u32 = running.iter().map(|one| one.count).sum();
                if held + count <= limit {
                    running.push(slots(count, until));
                }
            }
            let wanted = limit;
            let booked = |running: &[Slots], now: i64| {
                bookings(TaskId(1), &[lane(wanted, limit, running)], Timestamp(now)).first().copied()
            };
            let promised = booked(&running, 0).and_then(|booking| booking.start);
            let mut actual: Vec<(i64, u32)> = running.iter().map(|one| (one.until.expect("known").0, one.count)).collect();
            for now in 0..200i64 {
                running.retain(|one| one.until.expect("known").0 > now);
                actual.retain(|(end, _)| *end > now);
                let held: u32 = actual.iter().map(|(_, count)| count).sum();
                if limit - held >= wanted {
                    prop_assert!(promised.is_none_or(|at| now <= at.0), "{now} {promised:?}");
                    return Ok(());
                }
                // Holders that ended early are gone from both.
                for (_, most, early) in later.iter().filter(|(at, ..)| *at == now) {
                    let held: u32 = actual.iter().map(|(_, count)| count).sum();
                    let now_at = Timestamp(now);
                    let passes = booked(&running, now).is_none_or(|it| may_pass(it, TaskId(2), now_at, Some(*most)));
                    if held < limit && passes {
                        let end = now + i64::try_from(most.saturating_sub(*early).max(1)).expect("short");
                        actual.push((end, 1));
                        running.push(slots(1, now + i64::try_from(*most).expect("short")));
                    }
                }
            }
            prop_assert!(false, "it never started");
        }
    }
}

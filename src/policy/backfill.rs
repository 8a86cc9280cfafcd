//! Backfill: what may start beside a task that waits for several slots of a lane (issue 21, section 4).
//!
//! A task that takes N slots gets all or none, and single tasks could take every slot that becomes free before N are. So
//! the first task of a lane that waits for several slots keeps its computed start: the moment at which enough slots are
//! free if nobody else takes one and each holder ends when it is expected to, by its time limit or the 90th percentile of
//! its kind. Another task passes it only if it ends before that moment by the same reckoning. Where the end of a holder is
//! not known, the start is not known either, and nobody passes.
//!
//! **Bound.** So a task of N slots that comes first in the order of the schedule and waits for slots of one lane starts when
//! those have ended that held slots of the lane when it became the first, or earlier, as long as all run no longer than was
//! expected of them. Pure.

use crate::model::Timestamp;

/// A holder of slots of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    /// How many it holds.
    pub count: u32,
    /// When it is expected to end at the latest; `None` where nobody knows.
    pub until: Option<Timestamp>,
}

/// The place of the first task that waits for several slots of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Booking {
    /// Its computed start; `None` where nobody knows.
    pub start: Option<Timestamp>,
}

/// The place of a task that wants so many slots of a lane with a limit; `None` if they are free, or more than there are.
pub fn booking(limit: u32, holders: &[Slots], wanted: u32) -> Option<Booking> {
    let held: u32 = holders.iter().fold(0, |sum, holder| sum.saturating_add(holder.count));
    let mut free = limit.saturating_sub(held);
    if wanted <= free || wanted > limit {
        return None;
    }
    let mut ends: Vec<(Timestamp, u32)> =
        holders.iter().filter_map(|holder| Some((holder.until?, holder.count))).collect();
    ends.sort_unstable();
    let enough = ends.into_iter().find(|(_, count)| {
        free = free.saturating_add(*count);
        free >= wanted
    });
    Some(Booking { start: enough.map(|(at, _)| at) })
}

/// Whether a task that is expected to run for `most_ms` at the most may start now beside a booking of a lane that it takes.
pub fn may_pass(booking: Booking, now: Timestamp, most_ms: Option<u64>) -> bool {
    let ends = most_ms.and_then(|ms| i64::try_from(ms).ok()).map(|ms| now.plus_ms(ms));
    ends.zip(booking.start).is_some_and(|(ends, start)| ends <= start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(count: u32, until: i64) -> Slots {
        Slots { count, until: Some(Timestamp(until)) }
    }

    #[test]
    fn a_start_is_when_enough_slots_are_free() {
        let holders = [slots(1, 50), slots(1, 20), slots(2, 30)];
        let start = |wanted| booking(4, &holders, wanted).map(|booking| booking.start.map(|at| at.0));
        assert_eq!([1, 2, 3, 4].map(start), [Some(Some(20)), Some(Some(30)), Some(Some(30)), Some(Some(50))]);
        assert_eq!((start(5), booking(5, &holders, 1)), (None, None), "never, and at once");
    }

    #[test]
    fn who_ends_in_time_passes_and_who_may_not_end_waits() {
        let at = |start| Booking { start };
        let (now, start) = (Timestamp(100), at(Some(Timestamp(130))));
        let passes = [Some(0), Some(30), Some(31), None].map(|most| may_pass(start, now, most));
        assert_eq!(passes, [true, true, false, false]);
        assert!(!may_pass(at(None), now, Some(1)), "where the start is not known nobody passes");
        let unknown = [slots(1, 20), Slots { count: 1, until: None }];
        assert_eq!(booking(2, &unknown, 2), Some(at(None)));
        assert_eq!(booking(2, &unknown, 1).map(|one| one.start), Some(Some(Timestamp(20))));
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
            let promised = booking(limit, &running, wanted).and_then(|booking| booking.start);
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
                    let passes = booking(limit, &running, wanted).is_none_or(|it| may_pass(it, now_at, Some(*most)));
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

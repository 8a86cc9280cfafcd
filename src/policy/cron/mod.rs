//! Which slots of a schedule make a task now. Pure.

use crate::model::Timestamp;
use crate::model::calendar::{Overlap, Pattern, Schedule};

/// How old the last missed slot may be that is still made, in milliseconds: a day.
pub const LATE_MS: i64 = 86_400_000;
/// How many missed slots one look makes at most; the next look makes further ones.
pub const MOST_AT_ONCE: usize = 20;
/// The longest time within which missed slots are made up, in milliseconds: 31 days.
pub const LONGEST_FILL_MS: u64 = 31 * 86_400_000;
/// How many slots may lie within the time of `--fill`: so many tasks a schedule makes at most when somebody looks after a long time.
pub const MOST_FILLED: usize = 5000;
/// Within which times before now the last slot is looked for, in milliseconds, so that few are counted where they are dense.
const WINDOWS_MS: [i64; 3] = [60_000, 3_600_000, LATE_MS];

/// What is due.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Due {
    /// The slots to be made, in their order.
    pub slots: Vec<Timestamp>,
    /// The first slot that is not dealt with then; `None` when none comes any more.
    pub next: Option<Timestamp>,
}

/// What to do about one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotPlan {
    /// It makes a task.
    Make,
    /// It makes none: the former task is not over.
    Skip,
}

/// The slots of a schedule that are due: with a time to fill every one within it, otherwise the last one, unless that is older
/// than a day.
pub fn due(schedule: &Schedule, pattern: &Pattern, now: Timestamp) -> Due {
    due_from(schedule.next, schedule.fill_ms, pattern, now)
}

fn due_from(next: Option<Timestamp>, fill_ms: Option<u64>, pattern: &Pattern, now: Timestamp) -> Due {
    let Some(next) = next else { return Due::default() };
    if next > now {
        return Due { slots: Vec::new(), next: Some(next) };
    }
    match fill_ms {
        Some(fill) => filled(next, pattern, now, fill),
        None => Due { slots: last_of(next, pattern, now).into_iter().collect(), next: pattern.after(now) },
    }
}

fn filled(next: Timestamp, pattern: &Pattern, now: Timestamp, fill_ms: u64) -> Due {
    let begin = fill_begin(fill_ms, now);
    let first = if next >= begin { Some(next) } else { pattern.after(begin.plus_ms(-1)) };
    let mut slots: Vec<Timestamp> =
        successors(first, pattern).take_while(|at| *at <= now).take(MOST_AT_ONCE + 1).collect();
    let next = if slots.len() > MOST_AT_ONCE { slots.pop() } else { pattern.after(now) };
    Due { slots, next }
}

/// From when on missed slots are made up. A record of an earlier luzia may name a longer time than is taken now.
fn fill_begin(fill_ms: u64, now: Timestamp) -> Timestamp {
    now.plus_ms(-i64::try_from(fill_ms.min(LONGEST_FILL_MS)).unwrap_or(i64::MAX))
}

/// Whether more slots lie within a time to fill than are made up.
pub fn fills_too_many(pattern: &Pattern, fill_ms: u64, now: Timestamp) -> bool {
    let within = successors(pattern.after(fill_begin(fill_ms, now)), pattern).take_while(|at| *at <= now);
    within.take(MOST_FILLED + 1).count() > MOST_FILLED
}

fn last_of(next: Timestamp, pattern: &Pattern, now: Timestamp) -> Option<Timestamp> {
    let within = |window: &i64| {
        let begin = now.plus_ms(-window);
        let first = if next >= begin { Some(next) } else { pattern.after(begin.plus_ms(-1)) };
        successors(first, pattern).take_while(|at| *at <= now).last()
    };
    WINDOWS_MS.iter().find_map(within)
}

fn successors(first: Option<Timestamp>, pattern: &Pattern) -> impl Iterator<Item = Timestamp> {
    std::iter::successors(first, |at| pattern.after(*at))
}

/// Whether a slot makes a task, given whether the former one is over.
pub fn plan(overlap: Overlap, is_former_unfinished: bool) -> SlotPlan {
    match (overlap, is_former_unfinished) {
        (Overlap::Skip, true) => SlotPlan::Skip,
        (Overlap::Skip, false) | (Overlap::Queue, _) => SlotPlan::Make,
    }
}

/// Whether a slot may be left alone because of a rule for overlaps, while every missed one is wanted.
pub fn contradicts(overlap: Option<Overlap>, fill_ms: Option<u64>) -> bool {
    fill_ms.is_some() && overlap == Some(Overlap::Skip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::calendar::Zone;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a moment")
    }

    fn due_of(line: &str, next: &str, now: &str, fill_ms: Option<u64>) -> (Vec<String>, Option<String>) {
        let pattern = Pattern::parse(line, Zone::utc()).expect("a line");
        let found = due_from(Some(at(next)), fill_ms, &pattern, at(now));
        (found.slots.iter().map(ToString::to_string).collect(), found.next.map(|at| at.to_string()))
    }

    #[test]
    fn the_last_missed_slot_is_made_and_no_older_one() {
        for (line, next, now, slots, then) in [
            ("0 9 * * *", "2026-11-24T09:00:00Z", "2026-11-24T08:59:59.999Z", vec![], "2026-11-24T09:00:00.000Z"),
            (
                "0 9 * * *",
                "2026-11-24T09:00:00Z",
                "2026-11-24T09:00:00Z",
                vec!["2026-11-24T09:00:00.000Z"],
                "2026-11-25T09:00:00.000Z",
            ),
            (
                "0 9 * * *",
                "2026-11-20T09:00:00Z",
                "2026-11-24T08:00:00Z",
                vec!["2026-11-23T09:00:00.000Z"],
                "2026-11-24T09:00:00.000Z",
            ),
            ("0 9 1 * *", "2026-11-01T09:00:00Z", "2026-11-24T08:00:00Z", vec![], "2026-12-01T09:00:00.000Z"),
            (
                "* * * * * *",
                "2026-11-01T09:00:00Z",
                "2026-11-24T08:00:00.500Z",
                vec!["2026-11-24T08:00:00.000Z"],
                "2026-11-24T08:00:01.000Z",
            ),
        ] {
            let slots: Vec<String> = slots.into_iter().map(str::to_owned).collect();
            assert_eq!(due_of(line, next, now, None), (slots, Some(then.to_owned())), "{line} {next} {now}");
        }
    }

    /// Nobody looks for a week.
    #[test]
    fn a_long_gap_makes_few_tasks_a_look_and_no_more_than_its_time_holds() {
        let pattern = Pattern::parse("* * * * *", Zone::utc()).expect("a line");
        let day = Some(86_400_000);
        let (mut next, now) = (Some(at("2026-11-17T12:00:30Z")), at("2026-11-24T12:00:30Z"));
        let (mut looks, mut slots) = (0, Vec::new());
        while next.is_some_and(|next| next <= now) {
            let found = due_from(next, day, &pattern, now);
            assert!((1..=MOST_AT_ONCE).contains(&found.slots.len()));
            slots.extend(found.slots);
            (next, looks) = (found.next, looks + 1);
        }
        assert_eq!((looks, slots.len()), (72, 1440));
        assert_eq!((slots[0], next), (at("2026-11-23T12:01:00Z"), Some(at("2026-11-24T12:01:00Z"))));
        assert!(slots.is_sorted() && slots.iter().all(|slot| now.ms_since(*slot) <= 86_400_000));
        assert!(!fills_too_many(&pattern, 86_400_000, now));
        assert!(fills_too_many(&pattern, 7 * 86_400_000, now));
        let hourly = Pattern::parse("@hourly", Zone::utc()).expect("a line");
        assert!(!fills_too_many(&hourly, LONGEST_FILL_MS, now));
    }

    #[test]
    fn every_missed_slot_within_the_time_to_fill_is_made_and_so_many_at_once() {
        let (slots, then) = due_of("0 * * * *", "2026-11-20T09:00:00Z", "2026-11-24T08:30:00Z", Some(3 * 3_600_000));
        let hours = ["2026-11-24T06:00:00.000Z", "2026-11-24T07:00:00.000Z", "2026-11-24T08:00:00.000Z"];
        assert_eq!(
            (slots.as_slice(), then.as_deref()),
            (&hours.map(str::to_owned)[..], Some("2026-11-24T09:00:00.000Z"))
        );
        let (slots, then) = due_of("* * * * *", "2026-11-24T00:00:00Z", "2026-11-24T08:30:00Z", Some(86_400_000));
        assert_eq!((slots.len(), then.as_deref()), (MOST_AT_ONCE, Some("2026-11-24T00:20:00.000Z")));
    }

    proptest! {
        #[test]
        fn no_slot_is_made_twice_and_next_goes_forward(
            gaps in proptest::collection::vec(1i64..200_000, 1..12), fill in any::<bool>(), line in 0usize..3,
        ) {
            let lines = ["* * * * *", "*/7 * * * *", "*/20 * * * * *"];
            let pattern = Pattern::parse(lines[line], Zone::utc()).expect("a line");
            let mut now = at("2026-11-24T00:00:00Z");
            let (mut next, mut made) = (pattern.after(now), Vec::new());
            for gap in gaps {
                now = now.plus_ms(gap);
                let found = due_from(next, fill.then_some(3_600_000), &pattern, now);
                prop_assert!(found.slots.iter().all(|slot| *slot <= now && Some(*slot) >= next));
                prop_assert!(found.next >= next);
                made.extend(found.slots);
                next = found.next;
            }
            prop_assert!(made.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", made);
            prop_assert!(next > made.last().copied());
        }
    }

    #[test]
    fn a_former_task_holds_a_slot_up_only_where_slots_are_skipped() {
        assert_eq!(plan(Overlap::Skip, true), SlotPlan::Skip);
        for (overlap, is_unfinished) in [(Overlap::Skip, false), (Overlap::Queue, true), (Overlap::Queue, false)] {
            assert_eq!(plan(overlap, is_unfinished), SlotPlan::Make);
        }
        assert!(contradicts(Some(Overlap::Skip), Some(1)) && !contradicts(None, Some(1)));
    }
}

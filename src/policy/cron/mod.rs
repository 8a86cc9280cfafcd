//! The slots of a schedule that make a task now. Pure.

use crate::model::calendar::{Overlap, Pattern, Schedule};
use crate::model::control::{Held, Hold};
use crate::model::{Name, Timestamp};

/// Greatest delay of a slot, in milliseconds: a day. A later slot counts as missed, and is made only if the schedule asks for it.
pub const LATE_MS: i64 = 86_400_000;
/// Greatest number of missed slots that one look makes; the next look makes further ones.
pub const MOST_AT_ONCE: usize = 20;
/// The longest time within which missed slots are made up, in milliseconds: 31 days.
pub const LONGEST_FILL_MS: u64 = 31 * 86_400_000;
/// Greatest number of slots within the time of `--fill`. It limits the number of tasks that a schedule makes after a long time
/// without a pass.
pub const MOST_FILLED: usize = 5000;
/// Periods before now in which the last slot is searched, in milliseconds. They are short first, so that few slots are counted
/// on a dense line.
const WINDOWS_MS: [i64; 3] = [60_000, 3_600_000, LATE_MS];
/// Further periods in which the last slot is searched, however long ago it was. The last period includes the first slot.
const FURTHER_MS: [i64; 3] = [32 * LATE_MS, 400 * LATE_MS, i64::MAX];
/// Greatest number of missed slots that one look counts.
const MOST_COUNTED: usize = 5000;
/// The period in which a line is checked for being rarer than daily. A change of the clock makes a day longer.
const FOUR_WEEKS_MS: i64 = 28 * LATE_MS + 3_600_000;

/// The slots that are due.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Due {
    /// The slots to be made, in their order.
    pub slots: Vec<Timestamp>,
    /// The first slot that remains after this look; `None` if there is no further slot.
    pub next: Option<Timestamp>,
    /// The slots that were missed, in their order: those that make no task, and those that make one late. At most
    /// `MOST_COUNTED`, the first ones.
    pub missed: Vec<Timestamp>,
}

/// The action on one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotPlan {
    /// The slot makes a task.
    Make,
    /// The slot makes no task, because the former task is not over.
    Skip,
}

/// The missed slots that are made up for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The last missed slot, unless it is older than a day.
    Last,
    /// The last missed slot, however old it is.
    Once,
    /// Every one within a time, in milliseconds.
    Within(u64),
}

impl Fill {
    /// The rule of a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        match schedule.fill_ms {
            Some(ms) => Self::Within(ms),
            None if schedule.fill_once => Self::Once,
            None => Self::Last,
        }
    }
}

/// The slots of a schedule that are due. `holds` are those of all schedules. A slot of a paused schedule makes no task and is
/// not missed.
pub fn due(schedule: &Schedule, holds: &[Hold], pattern: &Pattern, now: Timestamp) -> Due {
    let mut due = due_from(schedule.next, Fill::of(schedule), pattern, now);
    let goes_on = |slot: &Timestamp| pause_at(&schedule.name, holds, *slot).is_none();
    due.slots.retain(goes_on);
    due.missed.retain(goes_on);
    due
}

/// The hold that keeps a schedule from making a task for a moment.
pub fn pause_at<'a>(name: &Name, holds: &'a [Hold], at: Timestamp) -> Option<&'a Hold> {
    let name = Schedule::pause_name(name);
    let covers = |hold: &&Hold| hold.since <= at && hold.stands(at) && hold.held != Held::All && hold.held.is_of(&name);
    holds.iter().find(covers)
}

fn due_from(next: Option<Timestamp>, fill: Fill, pattern: &Pattern, now: Timestamp) -> Due {
    let Some(next) = next else { return Due::default() };
    if next > now {
        return Due { next: Some(next), ..Due::default() };
    }
    let last = match fill {
        Fill::Within(ms) => return filled(next, pattern, now, ms),
        Fill::Last => last_of(next, pattern, now, &WINDOWS_MS),
        Fill::Once => last_of(next, pattern, now, &[WINDOWS_MS, FURTHER_MS].concat()),
    };
    let is_missed = |at: &Timestamp| Some(*at) != last || now.ms_since(*at) > LATE_MS;
    let passed = successors(Some(next), pattern).take_while(|at| *at <= now);
    let missed = passed.filter(is_missed).take(MOST_COUNTED).collect();
    Due { slots: last.into_iter().collect(), next: pattern.after(now), missed }
}

fn filled(next: Timestamp, pattern: &Pattern, now: Timestamp, fill_ms: u64) -> Due {
    let begin = fill_begin(fill_ms, now);
    let first = if next >= begin { Some(next) } else { pattern.after(begin.plus_ms(-1)) };
    let mut slots: Vec<Timestamp> =
        successors(first, pattern).take_while(|at| *at <= now).take(MOST_AT_ONCE + 1).collect();
    let after = if slots.len() > MOST_AT_ONCE { slots.pop() } else { pattern.after(now) };
    let missed = successors(Some(next), pattern).take_while(|at| *at < begin).take(MOST_COUNTED).collect();
    Due { slots, next: after, missed }
}

/// The time from which missed slots are made up. A record of an earlier luzia may name a longer time than is valid now.
fn fill_begin(fill_ms: u64, now: Timestamp) -> Timestamp {
    now.plus_ms(-i64::try_from(fill_ms.min(LONGEST_FILL_MS)).unwrap_or(i64::MAX))
}

/// Whether more slots lie within a time to fill than luzia makes up.
pub fn fills_too_many(pattern: &Pattern, fill_ms: u64, now: Timestamp) -> bool {
    let within = successors(pattern.after(fill_begin(fill_ms, now)), pattern).take_while(|at| *at <= now);
    within.take(MOST_FILLED + 1).count() > MOST_FILLED
}

/// Whether a line has fewer slots than one a day.
pub fn is_rarer_than_daily(pattern: &Pattern, now: Timestamp) -> bool {
    let within = successors(pattern.after(now), pattern).take_while(|at| at.ms_since(now) <= FOUR_WEEKS_MS);
    within.take(28).count() < 28
}

fn last_of(next: Timestamp, pattern: &Pattern, now: Timestamp, windows_ms: &[i64]) -> Option<Timestamp> {
    let within = |window: &i64| {
        let begin = now.plus_ms(-window);
        let first = if next >= begin { Some(next) } else { pattern.after(begin.plus_ms(-1)) };
        successors(first, pattern).take_while(|at| *at <= now).last()
    };
    windows_ms.iter().find_map(within)
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

/// Whether the rule for overlaps may skip a slot although every missed slot is wanted.
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

    fn due_of(line: &str, next: &str, now: &str, fill: Fill) -> (Vec<String>, Option<String>) {
        let pattern = Pattern::parse(line, Zone::utc()).expect("a line");
        let found = due_from(Some(at(next)), fill, &pattern, at(now));
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
            assert_eq!(due_of(line, next, now, Fill::Last), (slots, Some(then.to_owned())), "{line} {next} {now}");
        }
    }

    /// Nobody looks for a week.
    #[test]
    fn a_long_gap_makes_few_tasks_a_look_and_no_more_than_its_time_holds() {
        let pattern = Pattern::parse("* * * * *", Zone::utc()).expect("a line");
        let day = Fill::Within(86_400_000);
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
        let (slots, then) =
            due_of("0 * * * *", "2026-11-20T09:00:00Z", "2026-11-24T08:30:00Z", Fill::Within(3 * 3_600_000));
        let hours = ["2026-11-24T06:00:00.000Z", "2026-11-24T07:00:00.000Z", "2026-11-24T08:00:00.000Z"];
        assert_eq!(
            (slots.as_slice(), then.as_deref()),
            (&hours.map(str::to_owned)[..], Some("2026-11-24T09:00:00.000Z"))
        );
        let (slots, then) =
            due_of("* * * * *", "2026-11-24T00:00:00Z", "2026-11-24T08:30:00Z", Fill::Within(86_400_000));
        assert_eq!((slots.len(), then.as_deref()), (MOST_AT_ONCE, Some("2026-11-24T00:20:00.000Z")));
    }

    proptest! {
        #[test]
        fn no_slot_is_made_twice_and_next_goes_forward(
            gaps in proptest::collection::vec(1i64..200_000, 1..12), fill in 0usize..3, line in 0usize..3,
        ) {
            let fill = [Fill::Last, Fill::Once, Fill::Within(3_600_000)][fill];
            let lines = ["* * * * *", "*/7 * * * *", "*/20 * * * * *"];
            let pattern = Pattern::parse(lines[line], Zone::utc()).expect("a line");
            let mut now = at("2026-11-24T00:00:00Z");
            let (mut next, mut made) = (pattern.after(now), Vec::new());
            for gap in gaps {
                now = now.plus_ms(gap);
                let found = due_from(next, fill, &pattern, now);
                let passed = std::iter::successors(next, |at| pattern.after(*at)).take_while(|at| *at <= now).count();
                prop_assert_eq!(found.slots.len() + found.missed.len(), passed);
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
    fn each_slot_that_makes_no_task_or_a_late_one_is_missed() {
        for (line, next, now, fill, slots, missed) in [
            // Sunday, and today is Wednesday.
            ("0 3 * * sun", "2026-11-22T03:00:00Z", "2026-11-25T08:00:00Z", Fill::Last, vec![], vec!["2026-11-22"]),
            (
                "0 3 * * sun",
                "2026-11-22T03:00:00Z",
                "2026-11-25T08:00:00Z",
                Fill::Once,
                vec!["2026-11-22"],
                vec!["2026-11-22"],
            ),
            (
                "0 3 1 */3 *",
                "2026-04-01T03:00:00Z",
                "2026-11-25T08:00:00Z",
                Fill::Once,
                vec!["2026-10-01"],
                vec!["2026-04-01", "2026-07-01", "2026-10-01"],
            ),
            (
                "0 3 1 1 *",
                "2022-01-01T03:00:00Z",
                "2026-11-25T08:00:00Z",
                Fill::Once,
                vec!["2026-01-01"],
                vec!["2022-01-01", "2023-01-01", "2024-01-01", "2025-01-01", "2026-01-01"],
            ),
            (
                "0 3 * * *",
                "2026-11-22T03:00:00Z",
                "2026-11-25T08:00:00Z",
                Fill::Last,
                vec!["2026-11-25"],
                vec!["2026-11-22", "2026-11-23", "2026-11-24"],
            ),
            (
                "0 3 * * *",
                "2026-11-22T03:00:00Z",
                "2026-11-25T08:00:00Z",
                Fill::Within(172_800_000),
                vec!["2026-11-24", "2026-11-25"],
                vec!["2026-11-22", "2026-11-23"],
            ),
            ("0 3 * * *", "2026-11-25T03:00:00Z", "2026-11-25T08:00:00Z", Fill::Last, vec!["2026-11-25"], vec![]),
        ] {
            let pattern = Pattern::parse(line, Zone::utc()).expect("a line");
            let found = due_from(Some(at(next)), fill, &pattern, at(now));
            let days = |slots: &[Timestamp]| slots.iter().map(|slot| slot.day()).collect::<Vec<_>>();
            assert_eq!(
                (days(&found.slots), days(&found.missed)),
                (slots.into_iter().map(str::to_owned).collect(), missed.into_iter().map(str::to_owned).collect()),
                "{line} {fill:?}"
            );
        }
    }

    #[test]
    fn lines_that_leave_days_out_are_rarer_than_daily() {
        for (line, is_rare) in [
            ("0 3 * * *", false),
            ("@daily", false),
            ("*/5 * * * *", false),
            ("0 3,15 * * *", false),
            ("30 2 * * *", false),
            ("0 3 * * sun", true),
            ("@weekly", true),
            ("@monthly", true),
            ("@yearly", true),
            ("0 3 1 */3 *", true),
            ("0 9 * * mon-fri", true),
        ] {
            let pattern = Pattern::parse(line, Zone::parse("Europe/Berlin").expect("a zone")).expect("a line");
            for now in ["2026-11-25T08:00:00Z", "2026-10-20T08:00:00Z", "2026-03-25T01:30:00Z"] {
                assert_eq!(is_rarer_than_daily(&pattern, at(now)), is_rare, "{line} {now}");
            }
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

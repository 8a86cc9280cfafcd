//! Limits of finished tasks, of kept logs, and of notes on the order of the two streams. Pure.
//!
//! `surplus` limits finished tasks by a number of days and a number of tasks; the first limit that is reached counts. A folder
//! for each day holds the tasks that ended on that day, so the oldest days are cut first. A task is kept for at least the days of
//! the configuration and for less than one day more. `cuts` limits the kept logs of a task, and `note_pause_ms` its notes on the
//! order of the two streams.

use crate::model::sorted::sort_by;
use crate::model::{Config, Timestamp};

const DAY_MS: i64 = 24 * 3_600_000;

/// A day with finished tasks, from its folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Day {
    /// The day in UTC as `2026-01-31`.
    pub name: String,
    /// Number of tasks that ended on the day.
    pub tasks: u64,
}

/// The part of one day that is to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The day.
    pub day: String,
    /// Number of the day's tasks to remove, those with the lowest numbers.
    pub tasks: u64,
    /// Whether the whole day is removed, including its events.
    pub is_whole: bool,
}

/// The first day that is kept if the number of tasks is below its limit. Earlier days are too old.
pub fn first_kept(config: &Config, now: Timestamp) -> String {
    now.plus_ms(-i64::from(config.retention_days).saturating_mul(DAY_MS)).day()
}

/// The tasks to remove, oldest first and at most `most` tasks at once.
pub fn surplus(mut days: Vec<Day>, config: &Config, now: Timestamp, most: u64) -> Vec<Cut> {
    sort_by(&mut days, |a, b| a.name.cmp(&b.name));
    let first_kept = first_kept(config, now);
    let total: u64 = days.iter().map(|day| day.tasks).sum();
    let mut too_many = total.saturating_sub(u64::from(config.retention_tasks));
    let mut room = most;
    let mut cuts = Vec::new();
    for day in days {
        let wanted = if day.name < first_kept { day.tasks } else { day.tasks.min(too_many) };
        too_many = too_many.saturating_sub(wanted);
        let tasks = wanted.min(room);
        room -= tasks;
        let is_whole = tasks == day.tasks;
        if tasks > 0 {
            cuts.push(Cut { day: day.name, tasks, is_whole });
        }
        if !is_whole {
            break;
        }
    }
    cuts
}

/// Logs are cut at multiples of this: every common file system frees blocks of this size, and none needs larger ones.
pub const GRAIN: u64 = 64 * 1024;
/// Number of notes before the pause between two of them doubles.
const NOTES: u32 = 1024;
/// The shortest and the longest pause between two notes, in milliseconds.
const PAUSE_MS: (u64, u64) = (10, 60_000);

/// The kept part of a log: the offset of its first byte that is kept, and its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Everything before this offset was freed.
    pub cut: u64,
    /// The length of the file, including the freed part.
    pub end: u64,
}

/// The offsets at which both logs of a task begin after a cut; `None` while both together are within `limit` bytes. A limit of
/// 0 means no limit. An eighth more than necessary is freed, so that a steady writer is not cut at every look. A stream that
/// takes less than half of the room keeps all its output.
pub fn cuts(limit: u64, logs: [Extent; 2]) -> Option<[u64; 2]> {
    let kept = logs.map(|log| log.end.saturating_sub(log.cut));
    if limit == 0 || kept[0].saturating_add(kept[1]) <= limit {
        return None;
    }
    let room = limit - limit / 8;
    let cut = |this: usize, other: usize| {
        let may_keep = (room / 2).max(room.saturating_sub(kept[other]));
        let Extent { cut, end } = logs[this];
        if kept[this] <= may_keep { cut } else { (end - may_keep).next_multiple_of(GRAIN).min(end) }
    };
    Some([cut(0, 1), cut(1, 0)])
}

/// The shortest pause between a note and the next one, in milliseconds. The notes of a task that writes for days stay below 2 MiB.
pub fn note_pause_ms(notes: u32) -> u64 {
    PAUSE_MS.0.checked_shl(notes / NOTES).unwrap_or(PAUSE_MS.1).clamp(PAUSE_MS.0, PAUSE_MS.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(at: i64, tasks: u64) -> Day {
        Day { name: Timestamp(at * DAY_MS).day(), tasks }
    }

    fn limits(retention_days: u32, retention_tasks: u32) -> Config {
        Config { retention_days, retention_tasks, ..Config::default() }
    }

    const NOW: Timestamp = Timestamp(100 * DAY_MS + 5);

    #[test]
    fn what_is_too_old_goes_and_what_is_not_stays() {
        let days = vec![day(100, 5), day(93, 2), day(92, 3), day(10, 1)];
        let cuts = surplus(days, &limits(7, 1000), NOW, 1000);
        let named: Vec<(String, u64, bool)> = cuts.into_iter().map(|cut| (cut.day, cut.tasks, cut.is_whole)).collect();
        assert_eq!(named, [(day(10, 0).name, 1, true), (day(92, 0).name, 3, true)]);
    }

    #[test]
    fn what_is_too_many_goes_from_the_oldest_day() {
        let cuts = surplus(vec![day(99, 4), day(100, 5)], &limits(7, 6), NOW, 1000);
        assert_eq!(cuts, [Cut { day: day(99, 0).name, tasks: 3, is_whole: false }]);
    }

    proptest! {
        #[test]
        fn both_limits_hold_after_enough_rounds_and_nothing_more_is_removed(
            counts in proptest::collection::vec(0_u64..40, 0..12),
            keep_days in 1_u32..12,
            keep_tasks in 1_u32..200,
            most in 1_u64..60,
        ) {
            let config = limits(keep_days, keep_tasks);
            let mut days: Vec<Day> = (0..).zip(&counts).map(|(ago, tasks)| day(100 - ago, *tasks)).collect();
            let total: u64 = counts.iter().sum();
            let too_old: u64 = counts.iter().skip(keep_days as usize + 1).sum();
            let kept = (total - too_old).min(u64::from(keep_tasks));
            for _ in 0..=total {
                let cuts = surplus(days.clone(), &config, NOW, most);
                prop_assert!(cuts.iter().map(|cut| cut.tasks).sum::<u64>() <= most);
                for cut in &cuts {
                    let cut_day = days.iter_mut().find(|day| day.name == cut.day).expect("a day that was offered");
                    cut_day.tasks -= cut.tasks;
                    prop_assert_eq!(cut.is_whole, cut_day.tasks == 0);
                }
                // Nothing is removed from a day while an older one has tasks left.
                let newest = cuts.last().map(|cut| cut.day.clone());
                let is_left = |day: &&Day| day.tasks > 0 && newest.as_ref().is_some_and(|newest| day.name < *newest);
                prop_assert_eq!(days.iter().find(is_left), None);
                if cuts.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(days.iter().map(|day| day.tasks).sum::<u64>(), kept);
        }
    }

    const MIB: u64 = 1024 * 1024;

    fn at(cut: u64, end: u64) -> Extent {
        Extent { cut, end }
    }

    #[test]
    fn logs_within_the_limit_and_logs_without_one_are_left_alone() {
        assert_eq!(cuts(MIB, [at(0, MIB), at(0, 0)]), None);
        assert_eq!(cuts(MIB, [at(9 * MIB, 10 * MIB), at(0, 0)]), None);
        assert_eq!(cuts(0, [at(0, u64::MAX), at(0, u64::MAX)]), None);
    }

    #[test]
    fn the_newest_bytes_are_kept_and_a_small_stream_keeps_everything() {
        assert_eq!(cuts(MIB, [at(0, 4 * MIB), at(0, 1000)]), Some([3 * MIB + 3 * GRAIN, 0]));
        assert_eq!(cuts(MIB, [at(0, 1000), at(0, 4 * MIB)]), Some([0, 3 * MIB + 3 * GRAIN]));
        assert_eq!(cuts(MIB, [at(0, 4 * MIB), at(0, 4 * MIB)]), Some([3 * MIB + 9 * GRAIN, 3 * MIB + 9 * GRAIN]));
    }

    proptest::proptest! {
        #[test]
        fn a_cut_frees_enough_and_nothing_that_is_not_there(
            limit in MIB..1 << 40, cut in [0..1_u64 << 40, 0..1 << 40], more in [0..1_u64 << 40, 0..1 << 40]
        ) {
            let logs = [0, 1].map(|n| at(cut[n] / GRAIN * GRAIN, cut[n] / GRAIN * GRAIN + more[n]));
            if let Some(new) = cuts(limit, logs) {
                let left: u64 = [0, 1].iter().map(|n| logs[*n].end - new[*n]).sum();
                assert!(left <= limit - limit / 8, "{left} of {limit}");
                assert!(left + 2 * GRAIN + limit / 8 >= limit, "no more than that: {left} of {limit}");
                assert!((0..2).all(|n| new[n] >= logs[n].cut && new[n] <= logs[n].end));
            }
        }
    }

    #[test]
    fn notes_of_a_long_task_become_rare() {
        assert_eq!([0, NOTES, 3 * NOTES, u32::MAX].map(note_pause_ms), [10, 20, 80, 60_000]);
        let (mut ms, mut notes) = (0, 0);
        while ms < 30 * 24 * 3_600_000 {
            ms += note_pause_ms(notes);
            notes += 1;
        }
        assert!(notes < 70_000, "{notes}");
    }
}

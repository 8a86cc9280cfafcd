//! Limits of the kept logs of a task, and of the notes on the order of the two streams. Pure.

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

//! A tally of the queue, for whoever wants to know how long it is: how many records each of its folders held, with the
//! time of the last change of that folder. A daemon keeps it. A number in it counts as long as its folder has that very
//! time; every other folder is listed. Nothing is decided by it.

use super::error::{Result, StoreError};
use super::pending::Standing;
use super::{Store, layout};
use crate::model::{Priority, Tier, Timestamp};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// How long ago a folder must have changed for its number to be entered, in milliseconds: one that changes again within the
/// same tick of the file system's clock keeps its time. A tick is 10 ms at most; a few file systems count whole seconds.
const SETTLED_MS: i64 = 2_000;
/// A queue with fewer folders is counted in an instant and needs no tally.
const FEWEST_FOLDERS: usize = 500;
/// How many folders are listed at most when a tally is brought up to date; the rest has its turn next time.
const LISTED_AT_ONCE: usize = 2_000;
/// The largest tally that is read, in bytes: of about a million folders.
const MAX_TALLY_BYTES: u64 = 64 * 1024 * 1024;
/// The first line.
const HEADING: &str = "luzia tally 1";

/// What one folder held.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Counted {
    /// When it last changed; `None` when nobody looked.
    changed: Option<Timestamp>,
    records: u64,
    /// Of a lane.
    segments: Vec<u64>,
}

/// What is known of folders, each by its path below `pending`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Tally(HashMap<String, Counted>);

impl FromStr for Tally {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut lines = text.strip_suffix('\n').ok_or(())?.split('\n');
        if lines.next() != Some(HEADING) {
            return Err(());
        }
        let folder = |line: &str| {
            let mut words = line.split(' ');
            let (name, changed, records) = (words.next()?, words.next()?, words.next()?);
            let segments: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
            let changed = Some(Timestamp(changed.parse().ok()?));
            Some((name.to_owned(), Counted { changed, records: records.parse().ok()?, segments: segments? }))
        };
        lines.map(folder).collect::<Option<_>>().map(Self).ok_or(())
    }
}

impl Tally {
    fn to_text(&self) -> String {
        let mut text = format!("{HEADING}\n");
        for (name, Counted { changed, records, segments }) in &self.0 {
            let Some(changed) = changed else { continue };
            let _ = write!(text, "{name} {} {records}", changed.0);
            for segment in segments {
                let _ = write!(text, " {segment}");
            }
            text.push('\n');
        }
        text
    }
}

impl Store {
    /// How many tasks are pending in each tier; by names only.
    pub(crate) fn count_pending(&self) -> Result<[u64; 3]> {
        let mut counts = [0; 3];
        for (priority, _, counted) in self.count_folders(&self.tally()?, false, usize::MAX)? {
            counts[priority.tier().index()] += counted.records;
        }
        Ok(counts)
    }

    /// Brings the tally up to date as far as a bounded number of listings goes, and forgets it when the queue is short.
    pub fn refresh_tally(&self) -> Result<()> {
        let (now, before) = (self.clock.now(), self.tally()?);
        let folders = self.count_folders(&before, true, LISTED_AT_ONCE)?;
        if folders.len() < FEWEST_FOLDERS {
            return self.unlink(layout::TALLY).map(drop);
        }
        let is_settled = |counted: &Counted| counted.changed.is_some_and(|at| now.ms_since(at) > SETTLED_MS);
        let settled = folders.into_iter().filter(|(.., counted)| is_settled(counted));
        let tally = Tally(settled.map(|(_, name, counted)| (name, counted)).collect());
        if tally == before {
            return Ok(());
        }
        let tmp = layout::tally_tmp(self.me.pid);
        self.replace(&tmp, layout::TALLY, ".", tally.to_text().as_bytes(), false)
    }

    /// The tally as it was written last; an empty one where it does not read, because it is a hint.
    fn tally(&self) -> Result<Tally> {
        let text = match self.read_within(layout::TALLY, MAX_TALLY_BYTES) {
            Err(StoreError::Corrupt { .. }) => None,
            other => other?,
        };
        Ok(text.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok()).unwrap_or_default())
    }

    /// Every folder of pending tasks with its priority, its path below `pending` and what it holds. Of those that are not as
    /// `known` has them, `most` are listed and the others left out. With `times`, also when each last changed.
    fn count_folders(&self, known: &Tally, times: bool, most: usize) -> Result<Vec<(Priority, String, Counted)>> {
        let times = times || !known.0.is_empty();
        let mut lanes = Vec::new();
        for priority in Tier::ALL.into_iter().flat_map(Tier::priorities) {
            let stems = self.folders(&layout::pending_tier(priority))?;
            lanes.extend(stems.into_iter().map(|stem| (priority, format!("{}/{stem}", priority.number()))));
        }
        let mut left = most;
        let mut counted = self.count_some(lanes, known, times, &mut left)?;
        let segments = counted.iter().flat_map(|(priority, lane, counted)| {
            counted.segments.iter().map(|segment| (*priority, layout::segment_of_lane(lane, *segment)))
        });
        let segments = self.count_some(segments.collect(), known, times, &mut left)?;
        counted.extend(segments);
        Ok(counted)
    }

    fn count_some(
        &self,
        folders: Vec<(Priority, String)>,
        known: &Tally,
        times: bool,
        left: &mut usize,
    ) -> Result<Vec<(Priority, String, Counted)>> {
        let paths: Vec<String> = folders.iter().map(|(_, name)| format!("{}/{name}", layout::PENDING)).collect();
        // The times first: what changes while it is listed has another one afterwards.
        let times = if times { self.times_of_change(&paths)? } else { vec![None; paths.len()] };
        let as_known = |name: &str, time: Option<Timestamp>| {
            known.0.get(name).filter(|counted| time.is_some() && counted.changed == time).cloned()
        };
        let mut found: Vec<Option<Counted>> =
            folders.iter().zip(&times).map(|((_, name), time)| as_known(name, *time)).collect();
        let unknown: Vec<usize> = (0..found.len()).filter(|at| found[*at].is_none()).take(*left).collect();
        *left -= unknown.len();
        let to_list: Vec<String> = unknown.iter().map(|at| paths[*at].clone()).collect();
        self.list_each(&to_list, &mut |at, entries| {
            let Standing { records, segments } = Standing::from(&*entries);
            let at = unknown[at];
            found[at] = Some(Counted { changed: times[at], records: records.len() as u64, segments });
            true
        })?;
        let of_folder = |((priority, name), counted): (_, Option<Counted>)| Some((priority, name, counted?));
        Ok(folders.into_iter().zip(found).filter_map(of_folder).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tally_is_read_as_it_was_written(
            folders in prop::collection::hash_map("[0-9]/user_[a-z=0-9]{1,8}(/[0-9]{1,3})?", (0..i64::MAX, any::<u64>(), prop::collection::vec(any::<u64>(), 0..4)), 0..20),
        ) {
            let counted = |(changed, records, segments)| Counted { changed: Some(Timestamp(changed)), records, segments };
            let tally = Tally(folders.into_iter().map(|(name, folder)| (name, counted(folder))).collect());
            prop_assert_eq!(tally.to_text().parse(), Ok(tally));
        }

        #[test]
        fn a_tally_that_is_cut_off_is_none(records in 0..100_u64, cut in 1..40_usize) {
            let counted = Counted { changed: Some(Timestamp(1_795_300_000_123)), records, segments: vec![7] };
            let text = Tally(HashMap::from([("5/user_a".to_owned(), counted)])).to_text();
            let cut = &text[..text.len().saturating_sub(cut)];
            prop_assert!(cut.parse::<Tally>().is_err() || cut.parse() == Ok(Tally::default()));
        }
    }
}

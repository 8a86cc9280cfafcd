//! A tally of the queue, for whoever wants to know how long it is: how many records each of its folders held, with the
//! time of the last change of that folder. A daemon keeps it. A number in it counts as long as its folder has that very
//! time; every other folder is listed. Only numbers for people come from it.

use super::error::Result;
use super::pending::{Lane, Standing};
use super::publish::number;
use super::{Store, layout};
use crate::model::{Priority, Timestamp};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// How long ago a folder must have changed for its number to be entered, in milliseconds: one that changes again within the
/// same tick of the file system's clock keeps its time. A tick is 10 ms at most; a few file systems count whole seconds.
const SETTLED_MS: i64 = 2_000;
/// A queue with fewer folders is counted in an instant and needs no tally.
const FEWEST_FOLDERS: usize = 500;
/// How many folders are listed at most when a tally is brought up to date; the rest has its turn next time.
const MOST_LISTED: usize = 2_000;
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

/// A folder of pending tasks.
struct Folder {
    priority: Priority,
    path: String,
    /// `None` when it was not counted.
    counted: Option<Counted>,
}

/// Which folders are listed that are not as a tally has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listing {
    /// All: somebody wants to know.
    Whole,
    /// Some of those that had last changed before this moment: their numbers can be entered in a tally.
    Settled { before: Timestamp, most: usize },
}

/// What is known of folders, each by its path.
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
            let (path, changed, records) = (words.next()?, words.next()?, words.next()?);
            let segments: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
            let changed = Some(Timestamp(changed.parse().ok()?));
            Some((path.to_owned(), Counted { changed, records: records.parse().ok()?, segments: segments? }))
        };
        lines.map(folder).collect::<Option<_>>().map(Self).ok_or(())
    }
}

impl Tally {
    /// What it has of a folder that last changed at a time.
    fn of(&self, path: &str, changed: Option<Timestamp>) -> Option<&Counted> {
        self.0.get(path).filter(|counted| changed.is_some() && counted.changed == changed)
    }

    fn to_text(&self) -> String {
        let mut text = format!("{HEADING}\n");
        for (path, Counted { changed, records, segments }) in &self.0 {
            let Some(changed) = changed else { continue };
            let _ = write!(text, "{path} {} {records}", changed.0);
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
        let mut counts = [0_u64; 3];
        for Folder { priority, counted, .. } in self.count_folders(&self.tally(), Listing::Whole)? {
            let count = &mut counts[priority.tier().index()];
            *count = count.saturating_add(counted.map_or(0, |counted| counted.records));
        }
        Ok(counts)
    }

    /// Brings the tally up to date as far as a bounded number of listings goes, and forgets it when the queue is short.
    pub fn refresh_tally(&self) -> Result<()> {
        let before = Timestamp(self.clock.now().0.saturating_sub(SETTLED_MS));
        let known = self.tally();
        let folders = self.count_folders(&known, Listing::Settled { before, most: MOST_LISTED })?;
        if folders.len() < FEWEST_FOLDERS {
            return self.unlink(layout::TALLY).map(drop);
        }
        let counted = folders.into_iter().filter_map(|folder| Some((folder.path, folder.counted?)));
        // A foreign name could be anything.
        let tally = Tally(counted.filter(|(path, _)| !path.contains(char::is_whitespace)).collect());
        if tally == known {
            return Ok(());
        }
        let tmp = layout::tally_tmp(self.me.pid);
        self.replace(&tmp, layout::TALLY, tally.to_text().as_bytes())
    }

    /// The tally as it was written last; an empty one where it does not read, because it is a hint.
    fn tally(&self) -> Tally {
        let text = self.read_within(layout::TALLY, MAX_TALLY_BYTES).ok().flatten();
        text.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok()).unwrap_or_default()
    }

    /// Every folder of pending tasks: the lanes, and those of their segments that are known; of a queue that needs no tally
    /// the lanes only, when it is for one.
    fn count_folders(&self, known: &Tally, mut listing: Listing) -> Result<Vec<Folder>> {
        let folder = |(priority, stem): Lane| (priority, layout::pending_lane(priority, &stem));
        let lanes = self.lanes()?.into_iter().map(folder).collect();
        let mut folders = self.count_some(lanes, known, &mut listing)?;
        let mut segments = Vec::new();
        for Folder { priority, path, counted } in &folders {
            let numbers = counted.iter().flat_map(|counted| &counted.segments);
            segments.extend(numbers.map(|number| (*priority, layout::segment_of_lane(path, *number))));
        }
        if listing == Listing::Whole || folders.len() + segments.len() >= FEWEST_FOLDERS {
            folders.extend(self.count_some(segments, known, &mut listing)?);
        }
        Ok(folders)
    }

    fn count_some(
        &self,
        folders: Vec<(Priority, String)>,
        known: &Tally,
        listing: &mut Listing,
    ) -> Result<Vec<Folder>> {
        let (priorities, paths): (Vec<Priority>, Vec<String>) = folders.into_iter().unzip();
        // The times first: what changes while it is listed has another one afterwards.
        let is_new = known.0.is_empty() && *listing == Listing::Whole;
        let times = if is_new { vec![None; paths.len()] } else { self.times_of_change(&paths)? };
        let mut found: Vec<Option<Counted>> =
            paths.iter().zip(&times).map(|(path, time)| known.of(path, *time).cloned()).collect();
        let mut unknown: Vec<usize> = (0..found.len()).filter(|at| found[*at].is_none()).collect();
        if let Listing::Settled { before, most } = listing {
            unknown.retain(|at| times[*at].is_some_and(|time| time < *before));
            unknown.truncate(*most);
            *most -= unknown.len();
        }
        let to_list: Vec<String> = unknown.iter().map(|at| paths[*at].clone()).collect();
        self.list_each(&to_list, &mut |at, entries| {
            let Standing { records, segments } = Standing::from(&*entries);
            let at = unknown[at];
            found[at] = Some(Counted { changed: times[at], records: number(records.len()), segments });
            true
        })?;
        let folder = |((priority, path), counted)| Folder { priority, path, counted };
        Ok(priorities.into_iter().zip(paths).zip(found).map(folder).collect())
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

//! Overviews: counts of pending tasks by names only, the records of a place, and what `doctor` looks at. Changes nothing.

use super::error::{Result, StoreError};
use super::spool::Place;
use super::{Store, layout, spelling};
use crate::model::{LaneName, Name, Priority, Task, TaskId, Tier};
use crate::os::FileKind;
use std::collections::{BTreeMap, VecDeque};

/// How many tasks stand where.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Pending tasks by tier: high, normal, low.
    pub pending: [u64; 3],
    /// Parked tasks: not due, or after another.
    pub parked: u64,
}

impl Counts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.pending.iter().sum::<u64>() + self.parked
    }
}

/// Something in the state directory that should not be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub path: String,
    /// What.
    pub what: String,
}

/// Folders whose records belong together in the order of their numbers, each with its place.
type Shelf = Vec<(Place, String)>;

/// A listing of records, read one by one. A shelf is only listed when its turn comes, so the first records of a long
/// queue cost no more than those of a short one, and a task that has moved on meanwhile is in a later shelf.
pub struct Survey<'a> {
    store: &'a Store,
    shelves: VecDeque<Shelf>,
    ids: std::vec::IntoIter<(Place, TaskId, String)>,
}

impl Survey<'_> {
    /// Lists the next shelf; false when there is none.
    fn turn_to_next(&mut self) -> Result<bool> {
        let Some(shelf) = self.shelves.pop_front() else { return Ok(false) };
        let mut found = Vec::new();
        for (place, folder) in shelf {
            let path = |id: TaskId| format!("{folder}/{}.json", id.0);
            found.extend(self.store.records(&folder)?.into_iter().map(|id| (place, id, path(id))));
        }
        found.sort_unstable_by_key(|(_, id, _)| *id);
        self.ids = found.into_iter();
        Ok(true)
    }
}

impl Iterator for Survey<'_> {
    type Item = Result<Task>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((place, id, path)) = self.ids.next() else {
                match self.turn_to_next() {
                    Ok(true) => continue,
                    Ok(false) => return None,
                    Err(error) => return Some(Err(error)),
                }
            };
            match self.store.read_record(place, &path, id) {
                // It moved on since the listing; ask for it by its number.
                Ok(None) => match self.store.find(id) {
                    Ok(Some((_, task))) => return Some(Ok(task)),
                    Ok(None) => {}
                    Err(error) => return Some(Err(error)),
                },
                read => return read.transpose(),
            }
        }
    }
}

impl Store {
    /// The lane of a folder of pending tasks: by its name, or, for a hashed name, by the first record in it.
    pub fn pending_lane_name(&self, stem: &str) -> Result<Option<LaneName>> {
        if let Some(lane) = LaneName::from_stem(stem) {
            return Ok(Some(lane).filter(LaneName::is_user));
        }
        if !stem.starts_with("user_=h") {
            return Ok(None);
        }
        for tier in Tier::ALL {
            let Some(head) = self.head(tier, stem)? else { continue };
            let path = layout::pending_at(head.priority, stem, head.id);
            let record = self.read(&path).and_then(|bytes| {
                bytes.map(|bytes| self.read_task(Place::Pending, &path, &bytes, head.id)).transpose()
            });
            match record {
                Ok(Some(task)) => return Ok(Some(LaneName::user(&task.user)).filter(|lane| lane.stem() == stem)),
                Ok(None) | Err(StoreError::Newer { .. }) => {}
                Err(error @ StoreError::Corrupt { .. }) => self.set_aside(&path, &error)?,
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Counts pending tasks by names only.
    pub fn counts(&self) -> Result<Counts> {
        let mut counts = Counts::default();
        for (at, tier) in Tier::ALL.into_iter().enumerate() {
            for priority in tier.priorities() {
                for lane in self.folders(&layout::pending_tier(priority))? {
                    counts.pending[at] += self.count_lane(priority, &lane)?;
                }
            }
        }
        for segment in self.numbered_folders(layout::PARKED)? {
            counts.parked += self.count_records(&layout::parked_segment(segment))?;
        }
        Ok(counts)
    }

    fn count_lane(&self, priority: Priority, stem: &str) -> Result<u64> {
        let segments = self.numbered_folders(&layout::pending_lane(priority, stem))?.into_iter();
        segments.map(|segment| self.count_records(&layout::pending_segment(priority, stem, segment))).sum()
    }

    fn count_records(&self, folder: &str) -> Result<u64> {
        Ok(u64::try_from(self.records(folder)?.len()).unwrap_or(u64::MAX))
    }

    /// The pending tasks of every lane, or of one user, in the order of their numbers.
    pub fn pending_tasks(&self, user: Option<&Name>) -> Result<Survey<'_>> {
        // A segment holds a thousand numbers, so the folders of one segment in all lanes are one shelf.
        let mut segments: BTreeMap<u64, Shelf> = self.parked_segments()?;
        let wanted = user.map(|user| LaneName::user(user).stem());
        for priority in Tier::ALL.into_iter().flat_map(Tier::priorities) {
            for lane in self.folders(&layout::pending_tier(priority))? {
                if wanted.as_ref().is_some_and(|stem| *stem != lane) {
                    continue;
                }
                for number in self.numbered_folders(&layout::pending_lane(priority, &lane))? {
                    let folder = layout::pending_segment(priority, &lane, number);
                    segments.entry(number).or_default().push((Place::Pending, folder));
                }
            }
        }
        Ok(self.survey(segments.into_values()))
    }

    /// The tasks outside the scan: not due, or after others.
    pub fn parked_tasks(&self) -> Result<Survey<'_>> {
        Ok(self.survey(self.parked_segments()?.into_values()))
    }

    fn parked_segments(&self) -> Result<BTreeMap<u64, Shelf>> {
        let mut segments: BTreeMap<u64, Shelf> = BTreeMap::new();
        for number in self.numbered_folders(layout::PARKED)? {
            segments.entry(number).or_default().push((Place::Parked, layout::parked_segment(number)));
        }
        Ok(segments)
    }

    /// The tasks that run or wait for an event.
    pub fn started_tasks(&self) -> Survey<'_> {
        let shelf = vec![(Place::Running, layout::RUNNING.to_owned()), (Place::Waiting, layout::WAITING.to_owned())];
        self.survey([shelf])
    }

    /// The tasks that are over.
    pub fn done_tasks(&self) -> Result<Survey<'_>> {
        let days = self.folders(layout::DONE)?.into_iter();
        Ok(self.survey([days.map(|day| (Place::Done, layout::done_day(&day))).collect()]))
    }

    fn survey(&self, shelves: impl IntoIterator<Item = Shelf>) -> Survey<'_> {
        Survey { store: self, shelves: shelves.into_iter().collect(), ids: Vec::new().into_iter() }
    }

    /// How many pending tasks one user's lane has, by names only.
    pub fn lane_depth(&self, stem: &str) -> Result<u64> {
        let priorities = Tier::ALL.into_iter().flat_map(Tier::priorities);
        priorities.map(|priority| self.count_lane(priority, stem)).sum()
    }

    /// Whether no task is pending and none is parked; the cheap question before counting.
    pub fn is_queue_empty(&self) -> Result<bool> {
        let has_work = self.lanes_with_work()?.values().any(|lanes| !lanes.is_empty());
        Ok(!has_work && self.folders(layout::PARKED)?.is_empty())
    }

    /// Whether the state directory still stands under its name.
    pub fn is_still_there(&self) -> Result<bool> {
        Ok(self.meta(layout::FORMAT)?.is_some())
    }

    /// How many pending tasks of one tier a user's lane has, by names only.
    pub fn tier_depth(&self, tier: Tier, stem: &str) -> Result<u64> {
        tier.priorities().map(|priority| self.count_lane(priority, stem)).sum()
    }

    /// How many pending tasks each user's lane has, by names only.
    pub fn lane_depths(&self) -> Result<BTreeMap<String, u64>> {
        let mut depths = BTreeMap::new();
        for priority in Tier::ALL.into_iter().flat_map(Tier::priorities) {
            for lane in self.folders(&layout::pending_tier(priority))? {
                let depth = self.count_lane(priority, &lane)?;
                *depths.entry(lane).or_insert(0) += depth;
            }
        }
        Ok(depths)
    }

    /// The records that were set aside.
    pub fn set_aside_records(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = self
            .list(layout::CORRUPT)?
            .into_iter()
            .map(|entry| format!("{}/{}", layout::CORRUPT, entry.name))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Names in the spool that luzia did not make; they are never touched.
    pub fn foreign_names(&self) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let mut look = |folder: &str, ours: &dyn Fn(&str, FileKind) -> bool| -> Result<()> {
            for entry in self.list(folder)? {
                if !ours(&entry.name, entry.kind) {
                    let what = "luzia did not make this, and leaves it alone".to_owned();
                    problems.push(Problem { path: format!("{folder}/{}", entry.name), what });
                }
            }
            Ok(())
        };
        let is_record = |name: &str, kind: FileKind| kind == FileKind::File && layout::id_in(name).is_some();
        look(layout::RUNNING, &|name, kind| kind == FileKind::File && layout::id_in_flight(name).is_some())?;
        look(layout::WAITING, &is_record)?;
        look(layout::RUN, &|name, kind| kind == FileKind::Dir && spelling::task(name).is_some())?;
        look(layout::PENDING, &|name, kind| {
            kind == FileKind::Dir && name.len() == 1 && name.as_bytes()[0].is_ascii_digit()
        })?;
        for priority in Tier::ALL.into_iter().flat_map(Tier::priorities) {
            let tier = layout::pending_tier(priority);
            look(&tier, &|name, kind| kind == FileKind::Dir && name.starts_with("user_"))?;
            for lane in self.folders(&tier)? {
                let folder = layout::pending_lane(priority, &lane);
                look(&folder, &|name, kind| kind == FileKind::Dir && name.parse::<u64>().is_ok())?;
                for segment in self.folders(&folder)? {
                    look(&format!("{folder}/{segment}"), &is_record)?;
                }
            }
        }
        Ok(problems)
    }

    /// Opens the lock that long-running dispatchers share; held while the handle lives. With `probe`, only tells whether
    /// anybody holds it: `None` means nobody does.
    pub fn join_dispatchers(&self) -> Result<Box<dyn crate::os::Handle>> {
        let path = layout::DISPATCHERS;
        let mut handle = loop {
            if let Some(handle) = self.open(path, crate::os::Open::Existing)? {
                break handle;
            }
            if let Some(handle) = self.open(path, crate::os::Open::CreateNew(0o600))? {
                break handle;
            }
        };
        while !handle.try_lock(true).map_err(StoreError::io("lock", path))? {
            self.clock.sleep(std::time::Duration::from_millis(1));
        }
        Ok(handle)
    }

    /// Whether a daemon, a `run` or a `dispatch --drain` is at work.
    pub fn has_dispatcher(&self) -> Result<bool> {
        // For reading only, because on a read-only file system there is still something to show.
        let Some(mut handle) = self.open(layout::DISPATCHERS, crate::os::Open::ReadOnly)? else { return Ok(false) };
        let path = layout::DISPATCHERS;
        let free = handle.try_lock(false).map_err(StoreError::io("lock", path))?;
        if free {
            handle.unlock().map_err(StoreError::io("unlock", path))?;
        }
        Ok(!free)
    }
}

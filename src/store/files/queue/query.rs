//! Overviews: counts of pending tasks by names only, the records of a place, and the checks of `doctor`. Changes nothing.

use crate::model::sorted::{map_of, sort_by_key};
use crate::model::{LaneName, Name, Priority, QueueName, Task, TaskId, Tier};
use crate::os::FileKind;
use crate::store::files::disk::publish::{number, records_in};
use crate::store::files::queue::pending::{Lane, is_queue_of};
use crate::store::{Head, Part, Place, Result, Spool, StoreError, file_name, layout};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Numbers of tasks by place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Pending tasks by tier: high, normal, low.
    pub pending: [u64; 3],
    /// Parked tasks: not due, or after another.
    pub parked: u64,
    /// Pending tasks by user; users whose name is too long for the name of a folder are left out.
    pub users: BTreeMap<String, u64>,
    /// The pending task of the lowest number.
    pub oldest: Option<Head>,
}

/// Something in the state directory that should not be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The path of the file.
    pub path: String,
    /// The fault of the file.
    pub what: String,
}

/// Records that belong together in the order of their numbers: known ones, and those of some folders.
#[derive(Default)]
struct Shelf {
    /// Records in the folders of lanes. A queue may have very many, so the paths are made when they are needed.
    known: Vec<(Lane, TaskId)>,
    folders: Vec<(Place, String)>,
}

impl Shelf {
    fn of(folders: impl IntoIterator<Item = (Place, String)>) -> Self {
        Self { known: Vec::new(), folders: folders.into_iter().collect() }
    }
}

/// A listing of records, of which the descriptions are read one by one. The folders of a shelf are only listed when its turn
/// comes, so the first records of a long queue cost no more than those of a short one. A task that has moved on meanwhile is
/// found where it is then.
pub struct Survey<'a> {
    store: &'a Spool,
    part: Part<'a>,
    shelves: VecDeque<Shelf>,
    ids: std::vec::IntoIter<(Place, TaskId, String)>,
}

impl Survey<'_> {
    /// Like `all_tasks`, with whole records, so that each damage of a record is an error.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { part: Part::Whole, ..self }
    }

    /// Lists the next shelf; false after the last one.
    fn turn_to_next(&mut self) -> Result<bool> {
        let Some(shelf) = self.shelves.pop_front() else { return Ok(false) };
        let path = |((priority, stem), id): (Lane, TaskId)| {
            (Place::Pending, id, layout::record_in(&layout::pending_lane(priority, &stem), id))
        };
        let mut found: Vec<_> = shelf.known.into_iter().map(path).collect();
        let (places, folders): (Vec<Place>, Vec<String>) = shelf.folders.into_iter().unzip();
        self.store.list_each(&folders, &mut |at, entries| {
            found.extend(records_in(&entries).map(|id| (places[at], id, layout::record_in(&folders[at], id))));
            true
        })?;
        sort_by_key(&mut found, |(_, id, _)| *id);
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
            match self.store.read_part(self.part, place, &path, id) {
                // It moved on since the listing; look for it by its number.
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

impl Spool {
    /// The user's lane of a queue: by its name, or, for a hashed name, by the first record in it.
    pub fn pending_lane_name(&self, queue: &str) -> Result<Option<LaneName>> {
        let Some(name) = QueueName::parse(queue) else { return Ok(None) };
        if let Some(user) = name.user() {
            return Ok(Some(LaneName::user(&user)));
        }
        if !name.user_stem.starts_with("user_=h") {
            return Ok(None);
        }
        for tier in Tier::ALL {
            let Some(head) = self.head(tier, queue)? else { continue };
            let (_, record) = self.read_pending(Part::Whole, head.priority, queue, head.id);
            match record {
                Ok(Some((task, _))) => {
                    return Ok(Some(LaneName::user(&task.user)).filter(|lane| lane.stem() == name.user_stem));
                }
                Ok(None) | Err(StoreError::Newer { .. }) => {}
                Err(error @ StoreError::Corrupt { .. }) => self.set_aside(&error)?,
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Counts pending tasks by names only.
    pub fn counts(&self) -> Result<Counts> {
        let mut counts = Counts::default();
        self.each_pending(&|_| true, &mut |priority, queue, ids| {
            counts.pending[priority.tier().index()] += number(ids.len());
            if let Some(id) =
                ids.iter().copied().min().filter(|id| counts.oldest.as_ref().is_none_or(|old| *id < old.id))
            {
                counts.oldest = Some(Head { queue: queue.to_string(), priority, id });
            }
            let user = QueueName::parse(queue).and_then(|name| name.user()).filter(|_| !ids.is_empty());
            if let Some(user) = user {
                *counts.users.entry(user.to_string()).or_default() += number(ids.len());
            }
            true
        })?;
        counts.parked = self.count_in(&self.parked_folders()?)?;
        Ok(counts)
    }

    /// Whether more than `most` tasks are parked, or pending in a queue that `counts`; the count ends when the answer is
    /// known.
    pub fn has_more_waiting_than(&self, most: u64, counts: &dyn Fn(&str) -> bool) -> Result<bool> {
        let mut total = 0;
        let mut add = |count| {
            total += count;
            total <= most
        };
        self.list_each(&self.parked_folders()?, &mut |_, entries| add(number(records_in(&entries).count())))?;
        self.each_pending(counts, &mut |_, _, ids| add(number(ids.len())))?;
        Ok(total > most)
    }

    /// Number of pending tasks in one user's lane, by names only.
    pub fn lane_depth(&self, lane: &LaneName) -> Result<u64> {
        let stem = lane.stem();
        self.depth_where(&|queue| is_queue_of(queue, &stem), &|_| true)
    }

    /// Number of pending tasks of a queue in a tier.
    pub fn tier_depth(&self, tier: Tier, queue: &str) -> Result<u64> {
        self.depth_where(&|name| name == queue, &|priority| priority.tier() == tier)
    }

    fn depth_where(&self, wanted: &dyn Fn(&str) -> bool, counts: &dyn Fn(Priority) -> bool) -> Result<u64> {
        let mut depth = 0;
        self.each_pending(wanted, &mut |priority, _, ids| {
            depth += if counts(priority) { number(ids.len()) } else { 0 };
            true
        })?;
        Ok(depth)
    }

    /// Counts the records in some folders.
    fn count_in(&self, folders: &[String]) -> Result<u64> {
        let mut total = 0;
        self.list_each(folders, &mut |_, entries| {
            total += number(records_in(&entries).count());
            true
        })?;
        Ok(total)
    }

    fn parked_folders(&self) -> Result<Vec<String>> {
        Ok(self.numbered_folders(layout::PARKED)?.into_iter().map(layout::parked_segment).collect())
    }

    /// The pending tasks of every lane, or of one user, in the order of their numbers.
    pub fn pending_tasks(&self, user: Option<&Name>) -> Result<Survey<'_>> {
        // A segment holds a thousand numbers, so one segment of all lanes is one shelf.
        let mut shelves: BTreeMap<u64, Shelf> = self.parked_segments()?;
        let wanted = user.map(|user| LaneName::user(user).stem());
        let is_wanted = |queue: &str| wanted.as_ref().is_none_or(|stem| is_queue_of(queue, stem));
        self.each_lane(&is_wanted, &mut |priority, stem, standing| {
            for id in standing.records {
                let shelf = shelves.entry(layout::segment(id)).or_default();
                shelf.known.push(((priority, Arc::clone(stem)), id));
            }
            let lane = layout::pending_lane(priority, stem);
            for segment in standing.segments {
                let folder = (Place::Pending, layout::segment_of_lane(&lane, segment));
                shelves.entry(segment).or_default().folders.push(folder);
            }
            true
        })?;
        Ok(self.survey(shelves.into_values()))
    }

    /// The tasks outside the scan: not due, or after others.
    pub fn parked_tasks(&self) -> Result<Survey<'_>> {
        Ok(self.survey(self.parked_segments()?.into_values()))
    }

    fn parked_segments(&self) -> Result<BTreeMap<u64, Shelf>> {
        let shelf = |number| (number, Shelf::of([(Place::Parked, layout::parked_segment(number))]));
        Ok(map_of(self.numbered_folders(layout::PARKED)?.into_iter().map(shelf)))
    }

    /// The tasks that run or wait for an event.
    pub fn started_tasks(&self) -> Survey<'_> {
        let places = [(Place::Running, layout::RUNNING), (Place::Waiting, layout::WAITING)];
        self.survey([Shelf::of(places.map(|(place, folder)| (place, folder.to_owned())))])
    }

    /// The finished tasks.
    pub fn done_tasks(&self) -> Result<Survey<'_>> {
        let days = self.folders(layout::DONE)?.into_iter();
        Ok(self.survey([Shelf::of(days.map(|day| (Place::Done, layout::done_day(&day))))]))
    }

    /// Number of finished tasks.
    pub fn finished_count(&self) -> Result<u64> {
        let days: Vec<String> = self.folders(layout::DONE)?.iter().map(|day| layout::done_day(day)).collect();
        self.count_in(&days)
    }

    /// The ids of the tasks that ended on a day or later, in no order.
    pub fn done_since(&self, day: &str) -> Result<Vec<TaskId>> {
        let mut ids = Vec::new();
        for folder in self.folders(layout::DONE)?.into_iter().filter(|folder| folder.as_str() >= day) {
            ids.extend(self.records(&layout::done_day(&folder))?);
        }
        ids.sort_unstable();
        Ok(ids)
    }

    fn survey(&self, shelves: impl IntoIterator<Item = Shelf>) -> Survey<'_> {
        let part = Part::Description(&self.known_members);
        Survey { store: self, part, shelves: shelves.into_iter().collect(), ids: Vec::new().into_iter() }
    }

    /// Whether no task is pending and none is parked; the cheap question before counting.
    pub fn is_queue_empty(&self) -> Result<bool> {
        Ok(!self.has_lanes()? && !self.has_folders(layout::PARKED)?)
    }

    /// Whether the state directory has been used and has not been removed. It may have been moved.
    pub fn is_still_there(&self) -> Result<bool> {
        Ok(self.meta(layout::FORMAT)?.is_some())
    }

    /// Whether the path of the state directory still leads to it, so that another process would find it.
    pub fn is_at_its_path(&self) -> Result<bool> {
        let path = self.state_dir();
        let Some(found) = self.vfs.open_root(path, false).map_err(StoreError::io("open", path))? else {
            return Ok(false);
        };
        let found = found.meta(layout::FORMAT).map_err(StoreError::io("look at", layout::FORMAT))?;
        let ours = self.meta(layout::FORMAT)?;
        Ok(found.is_some() && found.map(|meta| meta.ident) == ours.map(|meta| meta.ident))
    }

    /// The records that were set aside.
    pub fn set_aside_records(&self) -> Result<Vec<String>> {
        let entries = self.list(layout::CORRUPT)?.into_iter();
        let mut names: Vec<String> = entries.map(|entry| format!("{}/{}", layout::CORRUPT, entry.name)).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The path of the damaged record of a task that was set aside, by the name that [`Spool::set_aside`] gives it.
    pub fn set_aside_of(&self, id: TaskId) -> Result<Option<String>> {
        let end = format!("_{}", id.0);
        let is_its = |path: &String| path.rsplit_once(".json").is_some_and(|(record, _)| record.ends_with(&end));
        Ok(self.set_aside_records()?.into_iter().find(is_its))
    }

    /// Names in the spool that luzia did not make; they are never touched.
    pub fn foreign_names(&self) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        for entry in self.list(layout::GUARDS)? {
            let path = format!("{}/{}", layout::GUARDS, entry.name);
            let links = self.meta(&path)?.map_or(0, |meta| meta.links);
            if links > 1 && entry.kind == FileKind::File {
                let what = format!("it has {links} names; who uses it next puts a new file in its place");
                problems.push(Problem { path, what });
            }
        }
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
        look(layout::RUN, &|name, kind| kind == FileKind::Dir && file_name::task(name).is_some())?;
        look(layout::PENDING, &|name, kind| {
            kind == FileKind::Dir && name.len() == 1 && name.as_bytes()[0].is_ascii_digit()
        })?;
        for priority in Tier::ALL.into_iter().flat_map(Tier::priorities) {
            let tier = layout::pending_tier(priority);
            look(&tier, &|name, kind| kind == FileKind::Dir && QueueName::parse(name).is_some())?;
            for lane in self.folders(&tier)? {
                let folder = layout::pending_lane(priority, &lane);
                let is_segment = |name: &str, kind| kind == FileKind::Dir && file_name::number(name).is_some();
                look(&folder, &|name, kind| is_segment(name, kind) || is_record(name, kind))?;
                for segment in self.folders(&folder)? {
                    look(&format!("{folder}/{segment}"), &is_record)?;
                }
            }
        }
        Ok(problems)
    }
}

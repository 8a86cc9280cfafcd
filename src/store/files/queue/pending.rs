//! Pending tasks: the place of a record in its lane, the lanes that have work, and the first task of a lane. A lane's own
//! folder holds its records while they are few, and segments hold the further ones. So a queue of very many users has no more
//! folders than users, and no listing of a very deep lane is long.

use crate::model::queue::Lanes;
use crate::model::{LaneName, Name, Priority, QueueName, Task, TaskId, Tier, Turn};
use crate::os::{Entry, Meta};
use crate::store::files::disk::publish::{Publication, numbered, records_in};
use crate::store::{Part, Place, Result, Spool, StoreError, layout};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, PoisonError};

/// Number of records that a lane's own folder holds before further ones go to segments. A record is found in either place, so
/// processes need not agree on this.
pub(crate) const LANE_HOLDS: usize = 250;

/// Number of lanes that are looked through at once for a task.
const LANES_AT_ONCE: usize = 1000;

/// Number of lanes that are few enough to be searched for each task.
const MANY_LANES: usize = 16;
/// Number of searches through many lanes before the lanes of all tasks are looked up.
const FEW_SEARCHES: u32 = 2;
/// Number of tasks at which a count of pending tasks ends.
const MOST_SEEN: usize = 200_000;

/// The lanes in which pending tasks were seen, for verbs that look up many tasks. A task that is no longer there is searched.
#[derive(Default)]
pub(crate) struct Seen {
    lanes: HashMap<TaskId, Lane>,
    /// Number of searches through all lanes since.
    searches: u32,
}

/// The folder of a lane: its priority, and the stem of the lane.
pub(crate) type Lane = (Priority, Arc<str>);

/// The first task of a queue at one priority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The name of the head's queue.
    pub queue: String,
    /// The priority of the head's folder.
    pub priority: Priority,
    /// The task.
    pub id: TaskId,
}

/// A place for the record of a task that has not started.
pub(crate) struct Spot {
    /// The record.
    pub path: String,
    /// The folders above the record: for a pending record its tier, its lane, and perhaps a segment; for a parked record
    /// its segment.
    pub folders: Vec<String>,
}

impl Spot {
    /// The spot outside the scan.
    pub fn parked(id: TaskId) -> Self {
        Self { path: layout::parked(id), folders: vec![layout::parked_segment(layout::segment(id))] }
    }

    /// The spot in the lane's own folder.
    pub fn in_lane(task: &Task) -> Self {
        let folders = vec![layout::pending_tier(task.priority), layout::pending_lane(task.priority, &task.queue())];
        Self { path: layout::record_in(&folders[1], task.id), folders }
    }

    /// The spot in its segment of the lane.
    pub fn in_segment(task: &Task) -> Self {
        let Self { mut folders, .. } = Self::in_lane(task);
        folders.push(layout::segment_of_lane(&folders[1], layout::segment(task.id)));
        Self { path: layout::record_in(&folders[2], task.id), folders }
    }

    /// The folder of the record, and those above it.
    pub fn folder(&self) -> (&str, &[String]) {
        let last = self.folders.len() - 1;
        (&self.folders[last], &self.folders[..last])
    }
}

/// Content of the folder of a lane.
pub(crate) struct Standing {
    /// The records in the lane, in no order.
    pub records: Vec<TaskId>,
    /// The segments of the lane, in order.
    pub segments: Vec<u64>,
}

impl From<&[Entry]> for Standing {
    fn from(entries: &[Entry]) -> Self {
        Self { records: records_in(entries).collect(), segments: numbered(entries) }
    }
}

/// Takes what one queue has, with its priority; decides whether to go on.
type Sink<'a, T> = &'a mut dyn FnMut(Priority, &Arc<str>, T) -> bool;

impl Spool {
    /// Lets the folder of a lane hold another number of records, for tests that want segments of few tasks.
    #[must_use]
    pub fn holding(self, records: usize) -> Self {
        Self { lane_holds: records, ..self }
    }

    /// Gives a record its place in its lane without replacing anything.
    pub(crate) fn publish_pending(&self, tmp: &str, task: &Task) -> Result<(Spot, Publication)> {
        let lane = layout::pending_lane(task.priority, &task.queue());
        let meta = self.meta(&lane)?;
        let is_new = meta.is_none();
        let spot = if self.is_deep_by(&lane, meta.as_ref(), 1)? { Spot::in_segment(task) } else { Spot::in_lane(task) };
        let publication = if is_new {
            self.publish_in_new(tmp, &spot.path, &spot.folders)?
        } else {
            self.publish(tmp, &spot.path, &spot.folders)?
        };
        self.announce_if_new(task, publication, is_new);
        Ok((spot, publication))
    }

    /// Announces the lane of a task that was published, if the lane had no folder.
    pub(crate) fn announce_if_new(&self, task: &Task, publication: Publication, was_missing: bool) {
        let Publication::Placed { first_made } = publication else { return };
        if was_missing || first_made.is_some_and(|first| first < 2) {
            self.announce_lane(task.priority, &task.queue());
        }
    }

    /// Whether `further` records must go into segments of a task's lane: if there are segments, or its folder would hold too
    /// many.
    pub(crate) fn is_deep(&self, task: &Task, further: usize) -> Result<bool> {
        let lane = layout::pending_lane(task.priority, &task.queue());
        self.is_deep_by(&lane, self.meta(&lane)?.as_ref(), further)
    }

    fn is_deep_by(&self, lane: &str, meta: Option<&Meta>, further: usize) -> Result<bool> {
        let Some(meta) = meta else { return Ok(further > self.lane_holds) };
        // A folder has two names and one more for each folder in it, or always one if the file system does not count.
        if meta.links > 2 {
            return Ok(true);
        }
        let Standing { records, segments } = Standing::from(&*self.list(lane)?);
        Ok(!segments.is_empty() || records.len() + further > self.lane_holds)
    }

    /// Removes the record of a finished task from its lane, from either place there, and the folders that this leaves empty.
    pub(crate) fn leave_pending(&self, task: &Task) -> Result<()> {
        self.clear((task.priority, &task.queue()), task.id, false, &|| self.call_standby(task))
    }

    /// Like `leave_pending`, durably, before the task is queued again: a power cut must not bring an older record back beside
    /// the new one.
    pub(crate) fn leave_pending_for_good(&self, task: &Task) -> Result<()> {
        self.clear((task.priority, &task.queue()), task.id, true, &|| self.call_standby(task))
    }

    /// Removes the record of a task from a queue that the task is in no longer, durably.
    pub(crate) fn leave_queue(&self, priority: Priority, queue: &str, id: TaskId) -> Result<()> {
        self.clear((priority, queue), id, true, &|| ())
    }

    fn clear(&self, (priority, queue): (Priority, &str), id: TaskId, for_good: bool, left: &dyn Fn()) -> Result<()> {
        for path in layout::pending_paths(priority, queue, id) {
            if self.unlink(&path)? {
                left();
                if for_good {
                    self.sync_removal(&path)?;
                }
                self.sweep(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the folders that the record of a task left empty when it was moved from a path. A record that a power cut
    /// brought back at its other place stays: the supervisor of the task meets it and leaves the task to it.
    pub(crate) fn sweep_moved(&self, task: &Task, path: &str) -> Result<()> {
        self.call_standby(task);
        self.sweep(path)
    }

    /// Removes the folders above a pending record as far as they are empty, the lowest first; never a tier.
    fn sweep(&self, path: &str) -> Result<()> {
        let is_tier = |folder: &str| folder.rsplit_once('/').is_none_or(|(above, _)| above == layout::PENDING);
        for folder in layout::folders_above(path).take_while(|folder| !is_tier(folder)) {
            if !self.remove_dir(folder)? {
                break;
            }
        }
        Ok(())
    }

    /// The path of the record of a pending task; `None` when it is not in this lane.
    pub(crate) fn pending_path(&self, priority: Priority, lane_stem: &str, id: TaskId) -> Result<Option<String>> {
        for path in layout::pending_paths(priority, lane_stem, id) {
            if self.meta(&path)?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Whether a task has a record in its lane.
    pub fn is_pending(&self, task: &Task) -> Result<bool> {
        Ok(self.pending_path(task.priority, &task.queue(), task.id)?.is_some())
    }

    /// Reads a part of the record of a pending task. Returns the last path of the look, and with the task whether the record
    /// names its user.
    pub(crate) fn read_pending(
        &self,
        part: Part,
        priority: Priority,
        lane_stem: &str,
        id: TaskId,
    ) -> (String, Result<Option<(Task, bool)>>) {
        let [shallow, deep] = layout::pending_paths(priority, lane_stem, id);
        let read_at = |path: &str| {
            let bytes = self.read(path)?;
            bytes.map(|bytes| self.read_named(part, Place::Pending, path, &bytes, id)).transpose()
        };
        match read_at(&shallow) {
            Ok(None) => {}
            read => return (shallow, read),
        }
        // A record under a foreign name is not luzia's, and so does not exist here.
        let read = self.meta(&deep).and_then(|meta| match meta {
            Some(_) => read_at(&deep),
            None => Ok(None),
        });
        (deep, read)
    }

    /// Gives `sink` the content of the folder of every queue that is `wanted`, with its priority and name, tier by tier; `sink`
    /// decides whether to go on.
    pub(crate) fn each_lane(&self, wanted: &dyn Fn(&str) -> bool, sink: Sink<'_, Standing>) -> Result<()> {
        let mut lanes = self.lanes()?;
        lanes.retain(|(_, queue)| wanted(queue));
        let folders: Vec<String> = lanes.iter().map(|(priority, stem)| layout::pending_lane(*priority, stem)).collect();
        self.list_each(&folders, &mut |at, entries| {
            let (priority, stem) = &lanes[at];
            sink(*priority, stem, Standing::from(&*entries))
        })
    }

    /// Gives `sink` the numbers of the pending tasks in every folder of every queue that is `wanted`, with their priority, in no
    /// order; `sink` decides whether to go on.
    pub(crate) fn each_pending(&self, wanted: &dyn Fn(&str) -> bool, sink: Sink<'_, Vec<TaskId>>) -> Result<()> {
        let (mut queues, mut segments, mut goes_on) = (Vec::new(), Vec::new(), true);
        self.each_lane(wanted, &mut |priority, stem, standing| {
            let lane = layout::pending_lane(priority, stem);
            queues.extend(standing.segments.iter().map(|_| (priority, stem.to_owned())));
            segments.extend(standing.segments.into_iter().map(|segment| layout::segment_of_lane(&lane, segment)));
            goes_on = sink(priority, stem, standing.records);
            goes_on
        })?;
        if !goes_on {
            return Ok(());
        }
        self.list_each(&segments, &mut |at, entries| {
            let (priority, stem) = &queues[at];
            sink(*priority, stem, records_in(&entries).collect())
        })
    }

    /// The path of a pending task, in any lane.
    pub(crate) fn find_pending(&self, id: TaskId) -> Result<Option<String>> {
        if let Some(path) = self.where_seen(id)? {
            return Ok(Some(path));
        }
        let lanes = self.lanes()?;
        if lanes.len() >= MANY_LANES && self.searches_again() {
            self.see_pending()?;
            if let Some(path) = self.where_seen(id)? {
                return Ok(Some(path));
            }
        }
        for lanes in lanes.chunks(LANES_AT_ONCE) {
            let paths = lanes.iter().flat_map(|(priority, stem)| layout::pending_paths(*priority, stem, id));
            let paths: Vec<String> = paths.collect();
            if let Some(path) = self.first_there(&paths)? {
                return Ok(Some(path.to_owned()));
            }
        }
        Ok(None)
    }

    /// The path of a pending task that is still in the lane in which it was seen.
    fn where_seen(&self, id: TaskId) -> Result<Option<String>> {
        let lane = self.seen.lock().unwrap_or_else(PoisonError::into_inner).lanes.get(&id).cloned();
        lane.map_or(Ok(None), |(priority, stem)| self.pending_path(priority, &stem, id))
    }

    /// Counts a search through all lanes. Whether this process has made so many that one look at all tasks costs less.
    fn searches_again(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.searches += 1;
        seen.searches > FEW_SEARCHES
    }

    /// Remembers the lanes of pending tasks, by one listing of each lane.
    fn see_pending(&self) -> Result<()> {
        let mut lanes: HashMap<TaskId, Lane> = HashMap::new();
        self.each_pending(&|_| true, &mut |priority, stem, ids| {
            for id in ids {
                lanes.entry(id).or_insert_with(|| (priority, Arc::clone(stem)));
            }
            lanes.len() < MOST_SEEN
        })?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen { lanes, searches: 0 };
        Ok(())
    }

    /// The lanes of each tier that have pending tasks, each with its best priority, found by folder names only.
    pub fn lanes_with_work(&self) -> Result<Lanes> {
        let mut lanes = Lanes::new();
        for priority in self.used_priorities()? {
            let tier = lanes.entry(priority.tier()).or_default();
            for stem in self.folders(&layout::pending_tier(priority))? {
                tier.entry(stem).or_insert(priority);
            }
        }
        Ok(lanes)
    }

    /// Whether a lane has a folder.
    pub fn has_lanes(&self) -> Result<bool> {
        for priority in self.used_priorities()? {
            if self.has_folders(&layout::pending_tier(priority))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The priorities that have a folder, in order. Most priorities have no folder, and one listing shows those that have one.
    fn used_priorities(&self) -> Result<Vec<Priority>> {
        let used = self.numbered_folders(layout::PENDING)?;
        Ok(used.into_iter().filter_map(|number| Priority::new(u8::try_from(number).ok()?)).collect())
    }

    /// The folders of lanes, by priority.
    pub(crate) fn lanes(&self) -> Result<Vec<Lane>> {
        let mut lanes: Vec<Lane> = Vec::new();
        for priority in self.used_priorities()? {
            let stems = self.folders(&layout::pending_tier(priority))?.into_iter();
            lanes.extend(stems.map(|stem| (priority, stem.into())));
        }
        Ok(lanes)
    }

    /// The first task of a lane in a tier: lowest priority number, then lowest sequence. Two short listings.
    pub fn head(&self, tier: Tier, queue: &str) -> Result<Option<Head>> {
        self.first_of(tier.priorities(), queue)
    }

    /// Like `head`, for a lane whose best priority in the tier is known to be `best` from a listing.
    pub fn head_from(&self, best: Priority, queue: &str) -> Result<Option<Head>> {
        self.first_of(best.tier().priorities().filter(|priority| *priority >= best), queue)
    }

    fn first_of(&self, priorities: impl Iterator<Item = Priority>, lane_stem: &str) -> Result<Option<Head>> {
        for priority in priorities {
            if let Some(id) = self.first_of_queue(priority, lane_stem, 1)?.into_iter().min() {
                return Ok(Some(Head { queue: lane_stem.to_owned(), priority, id }));
            }
            // Debris of a crash between making a folder and filling it; a folder in use is not empty.
            self.remove_dir(&layout::pending_lane(priority, lane_stem))?;
        }
        Ok(None)
    }

    /// A task of a queue: the first valid one among the first of each tier; `None` when all of them are damaged.
    pub fn any_of_queue(&self, queue: &str) -> Result<Option<Task>> {
        for tier in Tier::ALL {
            if let Some(task) = self.head(tier, queue)?.and_then(|head| self.peek(&head)) {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }

    /// The description of a head; `None` when its record is gone or damaged, which the claim finds out.
    pub fn peek(&self, head: &Head) -> Option<Task> {
        let (_, read) = self.read_pending(Part::Description(&self.known_members), head.priority, &head.queue, head.id);
        read.ok().flatten().map(|(task, _)| task)
    }

    /// The error on the record of a queue's first task, when a newer version wrote it.
    pub fn newer_head(&self, head: &Head) -> Option<StoreError> {
        let read = self.read_pending(Part::Description(&self.known_members), head.priority, &head.queue, head.id).1;
        read.err().filter(|error| matches!(error, StoreError::Newer { .. }))
    }

    /// The queues that have pending tasks, found by folder names only.
    pub fn queue_index(&self) -> Result<QueueIndex> {
        let mut index = QueueIndex::default();
        for (priority, queue) in self.lanes()? {
            index.0.entry(queue).or_default().push(priority);
        }
        Ok(index)
    }

    /// The first pending tasks of each queue of a user that `counts`, in the order of their turn, `most` of a queue at most.
    pub fn first_pending(
        &self,
        index: &QueueIndex,
        user: &Name,
        most: u64,
        counts: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Vec<Turn>>> {
        let (stem, most) = (LaneName::user_stem(user), usize::try_from(most).unwrap_or(usize::MAX));
        let mut first: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
        for (queue, priorities) in index.of_user(&stem).filter(|(queue, _)| counts(queue)) {
            let heads = self.first_among(priorities.iter().copied(), queue, most)?.into_iter();
            let turns: Vec<Turn> = heads.map(|head| (head.priority, QueueName::place_in(queue, head.id))).collect();
            if !turns.is_empty() {
                first.insert(queue.to_string(), turns);
            }
        }
        Ok(first)
    }

    /// The first tasks of a queue in the tier of its best priority, in their order, `most` at most.
    pub fn first_in_tier(&self, best: Priority, queue: &str, most: usize) -> Result<Vec<Head>> {
        self.first_among(best.tier().priorities().filter(|priority| *priority >= best), queue, most)
    }

    /// The first tasks of a queue at some priorities, in their order, `most` at most.
    fn first_among(&self, priorities: impl Iterator<Item = Priority>, queue: &str, most: usize) -> Result<Vec<Head>> {
        let mut first = Vec::new();
        for priority in priorities {
            let mut ids = self.first_of_queue(priority, queue, most - first.len())?;
            ids.sort_unstable();
            first.extend(ids.into_iter().map(|id| Head { queue: queue.to_owned(), priority, id }));
            first.truncate(most);
            if first.len() == most {
                break;
            }
        }
        Ok(first)
    }

    /// The first tasks of one queue, without order, `most` at least if it has so many.
    fn first_of_queue(&self, priority: Priority, queue: &str, most: usize) -> Result<Vec<TaskId>> {
        let folder = layout::pending_lane(priority, queue);
        let Standing { records: mut ids, segments } = Standing::from(&*self.list(&folder)?);
        for segment in segments {
            // The tasks before this segment are known by now.
            if ids.iter().filter(|id| layout::segment(**id) < segment).count() >= most {
                break;
            }
            let segment = layout::segment_of_lane(&folder, segment);
            let records = self.records(&segment)?;
            if records.is_empty() {
                // A crash may leave an empty segment. An error of its removal changes nothing for the caller.
                let _ = self.vfs.remove_dir(&segment);
            }
            ids.extend(records);
        }
        Ok(ids)
    }
}

/// The queues that have pending tasks, each with its priorities in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QueueIndex(BTreeMap<Arc<str>, Vec<Priority>>);

impl QueueIndex {
    /// The queues of the user with a lane of this stem.
    fn of_user(&self, stem: &str) -> impl Iterator<Item = (&Arc<str>, &Vec<Priority>)> {
        let parts = format!("{stem}~");
        let plain = self.0.get_key_value(stem);
        let others = self.0.range::<str, _>((Bound::Included(parts.as_str()), Bound::Unbounded));
        let others: Vec<_> = others.take_while(|(queue, _)| queue.starts_with(&parts)).collect();
        plain.into_iter().chain(others)
    }
}

/// Whether a queue is one of the user with a lane of this stem, or is itself of that name.
pub(crate) fn is_queue_of(queue: &str, name: &str) -> bool {
    queue.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
}

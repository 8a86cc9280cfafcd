//! Pending and parked tasks: accepts them durably, and finds a task by its number. The place of a record is its state; a task
//! appears by a rename, complete and synced.

use crate::model::task::{FIRST_GRANTED, Start, TaskState};
use crate::model::{Name, QueueName, Status, Task, TaskId, Timer};
use crate::os::{Open, Published};
use crate::store::files::disk::counter::{self, CounterFile};
use crate::store::files::queue::pending::Spot;
use crate::store::{Event, Part, Result, Spool, Started, StoreError, decode_named, encode_task, layout};

/// Number of further looks for a task that is nowhere, before it counts as unknown.
const LOOKS_AGAIN: u32 = 3;

/// Number of tasks of a batch whose events are written in one piece.
const EVENTS_AT_ONCE: usize = 1000;

/// Makes the event of a task that is to be accepted.
pub type Told<'a> = &'a dyn Fn(&Task) -> Event;

/// The event of a task whose event was written and that is not in the queue.
pub(crate) fn withdrawn(task: &Task, error: &StoreError) -> Event {
    Event::of("withdrawn", task).in_lane_of(task).saying(error.to_string())
}

/// The folder of a task's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Waits for its turn.
    Pending,
    /// Not due, or after another task.
    Parked,
    /// Claimed, running, or ending.
    Running,
    /// Waits for an event.
    Waiting,
    /// Finished.
    Done,
}

impl Place {
    /// The folder in which the record of a task of a status usually is.
    pub fn of(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::Running => Self::Running,
            Status::Waiting => Self::Waiting,
            Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled => Self::Done,
        }
    }
}

impl Spool {
    /// Reserves `count` task ids that were never given before; returns the first of them.
    pub fn reserve_ids(&self, count: u64) -> Result<TaskId> {
        let path = layout::SEQUENCE;
        let mut handle = self.locked_alone(path)?;
        let fallback = |found: &CounterFile| self.last_id_ever(found);
        let settle = || self.sync_dir(layout::SPOOL);
        counter::take(handle.as_mut(), path, &self.host.clock.boot_id(), count, fallback, settle).map(TaskId)
    }

    /// The last id that may have been given, for a counter that holds none: by every existing record; after damage also past
    /// the clock, because records may have been pruned.
    fn last_id_ever(&self, found: &CounterFile) -> Result<u64> {
        let mut last = 0;
        // Another scheduler gives the numbers from there on.
        self.visit_ids(&mut |_, id| last = last.max(if id < FIRST_GRANTED { id.0 } else { 0 }))?;
        let seconds = u64::try_from(self.host.clock.now().unix_seconds()).unwrap_or(0);
        Ok(if *found == CounterFile::Damaged { last.max(seconds) } else { last })
    }

    /// Accepts tasks: durable when this returns (P2). Commit point of one task is the sync of its folder. `told` makes the
    /// event of a task. It is written when only the name is missing, so before any process can claim the task. If the task
    /// does not get its name after all, the event `withdrawn` follows.
    pub fn accept(&self, tasks: &[Task], told: Option<Told>) -> Result<()> {
        let result = match tasks {
            [task] => self.accept_one(task, told),
            _ => self.accept_batch(tasks, told),
        };
        self.ring();
        result
    }

    fn accept_one(&self, task: &Task, told: Option<Told>) -> Result<()> {
        let staged = layout::tmp(task.id, self.host.me.pid);
        self.stage(&staged, &encode_task(task)?)?;
        self.tell(std::slice::from_ref(task), told);
        let placed = self.place(task, &staged, true);
        if let Err(error) = &placed
            && self.withdraw(task, &staged)
            && told.is_some()
        {
            self.note(&withdrawn(task, error));
        }
        placed
    }

    /// Writes the events of tasks that are to be published.
    pub(crate) fn tell(&self, tasks: &[Task], told: Option<Told>) {
        let Some(told) = told else { return };
        tasks.chunks(EVENTS_AT_ONCE).for_each(|some| self.note_all(&mut some.iter().map(told)));
    }

    /// Removes a record that was to be accepted and was not. If the record is still in its staging place, it was not
    /// published, and its hints would mean nothing. A published record stays with its hints: it may run, although no event
    /// reported it. Returns whether it was removed.
    pub(crate) fn withdraw(&self, task: &Task, staged: &str) -> bool {
        let is_withdrawn = self.vfs.unlink(staged).unwrap_or(false);
        if is_withdrawn {
            let _ = self.unmark_order(task);
            let _ = self.drop_hints(task);
        }
        is_withdrawn
    }

    /// Gives a staged record its place: parked when it is not due or comes after another, pending otherwise.
    pub(crate) fn place(&self, task: &Task, tmp: &str, durable: bool) -> Result<()> {
        if let Some(at) = task.start_by {
            self.set_timer(&Timer::of(task.id, at))?;
        }
        if let Some(at) = task.warns_at() {
            self.set_timer(&Timer::of(task.id, at))?;
        }
        if let Some(parent) = task.parent.filter(|_| task.ends_with_parent) {
            self.mark_after(task.id, parent)?;
        }
        let is_parked = self.must_park(task);
        let (spot, publication) = if is_parked {
            if let Some(at) = task.wakes_at() {
                self.set_timer(&Timer::of(task.id, at))?;
            }
            for dependency in &task.after {
                self.mark_after(task.id, *dependency)?;
            }
            let spot = Spot::parked(task.id);
            let publication = self.publish(tmp, &spot.path, &spot.folders)?;
            (spot, publication)
        } else {
            self.mark_order(task)?;
            self.publish_pending(tmp, task)?
        };
        let first_made = publication.first_made(&spot.path)?;
        if !durable {
            return Ok(());
        }
        let root = if is_parked { layout::PARKED } else { layout::PENDING };
        self.sync_published(&spot, root, first_made)
    }

    /// Whether a task must wait outside the scan, by its own members.
    pub(crate) fn must_park(&self, task: &Task) -> bool {
        let now = self.host.clock.now();
        !task.after.is_empty() || task.is_held(now) || task.due_at.is_some_and(|at| at > now)
    }

    /// Makes a published name durable: its folder, and every folder in which a new one was made on the way, `root` being that
    /// of the first. (A folder that another process made is as durable as the files synced in it: its own name was journalled
    /// before.) Its folder may be gone already when a dispatcher was quick; then the record is elsewhere, and everything is
    /// synced.
    pub(crate) fn sync_published(&self, spot: &Spot, root: &str, first_made: Option<usize>) -> Result<()> {
        let Spot { path, folders } = spot;
        let depth = 1 + first_made.map_or(0, |first| folders.len() - first);
        for folder in folders.iter().rev().map(String::as_str).chain([root]).take(depth) {
            if !self.sync_if_there(folder)? {
                return self.vfs.sync_everything().map_err(StoreError::io("sync", folder));
            }
        }
        if self.meta(path)?.is_none() {
            self.vfs.sync_everything().map_err(StoreError::io("sync", path))?;
        }
        Ok(())
    }

    /// Wakes watchers: there is something to do. Never relied on.
    pub fn ring(&self) {
        if let Ok(Some(mut wake)) = self.vfs.open(layout::WAKE, Open::Existing)
            && wake.meta().is_ok_and(|meta| meta.links == 1)
        {
            let _ = wake.write_at_start(b"\n");
        }
    }

    /// Removes the folder that a parked record left, if it is empty.
    pub(crate) fn sweep_parked(&self, id: TaskId) -> Result<()> {
        self.remove_dir(&layout::parked_segment(layout::segment(id)))?;
        Ok(())
    }

    /// The place of the record of a task, and its path; a copy that a crash left behind does not count.
    pub(crate) fn locate(&self, id: TaskId) -> Result<Option<(Place, String)>> {
        let exists = |path: &str| self.meta(path).map(|meta| meta.is_some());
        let running = layout::running(id);
        // The usual case first, but a running record that has a pending or finished copy is only the remains of a crash.
        let is_running = exists(&running)?;
        if let Some(path) = self.find_done(id)? {
            return Ok(Some((Place::Done, path)));
        }
        if exists(&layout::parked(id))? {
            return Ok(Some((Place::Parked, layout::parked(id))));
        }
        if is_running && self.run_dir.is_supervised(id)? {
            return Ok(Some((Place::Running, running)));
        }
        if let Some(path) = self.find_pending(id)? {
            return Ok(Some((Place::Pending, path)));
        }
        if exists(&running)? {
            return Ok(Some((Place::Running, running)));
        }
        if exists(&layout::waiting(id))? {
            return Ok(Some((Place::Waiting, layout::waiting(id))));
        }
        // It may have moved on meanwhile; and between two places it is its own result.
        if let Some(path) = self.find_done(id)? {
            return Ok(Some((Place::Done, path)));
        }
        Ok(self.read_result(id)?.map(|_| (Place::Running, layout::result(id))))
    }

    /// The folder of a task's record; `None` when there is no such task.
    pub fn place_of(&self, id: TaskId) -> Result<Option<Place>> {
        Ok(self.locate(id)?.map(|(place, _)| place))
    }

    pub(crate) fn find_done(&self, id: TaskId) -> Result<Option<String>> {
        let mut days = self.folders(layout::DONE)?;
        days.sort_unstable();
        for day in days.iter().rev() {
            let path = layout::done(day, id);
            if self.meta(&path)?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// A task by its number, with the state of its place; `None` when there is no such task.
    pub fn find(&self, id: TaskId) -> Result<Option<(Place, Task)>> {
        self.find_part(Part::Whole, id)
    }

    /// Like [`Spool::find`], for all that describes the task: its environment is not read.
    pub fn find_description(&self, id: TaskId) -> Result<Option<(Place, Task)>> {
        self.find_part(Part::Description(&self.known_members), id)
    }

    fn find_part(&self, part: Part, id: TaskId) -> Result<Option<(Place, Task)>> {
        // A moving record is looked for again in two cases: it moved between the look and the read, or it was nowhere,
        // because it may have come to a place just after the look there.
        let mut nowhere = 0;
        for _ in 0..100 {
            match self.locate(id)? {
                None if nowhere == LOOKS_AGAIN => return Ok(None),
                None => nowhere += 1,
                Some((place, path)) => {
                    if let Some(task) = self.read_part(part, place, &path, id)? {
                        return Ok(Some((place, task)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The record at a path; `None` when it is no longer there.
    pub(crate) fn read_record(&self, place: Place, path: &str, id: TaskId) -> Result<Option<Task>> {
        self.read_part(Part::Whole, place, path, id)
    }

    /// Like `read_record`, for a part of the record.
    pub(crate) fn read_part(&self, part: Part, place: Place, path: &str, id: TaskId) -> Result<Option<Task>> {
        let read = self.read(path)?.map(|bytes| self.read_named(part, place, path, &bytes, id)).transpose()?;
        Ok(read.map(|(task, _)| task))
    }

    /// Corrects the outward directory of a task whose record was written before the state directory was moved or copied. Then
    /// the directory is not at the path in the record, and the one at that path belongs to the original.
    fn correct_conductor(&self, task: &mut Task) {
        let own = self.run_dir.default_conductor(task.project.as_ref().map(|project| project.as_str()));
        let is_default = own.strip_prefix(self.state_dir()).is_some_and(|end| task.conductor_dir.ends_with(end));
        let is_elsewhere = if task.conductor_configured { self.copied_from().is_some() } else { is_default };
        if is_elsewhere {
            task.conductor_dir = own;
        }
    }

    /// Reads a task, and returns whether its record names its user; the lane folder gives the user of a record that does not.
    pub(crate) fn read_named(
        &self,
        part: Part,
        place: Place,
        path: &str,
        bytes: &[u8],
        id: TaskId,
    ) -> Result<(Task, bool)> {
        let (mut task, names_user) = decode_named(path, bytes, part, || user_of_path(path))?;
        if task.id != id {
            return Err(StoreError::corrupt(path, format!("it is the record of {}", task.id)));
        }
        self.correct_conductor(&mut task);
        if let Some(sandbox) = &mut task.sandbox {
            self.known_members.share(sandbox);
        }
        match place {
            Place::Pending | Place::Parked => task.state = TaskState::Pending,
            Place::Waiting => task.state = TaskState::Waiting(task.state.into_wait()),
            Place::Running => {
                task.state = TaskState::Running { from: task.state.into_wait() };
                if let Some(Some(Started { start, at, lock_id, fence, slots, .. })) = self.started(id)? {
                    (task.starts, task.state) = (start, TaskState::RUNNING);
                    task.last_start = Some(Start { at, lock_id, fence, slots });
                }
            }
            Place::Done if task.outcome().is_some() => {}
            Place::Done => return Err(StoreError::corrupt(path, "it is not over")),
        }
        Ok((task, names_user))
    }

    /// Calls `visit` for every task's number and place; by names only.
    pub fn visit_ids(&self, visit: &mut dyn FnMut(Place, TaskId)) -> Result<()> {
        self.each_pending(&|_| true, &mut |_, _, ids| {
            ids.into_iter().for_each(|id| visit(Place::Pending, id));
            true
        })?;
        for (root, place) in [(layout::PARKED, Place::Parked), (layout::DONE, Place::Done)] {
            for folder in self.folders(root)? {
                self.records(&format!("{root}/{folder}"))?.into_iter().for_each(|id| visit(place, id));
            }
        }
        for (root, place) in [(layout::RUNNING, Place::Running), (layout::WAITING, Place::Waiting)] {
            self.records(root)?.into_iter().for_each(|id| visit(place, id));
        }
        Ok(())
    }

    /// Sets a damaged record aside, under a name that is not taken, and notes its fault. If many processes meet it, one does
    /// so. Never deletes it.
    pub fn set_aside(&self, wrong: &StoreError) -> Result<()> {
        let StoreError::Corrupt { thing, .. } = wrong else { return Ok(()) };
        let path = thing.path();
        let name = path.replace('/', "_");
        for attempt in 0.. {
            let suffix = if attempt == 0 { String::new() } else { format!(".{attempt}") };
            let to = format!("{}/{name}{suffix}", layout::CORRUPT);
            match self.vfs.publish(path, &to) {
                Ok(Published::Exists) => {}
                Ok(Published::Done) => {
                    self.note(&Event::new("set_aside").saying(wrong.to_string()));
                    break;
                }
                Ok(Published::NoDirectory) => break,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
                Err(error) => return Err(StoreError::io("set aside", path)(error)),
            }
        }
        Ok(())
    }
}

/// The user of the lane folder that holds a pending record.
pub(crate) fn user_of_path(path: &str) -> Option<Name> {
    let lane = path.strip_prefix(layout::PENDING)?.split('/').nth(2)?;
    QueueName::parse(lane)?.user()
}

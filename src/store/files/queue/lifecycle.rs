//! The moves of a task: it is taken, ended or queued again, changed before its start, or no longer parked.
//!
//! Each verb names its commit point; every step after it is idempotent and is finished by the next pass. All moves require the
//! task's `supervisor.lock`. `record_ending` and `settle` bring a run to its end.
//!
//! `change_pending` changes a task that has not started: it is paused, resumed or edited, and keeps its number. The new record is
//! its result without an outcome, as after an attempt that failed. From the sync of the result on the change is in force, and
//! after a crash recovery brings the record to its place.
//!
//! `unpark` moves a parked task from its place, and removes the marks and timers that would have woken it. A process that retries
//! a task, or queues it again after a failed attempt, sets its marks and timers before its record is among the parked ones. So
//! only a process that holds the task's `supervisor.lock` removes these, after it has seen that the task is not about to be
//! parked.

use crate::model::task::TaskState;
use crate::model::{Priority, Task, TaskId, Timer, Timestamp};
use crate::store::files::disk::publish::{Publication, write_durably};
use crate::store::{Hold, Place, Result, Spool, StoreError, decode_task, encode_task, file_name, layout, run_dir};

/// The end of a run: the future record of the task, and the task's next state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The task is finished.
    Over(Task),
    /// The task is queued again.
    Requeued(Task),
    /// The task waits for an event.
    Waiting(Task),
}

impl Ending {
    /// The end that a record means: with an outcome the task is finished, with a wait it waits, else it is queued again.
    pub fn of(task: Task) -> Self {
        match &task.state {
            TaskState::Over(_) => Self::Over(task),
            TaskState::Waiting(Some(_)) => Self::Waiting(task),
            TaskState::Pending | TaskState::Running { .. } | TaskState::Waiting(None) => Self::Requeued(task),
        }
    }

    /// The future record.
    pub fn task(&self) -> &Task {
        match self {
            Self::Over(task) | Self::Requeued(task) | Self::Waiting(task) => task,
        }
    }

    /// The record itself.
    pub fn into_task(self) -> Task {
        match self {
            Self::Over(task) | Self::Requeued(task) | Self::Waiting(task) => task,
        }
    }
}

/// Content of one run folder, with its `supervisor.lock` taken.
pub struct Found {
    /// The task, when a record of it is valid.
    pub task: Option<Task>,
    /// The lock.
    pub lock: Hold,
    /// The end of the task, when it was recorded.
    pub ending: Option<Ending>,
    /// Whether a launch was recorded.
    pub is_started: bool,
    /// Whether `tree.lock` is held.
    pub is_tree_locked: bool,
    /// The place of the task's record.
    pub place: Option<Place>,
}

/// Result of a request to take a pending task out of the queue.
pub enum Removed {
    /// The task is out of the queue, and its lock is ours.
    Taken(Box<Task>, Hold),
    /// The task is no longer pending.
    NotPending,
    /// Another process holds the lock of the task.
    Busy,
}

impl Spool {
    /// Gives up the lock of a task that the caller does not take after all, and removes the run folder if nothing else needs it.
    pub fn let_go(&self, id: TaskId, lock: Hold) -> Result<()> {
        if let Some(lock) = self.if_unused(id, lock)? {
            self.remove_run_dir(id)?;
            drop(lock);
        }
        Ok(())
    }

    /// Takes a pending or parked task for a verb that ends it without starting it.
    pub fn take_pending(&self, id: TaskId) -> Result<Removed> {
        self.take_if(id, |place| Ok(matches!(place, Place::Pending | Place::Parked) && self.read_result(id)?.is_none()))
    }

    /// Takes the lock of a task whose place is meant.
    pub(crate) fn take_if(&self, id: TaskId, is_meant: impl FnOnce(Place) -> Result<bool>) -> Result<Removed> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(Removed::Busy) };
        if let Some((place, task)) = self.find(id)?
            && is_meant(place)?
        {
            return Ok(Removed::Taken(Box::new(task), lock));
        }
        self.let_go(id, lock)?;
        Ok(Removed::NotPending)
    }

    /// Takes the lock of a finished task, for a verb that acts on it late. `None` when it is not finished, or another process
    /// holds its lock.
    pub fn take_finished(&self, id: TaskId) -> Result<Option<(Task, Hold)>> {
        // The first look takes no lock: most tasks are running.
        if self.find_done(id)?.is_none() {
            return Ok(None);
        }
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(None) };
        match self.find(id)? {
            Some((Place::Done, task)) if self.read_result(id)?.is_none() => Ok(Some((task, lock))),
            _ => {
                self.let_go(id, lock)?;
                Ok(None)
            }
        }
    }

    /// Records the end of a run; the next pass finishes the rest. `file` is the one that the start made for the end: its name
    /// is durable, so the commit point is the sync of its content. Without it, or when another program removed its name, a
    /// synced file gets the name, and the commit point is the sync of `running`.
    pub fn record_ending(&self, ending: &Ending, file: Option<Hold>) -> Result<()> {
        let (id, path) = (ending.task().id, layout::result(ending.task().id));
        let bytes = encode_task(ending.task())?;
        if let Some(file) = file {
            match write_durably(file.into_descriptor(), &bytes) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => {
                    // No process may take the file for a result: a later sync could succeed without the bytes.
                    let _ = self.vfs.unlink(&path);
                    return Err(StoreError::io("write", &path)(error));
                }
            }
        }
        self.put_durably(&layout::result_tmp(id), &path, &bytes)
    }

    /// Takes back the remains of a failed `record_ending`, for a verb that answers with the error: the requested change must
    /// not happen later. A supervisor does not do this, because its result is true.
    pub fn withdraw_ending(&self, id: TaskId, lock: Hold) -> Result<()> {
        self.unlink(&layout::result(id))?;
        // Any other file belongs to recovery.
        let is_bare = self.list(&layout::run_dir(id))?.iter().all(|entry| entry.name == run_dir::SUPERVISOR_LOCK);
        if is_bare && self.started(id)?.is_none() {
            self.remove_run_dir(id)?;
        }
        drop(lock);
        Ok(())
    }

    pub(crate) fn read_result(&self, id: TaskId) -> Result<Option<Ending>> {
        let path = layout::result(id);
        let read = self.read(&path).and_then(|bytes| bytes.map(|bytes| decode_task(&path, &bytes, None)).transpose());
        match read {
            Ok(task) => Ok(task.filter(|task| task.id == id).map(Ending::of)),
            Err(StoreError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The recorded result, for a process that continues from it. It is rewritten, because its writer may have been killed before
    /// the sync, or the sync may have failed.
    fn durable_result(&self, id: TaskId) -> Result<Option<Ending>> {
        let ending = self.read_result(id)?;
        if let Some(ending) = &ending {
            self.record_ending(ending, None)?;
        }
        Ok(ending)
    }

    /// Moves the record of an ended run to its place, after its lanes were released: `done`, or back to its old place in the
    /// queue. Returns the tasks that waited for its end. Idempotent; the lock goes last.
    pub fn settle(&self, ending: &Ending, lock: Hold) -> Result<Vec<TaskId>> {
        let task = ending.task();
        let result = layout::result(task.id);
        self.unmark_order(task)?;
        if matches!(ending, Ending::Waiting(_)) {
            return self.settle_waiting(task, lock).map(|()| Vec::new());
        }
        // The result then no longer has a name in `running`.
        let mut has_moved = false;
        let dependents = match task.outcome() {
            Some(outcome) => {
                let day = outcome.completed_at.day();
                self.leave_parked(task.id)?;
                let done = layout::done(&day, task.id);
                has_moved = self.rename(&result, &done)?;
                if !has_moved {
                    // It is the first one of its day, or has moved already.
                    self.make_dir(&layout::done_day(&day))?;
                    if !self.rename(&result, &done)? && self.find_done(task.id)?.is_none() {
                        // Another program removed it: the rest of the record stays for recovery.
                        return Err(StoreError::io("move", &result)(crate::os::absent()));
                    }
                }
                self.leave_pending(task)?;
                self.drop_key(task)?;
                self.drop_hints(task)?;
                self.tasks_in(&layout::after(task.id))?
            }
            None => {
                if let Some(done) = self.find_done(task.id)? {
                    // The removal is durable before the other record is in its place: if both are found, the finished one is
                    // the newer.
                    self.unlink(&done)?;
                    self.sync_removal(&done)?;
                }
                if self.meta(&result)?.is_some() {
                    // A queued copy is from the time before the end: a killed cancel leaves one, until the next claim.
                    self.leave_pending_for_good(task)?;
                    self.leave_former_queue(task)?;
                    self.leave_parked(task.id)?;
                    self.place(task, &result, true)?;
                }
                Vec::new()
            }
        };
        self.unlink(&layout::running(task.id))?;
        if self.unlink(&layout::waiting(task.id))? {
            self.sync_dir(layout::WAITING)?;
        }
        if has_moved {
            self.unlink(&layout::started(task.id))?;
            self.run_dir.remove(task.id)?;
        } else {
            self.remove_run_dir(task.id)?;
        }
        drop(lock);
        self.ring();
        Ok(dependents)
    }

    /// Removes a parked record durably, before the task has a record in another place.
    pub(crate) fn leave_parked(&self, id: TaskId) -> Result<()> {
        if self.unlink(&layout::parked(id))? {
            self.sync_removal(&layout::parked(id))?;
            self.sweep_parked(id)?;
        }
        Ok(())
    }

    pub(crate) fn drop_hints(&self, task: &Task) -> Result<()> {
        for at in [task.start_by, task.due_at, task.wakes_at(), task.warns_at()].into_iter().flatten() {
            self.clear_timer(&Timer::of(task.id, at))?;
        }
        let parent = task.parent.filter(|_| task.ends_with_parent);
        for dependency in task.after.iter().copied().chain(parent) {
            self.clear_after(task.id, dependency)?;
        }
        Ok(())
    }

    /// Looks at a task that has no supervisor: takes its lock and returns the content of its folder. `None` while another
    /// process has the lock.
    pub fn find_abandoned(&self, id: TaskId) -> Result<Option<Found>> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(None) };
        self.look_abandoned(id, lock).map(Some)
    }

    /// Like `find_abandoned`, with a lock that was handed over.
    pub fn look_abandoned(&self, id: TaskId, lock: Hold) -> Result<Found> {
        let ending = self.durable_result(id)?;
        let (place, task) = match self.find_for_recovery(id)? {
            Some((place, task)) => (Some(place), task),
            None => (None, ending.as_ref().map(|ending| ending.task().clone())),
        };
        Ok(Found {
            task,
            lock,
            ending,
            is_started: self.started(id)?.is_some(),
            is_tree_locked: self.run_dir.is_tree_locked(id)?,
            place,
        })
    }

    /// Like `look_abandoned`, for a task that this very process has claimed: its claim has read the record, and has found no
    /// start and no end. Only the other possible remains of it are looked for.
    pub fn look_claimed(&self, task: Task, lock: Hold) -> Result<Found> {
        let id = task.id;
        if self.find_done(id)?.is_some() || self.meta(&layout::parked(id))?.is_some() || self.is_pending(&task)? {
            return self.look_abandoned(id, lock);
        }
        Ok(Found {
            task: Some(Task { state: TaskState::Running { from: task.state.into_wait() }, ..task }),
            lock,
            ending: None,
            is_started: false,
            is_tree_locked: self.run_dir.is_tree_locked(id)?,
            place: Some(Place::Running),
        })
    }

    /// The place of the record, in the order that survives crashes: a queued copy is newer than a running one, and a finished
    /// one is the end of it.
    fn find_for_recovery(&self, id: TaskId) -> Result<Option<(Place, Option<Task>)>> {
        let read = |place: Place, path: String| match self.read_record(place, &path, id) {
            Err(error @ StoreError::Corrupt { .. }) => self.set_aside(&error).map(|()| None),
            other => other,
        };
        let exists = |path: &str| self.meta(path).map(|meta| meta.is_some());
        if let Some(path) = self.find_done(id)? {
            return Ok(Some((Place::Done, read(Place::Done, path)?)));
        }
        if exists(&layout::parked(id))? {
            return Ok(Some((Place::Parked, read(Place::Parked, layout::parked(id))?)));
        }
        for (place, path) in [(Place::Running, layout::running(id)), (Place::Waiting, layout::waiting(id))] {
            if exists(&path)? {
                let task = read(place, path)?;
                let queued = match &task {
                    Some(task) => self.is_pending(task)?,
                    None => false,
                };
                return Ok(Some((if queued { Place::Pending } else { place }, task)));
            }
        }
        let Some((Place::Pending, path)) = self.locate(id)? else { return Ok(None) };
        Ok(Some((Place::Pending, read(Place::Pending, path)?)))
    }

    /// Removes the remains of a crash of a task whose record is in the queue or finished: the caller has released its lanes.
    /// For a finished task, also removes the copies in the queue.
    pub fn discard_leftovers(&self, id: TaskId, task: Option<&Task>, lock: Hold) -> Result<()> {
        if self.find_done(id)?.is_some() {
            self.leave_parked(id)?;
            if let Some(task) = task {
                self.leave_pending(task)?;
            }
        }
        self.unlink(&layout::running(id))?;
        self.unlink(&layout::waiting(id))?;
        self.remove_run_dir(id)?;
        drop(lock);
        Ok(())
    }

    /// The tasks that may need recovery: everything in `running`, and every run folder.
    pub fn in_flight(&self) -> Result<Vec<TaskId>> {
        let names = self.list(layout::RUNNING)?;
        let mut ids: Vec<TaskId> = names.iter().filter_map(|entry| layout::id_in_flight(&entry.name)).collect();
        ids.extend(self.folders_if_any(layout::RUN)?.iter().filter_map(|name| file_name::task(name)));
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// The tasks in flight that have no supervisor. A task that ended during the look is no longer in flight, and is left
    /// out.
    pub fn unsupervised(&self) -> Result<Vec<TaskId>> {
        let mut alone = Vec::new();
        for id in self.in_flight()? {
            if !self.run_dir.is_supervised(id)? {
                alone.push(id);
            }
        }
        if !alone.is_empty() {
            let still = self.in_flight()?;
            alone.retain(|id| still.binary_search(id).is_ok());
        }
        Ok(alone)
    }
}

impl Spool {
    /// Puts the changed record of a task in its place. The caller took the task by `take_pending`; `old` is the record that
    /// it took. The change is in force once [`Spool::record_ending`] has returned; `told` is called then.
    pub fn change_pending(&self, old: &Task, new: Task, lock: Hold, told: &mut dyn FnMut()) -> Result<()> {
        let was_in = Some(format!("{}/{}", old.priority.number(), old.queue()));
        let ending = Ending::of(Task { was_in, ..new });
        if let Err(error) = self.record_ending(&ending, None) {
            // The change must not happen after an answer that reports its failure.
            self.withdraw_ending(old.id, lock)?;
            return Err(error);
        }
        told();
        self.unmark_order(old)?;
        self.drop_hints(old)?;
        let settled = self.settle(&ending, lock).map(drop);
        // The task may come later in the order than a hint has it.
        self.drop_heads();
        settled
    }

    /// Removes the record of a task that is queued again from its former queue.
    pub(crate) fn leave_former_queue(&self, task: &Task) -> Result<()> {
        let Some((priority, queue)) = task.was_in.as_deref().and_then(former) else { return Ok(()) };
        if priority == task.priority && queue == task.queue() {
            return Ok(());
        }
        self.leave_queue(priority, queue, task.id)
    }
}

/// Reads `<priority>/<queue>`.
fn former(text: &str) -> Option<(Priority, &str)> {
    let (priority, queue) = text.split_once('/')?;
    crate::model::QueueName::parse(queue)?;
    Some((Priority::new(priority.parse().ok()?)?, queue))
}

impl Spool {
    /// Moves a parked task to its lane durably, now that nothing keeps it, and removes its marks and timers. False when it is
    /// no longer parked, or another process holds its lock.
    pub fn unpark(&self, id: TaskId) -> Result<bool> {
        let is_moved = self.under_its_lock(id, |found| match found {
            Some((Place::Parked, task)) if !task.is_held(self.host.clock.now()) => self.move_to_its_lane(&task),
            _ => Ok(false),
        })?;
        if is_moved {
            self.ring();
        }
        Ok(is_moved)
    }

    /// Removes the mark that a task waits for another one, when it does not.
    pub fn forget_after(&self, id: TaskId, dependency: TaskId) -> Result<()> {
        self.under_its_lock(id, |found| match found {
            Some((Place::Parked, _)) | None => Ok(()),
            Some(_) => self.clear_after(id, dependency),
        })
    }

    /// Removes a timer that rang, when its task is not parked, or will be woken by the end of another one.
    pub fn forget_timer(&self, id: TaskId, at: Timestamp) -> Result<()> {
        self.under_its_lock(id, |found| match found {
            None => Ok(()),
            Some((Place::Parked, task)) if task.after.is_empty() => Ok(()),
            Some(_) => self.clear_timer(&Timer::of(id, at)),
        })
    }

    /// Looks for a task under its lock, and acts on it; does nothing when another process holds the lock.
    fn under_its_lock<T: Default>(
        &self,
        id: TaskId,
        act: impl FnOnce(Option<(Place, Task)>) -> Result<T>,
    ) -> Result<T> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(T::default()) };
        let done = act(self.find(id)?)?;
        self.let_go(id, lock)?;
        Ok(done)
    }

    fn move_to_its_lane(&self, task: &Task) -> Result<bool> {
        self.mark_order(task)?;
        let moved = match self.publish_pending(&layout::parked(task.id), task) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let is_moved = match moved {
            Some((spot, Publication::Placed { first_made })) => {
                // The caller next removes its marks and timers, and only these would find the task again in its old place.
                self.sync_published(&spot, layout::PENDING, first_made)?;
                self.sync_removal(&layout::parked(task.id))?;
                for dependency in &task.after {
                    self.clear_after(task.id, *dependency)?;
                }
                if let Some(at) = task.wakes_at() {
                    self.clear_timer(&Timer::of(task.id, at))?;
                }
                true
            }
            Some((_, Publication::Taken)) | None => {
                self.unmark_order(task)?;
                false
            }
        };
        self.sweep_parked(task.id)?;
        Ok(is_moved)
    }
}

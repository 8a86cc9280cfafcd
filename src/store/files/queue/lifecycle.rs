//! How a task moves: claimed, ended, queued again. Each verb names its commit point; every step after it is idempotent
//! and is finished by whoever comes next. All of them require the task's `supervisor.lock`.

use crate::model::evidence::Judge;
use crate::model::lock::Grant;
use crate::model::lock::line::LineJudge;
use crate::model::{Status, Task, TaskId};
use crate::os::Handle;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::{file_name, layout};
use crate::store::files::locks::line::InLine;
use crate::store::files::locks::list::LockView;
use crate::store::files::locks::request::{Acquired, Break, Request};
use crate::store::files::queue::pending::Head;
use crate::store::{Place, Store, decode_task, encode_task, run_dir};

/// A task that this process may start.
pub struct Claimed {
    /// The task.
    pub task: Task,
    /// Its `supervisor.lock`, to be handed to the supervisor.
    pub lock: Box<dyn Handle>,
    /// Its lanes.
    pub grants: Vec<Grant>,
    /// Stale locks that were broken on the way.
    pub broken: Vec<Break>,
}

/// What decides for a claim.
#[derive(Clone, Copy)]
pub struct Judges {
    /// Who holds a lane still.
    pub lock: Judge,
    /// Whose turn it is in a lane that has a line.
    pub turn: LineJudge,
}

/// The answer to a claim.
pub enum Claim {
    /// The task is this process's to start.
    Claimed(Box<Claimed>),
    /// Somebody else has it, or had it.
    Lost,
    /// It may not start now, as the check of the caller said.
    Refused(Box<Task>),
    /// A lane is held.
    Held(Box<Task>, Box<LockView>),
    /// A dead task must be recovered first; perhaps this very one.
    NeedsRecovery(TaskId),
    /// Its record is damaged; it was set aside.
    SetAside(StoreError),
    /// A newer luzia wrote its record; it stays as it is, and what stands behind it in its lane waits for that luzia.
    Newer(StoreError),
}

/// What comes after a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The task is over.
    Over,
    /// It is queued again.
    Queued,
}

/// The end of a run: the task as it will be recorded. With an outcome it is over, without one it is queued again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// The record to be.
    pub task: Task,
}

impl Ending {
    /// What comes after it.
    pub fn next(&self) -> Next {
        if self.task.outcome.is_some() { Next::Over } else { Next::Queued }
    }
}

/// What a look at one run folder found, with its `supervisor.lock` taken.
pub struct Found {
    /// The task, when a record of it reads.
    pub task: Option<Task>,
    /// The lock.
    pub lock: Box<dyn Handle>,
    /// Its end, when it was recorded.
    pub ending: Option<Ending>,
    /// Whether a launch was recorded.
    pub is_started: bool,
    /// Whether `tree.lock` is held.
    pub is_tree_locked: bool,
    /// Where its record stands.
    pub place: Option<Place>,
}

/// What became of a request to take a pending task out of the queue.
pub enum Removed {
    /// It is out of the queue, and its lock is ours.
    Taken(Box<Task>, Box<dyn Handle>),
    /// It is not pending any more.
    NotPending,
    /// Somebody acts for it right now.
    Busy,
}

impl Store {
    /// Claims the head of a lane: takes its `supervisor.lock`, asks `admit`, takes its lanes, moves its record. Commit
    /// point: the rename `pending` -> `running`, which needs no sync, because after a power cut the record stands in its
    /// old place and every holder is dead.
    pub fn claim(
        &self,
        head: &Head,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judges: Judges,
    ) -> Result<Claim> {
        let Some(lock) = self.take_supervisor_lock(head.id)? else { return Ok(Claim::Lost) };
        match self.claim_locked(head, lock, admit, request, judges)? {
            (claim, None) => Ok(claim),
            (claim, Some(lock)) => {
                // Nothing was claimed: the run folder goes again, so that an idle task leaves nothing behind.
                self.remove_run_dir(head.id)?;
                drop(lock);
                Ok(claim)
            }
        }
    }

    fn claim_locked(
        &self,
        head: &Head,
        lock: Box<dyn Handle>,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judges: Judges,
    ) -> Result<(Claim, Option<Box<dyn Handle>>)> {
        let id = head.id;
        let (path, read) = self.read_pending(head.priority, &head.queue, id);
        let (task, names_user) = match read {
            Ok(Some(read)) => read,
            Ok(None) => return Ok((Claim::Lost, self.if_unused(id, lock)?)),
            Err(error @ StoreError::Corrupt { .. }) => {
                self.set_aside(&path, &error)?;
                return Ok((Claim::SetAside(error), self.if_unused(id, lock)?));
            }
            Err(error @ StoreError::Newer { .. }) => return Ok((Claim::Newer(error), self.if_unused(id, lock)?)),
            Err(error) => return Err(error),
        };
        if self.read_result(id)?.is_some() || self.started(id)?.is_some() {
            return Ok((Claim::NeedsRecovery(id), None));
        }
        if !admit(&task) {
            return Ok((Claim::Refused(Box::new(task)), Some(lock)));
        }
        let sandbox = || task.sandbox.as_ref().map(|sandbox| sandbox.id().clone());
        let mut in_line = InLine::of_task(judges.turn, &sandbox);
        let (grants, broken) = match self.acquire_in_line(&request(&task), judges.lock, &mut in_line)? {
            Acquired::Granted { grants, broken, .. } => (grants, broken),
            Acquired::Held(view) => return Ok((Claim::Held(Box::new(task), view), Some(lock))),
            // The first of the line is called, or will be.
            Acquired::Behind => return Ok((Claim::Refused(Box::new(task)), Some(lock))),
            Acquired::NeedsRecovery(dead) => return Ok((Claim::NeedsRecovery(dead), Some(lock))),
            Acquired::Refreshed(_) => return Ok((Claim::Lost, Some(lock))),
        };
        let named = if names_user { Ok(()) } else { self.name_user(&task, &path) };
        match named.and_then(|()| self.rename(&path, &layout::running(id))) {
            Ok(true) => {}
            lost => {
                self.release_task(id, &task.all_lanes(), &grants)?;
                lost?;
                return Ok((Claim::Lost, Some(lock)));
            }
        }
        self.unmark_order(&task)?;
        self.sweep_moved(&task, &path)?;
        Ok((Claim::Claimed(Box::new(Claimed { task, lock, grants, broken })), None))
    }

    /// Writes a pending record anew with its user, which so far only the folder of its lane tells: nothing else tells it
    /// once the record stands elsewhere. The caller holds the task's `supervisor.lock`.
    fn name_user(&self, task: &Task, path: &str) -> Result<()> {
        let staged = layout::tmp(task.id, self.me.pid);
        self.stage(&staged, &encode_task(task)?)?;
        self.replace_by(&staged, path)
    }

    /// The lock itself when the run folder may be removed: nothing of the task is there that recovery would need.
    fn if_unused(&self, id: TaskId, lock: Box<dyn Handle>) -> Result<Option<Box<dyn Handle>>> {
        let in_use = self.meta(&layout::running(id))?.is_some()
            || self.meta(&layout::waiting(id))?.is_some()
            || self.meta(&layout::result(id))?.is_some();
        Ok((!in_use).then_some(lock))
    }

    /// Lets go of a task that was not taken after all.
    pub(crate) fn let_go(&self, id: TaskId, lock: Box<dyn Handle>) -> Result<()> {
        if let Some(lock) = self.if_unused(id, lock)? {
            self.remove_run_dir(id)?;
            drop(lock);
        }
        Ok(())
    }

    /// Gives a claim up: releases the lanes and puts the record back in its old place.
    pub fn unclaim(&self, claimed: Claimed) -> Result<()> {
        let task = &claimed.task;
        self.release_task(task.id, &task.all_lanes(), &claimed.grants)?;
        self.mark_order(task)?;
        self.publish_pending(&layout::running(task.id), task)?;
        self.remove_run_dir(task.id)?;
        drop(claimed.lock);
        self.ring();
        Ok(())
    }

    /// Takes a pending or parked task for a verb that ends it without starting it.
    pub fn take_pending(&self, id: TaskId) -> Result<Removed> {
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(Removed::Busy) };
        match self.find(id)? {
            Some((Place::Pending | Place::Parked, task)) if self.read_result(id)?.is_none() => {
                Ok(Removed::Taken(Box::new(task), lock))
            }
            _ => {
                self.let_go(id, lock)?;
                Ok(Removed::NotPending)
            }
        }
    }

    /// Takes the lock of a task that is over, for a verb that does something late. `None` when it is not over, or
    /// somebody acts for it.
    pub fn take_finished(&self, id: TaskId) -> Result<Option<(Task, Box<dyn Handle>)>> {
        // Asked without the lock first: most are running.
        if self.find_done(id)?.is_none() {
            return Ok(None);
        }
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(None) };
        match self.find(id)? {
            Some((Place::Done, task)) if self.read_result(id)?.is_none() => Ok(Some((task, lock))),
            _ => {
                self.let_go(id, lock)?;
                Ok(None)
            }
        }
    }

    /// Records how a run ended; what follows is finished by whoever comes next. `file` is the one that the start made for
    /// it: its name is durable, so the commit point is the sync of its content. Without it, or where somebody took its name
    /// away, a synced file gets the name, and the commit point is the sync of `running`.
    pub fn record_ending(&self, ending: &Ending, file: Option<Box<dyn Handle>>) -> Result<()> {
        let (id, path) = (ending.task.id, layout::result(ending.task.id));
        let bytes = encode_task(&ending.task)?;
        if let Some(file) = file {
            match write_durably(file, &bytes) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => {
                    // Nobody may take it for a result: a later sync could succeed without the bytes.
                    let _ = self.vfs.unlink(&path);
                    return Err(StoreError::io("write", &path)(error));
                }
            }
        }
        let staged = layout::result_tmp(id);
        self.stage(&staged, &bytes)?;
        self.replace_by(&staged, &path)?;
        self.sync_dir(layout::RUNNING)
    }

    /// Takes back what a failed `record_ending` may have left, for a verb that answers with the error: what was asked for
    /// must not happen later. A supervisor does not do this, because its result is true.
    pub fn withdraw_ending(&self, id: TaskId, lock: Box<dyn Handle>) -> Result<()> {
        self.unlink(&layout::result(id))?;
        // What else is there belongs to recovery.
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
            Ok(task) => Ok(task.filter(|task| task.id == id).map(|task| Ending { task })),
            Err(StoreError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same for whoever goes on from it: written anew, because whoever wrote it may have been killed before it was
    /// synced, or after that failed.
    fn durable_result(&self, id: TaskId) -> Result<Option<Ending>> {
        let ending = self.read_result(id)?;
        if let Some(ending) = &ending {
            self.record_ending(ending, None)?;
        }
        Ok(ending)
    }

    /// Moves the record of an ended run to where it belongs, after its lanes were released: `done`, or back to its old
    /// place in the queue. Gives the tasks that waited for its end. Idempotent; the lock goes last.
    pub fn settle(&self, ending: &Ending, lock: Box<dyn Handle>) -> Result<Vec<TaskId>> {
        let task = &ending.task;
        let result = layout::result(task.id);
        self.unmark_order(task)?;
        // The result then has no name left in `running`.
        let mut has_moved = false;
        let dependents = match &task.outcome {
            Some(outcome) => {
                let day = outcome.completed_at.day();
                self.leave_parked(task.id)?;
                let done = layout::done(&day, task.id);
                has_moved = self.rename(&result, &done)?;
                if !has_moved {
                    // The first one of its day, or one that has moved already.
                    self.make_dir(&layout::done_day(&day))?;
                    if !self.rename(&result, &done)? && self.find_done(task.id)?.is_none() {
                        // Somebody took it away: what is left of the record stays for recovery.
                        return Err(StoreError::io("move", &result)(std::io::ErrorKind::NotFound.into()));
                    }
                }
                self.leave_pending(task)?;
                self.drop_key(task)?;
                self.drop_hints(task)?;
                self.list(&layout::after(task.id))?.iter().filter_map(|e| file_name::task(&e.name)).collect()
            }
            None => {
                if let Some(done) = self.find_done(task.id)? {
                    // Gone for good before the other stands: where both are found, the finished one is the newer.
                    self.unlink(&done)?;
                    self.sync_dir(done.rsplit_once('/').map_or(layout::DONE, |(folder, _)| folder))?;
                }
                if self.meta(&result)?.is_some() {
                    // A queued copy is of the time before it was over: a killed cancel leaves one, until the next claim.
                    self.leave_pending_for_good(task)?;
                    self.leave_parked(task.id)?;
                    self.place(task, &result, true)?;
                }
                Vec::new()
            }
        };
        self.unlink(&layout::running(task.id))?;
        self.unlink(&layout::waiting(task.id))?;
        if has_moved {
            self.unlink(&layout::started(task.id))?;
            self.remove_run_dir_alone(task.id)?;
        } else {
            self.remove_run_dir(task.id)?;
        }
        drop(lock);
        self.ring();
        Ok(dependents)
    }

    /// Removes a parked record for good, before it stands elsewhere.
    fn leave_parked(&self, id: TaskId) -> Result<()> {
        if self.unlink(&layout::parked(id))? {
            self.sync_parked(id)?;
            self.sweep_parked(id)?;
        }
        Ok(())
    }

    pub(crate) fn drop_hints(&self, task: &Task) -> Result<()> {
        for at in [task.start_by, task.due_at].into_iter().flatten() {
            self.clear_timer(task.id, at)?;
        }
        for dependency in &task.after {
            self.clear_after(task.id, *dependency)?;
        }
        Ok(())
    }

    /// Looks at a task that nobody supervises: takes its lock and tells what is there. `None` while somebody has it.
    pub fn find_abandoned(&self, id: TaskId) -> Result<Option<Found>> {
        let Some(lock) = self.take_supervisor_lock(id)? else { return Ok(None) };
        self.look_abandoned(id, lock).map(Some)
    }

    /// The same with a lock that was handed over.
    pub fn look_abandoned(&self, id: TaskId, lock: Box<dyn Handle>) -> Result<Found> {
        let ending = self.durable_result(id)?;
        let (place, task) = match self.find_for_recovery(id)? {
            Some((place, task)) => (Some(place), task),
            None => (None, ending.as_ref().map(|ending| ending.task.clone())),
        };
        Ok(Found {
            task,
            lock,
            ending,
            is_started: self.started(id)?.is_some(),
            is_tree_locked: self.is_tree_locked(id)?,
            place,
        })
    }

    /// The same for a task that this very process has claimed: its claim has read the record, and has found no start and no
    /// end. Only what else may stand of it is looked for.
    pub fn look_claimed(&self, task: Task, lock: Box<dyn Handle>) -> Result<Found> {
        let id = task.id;
        if self.find_done(id)?.is_some() || self.meta(&layout::parked(id))?.is_some() || self.is_pending(&task)? {
            return self.look_abandoned(id, lock);
        }
        Ok(Found {
            task: Some(Task { status: Status::Running, outcome: None, ..task }),
            lock,
            ending: None,
            is_started: false,
            is_tree_locked: self.is_tree_locked(id)?,
            place: Some(Place::Running),
        })
    }

    /// Where the record stands, in the order that survives crashes: a queued copy is newer than a running one, and a
    /// finished one is the end of it.
    fn find_for_recovery(&self, id: TaskId) -> Result<Option<(Place, Option<Task>)>> {
        let read = |place: Place, path: String| match self.read_record(place, &path, id) {
            Err(error @ StoreError::Corrupt { .. }) => self.set_aside(&path, &error).map(|()| None),
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

    /// Removes what a crash left of a task whose record stands in the queue or is over: the caller has released its lanes.
    /// Of one that is over, also the copies in the queue.
    pub fn discard_leftovers(&self, id: TaskId, task: Option<&Task>, lock: Box<dyn Handle>) -> Result<()> {
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

    /// The tasks in flight that nobody supervises. One that ended while we looked is not in flight any more, and is none.
    pub fn unsupervised(&self) -> Result<Vec<TaskId>> {
        let mut alone = Vec::new();
        for id in self.in_flight()? {
            if !self.is_supervised(id)? {
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

/// Writes and syncs a file that is open; false when it has no name any more.
fn write_durably(mut file: Box<dyn Handle>, bytes: &[u8]) -> std::io::Result<bool> {
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(file.meta()?.links > 0)
}

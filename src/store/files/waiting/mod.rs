//! Tasks that wait for an event and have no process: their records in `waiting`, the lanes that they keep, and their claim.
//!
//! `claim_waiting` claims a task whose wait is over (the waits are in `files::steps::waits`). The lanes that it kept become locks
//! of a task again, the others are taken, all or none, and its record moves from `waiting` to `running`. Commit point: that
//! rename. Before it, the task still waits, and recovery gives back the lanes that a dead claim has taken.
//!
//! `keep_for_wait` gives back the lanes of a task that it does not keep while it waits without a process. A kept lock changes its
//! kind from `task` to `wait` and back; its file, its id and its fence stay. A lock that the task's record in `waiting` names is
//! live, against all other evidence (judge, row j2).
//!
//! `mark_lent` marks the loans of a parent without a process: a task that waits for its children lends them its lanes, also while
//! it has no process. Then no kernel lock on `spool/loans/<child>` proves the wait: the file names the parent, and the record of
//! the parent in `waiting` proves it. `settle_waiting` moves a task to `waiting`, and `take_waiting` takes it out without a
//! start.

use crate::model::sorted::sort_by_key;
use crate::model::task::TaskWait;
use crate::model::{Fence, Grant, Judge, LaneName, LockKind, LockRecord, Sidecar, Task, TaskId, Timer, Timestamp};
use crate::os::Open;
use crate::store::files::locks::release::Held;
use crate::store::files::queue::claim::Taken;
use crate::store::{
    Break, Claim, Claimed, Denial, FreedBy, Hold, Place, Removed, Request, Result, Spool, StoreError, layout,
};

impl Spool {
    /// Claims a task in `waiting`: takes its `supervisor.lock`, asks `admit`, takes the lanes that it did not keep, moves its
    /// record. It waits in no line: it goes ahead of new work, and never over a limit.
    pub fn claim_waiting(
        &self,
        id: TaskId,
        admit: &dyn Fn(&Task) -> bool,
        request: &dyn Fn(&Task) -> Request,
        judge: Judge,
    ) -> Result<Claim> {
        let Some(lock) = self.run_dir.take_supervisor_lock(id)? else { return Ok(Claim::Lost) };
        let task = match self.find(id) {
            Ok(Some((Place::Waiting, task))) if self.is_at_rest(id)? => task,
            Ok(Some((Place::Waiting, task))) => return Ok(Claim::Denied(Box::new(task), Denial::NeedsRecovery(id))),
            Ok(_) => return self.not_claimed(id, lock, Claim::Lost),
            Err(error @ StoreError::Newer { .. }) => return self.not_claimed(id, lock, Claim::Newer(error)),
            Err(error) => return Err(error),
        };
        if !admit(&task) {
            return self.not_claimed(id, lock, Claim::Refused(Box::new(task)));
        }
        let kept = self.kept_by(&task)?;
        let (taken, broken) = match self.take_missing(&task, &kept, request(&task), judge) {
            Ok(Ok(taken)) => taken,
            Ok(Err(claim)) => return self.not_claimed(id, lock, claim),
            Err(error) => {
                self.let_go(id, lock)?;
                return Err(error);
            }
        };
        let moved = self.end_keeping(id, &kept).and_then(|is_whole| {
            let moved = is_whole && self.rename(&layout::waiting(id), &layout::running(id))?;
            if moved {
                // If a power cut brought a copy back in `waiting`, that copy would count once the other one is gone.
                self.sync_dir(layout::RUNNING)?;
                self.sync_dir(layout::WAITING)?;
            }
            Ok(moved)
        });
        if !matches!(moved, Ok(true)) {
            // If its record has already moved, recovery takes the claim back.
            if self.meta(&layout::waiting(id))?.is_some() {
                self.take_back(&task, &taken)?;
                self.let_go(id, lock)?;
            }
            moved?;
            return Ok(Claim::Lost);
        }
        if let Some(wait) = task.wait() {
            self.clear_timer(&Timer::of(id, wait.until))?;
        }
        let mut all: Vec<Grant> = kept.into_iter().chain(taken).collect();
        let lanes = task.all_lanes();
        sort_by_key(&mut all, |grant| lanes.iter().position(|lane| *lane == grant.lane));
        Ok(Claim::Claimed(Box::new(Claimed { task, lock, grants: all, broken })))
    }

    /// Takes the lanes that a task did not keep; returns a refusal as a claim.
    fn take_missing(
        &self,
        task: &Task,
        kept: &[Grant],
        mut request: Request,
        judge: Judge,
    ) -> Result<std::result::Result<Taken, Claim>> {
        for need in &mut request.needs {
            let own = kept.iter().filter(|grant| grant.lane == need.lane).count();
            need.count = need.count.saturating_sub(u32::try_from(own).unwrap_or(u32::MAX));
        }
        request.needs.retain(|need| need.count > 0);
        if request.needs.is_empty() {
            return Ok(Ok((Vec::new(), Vec::new())));
        }
        Ok(Claim::by(self.acquire(&request, judge)?, task))
    }

    /// Gives back the lanes that a claim has taken, and keeps those that the task kept before. The caller holds
    /// `supervisor.lock`.
    fn take_back(&self, task: &Task, taken: &[Grant]) -> Result<()> {
        let lanes: Vec<_> = taken.iter().map(|grant| grant.lane.clone()).collect();
        self.release_task(task.id, &lanes, taken)?;
        if let Some(wait) = task.wait() {
            self.keep_for_wait(task, wait)?;
        }
        Ok(())
    }

    fn not_claimed(&self, id: TaskId, lock: Hold, claim: Claim) -> Result<Claim> {
        self.let_go(id, lock)?;
        Ok(claim)
    }
}

impl Spool {
    /// The locks that a task holds in some lanes, in the order of these. The caller holds its `supervisor.lock`, or is one of its
    /// processes.
    pub fn locks_of(&self, task: TaskId, lanes: &[LaneName]) -> Result<Vec<Grant>> {
        let (mut grants, mut locks) = (Vec::new(), None);
        for lane in lanes {
            let _guards = self.enter_patiently(lane)?;
            let held = self.slots_of(task, lane, &[], &mut locks)?;
            grants.extend(held.into_iter().map(|held| grant_of(lane, &held)));
        }
        Ok(grants)
    }

    /// Makes locks durable that a task is about to keep, before any record says that it keeps them: a power cut takes the
    /// text of files that were not synced.
    pub fn secure_locks(&self, grants: &[Grant]) -> Result<()> {
        for grant in grants {
            let stem = grant.lane.stem();
            for path in [layout::lock_file(&stem, grant.slot), layout::sidecar(&stem, grant.slot)] {
                if let Some(mut file) = self.open_lock(&path, Open::Existing)? {
                    file.sync_data().map_err(StoreError::io("sync", &path))?;
                }
            }
        }
        if grants.is_empty() { Ok(()) } else { self.sync_dir(layout::LOCKS) }
    }

    /// Gives back the lanes of a task that it does not keep while it waits, the user's last. A kept lock becomes one of kind
    /// `wait`, durably with its file, so that it outlives a power cut. The caller holds `supervisor.lock`, and the tree of the
    /// task is dead. Idempotent; returns the released locks.
    pub fn keep_for_wait(&self, task: &Task, wait: &TaskWait) -> Result<Vec<Break>> {
        let (mut released, mut locks, mut has_kept) = (Vec::new(), None, false);
        for lane in task.all_lanes().iter().rev() {
            let stem = lane.stem();
            let mut guards = self.enter_patiently(lane)?;
            for held in self.slots_of(task.id, lane, &[], &mut locks)? {
                if wait.keeps(&stem, &held.lock_id) {
                    self.begin_keeping(task.id, lane, held, wait)?;
                    has_kept = true;
                    continue;
                }
                self.free_lock(&mut guards, lane, held.slot, FreedBy::Task)?;
                released.push(Break::by_holder(lane, held.slot, held.lock_id, task.id.to_string()));
            }
        }
        if has_kept {
            self.sync_dir(layout::LOCKS)?;
        }
        Ok(released)
    }

    fn begin_keeping(&self, task: TaskId, lane: &LaneName, held: Held, wait: &TaskWait) -> Result<()> {
        let path = layout::lock_file(&lane.stem(), held.slot);
        let mut record = match held.record {
            Some(record) => *record,
            None => self.told_by_file(task, lane, &held)?,
        };
        record.kind = LockKind::Wait;
        record.is_supervised = false;
        record.refreshed_at = Some(self.host.now());
        record.refreshed_boot_ms = Some(self.host.clock.boot_ms());
        record.expires_at = Some(wait.until);
        self.write_sidecar(lane, held.slot, &record, true)?;
        let Some(mut file) = self.open_lock(&path, Open::Existing)? else { return Ok(()) };
        let may_write = !self.has_foreign_name(file.as_ref(), &path)?;
        let told = self.granted_by_file(&lane.stem(), held.slot)?;
        if may_write && told.is_none_or(|told| told.lock_id.0 != held.lock_id) {
            // A power cut took the text of the lock file.
            let text = format!("{} {}\n", held.lock_id, record.fence.unwrap_or(Fence(0)));
            file.write_at_start(text.as_bytes()).map_err(StoreError::io("write", &path))?;
        }
        file.sync_data().map_err(StoreError::io("sync", &path))
    }

    /// Rebuilds the record of a damaged sidecar from the lock file.
    fn told_by_file(&self, task: TaskId, lane: &LaneName, held: &Held) -> Result<LockRecord> {
        let grant = self.granted_by_file(&lane.stem(), held.slot)?.unwrap_or_else(|| grant_of(lane, held));
        Ok(self.lost_record(LockKind::Wait, &task.to_string(), &grant))
    }

    /// The locks that a task has kept while it waited. The caller holds its `supervisor.lock`.
    pub(crate) fn kept_by(&self, task: &Task) -> Result<Vec<Grant>> {
        let Some(wait) = task.wait() else { return Ok(Vec::new()) };
        let mut grants = self.locks_of(task.id, &task.all_lanes())?;
        grants.retain(|grant| wait.keeps(&grant.lane.stem(), &grant.lock_id.0));
        Ok(grants)
    }

    /// Makes kept locks locks of a claimed task, by this process. False when one of them is no longer the task's.
    pub(crate) fn end_keeping(&self, task: TaskId, kept: &[Grant]) -> Result<bool> {
        for grant in kept {
            let _guards = self.enter_guards(&[&grant.lane])?;
            let path = layout::sidecar(&grant.lane.stem(), grant.slot);
            let is_there = self.lock_meta(&layout::lock_file(&grant.lane.stem(), grant.slot))?.is_some();
            let mut record = match self.read_sidecar(&path)? {
                Sidecar::Whole(record) if is_there && record.is_of(&grant.lock_id) => *record,
                Sidecar::Missing | Sidecar::Corrupt if is_there => {
                    self.lost_record(LockKind::Task, &task.to_string(), grant)
                }
                Sidecar::Whole(_) | Sidecar::Newer | Sidecar::Missing | Sidecar::Corrupt => return Ok(false),
            };
            record.kind = LockKind::Task;
            record.set_process(&self.host.me, self.host.own_origin());
            record.is_supervised = false;
            record.refreshed_at = Some(self.host.now());
            record.refreshed_boot_ms = Some(self.host.clock.boot_ms());
            self.write_sidecar(&grant.lane, grant.slot, &record, false)?;
        }
        Ok(true)
    }

    /// Whether the record of a task in `waiting` names a lock. The caller is in the guard of its lane and has found the
    /// kernel locks of the task free.
    pub(crate) fn is_kept_by_wait(&self, lane_stem: &str, lock_path: &str, sidecar: &Sidecar) -> Result<bool> {
        let named = match sidecar.record() {
            Some(record) => record.task().zip(record.lock_id.clone()),
            None => self.named_in_lock_file(lock_path)?,
        };
        let Some((id, lock_id)) = named else { return Ok(false) };
        let path = layout::waiting(id);
        let Some(bytes) = self.read(&path)? else { return Ok(false) };
        let task = crate::store::decode_task(&path, &bytes, None);
        Ok(task.is_ok_and(|task| task.wait().is_some_and(|wait| wait.keeps(lane_stem, &lock_id))))
    }
}

fn grant_of(lane: &LaneName, held: &Held) -> Grant {
    match &held.record {
        Some(record) => record.grant(lane, held.slot),
        None => LockRecord { lock_id: Some(held.lock_id.clone()), ..LockRecord::default() }.grant(lane, held.slot),
    }
}

impl Spool {
    /// Names a parent that is about to move to `waiting` in the loan files of its queued children.
    pub(crate) fn mark_lent(&self, parent: &Task, wait: &TaskWait) -> Result<()> {
        if !wait.lends {
            return Ok(());
        }
        let queued = self.pending_tasks(None)?.filter_map(Result::ok);
        let children = queued.filter(|child| child.parent == Some(parent.id) && !child.no_inherit);
        for id in children.map(|child| child.id).collect::<Vec<TaskId>>() {
            self.make_dir(layout::LOANS)?;
            self.write_whole(&layout::loan(id), Open::Truncate(0o600), parent.id.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// The parent that the file of a loan names, if it is in `waiting` and lends, or is about to.
    pub(crate) fn waiting_lender(&self, child: TaskId) -> Result<Option<TaskId>> {
        let path = layout::loan(child);
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(None) };
        let bytes = file.read_part(0, 100).map_err(StoreError::io("read", &path))?;
        let parent = String::from_utf8(bytes).ok().and_then(|text| TaskId::parse(text.trim_end()));
        let Some(parent) = parent else { return Ok(None) };
        let lends = |task: &Task| task.wait().is_some_and(|wait| wait.lends);
        let is_there = self.find(parent)?.is_some_and(|(place, task)| place == Place::Waiting && lends(&task));
        let is_lender = is_there || self.read_result(parent)?.is_some_and(|ending| lends(ending.task()));
        Ok(is_lender.then_some(parent))
    }
}

impl Spool {
    /// Moves the result of a run that ended with a wait to `waiting`, after its lanes were kept or released. Two timers are
    /// set before the record is in its place: one of now, for an event that came meanwhile, and one of the end of the wait's
    /// time. Idempotent; the lock goes last.
    pub(crate) fn settle_waiting(&self, task: &Task, lock: Hold) -> Result<()> {
        let (id, result) = (task.id, layout::result(task.id));
        if self.meta(&result)?.is_some() {
            self.set_timer(&Timer::of(id, self.host.now()))?;
            if let Some(wait) = task.wait() {
                self.set_timer(&Timer::of(id, wait.until))?;
                self.mark_lent(task, wait)?;
            }
            if let Some(done) = self.find_done(id)? {
                self.unlink(&done)?;
                self.sync_removal(&done)?;
            }
            self.leave_pending_for_good(task)?;
            self.leave_parked(id)?;
            // A running copy would take precedence over a waiting one.
            self.unlink(&layout::running(id))?;
            self.sync_dir(layout::RUNNING)?;
            self.rename(&result, &layout::waiting(id))?;
            self.sync_dir(layout::WAITING)?;
            self.sync_dir(layout::RUNNING)?;
        }
        self.unlink(&layout::running(id))?;
        self.stay_waiting(id, lock)?;
        self.ring();
        Ok(())
    }

    /// Removes the remains of a run, or of a failed claim, of a task in `waiting`. The lock goes last.
    pub fn stay_waiting(&self, id: TaskId, lock: Hold) -> Result<()> {
        self.remove_run_dir(id)?;
        drop(lock);
        Ok(())
    }

    /// Takes a task in `waiting` for a verb that ends it without starting it.
    pub fn take_waiting(&self, id: TaskId) -> Result<Removed> {
        self.take_if(id, |place| Ok(place == Place::Waiting && self.is_at_rest(id)?))
    }

    /// Whether the record of a task is in `waiting`.
    pub fn stands_waiting(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::waiting(id))?.is_some() && matches!(self.place_of(id)?, Some(Place::Waiting)))
    }

    /// Whether the record is in `waiting`, and nothing of an earlier run is left. The caller holds its `supervisor.lock`.
    pub fn waits_at_rest(&self, id: TaskId) -> Result<bool> {
        Ok(self.stands_waiting(id)? && self.is_at_rest(id)? && self.cancel_request(id)?.is_none())
    }

    /// Lets a waiting task rest until its next timer: removes those that rang, unless its mailbox holds other events than the
    /// caller has `seen`. Works under the lock of the mailbox, in which `deliver` sets a timer: no event is missed.
    pub fn has_rest(&self, id: TaskId, rang: &[Timestamp], seen: &[u64]) -> Result<bool> {
        let _locked = self.lock_steps(id)?;
        if self.mail_numbers(id)? != seen {
            return Ok(false);
        }
        for at in rang {
            self.clear_timer(&Timer::of(id, *at))?;
        }
        Ok(true)
    }

    /// Sets a timer for a task in `waiting`, before an event is put into its mailbox. The caller has the lock of the mailbox.
    pub(crate) fn wake_waiting(&self, id: TaskId) -> Result<()> {
        if self.meta(&layout::waiting(id))?.is_some() {
            self.set_timer(&Timer::of(id, self.host.now()))?;
            self.ring();
        }
        Ok(())
    }

    /// Whether nothing of an earlier run is left that recovery would need.
    pub(crate) fn is_at_rest(&self, id: TaskId) -> Result<bool> {
        Ok(self.read_result(id)?.is_none() && self.started(id)?.is_none() && !self.run_dir.is_tree_locked(id)?)
    }
}

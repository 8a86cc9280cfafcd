//! The lanes of a task that waits without a process. A kept lock changes its kind from `task` to `wait` and back; its file,
//! its id and its fence stay. A lock that the task's record in `waiting` names is live, against all other evidence (judge,
//! row j2).

use crate::model::task::TaskWait;
use crate::model::{Fence, Grant, LaneName, LockKind, LockRecord, Sidecar, Task, TaskId};
use crate::os::Open;
use crate::store::files::locks::release::Held;
use crate::store::{Break, FreedBy, Result, Spool, StoreError, layout};

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

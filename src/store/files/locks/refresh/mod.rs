//! Upkeep of the sidecars of a living holder's locks. The holder refreshes their times, and rewrites a sidecar that was lost
//! or damaged. A clean-up does the latter for a holder that the kernel proves alive. Commit point: the rename of `.json`.
//! Nothing here breaks a lock, and nothing takes one.

use crate::model::{
    Fence, Grant, Identity, LaneName, LockId, LockKind, LockRecord, Origin, Reason, Sidecar, TaskId, Timestamp, Verdict,
};
use crate::os::Open;
use crate::store::{LockView, Result, Spool, layout};

/// Result of a refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// The sidecar records that the holder was alive just now.
    Refreshed,
    /// The sidecar was lost or damaged, and is whole again.
    Rebuilt,
    /// Another process is in the lane's guard: another try may succeed.
    Busy,
    /// The lock is no longer the holder's, or a newer luzia wrote its sidecar. Nothing was changed.
    NotOurs,
}

impl Spool {
    /// Refreshes one lock of a living holder, which is this process. It never waits for the guard: a late holder is overdue
    /// for a moment, and a waiting one would not watch its command.
    pub fn keep_lock(&self, kind: LockKind, holder: &str, grant: &Grant, timeout_ms: u64) -> Result<Kept> {
        let stem = grant.lane.stem();
        let Some(_guards) = self.try_guards(&[&grant.lane])? else { return Ok(Kept::Busy) };
        let path = layout::lock_file(&stem, grant.slot);
        let Some(lock) = self.lock_meta(&path)? else { return Ok(Kept::NotOurs) };
        let (mut record, kept) = match self.read_sidecar(&layout::sidecar(&stem, grant.slot))? {
            Sidecar::Whole(record) if is_of(&record, kind, holder, grant) => (*record, Kept::Refreshed),
            Sidecar::Missing | Sidecar::Corrupt
                if self.granted_by_file(&stem, grant.slot)?.is_some_and(|other| other.is_same(grant)) =>
            {
                (self.lost_record(kind, holder, grant), Kept::Rebuilt)
            }
            Sidecar::Whole(_) | Sidecar::Newer | Sidecar::Missing | Sidecar::Corrupt => return Ok(Kept::NotOurs),
        };
        self.renew(&mut record, self.host.clock.now(), timeout_ms);
        record.boot_id = Some(self.host.clock.boot_id());
        self.write_sidecar(&grant.lane, grant.slot, &record, false)?;
        self.freshen(&path, &lock);
        Ok(kept)
    }

    /// Whether the sidecar of a lock is lost or damaged. The look takes no guard, so it is no proof.
    pub fn has_lost_sidecar(&self, grant: &Grant) -> bool {
        let sidecar = self.read_sidecar(&layout::sidecar(&grant.lane.stem(), grant.slot));
        matches!(sidecar, Ok(Sidecar::Missing | Sidecar::Corrupt))
    }

    /// Rewrites the sidecar of a lock whose holder lives, if the kernel and the lock file give its whole content. Returns
    /// whether they do. The caller is in the lane's guard and has judged the lock. With `dry_run`, writes nothing.
    pub(crate) fn rebuild(&self, lane: &LaneName, view: &LockView, timeout_ms: u64, dry_run: bool) -> Result<bool> {
        let (Sidecar::Missing | Sidecar::Corrupt, Verdict::Live { why, .. }) = (&view.sidecar, &view.verdict) else {
            return Ok(false);
        };
        let stem = lane.stem();
        let Some(grant) = self.granted_by_file(&stem, view.slot)? else { return Ok(false) };
        let Some((holder, _)) = grant.lock_id.0.rsplit_once('_') else { return Ok(false) };
        let (kind, process) = match why {
            Reason::SupervisorLives => (LockKind::Task, self.supervisor_of(holder)?),
            Reason::LockHeld => (LockKind::Process, self.process_of_lock(&view.stem, holder)?),
            _ => return Ok(false),
        };
        let Some((process, origin)) = process else { return Ok(false) };
        if !dry_run {
            let mut record = self.lost_record_of(kind, holder, &grant, &process, origin);
            let life = i64::try_from(timeout_ms).unwrap_or(i64::MAX);
            record.expires_at = record.refreshed_at.map(|at| at.plus_ms(life));
            self.write_sidecar(lane, view.slot, &record, false)?;
        }
        Ok(true)
    }

    fn supervisor_of(&self, holder: &str) -> Result<Option<(Identity, Origin)>> {
        let Some(task) = TaskId::parse(holder) else { return Ok(None) };
        Ok(self.started(task)?.flatten().map(|started| (started.supervisor, started.origin)))
    }

    /// The process that took a lock of kind `process`, if it still has the lock file open.
    fn process_of_lock(&self, slot_stem: &str, holder: &str) -> Result<Option<(Identity, Origin)>> {
        let pid: Option<u32> = holder.strip_prefix("pid-").and_then(|pid| pid.parse().ok());
        let Some(pid) = pid else { return Ok(None) };
        let found = self
            .users_of(&format!("{}/{slot_stem}.lock", layout::LOCKS))?
            .into_iter()
            .find(|process| process.pid == pid);
        Ok(found.map(|process| (process, self.host.own_origin())))
    }

    /// The grant in the content of a lock file, `<lock_id> <fence>`; `None` when the content is not whole.
    pub(crate) fn granted_by_file(&self, stem: &str, slot: u32) -> Result<Option<Grant>> {
        let Some(mut file) = self.open_lock(&layout::lock_file(stem, slot), Open::ReadOnly)? else { return Ok(None) };
        let bytes = file.read_part(0, 4096).unwrap_or_default();
        let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
        let parts = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
        let Some((lock_id, fence)) = parts else { return Ok(None) };
        let (Ok(fence), Some(lane)) = (fence.parse(), self.lane_of_stem(stem, slot)?) else { return Ok(None) };
        let lock_id = LockId(lock_id.to_owned());
        Ok(Some(Grant { lane, slot, lock_id, fence: Fence(fence), value: None, has_share: false }))
    }

    /// Rebuilds the record of a lost sidecar from the grant, for a lock of this process.
    pub(crate) fn lost_record(&self, kind: LockKind, holder: &str, grant: &Grant) -> LockRecord {
        self.lost_record_of(kind, holder, grant, &self.host.me, self.host.own_origin())
    }

    /// Like `lost_record`, for a lock of another process.
    fn lost_record_of(
        &self,
        kind: LockKind,
        holder: &str,
        grant: &Grant,
        process: &Identity,
        origin: Origin,
    ) -> LockRecord {
        let seconds = grant.lock_id.0.rsplit_once('_').and_then(|(_, seconds)| seconds.parse::<i64>().ok());
        let acquired = seconds.map_or(self.host.clock.now(), |seconds| Timestamp(seconds.saturating_mul(1000)));
        LockRecord {
            lane: Some(grant.lane.clone()),
            lock_id: Some(grant.lock_id.0.clone()),
            fence: Some(grant.fence),
            acquired_at: Some(acquired),
            refreshed_at: Some(acquired),
            boot_id: Some(process.boot_id.clone()),
            is_supervised: kind == LockKind::Task,
            value: grant.value.clone(),
            cpus: grant.has_share.then_some(1),
            ..self.record_of(kind, holder.to_owned(), process, origin)
        }
    }
}

pub(crate) fn is_of(record: &LockRecord, kind: LockKind, holder: &str, grant: &Grant) -> bool {
    record.kind == kind
        && record.task_id.as_deref() == Some(holder)
        && record.is_of(&grant.lock_id)
        // A loan that was given back has left a greater fence.
        && record.fence >= Some(grant.fence)
}

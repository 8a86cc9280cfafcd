//! Capacities of lanes beside their places: names of slots, marks of gates, and shares of processors with their job servers.
//!
//! A shut gate has the empty file `locks/.<lane>.shut` (`mark_gate`). The file is not synced, and its errors are ignored: without
//! the mark a gate opens at the bound at which it shuts. `name_slot` tries a port under the guard of the lane, so no two holders
//! try one port. `Shares` are the shares of processors: the sidecar of each holder of a lane has the holder's share (`cpus`).
//! Only the holder changes it, under the guard of the lane. So the sum is known when any process dies: a lock that goes takes its
//! share with it. The tokens are bytes in the FIFO of the holder, `locks/.<slot>.jobs`, which dies with the holder. A share grows
//! before tokens are put in, and shrinks after they were taken out, so there are never more tokens than the sidecars say.

use crate::model::capacity::Choice;
use crate::model::lane::split_slot_stem;
use crate::model::{Grant, LaneName, LockKind, LockRecord, Sidecar};
use crate::os::{Open, Pipe};
use crate::store::{LaneNeed, NotNow, Result, Spool, StoreError, layout};

impl Spool {
    /// Whether the gate of a lane was shut at the last look.
    pub fn was_shut(&self, lane: &LaneName) -> bool {
        self.vfs.meta(&layout::gate(&lane.stem())).is_ok_and(|mark| mark.is_some())
    }

    /// Remembers whether the gate of a lane is shut; true for the one process that changes it.
    pub fn mark_gate(&self, lane: &LaneName, is_shut: bool) -> bool {
        let path = layout::gate(&lane.stem());
        if is_shut {
            return self.vfs.open(&path, Open::CreateNew(0o644)).is_ok_and(|made| made.is_some());
        }
        self.vfs.unlink(&path).unwrap_or(false)
    }

    /// The slot and the value of a new holder that would get `slot` in a lane without names. `taken` are the slots of the other
    /// holders with their values.
    pub(crate) fn name_slot(
        &self,
        need: &LaneNeed,
        taken: &[(u32, Option<String>)],
        slot: u32,
    ) -> std::result::Result<(u32, Option<String>), NotNow> {
        if need.is_shut {
            return Err(NotNow::Shut(need.lane.clone()));
        }
        let Some(values) = &need.values else { return Ok((slot, None)) };
        match self.host.choose_value(values, taken) {
            Choice::Slot(slot, value) => Ok((slot, Some(value))),
            Choice::Occupied(occupied) => Err(NotNow::Occupied(need.lane.clone(), occupied)),
            // There are fewer holders than the limit, which is the number of values: a pass adopts a new rule at once.
            Choice::Full => Err(NotNow::Shut(need.lane.clone())),
        }
    }
}

/// The shares of the holders of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shares {
    /// The share of each holder that shares, in the order of the slots: tasks and commands of `luzia lock`.
    pub sharing: Vec<u32>,
    /// Index of the asking holder among the holders that share.
    pub own: usize,
    /// Number of other holders: leases, and grants from before the lane had a budget. Their use of processors is unknown, so
    /// each counts as one processor.
    pub others: u32,
}

impl Spool {
    /// The present shares of the holders of a lane, from their sidecars; `None` when the asker no longer holds the lane. Without
    /// the guard the answer may be old.
    pub fn shares(&self, grant: &Grant) -> Result<Option<Shares>> {
        let stem = grant.lane.stem();
        let (mut sharing, mut own, mut others) = (Vec::new(), None, 0);
        let mut with_share: Vec<Option<String>> = Vec::new();
        let task_of = |record: &LockRecord| record.task_id.clone().filter(|_| record.kind == LockKind::Task);
        for slot in self.occupied_slots(&stem)? {
            let sidecar = self.read_sidecar(&layout::sidecar(&stem, slot))?;
            let record = sidecar.record();
            if record.is_some_and(|record| record.kind == LockKind::Wait) {
                // A waiting task runs nothing.
                continue;
            }
            let task = record.and_then(task_of);
            let Some(cpus) = record.and_then(|record| record.cpus) else {
                // The further slots of a task count with its first slot, which has the share.
                others += u32::from(task.is_none() || !with_share.contains(&task));
                continue;
            };
            with_share.push(task);
            if record.is_some_and(|record| record.is_of(&grant.lock_id)) {
                own = Some(sharing.len());
            }
            sharing.push(cpus.max(1));
        }
        Ok(own.map(|own| Shares { sharing, own, others }))
    }

    /// Writes a new share of a holder into its sidecar. `change` decides it under the guard of the lane, from the shares of
    /// all. Returns the new share; `None` when another process is in the guard, the lock is no longer the holder's, or nothing
    /// changes.
    pub fn change_share(&self, grant: &Grant, change: &dyn Fn(&Shares) -> Option<u32>) -> Result<Option<u32>> {
        let Some(_guards) = self.try_guards(&[&grant.lane])? else { return Ok(None) };
        let Some(shares) = self.shares(grant)? else { return Ok(None) };
        let Some(wanted) = change(&shares) else { return Ok(None) };
        let Some(record) = self.record_of_grant(grant)? else { return Ok(None) };
        self.write_sidecar(&grant.lane, grant.slot, &LockRecord { cpus: Some(wanted), ..record }, false)?;
        Ok(Some(wanted))
    }

    /// The sidecar of a grant; `None` when it describes another grant, or is damaged.
    pub(crate) fn record_of_grant(&self, grant: &Grant) -> Result<Option<LockRecord>> {
        let sidecar = self.read_sidecar(&layout::sidecar(&grant.lane.stem(), grant.slot))?;
        let Sidecar::Whole(record) = sidecar else { return Ok(None) };
        Ok(Some(*record).filter(|record| record.is_of(&grant.lock_id)))
    }

    /// Makes the FIFO of a holder in place of one that a dead holder of the slot left. Returns its whole path.
    pub fn make_job_server(&self, grant: &Grant) -> Result<(Box<dyn Pipe>, String)> {
        let path = layout::job_server(&grant.lane.stem(), grant.slot);
        self.unlink(&path)?;
        let made = self.vfs.make_pipe(&path).map_err(StoreError::io("make", &path))?;
        let pipe = made.ok_or_else(|| StoreError::io("make", &path)(crate::os::taken()))?;
        Ok((pipe, format!("{}/{path}", self.state_dir())))
    }

    /// Removes the FIFO of a holder, and those that dead holders of the lane left. One that cannot be removed does no harm.
    pub fn remove_job_server(&self, grant: &Grant) {
        let stem = grant.lane.stem();
        let _ = self.vfs.unlink(&layout::job_server(&stem, grant.slot));
        let is_of_lane = |slot_stem: &str| split_slot_stem(slot_stem).is_some_and(|(of, _)| of == stem);
        let dead = self.dead_job_servers(&is_of_lane).unwrap_or_default();
        dead.iter().for_each(|path| drop(self.vfs.unlink(path)));
    }

    /// The FIFOs that a kill left behind: those of holders whose locks are gone. A FIFO is made after its lock.
    pub(crate) fn dead_job_servers(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
        let mut dead = Vec::new();
        for entry in self.list(layout::LOCKS)? {
            let slot_stem = entry.name.strip_prefix('.').and_then(|name| name.strip_suffix(".jobs"));
            let Some(slot_stem) = slot_stem.filter(|stem| is_meant(stem)) else { continue };
            if self.meta(&format!("{}/{slot_stem}.lock", layout::LOCKS))?.is_none() {
                dead.push(format!("{}/{}", layout::LOCKS, entry.name));
            }
        }
        Ok(dead)
    }
}

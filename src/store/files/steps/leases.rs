//! The mark of a task that has taken leases under its own name, by which the end of the task finds them.

use crate::model::{LockKind, Sidecar, TaskId};
use crate::os::Open;
use crate::store::{Break, FreedBy, Result, Spool, layout};

/// The name of the mark's file.
const MARK: &str = "leases";

impl Spool {
    /// Marks that a task takes leases. The mark is made before the first of them.
    pub fn mark_leases(&self, id: TaskId) -> Result<()> {
        let _locked = self.lock_steps(id)?;
        self.open(&layout::step_file(id, MARK), Open::CreateNew(0o600)).map(drop)
    }

    /// Releases the leases that a task has taken under its own name. The caller holds the task's `supervisor.lock`, and the
    /// task's tree is dead. Idempotent.
    pub fn release_leases(&self, id: TaskId) -> Result<Vec<Break>> {
        let (mark, mut released) = (layout::step_file(id, MARK), Vec::new());
        if self.meta(&mark)?.is_none() {
            return Ok(released);
        }
        for (stem, slot) in self.lock_stems()? {
            if self.task_in_lock_file(&layout::lock_file(&stem, slot)).ok().flatten() != Some(id) {
                continue;
            }
            let Some(lane) = self.lane_of_stem(&stem, slot)? else { continue };
            let mut guards = self.enter_patiently(&lane)?;
            let Sidecar::Whole(record) = self.read_sidecar(&layout::sidecar(&stem, slot))? else { continue };
            let (holder, lock_id) = (id.to_string(), record.lock_id.unwrap_or_default());
            if record.kind != LockKind::Lease || record.task_id.as_ref() != Some(&holder) {
                continue;
            }
            self.free_lock(&mut guards, &lane, slot, FreedBy::Other)?;
            released.push(Break::by_holder(&lane, slot, lock_id, holder));
        }
        self.unlink(&mark)?;
        Ok(released)
    }
}

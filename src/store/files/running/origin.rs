//! The place where a task was started, and the command of a `luzia lock`.

use crate::model::{Grant, LockRecord, Origin, Probe, Task, TaskId};
use crate::store::{Result, Spool, layout};

impl Spool {
    /// The place of the last start of a task: by its recorded start, or, if that has no namespaces, by its locks.
    pub fn origin_of(&self, id: TaskId, task: Option<&Task>) -> Result<Origin> {
        let started = self.started(id)?.flatten().map(|started| started.origin);
        Ok(match (started, task) {
            (Some(origin), _) if origin.pid_namespace.is_some() => origin,
            (started, Some(task)) => self.origin_by_locks(task)?.or(started).unwrap_or_default(),
            (started, None) => started.unwrap_or_default(),
        })
    }

    fn origin_by_locks(&self, task: &Task) -> Result<Option<Origin>> {
        for lane in task.all_lanes() {
            let stem = lane.stem();
            for slot in self.occupied_slots(&stem)? {
                let sidecar = self.read_sidecar(&layout::sidecar(&stem, slot))?;
                let own = sidecar.record().filter(|record| record.is_held_by(&task.id.to_string()));
                if let Some(record) = own {
                    return Ok(Some(record.origin()));
                }
            }
        }
        Ok(None)
    }

    /// Records the command of a `luzia lock` in its sidecar, by its holder: when luzia is killed and its command has closed
    /// the lock file, the command is still known to live. False when the lock is no longer that holder's.
    pub fn record_command(&self, grant: &Grant, pid: u32) -> Result<bool> {
        let Probe::Alive { start } = self.host.procs.probe(pid) else { return Ok(false) };
        self.change_record(grant, &|record| record.command = Some((pid, start)))
    }

    /// Records that the command of a `luzia lock` has ended and left a process behind that keeps the lane. Also records the
    /// requester of the command, since its own process no longer shows it.
    pub fn record_left(&self, grant: &Grant, asked_by: Option<String>) -> Result<bool> {
        let now = self.host.clock.now();
        self.change_record(grant, &|record| {
            record.ended = Some(now);
            record.who.asked_by.clone_from(&asked_by);
        })
    }

    fn change_record(&self, grant: &Grant, change: &dyn Fn(&mut LockRecord)) -> Result<bool> {
        let _guards = self.enter_guards(&[&grant.lane])?;
        let Some(mut record) = self.record_of_grant(grant)? else { return Ok(false) };
        change(&mut record);
        self.write_sidecar(&grant.lane, grant.slot, &record, false).map(|()| true)
    }
}

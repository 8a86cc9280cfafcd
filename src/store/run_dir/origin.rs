//! Where the processes of a task or of a lock were started, and what this process can see of that place.

use crate::model::lock::Grant;
use crate::model::namespace::{Outlook, Sight, is_other_boot};
use crate::model::process::Probe;
use crate::model::{LockRecord, Origin, Task, TaskId};
use crate::store::Store;
use crate::store::error::Result;
use crate::store::files::disk::layout;

impl Store {
    /// What can be seen from here of the place where something was started.
    pub fn outlook(&self, recorded: Origin) -> Outlook {
        self.outlook_on(recorded, None).0
    }

    /// What can be seen from here of a place, and of the process that had `pid` there.
    fn outlook_on(&self, recorded: Origin, pid: Option<u32>) -> (Outlook, Option<Probe>) {
        let (own, is_proc_own) = (self.host.own_origin(), self.host.procs.is_proc_own());
        let boots = recorded.boot_id.as_deref().zip(own.boot_id.as_deref());
        let (sight, probe) = match recorded.pid_namespace {
            _ if boots.is_some_and(|(then, now)| is_other_boot(then, now)) => (Sight::NotLooked, None),
            // Its number means what it meant there, whether or not /proc shows anything.
            None => (Sight::NotLooked, pid.map(|pid| self.host.procs.probe(pid))),
            Some(namespace) if own.pid_namespace == Some(namespace) && namespace != 0 => {
                (Sight::NotLooked, pid.map(|pid| self.host.procs.probe(pid)))
            }
            Some(namespace) if is_proc_own && namespace != 0 => self.host.procs.look_below(namespace, pid),
            Some(_) => (Sight::NotLooked, None),
        };
        (Outlook { recorded, own, is_proc_own, sight }, probe)
    }

    /// What can be seen of the holder of a lock: of its place, of its process, and of the command of a `luzia lock`.
    pub(crate) fn look_at_holder(&self, record: &LockRecord) -> (Option<Outlook>, Option<Probe>, Option<Probe>) {
        if !record.rests_on_process() {
            return (None, None, None);
        }
        let (outlook, process) = self.outlook_on(record.origin(), record.pid);
        let command = record.command.and_then(|(pid, _)| self.outlook_on(record.origin(), Some(pid)).1);
        (Some(outlook), process, command)
    }

    /// What can be seen of the place where a task was started last: by its recorded start, or where that says nothing of
    /// namespaces, by its locks.
    pub fn outlook_of(&self, id: TaskId, task: Option<&Task>) -> Result<Outlook> {
        let started = self.started(id)?.flatten().map(|started| started.origin);
        let recorded = match (started, task) {
            (Some(origin), _) if origin.pid_namespace.is_some() => origin,
            (started, Some(task)) => self.origin_by_locks(task)?.or(started).unwrap_or_default(),
            (started, None) => started.unwrap_or_default(),
        };
        Ok(self.outlook(recorded))
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
    /// the lock file, the command is still known to live. False when the lock is not that holder's any more.
    pub fn record_command(&self, grant: &Grant, pid: u32) -> Result<bool> {
        let Probe::Alive { start } = self.host.procs.probe(pid) else { return Ok(false) };
        let stem = grant.lane.stem();
        let _guards = self.enter_guards(&[&grant.lane])?;
        let sidecar = self.read_sidecar(&layout::sidecar(&stem, grant.slot))?;
        let Some(record) = sidecar.record().filter(|record| record.lock_id.as_ref() == Some(&grant.lock_id.0)) else {
            return Ok(false);
        };
        let record = LockRecord { command: Some((pid, start)), ..record.clone() };
        self.write_sidecar(&grant.lane, grant.slot, &record, false).map(|()| true)
    }
}

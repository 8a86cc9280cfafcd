//! Files beside a running task: its recorded start, the requests to its supervisor, and the place of its start.
//!
//! `Started` is the recorded start of a task, in `running`. Only the holder of `supervisor.lock` writes it. `CancelRequest` and
//! `RunPause` are durable requests to the supervisor, to cancel the task or to pause it. `pause` writes the request to pause,
//! `run/<id>/pause.json`, durably. The supervisor stops the task's processes, confirms that by the permission bits of the file,
//! and removes it when the pause is over. `resume` gives the request an end in the past. The file goes with the run. `origin_of`
//! finds the place where a task was started. `record_command` records the command of a `luzia lock`.

use crate::model::control::TaskHold;
use crate::model::process::OTHER_ROOT;
use crate::model::time::MAX_DURATION_MS;
use crate::model::{Grant, Group, Identity, LockRecord, Origin, Probe, RootId, Task, TaskId, Timestamp};
use crate::os::Open;
use crate::store::{FORMAT_VERSION, Hold, Result, Spool, StoreError, encode_task, json_object, layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The record of one launch, durable before the launch (P3).
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Started {
    /// Counts the launches of the task, from 1.
    pub start: u32,
    /// Time of the launch.
    pub at: Timestamp,
    /// The supervisor.
    #[serde(flatten)]
    pub supervisor: Identity,
    /// The namespaces of the task; a member is absent in a record of an earlier luzia.
    #[serde(flatten)]
    pub origin: Origin,
    /// The state directory by the path that the task's processes have in their environment.
    pub state_dir: Option<String>,
    /// The state directory in which the start was made; absent in a record of an earlier luzia.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<RootId>,
    /// The control group in which the command is started, if there is one.
    #[serde(rename = "cgroup", skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// The lock id of the task's user lane.
    pub lock_id: String,
    /// The fence of the task's user lane.
    pub fence: u64,
    /// The values of the task's slots, by the names of their lanes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slots: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Written<'a> {
    v: u64,
    #[serde(flatten)]
    started: &'a Started,
}

/// The members of a record. They are not flattened: serde keeps unknown members for a flattened one, and refuses the record when
/// a number among them is out of range.
#[derive(Deserialize)]
struct Read {
    #[serde(rename = "v")]
    _version: u64,
    start: u32,
    at: Timestamp,
    pid: u32,
    pid_start: u64,
    boot_id: String,
    pid_namespace: Option<u64>,
    pid_namespace_init: Option<u64>,
    user_namespace: Option<u64>,
    state_dir: Option<String>,
    root: Option<String>,
    cgroup: Option<Group>,
    lock_id: String,
    fence: u64,
    #[serde(default)]
    slots: BTreeMap<String, String>,
}

/// A start as it is written.
pub(crate) fn encode_started(started: &Started) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Written { v: FORMAT_VERSION, started })
}

/// Reads a start; `None` when it is not whole.
pub(crate) fn decode_started(bytes: &[u8]) -> Option<Started> {
    let read: Read = json_object::read(bytes).ok()?;
    Some(Started {
        start: read.start,
        at: read.at,
        origin: Origin {
            boot_id: Some(read.boot_id.clone()),
            pid_namespace: read.pid_namespace,
            init_start: read.pid_namespace_init,
            user_namespace: read.user_namespace,
        },
        supervisor: Identity { pid: read.pid, start: read.pid_start, boot_id: read.boot_id },
        state_dir: read.state_dir,
        root: read.root.as_deref().and_then(RootId::parse),
        group: read.cgroup,
        lock_id: read.lock_id,
        fence: read.fence,
        slots: read.slots,
    })
}

impl Started {
    /// Whether the task was made in another state directory, from which this one was copied: none of its processes belongs
    /// to this one.
    pub fn is_elsewhere(&self) -> bool {
        self.supervisor.boot_id == OTHER_ROOT
    }

    /// Removes the living processes from a start that was copied with its state directory. `boot_id` is that of its origin;
    /// without it the life of the processes is unknown.
    fn disown(self, boot_id: Option<&str>) -> Self {
        let nobody = Identity { pid: 0, start: 0, boot_id: OTHER_ROOT.to_owned() };
        let boot_id = boot_id.map(str::to_owned);
        let origin = Origin { boot_id, pid_namespace: Some(0), init_start: None, user_namespace: None };
        Self { supervisor: nobody, origin, state_dir: None, group: None, ..self }
    }
}

impl Spool {
    /// Records a start durably (P3), and makes the empty file of its result, which is returned. Commit point: the sync of
    /// `running`; the file's existence alone already means "started". That sync also covers the name of the other file, and
    /// the record's move to there. A file system that journals folders apart could otherwise bring the record back to its old
    /// place, and the task would start again as if it never had.
    pub fn record_start(&self, id: TaskId, started: &Started) -> Result<Hold> {
        let path = layout::started(id);
        let bytes = encode_started(started).map_err(|error| StoreError::corrupt(&path, error.to_string()))?;
        let result = self.write_whole(&layout::result(id), Open::Truncate(0o600), b"")?;
        let write = || {
            let mut handle = self.write_whole(&path, Open::CreateNew(0o600), &bytes)?;
            handle.sync_data().map_err(StoreError::io("sync", &path))?;
            self.sync_dir(layout::RUNNING)
        };
        match write() {
            Ok(()) => Ok(Hold::of(result)),
            Err(error @ StoreError::Io { action: "create", .. }) => Err(error),
            Err(error) => {
                // Nothing was launched, so it is no start. If the file stays, it counts as one.
                let _ = self.unlink(&path);
                Err(error)
            }
        }
    }

    /// Replaces the record of a running task whose tree is dead, between two steps that it takes within one claim, and forgets
    /// its last start. The next start syncs the folder; a crash before it finds the old record, or the new one without a
    /// start, which spends no attempt. The caller holds the task's `supervisor.lock`.
    pub fn keep_running(&self, task: &Task) -> Result<()> {
        self.put(&layout::tmp(task.id, self.host.me.pid), &layout::running(task.id), &encode_task(task)?)?;
        self.unlink(&layout::started(task.id)).map(drop)
    }

    /// The recorded start of a task; `Some(None)` when it was being recorded at the moment of a crash.
    pub fn started(&self, id: TaskId) -> Result<Option<Option<Started>>> {
        let path = layout::started(id);
        let bytes = match self.read(&path) {
            Err(StoreError::Corrupt { .. }) => return Ok(Some(None)),
            other => other?,
        };
        let Some(found) = bytes.map(|bytes| decode_started(&bytes)) else { return Ok(None) };
        let Some(started) = found else { return Ok(Some(None)) };
        // A record of an earlier version has the path only. If that path leads nowhere, the directory may have been moved.
        let told = || started.state_dir.as_deref().filter(|path| *path != self.state_dir());
        let (own, root) = (self.host.root(), started.root.or_else(|| told().map(|path| self.root_at(path))?));
        let is_moved = root.is_none() && told().is_some();
        Ok(Some(Some(match (own.zip(root), is_moved) {
            (Some((own, root)), _) if own != root => started.disown(Some(OTHER_ROOT)),
            (None, true) if !self.run_dir.is_tree_locked(id)? => started.disown(None),
            _ => started,
        })))
    }

    /// The state directory at a path, if there is one.
    pub(crate) fn root_at(&self, path: &str) -> Option<RootId> {
        let files = self.vfs.open_root(path, false).ok()??;
        files.meta(".").ok()?.map(|meta| meta.ident.into())
    }

    /// Removes the recorded start, a result that was not written, and `run/<id>/` with everything in it. The caller holds
    /// its `supervisor.lock`, which goes last.
    pub(crate) fn remove_run_dir(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::started(id))?;
        self.unlink(&layout::result(id))?;
        self.run_dir.remove(id)
    }
}

const CANCEL: &str = "cancel.json";

/// A durable request to cancel a running task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CancelRequest {
    /// The requester.
    pub by: String,
    /// The reason of the cancel.
    #[serde(default)]
    pub reason: Option<String>,
    /// The time between SIGTERM and SIGKILL, in milliseconds; the task's own when absent.
    #[serde(default)]
    pub grace_ms: Option<u64>,
    /// Whether the task is queued again and not cancelled: it makes room for another task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requeue: bool,
}

impl CancelRequest {
    /// A request with a reason, by the grace of the task.
    pub fn by(by: &str, reason: &str) -> Self {
        Self { by: by.to_owned(), reason: Some(reason.to_owned()), grace_ms: None, requeue: false }
    }
}

/// Reads `cancel.json`. An invalid file is still a request, and no request asks for more grace than any task has.
pub(crate) fn decode_cancel(bytes: &[u8]) -> CancelRequest {
    let unread = CancelRequest { by: "unknown".into(), reason: None, grace_ms: None, requeue: false };
    let request: CancelRequest = json_object::read(bytes).unwrap_or(unread);
    CancelRequest { grace_ms: request.grace_ms.map(|ms| ms.min(MAX_DURATION_MS)), ..request }
}

impl Spool {
    /// Writes a request to cancel durably. False when the task no longer has `run/<id>/`.
    pub fn request_cancel(&self, id: TaskId, request: &CancelRequest) -> Result<bool> {
        self.put_request(id, CANCEL, request)
    }

    /// Writes a request to a supervisor durably: a file of `run/<id>/`, by its rename. False when the task has no such folder.
    fn put_request(&self, id: TaskId, name: &str, request: &impl Serialize) -> Result<bool> {
        let bytes = serde_json::to_vec(request).map_err(|error| StoreError::corrupt(name, error.to_string()))?;
        if self.meta(&layout::run_dir(id))?.is_none() {
            return Ok(false);
        }
        let path = layout::run_file(id, name);
        let tmp = layout::tmp(id, self.host.me.pid);
        self.stage(&tmp, &bytes)?;
        if !self.rename(&tmp, &path)? {
            self.unlink(&tmp)?;
            return Ok(false);
        }
        // The folder's own name was never synced: a start does not need it.
        Ok(self.sync_if_there(&layout::run_dir(id))? && self.sync_dir(layout::RUN).map(|()| true)?)
    }

    /// The request to cancel a task, if there is one. An invalid file is still a request.
    pub fn cancel_request(&self, id: TaskId) -> Result<Option<CancelRequest>> {
        match self.read(&layout::run_file(id, CANCEL)) {
            Ok(bytes) => Ok(bytes.map(|bytes| decode_cancel(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(Some(decode_cancel(b""))),
            Err(error) => Err(error),
        }
    }
}

const PAUSE: &str = "pause.json";
/// The bits of the file while the task is paused for exactly its content.
const IN_EFFECT: u32 = 0o700;

/// A pause of a running task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunPause {
    /// The start, the end, the reason and the requester of the pause.
    pub hold: TaskHold,
    /// Whether the task's processes are stopped for it.
    pub is_in_effect: bool,
}

/// Reads `pause.json`. An invalid file is a pause without details: the task does not go on by itself, and `resume` ends the
/// pause.
pub(crate) fn decode_pause(bytes: &[u8]) -> TaskHold {
    let unread = TaskHold { since: Timestamp(0), until: None, reason: None, by: None, start_left_ms: None };
    json_object::read(bytes).unwrap_or(unread)
}

impl Spool {
    /// Asks the supervisor of a task to stop its processes, or, with an end in the past, to let them go on. Commit point is
    /// the sync of `run/<id>/`. False when the task no longer has such a folder.
    pub fn request_pause(&self, id: TaskId, asked: &TaskHold) -> Result<bool> {
        self.put_request(id, PAUSE, asked)
    }

    /// The pause that is requested of the supervisor of a task, if any.
    pub fn run_pause(&self, id: TaskId) -> Result<Option<RunPause>> {
        let path = layout::run_file(id, PAUSE);
        let bytes = match self.read(&path) {
            Err(StoreError::Corrupt { .. }) => Some(Vec::new()),
            read => read?,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        // The content is read before the bits: set bits belong to this content or to a later one.
        let Some(meta) = self.meta(&path)? else { return Ok(None) };
        Ok(Some(RunPause { hold: decode_pause(&bytes), is_in_effect: meta.mode == IN_EFFECT }))
    }

    /// Confirms that the task is paused as requested. The caller holds the task's `supervisor.lock`.
    pub fn show_pause(&self, id: TaskId) -> Result<()> {
        let path = layout::run_file(id, PAUSE);
        self.vfs.set_mode(&path, IN_EFFECT).map_err(StoreError::io("set the mode of", &path))
    }

    /// Removes the request when the pause is over. The caller holds the task's `supervisor.lock`.
    pub fn end_pause(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::run_file(id, PAUSE)).map(drop)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_reads_back_and_a_damaged_one_is_a_pause_without_an_end() {
        let hold = TaskHold {
            since: Timestamp(1000),
            until: Some(Timestamp(2000)),
            reason: Some("lunch".into()),
            by: Some("root".into()),
            start_left_ms: None,
        };
        assert_eq!(decode_pause(&serde_json::to_vec(&hold).expect("text")), hold);
        assert!(hold.stands(Timestamp(1999)) && !hold.stands(Timestamp(2000)));
        for wrong in ["", "{}", "[1]", "{\"since\":\"never\"}", "{\"since\":"] {
            assert_eq!(decode_pause(wrong.as_bytes()).until, None, "{wrong}");
        }
    }
}

//! `run/<id>/`: the private proof of a task's life and a request to cancel it; and its recorded start, in `running`. Only
//! who holds `supervisor.lock` changes anything of these, but for the request to cancel.

pub(crate) mod group;
pub(crate) mod log_notes;
pub(crate) mod origin;
pub(crate) mod pause;
pub(crate) mod shortage;

use crate::model::time::MAX_DURATION_MS;
use crate::model::{Group, Identity, Origin, TaskId, Timestamp};
use crate::os::{Handle, Open};
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::{json_object, layout};
use crate::store::{FORMAT_VERSION, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file whose kernel lock is the life of a supervisor.
pub const SUPERVISOR_LOCK: &str = "supervisor.lock";
/// The file whose kernel lock the processes of a task's tree inherit.
pub const TREE_LOCK: &str = "tree.lock";
const CANCEL: &str = "cancel.json";

/// The record of one launch, durable before the launch (P3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Started {
    /// Counts the launches of the task, from 1.
    pub start: u32,
    /// When.
    pub at: Timestamp,
    /// The supervisor.
    pub supervisor: Identity,
    /// Its namespaces; a member is absent in a record of an earlier luzia.
    pub origin: Origin,
    /// The state directory by the path that the task's processes have in their environment.
    pub state_dir: Option<String>,
    /// The control group in which the command is born, where there is one.
    pub group: Option<Group>,
    /// The lock id of the task's user lane.
    pub lock_id: String,
    /// The fence of the task's user lane.
    pub fence: u64,
    /// What its slots stand for, by the names of their lanes.
    pub slots: BTreeMap<String, String>,
}

/// A durable request to cancel a running task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CancelRequest {
    /// Who asks.
    pub by: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// The time between SIGTERM and SIGKILL, in milliseconds; the task's own when absent.
    #[serde(default)]
    pub grace_ms: Option<u64>,
    /// Whether it is queued again and not cancelled: it makes room for another task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requeue: bool,
}

#[derive(Serialize, Deserialize)]
struct StartedFile {
    v: u64,
    start: u32,
    at: String,
    pid: u32,
    pid_start: u64,
    boot_id: String,
    #[serde(default)]
    pid_namespace: Option<u64>,
    #[serde(default)]
    pid_namespace_init: Option<u64>,
    #[serde(default)]
    user_namespace: Option<u64>,
    #[serde(default)]
    state_dir: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cgroup: Option<GroupFile>,
    lock_id: String,
    fence: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    slots: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct GroupFile {
    path: String,
    inode: u64,
    above: u64,
}

/// A start as it is written.
pub(crate) fn encode_started(started: &Started) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&StartedFile {
        v: FORMAT_VERSION,
        start: started.start,
        at: started.at.to_string(),
        pid: started.supervisor.pid,
        pid_start: started.supervisor.start,
        boot_id: started.supervisor.boot_id.clone(),
        pid_namespace: started.origin.pid_namespace,
        pid_namespace_init: started.origin.init_start,
        user_namespace: started.origin.user_namespace,
        state_dir: started.state_dir.clone(),
        cgroup: started.group.clone().map(|Group { path, inode, above }| GroupFile { path, inode, above }),
        lock_id: started.lock_id.clone(),
        fence: started.fence,
        slots: started.slots.clone(),
    })
}

/// Reads a start; `None` when it is not whole.
pub(crate) fn decode_started(bytes: &[u8]) -> Option<Started> {
    let file: StartedFile = json_object::read(bytes).ok()?;
    Some(Started {
        start: file.start,
        at: Timestamp::parse(&file.at)?,
        origin: Origin {
            boot_id: Some(file.boot_id.clone()),
            pid_namespace: file.pid_namespace,
            init_start: file.pid_namespace_init,
            user_namespace: file.user_namespace,
        },
        state_dir: file.state_dir,
        group: file.cgroup.map(|GroupFile { path, inode, above }| Group { path, inode, above }),
        supervisor: Identity { pid: file.pid, start: file.pid_start, boot_id: file.boot_id },
        lock_id: file.lock_id,
        fence: file.fence,
        slots: file.slots,
    })
}

/// Reads `cancel.json`. One that does not read still is a request, and no request asks for more grace than any task has.
pub(crate) fn decode_cancel(bytes: &[u8]) -> CancelRequest {
    let unread = CancelRequest { by: "unknown".into(), reason: None, grace_ms: None, requeue: false };
    let request: CancelRequest = json_object::read(bytes).unwrap_or(unread);
    CancelRequest { grace_ms: request.grace_ms.map(|ms| ms.min(MAX_DURATION_MS)), ..request }
}

impl Store {
    /// Takes the right to act for a task: its `supervisor.lock`. `None` while somebody else has it.
    pub fn take_supervisor_lock(&self, id: TaskId) -> Result<Option<Box<dyn Handle>>> {
        let path = layout::run_file(id, SUPERVISOR_LOCK);
        loop {
            let opened = match self.vfs.open(&path, Open::Existing) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                other => other.map_err(StoreError::io("open", &path))?,
            };
            let is_old = opened.is_some();
            let mut handle = match opened {
                Some(handle) => handle,
                None => match self.create_supervisor_lock(id, &path)? {
                    Some(handle) => handle,
                    None => continue,
                },
            };
            if !handle.try_lock(false).map_err(StoreError::io("lock", &path))? {
                return Ok(None);
            }
            // Its last holder removes the file while it holds the lock; a lock on a removed file is worth nothing. A file
            // that was made here has one name, this one.
            let mine = handle.meta().map_err(StoreError::io("look at", &path))?;
            let is_at_path = || Ok(self.meta(&path)?.is_some_and(|meta| meta.ident == mine.ident));
            if mine.links > 0 && (!is_old || is_at_path()?) {
                return Ok(Some(handle));
            }
        }
    }

    fn create_supervisor_lock(&self, id: TaskId, path: &str) -> Result<Option<Box<dyn Handle>>> {
        self.make_dir(&layout::run_dir(id))?;
        match self.vfs.open(path, Open::CreateNew(0o600)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            other => other.map_err(StoreError::io("create", path)),
        }
    }

    /// Whether a supervisor, or a dispatcher about to start one, holds the task.
    pub fn is_supervised(&self, id: TaskId) -> Result<bool> {
        self.is_kernel_locked(&layout::run_file(id, SUPERVISOR_LOCK))
    }

    /// Whether a process of the task's tree holds `tree.lock`.
    pub fn is_tree_locked(&self, id: TaskId) -> Result<bool> {
        self.is_kernel_locked(&layout::run_file(id, TREE_LOCK))
    }

    /// Device and inode of `tree.lock`, when it exists.
    pub fn tree_ident(&self, id: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::run_file(id, TREE_LOCK))?.map(|meta| meta.ident))
    }

    /// Opens and locks `tree.lock`, for the command to inherit.
    pub fn lock_tree(&self, id: TaskId) -> Result<Box<dyn Handle>> {
        let path = layout::run_file(id, TREE_LOCK);
        let busy = || StoreError::io("lock", &path)(std::io::ErrorKind::WouldBlock.into());
        let mut handle = match self.open(&path, Open::CreateNew(0o600))? {
            Some(handle) => handle,
            None => self.open(&path, Open::Existing)?.ok_or_else(busy)?,
        };
        // A looker may hold it, shared, for an instant.
        self.lock_soon(handle.as_mut(), &path, false)?;
        Ok(handle)
    }

    /// Records a start durably (P3), and makes the empty file of its result, which is given. Commit point: the sync of
    /// `running`; the file's existence alone already means "started". That sync also covers the name of the other file, and
    /// the record's move to there: a file system that journals folders apart could bring the record back to its old place,
    /// and the task would start again as if it never had.
    pub fn record_start(&self, id: TaskId, started: &Started) -> Result<Box<dyn Handle>> {
        let path = layout::started(id);
        let bytes = encode_started(started).map_err(|error| StoreError::corrupt(&path, error.to_string()))?;
        let result = self.write_whole(&layout::result(id), Open::Truncate(0o600), b"")?;
        let write = || {
            let mut handle = self.write_whole(&path, Open::CreateNew(0o600), &bytes)?;
            handle.sync_data().map_err(StoreError::io("sync", &path))?;
            self.sync_dir(layout::RUNNING)
        };
        match write() {
            Ok(()) => Ok(result),
            Err(error @ StoreError::Io { action: "create", .. }) => Err(error),
            Err(error) => {
                // Nothing was launched, so it is no start. Where it stays, it counts as one.
                let _ = self.unlink(&path);
                Err(error)
            }
        }
    }

    /// Whether the state directory has space for a small file more.
    pub fn has_space(&self, id: TaskId) -> bool {
        const SOME: [u8; 4096] = [0; 4096];
        let tmp = layout::tmp(id, self.host.me.pid);
        let written = self.write_whole(&tmp, Open::Truncate(0o600), &SOME).and_then(|_| self.unlink(&tmp));
        written.is_ok()
    }

    /// The recorded start of a task; `Some(None)` when it was being recorded at the moment of a crash.
    pub fn started(&self, id: TaskId) -> Result<Option<Option<Started>>> {
        let path = layout::started(id);
        let bytes = match self.read(&path) {
            Err(StoreError::Corrupt { .. }) => return Ok(Some(None)),
            other => other?,
        };
        Ok(bytes.map(|bytes| decode_started(&bytes)))
    }

    /// Writes a request to cancel durably. False when the task has no `run/<id>/` any more.
    pub fn request_cancel(&self, id: TaskId, request: &CancelRequest) -> Result<bool> {
        let bytes = serde_json::to_vec(request).map_err(|error| StoreError::corrupt(CANCEL, error.to_string()))?;
        self.put_request(id, CANCEL, &bytes)
    }

    /// Writes a request to a supervisor durably: a file of `run/<id>/`, by its rename. False when the task has no such folder.
    fn put_request(&self, id: TaskId, name: &str, bytes: &[u8]) -> Result<bool> {
        if self.meta(&layout::run_dir(id))?.is_none() {
            return Ok(false);
        }
        let path = layout::run_file(id, name);
        let tmp = layout::tmp(id, self.host.me.pid);
        self.stage(&tmp, bytes)?;
        if !self.rename(&tmp, &path)? {
            self.unlink(&tmp)?;
            return Ok(false);
        }
        match self.vfs.sync_dir(&layout::run_dir(id)) {
            // The folder's own name was never synced: a start does not need it.
            Ok(()) => self.sync_dir(layout::RUN).map(|()| true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("sync", &path)(error)),
        }
    }

    /// The request to cancel a task, if there is one. One that does not read still is a request.
    pub fn cancel_request(&self, id: TaskId) -> Result<Option<CancelRequest>> {
        match self.read(&layout::run_file(id, CANCEL)) {
            Ok(bytes) => Ok(bytes.map(|bytes| decode_cancel(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(Some(decode_cancel(b""))),
            Err(error) => Err(error),
        }
    }

    /// Removes the recorded start, a result that was not written, and `run/<id>/` with everything in it. The caller holds
    /// its `supervisor.lock`, which goes last.
    pub(crate) fn remove_run_dir(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::started(id))?;
        self.unlink(&layout::result(id))?;
        self.remove_run_dir_alone(id)
    }

    /// Removes `run/<id>/` of a task that has neither a recorded start nor a result any more.
    pub(crate) fn remove_run_dir_alone(&self, id: TaskId) -> Result<()> {
        for entry in self.list(&layout::run_dir(id))? {
            if entry.name != SUPERVISOR_LOCK {
                self.unlink(&layout::run_file(id, &entry.name))?;
            }
        }
        self.unlink(&layout::run_file(id, SUPERVISOR_LOCK))?;
        self.remove_dir(&layout::run_dir(id))?;
        Ok(())
    }
}

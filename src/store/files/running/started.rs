//! The recorded start of a task, in `running`. Only the holder of `supervisor.lock` writes it.

use crate::model::namespace::OTHER_ROOT;
use crate::model::{Group, Identity, Origin, RootId, Task, TaskId, Timestamp};
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
    /// Its namespaces; a member is absent in a record of an earlier luzia.
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
    /// The values of its slots, by the names of their lanes.
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
    /// Whether it was made in another state directory, from which this one was copied: none of its processes belongs to this
    /// one.
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

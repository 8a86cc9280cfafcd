//! `run/<id>/`: the part of a task that is local to the host on which it runs. It has the lock of the supervisor, the lock of the
//! tree, and the other files that only the supervisor writes there. A store that several hosts share has none of this.

mod away;
pub(crate) mod group;
pub(crate) mod log_notes;
pub(crate) mod shortage;
mod yielded;

use crate::model::TaskId;
use crate::os::{Handle, Open};
use crate::store::conductor::LastMeta;
use crate::store::{Disk, Hold, Result, StoreError, layout};
use std::fs::File;
use std::ops::Deref;

/// The file whose kernel lock is the life of a supervisor.
pub const SUPERVISOR_LOCK: &str = "supervisor.lock";
/// The file whose kernel lock the processes of a task's tree inherit.
pub const TREE_LOCK: &str = "tree.lock";

/// The folders `run/<id>/` and the conductor directories of this host: a cheap handle, which may be cloned.
#[derive(Clone)]
pub struct RunDir {
    disk: Disk,
    pub(super) last_meta: LastMeta,
}

impl Deref for RunDir {
    type Target = Disk;

    fn deref(&self) -> &Disk {
        &self.disk
    }
}

impl RunDir {
    /// The folders below a state directory that is open.
    pub(crate) fn on(disk: Disk) -> Self {
        Self { disk, last_meta: LastMeta::default() }
    }

    /// Takes the right to act for a task: its `supervisor.lock`. `None` while another process has it.
    pub fn take_supervisor_lock(&self, id: TaskId) -> Result<Option<Hold>> {
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
                return Ok(Some(Hold::of(handle)));
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
        self.is_held(&layout::run_file(id, SUPERVISOR_LOCK), true)
    }

    /// Whether a process of the task's tree holds `tree.lock`.
    pub fn is_tree_locked(&self, id: TaskId) -> Result<bool> {
        self.is_held(&layout::run_file(id, TREE_LOCK), true)
    }

    /// Device and inode of `tree.lock`, when it exists.
    pub fn tree_ident(&self, id: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::run_file(id, TREE_LOCK))?.map(|meta| meta.ident))
    }

    /// Opens and locks `tree.lock`, for the command to inherit.
    pub fn lock_tree(&self, id: TaskId) -> Result<Hold> {
        let path = layout::run_file(id, TREE_LOCK);
        let busy = || StoreError::io("lock", &path)(std::io::ErrorKind::WouldBlock.into());
        let mut handle = match self.open(&path, Open::CreateNew(0o600))? {
            Some(handle) => handle,
            None => self.open(&path, Open::Existing)?.ok_or_else(busy)?,
        };
        // A looker may hold it, shared, for an instant.
        self.lock_soon(handle.as_mut(), &path, false)?;
        Ok(Hold::of(handle))
    }

    /// Whether the state directory has space for one more small file.
    pub fn has_space(&self, id: TaskId) -> bool {
        const SOME: [u8; 4096] = [0; 4096];
        let tmp = layout::tmp(id, self.host.me.pid);
        let written = self.write_whole(&tmp, Open::Truncate(0o600), &SOME).and_then(|_| self.unlink(&tmp));
        written.is_ok()
    }

    /// Removes `run/<id>/` of a task that no longer has a recorded start or a result.
    pub(crate) fn remove(&self, id: TaskId) -> Result<()> {
        for entry in self.list(&layout::run_dir(id))? {
            if entry.name != SUPERVISOR_LOCK {
                self.unlink(&layout::run_file(id, &entry.name))?;
            }
        }
        self.unlink(&layout::run_file(id, SUPERVISOR_LOCK))?;
        self.remove_dir(&layout::run_dir(id))?;
        Ok(())
    }

    /// Shows people that the supervisor of a task is at work: the file's content is the boot clock and the boot.
    pub fn beat(&self, id: TaskId) {
        let path = layout::run_file(id, "heartbeat");
        if let Ok(Some(mut file)) = self.vfs.open(&path, Open::Truncate(0o600)) {
            let _ = file.write_all(format!("{} {}\n", self.host.clock.boot_ms(), self.host.clock.boot_id()).as_bytes());
        }
    }

    /// Writes a text to a file of `run/<id>/`, and opens it for the standard input of a command or a hook.
    pub fn input_file(&self, id: TaskId, name: &str, text: &str) -> Result<Option<File>> {
        let path = layout::run_file(id, name);
        self.write_whole(&path, Open::Truncate(0o600), text.as_bytes())?;
        Ok(self.open(&path, Open::ReadOnly)?.and_then(Handle::into_file))
    }

    /// Hands a task to a new supervisor process: its lock changes hands without a gap. Returns the supervisor's pid.
    pub fn launch_supervisor(&self, args: &[String], lock: Hold) -> Result<u32> {
        self.host
            .procs
            .launch_supervisor(args, lock.into_descriptor())
            .map_err(StoreError::io("start a supervisor for", self.state_dir()))
    }

    /// Becomes a supervisor and takes over the lock that this process was started with.
    pub fn take_over(&self, id: TaskId) -> Result<Option<Hold>> {
        self.inherit(&layout::run_file(id, SUPERVISOR_LOCK), "become the supervisor of")
    }

    /// Goes on to another task, whose lock this process has taken itself: from here on it is that task's supervisor.
    pub fn go_on_to(&self, id: TaskId, lock: &Hold) -> Result<()> {
        let path = layout::run_file(id, SUPERVISOR_LOCK);
        self.host.procs.replace_input(lock.share()).map_err(StoreError::io("go on to", &path))
    }
}

//! Who waits for a child, and so lends it the lanes of its parent: a shared kernel lock on `spool/loans/<id of the child>`.
//! Who waits for a task that another request has queued with the same key: one on `spool/followed/<id>`. Which task waits for
//! another one by `luzia wait`: one on `spool/awaited/<id>-<the other one>`.
//! The lock is the proof of the wait, in every pid namespace; a waiter that is killed counts no more.

use crate::model::TaskId;
use crate::os::{Handle, Open, Vfs};
use crate::store::FileStore;
use crate::store::error::{Result, StoreError};
use crate::store::files::disk::{file_name, layout};
use std::sync::Arc;

/// A wait for a task. It ends when this is dropped.
pub struct Lending {
    child: TaskId,
    file: Box<dyn Handle>,
    vfs: Arc<dyn Vfs>,
    path: String,
}

impl Lending {
    /// The task.
    pub fn child(&self) -> TaskId {
        self.child
    }

    /// Whether nobody else waits for the child.
    pub fn is_sole(&mut self) -> Result<bool> {
        let wrong = StoreError::io("lock", &self.path);
        let is_sole = self.file.try_lock(false).map_err(wrong)?;
        let is_lent = self.file.try_lock(true).map_err(StoreError::io("lock", &self.path))?;
        Ok(is_sole && is_lent)
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        // The last one who waits for a task removes the file, unless it names a parent that waits without a process.
        let is_empty = self.file.meta().is_ok_and(|meta| meta.size == 0);
        if is_empty && self.file.try_lock(false).unwrap_or(false) {
            let _ = self.vfs.unlink(&self.path);
        }
        let _ = self.file.unlock();
    }
}

impl FileStore {
    /// Says that somebody waits for a child, as long as this process keeps what it gets.
    pub fn lend_to(&self, child: TaskId) -> Result<Lending> {
        self.make_dir(layout::LOANS)?;
        self.share(child, layout::loan(child))
    }

    /// Says that a task waits for another one by `luzia wait`, as long as this process keeps what it gets.
    pub fn await_task(&self, waiter: TaskId, id: TaskId) -> Result<Lending> {
        self.make_dir(layout::AWAITED)?;
        self.share(id, layout::awaited(waiter, id))
    }

    /// Which tasks wait for others by `luzia wait`, each with such a one. What killed waiters left tells nothing, and is removed
    /// where that can be.
    pub fn awaited(&self) -> Result<Vec<(TaskId, TaskId)>> {
        let entries = self.vfs.list(layout::AWAITED).map_err(StoreError::io("list", layout::AWAITED))?;
        let pair = |name: &str| {
            let (waiter, id) = name.split_once('-')?;
            Some((file_name::task(waiter)?, file_name::task(id)?))
        };
        let mut awaited = Vec::new();
        for (waiter, id) in entries.iter().flatten().filter_map(|entry| pair(&entry.name)) {
            let path = layout::awaited(waiter, id);
            let Some(mut file) = self.open(&path, Open::ReadOnly)? else { continue };
            if file.try_lock(false).map_err(StoreError::io("lock", &path))? {
                let _ = self.vfs.unlink(&path);
                let _ = file.unlock();
            } else {
                awaited.push((waiter, id));
            }
        }
        Ok(awaited)
    }

    /// Says that somebody waits for a task that another request has queued, as long as this process keeps what it gets. What
    /// killed waiters left is removed.
    pub fn follow(&self, id: TaskId) -> Result<Lending> {
        self.make_dir(layout::FOLLOWED)?;
        let entries = self.vfs.list(layout::FOLLOWED).map_err(StoreError::io("list", layout::FOLLOWED))?;
        for other in entries.iter().flatten().filter_map(|entry| file_name::task(&entry.name)) {
            self.is_followed(other)?;
        }
        self.share(id, layout::followed(id))
    }

    /// Whether somebody waits for a task that another request has queued.
    pub fn is_followed(&self, id: TaskId) -> Result<bool> {
        let path = layout::followed(id);
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(false) };
        let is_free = file.try_lock(false).map_err(StoreError::io("lock", &path))?;
        if is_free {
            self.unlink(&path)?;
            file.unlock().map_err(StoreError::io("unlock", &path))?;
        }
        Ok(!is_free)
    }

    fn share(&self, child: TaskId, path: String) -> Result<Lending> {
        loop {
            let mut file = self.open_or_make(&path)?;
            self.lock_soon(file.as_mut(), &path, true)?;
            // A lock on a file that was removed meanwhile tells nobody.
            if file.meta().map_err(StoreError::io("look at", &path))?.links > 0 {
                return Ok(Lending { child, file, vfs: Arc::clone(&self.vfs), path });
            }
        }
    }

    /// Device and inode of the file that those who wait for a child have open and locked, where there is one.
    pub fn loan_file(&self, child: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::loan(child))?.map(|meta| meta.ident))
    }

    /// Whether somebody waits for a child.
    pub fn is_lent_to(&self, child: TaskId) -> Result<bool> {
        let path = layout::loan(child);
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(false) };
        let is_free = file.try_lock(false).map_err(StoreError::io("lock", &path))?;
        if is_free {
            file.unlock().map_err(StoreError::io("unlock", &path))?;
            return Ok(self.waiting_lender(child)?.is_some());
        }
        Ok(true)
    }

    /// The children for whom somebody waits, in the order of their numbers. What a killed waiter left is removed.
    pub fn lent_to(&self) -> Result<Vec<TaskId>> {
        let Some(entries) = self.vfs.list(layout::LOANS).map_err(StoreError::io("list", layout::LOANS))? else {
            return Ok(Vec::new());
        };
        let mut children = Vec::new();
        for id in entries.iter().filter_map(|entry| file_name::task(&entry.name)) {
            let path = layout::loan(id);
            let Some(mut file) = self.open(&path, Open::ReadOnly)? else { continue };
            if !file.try_lock(false).map_err(StoreError::io("lock", &path))? {
                children.push(id);
                continue;
            }
            if self.waiting_lender(id)?.is_some() {
                file.unlock().map_err(StoreError::io("unlock", &path))?;
                children.push(id);
                continue;
            }
            self.unlink(&path)?;
            file.unlock().map_err(StoreError::io("unlock", &path))?;
        }
        children.sort_unstable();
        Ok(children)
    }
}

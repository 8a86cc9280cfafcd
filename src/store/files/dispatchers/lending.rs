//! Waiters for tasks, each shown by a shared kernel lock. A waiter for a child lends it the lanes of its parent: the lock is
//! on `spool/loans/<id of the child>`. A waiter for a task that another request has queued with the same key locks
//! `spool/followed/<id>`. A task that waits for another one by `luzia wait` locks `spool/awaited/<id>-<the other one>`. A wait
//! for a task inside a `luzia lock` locks `spool/awaited/p<pid>-<the task>`. The lock proves the wait in every pid namespace; a
//! killed waiter no longer counts.

use crate::model::{Member, TaskId};
use crate::os::{Handle, Open, Vfs};
use crate::store::files::disk::lock_retry::is_held_by_others;
use crate::store::{Result, Spool, StoreError, file_name, layout};
use std::sync::Arc;

/// The member in the name of a file below `spool/awaited`.
fn member(word: &str) -> Option<Member> {
    match word.strip_prefix('p') {
        Some(pid) => pid.parse().ok().map(Member::Lock),
        None => file_name::task(word).map(Member::Task),
    }
}

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

    /// Whether this is the only waiter for the child.
    pub fn is_sole(&mut self) -> Result<bool> {
        let wrong = StoreError::io("lock", &self.path);
        let is_sole = self.file.try_lock(false).map_err(wrong)?;
        let is_lent = self.file.try_lock(true).map_err(StoreError::io("lock", &self.path))?;
        Ok(is_sole && is_lent)
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        // The last waiter for a task removes the file, unless it names a parent that waits without a process.
        let is_empty = self.file.meta().is_ok_and(|meta| meta.size == 0);
        if is_empty && self.file.try_lock(false).unwrap_or(false) {
            let _ = self.vfs.unlink(&self.path);
        }
        let _ = self.file.unlock();
    }
}

impl Spool {
    /// Marks that this process waits for a child, as long as it keeps the returned value.
    pub fn lend_to(&self, child: TaskId) -> Result<Lending> {
        self.make_dir(layout::LOANS)?;
        self.share(child, layout::loan(child))
    }

    /// Marks that a process inside a task or a `luzia lock` waits for a task, as long as this process keeps the returned value.
    pub fn await_task(&self, waiter: Member, id: TaskId) -> Result<Lending> {
        self.make_dir(layout::AWAITED)?;
        self.share(id, layout::awaited(waiter, id))
    }

    /// The waiters that are marked, each with a task that it waits for. Files that killed waiters left are ignored, and removed
    /// if possible.
    pub fn awaited(&self) -> Result<Vec<(Member, TaskId)>> {
        let pair = |name: &str| {
            let (waiter, id) = name.split_once('-')?;
            Some((member(waiter)?, file_name::task(id)?))
        };
        let mut awaited = Vec::new();
        for (waiter, id) in self.list(layout::AWAITED)?.iter().filter_map(|entry| pair(&entry.name)) {
            if self.has_waiter_at(&layout::awaited(waiter, id))? {
                awaited.push((waiter, id));
            }
        }
        Ok(awaited)
    }

    /// Marks that this process waits for a task that another request has queued, as long as it keeps the returned value.
    /// Files that killed waiters left are removed.
    pub fn follow(&self, id: TaskId) -> Result<Lending> {
        self.make_dir(layout::FOLLOWED)?;
        for other in self.tasks_in(layout::FOLLOWED)? {
            self.is_followed(other)?;
        }
        self.share(id, layout::followed(id))
    }

    /// Whether any process waits for a task that another request has queued.
    pub fn is_followed(&self, id: TaskId) -> Result<bool> {
        self.has_waiter_at(&layout::followed(id))
    }

    /// Whether a waiter holds the lock of a file. A file that a killed waiter left is removed if possible.
    fn has_waiter_at(&self, path: &str) -> Result<bool> {
        let Some(mut file) = self.open(path, Open::ReadOnly)? else { return Ok(false) };
        let is_free = file.try_lock(false).map_err(StoreError::io("lock", path))?;
        if is_free {
            let _ = self.vfs.unlink(path);
            let _ = file.unlock();
        }
        Ok(!is_free)
    }

    fn share(&self, child: TaskId, path: String) -> Result<Lending> {
        let file = self.locked_by_name(&path, true)?;
        Ok(Lending { child, file, vfs: Arc::clone(&self.vfs), path })
    }

    /// Device and inode of the file that the waiters for a child have open and locked, if it exists.
    pub fn loan_file(&self, child: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::loan(child))?.map(|meta| meta.ident))
    }

    /// Whether any process waits for a child.
    pub fn is_lent_to(&self, child: TaskId) -> Result<bool> {
        let path = layout::loan(child);
        let Some(mut file) = self.open(&path, Open::ReadOnly)? else { return Ok(false) };
        Ok(is_held_by_others(file.as_mut(), &path, false)? || self.waiting_lender(child)?.is_some())
    }

    /// The children that have a waiter, in the order of their numbers. Files that killed waiters left are removed.
    pub fn lent_to(&self) -> Result<Vec<TaskId>> {
        let mut children = Vec::new();
        for id in self.tasks_in(layout::LOANS)? {
            let path = layout::loan(id);
            let Some(mut file) = self.open(&path, Open::ReadOnly)? else { continue };
            let is_held = !file.try_lock(false).map_err(StoreError::io("lock", &path))?;
            if is_held || self.waiting_lender(id)?.is_some() {
                children.push(id);
            } else {
                self.unlink(&path)?;
            }
            if !is_held {
                file.unlock().map_err(StoreError::io("unlock", &path))?;
            }
        }
        children.sort_unstable();
        Ok(children)
    }
}

//! Services of the operating system beside files, and the right to act.
//!
//! The store passes the services on, so that the rooms above need the store alone. `Changes` waits for changes of files, and for
//! the ends of processes. `Hold` is the right to act, which ends with the process that has it.

use super::error::{Result, StoreError};
use crate::model::{Identity, LaneName};
use crate::os::{Clock, Handle, TreeMark, Watch};
use crate::store::{Spool, layout};
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// Length of one sleep when nothing can be watched.
const POLL: Duration = Duration::from_millis(20);

/// More waits than the first ones that are sleeps.
const MOST_SLEEPS: usize = 16;

/// Changes since this value was made, to be waited for.
pub struct Changes {
    watch: Option<Box<dyn Watch>>,
    clock: Arc<dyn Clock>,
}

impl Changes {
    /// Waits until something may have changed, `longest` at most. Changes since the last call count.
    pub fn wait(&mut self, longest: Duration) {
        match &mut self.watch {
            Some(watch) => drop(watch.wait(longest)),
            None => self.clock.sleep(longest.min(POLL)),
        }
    }

    /// Passes over the first waits, which are sleeps. From here on a wait ends with a change, where the kernel reports any.
    pub fn pass_over_sleeps(&mut self) {
        for _ in 0..MOST_SLEEPS {
            if !self.watch.as_mut().is_some_and(|watch| watch.wait(Duration::ZERO).unwrap_or_default()) {
                break;
            }
        }
    }

    pub(crate) fn of(watch: Option<Box<dyn Watch>>, clock: &Arc<dyn Clock>) -> Self {
        Self { watch, clock: Arc::clone(clock) }
    }

    /// Whether the kernel reports changes.
    pub(crate) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    /// Lets the end of a process end a wait; an absent file means that the process has already ended.
    pub(crate) fn heed(&mut self, end: Option<File>) {
        if let (Some(watch), Some(end)) = (&mut self.watch, end) {
            watch.heed(end);
        }
    }

    /// Waits until something may have changed, `longest` at most, in one sleep if the kernel reports nothing.
    pub(crate) fn wait_unless_signalled(&mut self, longest: Duration) {
        match &mut self.watch {
            Some(watch) => drop(watch.wait(longest)),
            None => self.clock.sleep(longest),
        }
    }
}

impl Spool {
    /// Whether this process has inherited a lock file, whose kernel lock then lasts as long as itself.
    pub fn has_inherited_lock(&self, lane: &LaneName, slot: u32) -> Result<bool> {
        let meta = self.lock_meta(&layout::lock_file(&lane.stem(), slot))?;
        Ok(meta.is_some_and(|meta| self.host.procs.has_open(meta.ident)))
    }

    /// The living processes that have a lock file open: the command of `luzia lock` and processes that it left behind.
    pub fn lock_file_users(&self, lane: &LaneName, slot: u32) -> Result<Vec<Identity>> {
        self.users_of(&layout::lock_file(&lane.stem(), slot))
    }

    /// The living processes that have a file open.
    pub(crate) fn users_of(&self, path: &str) -> Result<Vec<Identity>> {
        let Some(meta) = self.lock_meta(path)? else { return Ok(Vec::new()) };
        let mark = TreeMark { tree_lock: Some(meta.ident), ..TreeMark::default() };
        self.host.procs.tree(&mark, &[]).map_err(StoreError::io("look for the processes of", path))
    }

    /// Watches for locks that go.
    pub fn watch_locks(&self) -> Changes {
        self.changes(&[layout::LOCKS])
    }

    /// Watches for tasks that start, end or arrive, and for locks that go.
    pub fn watch(&self) -> Changes {
        self.changes(&[layout::RUNNING, layout::LOCKS, layout::SPOOL])
    }

    /// Watches one file. Without a path, or when the kernel gives no watch, nothing is watched.
    pub(crate) fn changes_of(&self, path: Option<&str>) -> Changes {
        let watch = path.and_then(|path| self.vfs.watch_file(path).ok().flatten());
        Changes::of(watch, &self.host.clock)
    }

    /// Waits for the end of a process.
    pub fn end_of(&self, process: &Identity) -> Result<Changes> {
        self.changes_or_end(&[], process)
    }

    pub(crate) fn changes_or_end(&self, folders: &[&str], process: &Identity) -> Result<Changes> {
        let mut changes = self.changes(folders);
        changes.heed(self.host.procs.end_of(process).map_err(StoreError::io("watch", "a process"))?);
        Ok(changes)
    }

    pub(crate) fn changes(&self, folders: &[&str]) -> Changes {
        Changes::of(self.vfs.watch(folders).ok(), &self.host.clock)
    }
}

/// The right to act for a task, or to have a lock. It is given up when it is dropped, and when its process ends.
pub struct Hold(Box<dyn Handle>);

impl Hold {
    /// The right that comes with a kernel lock.
    pub fn of(file: Box<dyn Handle>) -> Self {
        Self(file)
    }

    /// A descriptor that keeps the right as well, for a process that is started.
    pub fn share(&self) -> Option<File> {
        self.0.share()
    }

    /// The descriptor that another process takes over.
    pub fn into_descriptor(self) -> Box<dyn Handle> {
        self.0
    }
}

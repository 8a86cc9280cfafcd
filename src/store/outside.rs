//! What the rooms above need of the operating system beside files: passed through, so that they hold one thing only.

use super::error::{Result, StoreError};
use crate::model::{Identity, TaskId};
use crate::os::{Clock, Open, TreeMark, Watch};
use crate::store::Store;
use crate::store::files::disk::layout;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// How long one sleep is where nothing can be watched.
const POLL: Duration = Duration::from_millis(20);

/// Changes since it was made, to be waited for.
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
}

impl Changes {
    /// Whether the kernel tells of changes.
    pub(crate) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    /// Lets the end of a process end a wait; one that has ended already does so by its absence.
    pub(crate) fn heed(&mut self, end: Option<File>) {
        if let (Some(watch), Some(end)) = (&mut self.watch, end) {
            watch.heed(end);
        }
    }

    /// Waits until something may have changed, `longest` at most, in one sleep where the kernel tells nothing.
    pub(crate) fn wait_unless_signalled(&mut self, longest: Duration) {
        match &mut self.watch {
            Some(watch) => drop(watch.wait(longest)),
            None => self.clock.sleep(longest),
        }
    }
}

impl Store {
    /// Whether this process belongs to the tree of a task that runs: below its supervisor, or with its `tree.lock` open. Its
    /// environment alone may have gone to a process that the end of the task does not wait for.
    pub fn is_in_tree(&self, task: TaskId) -> Result<bool> {
        let supervisor = self.started(task)?.flatten().map(|started| started.supervisor);
        if supervisor.is_some_and(|process| self.host.procs.descends_from(&process)) {
            return Ok(true);
        }
        Ok(self.tree_ident(task)?.is_some_and(|file| self.host.procs.has_open(file)))
    }

    /// Whether this process has inherited a lock file, whose kernel lock then lasts as long as itself.
    pub fn has_inherited_lock(&self, slot_stem: &str) -> Result<bool> {
        let meta = self.meta(&format!("{}/{slot_stem}.lock", layout::LOCKS))?;
        Ok(meta.is_some_and(|meta| self.host.procs.has_open(meta.ident)))
    }

    /// The living processes that have a lock file open: the command of `luzia lock` and what it left behind.
    pub fn lock_file_users(&self, slot_stem: &str) -> Result<Vec<Identity>> {
        let path = format!("{}/{slot_stem}.lock", layout::LOCKS);
        let Some(meta) = self.meta(&path)? else { return Ok(Vec::new()) };
        let mark = TreeMark {
            state_dir: String::new(),
            task_id: String::new(),
            tree_lock: Some(meta.ident),
            since: None,
            is_own: false,
        };
        self.host.procs.tree(&mark, &[]).map_err(StoreError::io("look for the processes of", &path))
    }

    /// The pid of the supervisor of a task, when that is stopped and still has the task.
    pub fn stopped_supervisor(&self, id: TaskId) -> Result<Option<u32>> {
        let supervisor = self.started(id)?.flatten().map(|started| started.supervisor);
        let Some(stopped) = supervisor.filter(|process| self.host.is_stopped(process)) else { return Ok(None) };
        Ok(self.is_supervised(id)?.then_some(stopped.pid))
    }

    /// Watches for locks that go.
    pub fn watch_locks(&self) -> Changes {
        self.changes(&[layout::LOCKS])
    }

    /// Tells people that the supervisor of a task is at work: the file's content is the boot clock and the boot.
    pub fn beat(&self, id: TaskId) {
        let path = layout::run_file(id, "heartbeat");
        if let Ok(Some(mut file)) = self.vfs.open(&path, Open::Truncate(0o600)) {
            let _ = file.write_all(format!("{} {}\n", self.host.clock.boot_ms(), self.host.clock.boot_id()).as_bytes());
        }
    }

    /// Writes the text for a command's standard input and opens it for reading.
    pub fn stdin_file(&self, id: TaskId, text: &str) -> Result<Option<File>> {
        let path = layout::run_file(id, "stdin");
        self.write_whole(&path, Open::Truncate(0o600), text.as_bytes())?;
        Ok(self.open(&path, Open::ReadOnly)?.and_then(crate::os::Handle::into_file))
    }

    /// Writes the text for the standard input of a hook of a task and opens it for reading.
    pub fn hook_input(&self, id: TaskId, text: &str) -> Result<Option<File>> {
        let path = layout::run_file(id, "hook");
        self.write_whole(&path, Open::Truncate(0o600), text.as_bytes())?;
        Ok(self.open(&path, Open::ReadOnly)?.and_then(crate::os::Handle::into_file))
    }

    /// Hands a task to a new supervisor process: its lock changes hands without a gap. Gives the supervisor's pid.
    pub fn launch_supervisor(&self, args: &[String], lock: Box<dyn crate::os::Handle>) -> Result<u32> {
        self.host
            .procs
            .launch_supervisor(args, lock)
            .map_err(StoreError::io("start a supervisor for", self.state_dir()))
    }

    /// Becomes a supervisor and takes over the lock that this process was started with.
    pub fn take_over(&self, id: TaskId) -> Result<Option<Box<dyn crate::os::Handle>>> {
        let path = layout::run_file(id, crate::store::run_dir::SUPERVISOR_LOCK);
        self.host.procs.become_supervisor().map_err(StoreError::io("become the supervisor of", &path))?;
        let mut lock = self.host.procs.inherited_lock().map_err(StoreError::io("take over", &path))?;
        let mine = lock.meta().map_err(StoreError::io("look at", &path))?;
        let is_it = self.meta(&path)?.is_some_and(|meta| meta.ident == mine.ident);
        Ok((is_it && lock.try_lock(false).map_err(StoreError::io("lock", &path))?).then_some(lock))
    }

    /// Goes on to another task, whose lock this process has taken itself: from here on it is that task's supervisor.
    pub fn go_on_to(&self, claimed: &super::Claimed) -> Result<()> {
        let path = layout::run_file(claimed.task.id, crate::store::run_dir::SUPERVISOR_LOCK);
        self.host.procs.replace_input(claimed.lock.share()).map_err(StoreError::io("go on to", &path))
    }

    /// Watches for tasks that start, end or arrive, and for locks that go.
    pub fn watch(&self) -> Changes {
        self.changes(&[layout::RUNNING, layout::LOCKS, layout::SPOOL])
    }

    /// Watches one file. Without a path, or where the kernel gives no watch, nothing is watched.
    pub(crate) fn changes_of(&self, path: Option<&str>) -> Changes {
        let watch = path.and_then(|path| self.vfs.watch_file(path).ok().flatten());
        Changes { watch, clock: Arc::clone(&self.host.clock) }
    }

    pub(crate) fn changes(&self, folders: &[&str]) -> Changes {
        Changes { watch: self.vfs.watch(folders).ok(), clock: Arc::clone(&self.host.clock) }
    }
}

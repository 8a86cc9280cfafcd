//! `run/<id>/`: the part of a task that is local to the host on which it runs (`RunDir`).
//!
//! It has the lock of the supervisor, the lock of the tree, and the other files that only the supervisor writes there. A store
//! that several hosts share has none of this. `enter_cgroup` makes the control group of a task: one for each start if the host
//! allows it, recorded with the start, and gone with it.
//!
//! `note_away` writes `run/<id>/away`: the lanes whose slots other holders may have while a process of the task waits for an
//! event. The supervisor writes it before the first lock goes and removes it after all locks exist again; the waiting process
//! returns no earlier. It needs no sync: after a power cut the processes of the task are dead.
//!
//! `show_shortage` sets the sign of a supervisor that waits for a host that is short of a resource: permission bits of its
//! `supervisor.lock`. They can be set when nothing can be written. They mean nothing without a supervisor, and go with the file.
//!
//! `has_yielded` reads `run/<id>/yield.json`: earlier versions wrote it beside a paused task whose slots they gave to other
//! tasks. The tree beside it is stopped and may not run, so recovery ends it without a signal that continues it. No version
//! writes it any more.

pub(crate) mod log_notes;

use crate::model::{Cgroups, Group, GroupSight, LaneName, RootId, TaskId};
use crate::os::{Handle, Open};
use crate::store::conductor::LastMeta;
use crate::store::{Changes, Disk, Hold, Result, StoreError, file_name, json_object, layout};
use serde::Deserialize;
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

const AWAY: &str = "away";

fn encode(start: u32, lanes: &[LaneName]) -> String {
    let lines = lanes.iter().map(|lane| format!("{lane}\n"));
    format!("{start}\n{}", lines.collect::<String>())
}

/// Parses a mark; `None` for a mark that an earlier start of the task left.
fn decode(text: &str, start: u32) -> Option<Vec<LaneName>> {
    let (first, lanes) = text.split_once('\n')?;
    (first.parse() == Ok(start)).then(|| lanes.lines().filter_map(|line| LaneName::parse(line).ok()).collect())
}

impl RunDir {
    /// Records the lanes that a task gives up. The caller holds the task's `supervisor.lock`.
    pub fn note_away(&self, id: TaskId, start: u32, lanes: &[LaneName]) -> Result<()> {
        let (tmp, path) = (layout::run_file(id, "away.new"), layout::run_file(id, AWAY));
        self.write_whole(&tmp, Open::Truncate(0o600), encode(start, lanes).as_bytes())?;
        self.rename(&tmp, &path)?.then_some(()).ok_or_else(|| StoreError::Absent { thing: path.into() })
    }

    /// The lanes that a task has given up in a start.
    pub fn away(&self, id: TaskId, start: u32) -> Result<Option<Vec<LaneName>>> {
        let bytes = self.read(&layout::run_file(id, AWAY))?;
        Ok(bytes.and_then(|bytes| decode(&String::from_utf8_lossy(&bytes), start)))
    }

    /// Records that a task has all its lanes. The caller holds the task's `supervisor.lock`.
    pub fn end_away(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::run_file(id, AWAY)).map(drop)
    }
}

impl RunDir {
    /// Makes a control group for a start of a task and moves this process into it, so that the command starts there.
    pub fn enter_cgroup(&self, id: TaskId, start: u32, wanted: Cgroups) -> Option<Group> {
        if wanted == Cgroups::Off {
            return None;
        }
        let name = || Some(format!("{}{id}.{start}", self.group_prefix().ok()?));
        self.host.procs.groups()?.enter(&name, wanted == Cgroups::On)
    }

    /// The control groups of this state directory below that of this process whose tasks are not in flight.
    pub fn left_groups(&self) -> Result<Vec<(String, Group)>> {
        let Some(groups) = self.host.procs.groups() else { return Ok(Vec::new()) };
        let prefix = self.group_prefix()?;
        let mut left = Vec::new();
        for (name, group) in groups.named(&prefix) {
            let task = name.strip_prefix(&prefix).and_then(|rest| rest.split_once('.'));
            let Some(id) = task.and_then(|(task, _)| file_name::task(task.strip_prefix("task_")?)) else { continue };
            // A supervisor makes a control group only while the folder of its task exists.
            if self.meta(&layout::run_dir(id))?.is_none() && groups.look(&group) == GroupSight::Empty {
                left.push((name, group));
            }
        }
        Ok(left)
    }

    /// Prefix of the names of this state directory's control groups: no two directories of a host share one inode.
    fn group_prefix(&self) -> Result<String> {
        let ident = self.meta(".")?.map(|meta| meta.ident).unwrap_or_default();
        Ok(format!("luzia.{}.", RootId::from(ident)))
    }
}

const RESULT_WAITS: u32 = 0o700;
const START_WAITS: u32 = 0o710;
const ENDING: u32 = 0o701;

/// The part of a task that waits for the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Short {
    /// The start: the command has not been launched.
    Start,
    /// The result: the command is over.
    Result,
}

impl RunDir {
    /// Shows other processes that the start or the result of a task waits, or no longer waits. The caller holds the task's
    /// `supervisor.lock`. A sign that cannot be set is no reason to fail.
    pub fn show_shortage(&self, id: TaskId, short: Option<Short>) {
        let mode = match short {
            Some(Short::Result) => RESULT_WAITS,
            Some(Short::Start) => START_WAITS,
            None => 0o600,
        };
        let _ = self.vfs.set_mode(&layout::run_file(id, SUPERVISOR_LOCK), mode);
    }

    /// Shows the processes of a task that its supervisor ends them. This sign goes as the other signs do.
    pub fn show_ending(&self, id: TaskId) {
        let _ = self.vfs.set_mode(&layout::run_file(id, SUPERVISOR_LOCK), ENDING);
    }

    /// Whether the supervisor of a task ends its processes.
    pub fn is_ending(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::run_file(id, SUPERVISOR_LOCK))?.is_some_and(|meta| meta.mode == ENDING))
    }

    /// The part of a task that waits for the host, as the living supervisor shows it.
    pub fn shortage(&self, id: TaskId) -> Result<Option<Short>> {
        let short = match self.meta(&layout::run_file(id, SUPERVISOR_LOCK))?.map(|meta| meta.mode) {
            Some(RESULT_WAITS) => Short::Result,
            Some(START_WAITS) => Short::Start,
            Some(_) | None => return Ok(None),
        };
        Ok(self.is_supervised(id)?.then_some(short))
    }

    /// Watches the signs of the supervisor of a task.
    pub fn watch(&self, id: TaskId) -> Changes {
        Changes::of(self.vfs.watch(&[&layout::run_dir(id)]).ok(), &self.host.clock)
    }
}

#[derive(Deserialize)]
struct Yielded {
    /// Reason why the task kept its slots.
    refused: Option<String>,
}

/// Whether the file says that slots were given to other tasks. A damaged file counts.
fn says_so(bytes: &[u8]) -> bool {
    json_object::read::<Yielded>(bytes).map_or(true, |file| file.refused.is_none())
}

impl RunDir {
    /// Whether an earlier version gave slots of a task to other tasks while it was stopped.
    pub fn has_yielded(&self, id: TaskId) -> Result<bool> {
        match self.read(&layout::run_file(id, "yield.json")) {
            Ok(bytes) => Ok(bytes.is_some_and(|bytes| says_so(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_its_start_alone() {
        let lanes = vec![LaneName::parse("build").expect("a lane"), LaneName::global()];
        let text = encode(3, &lanes);
        assert_eq!(decode(&text, 3), Some(lanes));
        assert_eq!(decode(&text, 4), None);
        assert_eq!(decode("", 3), None);
        assert_eq!(decode("3\n\u{1}\n", 3), Some(Vec::new()), "a lane that does not read");
    }

    #[test]
    fn only_a_refusal_says_that_the_slots_were_kept() {
        assert!(!says_so(br#"{"since":"2026-11-24T07:00:00.000Z","lanes":[],"kept":[],"refused":"it is luzia"}"#));
        for slots_gone in
            [r#"{"lanes":["build"],"kept":["user:alice"],"waits":true}"#, "{}", "", "[]", r#"{"refused":7}"#]
        {
            assert!(says_so(slots_gone.as_bytes()), "{slots_gone}");
        }
    }
}

//! The waits of a task, `waits.json`: those that are over by their position in a run, and the one that is open.

use crate::model::TaskId;
use crate::os::Open;
use crate::store::files::steps::Locked;
use crate::store::{Changes, Hold, Result, Spool, StoreError, layout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const NAME: &str = "waits.json";
const LOCK: &str = "wait.lock";

/// A wait that is open.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OpenWait {
    /// Its place among the waits of a run, from 0.
    pub position: usize,
    /// By what it is known in a later start; empty in records of versions that went by the position.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How many of the same key came before it in its start.
    #[serde(skip_serializing_if = "is_zero")]
    pub turn: u32,
    /// What it waits for.
    pub kind: String,
    /// The event that ends it.
    pub event: String,
    /// When it began.
    pub since: String,
    /// When its time runs out.
    pub until: String,
    /// What an event must say, by name.
    pub filter: Vec<(String, String)>,
    /// How many events it expects.
    pub expect: u32,
    /// How often its time has run out.
    pub timeouts: u32,
    /// How long it waits each time, in milliseconds.
    pub time_ms: u64,
    /// What the end of its time means: `continue`, `fail`, or `retry` and how often.
    pub on_timeout: String,
    /// A shell command that is run once when the time has run out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_command: Option<String>,
    /// Whether its run is to end, and to begin again when it is over (`--park`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
    /// The lanes that the task keeps when it waits without a process; absent: as their kinds say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Vec<String>>,
    /// The output that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputWatch>,
}

/// A wait for output of another task.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OutputWatch {
    /// The number of the task.
    pub task: u64,
    /// What a line of it must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// For how long it must write nothing, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// Up to where its two logs were read, each to the beginning of a line.
    pub from: [u64; 2],
}

/// How a wait for output ended.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OutputEnd {
    /// The number of the task.
    pub task: u64,
    /// `matched`, `silent`, or `ended` where the task was over first.
    pub outcome: String,
    /// The line that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Up to where its two logs were read: the next wait for it goes on there.
    pub to: [u64; 2],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// A wait that is over.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct DoneWait {
    /// What it waited for.
    pub kind: String,
    /// The event that could end it.
    pub event: String,
    /// The numbers of the events that ended it.
    pub mail: Vec<u64>,
    /// Whether its time ran out.
    pub is_timed_out: bool,
    /// When it ended.
    pub at: String,
    /// Whether what it waited for could come no more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_missed: bool,
    /// How a wait for output ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputEnd>,
    /// By what it is known in a later start; empty in records of versions that went by the position.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How many of the same key came before it in its start.
    #[serde(skip_serializing_if = "is_zero")]
    pub turn: u32,
}

/// A command for the end of the time of a wait that was begun.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct LateCommand {
    /// The position of its wait.
    pub position: usize,
    /// When it was begun.
    pub begun_at: String,
    /// How it ended; absent until then, and where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Whether it was told that nobody knows how it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_lost: bool,
}

/// The waits of a task.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct Waits {
    /// The start of the task in which `next` counts.
    pub start: u64,
    /// The position of the next wait of that start.
    pub next: usize,
    /// The step of a stepwise task in which the newest were made.
    pub step: u32,
    /// The position of the first wait of that step.
    pub base: usize,
    /// Those that are over, by position.
    pub done: Vec<DoneWait>,
    /// The one that is open.
    pub open: Option<OpenWait>,
    /// How often each key was asked for in that start.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, u32>,
    /// The start in which a wait ended the task.
    pub failed_in: Option<u64>,
    /// The commands for the end of a time that were begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<LateCommand>,
}

impl Waits {
    /// Whether the time of the last wait ran out in the start that it belongs to, and is to end the task.
    pub fn is_failed(&self) -> bool {
        self.open.is_none() && self.failed_in == Some(self.start)
    }
}

/// The waits of a task in the hands of the one process that waits.
pub struct Waiter {
    id: TaskId,
    _lock: Hold,
}

impl Waiter {
    /// The right to write the waits of a task, as long as this lasts.
    pub fn new(id: TaskId, lock: Hold) -> Self {
        Self { id, _lock: lock }
    }
}

impl Spool {
    /// Takes the lock of the process that waits for a task; an error where another one of its processes waits.
    pub fn begin_wait(&self, id: TaskId) -> Result<Waiter> {
        self.begin_wait_within(id, u64::MAX)
    }

    /// Like `begin_wait`, for a process that waits no longer than so many milliseconds for another one.
    pub fn begin_wait_within(&self, id: TaskId, ms: u64) -> Result<Waiter> {
        drop(self.lock_steps(id)?);
        self.make_dir(&layout::mail(id))?;
        let path = layout::step_file(id, LOCK);
        let mut lock = self.open_or_make(&path)?;
        self.lock_within(lock.as_mut(), &path, false, ms)?;
        Ok(Waiter::new(id, Hold::of(lock)))
    }

    /// The waits of a task.
    pub fn waits(&self, id: TaskId) -> Result<Waits> {
        Ok(self.read_document(id, NAME)?.value)
    }

    /// Replaces them durably.
    pub fn write_waits(&self, waiter: &Waiter, waits: &Waits) -> Result<()> {
        let locked: Locked = self.lock_steps(waiter.id)?;
        self.write_document(&locked, NAME, waits)
    }

    /// The wait in which a process of a task stands now. A task that never waited costs one open.
    pub fn open_wait(&self, id: TaskId) -> Result<Option<OpenWait>> {
        if !self.has_waiter(id)? {
            return Ok(None);
        }
        Ok(self.waits(id).map(|waits| waits.open).unwrap_or_default())
    }

    /// Whether a process of a task waits, or has waited and returns just now.
    pub fn has_waiter(&self, id: TaskId) -> Result<bool> {
        let path = layout::step_file(id, LOCK);
        let Some(mut lock) = self.open(&path, Open::ReadOnly)? else { return Ok(false) };
        lock.try_lock(true).map(|is_free| !is_free).map_err(StoreError::io("lock", &path))
    }

    /// Device and inode of the file that a process which waits has locked, where there is one.
    pub fn waiter_file(&self, id: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::step_file(id, LOCK))?.map(|meta| meta.ident))
    }

    /// Ends the right of a process that waits no more. From then on nobody gives up lanes for its wait.
    pub fn leave_wait(&self, waiter: Waiter) -> Result<()> {
        let id = waiter.id;
        drop(waiter);
        self.lock_steps(id).map(drop)
    }

    /// The wait that was open in a start of a task.
    pub fn open_in(&self, id: TaskId, start: u32) -> Option<OpenWait> {
        self.waits(id).ok().filter(|waits| waits.start == u64::from(start))?.open
    }

    /// Whether the time of a wait ran out in a start of a task, and was to end it.
    pub fn has_wait_failed(&self, id: TaskId, start: u32) -> bool {
        self.waits(id).is_ok_and(|waits| waits.failed_in == Some(u64::from(start)))
    }

    /// Watches the mailbox of a task.
    pub fn watch_mail(&self, id: TaskId) -> Changes {
        self.changes(&[&layout::mail(id)])
    }
}

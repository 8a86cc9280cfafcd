//! The waits of a task, and its mailbox.
//!
//! `Waits` is `waits.json`: the finished waits by their position in a run, and the open one. `Mail` is an event in the mailbox:
//! `mail/<n>.json`, one event a file, numbered from 1 in the order in which they came.

use crate::model::TaskId;
use crate::model::record::is_default;
use crate::os::Open;
use crate::store::files::disk::publish::Publication;
use crate::store::files::steps::encode;
use crate::store::{Changes, Hold, Result, Spool, StoreError, layout};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "waits.json";
const LOCK: &str = "wait.lock";

/// An open wait.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OpenWait {
    /// The place of the wait among the waits of a run, from 0.
    pub position: usize,
    /// The identity of the wait in a later start; empty in records of versions that went by the position.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Number of waits with the wait's key that came before it in its start.
    #[serde(skip_serializing_if = "is_default")]
    pub turn: u32,
    /// Kind of the wait.
    pub kind: String,
    /// The event that ends the wait.
    pub event: String,
    /// The time at which the wait began.
    pub since: String,
    /// The time at which the wait times out.
    pub until: String,
    /// Required values of an event, by name.
    pub filter: Vec<(String, String)>,
    /// Number of events that the wait expects.
    pub expect: u32,
    /// Number of times that the wait has timed out.
    pub timeouts: u32,
    /// Duration of each try of the wait, in milliseconds.
    pub time_ms: u64,
    /// Effect of a timeout: `continue`, `fail`, or `retry` with a number.
    pub on_timeout: String,
    /// A shell command that runs once after the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_command: Option<String>,
    /// Whether the run ends at the wait, and begins again when the wait is over (`--park`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
    /// The lanes that the task keeps when it waits without a process; absent: the kinds of the lanes decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Vec<String>>,
    /// The output that the task waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputWatch>,
}

/// A wait for output of another task.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OutputWatch {
    /// The number of the task.
    pub task: u64,
    /// Pattern that a line of the output must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Time for which the task must write nothing, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// The offsets up to which the task's two logs were read, each at the beginning of a line.
    pub from: [u64; 2],
}

/// Result of a wait for output.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct OutputEnd {
    /// The number of the task.
    pub task: u64,
    /// `matched`, `silent`, or `ended` if the task finished first.
    pub outcome: String,
    /// The line that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The offsets up to which the two logs were read: the next wait for it continues there.
    pub to: [u64; 2],
}

/// A finished wait.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct DoneWait {
    /// Kind of the wait.
    pub kind: String,
    /// The event that could end the wait.
    pub event: String,
    /// The numbers of the events that ended the wait.
    pub mail: Vec<u64>,
    /// Whether the wait timed out.
    pub is_timed_out: bool,
    /// The time at which the wait ended.
    pub at: String,
    /// Whether the wait's event could no longer come.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_missed: bool,
    /// Result of a wait for output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputEnd>,
    /// The identity of the wait in a later start; empty in records of versions that went by the position.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Number of waits with the wait's key that came before it in its start.
    #[serde(skip_serializing_if = "is_default")]
    pub turn: u32,
}

/// A timeout command that was begun.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct LateCommand {
    /// The position of the command's wait.
    pub position: usize,
    /// The time at which the command was begun.
    pub begun_at: String,
    /// The end of the command in words; absent until then, and when the end is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Whether the command's unknown end was reported.
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
    /// The step of a stepwise task in which the newest waits were made.
    pub step: u32,
    /// The position of the first wait of that step.
    pub base: usize,
    /// The finished waits, by position.
    pub done: Vec<DoneWait>,
    /// The open wait.
    pub open: Option<OpenWait>,
    /// Number of requests for each key in that start.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, u32>,
    /// The start in which a wait ended the task.
    pub failed_in: Option<u64>,
    /// The timeout commands that were begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<LateCommand>,
}

impl Waits {
    /// Whether the last wait timed out in its own start, and the timeout ends the task.
    pub fn is_failed(&self) -> bool {
        self.open.is_none() && self.failed_in == Some(self.start)
    }
}

/// The waits of a task under the lock of the one process that waits.
pub struct Waiter {
    id: TaskId,
    _lock: Hold,
}

impl Waiter {
    /// The right to write the waits of a task, as long as this value lives.
    pub fn new(id: TaskId, lock: Hold) -> Self {
        Self { id, _lock: lock }
    }
}

impl Spool {
    /// Takes the lock of the process that waits for a task; an error if another one of its processes waits.
    pub fn begin_wait(&self, id: TaskId) -> Result<Waiter> {
        self.begin_wait_within(id, u64::MAX)
    }

    /// Like `begin_wait`, with a limit in milliseconds for the wait for the lock.
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

    /// Replaces the waits durably.
    pub fn write_waits(&self, waiter: &Waiter, waits: &Waits) -> Result<()> {
        let locked = self.lock_steps(waiter.id)?;
        self.write_document(&locked, NAME, waits)
    }

    /// The wait of a process of a task at this moment. A task that never waited costs one open.
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

    /// Device and inode of the file that a waiting process has locked, if there is one.
    pub fn waiter_file(&self, id: TaskId) -> Result<Option<(u64, u64)>> {
        Ok(self.meta(&layout::step_file(id, LOCK))?.map(|meta| meta.ident))
    }

    /// Ends the right of a process that no longer waits. From then on the supervisor gives up no lanes for its wait.
    pub fn leave_wait(&self, waiter: Waiter) -> Result<()> {
        let id = waiter.id;
        drop(waiter);
        self.lock_steps(id).map(drop)
    }

    /// The wait that was open in a start of a task.
    pub fn open_in(&self, id: TaskId, start: u32) -> Option<OpenWait> {
        self.waits(id).ok().filter(|waits| waits.start == u64::from(start))?.open
    }

    /// Whether a wait timed out in a start of a task, and the timeout ended it.
    pub fn has_wait_failed(&self, id: TaskId, start: u32) -> bool {
        self.waits(id).is_ok_and(|waits| waits.failed_in == Some(u64::from(start)))
    }
}

/// An event that was sent to a task.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Debug)]
#[serde(default)]
pub struct Mail {
    /// The number of the event in the mailbox.
    pub number: u64,
    /// Name of the event, such as `MESSAGE_RECEIVED`.
    pub event: String,
    /// The thread that the event concerns.
    pub thread: Option<String>,
    /// The user that the event concerns.
    pub user: Option<String>,
    /// Data of the sender.
    pub data: Value,
    /// The time at which the event came.
    pub at: String,
}

impl Spool {
    /// Puts an event into the mailbox of a task, durably; returns its number. `check` is called under the lock.
    pub fn deliver<E: From<crate::store::StoreError>>(
        &self,
        id: TaskId,
        mut mail: Mail,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let _locked = self.lock_steps(id)?;
        check()?;
        mail.at = self.host.now().to_string();
        mail.number = self.mail_numbers(id)?.last().map_or(1, |last| last + 1);
        Ok(self.publish_mail(id, &mail)?)
    }

    /// Like `deliver`, unless `is_same` accepts an event of the mailbox; returns the number of a new one.
    pub fn deliver_once(&self, id: TaskId, mut mail: Mail, is_same: &dyn Fn(&Mail) -> bool) -> Result<Option<u64>> {
        let _locked = self.lock_steps(id)?;
        let numbers = self.mail_numbers(id)?;
        for number in numbers.iter().rev() {
            if self.mail(id, *number)?.as_ref().is_some_and(is_same) {
                return Ok(None);
            }
        }
        mail.at = self.host.now().to_string();
        mail.number = numbers.last().map_or(1, |last| last + 1);
        self.publish_mail(id, &mail).map(Some)
    }

    fn publish_mail(&self, id: TaskId, mail: &Mail) -> Result<u64> {
        self.wake_waiting(id)?;
        let folders = [layout::STEPS.to_owned(), layout::steps(id), layout::mail(id)];
        let tmp = layout::step_file(id, "mail.tmp");
        let mut number = mail.number;
        loop {
            let path = layout::mail_file(id, number);
            self.stage(&tmp, &encode(&path, &Mail { number, ..mail.clone() })?)?;
            if self.publish(&tmp, &path, &folders)? != Publication::Taken {
                self.sync_dir(&layout::mail(id)).map_err(crate::store::StoreError::unsure)?;
                self.sync_steps(id)?;
                return Ok(number);
            }
            number += 1;
        }
    }

    /// The numbers of a task's mail, in their order.
    pub fn mail_numbers(&self, id: TaskId) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> = self.records(&layout::mail(id))?.into_iter().map(|TaskId(number)| number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// One event of a task's mail. A damaged one is set aside, and left out.
    pub fn mail(&self, id: TaskId, number: u64) -> Result<Option<Mail>> {
        match self.read_memory(id, &layout::mail_file(id, number)) {
            Err(wrong @ crate::store::StoreError::Corrupt { .. }) => self.set_aside(&wrong).map(|()| None),
            other => other,
        }
    }

    /// Watches the mailbox of a task.
    pub fn watch_mail(&self, id: TaskId) -> Changes {
        self.changes(&[&layout::mail(id)])
    }
}

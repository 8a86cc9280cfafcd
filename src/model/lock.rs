//! A lock: one occupied slot of a lane.
//!
//! `LockRecord` is a lock as its sidecar describes it, and `Grant` is a lock as its holder sees it. `LineFacts` describes the
//! line of a lane: the waiting processes and tasks that a requester finds when the lane is free. `Standing` is the relation of an
//! existing lock (`Met`) to a claimant of its lane (`Claimant`).

pub mod loan;

use super::process::{Identity, Origin};
use super::record::words;
use super::time::Timestamp;
use super::who::Who;
use crate::model::TaskId;
use crate::model::evidence::Verdict;
use crate::model::lane::LaneName;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The token of a grant. It is greater than every earlier token of its lane (P5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The name of one grant: `<task_id>_<unix seconds>` (S3.21).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct LockId(pub String);

impl fmt::Display for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of holder of a lock. It decides how luzia judges the life of the holder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LockKind {
    /// A supervised task: `supervisor.lock` and `tree.lock` are its proof of life.
    Task,
    /// `luzia lock`: a kernel lock on the `.lock` file, inherited by the command.
    Process,
    /// `luzia acquire`: lives until its clock runs out.
    Lease,
    /// `luzia acquire --session`: a kernel lock on the `.lock` file, held by the keeper of the session.
    Session,
    /// A parked task; survives reboots.
    Wait,
    /// Written by another program, without a kind that luzia knows.
    #[default]
    Foreign,
}

words!(LockKind {
    Task = "task",
    Process = "process",
    Lease = "lease",
    Session = "session",
    Wait = "wait",
    Foreign = "foreign",
});

/// The contents of a sidecar. Every member but `kind` may be missing in a file that another program wrote.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct LockRecord {
    /// The lane; taken from the file's name if the sidecar does not have it.
    #[serde(skip)]
    pub lane: Option<LaneName>,
    /// The name of the grant.
    pub lock_id: Option<String>,
    /// The holder: `task_<n>`, or the name given to `acquire`.
    pub task_id: Option<String>,
    /// The token of the grant.
    pub fence: Option<Fence>,
    /// The time of the grant.
    pub acquired_at: Option<Timestamp>,
    /// The time of the last refresh.
    pub refreshed_at: Option<Timestamp>,
    /// The time at which a lease runs out; for other kinds, the time at which the holder becomes overdue.
    pub expires_at: Option<Timestamp>,
    /// The time of the last refresh by the boot clock, in milliseconds.
    pub refreshed_boot_ms: Option<u64>,
    /// The time to live of a lease, in milliseconds; absent if the lane's `lock_timeout_seconds` applies.
    pub ttl_ms: Option<u64>,
    /// The process that acquired it.
    #[serde(rename = "acquired_by_pid")]
    pub pid: Option<u32>,
    /// The start time of that process, in clock ticks since boot.
    pub pid_start: Option<u64>,
    /// The boot in which the lock was acquired.
    pub boot_id: Option<String>,
    /// The host on which the lock was acquired.
    pub host: Option<String>,
    /// The pid namespace of the acquirer, the inode of `/proc/self/ns/pid`.
    pub pid_namespace: Option<u64>,
    /// The start time of pid 1 of that namespace, in clock ticks since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_namespace_init: Option<u64>,
    /// The user namespace of the acquirer, the inode of `/proc/self/ns/user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_namespace: Option<u64>,
    /// The pid and the start time of the command that `luzia lock` runs.
    #[serde(flatten, serialize_with = "command_members")]
    pub command: Option<(u32, u64)>,
    /// The time at which that command ended, if a process that it left behind keeps the lane.
    #[serde(rename = "command_ended_at", skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Whether a lease ends when its process ends (`acquire --pid`).
    pub pid_watched: bool,
    /// Whether a supervisor took over the lock of a task from the dispatcher that claimed it.
    #[serde(rename = "supervised")]
    pub is_supervised: bool,
    /// The value of the lock's slot, in a lane whose slots have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The id of the set of leases that one `acquire` took together; `None` for a lock outside a set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Number of processors that the holder has now, in a lane with a CPU budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The kind of holder.
    pub kind: LockKind,
    /// The requester, as the sidecar names it.
    #[serde(flatten)]
    pub who: Who,
    /// Members that this version does not know, kept as JSON text.
    #[serde(skip)]
    pub extra: Option<String>,
}

/// The two members of a sidecar that identify the process of a command.
fn command_members<S: Serializer>(command: &Option<(u32, u64)>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Members {
        command_pid: u32,
        command_start: u64,
    }
    command.map(|(command_pid, command_start)| Members { command_pid, command_start }).serialize(to)
}

impl LockRecord {
    /// Whether `name` holds this lock: `task_12`, `12`, or the name given to `acquire`.
    pub fn is_held_by(&self, name: &str) -> bool {
        self.task_id.as_deref().map(canonical_holder) == Some(canonical_holder(name))
    }

    /// The place where the lock was acquired, or adopted by a supervisor.
    pub fn origin(&self) -> Origin {
        Origin {
            boot_id: self.boot_id.clone(),
            pid_namespace: self.pid_namespace,
            init_start: self.pid_namespace_init,
            user_namespace: self.user_namespace,
        }
    }

    /// The task that holds it, running or waiting.
    pub fn task(&self) -> Option<TaskId> {
        let is_of_task = matches!(self.kind, LockKind::Task | LockKind::Wait);
        self.task_id.as_deref().filter(|_| is_of_task).and_then(TaskId::parse)
    }

    /// Whether the lock describes the grant of this id.
    pub fn is_of(&self, lock_id: &LockId) -> bool {
        self.lock_id.as_ref() == Some(&lock_id.0)
    }

    /// The grant that the lock describes, in a slot of a lane.
    pub fn grant(&self, lane: &LaneName, slot: u32) -> Grant {
        Grant {
            lane: lane.clone(),
            slot,
            lock_id: LockId(self.lock_id.clone().unwrap_or_default()),
            fence: self.fence.unwrap_or_default(),
            value: self.value.clone(),
            has_share: self.cpus.is_some(),
        }
    }

    /// Records the process that holds the lock, and the place where that process runs.
    pub fn set_process(&mut self, process: &Identity, origin: Origin) {
        (self.pid, self.pid_start) = (Some(process.pid), Some(process.start));
        self.set_origin(origin);
    }

    /// Records the place where the holder of the lock runs.
    pub fn set_origin(&mut self, origin: Origin) {
        self.boot_id = origin.boot_id;
        self.pid_namespace = origin.pid_namespace;
        self.pid_namespace_init = origin.init_start;
        self.user_namespace = origin.user_namespace;
    }

    /// Whether the life of its process is evidence for the lock. A lease outlives the process that acquired it, unless the
    /// caller asked that it ends with a process.
    pub fn rests_on_process(&self) -> bool {
        match self.kind {
            LockKind::Task | LockKind::Process | LockKind::Session => true,
            LockKind::Lease => self.pid_watched,
            LockKind::Wait | LockKind::Foreign => false,
        }
    }
}

/// The one spelling of a holder's name: digits mean a task (S0.5: `--task 100` is `task_100`).
pub fn canonical_holder(name: &str) -> String {
    match TaskId::parse(name) {
        Some(id) => id.to_string(),
        None => name.to_owned(),
    }
}

/// A lock that was granted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The lane.
    pub lane: LaneName,
    /// The slot of the grant in its lane, from 0.
    pub slot: u32,
    /// The name of the grant.
    pub lock_id: LockId,
    /// The token of the grant.
    pub fence: Fence,
    /// The value of the grant's slot, in a lane whose slots have names.
    pub value: Option<String>,
    /// Whether the holder has a share of processors, in a lane with a CPU budget.
    pub has_share: bool,
}

/// The values of the slots of each lane: the values of one lane joined by commas, in the order of the grants.
pub fn values_of(grants: &[Grant]) -> BTreeMap<LaneName, String> {
    let mut values: BTreeMap<LaneName, String> = BTreeMap::new();
    for grant in grants {
        let Some(value) = &grant.value else { continue };
        values
            .entry(grant.lane.clone())
            .and_modify(|known| {
                known.push(',');
                known.push_str(value);
            })
            .or_insert_with(|| value.clone());
    }
    values
}

impl Grant {
    /// Whether another grant is this one; the values of their slots are not compared.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.lane, self.slot, &self.lock_id, self.fence) == (&other.lane, other.slot, &other.lock_id, other.fence)
    }
}

/// The requester of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    /// The first of the line.
    First,
    /// Another one of the line.
    Behind,
    /// A `lock` or `acquire` that may wait and is not yet in the line.
    Newcomer,
    /// A `lock` or `acquire` that does not wait.
    Once,
    /// A dispatcher, for a task of the queue.
    Task,
}

/// Facts about a line, gathered under the guard of its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineFacts {
    /// The requester.
    pub asker: Asker,
    /// Time since the first living member of the line arrived or was called, in milliseconds; `None` if no member lives.
    /// Negative if the wall clock was set back since.
    pub called_ms: Option<i64>,
    /// Time since the tasks of the queue got the turn, in milliseconds; `None` if they did not get it.
    pub tasks_called_ms: Option<i64>,
    /// Whether a dispatcher will try again for the task, so that the task may give way.
    pub comes_again: bool,
}

/// Decides whether the requester may take the lane, which is free.
pub type LineJudge = fn(&LineFacts) -> bool;

/// The claimant of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// `task_<n>`, or a name.
    pub holder: &'a str,
    /// The kind of the claimant's lock, by which luzia will judge its life.
    pub kind: LockKind,
    /// The key of the claimant's session.
    pub session: Option<&'a str>,
}

/// An existing lock, as seen under its guard.
#[derive(Clone, Copy, Debug)]
pub struct Met<'a> {
    /// Whether the lock's holder lives.
    pub verdict: &'a Verdict,
    /// The contents of the lock's sidecar; `None` if it is invalid.
    pub record: Option<&'a LockRecord>,
    /// The task that the lock file names, if the sidecar is missing or damaged.
    pub named: Option<TaskId>,
    /// The task of a stale lock, if something of that task must still be recovered.
    pub to_recover: Option<TaskId>,
}

/// Relation of a lock to a claimant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The claimant itself holds the lock, which is refreshed.
    Own,
    /// The holder of the lock lives.
    Living,
    /// No process or lease holds the lock any more.
    Breakable,
    /// The holder of the lock is dead, and must be recovered before the lane is free.
    Dead(TaskId),
}

/// Returns the relation of a lock to a claimant. It is pure, and callers call it only under the guard.
pub type Stands = fn(&Claimant<'_>, &Met<'_>) -> Standing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_known_by_every_spelling_of_its_task() {
        for (written, asked, is_same) in [
            ("task_100", "100", true),
            ("100", "task_100", true),
            ("100", "100", true),
            ("build", "build", true),
            ("task_100", "101", false),
            ("build", "100", false),
        ] {
            let record = LockRecord { task_id: Some(written.to_owned()), ..LockRecord::default() };
            assert_eq!(record.is_held_by(asked), is_same, "{written} {asked}");
        }
        assert!(!LockRecord::default().is_held_by("100"));
    }
}

//! A lock: one occupied slot of a lane, as its sidecar describes it.

pub mod grant;
pub mod line;
pub mod loan;
pub mod standing;

pub use grant::Grant;

use super::lane::LaneName;
use super::namespace::Origin;
use super::process::Identity;
use super::record::words;
use super::task::TaskId;
use super::time::Timestamp;
use super::who::Who;
use serde::{Deserialize, Serialize, Serializer};
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
    /// The boot in which it was acquired.
    pub boot_id: Option<String>,
    /// The host on which it was acquired.
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
    /// The value of its slot, in a lane whose slots have names.
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

    /// The place where it was acquired, or adopted by a supervisor.
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

    /// Whether it describes the grant of this id.
    pub fn is_of(&self, lock_id: &LockId) -> bool {
        self.lock_id.as_ref() == Some(&lock_id.0)
    }

    /// The grant that it describes, in a slot of a lane.
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

    /// Records the process that holds it, and the place where that process runs.
    pub fn set_process(&mut self, process: &Identity, origin: Origin) {
        (self.pid, self.pid_start) = (Some(process.pid), Some(process.start));
        self.set_origin(origin);
    }

    /// Records the place where its holder runs.
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

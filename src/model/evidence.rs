//! Facts about a lock, and the decision: the evidence gathered under its guard and the verdict on it.

use crate::model::lock::LockRecord;
use crate::model::process::{Outlook, Probe};
use crate::model::time::Timestamp;

/// The sidecar beside a lock file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sidecar {
    /// No lock exists.
    Missing,
    /// The sidecar is not a whole record: other programs do not write atomically.
    Corrupt,
    /// The sidecar was written by a newer version of luzia.
    Newer,
    /// The sidecar is a valid record.
    Whole(Box<LockRecord>),
}

impl Sidecar {
    /// The record, if it is valid.
    pub fn record(&self) -> Option<&LockRecord> {
        match self {
            Self::Whole(record) => Some(record),
            Self::Missing | Self::Corrupt | Self::Newer => None,
        }
    }
}

/// Whether a kernel lock that only a living holder can have was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelLock {
    /// `supervisor.lock` of the task is held.
    Supervisor,
    /// `supervisor.lock` is free, but `tree.lock` is held: the command outlived its supervisor.
    Tree,
    /// The `.lock` file itself is held (`luzia lock`).
    LockFile,
    /// No kernel lock of the lock is held.
    Free,
}

/// The host of the holder of a lock. A state directory of files belongs to one host; a store that several hosts share reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HolderHost {
    /// This host.
    Here,
    /// Another host, whose processes cannot be seen from here. Its supervisor renews a lease in the store.
    Elsewhere {
        /// The time at which that lease runs out, by the clock of the store.
        lease_until: Timestamp,
    },
}

/// All facts about one lock, gathered under its guard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// Whether `.lock` is a regular file.
    pub is_regular: bool,
    /// Whether `.lock` belongs to the account of the state directory.
    pub is_own: bool,
    /// The time of the last write to `.lock`.
    pub lock_modified: Timestamp,
    /// The time of the last write to the sidecar, if it exists.
    pub sidecar_modified: Option<Timestamp>,
    /// The sidecar.
    pub sidecar: Sidecar,
    /// The host of the lock's holder.
    pub host: HolderHost,
    /// Whether the private record of the task is in `waiting` and names this lock id.
    pub is_waiting: bool,
    /// Whether the lock is one of several leases, and their acquirer was killed before it got all of them.
    pub is_incomplete: bool,
    /// The kernel locks that prove life.
    pub kernel_lock: KernelLock,
    /// Result of a probe of the recorded pid. It is present if the lock rests on that process, and the process was recorded in
    /// this boot and in this pid namespace or one below it.
    pub process: Option<Probe>,
    /// Result of a probe of the command that `luzia lock` runs.
    pub command: Option<Probe>,
    /// The place of the lock's holder, as seen from here, if the lock rests on a process.
    pub outlook: Option<Outlook>,
    /// The time of the wall clock.
    pub now: Timestamp,
    /// The time of the boot clock, in milliseconds.
    pub boot_ms: u64,
    /// The id of this boot.
    pub boot_id: String,
    /// The lane's lock timeout, in milliseconds.
    pub timeout_ms: u64,
    /// The age limit that an operator gave (`cleanup-stale SECONDS`), in milliseconds.
    pub max_age_ms: Option<u64>,
}

/// The judgement of the evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The holder lives, or its death cannot be proven.
    Live {
        /// The row of the judge table and its reason, for people.
        why: Reason,
        /// Whether the holder is past its limit. Such a lock is reported, never broken.
        overdue: bool,
    },
    /// The holder is proven dead, or its lease ran out.
    Stale {
        /// The row of the judge table and its reason, for people.
        why: Reason,
        /// Time since the lock was last refreshed, in milliseconds.
        age_ms: u64,
    },
    /// The lock is not one of luzia's. luzia reports it and changes nothing.
    Refused {
        /// The row of the judge table and its reason, for people.
        why: Reason,
    },
}

impl Verdict {
    /// Whether the lock is in force, because its holder lives or its death cannot be proven.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }

    /// Whether the lock may be taken.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Stale { .. })
    }

    /// The row of the judge table that decided.
    pub fn why(&self) -> Reason {
        let (Self::Live { why, .. } | Self::Stale { why, .. } | Self::Refused { why }) = self;
        *why
    }
}

/// The row of the judge table (locks.md) that decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// j1: not a regular file.
    NotAFile,
    /// j1: belongs to another account.
    ForeignOwner,
    /// j1: the record was written by a newer version.
    NewerVersion,
    /// j2: its task waits for an event, and keeps the lane.
    TaskWaits,
    /// j2: its task waits no more, and no supervisor runs it.
    WaitOver,
    /// j3: its supervisor holds `supervisor.lock`.
    SupervisorLives,
    /// j3: its command holds `tree.lock`.
    CommandLives,
    /// j3: the `.lock` file is held by `luzia lock` or its command.
    LockHeld,
    /// j3: the command of a `luzia lock` has ended, and a process that it left behind holds the `.lock` file.
    LeftBehind,
    /// j3: the `.lock` file is held by the keeper of a session.
    SessionLives,
    /// j5b: the kernel lock that the keeper of a session held is free.
    KeeperGone,
    /// j4: no sidecar, and younger than the lock timeout.
    NoSidecarYoung,
    /// j4: no sidecar, and older than the lock timeout.
    NoSidecarOld,
    /// j4: a corrupt sidecar written less than 2 s ago.
    CorruptYoung,
    /// j4: a corrupt sidecar and no sign of life.
    CorruptDead,
    /// j5: the host has rebooted since.
    OtherBoot,
    /// j5: it was taken in another state directory, and this one is a copy of that directory.
    OtherRoot,
    /// j5: the process is gone, or its number belongs to another one.
    ProcessGone,
    /// j5: the recorded process lives.
    ProcessLives,
    /// j5: the pid namespace of its holder is gone.
    NamespaceGone,
    /// j5: its command was alive after `luzia lock` was killed.
    LockCommandLives,
    /// j5b: the kernel lock that `luzia lock` and its command held from birth is free.
    LockFileFree,
    /// j5: `/proc` is not our own, so the death of the task's processes cannot be proven.
    ForeignProc,
    /// j5: the task was started in a pid namespace that cannot be seen from here.
    OtherPids,
    /// j5: the task was started where `/proc` did not show its pid namespace.
    UnknownPids,
    /// j5: the task was started in a user namespace that cannot be looked into from here.
    OtherUsers,
    /// j0, j6: the lease has not run out.
    LeaseRuns,
    /// j0, j6: the lease has run out.
    LeaseOver,
    /// j6: the acquirer of several leases was killed before it got all of them.
    SetIncomplete,
    /// j6: older than the age limit.
    TooOld,
    /// j6: nothing proves death.
    NotProvenDead,
    /// In a store of several hosts: the lease of its host is in force.
    HostLives,
    /// In a store of several hosts: the lease of its host has run out, and nobody has taken the host for lost.
    HostSilent,
}

impl Reason {
    /// Part of a sentence for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotAFile => "the lock is not a regular file",
            Self::ForeignOwner => "the lock belongs to another account",
            Self::NewerVersion => "the lock was written by a newer luzia",
            Self::TaskWaits => "its task waits for an event and keeps the lane",
            Self::WaitOver => "its task does not wait any more, and nobody supervises it",
            Self::SupervisorLives => "its supervisor is alive (supervisor.lock is held)",
            Self::CommandLives => "its command is alive without a supervisor (tree.lock is held)",
            Self::LockHeld => "its command is alive (the lock file is held)",
            Self::LeftBehind => "its command ended, and a process that it left behind has the lock file open",
            Self::SessionLives => "its session is alive (its keeper holds the lock file)",
            Self::KeeperGone => "its lock file is free, so the keeper of its session is gone",
            Self::NoSidecarYoung => "no sidecar, and younger than the lock timeout",
            Self::NoSidecarOld => "no sidecar, and older than the lock timeout",
            Self::CorruptYoung => "its sidecar is being written",
            Self::CorruptDead => "its sidecar is corrupt and nothing holds it",
            Self::OtherBoot => "the host has rebooted since",
            Self::OtherRoot => "its holder belongs to the state directory of which this one is a copy",
            Self::ProcessGone => "its process is gone",
            Self::ProcessLives => "its process is alive",
            Self::NamespaceGone => "the pid namespace in which it ran is gone",
            Self::LockCommandLives => "its command is alive, although its luzia is not",
            Self::LockFileFree => "its lock file is free, so luzia and its command are gone",
            Self::ForeignProc => {
                "nothing proves that its holder is dead: /proc here belongs to another pid namespace or is not mounted; \
                 `luzia dispatch` can recover it where it was started"
            }
            Self::OtherPids => {
                "nothing proves that its holder is dead: it was started in another pid namespace, whose processes cannot be \
                 seen from here; `luzia dispatch` can recover it there, or on the host"
            }
            Self::UnknownPids => {
                "nothing proves that its holder is dead: it was started where /proc did not show its pid namespace, so that no \
                 pass can look for its processes; it stays until a reboot, or until a person who knows that they have ended \
                 releases its lane by force"
            }
            Self::OtherUsers => {
                "nothing proves that its holder is dead: it was started in another user namespace, whose processes cannot be \
                 looked into from here; `luzia dispatch` can recover it there, or on the host"
            }
            Self::LeaseRuns => "its lease has not run out",
            Self::SetIncomplete => "its `acquire` was killed before it had all of its lanes",
            Self::LeaseOver => "its lease has run out",
            Self::TooOld => "it is older than the age limit",
            Self::NotProvenDead => "nothing proves that its holder is dead",
            Self::HostLives => "the lease of its host is in force",
            Self::HostSilent => "the lease of its host has run out, and the host is not taken for lost yet",
        }
    }

    /// Whether the verdict rests on a process that was seen alive. Then only `--force` may take the lock away.
    pub fn is_living_process(self) -> bool {
        matches!(
            self,
            Self::SupervisorLives
                | Self::CommandLives
                | Self::LockHeld
                | Self::LeftBehind
                | Self::SessionLives
                | Self::ProcessLives
                | Self::LockCommandLives
                | Self::TaskWaits
                | Self::HostLives
                | Self::HostSilent
        )
    }
}

/// The judge of stale locks. It is pure, and callers call it only under the guard.
pub type Judge = fn(&Evidence) -> Verdict;

//! Identity of a process: the kernel reuses a pid alone, but not a pid with its start time and boot.
//!
//! Control groups (cgroups(7), version 2): one for each start of a task, if the host lets luzia make them.

use serde::{Deserialize, Serialize};

/// One process for the whole life of a host: pid, start time and boot.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The process number.
    pub pid: u32,
    /// Field 22 of `/proc/<pid>/stat`: clock ticks from boot to the start of the process (proc(5)).
    #[serde(rename = "pid_start")]
    pub start: u64,
    /// `/proc/sys/kernel/random/boot_id` of the boot in which it lives.
    pub boot_id: String,
}

/// A process above this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ancestor {
    /// Its identity.
    pub process: Identity,
    /// The name of its program, without folders; empty if it cannot be seen.
    pub program: String,
    /// Whether it runs the program of luzia.
    pub is_luzia: bool,
}

/// Result of a probe of a pid. Only `Gone` and `Zombie` prove death.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// No such process (ESRCH).
    Gone,
    /// Dead, but not yet waited for by its parent.
    Zombie,
    /// Alive, with its start time in clock ticks since boot.
    Alive {
        /// Field 22 of `/proc/<pid>/stat`.
        start: u64,
    },
    /// It exists or may exist, but it cannot be examined (EPERM, hidden /proc).
    Unknown,
}

impl Probe {
    /// Whether this look proves that the process which started at `start` no longer lives.
    pub fn proves_death_of(self, start: u64) -> bool {
        match self {
            Self::Gone | Self::Zombie => true,
            Self::Alive { start: now } => now != start,
            Self::Unknown => false,
        }
    }

    /// Whether this look proves that the process which started at `start` lives.
    pub fn proves_life_of(self, start: u64) -> bool {
        matches!(self, Self::Alive { start: now } if now == start)
    }
}

/// The control group of one start of a task, as its supervisor recorded it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Its path in the file system, as the supervisor saw it.
    pub path: String,
    /// The inode of its directory. The kernel assigns no number twice in one boot, so the inode identifies this group.
    pub inode: u64,
    /// The inode of the directory above it. If that directory is visible and the group is not, the group is gone.
    pub above: u64,
}

/// Result of a look at a control group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSight {
    /// A process is in it or below it, and the observing process may end all of them.
    Lives,
    /// A process is in it or below it, out of the reach of the observing process.
    OutOfReach,
    /// No process is in it or below it.
    Empty,
    /// It does not exist any more. The kernel never removes a group that contains a process.
    Gone,
    /// This process cannot see the place where it was made.
    Unseen,
}

/// Whether tasks get control groups (`supervisor.cgroups`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cgroups {
    /// If the group of the supervisor is delegated to its account.
    #[default]
    Auto,
    /// Wherever luzia can make one.
    On,
    /// Never.
    Off,
}

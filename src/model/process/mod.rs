//! Identity of a process: the kernel reuses a pid alone, but not a pid with its start time and boot.

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

//! Identity of a process, its control group, and the place where it was started.
//!
//! The kernel reuses a pid alone, but not a pid with its start time and boot (`Identity`). `Group` is a control group
//! (cgroups(7), version 2): each start of a task gets one if the host lets luzia make it. `Origin` is the place where a process
//! was started, with its pid and user namespaces. `Outlook` has the parts of that place that a later process can see.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

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

impl Identity {
    /// The words of the process in a command line.
    pub fn words(&self) -> [String; 3] {
        [self.pid.to_string(), self.start.to_string(), self.boot_id.clone()]
    }

    /// Parses the words of an identity.
    pub fn of_words(words: &[&str]) -> Option<Self> {
        let [pid, start, boot_id] = words else { return None };
        Some(Self { pid: pid.parse().ok()?, start: start.parse().ok()?, boot_id: (*boot_id).to_owned() })
    }
}

/// A process above this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ancestor {
    /// The identity of the ancestor.
    pub process: Identity,
    /// The name of the ancestor's program, without folders; empty if it cannot be seen.
    pub program: String,
    /// Whether the ancestor runs the program of luzia.
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
    /// The process exists or may exist, but it cannot be examined (EPERM, hidden /proc).
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
    /// The path of the group in the file system, as the supervisor saw it.
    pub path: String,
    /// The inode of the group's directory. The kernel assigns no number twice in one boot, so the inode identifies this
    /// group.
    pub inode: u64,
    /// The inode of the directory above that of the group. If that directory is visible and the group is not, the group is
    /// gone.
    pub above: u64,
}

/// Result of a look at a control group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSight {
    /// A process is in the group or below it, and the observing process may end all of them.
    Lives,
    /// A process is in the group or below it, out of the reach of the observing process.
    OutOfReach,
    /// No process is in the group or below it.
    Empty,
    /// The group does not exist any more. The kernel never removes a group that contains a process.
    Gone,
    /// This process cannot see the place where the group was made.
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

/// The inode of the initial pid namespace, which the kernel fixes (include/uapi/linux/nsfs.h: PID_NS_INIT_INO).
pub const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// The inode of the initial user namespace (USER_NS_INIT_INO).
pub const INITIAL_USER_NAMESPACE: u64 = 0xEFFF_FFFD;
/// The boot id of a process that cannot read one.
pub const UNKNOWN_BOOT: &str = "unknown";

/// The boot id of records that another state directory wrote, if this directory is a copy of that one (P13). As after a reboot,
/// nothing that the record names belongs to this directory.
pub const OTHER_ROOT: &str = "of another state directory";

/// The device and the inode of a state directory. No two directories that exist at one time have the same pair. A device may
/// have another number after a reboot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootId {
    /// The number of the device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

impl RootId {
    /// Parses the form that `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (device, inode) = text.split_once('-')?;
        let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
        Some(Self { device: number(device)?, inode: number(inode)? })
    }
}

impl From<(u64, u64)> for RootId {
    fn from((device, inode): (u64, u64)) -> Self {
        Self { device, inode }
    }
}

impl fmt::Display for RootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.device, self.inode)
    }
}

impl Serialize for RootId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Whether two boot ids prove that the host has rebooted between the two. An unknown one proves nothing.
pub fn is_other_boot(one: &str, other: &str) -> bool {
    let is_known = |boot: &str| !boot.is_empty() && boot != UNKNOWN_BOOT;
    if [one, other].contains(&OTHER_ROOT) {
        return true;
    }
    is_known(one) && is_known(other) && one != other
}

/// The place where a process was started. A member is `None` if a record does not have it, and an inode is 0 if `/proc` did not
/// show it.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Origin {
    /// The boot. A record has it beside the process.
    #[serde(skip)]
    pub boot_id: Option<String>,
    /// The inode of the process's pid namespace.
    pub pid_namespace: Option<u64>,
    /// The start time of that namespace's pid 1, in clock ticks since boot.
    #[serde(rename = "pid_namespace_init")]
    pub init_start: Option<u64>,
    /// The inode of the process's user namespace.
    pub user_namespace: Option<u64>,
}

/// State of a pid namespace other than our own, as `/proc` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// The namespace was not looked for.
    NotLooked,
    /// A process of the namespace lives below our own namespace.
    Lives,
    /// Every process below our namespace was examined, and no process is in the namespace.
    Absent,
    /// Some process did not show its namespace, and no other process is in it.
    Unclear,
}

/// Facts known here and now about the place where a process was started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outlook {
    /// The place as it was recorded.
    pub recorded: Origin,
    /// The place of the observing process.
    pub own: Origin,
    /// Whether `/proc` belongs to the pid namespace of the observing process.
    pub is_proc_own: bool,
    /// State of the recorded pid namespace, as `/proc` shows it.
    pub sight: Sight,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_known_boots_can_differ() {
        for (one, other, differ) in [
            ("a", "b", true),
            ("a", "a", false),
            ("a", "unknown", false),
            ("unknown", "b", false),
            ("", "b", false),
            (OTHER_ROOT, "unknown", true),
        ] {
            assert_eq!(is_other_boot(one, other), differ, "{one} {other}");
        }
    }

    #[test]
    fn a_root_reads_back_in_its_one_spelling() {
        let root = RootId { device: 0xfd01, inode: u64::MAX };
        assert_eq!(root.to_string(), "fd01-ffffffffffffffff");
        assert_eq!(RootId::parse(&root.to_string()), Some(root));
        for wrong in ["", "-", "1", "1-", "x-1", "1-2-3"] {
            assert_eq!(RootId::parse(wrong), None, "{wrong}");
        }
    }
}

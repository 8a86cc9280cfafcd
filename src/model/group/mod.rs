//! Control groups (cgroups(7), version 2): one for each start of a task, if the host lets luzia make them.

use serde::{Deserialize, Serialize};

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

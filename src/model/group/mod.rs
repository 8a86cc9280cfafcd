//! Control groups (cgroups(7), version 2): one for each start of a task, where the host lets luzia make them.

use serde::{Deserialize, Serialize};

/// The control group of one start of a task, as its supervisor recorded it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Its path in the file system, as the supervisor saw it.
    pub path: String,
    /// The inode of its directory. The kernel gives no number twice in one boot, so it names this very group.
    pub inode: u64,
    /// The inode of the directory above it. Where that is seen and the group is not, the group is gone.
    pub above: u64,
}

/// What a look at a control group told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSight {
    /// A process is in it or below it, and the process that looked may end all of them.
    Lives,
    /// A process is in it or below it, out of the reach of the process that looked.
    OutOfReach,
    /// No process is in it or below it.
    Empty,
    /// It does not exist any more. The kernel removes no group in which a process is.
    Gone,
    /// This process does not see the place where it was made.
    Unseen,
}

/// Whether tasks get control groups (`supervisor.cgroups`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cgroups {
    /// Where the group of the supervisor is delegated to its account.
    #[default]
    Auto,
    /// Wherever one can be made.
    On,
    /// Never.
    Off,
}

//! The context of a process: the sandbox in which it lives, and the limits that its children inherit. A task runs in the
//! context in which it was queued (contract P9).

use super::name::is_hex;
use super::process::{INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE};
use super::queue::digest;
use super::record::Shared;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

/// The kinds of namespaces that are compared, by their names in `/proc/self/ns` (namespaces(7)).
pub const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

/// Inode numbers of the initial namespaces that the kernel fixes (`include/linux/proc_ns.h`). The kernel assigns those of `mnt`
/// and `net` at boot, so a comparison with another boot is not possible.
pub const INITIAL: [(&str, u64); 6] = [
    ("cgroup", 0xEFFF_FFFB),
    ("ipc", 0xEFFF_FFFF),
    ("pid", INITIAL_PID_NAMESPACE),
    ("time", 0xEFFF_FFFA),
    ("user", INITIAL_USER_NAMESPACE),
    ("uts", 0xEFFF_FFFE),
];

/// The resource limits that are recorded, by their names in `/proc/self/limits` and getrlimit(2).
pub const LIMITS: [&str; 8] = ["as", "core", "cpu", "fsize", "memlock", "nofile", "nproc", "stack"];

/// The name of a sandbox: 16 hex digits of the SHA-256 of its description.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SandboxId(String);

impl SandboxId {
    /// Reads 16 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        is_hex(text, 16).then(|| Self(text.to_owned()))
    }

    fn of(sandbox: &Sandbox) -> Self {
        let numbers = |map: &BTreeMap<String, u64>| {
            map.iter().map(|(name, number)| format!("{name}={number}")).collect::<Vec<_>>().join(",")
        };
        let Sandbox { boot_id, namespaces, root, no_new_privs, seccomp, cap_bounding, cap_effective, .. } = sandbox;
        let Sandbox { hard_limits, groups, memory_max, root_mount, init_start, .. } = sandbox;
        let mut text = format!(
            "{boot_id}\n{}\n{root:?}\n{no_new_privs}\n{seccomp}\n{cap_bounding:x}\n{cap_effective:x}\n{}\n{groups:?}\n\
             {memory_max:?}\n",
            numbers(namespaces),
            numbers(hard_limits)
        );
        // The queues of older versions keep their names: records of those versions have neither number.
        for (name, number) in [("root_mount", root_mount), ("init_start", init_start)] {
            text.extend(number.map(|number| format!("{name}={number}\n")));
        }
        Self(digest(&text))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Properties that a process cannot leave, or cannot give to a child. Two processes with compatible sandboxes may start each
/// other's tasks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sandbox {
    /// The boot in which the inode numbers hold.
    pub boot_id: String,
    /// Inode numbers of namespaces by kind; a kind is absent if the kernel lacks it or if it cannot be read.
    pub namespaces: BTreeMap<String, u64>,
    /// Device and inode number of the root directory.
    pub root: [u64; 2],
    /// The mount of the root directory, by a number that the kernel assigns once in a boot (STATX_MNT_ID_UNIQUE of statx(2),
    /// since Linux 6.8). The kernel reuses inode numbers of namespaces. `None` if the number cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_mount: Option<u64>,
    /// The start time of pid 1 of the pid namespace, in clock ticks since boot; `None` in the initial namespace, and if the
    /// time cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_start: Option<u64>,
    /// Whether the process and all its descendants can gain no privileges by execve(2).
    pub no_new_privs: bool,
    /// The seccomp(2) mode: 0 none, 1 strict, 2 filter.
    pub seccomp: u32,
    /// The bounding set of capabilities(7), as bits.
    pub cap_bounding: u64,
    /// The effective set of capabilities, as bits.
    pub cap_effective: u64,
    /// The hard limits by name, in the units of getrlimit(2); an absent name means no limit.
    pub hard_limits: BTreeMap<String, u64>,
    /// The supplementary groups, in order; `None` in a record without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<u32>>,
    /// The least memory limit of its control groups, in bytes; `None` means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_max: Option<u64>,
}

/// The sandboxes in which processes live, as far as `/proc` shows them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// Inode numbers of namespaces by kind, and the mount of the root directory, of each process.
    pub inhabited: BTreeSet<(BTreeMap<String, u64>, Option<u64>)>,
    /// Whether every process in a pid namespace below the one of this process was examined.
    pub shows_below: bool,
    /// Whether every process in the pid namespace of this process was examined.
    pub shows_beside: bool,
}

/// A sandbox with its name. The name is part of the name of a queue, so a pass skips all tasks of a foreign sandbox without
/// reading them.
#[derive(Clone, Debug)]
pub struct NamedSandbox {
    sandbox: Shared<Sandbox>,
    /// Computed at its first use: most records are read without it.
    id: OnceLock<SandboxId>,
}

impl PartialEq for NamedSandbox {
    fn eq(&self, other: &Self) -> bool {
        self.sandbox == other.sandbox
    }
}

impl Eq for NamedSandbox {}

impl From<Sandbox> for NamedSandbox {
    fn from(sandbox: Sandbox) -> Self {
        Self { sandbox: sandbox.into(), id: OnceLock::new() }
    }
}

impl NamedSandbox {
    /// The name of the sandbox.
    pub fn id(&self) -> &SandboxId {
        self.id.get_or_init(|| SandboxId::of(&self.sandbox))
    }

    /// The sandbox itself.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// The sandbox of a task in its record.
pub(crate) mod recorded {
    use super::{NamedSandbox, Sandbox};
    use crate::model::record::object;
    use serde::{Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(crate) fn serialize<S: Serializer>(named: &Option<Arc<NamedSandbox>>, to: S) -> Result<S::Ok, S::Error> {
        named.as_ref().map(|named| &named.sandbox).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<NamedSandbox>>, D::Error> {
        Ok(object::<Sandbox, D>(from)?.map(|sandbox| Arc::new(sandbox.into())))
    }
}

/// The limits that a supervisor sets for the command of a task, as at(1) and batch(1) do. The submitter chose them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The soft limits by name; an absent name means no limit.
    pub soft: BTreeMap<String, u64>,
    /// The hard limits by name; an absent name means no limit.
    pub hard: BTreeMap<String, u64>,
    /// The nice value, -20 to 19.
    pub nice: i32,
    /// The processors that the command may use, as a list such as `0-3,8`; empty if it is not known.
    pub affinity: String,
    /// The adjustment of the OOM killer's score, -1000 to 1000.
    pub oom_score_adj: i32,
}

impl Limits {
    /// Whether a child of a process with these limits has other limits than `wanted`.
    pub fn differ_from(&self, wanted: &Self) -> bool {
        let is_other_affinity = !wanted.affinity.is_empty() && self.affinity != wanted.affinity;
        (&self.soft, &self.hard, self.nice, self.oom_score_adj)
            != (&wanted.soft, &wanted.hard, wanted.nice, wanted.oom_score_adj)
            || is_other_affinity
    }
}

/// The whole context of a process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Context {
    /// The properties that the process cannot leave.
    pub sandbox: Sandbox,
    /// The limits that the process's children inherit.
    pub limits: Limits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_id_has_one_spelling() {
        assert!(SandboxId::parse("0123456789abcdef").is_some());
        for wrong in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdefa", "0123456789abcdeg"] {
            assert_eq!(SandboxId::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_are_set_only_where_they_differ() {
        let own = Limits { affinity: "0-1".into(), ..Limits::default() };
        assert!(!own.differ_from(&own));
        assert!(!own.differ_from(&Limits { affinity: String::new(), ..own.clone() }));
        assert!(own.differ_from(&Limits { affinity: "0".into(), ..own.clone() }));
        assert!(own.differ_from(&Limits { nice: 5, ..own.clone() }));
        assert!(own.differ_from(&Limits { soft: [("as".to_owned(), 1)].into(), ..own.clone() }));
    }
}

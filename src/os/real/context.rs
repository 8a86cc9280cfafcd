//! The context of this process: its sandbox, and the limits that it gives to its children. Nothing is decided here.

use crate::model::context::{LIMITS, NAMESPACES};
use crate::model::sorted::map_of;
use crate::model::{Context, Limits, Sandbox, Surroundings};
use crate::os::real::process::procfs;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, stat, statx};
use rustix::io::Errno;
use rustix::process::{Resource, getpriority_process, getrlimit};
use std::collections::BTreeMap;

/// The context of this process from `/proc/self` and the kernel. A value that cannot be read is absent: a sandbox without
/// `/proc` equals only another one without.
pub(crate) fn of_this_process(boot_id: String) -> Context {
    let field = |name: &str| procfs::own_field(name).unwrap_or_default();
    let bits = |name: &str| u64::from_str_radix(field(name), 16).unwrap_or(0);
    let (soft, hard) = limits();
    let (root, root_mount) = place_of("/");
    let sandbox = Sandbox {
        boot_id,
        namespaces: own_namespaces(),
        root_mount,
        init_start: procfs::own_origin().init_start,
        root,
        no_new_privs: field("NoNewPrivs") == "1",
        seccomp: field("Seccomp").parse().unwrap_or(0),
        cap_bounding: bits("CapBnd"),
        cap_effective: bits("CapEff"),
        hard_limits: hard.clone(),
        groups: Some(groups(field("Groups"))),
        memory_max: procfs::memory_max(),
    };
    let limits = Limits {
        soft,
        hard,
        nice: getpriority_process(None).unwrap_or(0),
        affinity: field("Cpus_allowed_list").to_owned(),
        oom_score_adj: read_number("/proc/self/oom_score_adj").unwrap_or(0),
    };
    Context { sandbox, limits }
}

/// STATX_MNT_ID_UNIQUE of statx(2), since Linux 6.8.
const MNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Device and inode number of a directory, and its mount by a number that the kernel gives once in a boot; `None` where the kernel
/// has no such number.
fn place_of(path: &str) -> ([u64; 2], Option<u64>) {
    match statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::INO | MNT_ID_UNIQUE) {
        Ok(seen) => {
            let has_mount = StatxFlags::from_bits_retain(seen.stx_mask).contains(MNT_ID_UNIQUE);
            ([makedev(seen.stx_dev_major, seen.stx_dev_minor), seen.stx_ino], has_mount.then_some(seen.stx_mnt_id))
        }
        Err(_) => (stat(path).map_or([0, 0], |place| [place.st_dev, place.st_ino]), None),
    }
}

/// The sandboxes of all processes that `/proc` shows. A process that hides its namespaces may be in any.
pub(crate) fn surroundings() -> Surroundings {
    let Ok(pids) = procfs::pids() else { return Surroundings::default() };
    // Where pid 1 is not shown, others may be hidden too (hidepid of proc(5)).
    let shows_some = pids.contains(&1);
    let mut seen = Surroundings { shows_below: shows_some, shows_beside: shows_some, ..Surroundings::default() };
    for pid in pids {
        match namespaces_of(pid) {
            Ok(namespaces) => {
                seen.inhabited.insert((namespaces, place_of(&format!("/proc/{pid}/root")).1));
            }
            // One number says that it is in our own pid namespace.
            Err(_) if procfs::pids_inwards(pid).is_some_and(|inwards| inwards.len() == 1) => seen.shows_beside = false,
            Err(_) => (seen.shows_below, seen.shows_beside) = (false, false),
        }
    }
    seen
}

/// Inode numbers of the namespaces of a process; a process that has ended has few or none.
fn namespaces_of(pid: u32) -> rustix::io::Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    for kind in NAMESPACES {
        match stat(format!("/proc/{pid}/ns/{kind}")) {
            Ok(seen) => found.extend([(kind.to_owned(), seen.st_ino)]),
            Err(Errno::NOENT | Errno::SRCH) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn groups(text: &str) -> Vec<u32> {
    let mut groups: Vec<u32> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn own_namespaces() -> BTreeMap<String, u64> {
    map_of(NAMESPACES.iter().filter_map(|kind| Some(((*kind).to_owned(), procfs::own_namespace(kind)?))))
}

/// Soft and hard limits by name; an absent name is no limit.
fn limits() -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let (mut soft, mut hard) = (BTreeMap::new(), BTreeMap::new());
    for name in LIMITS {
        let Some(limit) = resource(name).map(getrlimit) else { continue };
        soft.extend(limit.current.map(|number| (name.to_owned(), number)));
        hard.extend(limit.maximum.map(|number| (name.to_owned(), number)));
    }
    (soft, hard)
}

/// The resource of a recorded limit.
pub(crate) fn resource(name: &str) -> Option<Resource> {
    Some(match name {
        "as" => Resource::As,
        "core" => Resource::Core,
        "cpu" => Resource::Cpu,
        "fsize" => Resource::Fsize,
        "memlock" => Resource::Memlock,
        "nofile" => Resource::Nofile,
        "nproc" => Resource::Nproc,
        "stack" => Resource::Stack,
        _ => return None,
    })
}

fn read_number<T: std::str::FromStr>(path: &str) -> Option<T> {
    std::str::from_utf8(&procfs::small(path)?).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_context_that_does_not_change() {
        let context = of_this_process("boot".into());
        assert_eq!(context, of_this_process("boot".into()));
        assert!(context.sandbox.namespaces.contains_key("pid") && context.sandbox.namespaces.contains_key("mnt"));
        assert_ne!(context.sandbox.root, [0, 0]);
        assert!(!context.limits.affinity.is_empty());
    }

    #[test]
    fn this_process_is_seen_in_its_sandbox() {
        let own = of_this_process("boot".into()).sandbox;
        assert!(surroundings().inhabited.contains(&(own.namespaces, own.root_mount)));
    }

    #[test]
    fn every_recorded_limit_has_a_resource() {
        assert!(LIMITS.iter().all(|name| resource(name).is_some()));
        assert!(resource("nice").is_none());
    }
}

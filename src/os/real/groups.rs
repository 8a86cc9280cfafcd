//! Control groups of version 2 below the group of this process. Each is a directory (cgroups(7)).
//!
//! A process belongs to the group of its parent from its birth. So the supervisor enters the group, starts the command there,
//! and leaves. At no instant is a process of the task outside. No controller is enabled, so the group above may go on to have
//! processes.

use crate::model::{Group, GroupSight, Identity};
use crate::os::Groups;
use crate::os::real::process::{procfs, send};
use rustix::fs::{Access, AtFlags, CWD, FsWord, accessat, getxattr, stat, statfs};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Mount points of version 2: alone, or beside version 1.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
/// CGROUP2_SUPER_MAGIC of statfs(2).
const MAGIC: FsWord = 0x6367_7270;
/// Time that a group has to freeze: a process that waits for a disk stops when that has answered.
const PATIENCE: Duration = Duration::from_secs(1);
/// Depth to which groups are removed.
const DEEPEST: u32 = 16;

/// The control groups of this host.
pub(crate) struct RealGroups;

/// The group of this process as it was at the first look. The process returns to it.
fn own() -> Option<&'static str> {
    own_with_owner().map(|(path, _)| path.as_str())
}

/// The group of this process with its owner.
fn own_with_owner() -> Option<&'static (String, u32)> {
    static OWN: OnceLock<Option<(String, u32)>> = OnceLock::new();
    OWN.get_or_init(find_own).as_ref()
}

fn find_own() -> Option<(String, u32)> {
    let text = String::from_utf8(procfs::small("/proc/self/cgroup")?).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/').to_owned();
    // Outside of the part that this process sees (cgroup_namespaces(7)), or removed.
    if path.contains("/..") || path.ends_with(" (deleted)") {
        return None;
    }
    let here = |mount: &str| {
        stat(format!("{mount}{path}/cgroup.procs")).ok().map(|found| (format!("{mount}{path}"), found.st_uid))
    };
    MOUNTS.into_iter().find_map(here)
}

/// Whether the group of this process is delegated to its account: by its owner, or to root by the mark of systemd
/// (`Delegate=`), or as the root of a container. Root owns every group of the host, and must not change those of others.
fn is_delegated((own, owner): &(String, u32)) -> bool {
    let uid = geteuid();
    if !uid.is_root() {
        return *owner == uid.as_raw();
    }
    if MOUNTS.contains(&own.as_str()) {
        // The root group of the host has no type.
        return stat(format!("{own}/cgroup.type")).is_ok();
    }
    let mut value = [0; 8];
    getxattr(own.as_str(), "trusted.delegate", &mut value).is_ok_and(|length| value.get(..length) == Some(b"1"))
}

/// Whether this process may make groups below its own group.
fn may_make(any: bool) -> bool {
    static DELEGATED: OnceLock<bool> = OnceLock::new();
    own_with_owner().is_some_and(|own| any || *DELEGATED.get_or_init(|| is_delegated(own)))
}

/// Set once a group could not be made.
static HAS_FAILED: Mutex<bool> = Mutex::new(false);

fn has_failed() -> bool {
    *HAS_FAILED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(path: &str, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

fn is_group(path: &str) -> bool {
    statfs(path).is_ok_and(|found| found.f_type == MAGIC)
}

fn seen(path: &str) -> io::Result<Option<u64>> {
    match stat(path) {
        Ok(found) => Ok(Some(found.st_ino)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn group_at(path: String, above: &str) -> io::Result<Group> {
    let inode = seen(&path)?.ok_or(io::ErrorKind::NotFound)?;
    let above = seen(above)?.ok_or(io::ErrorKind::NotFound)?;
    Ok(Group { path, inode, above })
}

/// Whether the group at its path is still this very group.
fn is_there(group: &Group) -> bool {
    is_group(&group.path) && matches!(seen(&group.path), Ok(Some(inode)) if inode == group.inode)
}

fn check(group: &Group) -> io::Result<()> {
    if is_there(group) { Ok(()) } else { Err(crate::os::absent()) }
}

/// The value of a line of `cgroup.events`.
fn event(path: &str, name: &str) -> Option<bool> {
    let text = String::from_utf8(procfs::small(&format!("{path}/cgroup.events"))?).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(|value| value != "0")
}

fn make(name: &str, own: &str) -> io::Result<Group> {
    let path = format!("{own}/{name}");
    match fs::create_dir(&path) {
        // An earlier try was killed. The caller has the task, so no other process uses this name.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && event(&path, "populated") == Some(false) => {}
        made => made?,
    }
    let entered =
        group_at(path.clone(), own).and_then(|group| write(&format!("{path}/cgroup.procs"), "0").map(|()| group));
    if entered.is_err() {
        let _ = fs::remove_dir(&path);
    }
    entered
}

/// The paths of the groups in a group.
fn groups_in(path: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path().to_string_lossy().into_owned())
}

fn remove_below(path: &str, depth: u32) -> bool {
    if fs::remove_dir(path).is_ok() {
        return true;
    }
    if depth > 0 {
        for group in groups_in(path) {
            remove_below(&group, depth - 1);
        }
    }
    fs::remove_dir(path).is_ok()
}

fn pids_below(path: &str, depth: u32, found: &mut BTreeSet<u32>) {
    let text = fs::read_to_string(format!("{path}/cgroup.procs")).unwrap_or_default();
    // A process outside of our pid namespace has the number 0.
    found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()).filter(|pid| *pid > 0));
    if depth > 0 {
        groups_in(path).for_each(|group| pids_below(&group, depth - 1, found));
    }
}

impl Groups for RealGroups {
    fn enter(&self, name: &dyn Fn() -> Option<String>, any: bool) -> Option<Group> {
        if has_failed() || !may_make(any) {
            return None;
        }
        let group = make(&name()?, own()?).ok();
        if group.is_none() {
            *HAS_FAILED.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
        group
    }

    fn leave(&self) -> io::Result<()> {
        let own = own().ok_or(io::ErrorKind::NotFound)?;
        write(&format!("{own}/cgroup.procs"), "0")
    }

    fn look(&self, group: &Group) -> GroupSight {
        let Some((above, _)) = group.path.rsplit_once('/') else { return GroupSight::Unseen };
        if !is_group(above) || !matches!(seen(above), Ok(Some(inode)) if inode == group.above) {
            return GroupSight::Unseen;
        }
        match seen(&group.path) {
            Ok(Some(inode)) if inode == group.inode => match event(&group.path, "populated") {
                Some(false) => GroupSight::Empty,
                Some(true) => {
                    let kill = format!("{}/cgroup.kill", group.path);
                    match accessat(CWD, kill, Access::WRITE_OK, AtFlags::EACCESS) {
                        Ok(()) => GroupSight::Lives,
                        Err(_) => GroupSight::OutOfReach,
                    }
                }
                // It may have been removed in this very moment.
                None if matches!(seen(&group.path), Ok(None)) => GroupSight::Gone,
                None => GroupSight::Unseen,
            },
            // Another group has the name, or no group has it.
            Ok(_) => GroupSight::Gone,
            Err(_) => GroupSight::Unseen,
        }
    }

    fn members(&self, group: &Group) -> Vec<Identity> {
        if !is_there(group) {
            return Vec::new();
        }
        let mut pids = BTreeSet::new();
        pids_below(&group.path, DEEPEST, &mut pids);
        let identity = |pid: u32| {
            let stat = procfs::stat(pid).filter(|stat| !stat.is_dead())?;
            Some(Identity { pid, start: stat.start, boot_id: procfs::boot_id().to_owned() })
        };
        pids.into_iter().filter_map(identity).collect()
    }

    fn kill(&self, group: &Group) -> io::Result<()> {
        check(group)?;
        match write(&format!("{}/cgroup.kill", group.path), "1") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                for process in self.members(group) {
                    send(&process, crate::os::Signal::Kill)?;
                }
                Ok(())
            }
            done => done,
        }
    }

    fn freeze(&self, group: &Group, freeze: bool) -> io::Result<bool> {
        check(group)?;
        write(&format!("{}/cgroup.freeze", group.path), if freeze { "1" } else { "0" })?;
        let begin = Instant::now();
        while event(&group.path, "frozen") != Some(freeze) {
            if begin.elapsed() >= PATIENCE {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(true)
    }

    fn remove(&self, group: &Group) -> bool {
        match self.look(group) {
            GroupSight::Gone => true,
            GroupSight::Empty => remove_below(&group.path, DEEPEST),
            GroupSight::Lives | GroupSight::OutOfReach | GroupSight::Unseen => false,
        }
    }

    fn named(&self, prefix: &str) -> Vec<(String, Group)> {
        let Some(own) = own() else { return Vec::new() };
        let entries = fs::read_dir(own).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let wanted = names.filter(|name| name.starts_with(prefix));
        wanted.filter_map(|name| group_at(format!("{own}/{name}"), own).ok().map(|group| (name, group))).collect()
    }
}

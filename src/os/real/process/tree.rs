//! The living processes of a task's tree. It finds and never kills.
//!
//! Each of three marks finds processes that the others miss. Descent finds a process that emptied its environment. The
//! environment finds a process that init inherited because a supervisor died. An open `tree.lock` finds a process that did
//! both.
//!
//! A subreaper inherits more than its task's tree: when a supervisor that it started ends, the supervisors started by that
//! one become its children. They are known by the lock they were started with, and descent ends at them.

use crate::model::Identity;
use crate::model::sorted::map_of;
use crate::os::real::clock::RealClock;
use crate::os::real::process::procfs::{self, Stat};
use crate::os::{Clock, TreeMark};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags, makedev, openat, readlink, statx};
use rustix::process::{child_subreaper, geteuid, getpid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Number of pids up to which each pid is looked at, instead of a list of all processes.
const FEW_PIDS: u32 = 64;

/// Lists a task's tree. Descent counts only for a subreaper, and not below a spared process or another supervisor. The
/// two other marks are proof by themselves and count for all but the spared processes.
pub(crate) fn tree(mark: &TreeMark, spared: &[u32]) -> io::Result<Vec<Identity>> {
    let me = getpid().as_raw_nonzero().get().unsigned_abs();
    let is_subreaper = matches!(child_subreaper(), Ok(Some(_)));
    if mark.is_own && !mark.has_outsiders && mark.tree_lock.is_none() && is_subreaper && has_no_child() {
        // An orphan of the tree becomes a child of this process: without a child, the tree is empty.
        return Ok(Vec::new());
    }
    let begun_here = mark.since.filter(|_| mark.is_own);
    let living = living_processes(begun_here.and_then(|since| pids_since(since, me)))?;
    let mut found = if is_subreaper { descendants(&living, me, spared) } else { BTreeSet::new() };
    let entries = [
        format!("LUZIA_STATE_DIR={}", mark.state_dir).into_bytes(),
        format!("LUZIA_TASK_ID={}", mark.task_id).into_bytes(),
    ];
    for (pid, stat) in &living {
        let is_older = mark.since.is_some_and(|since| stat.start < since);
        if *pid == me || is_older || spared.contains(pid) || found.contains(pid) || !may_look_into(*pid) {
            continue;
        }
        let by_lock = || mark.tree_lock.is_some_and(|file| has_open(*pid, file));
        if procfs::environment_has(*pid, &entries) || by_lock() {
            found.insert(*pid);
        }
    }
    let identity = |pid: &u32| {
        living.get(pid).map(|stat| Identity { pid: *pid, start: stat.start, boot_id: procfs::boot_id().to_owned() })
    };
    Ok(found.iter().filter_map(identity).collect())
}

/// All living processes, or those of a range of pids.
fn living_processes(range: Option<RangeInclusive<u32>>) -> io::Result<BTreeMap<u32, Stat>> {
    let pids = match range {
        Some(range) if range.end() - range.start() <= FEW_PIDS => range.collect(),
        Some(range) => procfs::pids()?.into_iter().filter(|pid| range.contains(pid)).collect(),
        None => procfs::pids()?,
    };
    let stats = pids.into_iter().filter_map(|pid| procfs::stat(pid).map(|stat| (pid, stat)));
    Ok(map_of(stats.filter(|(_, stat)| !stat.is_dead())))
}

/// The pids that the kernel can have given since this process began, for a tree that this process began. The kernel gives
/// rising numbers and starts again from below at `pid_max`. `None` unless it is certain that the kernel did not start again:
/// no host gives a million numbers a second.
fn pids_since(since: u64, me: u32) -> Option<RangeInclusive<u32>> {
    const TICKS_MS: u64 = 10;
    let passed_ms = RealClock.boot_ms().saturating_sub(since.saturating_mul(TICKS_MS));
    let last = procfs::last_pid()?;
    (last >= me && passed_ms.saturating_mul(1000) < u64::from(procfs::pid_max()?)).then_some(me..=last)
}

/// Whether this process has no child at all, living or dead (waitid(2): ECHILD).
pub(crate) fn has_no_child() -> bool {
    let how = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::All, how) == Err(nix::errno::Errno::ECHILD)
}

/// Children of a dead process belong to the subreaper above it, so no link of a chain is ever missing.
fn descendants(living: &BTreeMap<u32, Stat>, top: u32, spared: &[u32]) -> BTreeSet<u32> {
    let own_lock = standard_input(top);
    let mut found = BTreeSet::new();
    let mut open = vec![top];
    while let Some(parent) = open.pop() {
        for (pid, stat) in living {
            let is_spared = || spared.contains(pid) || is_other_supervisor(*pid, own_lock.as_deref());
            if stat.parent == parent && !found.contains(pid) && !is_spared() {
                found.insert(*pid);
                open.push(*pid);
            }
        }
    }
    found
}

/// Whether a process was started with a lock like our own as its standard input: `<somewhere>/<task>/<name>` with
/// another task. The lock may be removed already, by a supervisor that makes its last pass.
fn is_other_supervisor(pid: u32, own_lock: Option<&Path>) -> bool {
    let (Some(own), Some(its)) = (own_lock, standard_input(pid)) else {
        return false;
    };
    let (Some(own_folder), Some(its_folder)) = (own.parent(), its.parent()) else {
        return false;
    };
    let is_alike = own.file_name() == its.file_name() && own_folder.parent() == its_folder.parent();
    is_alike && own_folder != its_folder
}

/// The file that a process has as its standard input.
fn standard_input(pid: u32) -> Option<PathBuf> {
    let link = readlink(format!("/proc/{pid}/fd/0"), Vec::new()).ok()?.into_bytes();
    let name = link.strip_suffix(b" (deleted)").unwrap_or(&link);
    name.starts_with(b"/").then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// Only a process of the same account shows its environment and descriptors; a look at the others would be useless.
fn may_look_into(pid: u32) -> bool {
    let uid = geteuid();
    uid.is_root() || rustix::fs::stat(format!("/proc/{pid}")).is_ok_and(|stat| stat.st_uid == uid.as_raw())
}

/// Whether a process is above this one. An orphan is below the subreaper.
pub(crate) fn descends_from(who: &Identity) -> bool {
    const MOST: usize = 4096;
    let mut pid = std::process::id();
    for _ in 0..MOST {
        let Some(parent) = procfs::stat(pid).map(|stat| stat.parent).filter(|parent| *parent > 1) else { break };
        if parent == who.pid {
            return procfs::stat(parent).is_some_and(|stat| stat.start == who.start);
        }
        pid = parent;
    }
    false
}

pub(crate) fn has_open(pid: u32, file: (u64, u64)) -> bool {
    let Some(dir) = open_dir(&format!("/proc/{pid}/fd")) else {
        return false;
    };
    let mut buffer = Vec::with_capacity(4096);
    let mut reader = RawDir::new(&dir, buffer.spare_capacity_mut());
    while let Some(Ok(entry)) = reader.next() {
        // Without a sync, so that a descriptor on an unreachable network file system does not block us.
        let how = AtFlags::STATX_DONT_SYNC;
        let seen = statx(&dir, entry.file_name(), how, StatxFlags::INO);
        if seen.is_ok_and(|it| (makedev(it.stx_dev_major, it.stx_dev_minor), it.stx_ino) == file) {
            return true;
        }
    }
    false
}

fn open_dir(path: &str) -> Option<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(rustix::fs::CWD, path, how, Mode::empty()).ok()
}

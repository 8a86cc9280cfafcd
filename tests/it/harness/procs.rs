//! The processes of a world, found by what the kernel tells of them.

use super::{LUZIA, World};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

pub const KILL: Signal = Signal::KILL;
pub const TERM: Signal = Signal::TERM;
pub const STOP: Signal = Signal::STOP;
pub const CONT: Signal = Signal::CONT;

/// A process that was looked at through a descriptor, so that a signal can never meet another one.
pub struct Process {
    pub pid: i32,
    pub command: String,
    pub is_luzia: bool,
    handle: OwnedFd,
}

impl Process {
    /// Its verb, when it is luzia.
    pub fn verb(&self) -> &str {
        let mut words = self.command.split(' ').skip(1);
        while let Some(word) = words.next() {
            match word {
                "--state-dir" | "--config" => drop(words.next()),
                _ => return word,
            }
        }
        ""
    }

    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.handle, signal);
    }
}

/// Every process that carries the state directory in its environment, stands in the world, or has a file of it open.
pub fn of_world(world: &World) -> Vec<Process> {
    pids().filter_map(|pid| look(world, pid)).collect()
}

/// The processes of luzia itself.
pub fn luzias(world: &World) -> Vec<Process> {
    let luzia = Path::new(LUZIA).canonicalize().unwrap();
    let runs_luzia = |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == luzia);
    pids().filter(runs_luzia).filter_map(|pid| look(world, pid)).filter(|process| process.is_luzia).collect()
}

/// How many descriptors a process has open.
pub fn descriptors(pid: i32) -> usize {
    super::list(Path::new(&format!("/proc/{pid}/fd"))).len()
}

/// How many children of a process there are, dead ones that nobody waited for included.
pub fn children(pid: i32) -> usize {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().count()
}

/// Sends a signal to a process of this world; false when it has left the world.
pub fn signal(world: &World, pid: i32, signal: Signal) -> bool {
    look(world, pid).map(|process| process.signal(signal)).is_some()
}

pub fn is_alive(world: &World, pid: i32) -> bool {
    look(world, pid).is_some()
}

fn pids() -> impl Iterator<Item = i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(move |pid| *pid != own)
}

fn look(world: &World, pid: i32) -> Option<Process> {
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let place = format!("/proc/{pid}");
    let stat = fs::read_to_string(format!("{place}/stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    if matches!(state, 'Z' | 'X') {
        return None;
    }
    let environ = fs::read(format!("{place}/environ")).unwrap_or_default();
    let wanted = format!("LUZIA_STATE_DIR={}", world.state.display());
    let is_marked = environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes());
    let is_there = |link: &Path| fs::read_link(link).is_ok_and(|to| to.starts_with(&world.root));
    let has_open = || super::list(Path::new(&format!("{place}/fd"))).iter().any(|fd| is_there(fd));
    if !is_marked && !is_there(Path::new(&format!("{place}/cwd"))) && !has_open() {
        return None;
    }
    // A child between fork and exec of this very test holds its descriptors for an instant.
    let exe = fs::read_link(format!("{place}/exe")).ok()?;
    if Some(&exe) == std::env::current_exe().ok().as_ref() {
        return None;
    }
    let command = String::from_utf8_lossy(&fs::read(format!("{place}/cmdline")).ok()?).replace('\0', " ");
    let is_luzia = is_marked && exe == Path::new(LUZIA).canonicalize().ok()?;
    Some(Process { pid, command, is_luzia, handle })
}

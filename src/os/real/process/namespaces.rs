//! The namespaces of this process, and the pid namespaces below ours as /proc shows them.

use crate::model::namespace::{INITIAL_PID_NAMESPACE, Sight};
use crate::model::{Origin, Probe};
use crate::os::real::process::{self, procfs};
use rustix::fs::stat;
use rustix::io::Errno;
use rustix::process::Pid;

/// The boot and the namespaces of this process; an inode that /proc does not show is 0. The start of pid 1 counts only
/// where /proc is our own.
pub(crate) fn own() -> Origin {
    let pid_namespace = procfs::pid_namespace();
    // The first process of the initial namespace is that of the boot.
    let is_initial = pid_namespace == INITIAL_PID_NAMESPACE;
    Origin {
        boot_id: Some(procfs::boot_id().to_owned()),
        pid_namespace: Some(pid_namespace),
        init_start: if is_initial { None } else { procfs::stat(1).map(|init| init.start) },
        user_namespace: Some(procfs::own_namespace("user").unwrap_or(0)),
    }
}

/// Looks for a pid namespace among all processes that /proc shows. Its pid 1 lives as long as the namespace and keeps its
/// number, so no listing misses it. A process below ours that hides its namespace may be in any. The second answer is about
/// the process that has `pid` in that namespace: its pid 1 was seen, and every process was looked at.
pub(crate) fn look_below(namespace: u64, pid: Option<u32>) -> (Sight, Option<Probe>) {
    let Ok(pids) = procfs::pids() else { return (Sight::Unclear, None) };
    // Where pid 1 is not shown, others may be hidden too (hidepid of proc(5)).
    let mut hides_some = !pids.contains(&1);
    let (mut lives, mut found) = (false, None);
    for shown in pids {
        match stat(format!("/proc/{shown}/ns/pid")) {
            Ok(seen) if seen.st_ino == namespace => {
                lives |= procfs::stat(shown).is_none_or(|stat| !stat.is_dead());
                let inwards = procfs::pids_inwards(shown).unwrap_or_default();
                if pid.is_some() && inwards.last().copied() == pid {
                    found = i32::try_from(shown).ok().and_then(Pid::from_raw).map(process::probe);
                }
            }
            Ok(_) | Err(Errno::NOENT | Errno::SRCH) => {}
            // One number says that it is in our own namespace.
            Err(_) => hides_some |= procfs::pids_inwards(shown).is_none_or(|inwards| inwards.len() != 1),
        }
    }
    match (lives, hides_some) {
        (true, true) => (Sight::Lives, found),
        (true, false) => (Sight::Lives, pid.map(|_| found.unwrap_or(Probe::Gone))),
        (false, true) => (Sight::Unclear, None),
        (false, false) => (Sight::Absent, None),
    }
}

//! Decides whether the sandbox of a task lives, as far as that can be seen. Pure.

use super::{is_initial, namespaces};
use crate::model::context::{Sandbox, Surroundings};
use crate::model::namespace::{INITIAL_PID_NAMESPACE, is_other_boot};

/// Life of the sandbox in which a task was queued.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Life {
    /// A process lives in it.
    Lives,
    /// No process lives in it, so no process starts the tasks that were queued there.
    Ended,
    /// Its life cannot be seen from here.
    #[default]
    Unseen,
}

impl Life {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lives => "lives",
            Self::Ended => "ended",
            Self::Unseen => "unseen",
        }
    }
}

/// Whether a sandbox lives. `is_dispatched` is true if a dispatcher of the sandbox holds its kernel lock.
pub fn life(mine: &Sandbox, theirs: &Sandbox, is_dispatched: bool, around: &Surroundings) -> Life {
    if is_other_boot(&mine.boot_id, &theirs.boot_id) {
        return if is_initial(theirs) { Life::Lives } else { Life::Ended };
    }
    let mut apart = Vec::new();
    namespaces(mine, theirs, &mut apart);
    let is_seen = around.inhabited.iter().any(|(namespaces, root_mount)| {
        *namespaces == theirs.namespaces && (theirs.root_mount.is_none() || *root_mount == theirs.root_mount)
    });
    let filters = |sandbox: &Sandbox| (sandbox.no_new_privs, sandbox.seccomp);
    if apart.is_empty() && !is_dispatched {
        // The sandbox has no namespace of its own, so it cannot be seen whether a process with its filters lives.
        let is_filtered = filters(theirs) != filters(mine) && filters(theirs) != (false, 0);
        return if is_filtered { Life::Unseen } else { Life::Lives };
    }
    if is_dispatched || is_seen {
        return Life::Lives;
    }
    let (pid, own_pid) = (theirs.namespaces.get("pid"), mine.namespaces.get("pid"));
    // No two living namespaces have the same number.
    let is_replaced =
        pid.is_some() && pid == own_pid && theirs.init_start.is_some_and(|start| mine.init_start != Some(start));
    let is_in_sight = match (pid, own_pid) {
        (Some(pid), Some(own)) if pid == own => around.shows_beside,
        (Some(_), Some(&INITIAL_PID_NAMESPACE)) => around.shows_below,
        _ => false,
    };
    // If two sandboxes in the initial namespaces differ in their mounts, it cannot be known which one is the host.
    let is_host = is_initial(theirs) && !is_initial(mine);
    match (is_replaced || is_in_sight, is_host) {
        (true, _) => Life::Ended,
        (false, true) => Life::Lives,
        (false, false) => Life::Unseen,
    }
}

/// Whether only processes of this sandbox start its tasks: it has a namespace of its own, or no process can leave it.
pub fn is_private(sandbox: &Sandbox) -> bool {
    !is_initial(sandbox) || sandbox.no_new_privs || sandbox.seccomp != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::context::tests::sandbox;

    #[test]
    fn a_sandbox_lives_has_ended_or_cannot_be_seen() {
        let of = |mnt: u64, pid: u64, root_mount: u64| {
            let mut it = Sandbox { root_mount: Some(root_mount), init_start: Some(root_mount), ..sandbox() };
            it.namespaces.insert("mnt".into(), mnt);
            it.namespaces.insert("pid".into(), pid);
            it
        };
        let host = Sandbox { root_mount: Some(1), ..sandbox() };
        let (call, later, twin) = (of(5, 6, 7), of(8, 9, 10), of(5, 6, 11));
        let around = |sandboxes: &[&Sandbox], shows_all: bool| Surroundings {
            inhabited: sandboxes.iter().map(|one| (one.namespaces.clone(), one.root_mount)).collect(),
            shows_below: shows_all,
            shows_beside: shows_all,
        };
        let all = around(&[&host, &call], true);
        assert_eq!(life(&host, &call, false, &all), Life::Lives);
        assert_eq!(life(&host, &later, false, &all), Life::Ended);
        assert_eq!(life(&host, &twin, false, &all), Life::Ended, "the same numbers, and another mount");
        assert_eq!(life(&host, &later, false, &around(&[&host], false)), Life::Unseen);
        assert_eq!(life(&host, &later, true, &around(&[&host], false)), Life::Lives, "a dispatcher proves it");
        // From inside, neighbours cannot be seen; the host always lives.
        let beside = around(&[&later], true);
        assert_eq!(life(&later, &call, false, &beside), Life::Unseen);
        assert_eq!(life(&later, &host, false, &beside), Life::Lives);
        assert_eq!(life(&twin, &call, false, &around(&[&twin], true)), Life::Ended, "its number was given again");
        let mut other = call.clone();
        other.boot_id = "earlier".into();
        assert_eq!(life(&later, &other, false, &beside), Life::Ended);
        // The sandboxes differ in no namespace but in a filter, which may have ended with its process: the life is unseen.
        let loose = Sandbox { no_new_privs: true, ..later.clone() };
        assert_eq!(life(&later, &loose, false, &beside), Life::Unseen);
        assert_eq!(life(&loose, &later, false, &beside), Life::Lives);
        assert_eq!(life(&later, &Sandbox { cap_effective: 1, ..later.clone() }, false, &beside), Life::Lives);
        assert!(is_private(&later) && is_private(&loose) && !is_private(&host));
    }
}

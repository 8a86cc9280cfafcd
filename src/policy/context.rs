//! Decisions on the sandbox in which a task was queued. Pure.
//!
//! `differences` decides whether a process may start a task that was queued in a given sandbox (contract P9, decision 001).
//! `life` decides whether the sandbox of a task lives, as far as that can be seen.

use crate::model::context::{INITIAL, Sandbox, Surroundings};
use crate::model::process::{INITIAL_PID_NAMESPACE, is_other_boot};

/// One way in which the sandbox of a task differs from that of a process that could start it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Difference {
    /// Another namespace of this kind, e.g. `pid`.
    Namespace(String),
    /// Another root directory (chroot(2)).
    Root,
    /// One of the two has NoNewPrivs.
    NoNewPrivs,
    /// Another seccomp mode.
    Seccomp,
    /// Other capabilities.
    Capabilities,
    /// This process may not raise the hard limit of this name to the recorded one.
    HardLimit(String),
    /// Other supplementary groups, which this process may not change.
    Groups,
    /// Another memory limit of its control groups.
    MemoryMax,
    /// The host has rebooted since, and the sandbox of the task ended with that boot.
    Ended,
}

impl Difference {
    /// The words for people, e.g. `pid namespace`.
    pub fn text(&self) -> String {
        match self {
            Self::Namespace(kind) => format!("{kind} namespace"),
            Self::Root => "root directory".to_owned(),
            Self::NoNewPrivs => "NoNewPrivs".to_owned(),
            Self::Seccomp => "seccomp mode".to_owned(),
            Self::Capabilities => "capabilities".to_owned(),
            Self::HardLimit(name) => format!("hard limit of {name}"),
            Self::Groups => "supplementary groups".to_owned(),
            Self::MemoryMax => "memory limit of its control group".to_owned(),
            Self::Ended => "its sandbox ended with a reboot".to_owned(),
        }
    }
}

/// CAP_SYS_RESOURCE: a process that has it may raise hard limits (capabilities(7)).
const CAP_SYS_RESOURCE: u64 = 1 << 24;
/// CAP_SETGID: a process that has it may take any group, so its groups never restrict it.
const CAP_SETGID: u64 = 1 << 6;

/// The differences between the sandbox `theirs` of a task and `mine`, the sandbox of a process that would start it. Empty if
/// this process may start the task.
pub fn differences(mine: &Sandbox, theirs: &Sandbox) -> Vec<Difference> {
    let mut found = Vec::new();
    // The usual case, by a comparison that makes nothing.
    if mine == theirs {
        return found;
    }
    if mine.boot_id == theirs.boot_id {
        namespaces(mine, theirs, &mut found);
        if mine.root != theirs.root {
            found.push(Difference::Root);
        }
    } else if !is_initial(theirs) {
        return vec![Difference::Ended];
    } else {
        // Inode numbers of mount and network namespaces, and of a root on a volatile file system, are new in each boot. Only
        // the numbers that the kernel fixes can be compared.
        let foreign = INITIAL.iter().filter(|(kind, inode)| mine.namespaces.get(*kind).is_some_and(|own| own != inode));
        found.extend(foreign.map(|(kind, _)| Difference::Namespace((*kind).to_owned())));
    }
    if mine.no_new_privs != theirs.no_new_privs {
        found.push(Difference::NoNewPrivs);
    }
    if mine.seccomp != theirs.seccomp {
        found.push(Difference::Seccomp);
    }
    if (mine.cap_bounding, mine.cap_effective) != (theirs.cap_bounding, theirs.cap_effective) {
        found.push(Difference::Capabilities);
    }
    let groups = (&mine.groups, &theirs.groups);
    if mine.cap_effective & CAP_SETGID == 0
        && let (Some(mine), Some(theirs)) = groups
        && mine != theirs
    {
        found.push(Difference::Groups);
    }
    // A record without groups was written by a luzia version that did not record the memory limit either.
    if theirs.groups.is_some() && mine.memory_max != theirs.memory_max {
        found.push(Difference::MemoryMax);
    }
    found.extend(limits_out_of_reach(mine, theirs));
    found
}

/// Whether each namespace with an initial inode number that the kernel fixes is the initial one.
pub fn is_initial(sandbox: &Sandbox) -> bool {
    INITIAL.iter().all(|(kind, inode)| sandbox.namespaces.get(*kind).is_none_or(|own| own == inode))
}

/// The kernel reuses the inode number of a namespace that has ended. Numbers that the kernel assigns only once reveal that, but
/// an older version did not record them.
fn namespaces(mine: &Sandbox, theirs: &Sandbox, found: &mut Vec<Difference>) {
    let is_other = |mine: Option<u64>, theirs: Option<u64>| theirs.is_some() && mine != theirs;
    let kinds = mine.namespaces.keys().chain(theirs.namespaces.keys()).map(String::as_str);
    let mut different: Vec<&str> =
        kinds.filter(|kind| mine.namespaces.get(*kind) != theirs.namespaces.get(*kind)).collect();
    different.extend(is_other(mine.root_mount, theirs.root_mount).then_some("mnt"));
    different.extend(is_other(mine.init_start, theirs.init_start).then_some("pid"));
    different.sort_unstable();
    different.dedup();
    found.extend(different.into_iter().map(|kind| Difference::Namespace(kind.to_owned())));
}

fn limits_out_of_reach(mine: &Sandbox, theirs: &Sandbox) -> Vec<Difference> {
    if mine.cap_effective & CAP_SYS_RESOURCE != 0 {
        return Vec::new();
    }
    let is_lower = |(name, own): &(&String, &u64)| theirs.hard_limits.get(*name).is_none_or(|wanted| wanted > own);
    mine.hard_limits.iter().filter(is_lower).map(|(name, _)| Difference::HardLimit(name.clone())).collect()
}

/// Life of the sandbox in which a task was queued.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Life {
    /// A process lives in the sandbox.
    Lives,
    /// No process lives in the sandbox, so no process starts the tasks that were queued there.
    Ended,
    /// The life of the sandbox cannot be seen from here.
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
pub(super) mod tests {
    use super::*;
    use crate::model::context::NAMESPACES;
    use proptest::prelude::*;

    fn sandbox() -> Sandbox {
        let mut namespaces: std::collections::BTreeMap<String, u64> =
            INITIAL.iter().map(|(kind, inode)| ((*kind).to_owned(), *inode)).collect();
        namespaces.insert("mnt".into(), 4_026_531_841);
        namespaces.insert("net".into(), 4_026_531_840);
        Sandbox {
            boot_id: "this".into(),
            namespaces,
            root: [1, 2],
            groups: Some(vec![5]),
            cap_bounding: 7,
            cap_effective: 7,
            ..Sandbox::default()
        }
    }

    #[test]
    fn a_process_starts_what_was_queued_in_its_own_sandbox() {
        assert_eq!(differences(&sandbox(), &sandbox()), []);
    }

    #[test]
    fn each_part_of_a_sandbox_counts() {
        for kind in NAMESPACES {
            let mut theirs = sandbox();
            theirs.namespaces.insert(kind.into(), 99);
            assert_eq!(differences(&sandbox(), &theirs), [Difference::Namespace(kind.into())]);
            theirs.namespaces.remove(kind);
            assert_eq!(differences(&sandbox(), &theirs), [Difference::Namespace(kind.into())]);
        }
        type Change = fn(&mut Sandbox);
        let cases: [(Change, Difference); 7] = [
            (|it| it.groups = Some(vec![5, 7]), Difference::Groups),
            (|it| it.memory_max = Some(1 << 30), Difference::MemoryMax),
            (|it| it.root = [1, 3], Difference::Root),
            (|it| it.no_new_privs = true, Difference::NoNewPrivs),
            (|it| it.seccomp = 2, Difference::Seccomp),
            (|it| it.cap_effective = 3, Difference::Capabilities),
            (|it| it.cap_bounding = 3, Difference::Capabilities),
        ];
        for (change, expected) in cases {
            let mut theirs = sandbox();
            change(&mut theirs);
            assert_eq!(differences(&sandbox(), &theirs), std::slice::from_ref(&expected));
            assert_eq!(differences(&theirs, &sandbox()), [expected]);
        }
    }

    #[test]
    fn a_hard_limit_below_the_recorded_one_counts_unless_it_may_be_raised() {
        let with = |limit: Option<u64>| {
            let mut it = sandbox();
            it.hard_limits = limit.map(|limit| ("nofile".to_owned(), limit)).into_iter().collect();
            it
        };
        let nofile = Difference::HardLimit("nofile".into());
        assert_eq!(differences(&with(Some(100)), &with(Some(200))), std::slice::from_ref(&nofile));
        assert_eq!(differences(&with(Some(100)), &with(None)), [nofile]);
        assert_eq!(differences(&with(Some(200)), &with(Some(100))), []);
        assert_eq!(differences(&with(None), &with(Some(100))), []);
        let mut able = with(Some(100));
        let mut theirs = with(Some(200));
        (able.cap_effective, theirs.cap_effective) = (CAP_SYS_RESOURCE, CAP_SYS_RESOURCE);
        assert_eq!(differences(&able, &theirs), []);
    }

    #[test]
    fn after_a_reboot_only_the_initial_namespaces_are_known_again() {
        let mut before = sandbox();
        before.boot_id = "earlier".into();
        before.namespaces.insert("mnt".into(), 1);
        before.root = [7, 7];
        assert_eq!(differences(&sandbox(), &before), []);
        let mut inside = sandbox();
        inside.namespaces.insert("pid".into(), 5);
        assert_eq!(differences(&inside, &before), [Difference::Namespace("pid".into())]);
        before.namespaces.insert("pid".into(), 5);
        for mine in [sandbox(), inside] {
            assert_eq!(differences(&mine, &before), [Difference::Ended]);
        }
    }

    #[test]
    fn a_sandbox_with_the_inode_numbers_of_one_that_ended_is_another_one() {
        let with = |root_mount, init_start| Sandbox { root_mount, init_start, ..sandbox() };
        let (mnt, pid) = (Difference::Namespace("mnt".into()), Difference::Namespace("pid".into()));
        let mine = with(Some(5), Some(70));
        assert_eq!(differences(&mine, &mine), []);
        assert_eq!(differences(&with(Some(6), Some(70)), &mine), std::slice::from_ref(&mnt));
        assert_eq!(differences(&with(Some(5), Some(71)), &mine), std::slice::from_ref(&pid));
        assert_eq!(differences(&with(None, None), &mine), [mnt, pid]);
        // Of an older version, which did not look.
        assert_eq!(differences(&mine, &with(None, None)), []);
        let mut before = mine.clone();
        before.boot_id = "earlier".into();
        assert_eq!(differences(&with(Some(6), Some(71)), &before), [], "a number holds for one boot");
    }

    proptest! {
        #[test]
        fn without_limits_sandboxes_of_one_boot_are_compatible_exactly_when_they_are_equal(
            inodes in prop::collection::vec(0..2_u64, 4), flags in prop::collection::vec(any::<bool>(), 4),
        ) {
            let make = |at: usize| {
                let mut it = sandbox();
                it.namespaces.insert("mnt".into(), inodes[at]);
                it.namespaces.insert("pid".into(), inodes[at + 2]);
                (it.no_new_privs, it.seccomp) = (flags[at], u32::from(flags[at + 2]));
                it
            };
            let (mine, theirs) = (make(0), make(1));
            prop_assert_eq!(differences(&mine, &theirs).is_empty(), mine == theirs);
        }
    }

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

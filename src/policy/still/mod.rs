//! Stillness: whether a tree of processes that was stopped stays stopped, whatever process of luzia is killed. Pure.
//!
//! SIGSTOP keeps a process only until somebody sends SIGCONT, and the kernel does so itself: to the jobs of a shell that ends, and
//! to those of a terminal that hangs up. A tree in which it never does may give its slots to others.

use crate::model::LaneName;
use crate::model::process::Posture;

/// Why a tree does not certainly stay stopped; each names a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stirs {
    /// It runs, or a debugger has it.
    Runs(u32),
    /// It is luzia, which is never stopped and may start something.
    Luzia(u32),
    /// It has a terminal, whose end continues it.
    Terminal(u32),
    /// It is a job of a process of its session, whose end continues it.
    Job(u32),
}

impl Stirs {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Runs(pid) => format!("its process {pid} does not stand still"),
            Self::Luzia(pid) => format!("its process {pid} is luzia, which is never stopped"),
            Self::Terminal(pid) => format!("its process {pid} has a terminal, whose end would let it go on"),
            Self::Job(pid) => format!("its process {pid} is a job of a shell, whose end would let it go on"),
        }
    }
}

/// Whether a tree stays stopped. `above` is the process that looks, the parent of those of the tree that have no other.
///
/// The kernel continues a stopped process group when it becomes an orphan (POSIX, `_exit`): when the last of its members ends that has
/// a parent of the same session in another group, or that parent does. A group without such a member is an orphan already.
pub fn stays_stopped(tree: &[Posture], above: &Posture) -> Result<(), Stirs> {
    for one in tree {
        if one.is_luzia {
            return Err(Stirs::Luzia(one.pid));
        }
        if !one.is_still {
            return Err(Stirs::Runs(one.pid));
        }
        if one.has_terminal {
            return Err(Stirs::Terminal(one.pid));
        }
        let is_link =
            |other: &Posture| other.pid == one.parent && other.session == one.session && other.group != one.group;
        if tree.iter().chain([above]).any(is_link) {
            return Err(Stirs::Job(one.pid));
        }
    }
    Ok(())
}

/// Whether the slots that a task has in a lane may be given up while it is paused: those that are only a number. A user, a thread and
/// a session keep their order by theirs, a value stands in the environment of the command, and a share of processors in its affinity.
pub fn may_be_given_up(lane: &LaneName, has_value: bool, has_share: bool) -> bool {
    !lane.is_key_lane() && !has_value && !has_share
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ABOVE: u32 = 1;

    fn posture(pid: u32, parent: u32, group: u32, session: u32) -> Posture {
        Posture { pid, parent, group, session, has_terminal: false, is_still: true, is_luzia: false }
    }

    #[test]
    fn each_reason_is_found() {
        let above = posture(ABOVE, 0, ABOVE, ABOVE);
        let one = || posture(2, ABOVE, 2, 2);
        assert_eq!(stays_stopped(&[one(), posture(3, 2, 2, 2)], &above), Ok(()));
        assert_eq!(stays_stopped(&[Posture { is_still: false, ..one() }], &above), Err(Stirs::Runs(2)));
        assert_eq!(stays_stopped(&[Posture { is_luzia: true, ..one() }], &above), Err(Stirs::Luzia(2)));
        assert_eq!(stays_stopped(&[Posture { has_terminal: true, ..one() }], &above), Err(Stirs::Terminal(2)));
        assert_eq!(stays_stopped(&[one(), posture(3, 2, 3, 2)], &above), Err(Stirs::Job(3)));
        assert_eq!(
            stays_stopped(&[posture(2, ABOVE, 2, ABOVE)], &above),
            Err(Stirs::Job(2)),
            "as a group of the supervisor"
        );
    }

    /// What the kernel does when a process ends (`kill_orphaned_pgrp`): which groups of the living it continues.
    fn continued(all: &[Posture], ended: &Posture) -> bool {
        let links = |group: (u32, u32), living: &dyn Fn(u32) -> bool| {
            all.iter().filter(|one| living(one.pid) && (one.group, one.session) == group).any(|one| {
                all.iter().any(|other| {
                    living(other.pid)
                        && other.pid == one.parent
                        && other.session == one.session
                        && other.group != one.group
                })
            })
        };
        let mut groups =
            all.iter().filter(|one| one.pid != ended.pid && one.pid != ABOVE).map(|one| (one.group, one.session));
        groups.any(|group| links(group, &|_| true) && !links(group, &|pid| pid != ended.pid))
    }

    proptest! {
        #[test]
        fn no_end_of_any_process_continues_a_tree_that_stays_stopped(
            shape in proptest::collection::vec((0..6usize, 0..3u8), 1..6),
            ended in 0..7usize,
        ) {
            let mut all = vec![posture(ABOVE, 0, ABOVE, ABOVE)];
            for (at, (parent, how)) in shape.iter().enumerate() {
                let pid = u32::try_from(at).expect("small") + 2;
                let parent = all[parent % all.len()].clone();
                all.push(match how {
                    0 => posture(pid, parent.pid, parent.group, parent.session),
                    1 => posture(pid, parent.pid, pid, parent.session),
                    _ => posture(pid, parent.pid, pid, pid),
                });
            }
            if stays_stopped(&all[1..], &all[0]).is_ok() {
                let ended = all[ended % all.len()].clone();
                prop_assert!(!continued(&all, &ended));
            }
        }
    }
}

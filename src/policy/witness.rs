//! Decides which process can prove that the processes of a task are dead: only one that would see them if they lived. Pure.

use crate::model::GroupSight;
use crate::model::evidence::Reason;
use crate::model::process::{INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE, Outlook, Sight, is_other_boot};

/// View of a process on the processes that another one started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witness {
    /// The process is in the pid namespace of the task, and `/proc` shows that.
    Here,
    /// The process is in an ancestor of that pid namespace, and `/proc` shows the processes in it.
    Above,
    /// The namespace is gone, and every process in it with it.
    Gone,
    /// The host has rebooted since.
    OtherBoot,
    /// The process sees the control group of the task, and can end the processes in that group.
    Group,
    /// The process cannot see the processes of the task.
    Blind(Blind),
}

/// The reason that a process cannot see the processes that another one started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blind {
    /// `/proc` is not mounted, or belongs to another pid namespace than the observing process.
    ForeignProc,
    /// The processes were started in a pid namespace that is neither this one nor seen below it.
    OtherPids,
    /// The processes were started where `/proc` did not show their pid namespace, so no process can search for it.
    UnknownPids,
    /// The processes were started in another user namespace, and do not show their environment and their files here.
    OtherUsers,
}

impl Witness {
    /// The view of a process that also looked at the control group of the task. The group shows the task's processes without
    /// `/proc`.
    pub fn with_group(self, sight: Option<GroupSight>) -> Self {
        match (self, sight) {
            (Self::Blind(_), Some(GroupSight::Lives | GroupSight::Empty | GroupSight::Gone)) => Self::Group,
            (witness, _) => witness,
        }
    }

    /// The reason that a sweep made here would not find every process that was started there. `None` if it would, or if none
    /// can be left, so that the task may be recovered.
    pub fn blindness(self) -> Option<Blind> {
        match self {
            Self::Blind(why) => Some(why),
            Self::Here | Self::Above | Self::Gone | Self::OtherBoot | Self::Group => None,
        }
    }
}

impl Blind {
    /// The judge's reason for this view.
    pub fn reason(self) -> Reason {
        match self {
            Self::ForeignProc => Reason::ForeignProc,
            Self::OtherPids => Reason::OtherPids,
            Self::UnknownPids => Reason::UnknownPids,
            Self::OtherUsers => Reason::OtherUsers,
        }
    }
}

/// The view of the observing process on the processes that were started at the recorded place.
///
/// No two pid namespaces that exist at one time have one inode. If the inode is our own, the recorded namespace is this one, or
/// it is gone. A record without a namespace was written before namespaces were recorded, and counts as one of this namespace.
pub fn witness(seen: &Outlook) -> Witness {
    let (recorded, own) = (&seen.recorded, &seen.own);
    let boots = recorded.boot_id.as_deref().zip(own.boot_id.as_deref());
    if boots.is_some_and(|(then, now)| is_other_boot(then, now)) {
        return Witness::OtherBoot;
    }
    if recorded.pid_namespace == Some(0) {
        return Witness::Blind(Blind::UnknownPids);
    }
    if !seen.is_proc_own {
        return Witness::Blind(Blind::ForeignProc);
    }
    let is_initial_user = own.user_namespace == Some(INITIAL_USER_NAMESPACE);
    if recorded.user_namespace.is_some() && recorded.user_namespace != own.user_namespace && !is_initial_user {
        return Witness::Blind(Blind::OtherUsers);
    }
    let Some(namespace) = recorded.pid_namespace else { return Witness::Here };
    if own.pid_namespace == Some(namespace) && namespace != 0 {
        let is_reused = recorded.init_start.zip(own.init_start).is_some_and(|(then, now)| then != now);
        return if is_reused { Witness::Gone } else { Witness::Here };
    }
    match seen.sight {
        Sight::Lives => Witness::Above,
        // A sibling of the namespace does not see its processes either: only the initial namespace is above all others.
        Sight::Absent if own.pid_namespace == Some(INITIAL_PID_NAMESPACE) && is_initial_user && namespace != 0 => {
            Witness::Gone
        }
        Sight::Absent | Sight::Unclear | Sight::NotLooked => Witness::Blind(Blind::OtherPids),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process::Origin;

    const HERE: u64 = 7;
    const THERE: u64 = 8;

    fn origin(pid: u64) -> Origin {
        Origin {
            boot_id: Some("this".into()),
            pid_namespace: Some(pid),
            init_start: Some(1),
            user_namespace: Some(INITIAL_USER_NAMESPACE),
        }
    }

    fn outlook(recorded: u64, own: u64, sight: Sight) -> Outlook {
        Outlook { recorded: origin(recorded), own: origin(own), is_proc_own: true, sight }
    }

    #[test]
    fn the_namespace_in_which_it_was_started_is_a_witness_with_its_own_proc_only() {
        let here = outlook(HERE, HERE, Sight::NotLooked);
        assert_eq!(witness(&here), Witness::Here);
        assert_eq!(witness(&Outlook { is_proc_own: false, ..here }), Witness::Blind(Blind::ForeignProc));
    }

    #[test]
    fn an_inode_with_another_init_is_a_namespace_that_is_gone() {
        let mut again = outlook(HERE, HERE, Sight::NotLooked);
        again.own.init_start = Some(2);
        assert_eq!(witness(&again), Witness::Gone);
    }

    #[test]
    fn an_ancestor_is_a_witness_while_it_sees_a_process_of_the_namespace() {
        for own in [HERE, INITIAL_PID_NAMESPACE] {
            assert_eq!(witness(&outlook(THERE, own, Sight::Lives)), Witness::Above);
            for sight in [Sight::Unclear, Sight::NotLooked] {
                assert_eq!(witness(&outlook(THERE, own, sight)), Witness::Blind(Blind::OtherPids), "{sight:?}");
            }
        }
    }

    #[test]
    fn only_the_initial_namespace_can_say_that_another_one_is_gone() {
        assert_eq!(witness(&outlook(THERE, INITIAL_PID_NAMESPACE, Sight::Absent)), Witness::Gone);
        assert_eq!(witness(&outlook(THERE, HERE, Sight::Absent)), Witness::Blind(Blind::OtherPids));
        let mut mapped = outlook(THERE, INITIAL_PID_NAMESPACE, Sight::Absent);
        (mapped.own.user_namespace, mapped.recorded.user_namespace) = (Some(3), Some(3));
        assert_eq!(witness(&mapped), Witness::Blind(Blind::OtherPids));
        // A process without /proc recorded no namespace that could be looked for.
        for own in [INITIAL_PID_NAMESPACE, HERE, 0] {
            let unknown = outlook(0, own, Sight::Absent);
            assert_eq!(witness(&unknown), Witness::Blind(Blind::UnknownPids));
            assert_eq!(witness(&Outlook { is_proc_own: false, ..unknown }), Witness::Blind(Blind::UnknownPids));
        }
    }

    #[test]
    fn another_user_namespace_is_blind_unless_it_is_the_initial_one() {
        let mut inside = outlook(HERE, HERE, Sight::NotLooked);
        inside.own.user_namespace = Some(3);
        assert_eq!(witness(&inside), Witness::Blind(Blind::OtherUsers));
        let mut outside = outlook(HERE, HERE, Sight::NotLooked);
        outside.recorded.user_namespace = Some(3);
        assert_eq!(witness(&outside), Witness::Here);
    }

    #[test]
    fn another_boot_is_proof_from_everywhere_and_an_unknown_boot_from_nowhere() {
        let mut blind = outlook(THERE, HERE, Sight::Unclear);
        (blind.is_proc_own, blind.own.user_namespace) = (false, None);
        blind.recorded.boot_id = Some("earlier".into());
        assert_eq!(witness(&blind), Witness::OtherBoot);
        blind.own.boot_id = Some("unknown".into());
        assert_eq!(witness(&blind), Witness::Blind(Blind::ForeignProc));
    }

    #[test]
    fn a_control_group_is_a_witness_where_all_of_it_is_seen_and_can_be_ended() {
        let blind = Witness::Blind(Blind::OtherPids);
        for sight in [GroupSight::Lives, GroupSight::Empty, GroupSight::Gone] {
            assert_eq!(blind.with_group(Some(sight)), Witness::Group, "{sight:?}");
            assert_eq!(Witness::Here.with_group(Some(sight)), Witness::Here);
        }
        for sight in [None, Some(GroupSight::OutOfReach), Some(GroupSight::Unseen)] {
            assert_eq!(blind.with_group(sight), blind, "{sight:?}");
        }
        assert_eq!(Witness::Group.blindness(), None);
    }

    #[test]
    fn a_record_without_a_namespace_is_one_of_here() {
        let mut old = outlook(THERE, HERE, Sight::NotLooked);
        (old.recorded.pid_namespace, old.recorded.init_start, old.recorded.user_namespace) = (None, None, None);
        assert_eq!(witness(&old), Witness::Here);
        assert_eq!(witness(&Outlook { is_proc_own: false, ..old }), Witness::Blind(Blind::ForeignProc));
    }
}

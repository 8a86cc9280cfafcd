//! Control groups of version 2 (cgroups(7)) as a trait.

use crate::model::{Group, GroupSight, Identity};
use std::io;

/// The control groups below that of this process.
pub trait Groups: Send + Sync {
    /// Makes a group, and moves this process into it: a process that this one starts from here on is born in it. `None` where
    /// no group can be made; the name is asked for where one can. With `any`, a group may also be made below one that is not
    /// delegated to this account. A group of that name without processes is taken over. A failure changes nothing, and is not
    /// tried again in the life of this process.
    fn enter(&self, name: &dyn Fn() -> Option<String>, any: bool) -> Option<Group>;
    /// Moves this process back to its former group.
    fn leave(&self) -> io::Result<()>;
    /// Looks whether a process is in a group.
    fn look(&self, group: &Group) -> GroupSight;
    /// The processes in a group that have a number here.
    fn members(&self, group: &Group) -> Vec<Identity>;
    /// Ends every process in a group at once (`cgroup.kill`), or one by one where the kernel has no such file.
    fn kill(&self, group: &Group) -> io::Result<()>;
    /// Stops every process in a group, or lets them go on (`cgroup.freeze`); true once that is done, within a second.
    fn freeze(&self, group: &Group, freeze: bool) -> io::Result<bool>;
    /// Removes a group without processes and what is below it; true when it is gone.
    fn remove(&self, group: &Group) -> bool;
    /// The groups below that of this process whose names have this prefix.
    fn named(&self, prefix: &str) -> Vec<(String, Group)>;
}

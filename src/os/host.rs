//! The host as this process has it: its clocks, its processes and accounts, and the root of its state directory.
//!
//! `Host` has all of these. Three traits give access to the system: `Clock` to the clocks of the host, `Gauges` to its load, its
//! ports in use and the processors that may be used, and `Groups` to control groups of version 2 (cgroups(7)).

use super::{Processes, Signal, Vfs};
use crate::model::capacity::{Choice, Readings, SlotValues};
use crate::model::lock::LockRecord;
use crate::model::process::{Outlook, Sight, is_other_boot};
use crate::model::task::DueBoot;
use crate::model::{Group, GroupSight, Identity, Origin, Probe, RootId, Timestamp};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Everything of a host that is not a record: a cheap handle, which may be cloned. It is also its [`Processes`].
#[derive(Clone)]
pub struct Host {
    pub(crate) files: Arc<dyn Vfs>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) procs: Arc<dyn Processes>,
    pub(crate) me: Identity,
    pub(crate) uid: u32,
    root: Arc<OnceLock<RootId>>,
}

impl Deref for Host {
    type Target = dyn Processes;

    fn deref(&self) -> &Self::Target {
        self.procs.as_ref()
    }
}

impl Host {
    /// The host, and the root of its state directory.
    pub fn new(files: Arc<dyn Vfs>, clock: Arc<dyn Clock>, procs: Arc<dyn Processes>) -> Self {
        let (me, uid) = (procs.me(), procs.uid());
        Self { files, clock, procs, me, uid, root: Arc::default() }
    }

    /// The path of the state directory, for messages and for the environment of tasks.
    pub fn state_dir(&self) -> &str {
        self.files.root()
    }

    /// The state directory itself, by device and inode; `None` where it cannot be looked at.
    pub fn root(&self) -> Option<RootId> {
        if let Some(root) = self.root.get() {
            return Some(*root);
        }
        let found = self.files.meta(".").ok().flatten()?;
        self.know_root(found.ident);
        Some(found.ident.into())
    }

    /// Gives the host the identity of the state directory, so that it need not look itself.
    pub(crate) fn know_root(&self, ident: (u64, u64)) {
        let _ = self.root.set(ident.into());
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Milliseconds since boot.
    pub fn boot_ms(&self) -> u64 {
        self.clock.boot_ms()
    }

    /// The moment of the boot clock at which the wall clock shows a time, if neither clock is set until then.
    pub fn by_boot_clock(&self, at: Timestamp) -> DueBoot {
        let ahead = at.saturating_ms_since(self.now());
        DueBoot { boot_id: self.clock.boot_id(), at_ms: self.boot_ms().saturating_add(ahead) }
    }

    /// The time that the wall clock, as it goes now, shows at a moment of the boot clock of this boot.
    pub fn by_wall_clock(&self, due: &DueBoot) -> Option<Timestamp> {
        let ahead = i64::try_from(due.at_ms).ok()?.checked_sub(i64::try_from(self.boot_ms()).ok()?)?;
        (due.boot_id == self.clock.boot_id()).then(|| self.now().plus_ms(ahead))
    }

    /// Waits.
    pub fn sleep(&self, time: Duration) {
        self.clock.sleep(time);
    }

    /// Waits, and ends the wait when a timer becomes readable.
    pub fn sleep_beside(&self, time: Duration, timer: &File) {
        self.clock.sleep_beside(time, timer);
    }

    /// A timer for a moment of the boot clock, as [`Clock::timer`] makes it; `None` without a descriptor for it.
    pub fn timer(&self, boot_ms: u64) -> Option<Arc<File>> {
        self.clock.timer(boot_ms).ok().flatten().map(Arc::new)
    }

    /// The number that the identity of this boot spells; 0 for a text that is no such identity.
    pub fn boot(&self) -> u128 {
        u128::from_str_radix(&self.clock.boot_id().replace('-', ""), 16).unwrap_or(0)
    }

    /// The name of this host.
    pub fn name(&self) -> String {
        self.procs.host()
    }
}

/// Accounts.
impl Host {
    /// The account of this process, which owns the state directory.
    pub fn owner(&self) -> u32 {
        self.uid
    }

    /// The account that owns a directory, when it can be opened and the account has a name. An error where the name cannot be
    /// looked up.
    pub fn owner_of(&self, path: &str) -> io::Result<Option<String>> {
        let Ok(Some(root)) = self.files.open_root(path, false) else { return Ok(None) };
        let Ok(Some(meta)) = root.meta(".") else { return Ok(None) };
        self.procs.account_name(meta.uid)
    }
}

/// This process.
impl Host {
    /// The identity of this process.
    pub fn identity(&self) -> Identity {
        self.me.clone()
    }

    /// The identity of another process, if it is known to live.
    pub fn living(&self, pid: u32) -> Option<Identity> {
        match self.procs.probe(pid) {
            Probe::Alive { start } => Some(Identity { pid, start, ..self.identity() }),
            Probe::Gone | Probe::Zombie | Probe::Unknown => None,
        }
    }

    /// The boot and the namespaces of this process.
    pub fn own_origin(&self) -> Origin {
        Origin { boot_id: Some(self.clock.boot_id()), ..self.procs.origin() }
    }

    /// Whether this process is a descendant of the process of a lock.
    pub fn is_below(&self, record: &LockRecord) -> bool {
        let (Some(pid), Some(start), Some(boot_id)) = (record.pid, record.pid_start, record.boot_id.clone()) else {
            return false;
        };
        boot_id == self.procs.me().boot_id && self.procs.descends_from(&Identity { pid, start, boot_id })
    }

    /// Moves this process out of the control group of its task. False where that fails: then the caller must not end the
    /// group.
    pub fn leave_group(&self) -> bool {
        self.procs.groups().is_some_and(|groups| groups.leave().is_ok())
    }

    /// The numbers of the processors that this process may use, and the number of those for which it has time.
    pub fn processors(&self) -> (Vec<u32>, u32) {
        let gauges = self.procs.gauges();
        (gauges.processors(), gauges.parallelism())
    }

    /// Binds this process, and what it starts from now on, to some processors. A process that cannot be bound runs anyway.
    pub fn bind_to(&self, processors: &[u32]) {
        let _ = self.procs.gauges().bind_to(processors);
    }
}

/// Other processes.
impl Host {
    /// Signals a process if it is still that very process; false when it is dead or cannot be signalled.
    pub fn signal(&self, who: &Identity, signal: Signal) -> bool {
        self.procs.signal(who, signal).unwrap_or(false)
    }

    /// The standard input of a process that uses this state directory. `None` when the process is dead, or uses another state
    /// directory of which this one is a copy.
    pub fn stdin_of(&self, who: &Identity) -> io::Result<Option<File>> {
        let root = self.root().map(|root| (root.device, root.inode));
        self.procs.open_stdin_of(who, root)
    }

    /// Waits until a process is dead; true when it is.
    pub fn await_death(&self, who: &Identity, time: Duration) -> bool {
        self.procs.await_death(who, time).unwrap_or(false)
    }

    /// The version that a program reports; the program is searched in the folders of `path`.
    pub fn version_of(&self, program: &str, path: Option<&[u8]>) -> Option<String> {
        self.procs.gauges().version_of(program, path)
    }
}

/// The places where other processes were started.
impl Host {
    /// The part that can be seen from here of the place where something was started.
    pub fn outlook(&self, recorded: Origin) -> Outlook {
        self.outlook_on(recorded, None).0
    }

    /// The part that can be seen from here of a place, and of the process that had `pid` there.
    fn outlook_on(&self, recorded: Origin, pid: Option<u32>) -> (Outlook, Option<Probe>) {
        let (own, is_proc_own) = (self.own_origin(), self.procs.is_proc_own());
        let boots = recorded.boot_id.as_deref().zip(own.boot_id.as_deref());
        let (sight, probe) = match recorded.pid_namespace {
            _ if boots.is_some_and(|(then, now)| is_other_boot(then, now)) => (Sight::NotLooked, None),
            // A record without a namespace counts as one of this namespace, so the pid has its meaning here.
            None => (Sight::NotLooked, pid.map(|pid| self.procs.probe(pid))),
            Some(namespace) if own.pid_namespace == Some(namespace) && namespace != 0 => {
                (Sight::NotLooked, pid.map(|pid| self.procs.probe(pid)))
            }
            Some(namespace) if is_proc_own && namespace != 0 => self.procs.look_below(namespace, pid),
            Some(_) => (Sight::NotLooked, None),
        };
        (Outlook { recorded, own, is_proc_own, sight }, probe)
    }

    /// The part that can be seen of the holder of a lock: its place, its process, and the command of a `luzia lock`.
    pub fn look_at_holder(&self, record: &LockRecord) -> (Option<Outlook>, Option<Probe>, Option<Probe>) {
        if !record.rests_on_process() {
            return (None, None, None);
        }
        let (outlook, process) = self.outlook_on(record.origin(), record.pid);
        let command = record.command.and_then(|(pid, _)| self.outlook_on(record.origin(), Some(pid)).1);
        (Some(outlook), process, command)
    }
}

/// Control groups.
impl Host {
    /// Looks whether a process is in a control group.
    pub fn look_at_group(&self, group: &Group) -> GroupSight {
        self.procs.groups().map_or(GroupSight::Unseen, |groups| groups.look(group))
    }

    /// The processes in a control group that have a number here.
    pub fn group_members(&self, group: &Group) -> Vec<Identity> {
        self.procs.groups().map(|groups| groups.members(group)).unwrap_or_default()
    }

    /// Ends every process in a control group. The next look finds a process that lives on.
    pub fn kill_group(&self, group: &Group) {
        let _ = self.procs.groups().map(|groups| groups.kill(group));
    }

    /// Stops every process in a control group, or lets them go on; true once that is done.
    pub fn freeze_group(&self, group: &Group, freeze: bool) -> bool {
        self.procs.groups().is_some_and(|groups| groups.freeze(group, freeze).unwrap_or(false))
    }

    /// Removes a control group without processes. A group that is left does no harm, and `doctor --fix` removes it.
    pub fn remove_group(&self, group: &Group) {
        let _ = self.procs.groups().map(|groups| groups.remove(group));
    }
}

/// Gauges of the host for lanes.
impl Host {
    /// Readings of the gauges of the host.
    pub fn readings(&self) -> Readings {
        self.procs.gauges().readings()
    }

    /// The value that a new holder would get beside others.
    pub fn choose_value(&self, values: &SlotValues, taken: &[(u32, Option<String>)]) -> Choice {
        values.choose(taken, &mut |value| values.port(value).and_then(|port| self.user_of_port(port)))
    }

    /// The user of a port: `None` where the port is free. The inner pid is `None` where the process cannot be seen.
    pub fn user_of_port(&self, port: u16) -> Option<Option<u32>> {
        match self.procs.gauges().port(port) {
            Port::Used(pid) => Some(pid),
            Port::Free => None,
        }
    }
}

/// The time: wall clock, boot clock, and the identity of this boot.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;
    /// Milliseconds since boot, suspended time included (CLOCK_BOOTTIME).
    fn boot_ms(&self) -> u64;
    /// The identity of this boot (`/proc/sys/kernel/random/boot_id`).
    fn boot_id(&self) -> String;
    /// Waits.
    fn sleep(&self, time: Duration);
    /// A descriptor that becomes readable at a moment of the boot clock, in milliseconds; `None` where time is simulated.
    fn timer(&self, _boot_ms: u64) -> io::Result<Option<File>> {
        Ok(None)
    }
    /// Waits, and ends the wait when a timer becomes readable.
    fn sleep_beside(&self, time: Duration, _timer: &File) {
        self.sleep(time);
    }
}

/// Result of a bind trial of a TCP port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// The port can be bound on every address.
    Free,
    /// Another process has the port; with the pid of the process that listens, where that can be seen.
    Used(Option<u32>),
}

/// The gauges of a host. Each method answers for a host on which nothing can be read, unless it is implemented.
pub trait Gauges: Send + Sync {
    /// The present readings. Pressure and memory are those of this process's own control group where that has them.
    fn readings(&self) -> Readings {
        Readings::default()
    }

    /// Tries to bind a TCP port. The trial accepts no connection and ends at once.
    fn port(&self, _: u16) -> Port {
        Port::Free
    }

    /// The numbers of the processors that this process may use, in order.
    fn processors(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Number of processors for which this process has time: the CPU quota of its control groups counts as well.
    fn parallelism(&self) -> u32 {
        1
    }

    /// Binds this process, and what it starts from now on, to some processors.
    fn bind_to(&self, _processors: &[u32]) -> io::Result<()> {
        Ok(())
    }

    /// The version that a program reports; the program is searched in the folders of `path`. Empty where it does not answer
    /// within a second, and `None` where there is no such program.
    fn version_of(&self, _program: &str, _path: Option<&[u8]>) -> Option<String> {
        None
    }
}

/// A host without gauges.
pub struct NoGauges;

impl Gauges for NoGauges {}

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

//! Processes of this host: which live, and which get a signal. It holds no rule about tasks.

pub(crate) mod account;
pub(crate) mod child;
pub(crate) mod launch;
pub(crate) mod passwd;
pub(crate) mod poll;
pub(crate) mod procfs;
pub(crate) mod program;
pub(crate) mod pty;
pub(crate) mod run_capture;
pub(crate) mod signals;
pub(crate) mod tree;

use crate::model::process::{Ancestor, Sight, is_other_boot};
use crate::model::{Context, Identity, Origin, Probe, Surroundings};
use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::{Called, Child, Command, Exit, Handle, InPlace, Processes, Signal, StartError, Streams, TreeMark};
use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::wait::{Id, WaitPidFlag, waitid as nix_waitid};
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal as Number, WaitOptions, geteuid, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, setsid, test_kill_process, waitpid,
};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The processes of this host.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealProcesses;

impl Processes for RealProcesses {
    fn me(&self) -> Identity {
        static ME: OnceLock<Identity> = OnceLock::new();
        ME.get_or_init(own_identity).clone()
    }

    fn uid(&self) -> u32 {
        geteuid().as_raw()
    }

    fn account_name(&self, uid: u32) -> io::Result<Option<String>> {
        crate::os::real::process::passwd::account_name(uid)
    }

    fn account_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(crate::os::real::process::passwd::host().with_name(name)?.map(|account| account.uid))
    }

    fn host(&self) -> String {
        let name = rustix::system::uname();
        name.nodename().to_string_lossy().into_owned()
    }

    fn gauges(&self) -> &dyn crate::os::Gauges {
        &crate::os::real::gauges::RealGauges
    }

    fn context(&self) -> Arc<Context> {
        static OWN: OnceLock<Arc<Context>> = OnceLock::new();
        let own = OWN.get_or_init(|| crate::os::real::context::of_this_process(procfs::boot_id().to_owned()).into());
        Arc::clone(own)
    }

    fn sandboxes(&self) -> Surroundings {
        crate::os::real::context::surroundings()
    }

    fn origin(&self) -> Origin {
        // A process keeps its pid namespace for life (pid_namespaces(7)), and luzia never leaves its user namespace.
        static OWN: OnceLock<Origin> = OnceLock::new();
        OWN.get_or_init(procfs::own_origin).clone()
    }

    fn is_proc_own(&self) -> bool {
        procfs::shows_our_namespace()
    }

    fn look_below(&self, pid_namespace: u64, pid: Option<u32>) -> (Sight, Option<Probe>) {
        procfs::look_below(pid_namespace, pid)
    }

    fn has_child(&self) -> bool {
        !tree::has_no_child()
    }

    fn probe(&self, pid: u32) -> Probe {
        pid_of(pid).map_or(Probe::Unknown, probe)
    }

    fn open_stdin_of(&self, who: &Identity, root: Option<(u64, u64)>) -> io::Result<Option<File>> {
        if root.is_some_and(|root| !tree::has_open(who.pid, root)) {
            return Ok(None);
        }
        crate::os::real::stdin_of::open(who)
    }

    fn runs_this_program(&self, pid: u32) -> bool {
        program::runs_this_program(pid)
    }

    fn is_stopped(&self, who: &Identity) -> bool {
        procfs::stat(who.pid).is_some_and(|stat| stat.start == who.start && matches!(stat.state, b'T' | b't'))
    }

    fn signal(&self, who: &Identity, signal: Signal) -> io::Result<bool> {
        send(who, signal)
    }

    fn await_death(&self, who: &Identity, time: Duration) -> io::Result<bool> {
        let until = deadline(time);
        let pid = pid_of(who.pid).ok_or_else(no_such_pid)?;
        let Some(fd) = open_process(who, pid)? else { return Ok(true) };
        if probe(pid).proves_death_of(who.start) {
            return Ok(true);
        }
        // The pid may have been reused: then the end of its present owner comes after the end of ours.
        poll_until(&mut [PollFd::new(&fd, PollFlags::IN)], until)
    }

    fn launch_supervisor(&self, args: &[String], lock: Box<dyn Handle>) -> io::Result<u32> {
        launch::launch_supervisor(args, lock)
    }

    fn inherited_lock(&self) -> io::Result<Box<dyn Handle>> {
        let copy = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        Ok(Box::new(crate::os::real::files::handle::RealHandle::new(File::from(copy))))
    }

    fn replace_input(&self, lock: Option<File>) -> io::Result<()> {
        let lock = lock.ok_or_else(|| io::Error::other("the lock of a supervisor is not a real file"))?;
        Ok(rustix::stdio::dup2_stdin(&lock)?)
    }

    fn become_supervisor(&self) -> io::Result<()> {
        // The handlers come first, because the empty mask lets signals through that the old one held back.
        signals::catch_child_deaths()?;
        signals::catch_always(signals::Caught::Terminate)?;
        signals::catch_always(signals::Caught::Pass)?;
        signals::start_clean()?;
        match setsid() {
            // A leader of a group has no session to make: it was started by hand, from a shell with job control.
            Ok(_) | Err(Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        set_child_subreaper(Some(getpid()))?;
        close_fds::set_fds_cloexec(3, &[]);
        Ok(())
    }

    fn start(&self, command: &Command, streams: &Streams, tree: Option<File>) -> Result<Box<dyn Child>, StartError> {
        launch::start(command, streams, tree)
    }

    fn start_here(&self, command: InPlace) -> Result<Box<dyn Child>, StartError> {
        launch::start_here(command)
    }

    fn call(&self, called: &Called) -> io::Result<(Exit, Vec<u8>)> {
        run_capture::call(called)
    }

    fn tree(&self, mark: &TreeMark, spared: &[u32]) -> io::Result<Vec<Identity>> {
        tree::tree(mark, spared)
    }

    fn program_of(&self, pid: u32) -> Option<String> {
        Some(procfs::program(pid)).filter(|name| !name.is_empty())
    }

    fn ancestors(&self, of: u32, enough: &dyn Fn(&Ancestor) -> bool) -> Vec<Ancestor> {
        procfs::ancestors(of, enough)
    }

    fn end_of(&self, who: &Identity) -> io::Result<Option<File>> {
        let Some(fd) = open_process(who, pid_of(who.pid).ok_or_else(no_such_pid)?)? else { return Ok(None) };
        let is_dead = pid_of(who.pid).is_none_or(|pid| probe(pid).proves_death_of(who.start));
        Ok((!is_dead).then(|| File::from(fd)))
    }

    fn descends_from(&self, who: &Identity) -> bool {
        tree::descends_from(who)
    }

    fn has_open(&self, file: (u64, u64)) -> bool {
        tree::has_open(std::process::id(), file)
    }

    fn is_program_current(&self) -> bool {
        program::replacement().is_none()
    }

    fn reap(&self) {
        while let Some(pid) = next_dead_child() {
            if child::is_watched(pid) {
                // The kernel shows one dead child at a time and would show this one again and again.
                reap_by_list();
                return;
            }
            wait_for(pid);
        }
    }

    fn lock_holder(&self, file: (u64, u64)) -> Option<u32> {
        procfs::lock_holder(file)
    }

    fn groups(&self) -> Option<&dyn crate::os::Groups> {
        Some(&crate::os::real::groups::RealGroups)
    }

    fn catch_ends(&self) {
        let _ = signals::catch(&signals::ENDS);
    }

    fn asked_to_end(&self) -> Option<i32> {
        signals::ENDS.into_iter().find(|signal| signals::take(*signal)).map(signals::Caught::number)
    }

    fn die_of(&self, signal: i32) {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }

    fn hold_stop_signals(&self, hold: bool) {
        let mut set = SigSet::empty();
        for signal in [NixSignal::SIGTSTP, NixSignal::SIGTTIN, NixSignal::SIGTTOU] {
            set.add(signal);
        }
        // The only error is a wrong argument, and all arguments are right.
        let _ = if hold { set.thread_block() } else { set.thread_unblock() };
    }
}

/// The signal of that meaning.
pub(super) fn number(signal: Signal) -> Number {
    match signal {
        Signal::Int => Number::INT,
        Signal::Term => Number::TERM,
        Signal::Kill => Number::KILL,
        Signal::Stop => Number::STOP,
        Signal::Continue => Number::CONT,
        Signal::Wake => Number::USR1,
    }
}

/// The identity of this process. Where /proc shows nothing the start time is 0; nothing can be probed there either, so it is
/// never compared.
fn own_identity() -> Identity {
    let pid = getpid().as_raw_nonzero().get().unsigned_abs();
    Identity { pid, start: procfs::stat(pid).map_or(0, |stat| stat.start), boot_id: procfs::boot_id().to_owned() }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

pub(super) fn probe(pid: Pid) -> Probe {
    match procfs::stat(pid.as_raw_nonzero().get().unsigned_abs()) {
        Some(stat) if stat.is_dead() => Probe::Zombie,
        Some(stat) => Probe::Alive { start: stat.start },
        // A process that /proc does not show may be hidden; only the kernel's "no such process" proves that it is gone.
        None => match test_kill_process(pid) {
            Err(Errno::SRCH) => Probe::Gone,
            Ok(()) | Err(_) => Probe::Unknown,
        },
    }
}

/// A descriptor of the process that has this number now; `None` where the process with this identity is dead.
fn open_process(who: &Identity, pid: Pid) -> io::Result<Option<OwnedFd>> {
    if is_other_boot(&who.boot_id, procfs::boot_id()) {
        return Ok(None);
    }
    match retry_on_intr(|| pidfd_open(pid, PidfdFlags::empty())) {
        Ok(fd) => Ok(Some(fd)),
        // The second and third mean that only a thread has this number: the process itself is gone.
        Err(Errno::SRCH | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The comparison follows the opening, so that the process compared is the process signalled.
pub(super) fn send(who: &Identity, signal: Signal) -> io::Result<bool> {
    let pid = target(who)?;
    let Some(fd) = open_process(who, pid)? else { return Ok(false) };
    let seen = probe(pid);
    if seen.proves_death_of(who.start) {
        return Ok(false);
    }
    if !seen.proves_life_of(who.start) {
        let text = format!("cannot tell whether pid {} is still the same process", who.pid);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    match pidfd_send_signal(fd, number(signal)) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Records may be wrong; no record makes us signal everything (0, -1), init or ourselves.
fn target(who: &Identity) -> io::Result<Pid> {
    match pid_of(who.pid) {
        Some(pid) if pid != Pid::INIT && pid != getpid() => Ok(pid),
        Some(_) | None => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("pid {} is never signalled", who.pid)))
        }
    }
}

fn no_such_pid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no such pid can be")
}

/// Looks for a dead child and leaves it to be waited for.
fn next_dead_child() -> Option<i32> {
    let how = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    loop {
        match nix_waitid(Id::All, how) {
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return None,
            Ok(status) => return status.pid().map(nix::unistd::Pid::as_raw),
        }
    }
}

fn reap_by_list() {
    let me = getpid().as_raw_nonzero().get().unsigned_abs();
    for pid in procfs::pids().unwrap_or_default() {
        let is_mine = procfs::stat(pid).is_some_and(|stat| stat.parent == me && stat.is_dead());
        let Ok(pid) = i32::try_from(pid) else {
            continue;
        };
        if is_mine && !child::is_watched(pid) {
            wait_for(pid);
        }
    }
}

fn wait_for(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Without waiting and without a use for the status. A failure means that there is no child to wait for.
        let _ = retry_on_intr(|| waitpid(Some(pid), WaitOptions::NOHANG));
    }
}

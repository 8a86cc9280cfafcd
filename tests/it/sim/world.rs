//! The state of the pretend machine: disk, processes, open files, clocks; and what a kill, a power cut or the passing
//! of time does to it. Who moves next is decided in `turn.rs`.

use super::choice::Chooser;
use super::disk::{Disk, Ino};
use super::turn::Gate;
use super::{AtStart, Launch, Limits, Look, Odds, Program, Reuse};
use luzia::model::Timestamp;
use luzia::model::process::Probe;
use luzia::os::{Exit, Signal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Microseconds that one operation takes.
const OP_US: u64 = 15;
/// The boot clock at the first instant of a boot, in microseconds.
const BOOT_US: u64 = 5_000_000;
/// The wall clock at the first instant of a run: 2026-01-10, in microseconds.
const WALL_US: i64 = 1_768_000_000_000_000;

/// One pretend process.
pub struct Proc {
    /// Its name in traces.
    pub name: String,
    /// Its pid; pids of the dead may be used again.
    pub pid: u32,
    /// Its start time in clock ticks; no two are equal within a boot.
    pub start: u64,
    /// What it is doing.
    pub state: State,
    /// Where its thread waits for its turn.
    pub gate: Arc<Gate>,
    /// How many operations it has made.
    pub steps: u64,
    /// An open file it is handing to a child.
    pub handed: Option<usize>,
    /// The open file that it inherited as its standard input.
    pub stdin: Option<usize>,
    /// An open file of which the next command it starts gets a descriptor.
    pub shared: Option<usize>,
    /// For the processes of a command: the state directory and the task in their environment.
    pub mark: Option<(String, String)>,
    /// Whether SIGTERM does nothing.
    pub is_stubborn: bool,
    /// Signals that it has not looked at; `None` when it catches none.
    pub caught: Option<Vec<Signal>>,
    /// How it ended, or will end.
    pub exit: Exit,
}

/// What a pretend process is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It may move.
    Ready,
    /// It waits.
    Waiting(Wait),
    /// It has ended, or was killed.
    Dead,
}

/// What a process waits for: whichever comes first.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Wait {
    /// The boot clock, in microseconds.
    pub until_us: u64,
    /// Another version of one of these directories.
    pub dirs: Vec<(Ino, u64)>,
    /// The death of a process, by slot.
    pub death: Option<usize>,
    /// Any signal that it catches.
    pub signals: bool,
    /// The end of everybody who has a file open.
    pub end: Option<Ino>,
}

/// An open file description: what descriptors of several processes may share.
pub struct OpenFile {
    /// The file.
    pub ino: Ino,
    /// Whether it may be written.
    pub writable: bool,
    /// The kernel lock it holds; true is shared.
    pub lock: Option<bool>,
    /// Whether a sync of it failed.
    pub poisoned: bool,
    /// The processes with a descriptor of it, one entry a descriptor.
    pub holders: Vec<usize>,
}

/// The machine.
pub struct World {
    /// The disk.
    pub disk: Disk,
    /// All processes that ever were, by slot.
    pub procs: Vec<Proc>,
    /// All open files that ever were.
    pub files: Vec<OpenFile>,
    /// The boot clock.
    pub boot_us: u64,
    /// The wall clock.
    pub wall_us: i64,
    /// How many power cuts there were.
    pub cuts: u32,
    /// How many processes were killed, power cuts aside.
    pub kills: u32,
    /// How many operations were made.
    pub steps: u64,
    /// What may still happen.
    pub left: Limits,
    /// How likely it is, when a seed decides.
    pub odds: Odds,
    /// Who decides.
    pub chooser: Chooser,
    /// The process that moved last.
    pub last: Option<usize>,
    /// Threads that have not come to their end.
    pub threads: usize,
    /// Whether nothing more will be started.
    pub over: bool,
    /// What went wrong.
    pub violations: Vec<String>,
    /// What happened, when it is recorded.
    pub trace: Option<Vec<String>>,
    /// Programs that are started after each power cut.
    pub at_boot: Vec<(String, Program)>,
    /// What a launched supervisor does.
    pub launch: Option<Launch>,
    /// What the command of a task does.
    pub command: Option<Launch>,
    /// Checked whenever a command starts; gives the critical sections in which it is as long as it lives.
    pub at_start: Option<AtStart>,
    /// Who is inside which critical section.
    pub inside: BTreeMap<String, Vec<usize>>,
    /// Checked after every visible change of the disk.
    pub always: Vec<(String, Look)>,
    /// The version of the disk that was checked last.
    pub checked: u64,
    /// The first inode that was made since the last power cut.
    pub first_ino: Ino,
    /// Operations that can fail, counted for `fail_at`.
    pub fallible: u64,
    /// Which of them fails, and how.
    pub fail_at: Option<(u64, i32)>,
    /// Whether pids of the dead are used again at once.
    pub reuse: Reuse,
}

impl World {
    /// The clocks at the first instant of a run.
    pub fn first_instant() -> (u64, i64) {
        (BOOT_US, WALL_US)
    }

    /// Looks at a whole path without being a program: the bytes of a file.
    pub fn peek(&self, path: &str) -> Option<&[u8]> {
        self.disk.peek(path)
    }

    /// Looks at a whole path without being a program: the names in a directory.
    pub fn peek_names(&self, path: &str) -> Vec<String> {
        self.disk.peek_names(path)
    }

    /// Whether what has this name was made before the last power cut.
    pub fn is_old(&self, path: &str) -> bool {
        let found = self.disk.find(super::disk::ROOT, path);
        found.ok().flatten().is_some_and(|ino| ino < self.first_ino)
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.wall_us.div_euclid(1000))
    }

    /// The identity of this boot.
    pub fn boot_id(&self) -> String {
        format!("5eed5eed-0000-4000-8000-{:012x}", self.cuts + 1)
    }

    /// Time passes, by both clocks.
    pub fn pass(&mut self, us: u64) {
        self.boot_us += us;
        self.wall_us += i64::try_from(us).expect("no run lasts 292,000 years");
    }

    /// Writes a line into the trace.
    pub fn say(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.trace.is_some() {
            let text = line(self);
            let stamp = self.boot_us - BOOT_US.min(self.boot_us);
            let full = format!("{:>5} {stamp:>9}us {text}", self.steps);
            self.trace.iter_mut().for_each(|all| all.push(full.clone()));
        }
    }

    /// Records that something went wrong; the run ends.
    pub fn violation(&mut self, what: String) {
        self.say(|_| format!("VIOLATION {what}"));
        self.violations.push(what);
    }

    /// An operation begins: it is counted, traced, and takes time.
    pub fn begin(&mut self, slot: usize, what: impl FnOnce() -> String) {
        self.steps += 1;
        self.procs[slot].steps += 1;
        self.pass(OP_US);
        self.say(|world| format!("{:<8} {}", world.procs[slot].name, what()));
    }

    /// An operation is over: whatever must always be true is checked, if anything visible changed.
    pub fn end(&mut self) {
        if self.checked == self.disk.version {
            return;
        }
        self.checked = self.disk.version;
        let always = std::mem::take(&mut self.always);
        for (name, look) in &always {
            if let Err(what) = look(self) {
                self.violation(format!("{name}: {what}"));
            }
        }
        self.always = always;
    }

    /// A new process; its thread is started by the caller.
    pub fn add_process(&mut self, name: &str, gate: Arc<Gate>) -> usize {
        let slot = self.procs.len();
        let before = self.procs.iter().map(|proc| proc.start).max().unwrap_or(0);
        self.procs.push(Proc {
            name: name.to_owned(),
            pid: self.free_pid(),
            start: (self.boot_us / 10_000).max(before + 1),
            state: State::Ready,
            gate,
            steps: 0,
            handed: None,
            stdin: None,
            shared: None,
            mark: None,
            is_stubborn: false,
            caught: None,
            exit: Exit::Code(0),
        });
        self.threads += 1;
        slot
    }

    /// The process that has a pid now.
    pub fn living(&self, pid: u32) -> Option<usize> {
        self.procs.iter().position(|proc| proc.pid == pid && proc.state != State::Dead)
    }

    /// What a look at a pid shows.
    pub fn probe(&self, pid: u32) -> Probe {
        match self.living(pid) {
            Some(slot) => Probe::Alive { start: self.procs[slot].start },
            None => Probe::Gone,
        }
    }

    /// A process ends: its descriptors close, and it is inside nothing any more.
    pub fn bury(&mut self, slot: usize) {
        self.procs[slot].state = State::Dead;
        for file in &mut self.files {
            file.holders.retain(|holder| *holder != slot);
            if file.holders.is_empty() {
                file.lock = None;
            }
        }
        for inside in self.inside.values_mut() {
            inside.retain(|one| *one != slot);
        }
    }

    /// kill -9: the process ends, and its thread unwinds by itself.
    pub fn kill(&mut self, slot: usize) {
        self.say(|world| format!("KILL     {}", world.procs[slot].name));
        self.bury(slot);
        self.procs[slot].exit = Exit::Signal(9);
        self.procs[slot].gate.kill();
    }

    /// A process comes into a critical section, where no more than `most` that live may be; the processes of one task
    /// count as one.
    pub fn enter(&mut self, slot: usize, section: &str, most: usize) {
        let inside = self.inside.entry(section.to_owned()).or_default();
        inside.push(slot);
        let slots = inside.clone();
        let mut others: Vec<_> = slots.iter().map(|one| (self.procs[*one].mark.clone(), *one)).collect();
        others.sort_unstable();
        others.dedup_by(|one, other| one.0.is_some() && one.0 == other.0);
        if others.len() > most {
            let names = slots.iter().map(|slot| self.procs[*slot].name.clone());
            let names = names.collect::<Vec<_>>().join(" and ");
            self.violation(format!("{names} are inside \"{section}\" at once"));
        }
    }

    /// Everybody is killed.
    pub fn kill_all(&mut self) {
        for slot in 0..self.procs.len() {
            if self.procs[slot].state != State::Dead {
                self.bury(slot);
                self.procs[slot].gate.kill();
            }
        }
    }

    /// The power is cut; the machine comes up again with one of the legal images of its disk.
    pub fn cut(&mut self, image: usize) {
        self.kill_all();
        self.cuts += 1;
        self.disk.cut(image);
        self.boot_us = BOOT_US;
        self.wall_us += 30_000_000;
        self.say(|_| format!("POWER CUT, image {image}"));
        self.checked = self.disk.version;
        self.first_ino = self.disk.nodes.len();
    }

    /// Waits that are over are ended.
    pub fn wake_up(&mut self) {
        for slot in 0..self.procs.len() {
            let State::Waiting(wait) = &self.procs[slot].state else {
                continue;
            };
            let dead = |slot: usize| self.procs[slot].state == State::Dead;
            let signalled = wait.signals && self.procs[slot].caught.as_ref().is_some_and(|caught| !caught.is_empty());
            let changed = |(dir, version): &(Ino, u64)| self.disk.nodes[*dir].version != *version;
            if wait.until_us <= self.boot_us
                || wait.dirs.iter().any(changed)
                || wait.death.is_some_and(dead)
                || wait.end.is_some_and(|ino| !self.is_open(ino))
                || signalled
            {
                self.procs[slot].state = State::Ready;
            }
        }
    }

    /// The first instant at which a waiting process goes on by itself.
    pub fn next_alarm(&self) -> Option<u64> {
        let until = |proc: &Proc| match &proc.state {
            State::Waiting(wait) => Some(wait.until_us),
            State::Ready | State::Dead => None,
        };
        self.procs.iter().filter_map(until).min()
    }

    /// Whether the next operation that can fail in these ways does, and how.
    pub fn fault(&mut self, possible: &[i32]) -> Option<i32> {
        if possible.is_empty() {
            return None;
        }
        self.fallible += 1;
        if let Some((at, errno)) = self.fail_at
            && at == self.fallible
        {
            self.say(|_| format!("         fails with errno {errno}"));
            return Some(errno);
        }
        if self.left.errors == 0 {
            return None;
        }
        let weights =
            std::iter::once(self.odds.fine).chain(possible.iter().map(|_| self.odds.error)).collect::<Vec<_>>();
        let errno = match self.chooser.pick(weights.iter().copied()) {
            0 => return None,
            taken => possible[taken - 1],
        };
        self.left.errors -= 1;
        self.say(|_| format!("         fails with errno {errno}"));
        Some(errno)
    }

    /// A further open file description, held by one process.
    pub fn open_file(&mut self, slot: usize, ino: Ino, writable: bool) -> usize {
        self.files.push(OpenFile { ino, writable, lock: None, poisoned: false, holders: vec![slot] });
        self.files.len() - 1
    }

    /// A process closes one descriptor; the last one gives up the kernel lock.
    pub fn close(&mut self, slot: usize, file: usize) {
        let file = &mut self.files[file];
        if let Some(at) = file.holders.iter().position(|holder| *holder == slot) {
            file.holders.swap_remove(at);
        }
        if file.holders.is_empty() {
            file.lock = None;
        }
    }

    /// Whether somebody has a file open.
    pub fn is_open(&self, ino: Ino) -> bool {
        self.files.iter().any(|file| file.ino == ino && !file.holders.is_empty())
    }

    /// Whether an open file may have this kernel lock beside those of others.
    pub fn may_lock(&self, file: usize, shared: bool) -> bool {
        let ino = self.files[file].ino;
        self.files.iter().enumerate().all(|(other, it)| {
            let free = it.lock.is_none() || (shared && it.lock == Some(true));
            other == file || it.ino != ino || free
        })
    }

    fn free_pid(&self) -> u32 {
        let taken = |pid: &u32| match self.reuse {
            Reuse::AtOnce => self.living(*pid).is_some(),
            Reuse::Never => self.procs.iter().any(|proc| proc.pid == *pid),
        };
        (100..).find(|pid| !taken(pid)).expect("a free pid")
    }
}

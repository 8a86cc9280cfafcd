//! A place of its own for each test: a state directory, the real binary in a clean environment, and an end in which
//! nothing is left running.

mod alone;
mod home;
mod place;
mod queues;
mod running;
mod skip;

pub use alone::{INSIDE, is_own_process, take_turn};
pub use home::{at_home, home_variables};
pub use place::{LUZIA, Place, kill_all, processes_in};
pub use queues::queue;
pub use running::{Ran, Running, ticks};
pub use skip::skip;

use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up; far beyond what it takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often something random is tried: as a variable says, or `usual` times.
pub fn times(variable: &str, usual: usize) -> usize {
    let given = std::env::var(variable).ok().map(|text| text.parse().expect("a number"));
    given.unwrap_or(usual)
}

/// The variable that names the planted fault of a process, if this run has one (`tests/mutants/run`).
pub fn fault() -> Option<(&'static str, std::ffi::OsString)> {
    std::env::var_os("PLANTED_FAULT").map(|name| ("PLANTED_FAULT", name))
}

/// Looks again and again until something is there; panics with `what` when it never comes.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    until_or(&mut look, || format!("this never happened: {what}"))
}

/// As [`until`], with a message that is made after the last look.
fn until_or<T>(look: &mut dyn FnMut() -> Option<T>, message: impl Fn() -> String) -> T {
    let mut patience = Patience::new();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(!patience.is_over(), "{}", message());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The patience of one wait. A machine may stand still for longer than that, e.g. a virtual one, and with it what is waited for. So the
/// time between two looks counts for at most [`Self::MOST`].
pub struct Patience {
    left: Duration,
    last: Instant,
}

impl Patience {
    /// The longest time between two looks that counts.
    const MOST: Duration = Duration::from_millis(500);

    /// A wait that begins.
    pub fn new() -> Self {
        Self { left: PATIENCE, last: Instant::now() }
    }

    /// Whether it is over. Called once between two looks.
    pub fn is_over(&mut self) -> bool {
        let past = std::mem::replace(&mut self.last, Instant::now()).elapsed();
        self.left = self.left.saturating_sub(past.min(Self::MOST));
        self.left.is_zero()
    }
}

/// The lines of a file; none when it does not exist.
pub fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The members of a JSON list that have `key` equal to `value`.
pub fn with<'a>(items: &'a Value, key: &str, value: &str) -> Vec<&'a Value> {
    items.as_array().unwrap().iter().filter(|item| item[key] == value).collect()
}

/// Whether a process exists and is no zombie.
pub fn lives(pid: u32) -> bool {
    start_of(pid).is_some()
}

/// The start of a process that is no zombie, in clock ticks: a later process with its number has another one.
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    words.nth(18)?.parse().ok().filter(|_| state != "Z")
}

/// The words of the system about a process: its line in `stat`, the place in the kernel where it waits, its command.
fn told_of(pid: u32) -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    ["stat", "wchan", "stack", "cmdline"].map(read).join(" | ").replace('\0', " ")
}

/// The process that started another one, or that inherited it.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal to one process; one that is gone is not an error. After a SIGKILL it waits for the death: until then the
/// process keeps its locks.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let target = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let start = start_of(pid);
    let is_sent = rustix::process::kill_process(target, signal).is_ok();
    if is_sent && signal == rustix::process::Signal::KILL {
        let mut is_dead = || (start.is_none() || start_of(pid) != start).then_some(());
        until_or(&mut is_dead, || format!("a killed process is not dead: {}", told_of(pid)));
    }
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// How a program is linked: "dynamic", or static and "fixed" or "static" for one at a random address.
pub fn linked(program: &str) -> &'static str {
    const PT_INTERP: usize = 3;
    const ET_EXEC: usize = 2;
    let program = std::fs::read(program).unwrap();
    let number = |at: usize, size: usize| {
        let bytes = program[at..at + size].iter().rev();
        bytes.fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
    };
    assert_eq!(program[..6], *b"\x7fELF\x02\x01", "a little-endian program of 64 bits");
    let (table, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    assert!(count > 1);
    let is_loaded = (0..count).any(|at| number(table + at * size, 4) == PT_INTERP);
    match number(0x10, 2) {
        _ if is_loaded => "dynamic",
        ET_EXEC => "fixed",
        _ => "static",
    }
}

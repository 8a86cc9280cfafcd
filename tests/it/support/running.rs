//! A process of luzia that runs, and what came of one that has ended.

use super::{Patience, signal};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// What came of one call of luzia.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; 128+N when signal N ended it.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// How long it took.
    pub took: Duration,
}

impl Ran {
    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// This result, after checking its exit code.
    #[track_caller]
    pub fn coded(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that it took fewer than so many seconds, where `LUZIA_TEST_BOUNDS=check` says that nothing else keeps the machine
    /// busy: `tests/soak` sets that, and runs one test at a time. Elsewhere the patience of the test is the only bound.
    #[track_caller]
    pub fn within(&self, seconds: u64) -> &Self {
        let is_checked = std::env::var("LUZIA_TEST_BOUNDS").is_ok_and(|word| word == "check");
        assert!(!is_checked || self.took < Duration::from_secs(seconds), "{seconds} s at the most: {self:#?}");
        self
    }

    /// Its standard output without the newline at its end.
    pub fn line(&self) -> String {
        self.out.trim_end_matches('\n').to_owned()
    }
}

/// A process of luzia that runs. Killed when it is dropped.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    since: Instant,
}

impl Running {
    pub(super) fn new(child: Child, out: PathBuf, err: PathBuf) -> Self {
        Self { child, out, err, since: Instant::now() }
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to standard output until now.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.out).unwrap()).into_owned()
    }

    /// What it has written to standard error until now.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.err).unwrap()).into_owned()
    }

    /// Whether it has ended.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Sends it a signal.
    pub fn signal(&self, which: rustix::process::Signal) {
        signal(self.pid(), which);
    }

    /// Kills it with SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until it has ended.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        let status = self.await_end();
        Ran { code: code_of(status), out: self.out(), err: self.err(), took: self.since.elapsed() }
    }

    #[track_caller]
    fn await_end(&mut self) -> ExitStatus {
        let mut patience = Patience::new();
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(!patience.is_over(), "it does not end: {}{}", self.out(), self.err());
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The user and system time of a process, in clock ticks of 10 ms.
pub fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<u64>().ok()).sum()
}

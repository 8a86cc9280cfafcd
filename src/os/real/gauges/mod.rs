//! The gauges of this host: `/proc/pressure`, `/proc/loadavg`, `/proc/meminfo` and the files of control groups.

mod ports;
mod readings;

use crate::model::capacity::Readings;
use crate::os::real::process::procfs;
use crate::os::real::process::program::find;
use crate::os::real::process::run_capture::ask;
use crate::os::{Gauges, Port};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Time that a program has to print its version.
const VERSION_TIME: Duration = Duration::from_secs(1);

/// Number of processors of the host that are online, whatever this process may use of them; 0 where that cannot be read.
pub fn online_processors() -> u32 {
    let listed = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    let listed = listed.and_then(|list| readings::count_of(&list));
    let counted = || {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let is_processor = |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| !rest.starts_with(' '));
        u32::try_from(stat.lines().filter(is_processor).count()).ok()
    };
    listed.or_else(counted).unwrap_or(0)
}

/// Binds this process to some processors; an empty list changes nothing.
pub(crate) fn bind_to(processors: impl Iterator<Item = usize>) -> io::Result<()> {
    let mut set = CpuSet::new();
    processors.filter(|number| *number < CpuSet::MAX_CPU).for_each(|number| set.set(number));
    if set.count() > 0 { Ok(sched_setaffinity(None, &set)?) } else { Ok(()) }
}

/// The gauges of this host.
#[derive(Debug)]
pub(crate) struct RealGauges;

impl Gauges for RealGauges {
    fn readings(&self) -> Readings {
        let read = |path: &str| procfs::small(path).and_then(|bytes| String::from_utf8(bytes).ok());
        readings::all(&read, std::thread::available_parallelism().map_or(1, |count| count.get()))
    }

    fn port(&self, port: u16) -> Port {
        ports::look(port)
    }

    fn processors(&self) -> Vec<u32> {
        let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
        let numbers = (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number));
        numbers.filter_map(|number| u32::try_from(number).ok()).collect()
    }

    fn parallelism(&self) -> u32 {
        std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
    }

    fn bind_to(&self, processors: &[u32]) -> io::Result<()> {
        bind_to(processors.iter().filter_map(|number| usize::try_from(*number).ok()))
    }

    fn version_of(&self, program: &str, path: Option<&[u8]>) -> Option<String> {
        let found = find(program, path.map(OsStr::from_bytes), Path::new("/")).ok()?;
        let mut command = Command::new(found);
        command.arg("--version").env_clear().current_dir("/");
        let said = ask(&mut command, Instant::now() + VERSION_TIME).map(|(_, said)| said).unwrap_or_default();
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

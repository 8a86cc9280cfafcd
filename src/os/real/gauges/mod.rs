//! The gauges of this host: `/proc/pressure`, `/proc/loadavg`, `/proc/meminfo`, the files of control groups, and ports.
//!
//! `RealGauges` reads the gauges. `look` finds whether a TCP port is in use, and the process that uses it. `all` reads the values
//! of the files of the kernel, in thousandths; those of the own control group come first.

use crate::model::capacity::Readings;
use crate::os::real::process::procfs;
use crate::os::real::process::program::find;
use crate::os::real::process::run_capture::ask;
use crate::os::{Gauges, Port};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ffi::OsStr;
use std::io;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Time that a program has to print its version.
const VERSION_TIME: Duration = Duration::from_secs(1);

/// Number of processors of the host that are online, whatever this process may use of them; 0 where that cannot be read.
pub fn online_processors() -> u32 {
    let listed =
        procfs::small("/sys/devices/system/cpu/online").and_then(|bytes| count_of(str::from_utf8(&bytes).ok()?));
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
        all(&read, std::thread::available_parallelism().map_or(1, |count| count.get()))
    }

    fn port(&self, port: u16) -> Port {
        look(port)
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

/// Sockets in this state listen (`include/net/tcp_states.h`).
const LISTENS: &str = "0A";

/// Tries both families: a listener on one address of one family already blocks a user of the port.
fn look(port: u16) -> Port {
    let any: [SocketAddr; 2] = [(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()];
    let refused = any.iter().any(|address| match TcpListener::bind(address) {
        Ok(_) => false,
        // Other accounts cannot try a low port of root, and a host may have one family only.
        Err(error) => error.kind() == ErrorKind::AddrInUse,
    });
    let is_low = port < 1024 && listening_inode(port).is_some();
    if refused || is_low { Port::Used(listening_inode(port).and_then(owner)) } else { Port::Free }
}

/// The inode of a socket that listens on a port.
fn listening_inode(port: u16) -> Option<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
    tables.into_iter().find_map(|table| inode_in(&table, port))
}

/// A line is `sl: local_address rem_address st …`, and the tenth word is the inode; addresses are in hexadecimal digits.
fn inode_in(table: &str, port: u16) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, digits) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(digits, 16).ok()? == port && *words.get(3)? == LISTENS;
        if is_it { words.get(9)?.parse().ok() } else { None }
    })
}

/// A process that has a socket open, among those whose descriptors this account may see.
fn owner(inode: u64) -> Option<u32> {
    let wanted = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .into_iter()
            .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|link| link.to_str() == Some(wanted.as_str())))
    })
}

/// Mount point of version 2 of control groups.
const UNIFIED: &str = "/sys/fs/cgroup";

/// Everything that can be read. `read` gives the text of a file; `processors` is the number by which the load is divided.
fn all(read: &dyn Fn(&str) -> Option<String>, processors: usize) -> Readings {
    let own = own_group(read);
    let pressure = |what: &str| {
        let of_group = own.as_ref().and_then(|group| read(&format!("{group}/{what}.pressure")));
        of_group.or_else(|| read(&format!("/proc/pressure/{what}"))).as_deref().and_then(some_avg10)
    };
    let host = read("/proc/meminfo").as_deref().and_then(available);
    let group = own.as_ref().and_then(|group| left_in_group(group, read));
    Readings {
        pressure_cpu: pressure("cpu"),
        pressure_memory: pressure("memory"),
        pressure_io: pressure("io"),
        load: read("/proc/loadavg").as_deref().and_then(|text| load(text, processors)),
        // A group without a limit of its own has no value here. A group with a limit may still be on a host whose memory is
        // full.
        memory: group.into_iter().chain(host).min(),
    }
}

/// The folder of the control group of this process; `None` in the root group, which is the host.
fn own_group(read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let groups = read("/proc/self/cgroup")?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/');
    (!path.is_empty() && !path.contains("/../")).then(|| format!("{UNIFIED}{path}"))
}

/// `some avg10=1.53 avg60=…` of a pressure file.
fn some_avg10(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    thousandths(line.split(' ').find_map(|part| part.strip_prefix("avg10="))?)
}

/// The first number of `/proc/loadavg`, for each processor.
fn load(text: &str, processors: usize) -> Option<u32> {
    let all = thousandths(text.split(' ').next()?)?;
    Some(all / u32::try_from(processors.max(1)).ok()?)
}

/// `MemAvailable` of `MemTotal` of `/proc/meminfo`, as a percentage.
fn available(text: &str) -> Option<u32> {
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().split(' ').next()?.parse::<u64>().ok()
    };
    share(of("MemAvailable:")?, of("MemTotal:")?)
}

/// Share of the memory limit of a control group that is left, as a percentage. Pages of files that are not in use now count
/// as left.
fn left_in_group(group: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    let number = |name: &str| read(&format!("{group}/{name}"))?.trim().parse::<u64>().ok();
    let (max, current) = (number("memory.max")?, number("memory.current")?);
    let stat = read(&format!("{group}/memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
    let used = current.saturating_sub(cached.unwrap_or(0));
    share(max.saturating_sub(used), max)
}

fn share(part: u64, whole: u64) -> Option<u32> {
    u32::try_from(u128::from(part) * 100_000 / u128::from(whole.max(1))).ok()
}

/// Count of the numbers in a list of the kernel, e.g. 5 for `0-3,8`.
fn count_of(list: &str) -> Option<u32> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    list.trim().split(',').try_fold(0_u32, |sum, range| sum.checked_add(count(range)?))
}

/// A decimal number of the kernel in thousandths.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let decimals: String = format!("{decimals:0<3}").chars().take(3).collect();
    whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(decimals.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_somebody_listens_on_is_used_and_says_by_whom() {
        for address in [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))] {
            // A host may have one family only.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().expect("an address").port();
            assert_eq!(look(port), Port::Used(Some(std::process::id())), "{address}");
            drop(listener);
            // A process that another test starts has the socket until its execve(2).
            let is_free = (0..500).any(|_| {
                let is_free = look(port) == Port::Free;
                if !is_free {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                is_free
            });
            assert!(is_free, "{address}");
        }
    }

    #[test]
    fn only_a_socket_that_listens_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:0FA0 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 11 1 x\n\
             1: 0100007F:0FA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1 x\n\
             odd line\n";
        assert_eq!((inode_in(table, 4000), inode_in(table, 4001), inode_in("", 1)), (Some(22), None, None));
    }

    const HOST: [(&str, &str); 6] = [
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/pressure/cpu", "some avg10=12.34 avg60=1.00 avg300=0.00 total=1\n"),
        ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00\nfull avg10=9.00\n"),
        ("/proc/pressure/io", "some avg10=100.00 avg60=0\n"),
        ("/proc/loadavg", "3.01 2.00 1.00 1/100 12345\n"),
        ("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    255 kB\n"),
    ];

    fn of(files: &[(&str, &str)]) -> Readings {
        let read = |path: &str| files.iter().rev().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        all(&read, 2)
    }

    #[test]
    fn the_host_is_read_where_there_is_no_group() {
        let wanted = Readings {
            pressure_cpu: Some(12_340),
            pressure_memory: Some(0),
            pressure_io: Some(100_000),
            load: Some(1505),
            memory: Some(25_500),
        };
        assert_eq!(of(&HOST), wanted);
    }

    #[test]
    fn the_own_group_comes_first_for_pressure_and_the_tighter_one_for_memory() {
        let mut files = HOST.to_vec();
        files.extend([
            ("/proc/self/cgroup", "1:name=systemd:/x\n0::/a.slice/b.scope\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/cpu.pressure", "some avg10=1.5 avg60=0\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.current", "950\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.stat", "anon 1\ninactive_file 50\n"),
        ]);
        let read = of(&files);
        assert_eq!((read.pressure_cpu, read.pressure_io, read.memory), (Some(1500), Some(100_000), Some(10_000)));
        files.push(("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n"));
        assert_eq!(of(&files).memory, Some(25_500));
    }

    #[test]
    fn a_list_of_processors_is_counted() {
        for (list, count) in [("0\n", Some(1)), ("0-3,8\n", Some(5)), ("0-1,4-7,9", Some(7)), ("", None), ("3-1", None)]
        {
            assert_eq!(count_of(list), count, "{list:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        assert_eq!(of(&[]), Readings::default());
        let odd = [("/proc/loadavg", ""), ("/proc/meminfo", "MemTotal: x"), ("/proc/pressure/cpu", "full avg10=1")];
        assert_eq!(of(&odd), Readings::default());
    }

    #[test]
    fn this_host_is_read() {
        use crate::os::Gauges;
        let read = crate::os::real::gauges::RealGauges.readings();
        assert!(read.memory.is_some_and(|share| share <= 100_000));
        assert!(read.load.is_some());
    }
}

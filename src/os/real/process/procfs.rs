//! Values of /proc, and the memory limit of control groups.
//!
//! A value that cannot be read is `None` or empty, and never a guess. `ancestors` finds the processes above a process; the caller
//! decides which of them matter. `own_origin` reads the namespaces of this process, and `look_below` finds the pid namespaces
//! below ours. `memory_max` reads the memory limit of the control groups of this process (cgroups(7)): `memory.limit_in_bytes`
//! where version 1 has the controller, else `memory.max` of version 2.

use crate::model::process::{Ancestor, INITIAL_PID_NAMESPACE, Sight};
use crate::model::{Identity, Origin, Probe};
use crate::os::real::process;
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags, open, readlink, readlinkat_raw};
use rustix::io::Errno;
use rustix::process::{Pid, getpid};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// `/proc/sys/kernel/random/boot_id`; without /proc one word that is the same for ever.
pub(crate) fn boot_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let text = small("/proc/sys/kernel/random/boot_id").and_then(|bytes| String::from_utf8(bytes).ok());
        text.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
    })
}

/// The fields of `/proc/<pid>/stat` of a process (proc(5)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stat {
    pub(crate) state: u8,
    pub(crate) parent: u32,
    /// Clock ticks from boot to its start.
    pub(crate) start: u64,
    threads: i64,
}

impl Stat {
    /// Whether all of its threads have ended. A leader that ended before its threads looks like a zombie and is alive.
    pub(crate) fn is_dead(&self) -> bool {
        match self.state {
            b'Z' => self.threads <= 1,
            b'X' | b'x' => true,
            _ => false,
        }
    }
}

/// Reads `/proc/<pid>/stat`.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    if !shows_our_namespace() {
        return None;
    }
    parse_stat(&small(&format!("/proc/{pid}/stat"))?)
}

/// Reads a file of /proc or /sys that fits a page: the kernel gives it in one piece, and one call is enough.
pub(crate) fn small(path: &str) -> Option<Vec<u8>> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut page = Vec::with_capacity(4096);
    rustix::io::retry_on_intr(|| rustix::io::read(&file, spare_capacity(&mut page))).ok()?;
    Some(page)
}

/// The name of a program may hold spaces, brackets and line ends, so the fields are counted after the last bracket.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[name_end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // Field 3 of the manual is the first here; each look goes on behind the last one.
    Some(Stat {
        state: *fields.next()?.as_bytes().first()?,
        parent: fields.next()?.parse().ok()?,
        threads: fields.nth(20 - 5)?.parse().ok()?,
        start: fields.nth(22 - 21)?.parse().ok()?,
    })
}

/// The inode of our pid namespace, which a process keeps for life (pid_namespaces(7)); 0 where /proc does not show it.
pub(crate) fn pid_namespace() -> u64 {
    own_namespace("pid").unwrap_or(0)
}

/// The inode of one of our namespaces. This program never enters another one, so the first look counts.
pub(crate) fn own_namespace(kind: &str) -> Option<u64> {
    static SEEN: Mutex<BTreeMap<String, Option<u64>>> = Mutex::new(BTreeMap::new());
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(inode) = seen.get(kind) {
        return *inode;
    }
    let inode = namespace_link(kind);
    seen.insert(kind.to_owned(), inode);
    inode
}

/// Reads the text of a link, e.g. `pid:[4026531836]` (namespaces(7)). To follow the link would take twice as long.
fn namespace_link(kind: &str) -> Option<u64> {
    static FOLDER: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let open = || open("/proc/self/ns", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
    let mut text = [MaybeUninit::uninit(); 64];
    let (link, _) = readlinkat_raw(FOLDER.get_or_init(open).as_ref()?, kind, &mut text).ok()?;
    namespace_inode(link, kind)
}

fn namespace_inode(link: &[u8], kind: &str) -> Option<u64> {
    let number = std::str::from_utf8(link).ok()?.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?;
    number.parse().ok()
}

/// Whether /proc was mounted for our own pid namespace. The /proc of another namespace shows other processes. The line
/// `NSpid` has a process's numbers from the namespace of /proc inwards (proc_pid_status(5)): one number, our own, is our own
/// namespace.
pub(crate) fn shows_our_namespace() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        // No /proc of another namespace shows a process of the initial one.
        if pid_namespace() == INITIAL_PID_NAMESPACE {
            return true;
        }
        let own = getpid().as_raw_nonzero().get().unsigned_abs();
        match small("/proc/self/status").as_deref().and_then(namespace_pids) {
            Some(pids) => pids == [own],
            // A kernel without that line.
            None => fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() == own.to_string().as_str()),
        }
    })
}

/// The numbers of a process in the pid namespaces from that of /proc inwards, from its `status`.
fn namespace_pids(status: &[u8]) -> Option<Vec<u32>> {
    let status = String::from_utf8_lossy(status);
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

/// The numbers of a process from our pid namespace inwards, where /proc is our own. Every account may read them.
pub(crate) fn pids_inwards(pid: u32) -> Option<Vec<u32>> {
    namespace_pids(&small(&format!("/proc/{pid}/status"))?)
}

/// The number that was given last in this pid namespace: the fifth word of `/proc/loadavg` (proc(5)).
pub(crate) fn last_pid() -> Option<u32> {
    if !shows_our_namespace() {
        return None;
    }
    let text = String::from_utf8(small("/proc/loadavg")?).ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// The pid at which the kernel starts again from below.
pub(crate) fn pid_max() -> Option<u32> {
    String::from_utf8(small("/proc/sys/kernel/pid_max")?).ok()?.trim().parse().ok()
}

/// The pids of all processes that can be seen.
pub(crate) fn pids() -> std::io::Result<Vec<u32>> {
    if !shows_our_namespace() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        found.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(found)
}

/// Whether the environment that a process was started with has all of these entries (`NAME=value`).
pub(crate) fn environment_has(pid: u32, entries: &[Vec<u8>]) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let has = |wanted: &Vec<u8>| environment.split(|byte| *byte == 0).any(|it| it == wanted);
    entries.iter().all(has)
}

/// The signals that this process was started with as ignored, and SIGPIPE, which the standard library ignores. Nothing
/// here ever sets a signal to "ignore", so the first look counts for the life of the process.
pub(crate) fn ignored_signals() -> &'static [i32] {
    static IGNORED: OnceLock<Vec<i32>> = OnceLock::new();
    IGNORED.get_or_init(|| {
        let mask = own_field("SigIgn").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
        (1..=64).filter(|n| mask >> (n - 1) & 1 == 1).collect()
    })
}

/// Whether a group exists in this user namespace, so that it can be asked for (user_namespaces(7)).
pub(crate) fn maps_group(gid: u32) -> bool {
    fs::read_to_string("/proc/self/gid_map").is_ok_and(|map| is_mapped(&map, gid))
}

/// A line is `first-inside first-outside count`.
fn is_mapped(map: &str, gid: u32) -> bool {
    map.lines().any(|line| {
        let numbers = line.split_ascii_whitespace().map(str::parse::<u64>);
        match numbers.collect::<Result<Vec<_>, _>>().as_deref() {
            Ok([first, _, count]) => (*first..first.saturating_add(*count)).contains(&gid.into()),
            Ok(_) | Err(_) => false,
        }
    })
}

/// The pid that `/proc/locks` names as holder of a flock(2) on a file; those of other pid namespaces have none.
pub(crate) fn lock_holder(file: (u64, u64)) -> Option<u32> {
    find_holder(&fs::read_to_string("/proc/locks").ok()?, file)
}

/// A line is `1: FLOCK  ADVISORY  WRITE 4321 08:01:131 0 EOF`; one with `->` waits and holds nothing.
fn find_holder(table: &str, (device, inode): (u64, u64)) -> Option<u32> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let wanted = format!("{major:02x}:{minor:02x}:{inode}");
    table.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            [_, "FLOCK", _, _, pid, place, ..] if *place == wanted => pid.parse().ok().filter(|pid| *pid != 0),
            _ => None,
        }
    })
}

/// A field of `/proc/self/status` as it was at the first look, without the blanks around it.
pub(crate) fn own_field(name: &str) -> Option<&'static str> {
    static STATUS: OnceLock<String> = OnceLock::new();
    let read = || String::from_utf8_lossy(&small("/proc/self/status").unwrap_or_default()).into_owned();
    // The first line, `Name`, has no line end before it; it is never asked for.
    let (_, rest) = STATUS.get_or_init(read).split_once(&format!("\n{name}:"))?;
    rest.lines().next().map(str::trim_ascii)
}

/// Greatest number of processes that are looked at: more than any real tree has above one process.
const MOST: usize = 1024;

/// The processes above a process, its parent first, until `enough` accepts one. Empty if /proc is not our own.
pub(crate) fn ancestors(of: u32, enough: &dyn Fn(&Ancestor) -> bool) -> Vec<Ancestor> {
    let own = LazyCell::new(|| file_of("self"));
    let mut found = Vec::new();
    let mut pid = match of == std::process::id() {
        true => rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs()),
        false => stat(of).map_or(0, |stat| stat.parent),
    };
    // 0 is the parent of a process that came from outside of a pid namespace.
    while pid > 0 && found.len() < MOST {
        let Some(seen) = stat(pid) else { break };
        let process = Identity { pid, start: seen.start, boot_id: boot_id().to_owned() };
        let program = program(pid);
        // A shim is luzia by another name.
        let is_luzia = program == "luzia" || own.is_some() && file_of(&pid.to_string()) == *own;
        found.push(Ancestor { process, program, is_luzia });
        if found.last().is_some_and(enough) {
            break;
        }
        pid = seen.parent;
    }
    found
}

fn file_of(pid: &str) -> Option<(u64, u64)> {
    rustix::fs::stat(format!("/proc/{pid}/exe")).ok().map(|seen| (seen.st_dev, seen.st_ino))
}

/// The name of the file that a process runs. A script has the name of its interpreter, whatever it calls itself. Where
/// another account hides the file, the present name of the process.
pub(crate) fn program(pid: u32) -> String {
    if let Ok(link) = readlink(format!("/proc/{pid}/exe"), Vec::new()) {
        let link = link.into_bytes();
        let link = link.strip_suffix(b" (deleted)").unwrap_or(&link);
        let name = Path::new(OsStr::from_bytes(link)).file_name().unwrap_or_default();
        return name.to_string_lossy().into_owned();
    }
    let name = small(&format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

/// The boot and the namespaces of this process; an inode that /proc does not show is 0. The start of pid 1 counts only
/// where /proc is our own.
pub(crate) fn own_origin() -> Origin {
    let pid_namespace = pid_namespace();
    // The first process of the initial namespace is that of the boot.
    let is_initial = pid_namespace == INITIAL_PID_NAMESPACE;
    Origin {
        boot_id: Some(boot_id().to_owned()),
        pid_namespace: Some(pid_namespace),
        init_start: if is_initial { None } else { stat(1).map(|init| init.start) },
        user_namespace: Some(own_namespace("user").unwrap_or(0)),
    }
}

/// Looks for a pid namespace among all processes that /proc shows. Its pid 1 lives as long as the namespace and keeps its
/// number, so no listing misses it. A process below ours that hides its namespace may be in any. The second answer is about
/// the process that has `pid` in that namespace: its pid 1 was seen, and every process was looked at.
pub(crate) fn look_below(namespace: u64, pid: Option<u32>) -> (Sight, Option<Probe>) {
    let Ok(pids) = pids() else { return (Sight::Unclear, None) };
    // Where pid 1 is not shown, others may be hidden too (hidepid of proc(5)).
    let mut hides_some = !pids.contains(&1);
    let (mut lives, mut found) = (false, None);
    for shown in pids {
        match rustix::fs::stat(format!("/proc/{shown}/ns/pid")) {
            Ok(seen) if seen.st_ino == namespace => {
                lives |= stat(shown).is_none_or(|stat| !stat.is_dead());
                let inwards = pids_inwards(shown).unwrap_or_default();
                if pid.is_some() && inwards.last().copied() == pid {
                    found = i32::try_from(shown).ok().and_then(Pid::from_raw).map(process::probe);
                }
            }
            Ok(_) | Err(Errno::NOENT | Errno::SRCH) => {}
            // One number says that it is in our own namespace.
            Err(_) => hides_some |= pids_inwards(shown).is_none_or(|inwards| inwards.len() != 1),
        }
    }
    match (lives, hides_some) {
        (true, true) => (Sight::Lives, found),
        (true, false) => (Sight::Lives, pid.map(|_| found.unwrap_or(Probe::Gone))),
        (false, true) => (Sight::Unclear, None),
        (false, false) => (Sight::Absent, None),
    }
}

/// Mount point of version 2.
const UNIFIED: &str = "/sys/fs/cgroup";
/// Mount point of the memory controller of version 1.
const MEMORY: &str = "/sys/fs/cgroup/memory";

/// The least memory limit from the group of this process up to the root, in bytes. `None` if no
/// limit is set or can be read.
pub(crate) fn memory_max() -> Option<u64> {
    let text = String::from_utf8(small("/proc/self/cgroup")?).ok()?;
    least(&text, &|path| String::from_utf8(small(path)?).ok())
}

fn least(groups: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let of_controller = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == "memory").then(|| path.to_owned())
    };
    let (mount, path, file) = match groups.lines().find_map(of_controller) {
        Some(path) => (MEMORY, path, "memory.limit_in_bytes"),
        None => (UNIFIED, groups.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned(), "memory.max"),
    };
    let mut path = path.trim_end_matches('/');
    let mut least = None;
    loop {
        let number = read(&format!("{mount}{path}/{file}")).and_then(|text| text.trim().parse::<u64>().ok());
        // Version 1 writes "no limit" as the largest number of pages.
        least = least.into_iter().chain(number.filter(|bytes| *bytes < 1 << 62)).min();
        match path.rsplit_once('/') {
            Some((parent, _)) => path = parent,
            None => return least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, state: char, threads: u32) -> String {
        format!("77 ({name}) {state} 4 5 6 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 8899 0 0 18446744073709551615")
    }

    fn check(name: &str, state: char, threads: u32, is_dead: bool) {
        let stat = parse_stat(line(name, state, threads).as_bytes()).expect("a whole line");
        assert_eq!((stat.parent, stat.start), (4, 8899), "{name}");
        assert_eq!(stat.is_dead(), is_dead, "{name} {state} {threads}");
    }

    #[test]
    fn a_stat_line_is_read_whatever_the_program_is_called() {
        check("sleep", 'S', 1, false);
        check("a) Z 1 (b", 'R', 1, false);
        check("x\ny", 'D', 3, false);
    }

    #[test]
    fn a_leader_that_ended_before_its_threads_is_alive() {
        check("sh", 'Z', 0, true);
        check("sh", 'Z', 1, true);
        check("sh", 'Z', 2, false);
        check("sh", 'X', 0, true);
    }

    #[test]
    fn a_broken_stat_line_is_no_answer() {
        for text in ["", "77 sleep S 4", "77 (sleep)", "77 (sleep) S 4 5 6"] {
            assert_eq!(parse_stat(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_numbers_of_a_process_are_read_from_the_namespace_of_proc_inwards() {
        assert_eq!(namespace_pids(b"Name:\tx\nNSpid:\t4242\t17\t1\nNSpgid:\t1\n"), Some(vec![4242, 17, 1]));
        assert_eq!(namespace_pids(b"NSpid:\t7\n"), Some(vec![7]));
        assert_eq!(namespace_pids(b"Pid:\t7\n"), None);
    }

    #[test]
    fn the_inode_of_a_namespace_is_read_from_the_text_of_its_link() {
        assert_eq!(namespace_inode(b"pid:[4026531836]", "pid"), Some(4_026_531_836));
        for text in ["pid:[", "pid:[x]", "mnt:[4026531836]", "pid:4026531836", ""] {
            assert_eq!(namespace_inode(text.as_bytes(), "pid"), None, "{text}");
        }
        for kind in crate::model::context::NAMESPACES {
            let followed = rustix::fs::stat(format!("/proc/self/ns/{kind}")).ok().map(|found| found.st_ino);
            assert_eq!(own_namespace(kind), followed, "{kind}");
        }
    }

    #[test]
    fn a_group_is_mapped_or_not() {
        assert!(is_mapped("         0          0 4294967295\n", 65534));
        assert!(is_mapped("0 1000 1\n5 100000 10\n", 14));
        assert!(!is_mapped("0 1000 1\n5 100000 10\n", 15));
        assert!(!is_mapped("", 65534));
    }

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_table_and_waiters_are_not() {
        let table = "1: POSIX  ADVISORY  WRITE 11 08:01:131 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 08:01:131 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 0 08:01:131 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 08:01:1310 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 15 08:01:131 0 EOF\n";
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(find_holder(table, (device, 131)), Some(15));
        assert_eq!(find_holder(table, (device, 132)), None);
    }

    #[test]
    fn the_parent_comes_first_and_the_chain_ends() {
        let found = ancestors(std::process::id(), &|_| false);
        let parent = stat(std::process::id()).expect("this process").parent;
        assert_eq!(found.first().map(|first| first.process.pid), Some(parent));
        assert!(found.iter().all(|one| !one.is_luzia && one.process.start > 0 || one.process.pid == 1), "{found:?}");
        assert!(found.len() < MOST);
    }

    fn least_of(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        least(groups, &read)
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let files = [
            ("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n"),
            ("/sys/fs/cgroup/a.slice/memory.max", "1000\n"),
            ("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n"),
        ];
        assert_eq!(least_of("0::/a.slice/b.scope\n", &files), Some(1000));
        assert_eq!(least_of("0::/\n", &files), None);
        assert_eq!(least_of("5:cpu:/\n4:memory:/box\n0::/a.slice\n", &files), Some(5000));
        assert_eq!(least_of("", &files), None);
        assert_eq!(least_of("0::/../outside\n", &[]), None);
    }
}

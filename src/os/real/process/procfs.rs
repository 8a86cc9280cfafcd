//! Values of /proc. A value that cannot be read is `None` or empty, and never a guess.

use crate::model::namespace::INITIAL_PID_NAMESPACE;
use rustix::fs::{Mode, OFlags, open, readlinkat_raw};
use rustix::process::getpid;
use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
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

/// Reads a file of /proc that fits a page: the kernel gives it in one piece, and one call is enough.
pub(crate) fn small(path: &str) -> Option<Vec<u8>> {
    let file = fs::File::open(path).ok()?;
    let mut page = [0; 4096];
    let count = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut page[..])).ok()?;
    page.get(..count).map(<[u8]>::to_vec)
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
    STATUS.get_or_init(read).lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim_ascii))
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
}

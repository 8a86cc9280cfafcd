//! Kills and errors at a chosen system call, by strace(1): `signal=KILL` strikes before the call is carried out, and
//! `when=N` counts the calls of that name of each traced process.

use super::World;
use super::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The calls that change what others see; `?` keeps an older strace from refusing a name it does not know.
const CHANGING: &str = "?open,?creat,openat,?openat2,write,?writev,pwrite64,fsync,fdatasync,syncfs,?rename,renameat,\
                        renameat2,?link,linkat,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,flock,ftruncate,fchmod,fchmodat,\
                        ?fchmodat2,utimensat,?fork,?vfork,clone,?clone3";
/// The calls that make durable.
const SYNCS: [&str; 3] = ["fsync", "fdatasync", "syncfs"];
/// Where a recovery is struck; it is not recorded before, so the numbers are guesses that often hit.
const OF_RECOVERY: [(&str, &[&str]); 8] = [
    ("openat2", &["EMFILE", "ENOSPC"]),
    ("write", &["ENOSPC", "EIO"]),
    ("pwrite64", &["ENOSPC", "EIO"]),
    ("fsync", &["EIO", "EDQUOT"]),
    ("fdatasync", &["EIO", "EDQUOT"]),
    ("renameat2", &["EIO", "EROFS"]),
    ("unlinkat", &["EIO", "EROFS"]),
    ("flock", &["ENOLCK"]),
];

/// How a run is disturbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Kill,
    Once(&'static str),
    FromThenOn(&'static str),
    /// Says that it was done every time, and does nothing.
    Lie,
}

/// One place to strike: the n-th call of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub call: String,
    pub n: usize,
    pub fault: Fault,
}

/// A call that was seen, with its line.
pub struct Seen {
    pub call: String,
    pub n: usize,
    pub line: String,
}

/// Whether strace works here.
pub fn is_available() -> bool {
    Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
}

/// The program under strace, with a mask that the modes of locks and outward files do not fit, so that each is set by a
/// call of its own. `log` receives the trace.
pub fn command(world: &World, log: &Path, follow: bool, point: Option<&Point>, args: &[&str]) -> Command {
    let mut strace = Command::new("sh");
    strace.args(["-c", "umask 077 && exec strace \"$@\"", "strace"]);
    let calls = format!("trace={CHANGING},close");
    strace.args(["-qq", "-s", "256", "-e", &calls, "-e", "signal=none", "-o"]).arg(log);
    if follow {
        strace.arg("-f");
    }
    if let Some(Point { call, n, fault }) = point {
        let how = match fault {
            Fault::Kill => format!("signal=KILL:when={n}"),
            Fault::Once(error) => format!("error={error}:when={n}"),
            Fault::FromThenOn(error) => format!("error={error}:when={n}+"),
            Fault::Lie => "retval=0".to_owned(),
        };
        strace.args(["-e", &format!("inject={call}:{how}")]);
    }
    strace.arg("--").arg(super::LUZIA);
    world.dress(strace, args)
}

/// Reads a trace: of each traced process the calls by their names and numbers; of several the longest row counts.
pub fn read_log(text: &str) -> Vec<Seen> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut seen = Vec::new();
    for line in text.lines().filter(|line| !line.contains(" resumed>")) {
        let (pid, rest) = split_pid(line);
        let Some((call, _)) = rest.split_once('(') else { continue };
        if !call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let n = counts.entry((pid.to_owned(), call.to_owned())).or_default();
        *n += 1;
        seen.push(Seen { call: call.to_owned(), n: *n, line: rest.to_owned() });
    }
    seen
}

/// The points at which a run can be struck, without those that only the loader of programs sees.
pub fn points(seen: &[Seen]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for Seen { call, n, line } in seen {
        let of_loader = ["/etc/ld.so", "/lib/", "/usr/lib", "/lib64/"];
        // The search for the processes of a tree looks at every process there is: some of these looks will do.
        let is_one_of_many = (line.contains("/proc/") || line.contains("\"environ\"")) && n % 23 != 0;
        if call == "close" || is_one_of_many || of_loader.iter().any(|path| line.contains(path)) {
            continue;
        }
        let opens = call.starts_with("open");
        let changes = !opens || line.contains("O_CREAT") || line.contains("O_TRUNC");
        let errors: &[&'static str] = match call.as_str() {
            "flock" => &["EINTR", "ENOLCK"],
            "fork" | "vfork" | "clone" | "clone3" => &["EAGAIN"],
            _ if opens && !changes => &["EMFILE"],
            _ if opens => &["ENOSPC", "EMFILE", "EROFS", "EINTR"],
            "write" | "writev" | "pwrite64" | "ftruncate" => &["ENOSPC", "EIO", "EINTR"],
            "fsync" | "fdatasync" | "syncfs" => &["EIO", "EDQUOT", "EINTR"],
            _ => &["ENOSPC", "EIO", "EROFS"],
        };
        let mut add = |fault| {
            let point = Point { call: call.clone(), n: *n, fault };
            if !points.contains(&point) {
                points.push(point);
            }
        };
        // Between two changes all kills leave the same picture.
        if changes {
            add(Fault::Kill);
        }
        for error in errors {
            add(Fault::Once(error));
            // Nothing is interrupted for ever.
            if *error != "EINTR" {
                add(Fault::FromThenOn(error));
            }
        }
    }
    points
}

/// A strike at a recovery that was not seen before: often it hits, sometimes the recovery ends before.
pub fn recovery_point(rng: &mut Rng) -> Point {
    let (call, errors) = *rng.pick(&OF_RECOVERY);
    let fault = match rng.below(3) {
        0 => Fault::Kill,
        1 => Fault::Once(rng.pick::<&str>(errors)),
        _ => Fault::FromThenOn(rng.pick::<&str>(errors)),
    };
    let most = if call == "openat2" { 120 } else { 16 };
    Point { call: call.to_owned(), n: 1 + usize::try_from(rng.below(most)).unwrap(), fault }
}

impl Point {
    /// Whether a sync fails here, and not only for an instant.
    pub fn fails_sync(&self) -> bool {
        let is_failure = matches!(self.fault, Fault::Once(error) | Fault::FromThenOn(error) if error != "EINTR");
        is_failure && SYNCS.contains(&self.call.as_str())
    }
}

/// The first sync of a descriptor in this trace after one of the same descriptor failed. The kernel has then forgotten
/// what it could not write, and would claim success.
pub fn repeated_sync(text: &str) -> Option<String> {
    let mut failed: BTreeSet<(String, String)> = BTreeSet::new();
    for line in text.lines() {
        let (pid, rest) = split_pid(line);
        let Some((call, args)) = rest.split_once('(') else { continue };
        let fd = args.split([',', ')', ' ']).next().unwrap_or_default();
        let key = (pid.to_owned(), fd.to_owned());
        if call == "close" {
            failed.remove(&key);
        } else if SYNCS.contains(&call) {
            if failed.contains(&key) {
                return Some(line.to_owned());
            }
            if rest.contains("= -1 ") && !rest.contains("EINTR") {
                failed.insert(key);
            }
        }
    }
    None
}

fn split_pid(line: &str) -> (&str, &str) {
    match line.split_once(' ') {
        Some((pid, rest)) if pid.parse::<u32>().is_ok() => (pid, rest.trim_start()),
        _ => ("", line),
    }
}

#[test]
fn a_sync_that_is_tried_again_is_seen_in_a_trace() {
    let failed = "fsync(5) = -1 EIO (Input/output error) (INJECTED)\n";
    assert_eq!(repeated_sync(failed), None);
    assert_eq!(repeated_sync(&format!("{failed}close(5) = 0\nfsync(5) = 0\n")), None);
    assert_eq!(repeated_sync(&format!("{failed}fsync(6) = 0\n")), None);
    assert_eq!(repeated_sync(&format!("{failed}fdatasync(5) = 0\n")).as_deref(), Some("fdatasync(5) = 0"));
    assert_eq!(repeated_sync(&format!("12 {failed}12 fsync(5) = 0\n")).as_deref(), Some("12 fsync(5) = 0"));
}

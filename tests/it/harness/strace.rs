//! Kills and errors at a chosen system call, by strace(1): `signal=KILL` strikes before the call is carried out, and
//! `when=N` counts the calls of that name of each traced process.

use super::World;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The calls that change what others see; `?` keeps an older strace from refusing a name it does not know.
const CHANGING: &str = "?open,?creat,openat,?openat2,write,?writev,pwrite64,fsync,fdatasync,syncfs,?rename,renameat,\
                        renameat2,?link,linkat,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,flock,ftruncate,fchmod,fchmodat,\
                        ?fchmodat2,utimensat,?fork,?vfork,clone,?clone3";

/// How a run is disturbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Kill,
    Once(&'static str),
    FromThenOn(&'static str),
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

/// The program under strace. `log` receives the trace.
pub fn command(world: &World, log: &Path, follow: bool, point: Option<&Point>, args: &[&str]) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-s", "256", "-e", &format!("trace={CHANGING}"), "-e", "signal=none", "-o"]).arg(log);
    if follow {
        strace.arg("-f");
    }
    if let Some(Point { call, n, fault }) = point {
        let how = match fault {
            Fault::Kill => format!("signal=KILL:when={n}"),
            Fault::Once(error) => format!("error={error}:when={n}"),
            Fault::FromThenOn(error) => format!("error={error}:when={n}+"),
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
        let (pid, rest) = match line.split_once(' ') {
            Some((pid, rest)) if pid.parse::<u32>().is_ok() => (pid, rest.trim_start()),
            _ => ("", line),
        };
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
        if is_one_of_many || of_loader.iter().any(|path| line.contains(path)) {
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

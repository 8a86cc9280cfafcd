//! The processes above this one, as /proc shows them. The caller decides which of these processes matter.

use crate::model::Identity;
use crate::model::process::Ancestor;
use crate::os::real::process::procfs;
use rustix::fs::{readlink, stat};
use std::cell::LazyCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Greatest number of processes that are looked at: more than any real tree has above one process.
const MOST: usize = 1024;

/// The processes above a process, its parent first, until `enough` accepts one. Empty if /proc is not our own.
pub(crate) fn ancestors(of: u32, enough: &dyn Fn(&Ancestor) -> bool) -> Vec<Ancestor> {
    let own = LazyCell::new(|| file_of("self"));
    let mut found = Vec::new();
    let mut pid = match of == std::process::id() {
        true => rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs()),
        false => procfs::stat(of).map_or(0, |stat| stat.parent),
    };
    // 0 is the parent of a process that came from outside of a pid namespace.
    while pid > 0 && found.len() < MOST {
        let Some(seen) = procfs::stat(pid) else { break };
        let process = Identity { pid, start: seen.start, boot_id: procfs::boot_id().to_owned() };
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
    stat(format!("/proc/{pid}/exe")).ok().map(|seen| (seen.st_dev, seen.st_ino))
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
    let name = procfs::small(&format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_comes_first_and_the_chain_ends() {
        let found = ancestors(std::process::id(), &|_| false);
        let parent = procfs::stat(std::process::id()).expect("this process").parent;
        assert_eq!(found.first().map(|first| first.process.pid), Some(parent));
        assert!(found.iter().all(|one| !one.is_luzia && one.process.start > 0 || one.process.pid == 1), "{found:?}");
        assert!(found.len() < MOST);
    }
}

//! Another file in the place of this program, as after an upgrade.

use crate::os::FileKind;
use crate::os::real::files::meta_of;
use rustix::fs::{Stat, stat};
use rustix::param::linux_execfn;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub(crate) const SELF: &str = "/proc/self/exe";

/// The path by which this program was started (getauxval(3): AT_EXECFN). It stays the same when the file is moved aside, and
/// a link in it can be switched.
fn given_path() -> Option<PathBuf> {
    let given = Path::new(OsStr::from_bytes(linux_execfn().to_bytes()));
    if given.starts_with("/proc") || given.starts_with("/dev/fd") {
        let link = std::env::current_exe().ok()?.into_os_string().into_vec();
        return Some(PathBuf::from(OsStr::from_bytes(link.strip_suffix(b" (deleted)").unwrap_or(&link))));
    }
    std::path::absolute(given).ok()
}

/// The path of this program, if another executable file is there now. Other accounts must be as unable to change that file as
/// to change a configuration.
pub(crate) fn replacement() -> Option<PathBuf> {
    let path = given_path()?;
    let found = stat(&path).ok().filter(|found| !is_running(found))?;
    may_replace(&found).then_some(path)
}

/// The program at the place of this one: this one itself, or its replacement.
pub(crate) fn program_in_place() -> Option<PathBuf> {
    let path = given_path()?;
    let found = stat(&path).ok()?;
    (is_running(&found) || may_replace(&found)).then_some(path)
}

fn may_replace(found: &Stat) -> bool {
    let found = meta_of(found);
    let is_program = found.kind == FileKind::File && found.mode & 0o111 != 0;
    is_program && found.is_safe_for(geteuid().as_raw())
}

/// Whether a file is the one that runs here.
pub(crate) fn is_running(found: &Stat) -> bool {
    stat(SELF).is_ok_and(|running| (found.st_dev, found.st_ino) == (running.st_dev, running.st_ino))
}

/// Whether a process runs the same file as this one; false for a process that hides its program.
pub(crate) fn runs_this_program(pid: u32) -> bool {
    stat(format!("/proc/{pid}/exe")).is_ok_and(|found| is_running(&found))
}

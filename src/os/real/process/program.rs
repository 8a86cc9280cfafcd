//! The file of a command, the errors of a failed start, and the file of this program. Nothing is started here.
//!
//! `find` searches `PATH` itself, because its entries are relative to the working directory of the task, and a file that is found
//! and cannot be executed gives 126. The crate `which` does neither. As with flock(1), execvp(3) then gives a file of unknown
//! format to /bin/sh. `start_error` sorts the errors of a failed start. `replacement` finds another file in the place of this
//! program, as after an upgrade.

use crate::os::real::files::meta_of;
use crate::os::{FileKind, StartError, is_shortage};
use rustix::fs::{Access, AtFlags, CWD, Stat, accessat, stat};
use rustix::io::Errno;
use rustix::param::linux_execfn;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The folders that execvp(3) searches when there is no PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file of a program, always with a slash in it. A name with a slash is taken as it is (relative to the working
/// directory); any other name is searched in `path`.
pub(crate) fn find(program: &str, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, StartError> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    if program.is_empty() {
        return Err(StartError::NotFound(named(Errno::NOENT.into(), program)));
    }
    let mut refused = None;
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    for dir in path.as_bytes().split(|byte| *byte == b':') {
        // An empty entry is the working directory, by an old rule of POSIX.
        let file = cwd.join(OsStr::from_bytes(dir)).join(program);
        match can_execute(&file) {
            Ok(()) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused = Some(error),
            Err(_) => {}
        }
    }
    Err(match refused {
        Some(error) => StartError::NotExecutable(named(error, program)),
        None => StartError::NotFound(named(Errno::NOENT.into(), program)),
    })
}

/// Separates a working directory that cannot be entered from a program that cannot be started.
pub(crate) fn check_cwd(cwd: &Path) -> Result<(), StartError> {
    let entered = match std::fs::metadata(cwd) {
        Ok(meta) if !meta.is_dir() => Err(Errno::NOTDIR.into()),
        Ok(_) => accessat(CWD, cwd, Access::EXEC_OK, AtFlags::EACCESS).map_err(io::Error::from),
        Err(error) => Err(error),
    };
    entered.map_err(|error| {
        let text = format!("cannot enter the working directory {cwd:?}: {error}");
        StartError::Other(io::Error::new(error.kind(), text))
    })
}

/// Sorts the error of a failed start by its exit code.
pub(crate) fn start_error(error: io::Error, program: &Path, cwd: &Path) -> StartError {
    let shown = program.to_string_lossy();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if cwd.join(program).exists() => {
            let text = format!("{shown}: its interpreter does not exist");
            StartError::NotFound(io::Error::new(error.kind(), text))
        }
        Some(Errno::NOENT | Errno::NOTDIR) => StartError::NotFound(named(error, &shown)),
        Some(
            Errno::ACCESS
            | Errno::NOEXEC
            | Errno::ISDIR
            | Errno::PERM
            | Errno::TXTBSY
            | Errno::LOOP
            | Errno::NAMETOOLONG
            | Errno::LIBBAD,
        ) => StartError::NotExecutable(named(error, &shown)),
        _ if is_shortage(&error) => StartError::Short(named(error, &shown)),
        _ => StartError::Other(named(error, &shown)),
    }
}

/// The value of a variable in an environment. Of two, the last one counts, as in the environment that is made of them.
pub(crate) fn lookup(env: &[(Vec<u8>, Vec<u8>)], name: &str) -> Option<OsString> {
    let hit = env.iter().rfind(|(key, _)| key == name.as_bytes());
    hit.map(|(_, value)| OsStr::from_bytes(value).to_owned())
}

pub(crate) fn can_execute(file: &Path) -> io::Result<()> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(Errno::ACCESS.into());
    }
    Ok(accessat(CWD, file, Access::EXEC_OK, AtFlags::EACCESS)?)
}

pub(crate) fn named(error: io::Error, program: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{program}: {error}"))
}

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

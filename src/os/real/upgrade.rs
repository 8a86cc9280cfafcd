//! Another file in the place of this program, as after an upgrade: whether it may be started in its stead.

use super::files::meta_of;
use crate::model::Timestamp;
use rustix::fs::{FileType, Stat, stat};
use rustix::param::linux_execfn;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) const SELF: &str = "/proc/self/exe";
const MAGIC: &[u8] = b"\x7fELF";
/// How long a program may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which state of which file was asked last what it is, and whether it is a luzia.
type Asked = (((u64, u64), u64, Timestamp), bool);

static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

/// The path by which this program was started (getauxval(3): AT_EXECFN). It stays the same when the file is moved aside, and
/// a link in it can be switched.
pub(super) fn given_path() -> Option<PathBuf> {
    let given = Path::new(OsStr::from_bytes(linux_execfn().to_bytes()));
    if given.starts_with("/proc") || given.starts_with("/dev/fd") {
        let link = std::env::current_exe().ok()?.into_os_string().into_vec();
        return Some(PathBuf::from(OsStr::from_bytes(link.strip_suffix(b" (deleted)").unwrap_or(&link))));
    }
    std::path::absolute(given).ok()
}

/// The program that has come into the place of this one. It must be as hard for others to change as a configuration, and say
/// that it is luzia: a half-written file, or one that happens to have the name, is none.
pub(super) fn replacement() -> Option<PathBuf> {
    let path = given_path()?;
    let found = stat(&path).ok().filter(|found| !is_running(found))?;
    let is_program = FileType::from_raw_mode(found.st_mode).is_file() && found.st_mode & 0o111 != 0;
    let is_safe = found.st_mode & 0o022 == 0 && (found.st_uid == 0 || found.st_uid == geteuid().as_raw());
    (is_program && is_safe && is_luzia(&path, &found)).then_some(path)
}

/// Whether a file is the one that runs here.
pub(super) fn is_running(found: &Stat) -> bool {
    stat(SELF).is_ok_and(|running| (found.st_dev, found.st_ino) == (running.st_dev, running.st_ino))
}

/// Asks a program what it is, once for each state of its file.
fn is_luzia(path: &Path, found: &Stat) -> bool {
    let meta = meta_of(found);
    let state = (meta.ident, meta.size, meta.changed);
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    match *asked {
        Some((last, answer)) if last == state => answer,
        _ => asked.insert((state, has_magic(path) && says_luzia(path).unwrap_or(false))).1,
    }
}

/// A script has its own idea of arguments.
fn has_magic(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

fn says_luzia(path: &Path) -> std::io::Result<bool> {
    let mut command = Command::new(path);
    super::launch::fork_and_exec(&mut command);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= end => {
                child.kill()?;
                break child.wait()?;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut said = [0; 6];
    let is_said = child.stdout.take().is_some_and(|mut out| out.read_exact(&mut said).is_ok());
    Ok(status.success() && is_said && said == *b"luzia ")
}

//! Another file in the place of this program, as after an upgrade: whether it may be started in its stead.

use super::ask::ask;
use super::files::meta_of;
use crate::model::Timestamp;
use crate::os::{FileKind, Meta};
use rustix::fs::{Stat, stat};
use rustix::param::linux_execfn;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) const SELF: &str = "/proc/self/exe";
const MAGIC: &[u8] = b"\x7fELF";
/// How long a program may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(2);
/// After which time it is asked again when it did not.
const ASK_AGAIN: Duration = Duration::from_secs(5);
const WORD: &[u8; 6] = b"luzia ";

/// What is known of a file: its state, whether it is a luzia, and until when that counts; without a time, as long as the
/// file has that state.
struct Known {
    state: ((u64, u64), u64, Timestamp),
    is_luzia: bool,
    until: Option<Instant>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

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

/// The program that has come into the place of this one. It must be as hard for others to change as a configuration, and say
/// that it is luzia: a half-written file, or one that happens to have the name, is none.
pub(super) fn replacement() -> Option<PathBuf> {
    let path = given_path()?;
    let found = stat(&path).ok().filter(|found| !is_running(found))?;
    may_replace(&path, &found).then_some(path)
}

/// The program at the place of this one: this one itself, or its replacement.
pub(super) fn program_in_place() -> Option<PathBuf> {
    let path = given_path()?;
    let found = stat(&path).ok()?;
    (is_running(&found) || may_replace(&path, &found)).then_some(path)
}

fn may_replace(path: &Path, found: &Stat) -> bool {
    let found = meta_of(found);
    let is_program = found.kind == FileKind::File && found.mode & 0o111 != 0;
    is_program && found.is_safe_for(geteuid().as_raw()) && is_luzia(path, &found)
}

/// Whether a file is the one that runs here.
pub(super) fn is_running(found: &Stat) -> bool {
    stat(SELF).is_ok_and(|running| (found.st_dev, found.st_ino) == (running.st_dev, running.st_ino))
}

/// Asks a program what it is, once for each state of its file. What gave no answer may have been written still, or the host
/// was busy: it is asked again later.
fn is_luzia(path: &Path, found: &Meta) -> bool {
    let state = (found.ident, found.size, found.changed);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some(it) if it.state == state && it.until.is_none_or(|until| Instant::now() < until) => it.is_luzia,
        _ => {
            let answer = if has_magic(path) { says_luzia(path) } else { Some(false) };
            let until = answer.is_none().then(|| Instant::now() + ASK_AGAIN);
            known.insert(Known { state, is_luzia: answer.unwrap_or(false), until }).is_luzia
        }
    }
}

/// A script has its own idea of arguments.
fn has_magic(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

fn says_luzia(path: &Path) -> Option<bool> {
    let (status, said) = ask(Command::new(path).arg("--version"), Instant::now() + PATIENCE).ok()?;
    Some(status.success() && said.starts_with(WORD))
}

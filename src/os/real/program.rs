//! Which file a command means, and what it means when it cannot be started. Nothing is started here.
//!
//! The search is done here and not by execvp(3), which runs a file of unknown format by /bin/sh: argv is executed as
//! it was given, or not at all. The standard library calls execvp(3) nevertheless, so the format is looked at as well.

use crate::os::{StartError, is_shortage};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where execvp(3) looks when there is no PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file of a program, always with a slash in it: a name with a slash is taken as it is (relative to the working
/// directory), any other is searched in `path`.
pub(super) fn find(program: &str, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, StartError> {
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

/// Refuses a file that the kernel will call ENOEXEC: neither a program for this machine nor a script that names its
/// interpreter, where no further formats are registered. What cannot be read is left to the kernel.
pub(super) fn check_format(program: &Path, cwd: &Path) -> Result<(), StartError> {
    let Ok(head) = head(&cwd.join(program)) else {
        return Ok(());
    };
    if is_native(&head) || is_script(&head) || has_more_formats() {
        return Ok(());
    }
    let shown = program.to_string_lossy();
    let error = named(Errno::NOEXEC.into(), &shown);
    Err(StartError::NotExecutable(error))
}

/// A working directory that cannot be entered is told apart from a program that cannot be started.
pub(super) fn check_cwd(cwd: &Path) -> Result<(), StartError> {
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

/// Sorts the error of a failed start by what the exit code will say.
pub(super) fn start_error(error: io::Error, program: &Path, cwd: &Path) -> StartError {
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

/// The value of a variable in an environment; of two the last one counts, as in the environment that is made of them.
pub(super) fn lookup(env: &[(Vec<u8>, Vec<u8>)], name: &str) -> Option<OsString> {
    let hit = env.iter().rfind(|(key, _)| key == name.as_bytes());
    hit.map(|(_, value)| OsStr::from_bytes(value).to_owned())
}

/// How many bytes of a program tell what it is.
const HEAD: usize = 256;

fn head(file: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(Errno::ACCESS.into());
    }
    let mut bytes = Vec::with_capacity(HEAD);
    let mut start = std::fs::File::open(file)?.take(HEAD as u64);
    start.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An ELF file for the machine of this program, or for the 32-bit one that its kernel runs as well (elf(5)).
fn is_native(head: &[u8]) -> bool {
    const X86: (u16, u16) = (62, 3);
    const ARM: (u16, u16) = (183, 40);
    let machine = |head: &[u8]| match head {
        [0x7f, b'E', b'L', b'F', ..] => {
            let bytes = head.get(18..20)?;
            Some(u16::from_ne_bytes([bytes[0], bytes[1]]))
        }
        _ => None,
    };
    static OWN: OnceLock<Option<u16>> = OnceLock::new();
    let own = OWN.get_or_init(|| self::head(Path::new("/proc/self/exe")).ok().as_deref().and_then(machine));
    match (*own, machine(head)) {
        (Some(own), Some(its)) => own == its || [X86, ARM].contains(&(own, its)),
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

fn is_script(head: &[u8]) -> bool {
    let Some(rest) = head.strip_prefix(b"#!") else {
        return false;
    };
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    !line.trim_ascii().is_empty()
}

/// Whether binfmt_misc knows formats beyond those of the kernel itself.
fn has_more_formats() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else {
        return false;
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name != "register" && name != "status")
}

fn can_execute(file: &Path) -> io::Result<()> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(Errno::ACCESS.into());
    }
    Ok(accessat(CWD, file, Access::EXEC_OK, AtFlags::EACCESS)?)
}

pub(super) fn named(error: io::Error, program: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{program}: {error}"))
}

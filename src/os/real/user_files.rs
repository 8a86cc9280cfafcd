//! Files of the user, links to luzia on PATH, and the start of another program in the place of this one.
//!
//! `RealUserFiles` reads a file whole, and replaces it by the rename of a file beside it. `RealShims` makes and finds the links
//! to luzia. `become_program` turns this process into another program, and `begin_anew` starts this program anew in the place of
//! this process.

use crate::os::StartError;
use crate::os::real::files::places::absent;
use crate::os::real::files::temporary::Published;
use crate::os::real::process::launch::own_program;
use crate::os::real::process::program::{can_execute, start_error};
use crate::os::user_files::{OnPath, Shims, UserFiles};
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of this host.
pub struct RealUserFiles;

/// Number of links that are followed at most, as in the kernel.
const MOST_LINKS: usize = 40;

impl UserFiles for RealUserFiles {
    fn read(&self, path: &str, cap: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(meta) = absent(std::fs::metadata(path))? else { return Ok(None) };
        // A FIFO would block the open.
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(bytes))
    }

    fn replace(&self, path: &str, was: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
        let place = behind_links(Path::new(path))?;
        let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
        std::fs::create_dir_all(folder)?;
        let old = unchanged(&place, was)?;
        write_over(&place, old.as_ref(), bytes)
    }

    fn copy(&self, path: &str, copy: &str) -> io::Result<()> {
        let meta = std::fs::metadata(path)?;
        write_over(Path::new(copy), Some(&meta), &std::fs::read(path)?)
    }

    fn remove(&self, path: &str, was: &[u8]) -> io::Result<()> {
        let place = behind_links(Path::new(path))?;
        unchanged(&place, Some(was))?;
        std::fs::remove_file(place)
    }

    fn remove_empty_folder(&self, path: &str) -> io::Result<()> {
        match std::fs::remove_dir(path) {
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::DirectoryNotEmpty].contains(&error.kind()) => Ok(()),
            other => other,
        }
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(bytes)
    }
}

/// The path behind symbolic links; the last one may lead to nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = std::fs::read_link(&path)?;
        path = path.parent().map(|folder| folder.join(&target)).unwrap_or(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Checks that a file still holds what was read, and that this process may change it.
fn unchanged(place: &Path, was: Option<&[u8]>) -> io::Result<Option<Metadata>> {
    let meta = absent(std::fs::metadata(place))?;
    let now = match &meta {
        Some(meta) if meta.is_file() => Some(std::fs::read(place)?),
        Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        None => None,
    };
    if now.as_deref() != was {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "it was changed meanwhile"));
    }
    if meta.is_some() {
        access(place, Access::WRITE_OK)?;
    }
    Ok(meta)
}

/// Replaces a file by one with the owner and the permissions of `like`.
fn write_over(place: &Path, like: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let file = Published::prepare(place)?;
    like.map_or(Ok(()), |like| file.be_like(like))?;
    file.publish(bytes)?;
    // The new content is in place. The sync only makes its name survive a power cut, so its failure is ignored.
    let _ = place.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// The links of this host.
pub struct RealShims;

impl Shims for RealShims {
    fn on_path(&self, name: &str) -> Vec<OnPath> {
        let files = path_dirs().map(|dir| dir.join(name)).filter(|file| can_execute(file).is_ok());
        let shown = |file: PathBuf| OnPath { is_own: is_own(&file), path: file.to_string_lossy().into_owned() };
        files.map(shown).collect()
    }

    fn has_on_path(&self, dir: &str) -> bool {
        path_dirs().any(|one| one == Path::new(dir))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let is_shim = |name: &&str| !name.starts_with('.') && entry.file_type().is_ok_and(|it| it.is_symlink());
            if let Some(name) = entry.file_name().to_str().filter(is_shim) {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, dir: &str, name: &str) -> bool {
        Path::new(dir).join(name).symlink_metadata().is_ok()
    }

    fn is_own(&self, dir: &str, name: &str) -> bool {
        let Ok(target) = std::fs::read_link(Path::new(dir).join(name)) else { return false };
        target.file_name() == own_program().file_name() || is_this_program(&Path::new(dir).join(target))
    }

    fn link(&self, dir: &str, name: &str) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        let path = Path::new(dir).join(name);
        match symlink(own_program(), &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_own(dir, name) => {}
            made => return made,
        }
        // The new link has another name first: between a removal and a new link, calls would take no turn.
        let made = Path::new(dir).join(format!(".{name}.{}", std::process::id()));
        symlink(own_program(), &made)?;
        std::fs::rename(&made, &path).inspect_err(|_| drop(std::fs::remove_file(&made)))
    }

    fn unlink(&self, dir: &str, name: &str) -> io::Result<()> {
        let dir = Path::new(dir);
        std::fs::remove_file(dir.join(name))?;
        // A folder that is not empty stays.
        let _ = dir.ancestors().take(2).try_for_each(std::fs::remove_dir);
        Ok(())
    }

    fn read(&self, dir: &str, name: &str) -> io::Result<Option<String>> {
        match std::fs::read_to_string(Path::new(dir).join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    fn write(&self, dir: &str, name: &str, text: &str) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        Published::prepare(Path::new(dir).join(name))?.publish(text)
    }
}

fn path_dirs() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    // An empty entry is the working directory. A path without a slash would be searched on PATH again.
    let dir = |dir: PathBuf| if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir };
    std::env::split_paths(&path).map(dir).collect::<Vec<_>>().into_iter()
}

fn is_own(file: &Path) -> bool {
    // A link to another copy of luzia would lead back to this one.
    if file.parent().is_some_and(|dir| dir.ends_with("luzia/shims")) {
        return true;
    }
    is_this_program(file)
}

fn is_this_program(file: &Path) -> bool {
    let ident = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    matches!((ident(file), ident(Path::new("/proc/self/exe"))), (Ok(a), Ok(b)) if a == b)
}

/// Whether a file is a program that this account may start.
pub fn can_start(file: &str) -> bool {
    can_execute(Path::new(file)).is_ok()
}

/// Becomes another program, with the arguments behind the program's own name; returns only when that fails.
pub fn become_program(path: &str, name: &OsString, arguments: &[OsString]) -> StartError {
    let error = Command::new(path).arg0(name).args(arguments).exec();
    start_error(error, Path::new(path), Path::new("/"))
}

/// Starts this program anew in the place of this process, with a word before its arguments; returns only when that fails.
pub fn begin_anew(first: &str) -> io::Error {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    Command::new(own_program()).arg0(name).arg(first).args(arguments).exec()
}

//! The files below one directory. It knows no name of ours and reads no file; a handle does that.

pub(crate) mod dir_root;
pub(crate) mod fs_kind;
pub(crate) mod handle;
mod names;
pub(crate) mod pipe;
pub(crate) mod places;
pub(crate) mod temporary;
pub(crate) mod watch;

use crate::model::Timestamp;
use crate::os::real::files::dir_root::{Beneath, check, check_dir, fault, refused};
use crate::os::real::files::handle::RealHandle;
use crate::os::{Entry, FileKind, FileSystem, Handle, Meta, Open, Pipe, Published, Vfs, Watch};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, Stat, chmodat, fchmod, fstat, fsync, mkdirat,
    renameat_with, statat, syncfs, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// Never blocks on a FIFO, never makes a terminal ours.
const CAREFULLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Number of threads that look at many paths, at most.
const MOST_THREADS: usize = 8;
/// Number of directories to list that are worth a thread.
const FEWEST_LISTINGS: usize = 200;
/// Number of names to look at that are worth a thread.
const FEWEST_LOOKS: usize = 1000;

const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// A directory held open, and what is below it.
#[derive(Debug)]
pub struct RealFiles {
    path: String,
    beneath: Arc<Beneath>,
}

impl RealFiles {
    /// Opens a root; `None` when it does not exist and `create` is false. Missing directories are made with mode 0700.
    /// Symbolic links on the way to the root are followed, because its owner decides where it is.
    pub fn open_at(path: &str, create: bool) -> io::Result<Option<Self>> {
        Self::open_by(path, LISTING, create, Beneath::new)
    }

    /// Opens a root for files whose names the caller knows; `None` when it does not exist. The root cannot be listed by
    /// this handle, so the caller needs the right to search it (mode 0711), and not the right to read it.
    pub fn reach(path: &str) -> io::Result<Option<Self>> {
        Self::open_by(path, OFlags::PATH | OFlags::DIRECTORY, false, Beneath::new)
    }

    /// A root that does not exist, for verbs that only look.
    pub fn absent(path: &str) -> Self {
        Self { path: path.to_owned(), beneath: Arc::new(Beneath::absent()) }
    }

    fn open_by(
        path: &str,
        how: OFlags,
        create: bool,
        hold: impl FnOnce(OwnedFd) -> Beneath,
    ) -> io::Result<Option<Self>> {
        let whole = std::path::absolute(path)?;
        let root = match open_directory(&whole, how) {
            Err(Errno::NOENT) if create => {
                make_directories(&whole)?;
                open_directory(&whole, how)?
            }
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        let path = whole
            .into_os_string()
            .into_string()
            .map_err(|_| refused(path, "lies in a directory whose name is not UTF-8"))?;
        Ok(Some(Self { path, beneath: Arc::new(hold(root)) }))
    }

    #[cfg(test)]
    pub(super) fn by(path: &str, beneath: Beneath) -> Self {
        let (path, beneath) = (path.to_owned(), Arc::new(beneath));
        Self { path, beneath }
    }

    fn open_new(&self, path: &str, flags: OFlags, mode: u32) -> Result<OwnedFd, Errno> {
        let flags = flags | CAREFULLY | OFlags::CREATE | OFlags::EXCL;
        self.beneath.open(path, flags, bits(mode))
    }

    /// Makes a file in the place of one that a crash or another process left. The old file may have other names, so it is
    /// removed and never written through. Usually the name is free. Anything but a file stays, and is returned so that the
    /// caller refuses it.
    fn open_fresh(&self, path: &str, flags: OFlags, mode: u32) -> Result<OwnedFd, Errno> {
        for _ in 0..100 {
            match self.open_new(path, flags, mode) {
                Err(Errno::EXIST) => {}
                other => return other,
            }
            match self.stat(path) {
                Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::RegularFile => {}
                Ok(_) => return self.beneath.open(path, flags | CAREFULLY, Mode::empty()),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error),
            }
            match self.beneath.on_name(path, |dir, name| unlinkat(dir, name, AtFlags::empty())) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::BUSY)
    }

    /// Opens a file, or makes it; true if the file is new. Only O_EXCL shows whether a file is new, and so needs its mode set.
    fn open_or_new(&self, path: &str, flags: OFlags, mode: u32) -> Result<(OwnedFd, bool), Errno> {
        // Others may remove and make the file meanwhile, but not for ever.
        for _ in 0..100 {
            match self.beneath.open(path, flags | CAREFULLY, Mode::empty()) {
                Err(Errno::NOENT) => {}
                other => return Ok((other?, false)),
            }
            match self.open_new(path, flags, mode) {
                Err(Errno::EXIST) => {}
                other => return Ok((other?, true)),
            }
        }
        Err(Errno::BUSY)
    }

    fn open_regular(&self, path: &str, how: Open) -> Result<Opened, Errno> {
        let both = OFlags::RDWR;
        Ok(match how {
            Open::Existing => Opened::old(self.beneath.open(path, both | CAREFULLY, Mode::empty())?),
            Open::ReadOnly => Opened::old(self.beneath.open(path, CAREFULLY, Mode::empty())?),
            Open::CreateNew(mode) => Opened { fd: self.open_new(path, both, mode)?, mode: Some(mode) },
            Open::Truncate(mode) => Opened { fd: self.open_fresh(path, both, mode)?, mode: Some(mode) },
            Open::Append(mode) => {
                let (fd, is_new) = self.open_or_new(path, both | OFlags::APPEND, mode)?;
                Opened { fd, mode: is_new.then_some(mode) }
            }
        })
    }

    fn stat(&self, path: &str) -> Result<Stat, Errno> {
        self.beneath.stat(path)
    }
}

/// The result of `look` for each path, in the order of the paths. A look is the kernel's work and does not wait for the
/// others. So threads share the paths if there are more than `fewest`.
fn of_each<T: Send>(paths: &[String], fewest: usize, look: &(dyn Fn(&str) -> T + Sync)) -> Vec<T> {
    let all = |paths: &[String]| paths.iter().map(|path| look(path)).collect::<Vec<_>>();
    if paths.len() <= fewest {
        return all(paths);
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let share = paths.len().div_ceil(workers).max(fewest);
    std::thread::scope(|scope| {
        let (own, rest) = paths.split_at(share.min(paths.len()));
        // Where no thread can be made, its share is done here.
        let looked = |share| std::thread::Builder::new().spawn_scoped(scope, move || all(share)).ok();
        let others: Vec<_> = rest.chunks(share).map(|share| (share, looked(share))).collect();
        let mut found = all(own);
        for (share, other) in others {
            found.extend(other.and_then(|other| other.join().ok()).unwrap_or_else(|| all(share)));
        }
        found
    })
}

/// A file that was just opened, and the mode that it gets if it is a regular file.
struct Opened {
    fd: OwnedFd,
    mode: Option<u32>,
}

impl Opened {
    fn old(fd: OwnedFd) -> Self {
        Self { fd, mode: None }
    }

    /// Refuses anything but a regular file, and sets its mode. Returns its size.
    fn prepare(&self, path: &str) -> io::Result<u64> {
        let stat = fstat(&self.fd)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile {
            return Err(refused(path, &format!("is a {}, not a file", noun(kind))));
        }
        if let Some(mode) = self.mode.filter(|mode| !has_mode(&stat, *mode)) {
            retry_on_intr(|| fchmod(&self.fd, bits(mode)))?;
        }
        Ok(meta_of(&stat).size)
    }
}

impl Vfs for RealFiles {
    fn root(&self) -> &str {
        &self.path
    }

    fn open_root(&self, path: &str, create: bool) -> io::Result<Option<Arc<dyn Vfs>>> {
        if self.beneath.root().is_err() {
            return Ok(None);
        }
        let found = Self::open_by(path, LISTING, create, |root| self.beneath.beside(root))?;
        Ok(found.map(|files| Arc::new(files) as Arc<dyn Vfs>))
    }

    fn open(&self, path: &str, how: Open) -> io::Result<Option<Box<dyn Handle>>> {
        check(path)?;
        let opened = match (self.open_regular(path, how), how) {
            (Err(Errno::NOENT), Open::Existing | Open::ReadOnly) | (Err(Errno::EXIST), Open::CreateNew(_)) => {
                return Ok(None);
            }
            (Err(Errno::ISDIR), _) => return Err(refused(path, "is a directory, not a file")),
            (Err(Errno::NXIO), _) => return Err(refused(path, "is a socket or FIFO, not a file")),
            (other, _) => other.map_err(|error| fault(path, error))?,
        };
        match opened.prepare(path) {
            Ok(size) => {
                let is_at_end = !matches!(how, Open::Existing | Open::ReadOnly);
                Ok(Some(Box::new(RealHandle::opened(File::from(opened.fd), size, is_at_end))))
            }
            Err(error) => {
                if matches!(how, Open::CreateNew(_)) {
                    // This call made the file and returns an error, so it removes the file.
                    let _ = self.unlink(path);
                }
                Err(error)
            }
        }
    }

    fn meta(&self, path: &str) -> io::Result<Option<Meta>> {
        if matches!(path, "" | ".") {
            let Ok(root) = self.beneath.root() else { return Ok(None) };
            return Ok(Some(meta_of(&fstat(root)?)));
        }
        check(path)?;
        match self.stat(path) {
            Err(Errno::NOENT) => Ok(None),
            other => Ok(Some(meta_of(&other.map_err(|error| fault(path, error))?))),
        }
    }

    fn meta_many(&self, paths: &[String]) -> Vec<io::Result<Option<Meta>>> {
        of_each(paths, FEWEST_LOOKS, &|path| self.meta(path))
    }

    fn list(&self, path: &str) -> io::Result<Option<Vec<Entry>>> {
        check_dir(path)?;
        match self.beneath.open(path, LISTING, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            Ok(dir) => entries(dir.as_fd()),
            Err(error) => Err(fault(path, error)),
        }
    }

    fn list_many(&self, paths: &[String]) -> Vec<io::Result<Option<Vec<Entry>>>> {
        of_each(paths, FEWEST_LISTINGS, &|path| self.list(path))
    }

    fn make_dir(&self, path: &str, mode: u32) -> io::Result<bool> {
        check(path)?;
        let made = self.beneath.on_name(path, |dir, name| {
            mkdirat(dir, name, bits(mode))?;
            Ok(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
        });
        let seen = match made {
            Err(Errno::EXIST) => return Ok(false),
            other => other.map_err(|error| fault(path, error))?,
        };
        if seen.is_ok_and(|stat| has_mode(&stat, mode)) {
            return Ok(true);
        }
        match self.set_mode(path, mode) {
            // Another process has removed it again because it was empty. It was made, and the next use by the caller fails.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            other => other.map(|()| true),
        }
    }

    fn remove_dir(&self, path: &str) -> io::Result<bool> {
        check(path)?;
        let removed = self.beneath.on_name(path, |dir, name| unlinkat(dir, name, AtFlags::REMOVEDIR));
        match removed {
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            other => other.map(|()| true).map_err(|error| fault(path, error)),
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<bool> {
        self.beneath.rename(from, to)
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<Published> {
        check(from)?;
        check(to)?;
        let renamed =
            self.beneath.on_names(from, to, |a, old, b, new| renameat_with(a, old, b, new, RenameFlags::NOREPLACE));
        match renamed {
            Ok(()) => Ok(Published::Done),
            Err(Errno::EXIST) => Ok(Published::Exists),
            // One of the two is missing. It cannot be the first one, since the caller made it.
            Err(Errno::NOENT) => match self.stat(from) {
                Ok(_) => Ok(Published::NoDirectory),
                Err(error) => Err(fault(from, error)),
            },
            Err(error) => Err(fault(to, error)),
        }
    }

    fn link(&self, from: &str, to: &str) -> io::Result<bool> {
        self.beneath.link(from, to)
    }

    fn unlink(&self, path: &str) -> io::Result<bool> {
        check(path)?;
        let removed = self.beneath.on_name(path, |dir, name| unlinkat(dir, name, AtFlags::empty()));
        match removed {
            Err(Errno::NOENT) => Ok(false),
            other => other.map(|()| true).map_err(|error| fault(path, error)),
        }
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        check_dir(path)?;
        let dir = self.beneath.open(path, LISTING, Mode::empty());
        let dir = dir.map_err(|error| fault(path, error))?;
        Ok(retry_on_intr(|| fsync(&dir))?)
    }

    fn sync_everything(&self) -> io::Result<()> {
        let root = self.beneath.root()?;
        Ok(retry_on_intr(|| syncfs(root))?)
    }

    fn set_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        check_dir(path)?;
        let fd = self.beneath.open(path, OFlags::PATH, Mode::empty());
        let fd = fd.map_err(|error| fault(path, error))?;
        match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
            FileType::RegularFile | FileType::Directory => change_mode(fd.as_fd(), mode),
            other => Err(refused(path, &format!("is a {}", noun(other)))),
        }
    }

    fn watch(&self, paths: &[&str]) -> io::Result<Box<dyn Watch>> {
        let mut places = Vec::with_capacity(paths.len());
        for path in paths {
            check_dir(path)?;
            match self.beneath.place(path) {
                Err(Errno::NOENT) => {}
                other => places.push(other.map_err(|error| fault(path, error))?),
            }
        }
        watch::start(&places)
    }

    fn watch_file(&self, path: &str) -> io::Result<Option<Box<dyn Watch>>> {
        let file = self.open(path, Open::ReadOnly)?.and_then(|handle| handle.share());
        file.map_or(Ok(None), |file| watch::start_file(&file))
    }

    fn make_pipe(&self, path: &str) -> io::Result<Option<Box<dyn Pipe>>> {
        check(path)?;
        Ok(pipe::make(&self.beneath, path)?.map(|pipe| -> Box<dyn Pipe> { Box::new(pipe) }))
    }

    fn is_pipe_alive(&self, path: &str) -> io::Result<bool> {
        check(path)?;
        Ok(pipe::living_end(&self.beneath, path)?.is_some())
    }

    fn call_pipe(&self, path: &str) -> io::Result<bool> {
        check(path)?;
        pipe::call(&self.beneath, path)
    }

    fn file_system(&self) -> io::Result<FileSystem> {
        fs_kind::file_system(self.beneath.root()?)
    }
}

/// The result of fstat(2), in the words of the trait.
#[allow(clippy::unnecessary_cast)] // The widths of these fields differ between architectures.
pub(super) fn meta_of(stat: &Stat) -> Meta {
    let at = |seconds: i64, nanos: i64| Timestamp(seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000));
    Meta {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode as u32 & 0o7777,
        uid: stat.st_uid,
        links: stat.st_nlink as u64,
        ident: (stat.st_dev as u64, stat.st_ino as u64),
        modified: at(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: at(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    }
}

fn kind_of(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Dir,
        _ => FileKind::Other,
    }
}

fn noun(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::Fifo => "FIFO",
        FileType::Symlink => "symbolic link",
        FileType::Socket => "socket",
        _ => "device",
    }
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o7777)
}

/// Compares the permission bits alone: a set-group-id bit that a directory inherits is its owner's arrangement.
fn has_mode(stat: &Stat, mode: u32) -> bool {
    meta_of(stat).mode & 0o777 == mode & 0o777
}

fn entries(dir: BorrowedFd<'_>) -> io::Result<Option<Vec<Entry>>> {
    // Not on the heap: to give so much back makes the C library tidy all of it up, each time. Each of its pages is touched.
    let mut buffer = [const { MaybeUninit::uninit() }; 8 * 1024];
    let mut reader = RawDir::new(dir, &mut buffer);
    let mut found = Vec::new();
    while let Some(next) = reader.next() {
        let entry = match next {
            Err(Errno::INTR) => continue,
            // The directory was removed while it was read.
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                other => FileType::from_raw_mode(other?.st_mode),
            },
            known => known,
        };
        found.push(Entry { name: name.to_string_lossy().into(), kind: kind_of(kind) });
    }
    Ok(Some(found))
}

fn open_directory(path: &Path, how: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::open(path, how | OFlags::CLOEXEC, Mode::empty()))
}

/// Makes a directory and those above it that are missing. A directory that another process makes meanwhile is left as it is.
fn make_directories(path: &Path) -> io::Result<()> {
    let make = || retry_on_intr(|| rustix::fs::mkdir(path, bits(0o700)));
    let made = match (make(), path.parent()) {
        (Err(Errno::NOENT), Some(above)) => {
            make_directories(above)?;
            make()
        }
        (other, _) => other,
    };
    match made {
        Err(Errno::EXIST) => return Ok(()),
        other => other?,
    }
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::open(path, how, Mode::empty()))?;
    change_mode(fd.as_fd(), 0o700)
}

/// Sets permission bits, if they differ. fchmod(2) refuses a descriptor that was not opened for reading, and to open one for
/// reading would need the very permission that is to be given. The link in /proc names the same inode for certain.
fn change_mode(fd: BorrowedFd<'_>, mode: u32) -> io::Result<()> {
    if has_mode(&fstat(fd)?, mode) {
        return Ok(());
    }
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    Ok(retry_on_intr(|| chmodat(CWD, link.as_str(), bits(mode), AtFlags::empty()))?)
}

//! Names below one directory that is held open. No component is ever followed through a symbolic link, and nothing
//! outside the directory is reached; what a file is or says is not looked at here.
//!
//! An open by path is one openat2(2). A change of a name opens its parent and then acts on the single last component.
//! Parents that live as long as the state directory are kept open, since one grant of a lane names them ten times.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The directories whose descriptors are kept.
const PERMANENT: [&str; 9] = [
    "locks",
    "locks/.guard",
    "spool",
    "spool/tmp",
    "spool/running",
    "spool/waiting",
    "spool/parked",
    "spool/done",
    "run",
];

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// For openat(2). With openat2(2) only to look at what may be a link: there O_NOFOLLOW takes a last component that is one out
/// of the reach of RESOLVE_NO_SYMLINKS, and a link in place of a directory would be called "not a directory".
const ONE_STEP: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

const AS_PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// How a path is walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// By openat2(2).
    Kernel,
    /// One component after the other, for kernels before 5.6 and sandboxes that forbid openat2(2).
    Steps,
}

/// A directory held open, and the descriptors kept below it.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
    way: Way,
    kept: Mutex<[Option<Arc<OwnedFd>>; PERMANENT.len()]>,
}

/// A directory to act in.
pub(super) enum Place<'a> {
    /// The root itself.
    Root(BorrowedFd<'a>),
    /// A permanent directory, by its index in the table.
    Kept(Arc<OwnedFd>, usize),
    /// Any other, open for this one operation.
    Own(OwnedFd),
}

impl AsFd for Place<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(fd) => *fd,
            Self::Kept(fd, _) => fd.as_fd(),
            Self::Own(fd) => fd.as_fd(),
        }
    }
}

/// Refuses a path that is not plainly relative: absolute, with `..`, `.` or an empty component, or with a NUL.
pub(super) fn check(path: &str) -> io::Result<()> {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.split('/').all(plain) && !path.contains('\0') {
        return Ok(());
    }
    Err(refused(path, "is not a plain relative path"))
}

/// As [`check`], but the root itself, written as nothing or `.`, is a path as well.
pub(super) fn check_dir(path: &str) -> io::Result<()> {
    if is_root(path) { Ok(()) } else { check(path) }
}

/// An error of kind `InvalidInput` about a path.
pub(super) fn refused(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} {what}"))
}

/// The error of an operation on a path: a symbolic link where none may be is a refusal, the rest is as the kernel says.
pub(super) fn fault(path: &str, error: Errno) -> io::Error {
    match error {
        Errno::LOOP => refused(path, "is a symbolic link, or passes through one"),
        other => other.into(),
    }
}

fn is_root(path: &str) -> bool {
    matches!(path, "" | ".")
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

impl Beneath {
    /// Holds a directory.
    pub(super) fn new(root: OwnedFd) -> Self {
        let way = match retry_on_intr(|| openat2(&root, ".", AS_PLACE, Mode::empty(), RESOLVE)) {
            Err(Errno::NOSYS | Errno::PERM) => Way::Steps,
            Ok(_) | Err(_) => Way::Kernel,
        };
        Self::by(root, way)
    }

    /// Holds a directory and walks below it in a given way.
    pub(super) fn by(root: OwnedFd, way: Way) -> Self {
        Self { root, way, kept: Mutex::default() }
    }

    /// Holds another directory, below which the way is the same.
    pub(super) fn beside(&self, root: OwnedFd) -> Self {
        Self::by(root, self.way)
    }

    /// The directory itself.
    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Opens a path, close-on-exec; a symbolic link anywhere in it is ELOOP.
    pub(super) fn open(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        if is_root(path) {
            return retry_on_intr(|| openat(&self.root, ".", flags | ONE_STEP, mode));
        }
        let (parent, _) = split(path);
        let near = is_root(parent) || PERMANENT.contains(&parent);
        if self.way == Way::Kernel && !near {
            let flags = flags | OFlags::CLOEXEC;
            return retry_on_intr(|| openat2(&self.root, path, flags, mode, RESOLVE));
        }
        self.on_name(path, |dir, name| {
            openat(dir, name, flags | ONE_STEP, mode).map_err(|error| link_or(error, dir, name))
        })
    }

    /// Looks at a path, not through a last component that is a symbolic link.
    pub(super) fn stat(&self, path: &str) -> Result<Stat, Errno> {
        let (parent, _) = split(path);
        if self.way == Way::Kernel && !PERMANENT.contains(&parent) && !is_root(parent) {
            // Of a name that does not exist this is one call; O_PATH with O_NOFOLLOW opens a link itself.
            let flags = OFlags::PATH | ONE_STEP;
            return fstat(retry_on_intr(|| openat2(&self.root, path, flags, Mode::empty(), RESOLVE))?);
        }
        self.on_name(path, |dir, name| statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Opens a directory as a place to act in; nothing or `.` is the root.
    pub(super) fn place(&self, path: &str) -> Result<Place<'_>, Errno> {
        if is_root(path) {
            return Ok(Place::Root(self.root()));
        }
        let Some(index) = PERMANENT.iter().position(|known| *known == path) else {
            return Ok(Place::Own(self.open_place(path)?));
        };
        if let Some(fd) = &self.kept()[index] {
            return Ok(Place::Kept(Arc::clone(fd), index));
        }
        let fd = Arc::new(self.open_place(path)?);
        self.kept()[index] = Some(Arc::clone(&fd));
        Ok(Place::Kept(fd, index))
    }

    /// Acts on the last component of a path, in its parent. A kept parent that was removed meanwhile is opened anew, once.
    pub(super) fn on_name<T>(
        &self,
        path: &str,
        act: impl Fn(BorrowedFd<'_>, &str) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let (parent, name) = split(path);
        let dir = self.place(parent)?;
        match retry_on_intr(|| act(dir.as_fd(), name)) {
            Err(Errno::NOENT) if self.forget_if_removed(&dir) => {
                let dir = self.place(parent)?;
                retry_on_intr(|| act(dir.as_fd(), name))
            }
            other => other,
        }
    }

    /// As [`Self::on_name`], for two paths.
    pub(super) fn on_names<T>(
        &self,
        from: &str,
        to: &str,
        act: impl Fn(BorrowedFd<'_>, &str, BorrowedFd<'_>, &str) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let ((from_parent, _), (to_parent, to_name)) = (split(from), split(to));
        self.on_name(from, |from_dir, from_name| {
            if from_parent == to_parent {
                return act(from_dir, from_name, from_dir, to_name);
            }
            let to_dir = self.place(to_parent)?;
            let done = retry_on_intr(|| act(from_dir, from_name, to_dir.as_fd(), to_name));
            match done {
                Err(Errno::NOENT) if self.forget_if_removed(&to_dir) => {
                    let to_dir = self.place(to_parent)?;
                    act(from_dir, from_name, to_dir.as_fd(), to_name)
                }
                other => other,
            }
        })
    }

    fn open_place(&self, path: &str) -> Result<OwnedFd, Errno> {
        if self.way == Way::Kernel {
            let flags = AS_PLACE | OFlags::CLOEXEC;
            return retry_on_intr(|| openat2(&self.root, path, flags, Mode::empty(), RESOLVE));
        }
        let mut at = None;
        for name in path.split('/') {
            let dir = at.as_ref().map_or(self.root(), OwnedFd::as_fd);
            let next = retry_on_intr(|| openat(dir, name, AS_PLACE | ONE_STEP, Mode::empty()))
                .map_err(|error| link_or(error, dir, name))?;
            at = Some(next);
        }
        at.ok_or(Errno::NOENT)
    }

    /// A removed directory has no name left, so nothing can be in it ever again.
    fn forget_if_removed(&self, place: &Place<'_>) -> bool {
        let Place::Kept(fd, index) = place else {
            return false;
        };
        let removed = fstat(fd).is_ok_and(|stat| stat.st_nlink == 0);
        if removed {
            self.kept()[*index] = None;
        }
        removed
    }

    fn kept(&self) -> MutexGuard<'_, [Option<Arc<OwnedFd>>; PERMANENT.len()]> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// openat(2) with O_DIRECTORY calls a symbolic link "not a directory"; the callers want to know the difference.
fn link_or(error: Errno, dir: BorrowedFd<'_>, name: &str) -> Errno {
    if error != Errno::NOTDIR {
        return error;
    }
    let is_link = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    if is_link { Errno::LOOP } else { error }
}

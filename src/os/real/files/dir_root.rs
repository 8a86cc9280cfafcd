//! Names below one directory that is held open. No component is ever followed through a symbolic link, and nothing outside
//! the directory is reached. The kind and the content of a file are not looked at here.
//!
//! An open by path is one openat2(2). A change of a name opens its parent and then acts on the single last component.
//! Parents that live as long as the state directory are kept open, since one grant of a lane names them ten times.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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

/// Flags for openat(2). With openat2(2) they are used only to look at what may be a link. There O_NOFOLLOW takes a link as
/// last component out of the reach of RESOLVE_NO_SYMLINKS, and the error for a link in place of a directory would be "not a
/// directory".
const ONE_STEP: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

const AS_PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// The way to walk a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By openat2(2).
    Kernel,
    /// One component after the other, for kernels before 5.6 and sandboxes that forbid openat2(2).
    Steps,
}

/// A directory held open, and the descriptors kept below it.
#[derive(Debug)]
pub(crate) struct Beneath {
    /// `None` for a directory that does not exist: nothing is found below it, and nothing can be made there.
    root: Option<OwnedFd>,
    way: Way,
    kept: Mutex<[Option<Arc<OwnedFd>>; PERMANENT.len()]>,
}

/// A directory to act in.
pub(crate) enum Place<'a> {
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
pub(crate) fn check(path: &str) -> io::Result<()> {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.split('/').all(plain) && !path.contains('\0') {
        return Ok(());
    }
    Err(refused(path, "is not a plain relative path"))
}

/// Like [`check`], but also accepts the root itself, written as `.` or as an empty path.
pub(crate) fn check_dir(path: &str) -> io::Result<()> {
    if is_root(path) { Ok(()) } else { check(path) }
}

/// An error of kind `InvalidInput` about a path.
pub(crate) fn refused(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} {what}"))
}

/// The error of an operation on a path. A symbolic link in a wrong place is a refusal; other errors are those of the kernel.
pub(crate) fn fault(path: &str, error: Errno) -> io::Error {
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
    /// Holds a directory. The kernel and the sandbox of a process do not change, so the first directory decides the way.
    pub(crate) fn new(root: OwnedFd) -> Self {
        static WAY: OnceLock<Way> = OnceLock::new();
        let way = *WAY.get_or_init(|| match retry_on_intr(|| openat2(&root, ".", AS_PLACE, Mode::empty(), RESOLVE)) {
            Err(Errno::NOSYS | Errno::PERM) => Way::Steps,
            Ok(_) | Err(_) => Way::Kernel,
        });
        Self::by(root, way)
    }

    /// Holds a directory and walks below it in a given way.
    pub(crate) fn by(root: OwnedFd, way: Way) -> Self {
        Self { root: Some(root), way, kept: Mutex::default() }
    }

    /// Holds a directory that does not exist.
    pub(crate) fn absent() -> Self {
        Self { root: None, way: Way::Steps, kept: Mutex::default() }
    }

    /// Holds another directory, below which the way is the same.
    pub(crate) fn beside(&self, root: OwnedFd) -> Self {
        Self::by(root, self.way)
    }

    /// The directory itself; ENOENT where it does not exist.
    pub(crate) fn root(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.root.as_ref().map(OwnedFd::as_fd).ok_or(Errno::NOENT)
    }

    /// Opens a path, close-on-exec; a symbolic link anywhere in it is ELOOP.
    pub(crate) fn open(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        if is_root(path) {
            let root = self.root()?;
            return retry_on_intr(|| openat(root, ".", flags | ONE_STEP, mode));
        }
        let (parent, _) = split(path);
        let near = is_root(parent) || PERMANENT.contains(&parent);
        if self.way == Way::Kernel && !near {
            let (root, flags) = (self.root()?, flags | OFlags::CLOEXEC);
            return retry_on_intr(|| openat2(root, path, flags, mode, RESOLVE));
        }
        self.on_name(path, |dir, name| {
            openat(dir, name, flags | ONE_STEP, mode).map_err(|error| link_or(error, dir, name))
        })
    }

    /// Looks at a path, not through a last component that is a symbolic link.
    pub(crate) fn stat(&self, path: &str) -> Result<Stat, Errno> {
        let (parent, _) = split(path);
        if self.way == Way::Kernel && !PERMANENT.contains(&parent) && !is_root(parent) {
            // For a name that does not exist this is one call; O_PATH with O_NOFOLLOW opens a link itself.
            let (root, flags) = (self.root()?, OFlags::PATH | ONE_STEP);
            return fstat(retry_on_intr(|| openat2(root, path, flags, Mode::empty(), RESOLVE))?);
        }
        self.on_name(path, |dir, name| statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Opens a directory as a place to act in; nothing or `.` is the root.
    pub(crate) fn place(&self, path: &str) -> Result<Place<'_>, Errno> {
        if is_root(path) {
            return self.root().map(Place::Root);
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
    pub(crate) fn on_name<T>(
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
    pub(crate) fn on_names<T>(
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
            let (root, flags) = (self.root()?, AS_PLACE | OFlags::CLOEXEC);
            return retry_on_intr(|| openat2(root, path, flags, Mode::empty(), RESOLVE));
        }
        let (root, mut at) = (self.root()?, None);
        for name in path.split('/') {
            let dir = at.as_ref().map_or(root, OwnedFd::as_fd);
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

/// openat(2) with O_DIRECTORY calls a symbolic link "not a directory"; the callers need the difference.
fn link_or(error: Errno, dir: BorrowedFd<'_>, name: &str) -> Errno {
    if error != Errno::NOTDIR {
        return error;
    }
    let is_link = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    if is_link { Errno::LOOP } else { error }
}

#[cfg(test)]
#[path = "../../../../tests/os/trapped.rs"]
mod trapped;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::real::RealFiles;
    use crate::os::real::files::dir_root::trapped::trapped;
    use crate::os::{Open, Published, Vfs};
    use std::io::ErrorKind;
    use std::path::Path;

    const TRAPS: &str = "every trap can be laid";
    /// Of an answer that the trait promises.
    const NO_ERROR: &str = "an answer and no error";

    /// The root below a directory, in both ways of walking.
    fn both_ways(dir: &Path) -> [RealFiles; 2] {
        let root = dir.join("root");
        [Way::Kernel, Way::Steps].map(|way| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let fd = rustix::fs::open(&root, flags, Mode::empty()).expect("the root is there");
            RealFiles::by(root.to_str().expect("a name in UTF-8"), Beneath::by(fd, way))
        })
    }

    #[test]
    fn below_a_root_that_does_not_exist_nothing_is_found_and_nothing_can_be_made() {
        let files = RealFiles::absent("/nowhere");
        for path in ["a", "locks/a", "deep/er/a"] {
            assert!(files.meta(path).expect(NO_ERROR).is_none() && files.list(path).expect(NO_ERROR).is_none());
            assert!(files.open(path, Open::ReadOnly).expect(NO_ERROR).is_none());
            assert!(files.open(path, Open::Existing).expect(NO_ERROR).is_none());
            let gone = [files.unlink(path), files.remove_dir(path), files.rename(path, "b"), files.is_pipe_alive(path)];
            assert!(gone.into_iter().all(|answer| answer.is_ok_and(|is_there| !is_there)), "{path}");
            for how in [Open::CreateNew(0o600), Open::Truncate(0o600), Open::Append(0o600)] {
                assert_eq!(files.open(path, how).err().map(|error| error.kind()), Some(ErrorKind::NotFound), "{path}");
            }
            let refused = [
                files.make_dir(path, 0o700).map(drop),
                files.publish(path, "b").map(drop),
                files.set_mode(path, 0o600),
            ];
            assert!(refused.into_iter().all(|answer| answer.is_err_and(|error| error.kind() == ErrorKind::NotFound)));
        }
        assert!(files.meta("").expect(NO_ERROR).is_none() && files.list("").expect(NO_ERROR).is_none());
        assert!(files.sync_dir("").is_err() && files.sync_everything().is_err() && files.file_system().is_err());
        assert!(files.open_root("/", false).expect(NO_ERROR).is_none());
        assert_eq!(files.root(), "/nowhere");
    }

    #[test]
    fn nothing_but_a_regular_file_is_opened_and_nothing_blocks() {
        let dir = trapped().expect(TRAPS);
        for files in both_ways(dir.path()) {
            for place in ["", "locks/", "deep/"] {
                for name in ["link", "dangling", "fifo", "socket", "dir"] {
                    for how in [Open::Existing, Open::ReadOnly, Open::Truncate(0o600), Open::Append(0o600)] {
                        let path = format!("{place}{name}");
                        let refused = files.open(&path, how).err().map(|error| error.kind());
                        assert_eq!(refused, Some(ErrorKind::InvalidInput), "{path} {how:?}");
                    }
                }
            }
        }
        let secret = std::fs::read_to_string(dir.path().join("outside/secret")).expect("the secret is there");
        assert_eq!(secret, "secret");
        assert!(!dir.path().join("root/nowhere").exists());
    }

    #[test]
    fn no_operation_follows_a_symbolic_link_in_the_middle_of_a_path() {
        let dir = trapped().expect(TRAPS);
        for files in both_ways(dir.path()) {
            for way in ["way-out", "absolute"] {
                let secret = format!("{way}/secret");
                let new = format!("{way}/new");
                let kinds = [
                    files.open(&secret, Open::ReadOnly).err(),
                    files.open(&new, Open::CreateNew(0o600)).err(),
                    files.meta(&secret).err(),
                    files.list(way).err(),
                    files.make_dir(&new, 0o700).err(),
                    files.remove_dir(&secret).err(),
                    files.rename("file", &new).err(),
                    files.rename(&secret, "taken").err(),
                    files.publish("file", &new).err(),
                    files.unlink(&secret).err(),
                    files.sync_dir(way).err(),
                    files.set_mode(&secret, 0o777).err(),
                    files.watch(&[way]).err(),
                ];
                for (number, error) in kinds.into_iter().enumerate() {
                    let kind = error.map(|error| error.kind());
                    assert_eq!(kind, Some(ErrorKind::InvalidInput), "{way}, number {number}");
                }
            }
            assert_eq!(
                files.open("inner/file", Open::ReadOnly).err().map(|error| error.kind()),
                Some(ErrorKind::InvalidInput)
            );
        }
        let names = std::fs::read_dir(dir.path().join("outside")).expect("the outside is there").count();
        assert_eq!(names, 1);
    }

    #[test]
    fn a_path_that_could_lead_elsewhere_is_refused() {
        let dir = trapped().expect(TRAPS);
        for files in both_ways(dir.path()) {
            for path in [
                "..",
                "../outside/secret",
                "deep/../../outside/secret",
                "/etc/passwd",
                "deep//file",
                "./file",
                "deep/.",
                "deep/",
                "a\0b",
            ] {
                for error in [
                    files.open(path, Open::ReadOnly).err(),
                    files.meta(path).err(),
                    files.list(path).err(),
                    files.unlink(path).err(),
                    files.rename("file", path).err(),
                    files.rename(path, "file").err(),
                ] {
                    let kind = error.map(|error| error.kind());
                    assert_eq!(kind, Some(ErrorKind::InvalidInput), "{path:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_missing_is_an_answer_where_the_trait_says_so() {
        let dir = trapped().expect(TRAPS);
        for files in both_ways(dir.path()) {
            for gone in ["gone", "gone/deeper", "locks/gone", "run/gone"] {
                assert!(files.open(gone, Open::Existing).expect(NO_ERROR).is_none());
                assert!(files.open(gone, Open::ReadOnly).expect(NO_ERROR).is_none());
                assert_eq!(files.meta(gone).expect(NO_ERROR), None);
                assert_eq!(files.list(gone).expect(NO_ERROR), None);
                assert!(!files.unlink(gone).expect(NO_ERROR));
                assert!(!files.remove_dir(gone).expect(NO_ERROR));
                assert!(!files.rename(gone, "x").expect(NO_ERROR));
                assert!(files.sync_dir(gone).is_err());
            }
            assert!(!files.rename("file", "gone/x").expect(NO_ERROR));
            assert!(!files.remove_dir("deep").expect(NO_ERROR));
            for how in [Open::CreateNew(0o600), Open::Append(0o600), Open::Truncate(0o600)] {
                let kind = files.open("gone/x", how).err().map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::NotFound), "{how:?}");
            }
            assert!(files.open("file", Open::CreateNew(0o600)).expect(NO_ERROR).is_none());
            assert!(files.open("link", Open::CreateNew(0o600)).expect(NO_ERROR).is_none());
            assert!(!files.make_dir("dir", 0o700).expect(NO_ERROR));
        }
    }

    #[test]
    fn publishing_replaces_nothing_and_says_why_it_did_not() {
        let dir = trapped().expect(TRAPS);
        for files in both_ways(dir.path()) {
            std::fs::write(dir.path().join("root/new"), "new").expect("a file to publish");
            assert_eq!(files.publish("new", "locks/file").expect(NO_ERROR), Published::Exists);
            assert_eq!(files.publish("new", "locks/link").expect(NO_ERROR), Published::Exists);
            assert_eq!(files.publish("new", "spool/tmp/x").expect(NO_ERROR), Published::NoDirectory);
            assert_eq!(files.publish("new", "gone/x").expect(NO_ERROR), Published::NoDirectory);
            let kind = files.publish("gone", "x").err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::NotFound));
            assert_eq!(files.publish("new", "locks/x").expect(NO_ERROR), Published::Done);
            assert!(files.rename("locks/x", "locks/file").expect("what was published has its name"));
            let text = std::fs::read_to_string(dir.path().join("root/locks/file")).expect("the renamed file");
            assert_eq!(text, "new");
        }
    }

    #[test]
    fn a_permanent_directory_may_be_removed_and_made_again() {
        let dir = trapped().expect(TRAPS);
        let guard = dir.path().join("root/locks/.guard");
        let remove = || std::fs::remove_dir_all(&guard).expect("the directory can be removed");
        for files in both_ways(dir.path()) {
            let make = |name: &str| files.open(name, Open::CreateNew(0o600)).expect("the directory is found").is_some();
            assert!(make("locks/.guard/00"));
            remove();
            assert_eq!(files.meta("locks/.guard/00").expect(NO_ERROR), None);
            assert!(files.open("locks/.guard/00", Open::CreateNew(0o600)).is_err());
            assert_eq!(files.publish("file", "locks/.guard/00").expect(NO_ERROR), Published::NoDirectory);
            assert!(files.make_dir("locks/.guard", 0o700).expect("it is made again"));
            assert!(make("locks/.guard/00"));
            assert!(guard.join("00").exists());
            remove();
            std::fs::create_dir(&guard).expect("it is made again by somebody else");
            assert!(make("locks/.guard/01"));
        }
    }

    #[test]
    fn a_folder_that_others_remove_at_once_was_made_all_the_same() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(dir.path().join("root")).expect("a root");
        for files in both_ways(dir.path()) {
            let is_over = std::sync::atomic::AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        let _ = std::fs::remove_dir(dir.path().join("root/brief"));
                    }
                });
                let failed = (0..2000).find_map(|_| files.make_dir("brief", 0o700).err());
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
                assert!(failed.is_none(), "{failed:?}");
            });
            let _ = files.remove_dir("brief");
        }
    }
}

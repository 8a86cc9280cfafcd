//! What `doctor` asks about the state directory beside its records, and the small repairs it makes. Gives facts: whether
//! one is a problem, and what is repaired, is its caller's to say.

use crate::model::{TaskId, Timestamp};
use crate::os::{FileKind, FileSystem, Meta};
use crate::store::{Problem, Result, Spool, StoreError, layout};

/// How deep below a folder of the spool a record of luzia can stand.
const DEEPEST: u32 = 5;

/// What a file or folder is for, which decides the mode it should have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The state directory itself.
    Root,
    /// A folder only its owner may enter.
    PrivateFolder,
    /// `locks/.guard`: who can open a guard can keep every lane of it busy.
    GuardFolder,
    /// `locks`, which people may list.
    LockFolder,
    /// A lock or a sidecar, which people may read.
    Lock,
    /// A record, with a command and an environment in it.
    Record,
}

/// One file or folder with its mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moded {
    /// Where, below the state directory; `.` is the directory itself.
    pub path: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
}

impl Spool {
    /// The state directory itself; `None` when it does not exist.
    pub fn root_meta(&self) -> Result<Option<Meta>> {
        self.meta(".")
    }

    /// The file system below the state directory.
    pub fn file_system(&self) -> Result<FileSystem> {
        self.vfs.file_system().map_err(StoreError::io("look at the file system of", "."))
    }

    /// Whether names that differ in case only are one name there; asked of a folder that exists.
    pub fn folds_case(&self) -> Result<bool> {
        let (Some(own), Some(other)) = (self.meta(layout::LOCKS)?, self.meta(&layout::LOCKS.to_uppercase())?) else {
            return Ok(false);
        };
        Ok(own.ident == other.ident)
    }

    /// Every file and folder whose mode matters, with that mode. What lies in conductor directories is outward and
    /// has no part in this; links and the like are never followed.
    pub fn modes(&self) -> Result<Vec<Moded>> {
        let mut found = Vec::new();
        self.moded(".", Purpose::Root, &mut found)?;
        self.moded(layout::LOCKS, Purpose::LockFolder, &mut found)?;
        self.moded(layout::GUARDS, Purpose::GuardFolder, &mut found)?;
        for entry in self.list(layout::LOCKS)?.into_iter().filter(|entry| entry.kind == FileKind::File) {
            self.moded(&format!("{}/{}", layout::LOCKS, entry.name), Purpose::Lock, &mut found)?;
        }
        for file in [layout::FORMAT, layout::DISPATCHERS] {
            self.moded(file, Purpose::Record, &mut found)?;
        }
        for folder in [layout::GUARDS, layout::SPOOL, layout::RUN, layout::EVENTS] {
            self.modes_below(folder, DEEPEST, &mut found)?;
        }
        self.moded(layout::CONDUCTOR, Purpose::PrivateFolder, &mut found)?;
        Ok(found)
    }

    fn modes_below(&self, folder: &str, depth: u32, found: &mut Vec<Moded>) -> Result<()> {
        if folder != layout::GUARDS {
            self.moded(folder, Purpose::PrivateFolder, found)?;
        }
        for entry in self.list(folder)? {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                FileKind::File => self.moded(&path, Purpose::Record, found)?,
                FileKind::Dir if depth > 0 => self.modes_below(&path, depth - 1, found)?,
                FileKind::Dir | FileKind::Other => {}
            }
        }
        Ok(())
    }

    fn moded(&self, path: &str, purpose: Purpose, found: &mut Vec<Moded>) -> Result<()> {
        // Names come and go while we look.
        found.extend(self.meta(path)?.filter(|meta| meta.kind != FileKind::Other).map(|meta| Moded {
            path: path.to_owned(),
            purpose,
            mode: meta.mode & 0o7777,
            uid: meta.uid,
        }));
        Ok(())
    }

    /// Gives a file or folder a mode.
    pub fn set_mode(&self, path: &str, mode: u32) -> Result<()> {
        self.vfs.set_mode(path, mode).map_err(StoreError::io("change the mode of", path))
    }

    /// Whether a task is marked as one that waits for another.
    pub fn has_after_mark(&self, id: TaskId, dependency: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::after_mark(id, dependency))?.is_some())
    }

    /// Whether a task still stands outside the scan.
    pub fn is_parked(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::parked(id))?.is_some())
    }

    /// The counter of task ids, when it holds something that is not a whole line.
    pub fn damaged_sequence(&self) -> Result<Option<Problem>> {
        let path = layout::SEQUENCE;
        let Some(mut handle) = self.open(path, crate::os::Open::ReadOnly)? else { return Ok(None) };
        let is_damaged = crate::store::files::disk::counter::read(handle.as_mut(), path)?
            == crate::store::files::disk::counter::CounterFile::Damaged;
        let what = "it holds no whole line; the next id will lie past every record and past the clock".to_owned();
        Ok(is_damaged.then(|| Problem { path: path.to_owned(), what }))
    }

    /// This host's wall clock less what a record of this very boot makes it, in milliseconds: how far the wall clock was
    /// moved since. `None` for a record of another boot.
    pub fn clock_moved_ms(&self, at: Timestamp, boot_ms: u64, boot_id: &str) -> Option<i64> {
        let passed = self.host.clock.boot_ms().checked_sub(boot_ms).and_then(|ms| i64::try_from(ms).ok())?;
        (boot_id == self.host.clock.boot_id()).then(|| self.host.clock.now().ms_since(at) - passed)
    }
}

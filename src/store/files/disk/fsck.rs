//! Checks of `doctor` on the state directory beside its records, and the small repairs that it makes. Returns facts: the
//! caller decides which of them is a problem, and which is repaired.

use crate::model::{TaskId, Timestamp};
use crate::os::{FileKind, FileSystem, Meta};
use crate::store::{Problem, Result, Spool, StoreError, layout};

/// Greatest depth of a record below a folder of the spool.
const DEEPEST: u32 = 5;

/// The purpose of a file or folder, which decides its right mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The state directory itself.
    Root,
    /// A folder that only its owner may enter.
    PrivateFolder,
    /// `locks/.guard`: a process that can open a guard can keep every lane of it busy.
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
    /// Path below the state directory; `.` is the directory itself.
    pub path: String,
    /// The purpose of the file.
    pub purpose: Purpose,
    /// The permission bits of the file.
    pub mode: u32,
    /// The owner of the file.
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

    /// Whether names that differ in case only are one name there; the check needs an existing folder.
    pub fn folds_case(&self) -> Result<bool> {
        let (Some(own), Some(other)) = (self.meta(layout::LOCKS)?, self.meta(&layout::LOCKS.to_uppercase())?) else {
            return Ok(false);
        };
        Ok(own.ident == other.ident)
    }

    /// Every file and folder whose mode matters, with that mode. Conductor directories are outward and are left out; links
    /// and special files are never followed.
    pub fn modes(&self) -> Result<Vec<Moded>> {
        let mut found = Vec::new();
        self.moded(".", Purpose::Root, &mut found)?;
        self.moded(layout::LOCKS, Purpose::LockFolder, &mut found)?;
        self.moded(layout::GUARDS, Purpose::GuardFolder, &mut found)?;
        for entry in self.list(layout::LOCKS)?.into_iter().filter(|entry| entry.kind == FileKind::File) {
            self.moded(&format!("{}/{}", layout::LOCKS, entry.name), Purpose::Lock, &mut found)?;
        }
        for file in [layout::FORMAT, layout::DISPATCHERS, layout::LEASE, layout::LEASE_LOCK] {
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
        // Names come and go during the look.
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

    /// Whether a task is still outside the scan.
    pub fn is_parked(&self, id: TaskId) -> Result<bool> {
        Ok(self.meta(&layout::parked(id))?.is_some())
    }

    /// The damage of the counter of task ids, when its file is not a whole line.
    pub fn damaged_sequence(&self) -> Result<Option<Problem>> {
        let path = layout::SEQUENCE;
        let Some(mut handle) = self.open(path, crate::os::Open::ReadOnly)? else { return Ok(None) };
        let is_damaged = crate::store::files::disk::counter::read(handle.as_mut(), path)?
            == crate::store::files::disk::counter::CounterFile::Damaged;
        let what = "it holds no whole line; the next id will lie past every record and past the clock".to_owned();
        Ok(is_damaged.then(|| Problem { path: path.to_owned(), what }))
    }

    /// The distance by which the wall clock was moved since a record of this boot, in milliseconds: the wall clock less the
    /// time that the record gives. `None` for a record of another boot.
    pub fn clock_moved_ms(&self, at: Timestamp, boot_ms: u64, boot_id: &str) -> Option<i64> {
        let passed = self.host.clock.boot_ms().checked_sub(boot_ms).and_then(|ms| i64::try_from(ms).ok())?;
        (boot_id == self.host.clock.boot_id()).then(|| self.host.clock.now().ms_since(at) - passed)
    }
}

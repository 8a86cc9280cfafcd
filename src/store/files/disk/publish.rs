//! Small file operations with the action and the path in every error. A record appears complete and synced under its name, or
//! not at all.

use crate::model::TaskId;
use crate::os::{Entry, FileKind, Handle, Host, Meta, Open, Published, Vfs};
use crate::store::files::disk::stamp::KnownStamp;
use crate::store::{MAX_RECORD_BYTES, Result, StoreError, file_name, layout};
use std::io::ErrorKind;
use std::sync::Arc;

/// Number of folders that are listed before the first of them is looked at.
const LISTED_AT_ONCE: usize = 512;

/// Result of giving a record its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Publication {
    /// Another file has that name already.
    Taken,
    /// The record has its name.
    Placed {
        /// The first of the folders that was made on the way: its own name and those below must be made durable too.
        first_made: Option<usize>,
    },
}

impl Publication {
    /// The first of the folders that was made, for a name that had to be free.
    pub(crate) fn first_made(self, path: &str) -> Result<Option<usize>> {
        match self {
            Self::Placed { first_made } => Ok(first_made),
            Self::Taken => Err(StoreError::io("publish", path)(crate::os::taken())),
        }
    }
}

/// The files below the state directory, and the host that has them.
#[derive(Clone)]
pub struct Disk {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) host: Host,
    pub(crate) stamp: KnownStamp,
}

impl Disk {
    /// The files of a host.
    pub(crate) fn of(host: &Host) -> Self {
        Self { vfs: Arc::clone(&host.files), host: host.clone(), stamp: KnownStamp::default() }
    }

    /// The path of the state directory.
    pub(crate) fn state_dir(&self) -> &str {
        self.vfs.root()
    }

    pub(crate) fn open(&self, path: &str, how: Open) -> Result<Option<Box<dyn Handle>>> {
        self.vfs.open(path, how).map_err(StoreError::io("open", path))
    }

    /// Makes a file; `None` when the name is taken.
    pub(crate) fn create(&self, path: &str, mode: u32) -> Result<Option<Box<dyn Handle>>> {
        self.vfs.open(path, Open::CreateNew(mode)).map_err(StoreError::io("create", path))
    }

    /// Opens a file for locking or overwriting. Makes it private to this account if it does not exist.
    pub(crate) fn open_or_make(&self, path: &str) -> Result<Box<dyn Handle>> {
        loop {
            for how in [Open::Existing, Open::CreateNew(0o600)] {
                if let Some(handle) = self.open(path, how)? {
                    return Ok(handle);
                }
            }
        }
    }

    /// Reads a record whole. A FIFO, a link, a folder or an endless file is a corrupt record.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>> {
        self.read_within(path, MAX_RECORD_BYTES)
    }

    /// Like `read`, with a limit for this file, in bytes.
    pub(crate) fn read_within(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let no_record = |action: &'static str| {
            move |source: std::io::Error| match source.kind() {
                ErrorKind::InvalidInput | ErrorKind::FileTooLarge => StoreError::corrupt(path, source.to_string()),
                _ => StoreError::io(action, path)(source),
            }
        };
        match self.vfs.open(path, Open::ReadOnly).map_err(no_record("open"))? {
            None => Ok(None),
            Some(mut handle) => handle.read_all(limit).map(Some).map_err(no_record("read")),
        }
    }

    pub(crate) fn meta(&self, path: &str) -> Result<Option<Meta>> {
        looked(path, self.vfs.meta(path))
    }

    /// The first of many paths that exists.
    pub(crate) fn first_there<'a>(&self, paths: &'a [String]) -> Result<Option<&'a str>> {
        for (path, found) in paths.iter().zip(self.vfs.meta_many(paths)) {
            if looked(path, found)?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Entries of a folder. A foreign file in the place of one of luzia's inner folders counts as empty; the outer folders
    /// must be folders.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<Entry>> {
        listed(path, self.vfs.list(path))
    }

    /// Like `list`, for many folders, in order, until `sink` ends it; some of them are listed at once.
    pub(crate) fn list_each(&self, paths: &[String], sink: &mut dyn FnMut(usize, Vec<Entry>) -> bool) -> Result<()> {
        for (part, some) in paths.chunks(LISTED_AT_ONCE).enumerate() {
            for (at, found) in self.vfs.list_many(some).into_iter().enumerate() {
                if !sink(part * LISTED_AT_ONCE + at, listed(&some[at], found)?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The names of the folders in a folder. Other entries are not luzia's, and are left out.
    pub(crate) fn folders(&self, path: &str) -> Result<Vec<String>> {
        let is_folder = |entry: &Entry| entry.kind == FileKind::Dir;
        Ok(self.list(path)?.into_iter().filter(is_folder).map(|entry| entry.name.into()).collect())
    }

    /// Like `folders`, for a folder that holds only folders and mostly none. A folder has two names and one more for each
    /// folder in it, or always one if the file system does not count. So one `stat` shows that it holds no folder.
    pub(crate) fn folders_if_any(&self, path: &str) -> Result<Vec<String>> {
        if self.has_folders(path)? { self.folders(path) } else { Ok(Vec::new()) }
    }

    /// Whether a folder that holds only folders holds any, by one `stat` where the file system counts them.
    pub(crate) fn has_folders(&self, path: &str) -> Result<bool> {
        match self.meta(path)? {
            Some(meta) if meta.kind == FileKind::Dir && meta.links >= 2 => Ok(meta.links > 2),
            Some(_) => Ok(!self.folders(path)?.is_empty()),
            None => Ok(false),
        }
    }

    /// The folders in a folder whose names are numbers, in their order.
    pub(crate) fn numbered_folders(&self, path: &str) -> Result<Vec<u64>> {
        Ok(numbered(&self.list(path)?))
    }

    /// The tasks in a folder whose entries are bare task numbers.
    pub(crate) fn tasks_in(&self, path: &str) -> Result<Vec<TaskId>> {
        Ok(self.list(path)?.iter().filter_map(|entry| file_name::task(&entry.name)).collect())
    }

    /// The numbers of the task records in a folder, by their names. A name of that form counts as a record, even if the entry
    /// is something else; any other name is not luzia's, and is left out.
    pub(crate) fn records(&self, path: &str) -> Result<Vec<TaskId>> {
        Ok(records_in(&self.list(path)?).collect())
    }

    pub(crate) fn unlink(&self, path: &str) -> Result<bool> {
        match self.vfs.unlink(path) {
            Err(error) if is_foreign_above(path, &error) => Ok(false),
            other => other.map_err(StoreError::io("remove", path)),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<bool> {
        self.vfs.rename(from, to).map_err(StoreError::io("rename", from))
    }

    pub(crate) fn sync_dir(&self, path: &str) -> Result<()> {
        self.vfs.sync_dir(path).map_err(StoreError::io("sync", path))
    }

    /// Syncs a folder that a process that finds it empty removes. False if that has happened.
    pub(crate) fn sync_if_there(&self, path: &str) -> Result<bool> {
        match self.vfs.sync_dir(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            other => other.map(|()| true).map_err(StoreError::io("sync", path)),
        }
    }

    /// Makes the removal of a name durable: syncs the lowest folder above it that is left.
    pub(crate) fn sync_removal(&self, path: &str) -> Result<()> {
        for folder in layout::folders_above(path) {
            if self.sync_if_there(folder)? {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn make_dir(&self, path: &str) -> Result<bool> {
        self.vfs.make_dir(path, 0o700).map_err(StoreError::io("make the folder", path))
    }

    pub(crate) fn remove_dir(&self, path: &str) -> Result<bool> {
        match self.vfs.remove_dir(path) {
            Err(error) if error.kind() == ErrorKind::NotADirectory && !layout::is_outer(path) => Ok(false),
            other => other.map_err(StoreError::io("remove the folder", path)),
        }
    }

    /// Writes a file at once, without syncing it. A file left half-written is removed again if possible.
    pub(crate) fn write_whole(&self, path: &str, how: Open, bytes: &[u8]) -> Result<Box<dyn Handle>> {
        let missing = || StoreError::io("create", path)(crate::os::taken());
        let mut handle = self.open(path, how)?.ok_or_else(missing)?;
        if let Err(error) = handle.write_all(bytes) {
            let _ = self.vfs.unlink(path);
            return Err(StoreError::io("write", path)(error));
        }
        Ok(handle)
    }

    /// Writes a record durably under a temporary name that no other process uses now.
    pub(crate) fn stage(&self, tmp: &str, bytes: &[u8]) -> Result<()> {
        let mut handle = self.write_whole(tmp, Open::Truncate(0o600), bytes)?;
        if let Err(error) = handle.sync_data() {
            let _ = self.vfs.unlink(tmp);
            return Err(StoreError::io("sync", tmp)(error));
        }
        Ok(())
    }

    /// Gives a staged record its name without replacing anything. Makes the folders above it again as long as other processes
    /// remove them while they are empty. Syncs nothing.
    pub(crate) fn publish(&self, tmp: &str, to: &str, folders: &[String]) -> Result<Publication> {
        self.publish_after(tmp, to, folders, None)
    }

    /// Like `publish`, when a look has just shown that the last folder is missing, and mostly no other.
    pub(crate) fn publish_in_new(&self, tmp: &str, to: &str, folders: &[String]) -> Result<Publication> {
        let last = folders.len().saturating_sub(1);
        let first_made = match folders.last().map(|folder| self.vfs.make_dir(folder, 0o700)) {
            Some(Ok(made)) => made.then_some(last),
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => self.make_folders_above(folders)?,
            // Nothing was made; the attempt to publish then reports the fault.
            Some(Err(_)) | None => None,
        };
        self.publish_after(tmp, to, folders, first_made)
    }

    fn publish_after(
        &self,
        tmp: &str,
        to: &str,
        folders: &[String],
        mut first_made: Option<usize>,
    ) -> Result<Publication> {
        loop {
            match self.vfs.publish(tmp, to).map_err(StoreError::io("publish", to))? {
                Published::Done => return Ok(Publication::Placed { first_made }),
                Published::Exists => return Ok(Publication::Taken),
                Published::NoDirectory => {
                    let made = self.make_folders_above(folders)?;
                    first_made = [first_made, made].into_iter().flatten().min();
                }
            }
        }
    }

    /// Makes the missing folders above a record, and returns the first one that was made. Other processes remove empty
    /// folders at any time, so a parent may be gone again: the caller starts over.
    fn make_folders_above(&self, folders: &[String]) -> Result<Option<usize>> {
        let mut first_made = None;
        for (at, folder) in folders.iter().enumerate() {
            match self.vfs.make_dir(folder, 0o700) {
                Ok(made) => first_made = first_made.or(made.then_some(at)),
                Err(error) if error.kind() == ErrorKind::NotFound && at > 0 => break,
                Err(error) => return Err(StoreError::io("make the folder", folder)(error)),
            }
        }
        Ok(first_made)
    }

    /// Whether an open file is the one of its name, and has no other name. A file with a second name is first replaced by a
    /// copy of its own, durably, because a write would appear under every name. After `false` the caller opens the name again.
    pub(crate) fn is_alone(&self, handle: &mut dyn Handle, path: &str) -> Result<bool> {
        let mine = handle.meta().map_err(StoreError::io("look at", path))?;
        if self.meta(path)?.is_none_or(|named| named.ident != mine.ident) {
            return Ok(false);
        }
        if mine.links > 1 {
            let most = usize::try_from(MAX_RECORD_BYTES).unwrap_or(usize::MAX);
            let bytes = handle.read_part(0, most).map_err(StoreError::io("read", path))?;
            let tmp = format!("{}/own.{}", layout::TMP, self.host.me.pid);
            self.put_durably(&tmp, path, &bytes)?;
        }
        Ok(mine.links == 1)
    }

    /// Replaces a file by a new one with synced content. The name is not synced.
    pub(crate) fn put(&self, tmp: &str, to: &str, bytes: &[u8]) -> Result<()> {
        self.stage(tmp, bytes)?;
        self.replace_by(tmp, to)
    }

    /// Replaces a file durably. Commit point: the sync of its folder.
    pub(crate) fn put_durably(&self, tmp: &str, to: &str, bytes: &[u8]) -> Result<()> {
        self.put(tmp, to, bytes)?;
        self.sync_dir(to.rsplit_once('/').map_or(".", |(folder, _)| folder))
    }

    /// Replaces a file by a complete new one. Nothing is synced.
    pub(crate) fn replace(&self, tmp: &str, to: &str, bytes: &[u8]) -> Result<()> {
        drop(self.write_whole(tmp, Open::Truncate(0o600), bytes)?);
        self.replace_by(tmp, to)
    }

    /// Replaces a file by another file, which must exist under its own name.
    pub(crate) fn replace_by(&self, tmp: &str, to: &str) -> Result<()> {
        if self.rename(tmp, to)? { Ok(()) } else { Err(StoreError::io("rename", tmp)(crate::os::absent())) }
    }
}

fn looked(path: &str, found: std::io::Result<Option<Meta>>) -> Result<Option<Meta>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotADirectory || is_foreign_above(path, &error) => Ok(None),
        other => other.map_err(StoreError::io("look at", path)),
    }
}

/// Whether an error means that a foreign file, or a symbolic link, is in the place of one of luzia's inner folders: nothing
/// beneath it is luzia's.
fn is_foreign_above(path: &str, error: &std::io::Error) -> bool {
    let is_inner = || path.rsplit_once('/').is_some_and(|(folder, _)| !layout::is_outer(folder));
    matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::InvalidInput) && is_inner()
}

fn listed(path: &str, found: std::io::Result<Option<Vec<Entry>>>) -> Result<Vec<Entry>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotADirectory && !layout::is_outer(path) => Ok(Vec::new()),
        other => Ok(other.map_err(StoreError::io("list", path))?.unwrap_or_default()),
    }
}

/// The folders among entries whose names are numbers, in their order.
pub(crate) fn numbered(entries: &[Entry]) -> Vec<u64> {
    let folders = entries.iter().filter(|entry| entry.kind == FileKind::Dir);
    let mut numbers: Vec<u64> = folders.filter_map(|entry| file_name::number(&entry.name)).collect();
    numbers.sort_unstable();
    numbers
}

/// The task records among entries.
pub(crate) fn records_in(entries: &[Entry]) -> impl Iterator<Item = TaskId> {
    entries.iter().filter_map(|entry| layout::id_in(&entry.name))
}

/// A count as the answers report it.
pub(crate) fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Writes and syncs an open file; false when it has no name any more.
pub(crate) fn write_durably(mut file: Box<dyn Handle>, bytes: &[u8]) -> std::io::Result<bool> {
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(file.meta()?.links > 0)
}

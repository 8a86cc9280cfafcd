//! What can go wrong on disk. An answer that is to be expected, such as a held lock, is a value and not an error.

use crate::model::{LaneName, TaskId};
use std::{fmt, io};

/// What an error is about, as the store names it: the path of a file, or what stands in its place in another store. Above the store
/// the name is shown, and never read or taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thing {
    name: String,
    remembered_by: Option<TaskId>,
}

impl Thing {
    /// The path, for the store of files.
    pub(super) fn path(&self) -> &str {
        &self.name
    }

    /// The task that remembers it between its starts.
    pub(crate) fn remembered_by(&self) -> Option<TaskId> {
        self.remembered_by
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<T: Into<String>> From<T> for Thing {
    fn from(name: T) -> Self {
        Self { name: name.into(), remembered_by: None }
    }
}

/// A failure of the store. The old state is intact.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} \"{thing}\": {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        thing: Thing,
        /// What the operating system said.
        source: io::Error,
    },
    /// A record does not read whole.
    #[error("\"{thing}\" is not a whole record: {why}")]
    Corrupt {
        /// Which one.
        thing: Thing,
        /// What is wrong with it.
        why: String,
    },
    /// A record of a newer version.
    #[error("\"{thing}\" was written by a newer luzia (format {version})")]
    Newer {
        /// Which one.
        thing: Thing,
        /// The version it carries.
        version: u64,
    },
    /// Another process stays in the guard of a lane.
    #[error("the guard of lane \"{lane}\" is busy")]
    GuardBusy {
        /// The lane.
        lane: LaneName,
        /// The process in the guard, when it can be told.
        holder: Option<u32>,
    },
    /// Another process keeps a file locked that is locked only for an instant.
    #[error("\"{thing}\" is locked by {}", holder.map_or("another process".to_owned(), |pid| format!("process {pid}")))]
    FileBusy {
        /// What is locked.
        thing: Thing,
        /// The process that holds the lock, when it can be told.
        holder: Option<u32>,
    },
    /// A change stands under its name, and was not made durable for sure.
    #[error("the change stands, although: {0}")]
    Unsure(Box<StoreError>),
    /// The state directory is not one that luzia may use.
    #[error("the state directory \"{thing}\" {why}")]
    Unsafe {
        /// The directory.
        thing: Thing,
        /// What is wrong with it.
        why: String,
    },
    /// The state directory holds files of somebody else, and luzia has never used it.
    #[error("\"{thing}\" is no state directory: it holds \"{}\", and no file \"format\"", name.escape_debug())]
    Foreign {
        /// The directory.
        thing: Thing,
        /// One of the files.
        name: String,
    },
    /// The state directory does not exist, and this verb does not make one.
    #[error("the state directory \"{thing}\" does not exist")]
    Absent {
        /// The directory.
        thing: Thing,
    },
    /// A record would be larger than what is read back.
    #[error("the task is too large: {bytes} bytes, and {limit} are the most", limit = super::MAX_RECORD_BYTES)]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &str) -> impl FnOnce(io::Error) -> Self {
        let thing = Thing::from(path);
        move |source| Self::Io { action, thing, source }
    }

    /// Says that a change stands all the same.
    pub(super) fn unsure(self) -> Self {
        Self::Unsure(Box::new(self))
    }

    /// Whether the host is short of something, as space or processes, so that another try may succeed.
    pub fn is_shortage(&self) -> bool {
        matches!(self, Self::Io { source, .. } if crate::os::is_shortage(source))
    }

    /// Whether a file may not be written: its file system is read-only, or a sandbox forbids it.
    pub(super) fn is_denied(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem))
    }

    /// Whether a file system has no space left.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }

    /// Says of damage that it is in what a task remembers.
    pub(super) fn in_memory_of(self, id: TaskId) -> Self {
        match self {
            Self::Corrupt { thing, why } => Self::Corrupt { thing: Thing { remembered_by: Some(id), ..thing }, why },
            other => other,
        }
    }

    pub(crate) fn corrupt(path: &str, why: impl Into<String>) -> Self {
        Self::Corrupt { thing: path.into(), why: why.into() }
    }
}

/// The result of a store verb.
pub type Result<T> = std::result::Result<T, StoreError>;

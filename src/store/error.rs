//! Failures on disk. An answer that is to be expected, such as a held lock, is a value and not an error.

use crate::model::{LaneName, TaskId};
use std::{fmt, io};

/// The subject of an error, as the store names it: the path of a file, or its counterpart in another store. Above the store the
/// name is shown, and never parsed.
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

    /// The task that keeps the thing between its starts.
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
        /// The action that failed.
        action: &'static str,
        /// The file or folder of the action.
        thing: Thing,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A record is damaged.
    #[error("\"{thing}\" is not a whole record: {why}")]
    Corrupt {
        /// The record.
        thing: Thing,
        /// The fault.
        why: String,
    },
    /// A record of a newer version.
    #[error("\"{thing}\" was written by a newer luzia (format {version})")]
    Newer {
        /// The record.
        thing: Thing,
        /// The version of the record.
        version: u64,
    },
    /// Another process stays in the guard of a lane.
    #[error("the guard of lane \"{lane}\" is busy")]
    GuardBusy {
        /// The lane.
        lane: LaneName,
        /// The process in the guard, if it is known.
        holder: Option<u32>,
    },
    /// Another process holds the lock of a file that is only ever locked for an instant.
    #[error("\"{thing}\" is locked by {}", holder.map_or("another process".to_owned(), |pid| format!("process {pid}")))]
    FileBusy {
        /// The file.
        thing: Thing,
        /// The process that holds the lock, when it is known.
        holder: Option<u32>,
    },
    /// A change was made under its name, and its durability is not certain.
    #[error("the change stands, but may not survive a power cut: {0}")]
    Unsure(Box<StoreError>),
    /// The state directory is not one that luzia may use.
    #[error("the state directory \"{thing}\" {why}")]
    Unsafe {
        /// The directory.
        thing: Thing,
        /// The fault.
        why: String,
    },
    /// The state directory holds foreign files, and luzia has never used it.
    #[error("\"{thing}\" is not a state directory: it holds \"{}\", and no file \"format\"", name.escape_debug())]
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
    /// A record would be larger than the limit for reading it back.
    #[error("the task is too large: {bytes} bytes, and {limit} are the most", limit = super::MAX_RECORD_BYTES)]
    TooLarge {
        /// The size of the record.
        bytes: usize,
    },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &str) -> impl FnOnce(io::Error) -> Self {
        let thing = Thing::from(path);
        move |source| Self::Io { action, thing, source }
    }

    /// Adds that the change was made all the same.
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

    /// Adds to a damage error that the damage is in the memory of a task.
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

//! Files of the user outside the state directory: settings of agents, and the files beside them. Paths are absolute and may
//! be symbolic links. A link stays, and its target changes.

use std::io;

/// The files of the user, by absolute paths.
pub trait UserFiles {
    /// The bytes of a regular file; `None` if it does not exist. A file longer than `cap` is an error of kind `FileTooLarge`;
    /// anything but a regular file is an error of kind `InvalidInput`.
    fn read(&self, path: &str, cap: u64) -> io::Result<Option<Vec<u8>>>;
    /// Replaces a file in one step, or makes it and its folders. Its permissions stay. `was` is the content that the caller
    /// read before. If the file holds something else by now, nothing changes, and the error is of kind `ResourceBusy`.
    fn replace(&self, path: &str, was: Option<&[u8]>, bytes: &[u8]) -> io::Result<()>;
    /// Copies a file with its permissions, in one step; replaces an older copy.
    fn copy(&self, path: &str, copy: &str) -> io::Result<()>;
    /// Removes the file that a path leads to. If the file does not hold `was`, nothing changes, and the error is of kind
    /// `ResourceBusy`.
    fn remove(&self, path: &str, was: &[u8]) -> io::Result<()>;
    /// Removes a folder if it exists and is empty.
    fn remove_empty_folder(&self, path: &str) -> io::Result<()>;
    /// Appends to a file, or makes it.
    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()>;
}

//! Files of the user outside the state directory, and links on PATH.
//!
//! `UserFiles` is the trait for settings of agents, and the files beside them. Paths are absolute and may be symbolic links. A
//! link stays, and its target changes. `Shims` is the trait for the links by which luzia comes before another program on PATH.

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

/// A program that a name on PATH leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnPath {
    /// The file.
    pub path: String,
    /// Whether the program is luzia itself.
    pub is_own: bool,
}

/// The folder of the links, and PATH.
pub trait Shims {
    /// The programs of a name, in the order of PATH.
    fn on_path(&self, name: &str) -> Vec<OnPath>;
    /// Whether a folder is on PATH.
    fn has_on_path(&self, dir: &str) -> bool;
    /// The names of the links to luzia in a folder; none where there is no folder.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Whether a name exists in a folder.
    fn exists(&self, dir: &str, name: &str) -> bool;
    /// Whether a name in a folder is a link to luzia: to this program, or to a file of its name.
    fn is_own(&self, dir: &str, name: &str) -> bool;
    /// Makes the folder and a link to luzia in it. A link to luzia of that name is replaced in one step.
    fn link(&self, dir: &str, name: &str) -> io::Result<()>;
    /// Removes a link or the file of a folder, and then the folder and the one above it as far as they are empty.
    fn unlink(&self, dir: &str, name: &str) -> io::Result<()>;
    /// The text of a file of a folder; `None` if it does not exist.
    fn read(&self, dir: &str, name: &str) -> io::Result<Option<String>>;
    /// Replaces a file of a folder in one step.
    fn write(&self, dir: &str, name: &str, text: &str) -> io::Result<()>;
}

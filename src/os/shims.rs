//! Links by which luzia comes before another program on PATH.

use std::io;

/// A program that a name on PATH leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnPath {
    /// The file.
    pub path: String,
    /// Whether it is luzia itself.
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

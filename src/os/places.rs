//! Places outside the state directory: only looked at. Unlike those of [`super::Vfs`], these paths may be symbolic links.

use crate::os::StartError;
use std::io;

/// The file or directory at a path, symbolic links followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Whether the path is a directory.
    pub is_dir: bool,
    /// Device and inode.
    pub ident: (u64, u64),
}

/// Looks at places by absolute paths.
pub trait Places: Send + Sync {
    /// Looks at a path; `None` when there is nothing.
    fn look(&self, path: &str) -> io::Result<Option<Place>>;
    /// The path without symbolic links, `.` and `..`.
    fn canonical(&self, path: &str) -> io::Result<String>;
    /// The text of a regular file of at most 1 MiB; `None` if it does not exist.
    fn read(&self, path: &str) -> io::Result<Option<String>>;
    /// A digest of the content of a git work tree, in hex digits: the tree of `HEAD`, what differs from it, and the files
    /// that git neither knows nor ignores. Runs git(1), which changes nothing. Errors: `NotFound` without git, `InvalidData`
    /// with the reason where git cannot answer, `TimedOut` after a minute.
    fn tree_digest(&self, top: &str) -> io::Result<String>;
    /// Whether a working directory can be entered, and a program can be started in it with an environment. It only looks; it
    /// starts nothing.
    fn check_program(&self, program: &str, env: &[(Vec<u8>, Vec<u8>)], cwd: &str) -> Result<(), StartError>;
}

/// No place at all, for use cases without surroundings.
pub struct NoPlaces;

impl Places for NoPlaces {
    fn look(&self, _: &str) -> io::Result<Option<Place>> {
        Ok(None)
    }

    fn canonical(&self, _: &str) -> io::Result<String> {
        Err(crate::os::absent())
    }

    fn read(&self, _: &str) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn tree_digest(&self, _: &str) -> io::Result<String> {
        Err(crate::os::absent())
    }

    fn check_program(&self, _: &str, _: &[(Vec<u8>, Vec<u8>)], _: &str) -> Result<(), StartError> {
        Ok(())
    }
}

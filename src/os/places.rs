//! Places outside the state directory: only looked at. Unlike those of [`super::Vfs`], these paths may be symbolic links.

use std::io;

/// What stands at a path, symbolic links followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Device and inode.
    pub ident: (u64, u64),
}

/// Looks at places by absolute paths.
pub trait Places: Send + Sync {
    /// What stands at a path; `None` when there is nothing.
    fn look(&self, path: &str) -> io::Result<Option<Place>>;
    /// The path without symbolic links, `.` and `..`.
    fn canonical(&self, path: &str) -> io::Result<String>;
    /// The text of a regular file of at most 1 MiB; `None` when there is none.
    fn read(&self, path: &str) -> io::Result<Option<String>>;
}

/// No place at all, for use cases without surroundings.
pub struct NoPlaces;

impl Places for NoPlaces {
    fn look(&self, _: &str) -> io::Result<Option<Place>> {
        Ok(None)
    }

    fn canonical(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read(&self, _: &str) -> io::Result<Option<String>> {
        Ok(None)
    }
}

//! Temporary directories, and files that appear complete or not at all.
//!
//! `TemporaryDirectory` is private, empty when it is made, and removed with everything in it when the value is dropped.
//! `Published` is a file of a caller, which appears complete or not at all.

use rustix::io::Errno;
use std::fs::{Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempDir};

/// A directory below `TMPDIR` or `/tmp` with mode 0700.
#[derive(Debug)]
pub struct TemporaryDirectory {
    dir: TempDir,
    path: String,
}

impl TemporaryDirectory {
    /// Makes one whose name begins with `prefix`.
    pub fn new(prefix: &str) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let private = std::fs::Permissions::from_mode(0o700);
        let dir = Builder::new().prefix(prefix).permissions(private).tempdir()?;
        let whole = std::fs::canonicalize(dir.path())?;
        let not_text = || io::Error::new(io::ErrorKind::InvalidData, "its path is not UTF-8");
        let path = whole.to_str().ok_or_else(not_text)?.to_owned();
        Ok(Self { dir, path })
    }

    /// Its path, absolute and without symbolic links.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Leaves it where it is.
    pub fn keep(self) {
        let _ = self.dir.keep();
    }
}

/// A file that is to appear at a path. Until then its text goes to a temporary file beside it. Dropping this value removes
/// the temporary file.
pub struct Published {
    file: NamedTempFile,
    path: PathBuf,
}

impl Published {
    /// Makes the temporary file, so that a folder that cannot be written is known at once. A relative path counts from the
    /// working directory.
    pub fn prepare(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        if path.is_dir() {
            return Err(Errno::ISDIR.into());
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        // The mode of files that other programs make, but never wider than the mask of this process allows.
        let mode = Permissions::from_mode(0o666);
        let file = Builder::new().prefix(".luzia-").permissions(mode).tempfile_in(folder);
        let file = file.map_err(plain)?;
        Ok(Self { file, path })
    }

    /// Lets every account read the file, whatever the mask of this process.
    pub fn readable_by_all(self) -> io::Result<Self> {
        self.file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        Ok(self)
    }

    /// Gives the file the owner and the permissions of another one.
    pub(crate) fn be_like(&self, other: &Metadata) -> io::Result<()> {
        let file = self.file.as_file();
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (other.uid(), other.gid()) {
            fchown(file, Some(other.uid()), Some(other.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(other.mode() & 0o7777))
    }

    /// Makes the file appear with a text, in the place of an older one.
    pub fn publish(mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.file.write_all(text.as_ref())?;
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

/// An error in the words of the system alone: `tempfile` adds the name of the temporary file, which does not help a reader.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_temporary_directory_is_private_and_goes_with_its_content() {
        let dir = TemporaryDirectory::new("luzia-test-").expect("a directory");
        let path = dir.path().to_owned();
        assert_eq!(std::fs::metadata(&path).expect("it exists").permissions().mode() & 0o7777, 0o700);
        std::fs::create_dir(format!("{path}/inner")).expect("a folder");
        std::fs::write(format!("{path}/inner/file"), "x").expect("a file");
        drop(dir);
        assert!(!std::path::Path::new(&path).exists());
    }

    #[test]
    fn a_kept_directory_stays() {
        let dir = TemporaryDirectory::new("luzia-test-").expect("a directory");
        let path = dir.path().to_owned();
        dir.keep();
        assert!(std::path::Path::new(&path).exists());
        std::fs::remove_dir(&path).expect("it is empty");
    }
}

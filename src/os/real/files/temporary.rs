//! A directory that is thrown away: private, empty, removed with everything in it when the value is dropped.

use std::io;
use tempfile::{Builder, TempDir};

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

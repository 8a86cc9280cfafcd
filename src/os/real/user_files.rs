//! Files of the user: read whole, and replaced by a rename beside them.

use crate::os::real::files::places::absent;
use crate::os::real::files::published::Published;
use crate::os::user_files::UserFiles;
use rustix::fs::{Access, access};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The files of this host.
pub struct RealUserFiles;

/// Number of links that are followed at most, as in the kernel.
const MOST_LINKS: usize = 40;

impl UserFiles for RealUserFiles {
    fn read(&self, path: &str, cap: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(meta) = absent(std::fs::metadata(path))? else { return Ok(None) };
        // A FIFO would block the open.
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(bytes))
    }

    fn replace(&self, path: &str, was: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
        let place = behind_links(Path::new(path))?;
        let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
        std::fs::create_dir_all(folder)?;
        let old = unchanged(&place, was)?;
        write_over(&place, old.as_ref(), bytes)
    }

    fn copy(&self, path: &str, copy: &str) -> io::Result<()> {
        let meta = std::fs::metadata(path)?;
        write_over(Path::new(copy), Some(&meta), &std::fs::read(path)?)
    }

    fn remove(&self, path: &str, was: &[u8]) -> io::Result<()> {
        let place = behind_links(Path::new(path))?;
        unchanged(&place, Some(was))?;
        std::fs::remove_file(place)
    }

    fn remove_empty_folder(&self, path: &str) -> io::Result<()> {
        match std::fs::remove_dir(path) {
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::DirectoryNotEmpty].contains(&error.kind()) => Ok(()),
            other => other,
        }
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(bytes)
    }
}

/// The path behind symbolic links; the last one may lead to nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = std::fs::read_link(&path)?;
        path = path.parent().map(|folder| folder.join(&target)).unwrap_or(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Checks that a file still holds what was read, and that this process may change it.
fn unchanged(place: &Path, was: Option<&[u8]>) -> io::Result<Option<Metadata>> {
    let meta = absent(std::fs::metadata(place))?;
    let now = match &meta {
        Some(meta) if meta.is_file() => Some(std::fs::read(place)?),
        Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        None => None,
    };
    if now.as_deref() != was {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "it was changed meanwhile"));
    }
    if meta.is_some() {
        access(place, Access::WRITE_OK)?;
    }
    Ok(meta)
}

/// Replaces a file by one with the owner and the permissions of `like`.
fn write_over(place: &Path, like: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let file = Published::prepare(place)?;
    like.map_or(Ok(()), |like| file.be_like(like))?;
    file.publish(bytes)?;
    // The new content is in place. The sync only makes its name survive a power cut, so its failure is ignored.
    let _ = place.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

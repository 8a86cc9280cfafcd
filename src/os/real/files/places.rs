//! Places outside the state directory, by path.

use crate::os::places::{Place, Places};
use std::fs::Metadata;
use std::io;
use std::io::Read;
use std::os::unix::fs::MetadataExt;

/// The places of this host.
pub struct RealPlaces;

const MOST: u64 = 1024 * 1024;

impl Places for RealPlaces {
    fn look(&self, path: &str) -> io::Result<Option<Place>> {
        let place = |meta: Metadata| Place { is_dir: meta.is_dir(), ident: (meta.dev(), meta.ino()) };
        absent(std::fs::metadata(path).map(place))
    }

    fn canonical(&self, path: &str) -> io::Result<String> {
        let path = std::fs::canonicalize(path)?.into_os_string();
        path.into_string().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "its name is not UTF-8"))
    }

    fn read(&self, path: &str) -> io::Result<Option<String>> {
        // A FIFO would block the open.
        match absent(std::fs::metadata(path))? {
            Some(meta) if meta.is_file() && meta.len() <= MOST => {}
            Some(meta) if meta.is_file() => return Err(io::ErrorKind::FileTooLarge.into()),
            _ => return Ok(None),
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        other => other.map(Some),
    }
}

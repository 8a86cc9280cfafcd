//! Places outside the state directory, by path.

use crate::os::StartError;
use crate::os::places::{Place, Places};
use crate::os::real::files::work_tree::tree_digest;
use crate::os::real::process::program::{can_execute, check_cwd, find, lookup, start_error};
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

    fn tree_digest(&self, top: &str) -> io::Result<String> {
        tree_digest(top)
    }

    fn check_program(&self, program: &str, env: &[(Vec<u8>, Vec<u8>)], cwd: &str) -> Result<(), StartError> {
        let cwd = Path::new(cwd);
        check_cwd(cwd)?;
        let found = find(program, lookup(env, "PATH").as_deref(), cwd)?;
        // A file on PATH was looked at already.
        if program.contains('/') {
            can_execute(&cwd.join(found)).map_err(|error| start_error(error, Path::new(program), cwd))?;
        }
        Ok(())
    }
}

/// The owner of the file at a path; `None` where there is nothing.
pub fn owner_of(path: &str) -> io::Result<Option<u32>> {
    absent(std::fs::metadata(path).map(|meta| meta.uid()))
}

/// `None` where there is nothing.
pub(crate) fn absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        other => other.map(Some),
    }
}

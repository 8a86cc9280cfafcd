//! The work tree of a file that is about to be written.

use super::{Named, Surroundings};
use crate::app::{AppError, Kind};
use crate::model::ThingKind;

/// Number of missing folders above a file that are looked through.
const MOST_FOLDERS: usize = 64;

impl Surroundings {
    /// The lane of the work tree of a file, where it is in one. The file and its folders need not exist; a link counts as
    /// the file that it leads to.
    pub fn tree_of_file(&self, path: &str, base: Option<&str>) -> Result<Option<Named>, AppError> {
        let path = self.absolute(path, base)?;
        let path = self.places.canonical(&path).unwrap_or(path);
        let mut folder = path.as_str();
        for _ in 0..MOST_FOLDERS {
            folder = match folder.rsplit_once('/') {
                Some((above, _)) if !above.is_empty() => above,
                _ => "/",
            };
            if self.look(folder)?.is_some_and(|place| place.is_dir) {
                break;
            }
        }
        match self.name(ThingKind::Tree, Some(folder), None) {
            Ok(named) => Ok(Some(named)),
            Err(error) if error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

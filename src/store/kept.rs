//! Files that a process uses again and again, kept open between two uses: the events of the day, the guards of the lanes it
//! met last, the turn, the bell. One that was removed meanwhile has no name, and is opened anew.

use super::Store;
use crate::os::Handle;
use std::sync::{Arc, Mutex, PoisonError};

/// How many files are kept at most; the one that was not used for the longest time is closed first.
const MOST: usize = 8;

/// The files kept open by this process, by their paths.
pub(crate) type Kept = Arc<Mutex<Vec<(String, Box<dyn Handle>)>>>;

impl Store {
    /// A file that was kept. It belongs to the caller until it is kept again, so nobody has it twice.
    pub(crate) fn take_kept(&self, path: &str) -> Option<Box<dyn Handle>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| known == path)?;
        let (_, file) = kept.remove(at);
        file.meta().is_ok_and(|meta| meta.links > 0).then_some(file)
    }

    /// Keeps a file open that holds no lock.
    pub(crate) fn keep(&self, path: String, file: Box<dyn Handle>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((path, file));
    }
}

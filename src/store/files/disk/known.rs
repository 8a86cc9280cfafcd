//! Small files that a process reads in every pass and that seldom change. Their content is kept; one `stat` shows whether it
//! is still current.

use crate::model::Timestamp;
use crate::os::Meta;
use crate::store::{Result, Spool};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Files that this process has read, by path. A file that was read only once has no content here, since most verbs read none
/// twice.
pub(crate) type Known = Arc<Mutex<BTreeMap<&'static str, Option<Read>>>>;

/// A file as it was read.
pub(crate) struct Read {
    state: State,
    bytes: Vec<u8>,
}

/// Attributes that change when a file is replaced or overwritten.
type State = ((u64, u64), u64, Timestamp, Timestamp);

fn state(meta: &Meta) -> State {
    (meta.ident, meta.size, meta.modified, meta.changed)
}

impl Spool {
    /// The content of a file that is replaced by a rename, or only holds a hint. The look comes before the read, so a change
    /// between the two is read again the next time. Two changes of one file within one tick of the kernel's clock count as
    /// one: a hint that is read so late does no harm.
    pub(crate) fn read_known(&self, path: &'static str) -> Result<Option<Vec<u8>>> {
        if !self.known().contains_key(path) {
            self.known().insert(path, None);
            return self.read(path);
        }
        let Some(meta) = self.meta(path)? else { return Ok(None) };
        let now = state(&meta);
        if let Some(Some(read)) = self.known().get(path)
            && read.state == now
        {
            return Ok(Some(read.bytes.clone()));
        }
        let bytes = self.read(path)?;
        self.known().insert(path, bytes.clone().map(|bytes| Read { state: now, bytes }));
        Ok(bytes)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, Option<Read>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

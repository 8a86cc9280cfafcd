//! `spool/warned/<id>`: the pending tasks of which a `wait_warning` was told. The file is made before the event is written, so
//! that of many passes one tells it, and a kill in between loses the event rather than doubling it.

use crate::model::TaskId;
use crate::os::Open;
use crate::store::error::Result;
use crate::store::files::disk::layout;
use crate::store::{FileStore, Place};

impl FileStore {
    /// Marks a task as told of; false when it is marked already. Commit point is the making of the file. It needs no sync: after
    /// a power cut a wait is told again.
    pub fn mark_warned(&self, id: TaskId) -> Result<bool> {
        self.make_dir(layout::WARNED)?;
        Ok(self.open(&layout::warned(id), Open::CreateNew(0o600))?.is_some())
    }

    /// Forgets that a task was told of, because its wait is over; true when it was.
    pub fn forget_warned(&self, id: TaskId) -> Result<bool> {
        self.unlink(&layout::warned(id))
    }

    /// The marks of tasks that do not wait for their turn any more, e.g. of cancelled ones.
    pub(super) fn unused_warned(&self) -> Result<Vec<String>> {
        let mut unused = Vec::new();
        for entry in self.list(layout::WARNED)? {
            let Some(id) = entry.name.parse().ok().map(TaskId) else { continue };
            if !matches!(self.place_of(id)?, Some(Place::Pending | Place::Parked)) {
                unused.push(layout::warned(id));
            }
        }
        Ok(unused)
    }
}

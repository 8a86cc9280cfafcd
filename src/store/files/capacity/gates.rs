//! What is remembered of gates: an empty file `locks/.<lane>.shut` while a gate is shut. It is not synced, and an error is no
//! error of a caller: without the mark a gate opens at the bound at which it shuts.

use crate::model::LaneName;
use crate::os::Open;
use crate::store::FileStore;
use crate::store::files::disk::layout;

impl FileStore {
    /// Whether the gate of a lane was shut at the last look.
    pub fn was_shut(&self, lane: &LaneName) -> bool {
        self.vfs.meta(&layout::gate(&lane.stem())).is_ok_and(|mark| mark.is_some())
    }

    /// Remembers whether the gate of a lane is shut; true for the one process that changes it.
    pub fn mark_gate(&self, lane: &LaneName, is_shut: bool) -> bool {
        let path = layout::gate(&lane.stem());
        if is_shut {
            return self.vfs.open(&path, Open::CreateNew(0o644)).is_ok_and(|made| made.is_some());
        }
        self.vfs.unlink(&path).unwrap_or(false)
    }
}

//! What a task keeps while it waits for an event and has no process.

use crate::model::lane::LaneName;
use crate::model::lock::LockId;
use crate::model::time::Timestamp;

/// The wait of a task whose record stands in `waiting`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskWait {
    /// When its time runs out.
    pub until: Timestamp,
    /// The lanes that it keeps meanwhile, each with the id of its lock there.
    pub kept: Vec<(LaneName, LockId)>,
    /// Whether it waits for its children, and so lends them its lanes.
    pub lends: bool,
}

impl TaskWait {
    /// Whether it keeps a lock.
    pub fn keeps(&self, lane_stem: &str, lock_id: &str) -> bool {
        self.kept.iter().any(|(lane, kept)| lane.stem() == lane_stem && kept.0 == lock_id)
    }
}

//! Lanes and time of a task that waits for an event without a process.

use crate::model::lane::LaneName;
use crate::model::lock::LockId;
use crate::model::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The wait of a task whose record is in `waiting`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskWait {
    /// The time at which the wait runs out.
    pub until: Timestamp,
    /// The lanes that it keeps during the wait, each with the id of its lock there.
    #[serde(default, serialize_with = "write_kept", deserialize_with = "read_kept")]
    pub kept: Vec<(LaneName, LockId)>,
    /// Whether it waits for its children, and so lends them its lanes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lends: bool,
}

impl TaskWait {
    /// Whether it keeps a lock.
    pub fn keeps(&self, lane_stem: &str, lock_id: &str) -> bool {
        self.kept.iter().any(|(lane, kept)| lane.stem() == lane_stem && kept.0 == lock_id)
    }
}

#[derive(Serialize, Deserialize)]
struct Kept<L, I> {
    lane: L,
    lock_id: I,
}

fn write_kept<S: Serializer>(kept: &[(LaneName, LockId)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(kept.iter().map(|(lane, lock_id)| Kept { lane, lock_id }))
}

fn read_kept<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(LaneName, LockId)>, D::Error> {
    let kept = Vec::<Kept<LaneName, LockId>>::deserialize(from)?;
    Ok(kept.into_iter().map(|Kept { lane, lock_id }| (lane, lock_id)).collect())
}

//! Capacities of lanes beside their places: names of slots, marks of gates, and shares of processors with their job servers.
//!
//! A shut gate has the empty file `locks/.<lane>.shut`. The file is not synced, and its errors are ignored: without the mark a
//! gate opens at the bound at which it shuts. A port is tried under the guard of the lane, so no two holders try one port.

pub(crate) mod cpus;

use crate::model::LaneName;
use crate::model::capacity::Choice;
use crate::os::Open;
use crate::store::{LaneNeed, NotNow, Spool, layout};

impl Spool {
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

    /// The slot and the value of a new holder that would get `slot` in a lane without names. `taken` are the slots of the other
    /// holders with their values.
    pub(crate) fn name_slot(
        &self,
        need: &LaneNeed,
        taken: &[(u32, Option<String>)],
        slot: u32,
    ) -> Result<(u32, Option<String>), NotNow> {
        if need.is_shut {
            return Err(NotNow::Shut(need.lane.clone()));
        }
        let Some(values) = &need.values else { return Ok((slot, None)) };
        match self.host.choose_value(values, taken) {
            Choice::Slot(slot, value) => Ok((slot, Some(value))),
            Choice::Occupied(occupied) => Err(NotNow::Occupied(need.lane.clone(), occupied)),
            // There are fewer holders than the limit, which is the number of values: a pass adopts a new rule at once.
            Choice::Full => Err(NotNow::Shut(need.lane.clone())),
        }
    }
}

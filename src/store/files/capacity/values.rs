//! Which value a new holder of a lane gets. A port is tried under the guard of the lane, so no two holders try the same one.

use crate::model::capacity::Choice;
use crate::store::FileStore;
use crate::store::files::locks::request::{LaneNeed, NotNow};

impl FileStore {
    /// The slot and the value of a new holder that would have `slot` in a lane without names. `taken` are the slots of the other
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
            // There are fewer holders than the limit, which is the number of values: a pass takes a new rule up at once.
            Choice::Full => Err(NotNow::Shut(need.lane.clone())),
        }
    }
}

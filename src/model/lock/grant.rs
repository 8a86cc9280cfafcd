//! A lock as its holder sees it.

use super::{Fence, LockId};
use crate::model::lane::LaneName;
use std::collections::BTreeMap;

/// A lock that was granted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The lane.
    pub lane: LaneName,
    /// Its slot of the lane, from 0.
    pub slot: u32,
    /// The name of the grant.
    pub lock_id: LockId,
    /// Its token.
    pub fence: Fence,
    /// The value of its slot, in a lane whose slots have names.
    pub value: Option<String>,
    /// Whether the holder has a share of processors, in a lane with a CPU budget.
    pub has_share: bool,
}

/// The values of the slots of each lane: the values of one lane joined by commas, in the order of the grants.
pub fn values_of(grants: &[Grant]) -> BTreeMap<LaneName, String> {
    let mut values: BTreeMap<LaneName, String> = BTreeMap::new();
    for grant in grants {
        let Some(value) = &grant.value else { continue };
        values
            .entry(grant.lane.clone())
            .and_modify(|known| {
                known.push(',');
                known.push_str(value);
            })
            .or_insert_with(|| value.clone());
    }
    values
}

impl Grant {
    /// Whether another grant is this one; the values of their slots are not compared.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.lane, self.slot, &self.lock_id, self.fence) == (&other.lane, other.slot, &other.lock_id, other.fence)
    }
}

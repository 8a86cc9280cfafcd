//! The first tasks of queues, in the order of a pass.

use crate::model::{Priority, Tier};
use std::collections::BTreeMap;

/// The queues of each tier that have work, each with its best priority.
pub type Lanes = BTreeMap<Tier, BTreeMap<String, Priority>>;

/// The use of the host by one user.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Usage {
    /// Decayed slot time over weight, in microseconds.
    pub used_us: u64,
    /// The number of its latest grant, from 1, among all grants.
    pub last_grant: u64,
}

/// The head of a queue in a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstHead {
    /// Its priority.
    pub priority: Priority,
    /// The use of its user then.
    pub used: Usage,
    /// The name of its queue.
    pub queue: String,
}

/// The first heads of each tier in the order of a pass, and whether others come after them.
pub type FirstHeads = [(Vec<FirstHead>, bool); 3];

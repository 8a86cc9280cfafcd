//! Those that make passes: that there are some, which of them is the only one, the `run`s that stand by meanwhile,
//! and who waits for a child.

pub(crate) mod dispatch_lock;
pub(crate) mod duty;
pub(crate) mod lending;
pub(crate) mod presence;
pub(crate) mod standby;

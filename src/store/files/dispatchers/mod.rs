//! Processes that make passes: the presence of dispatchers, the one that has the duty, the `run`s that stand by meanwhile,
//! and the waiters for children.

pub(crate) mod dispatch_lock;
pub(crate) mod duty;
pub(crate) mod lending;
pub(crate) mod presence;
pub(crate) mod standby;

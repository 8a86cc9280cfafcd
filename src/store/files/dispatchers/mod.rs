//! Those that make passes: that there are some, which of them is the only one, and the `run`s that stand by meanwhile.

pub(crate) mod dispatch_lock;
pub(crate) mod duty;
pub(crate) mod presence;
pub(crate) mod standby;

//! The spool: accept, claim, finish, delay, prune and count tasks. The folder of a record is its state; a rename is the
//! transition.

pub(crate) mod accept;
pub(crate) mod batch;
pub(crate) mod delayed;
pub(crate) mod dispatch_lock;
pub(crate) mod duty;
pub(crate) mod ledger;
pub(crate) mod lifecycle;
pub(crate) mod markers;
pub(crate) mod pending;
pub(crate) mod presence;
pub(crate) mod query;
pub(crate) mod standby;
pub(crate) mod users;

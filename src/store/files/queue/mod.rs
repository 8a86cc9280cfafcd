//! The spool: accept, claim, finish, delay, prune and count tasks. The folder of a record is its state; a rename is the
//! transition.

pub(crate) mod accept;
pub(crate) mod batch;
pub(crate) mod claim;
pub(crate) mod control;
pub(crate) mod heads;
pub(crate) mod lifecycle;
pub(crate) mod markers;
pub(crate) mod pending;
pub(crate) mod query;

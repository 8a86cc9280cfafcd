//! WHETHER: decisions as pure functions of what was seen, the limits and the time. No I/O, no clock, no log.

pub mod admission;
pub mod agent;
pub mod context;
pub mod cycles;
pub mod fair;
pub mod hook;
pub mod lifecycle;
pub mod line;
pub mod logs;
pub mod naming;
pub mod outcome;
pub mod recovery;
pub mod retention;
pub mod schedule;
pub mod shim;
pub mod staleness;
pub mod witness;

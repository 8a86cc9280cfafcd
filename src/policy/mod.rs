//! WHETHER: decisions as pure functions of what was seen, the limits and the time. No I/O, no clock, no log.

pub mod staleness;

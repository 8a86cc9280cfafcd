//! WHETHER: decisions as pure functions.

pub mod fair;
pub mod schedule;

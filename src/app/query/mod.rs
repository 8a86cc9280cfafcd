//! Verbs that only look: list, explain, status, logs, lanes.

pub mod cycles;
pub mod details;
pub mod events;
pub mod explain;
pub mod glance;
pub mod lanes;
pub mod list;
pub mod logs;
pub mod metrics;
pub mod order;
pub mod shared;
pub mod status;

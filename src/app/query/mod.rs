//! Verbs that only look: list, explain, status, logs, lanes.

mod ahead;
pub mod course;
pub mod cycles;
pub mod details;
pub mod events;
pub mod evidence;
pub mod explain;
pub mod glance;
pub mod lanes;
pub mod list;
pub mod logs;
pub mod metrics;
mod order;
pub mod shortage;
pub mod stats;
pub mod status;
pub mod timeline;
pub mod tree;

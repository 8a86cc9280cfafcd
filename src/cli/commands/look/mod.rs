//! Commands that only read.

pub mod events;
pub mod explain;
pub mod list;
pub mod logs;
pub mod metrics;
pub mod show;
pub mod simulate;
pub mod stats;
pub mod status;
pub mod timeline;
pub mod top;
pub mod tree;

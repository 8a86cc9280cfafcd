//! Commands that only read.

pub mod explain;
pub mod list;
pub mod logs;
pub mod show;
pub mod status;

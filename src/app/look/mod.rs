//! Verbs that only look: list, explain, status, logs.

pub mod cycles;
pub mod explain;
pub mod list;
pub mod logs;
pub mod shortage;
pub mod status;
pub mod tail;

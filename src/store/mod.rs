//! FACTS: what is on disk.

pub mod config;
pub mod statedir;

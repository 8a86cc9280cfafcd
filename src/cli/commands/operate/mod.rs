//! Commands that start tasks and keep the installation healthy.

pub mod agent;
pub mod cleanup_stale;
pub mod completions;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod dispatch;
pub mod doctor;
pub mod mcp;
pub mod name;
pub mod shim;
mod talk;

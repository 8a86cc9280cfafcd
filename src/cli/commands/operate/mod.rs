//! Commands that start tasks and keep the installation healthy.

pub mod agent;
pub mod cleanup_stale;
pub mod complete;
pub mod completions;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod dispatch;
pub mod doctor;
pub mod fleet;
pub mod hook;
pub mod hosts;
pub mod install_docs;
pub mod mcp;
pub mod name;
pub mod schema;
pub mod shim;
pub mod store;
mod talk;

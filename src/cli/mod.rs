//! The command line: arguments in, tables and JSON out. The rules of the domain are in `app` and below.
//!
//! `args` reads the command line, `commands` has one file for each command, `output` writes answers. The files of this
//! folder connect them to the real operating system and the store; `args`, `commands` and `output` touch neither.

mod account_files;
pub mod agent;
pub mod args;
pub mod commands;
mod configuration;
mod context;
pub mod docs;
mod entry;
pub(crate) mod estimate;
pub mod exit;
mod fleet;
pub(crate) mod identity;
mod input;
pub(crate) mod load_file;
pub mod mcp;
mod mcp_server;
pub mod output;
mod result_file;
mod shim;
mod signals;
pub(crate) mod task_lines;
mod top;
pub mod verbs;

pub use entry::entry;

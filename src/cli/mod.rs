//! WORDS: arguments in, tables and JSON out.

pub mod args;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs luzia with the process's arguments.
pub fn main(_args: Vec<OsString>) -> ExitCode {
    ExitCode::SUCCESS
}

//! The `luzia` binary: hands its arguments to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    luzia::cli::entry(std::env::args_os().collect())
}

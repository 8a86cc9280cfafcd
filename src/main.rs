//! The `luzia` binary: hands its arguments to the library.

use std::process::ExitCode;

/// The allocator of musl itself maps and unmaps memory 386 times in a `run`, this one 23 times
/// (`docs/decisions/451-releases-are-linked-with-musl.md`).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    luzia::cli::entry(std::env::args_os().collect())
}

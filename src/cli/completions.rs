//! Completion scripts. Makes text; must not print it.

use super::args::public_command;
use clap_complete::Shell;

/// The shells that have a script.
pub const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

/// The script for one shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut public_command(), "luzia", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

//! `luzia completions`: prints a completion script.

use crate::cli::output::console::Console;
use clap::{Args, ValueEnum};

/// `luzia completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  luzia completions bash > ~/.local/share/bash-completion/completions/luzia
  luzia completions zsh > ~/.zfunc/_luzia
  luzia completions fish > ~/.config/fish/completions/luzia.fish

Exit codes:
  0    printed
  2    usage";

/// A shell that has a script.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shell {
    /// GNU bash
    Bash,
    /// fish
    Fish,
    /// The Z shell
    Zsh,
}

/// The shells that have a script, and the names of the files in `completions/`.
pub const SHELLS: [(Shell, &str); 3] =
    [(Shell::Bash, "luzia.bash"), (Shell::Fish, "luzia.fish"), (Shell::Zsh, "_luzia")];

/// `luzia completions`.
pub fn run(args: &CompletionsArgs, console: &mut Console) -> anyhow::Result<()> {
    Ok(console.out(script(args.shell))?)
}

/// The script for one shell. It asks `luzia __complete` at every TAB, so it knows tasks, users and lanes.
pub fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("../../docs/completions/luzia.bash"),
        Shell::Fish => include_str!("../../docs/completions/luzia.fish"),
        Shell::Zsh => include_str!("../../docs/completions/_luzia"),
    }
}

//! `luzia completions`: prints a completion script.

use crate::cli::args::command;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use clap::Args;
use clap_complete::Shell;

/// `luzia completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  luzia completions bash > ~/.local/share/bash-completion/completions/luzia
  luzia completions zsh > ~/.zfunc/_luzia
  luzia completions fish > ~/.config/fish/completions/luzia.fish

Exit codes:
  0    printed
  2    usage
  others as in luzia-exit-codes(7)";

/// The shells that have a script.
pub const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

/// `luzia completions`.
pub fn run(args: &CompletionsArgs, console: &mut Console) -> Answer {
    console.out(&script(args.shell))?;
    Ok(Exit::Done.code())
}

/// The script for one shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "luzia", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

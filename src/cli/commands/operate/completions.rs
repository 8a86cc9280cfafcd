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

/// The script for one shell. Those of bash, zsh and fish ask `luzia __complete` at every TAB, so they know tasks, users and
/// lanes; those of other shells know verbs and options only.
pub fn script(shell: Shell) -> String {
    let own = match shell {
        Shell::Bash => Some(include_str!("../../docs/completions/luzia.bash")),
        Shell::Zsh => Some(include_str!("../../docs/completions/_luzia")),
        Shell::Fish => Some(include_str!("../../docs/completions/luzia.fish")),
        _ => None,
    };
    if let Some(own) = own {
        return own.to_owned();
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "luzia", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

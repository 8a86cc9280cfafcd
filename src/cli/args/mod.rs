//! The command line, read by clap.
//!
//! The result is text, small numbers and enums; `app` and the commands turn them into names, lanes and durations. Never
//! prints and never ends the process: an answer or a refusal is returned as a [`ParseStop`].

pub mod complete;
mod deferred;
mod globals;
mod help;
mod identity;
mod members;
mod own;
mod preempt_options;
mod target;
mod usage;
mod values;

pub use deferred::Deferred;
pub use globals::Globals;
pub use identity::Identity;
pub use members::after_help;
pub use own::{KeeperArgs, SuperviseArgs};
pub use preempt_options::PreemptOptions;
pub use target::{Instead, lane_text, named};
pub use usage::{ParseStop, Usage};
pub use values::{ColorWhen, LockState, OutputFormat};

pub(crate) use crate::request::values::{number, pid};

use super::commands::cron::{CronArgs, CronVerb};
pub use super::verbs::Command;
use super::verbs::Verb;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

/// The whole command line: the global options and one command.
#[derive(Parser, Clone, Debug)]
#[command(
    name = "luzia",
    bin_name = "luzia",
    version,
    about = "Let AI agents and scripts on one host take turns",
    long_about = "luzia lets AI agents and scripts on one Linux host take turns. Commands in the same lane (a user, a \
                  repository, a deploy target) run one at a time, or N at a time. The others wait in a queue that \
                  survives crashes, and `luzia explain` says why.",
    after_help = ROOT_HELP,
    arg_required_else_help = false,
    subcommand_value_name = "VERB"
)]
pub struct Cli {
    #[command(flatten)]
    /// The options that every command has.
    pub globals: Globals,
    /// The command and its options.
    #[command(subcommand)]
    pub command: Command,
}

/// The line that `luzia --version` prints.
const VERSION_LINE: &str = concat!("luzia ", env!("CARGO_PKG_VERSION"), "\n");

/// The definition for clap, also for completions and manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Reads the arguments of the process; the first is the program's own name.
pub fn parse(args: Vec<OsString>) -> Result<Cli, ParseStop> {
    let args = usage::utf8(args)?;
    if let Some([only]) = args.get(1..)
        && (only == "--version" || only == "-V")
    {
        return Err(ParseStop::answer(VERSION_LINE));
    }
    if let Some(cli) = own::read(&args) {
        return Ok(cli);
    }
    match read(&args) {
        Ok(cli) => usage::checked(with_separator(cli, &args), &args),
        Err(error) => Err(usage::explain(&error, &args)),
    }
}

/// Reads a command line. clap copies the global options into every command that it knows (150 KiB, a tenth of the time of
/// `enqueue`). So clap first gets only the command of the line, and all commands if it refuses the line.
pub(crate) fn read(args: &[String]) -> Result<Cli, clap::Error> {
    if let Some(cli) = command_word(args).and_then(|word| read_one(word, args)) {
        return Ok(cli);
    }
    Cli::from_arg_matches(&command().try_get_matches_from_mut(args)?)
}

fn read_one(word: &str, args: &[String]) -> Option<Cli> {
    // The definition lacks the words of the help. Where they are needed, the whole definition is used.
    let one = (Verb::of(word)?.define)(clap::Command::new(word.to_owned()));
    let root = <Globals as clap::Args>::augment_args(clap::Command::new("luzia")).subcommand(one);
    Cli::from_arg_matches(&root.try_get_matches_from(args).ok()?).ok()
}

/// Notes whether `--` is before the command of a task, which clap does not report.
fn with_separator(mut cli: Cli, args: &[String]) -> Cli {
    let task = match &mut cli.command {
        Command::Enqueue(Deferred(enqueue)) => &mut enqueue.task,
        Command::Run(Deferred(run)) => &mut run.task,
        Command::Cron(Deferred(CronArgs { verb: Some(CronVerb::Add(add)) })) => &mut add.task,
        _ => return cli,
    };
    let before = args.len().checked_sub(task.command.len() + 1).and_then(|at| args.get(at));
    task.is_separated = before.is_some_and(|word| word == "--");
    cli
}

/// The first word that is neither an option nor the value of a global one.
fn command_word(args: &[String]) -> Option<&str> {
    let mut words = args.iter().skip(1).map(String::as_str);
    loop {
        match words.next()? {
            "--state-dir" | "--config" | "--color" | "-o" | "--output" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

const ROOT_HELP: &str = "\
Examples:
  luzia demo
  luzia enqueue -u alice -- make test
  luzia run -l build -- make test
  luzia dispatch --drain
  luzia explain task_12

Exit codes:
  0   done; yes; free; queued
  1   failed, or the condition is false
  2   usage error; nothing was changed
  75  busy, try again
  all of them: luzia-exit-codes(7)";

#[cfg(test)]
mod tests;

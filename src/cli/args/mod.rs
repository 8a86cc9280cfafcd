//! The command line, read by clap.
//!
//! The result is text, small numbers and enums; `app` and the commands turn them into names, lanes and durations. Never
//! prints and never ends the process: an answer or a refusal is returned as a [`ParseStop`].

pub mod complete;
mod deferred;
mod frequent;
mod globals;
mod help;
mod members;
mod own;
mod shared;
mod usage;
mod values;

pub use deferred::Deferred;
pub use globals::Globals;
pub use members::after_help;
pub use own::{KeepLanesArgs, KeeperArgs, ListenArgs, SuperviseArgs, UnderLanesArgs};
pub use shared::{Identity, Instead, PreemptOptions, lane_text, named};
pub use usage::{ParseStop, Usage};
pub use values::{ColorWhen, LockState, OutputFormat};

pub(crate) use crate::request::values::{number, pid};

use super::commands::cron::{CronArgs, CronVerb};
pub use super::verbs::Command;
use super::verbs::Verb;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
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
    match frequent::read(&args).map_or_else(|| read(&args), Ok) {
        Ok(cli) => usage::checked(with_separator(cli, &args), &args),
        Err(error) => Err(usage::explain(&error, &args)),
    }
}

/// Reads a command line. clap copies the global options into every command that it knows, so it first gets the command of the
/// line alone, and all commands if it refuses that line.
pub(crate) fn read(args: &[String]) -> Result<Cli, clap::Error> {
    if let Some(cli) = command_word(args).and_then(|(at, word)| read_one(at, word, args)) {
        return Ok(cli);
    }
    read_whole(args)
}

fn read_whole(args: &[String]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from_mut(args)?)
}

/// Reads a line whose first word is the verb with the options of the verb and the global ones as one command: a command within
/// another costs clap a second definition, a second reader, and a copy of each global option. The definition lacks the words
/// of the help; where they are needed, the whole definition is used.
fn read_one(at: usize, word: &str, args: &[String]) -> Option<Cli> {
    let verb = Verb::of(word)?;
    let one = (verb.define)(clap::Command::new("luzia"));
    if at == 1 && !one.has_subcommands() {
        let words = args.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, word)| word);
        let matches = Globals::augment_args(one).try_get_matches_from(words).ok()?;
        let globals = Globals::from_arg_matches(&matches).ok()?;
        return Some(Cli { globals, command: (verb.read)(&matches).ok()? });
    }
    let root = Globals::augment_args(clap::Command::new("luzia")).subcommand(one.name(word.to_owned()));
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

/// The first word that is neither an option nor the value of a global one, and its place.
fn command_word(args: &[String]) -> Option<(usize, &str)> {
    let mut words = args.iter().map(String::as_str).enumerate().skip(1);
    loop {
        match words.next()? {
            (_, "--state-dir" | "--config" | "--store" | "--color" | "-o" | "--output") => drop(words.next()),
            (_, word) if word.starts_with('-') => {}
            found => return Some(found),
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

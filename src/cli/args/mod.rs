//! The command line: the whole definition for clap, and the one entry that reads it.
//!
//! Imports nothing of ours: what comes out is text, small numbers and enums, which become names, lanes and durations
//! at the door. Never prints and never ends the process: an answer or a refusal is returned as a [`ParseStop`].

mod globals;
mod locks;
mod stop;
mod tend;
mod values;
mod view;
mod work;

pub use globals::Globals;
pub use locks::{
    AcquireArgs, CheckArgs, CheckProjectArgs, CleanupStaleArgs, ListLocksArgs, LockArgs, ReleaseArgs, RenewArgs,
};
pub use stop::{ParseStop, Usage};
pub use tend::{
    CompletionsArgs, ConfigArgs, ConfigVerb, DaemonArgs, DemoArgs, DispatchArgs, DoctorArgs, ExecTaskArgs,
    SuperviseArgs,
};
pub use values::{ColorWhen, LockState, OnConflict, OutputFormat, TaskState};
pub use view::{ExplainArgs, ListArgs, LogsArgs, ShowArgs, StatusArgs};
pub use work::{CancelArgs, EnqueueArgs, RetryArgs, RunArgs, TaskOptions, WaitArgs};

use clap::{Args, Command, FromArgMatches, Subcommand};
use std::ffi::OsString;

/// What was asked for: the global options and one verb with its own.
#[derive(Clone, Debug)]
pub struct Cli {
    /// The options every verb has.
    pub globals: Globals,
    /// The verb and its options.
    pub verb: Verb,
}

/// Builds [`Verb`] and its clap definition from one table. A verb's options are built only when clap reaches it
/// (`defer`), and the line of `luzia --help` and of the verb's own help is the same text.
macro_rules! verbs {
    ($($variant:ident($args:ty) = [$name:literal $(, $alias:literal)* $(; $hidden:literal)*] $about:literal,)*) => {
        /// The verbs of this version.
        #[derive(Clone, Debug)]
        pub enum Verb {
            $(#[doc = $about] $variant($args),)*
        }

        impl Verb {
            /// The verb's name, as `list-locks`; the tail of the schema of its JSON document.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        }

        impl FromArgMatches for Verb {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, found)) => {
                        <$args as FromArgMatches>::from_arg_matches(found).map(Self::$variant)
                    })*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Subcommand for Verb {
            fn augment_subcommands(cmd: Command) -> Command {
                augment_with(cmd, |_| true)
            }

            fn augment_subcommands_for_update(cmd: Command) -> Command {
                Self::augment_subcommands(cmd)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        /// Adds the verbs that `wanted` picks by any of their names.
        fn augment_with(mut cmd: Command, wanted: impl Fn(&[&str]) -> bool) -> Command {
            $(if wanted(&[$name $(, $alias)* $(, $hidden)*]) {
                cmd = cmd.subcommand(
                    Command::new($name)
                        .about($about)
                        .hide(HIDDEN.contains(&$name))
                        .visible_aliases([$($alias),*] as [&'static str; 0 $(+ { let _ = $alias; 1 })*])
                        .aliases([$($hidden),*] as [&'static str; 0 $(+ { let _ = $hidden; 1 })*])
                        .defer(|cmd| <$args as Args>::augment_args(cmd).about($about)),
                );
            })*
            cmd
        }
    };
}

/// Verbs that luzia starts itself.
const HIDDEN: [&str; 2] = ["supervise", "exec-task"];

/// Verbs that are described and do not exist yet: what is misspelled is told from what is missing.
const LATER: [&str; 19] = [
    "await", "beat", "cron", "emit", "events", "finish", "get", "guard", "hook", "lanes", "metrics", "pause", "resume",
    "set", "stats", "step", "timeline", "top", "tree",
];

/// Options of verbs that exist, of which the same holds.
const LATER_OPTIONS: [&str; 3] = ["--parent", "--no-inherit", "--on-parent-death"];

verbs! {
    Enqueue(EnqueueArgs) = ["enqueue", "add"] "Put a task in the queue and print its id",
    Run(RunArgs) = ["run"] "Queue a command, stream its output, and exit with its code",
    Wait(WaitArgs) = ["wait"] "Wait until tasks are over",
    Cancel(CancelArgs) = ["cancel"] "End tasks, or keep them from starting",
    Retry(RetryArgs) = ["retry"] "Put finished tasks back in the queue",
    List(ListArgs) = ["list", "ls"] "List tasks",
    Show(ShowArgs) = ["show"] "Show everything known about a task",
    Logs(LogsArgs) = ["logs"] "Print what a task has written",
    Explain(ExplainArgs) = ["explain"] "Say why a task, a user or a lane is waiting, and what would change it",
    Status(StatusArgs) = ["status"] "Show the queue, the slots and the locks at a glance",
    Lock(LockArgs) = ["lock"] "Hold a lane while a command runs, without a queue entry",
    Acquire(AcquireArgs) = ["acquire"] "Take a lease on a lane, for scripts",
    Renew(RenewArgs) = ["renew"] "Extend a lease",
    Release(ReleaseArgs) = ["release"] "Give a lane back",
    Check(CheckArgs) = ["check"] "Say whether a lane is free",
    ListLocks(ListLocksArgs) = ["list-locks", "locks"; "list_locks"] "List every lock and whether its holder lives",
    CleanupStale(CleanupStaleArgs) = ["cleanup-stale"; "cleanup_stale"] "Remove locks whose holders are proven dead, and recover dead tasks",
    CheckProject(CheckProjectArgs) = ["check-project"; "check_project"] "Release the locks of a project's finished tasks",
    Dispatch(DispatchArgs) = ["dispatch"] "Start the tasks whose turn it is",
    Daemon(DaemonArgs) = ["daemon"] "Start tasks whenever their turn comes, until stopped",
    Config(ConfigArgs) = ["config"] "Show, locate or check the configuration",
    Doctor(DoctorArgs) = ["doctor"] "Look for problems on this host and in the state directory",
    Demo(DemoArgs) = ["demo"] "See luzia take turns, in a state directory of its own",
    Completions(CompletionsArgs) = ["completions"] "Print a completion script for a shell",
    Supervise(SuperviseArgs) = ["supervise"] "Own one running task (started by luzia)",
    ExecTask(ExecTaskArgs) = ["exec-task"] "Become the command of a task (started by luzia)",
}

/// The version line that `luzia --version` prints.
const VERSION_LINE: &str = concat!("luzia ", env!("CARGO_PKG_VERSION"), "\n");

/// The whole definition.
pub fn command() -> Command {
    Verb::augment_subcommands(root())
}

/// The definition without the verbs that luzia starts itself, for completions and manual pages.
pub fn public_command() -> Command {
    augment_with(root(), |names| !names.iter().any(|name| HIDDEN.contains(name)))
}

/// Reads the arguments of the process, the program's own name first. The definition of one verb is enough to read
/// most command lines; whatever that cannot read is read again with the whole definition, whose word counts.
pub fn parse(args: Vec<OsString>) -> Result<Cli, ParseStop> {
    let args = stop::utf8(args)?;
    if let [_, only] = args.as_slice()
        && (only == "--version" || only == "-V")
    {
        return Err(ParseStop::answer(VERSION_LINE));
    }
    if let Some(cli) = of_supervisor(&args) {
        return Ok(cli);
    }
    if let Some(verb) = stop::verb_of(&args) {
        let narrow = augment_with(root(), |names| names.contains(&verb));
        if let Ok(cli) = read(narrow, &args) {
            return stop::checked(cli, &args);
        }
    }
    match read(command(), &args) {
        Ok(cli) => stop::checked(cli, &args),
        Err(error) => Err(stop::explain(&error, &args)),
    }
}

/// The command line of a supervisor, as luzia itself writes it: to define one for clap is a sixth of all that such a process
/// executes.
fn of_supervisor(args: &[String]) -> Option<Cli> {
    let mut globals = Globals::default();
    let mut words = args.iter().skip(1).map(String::as_str);
    loop {
        let place = match words.next()? {
            "--state-dir" => &mut globals.state_dir,
            "--config" => &mut globals.config,
            "supervise" => break,
            _ => return None,
        };
        let value = words.next().filter(|value| place.is_none() && !value.starts_with('-'))?;
        *place = Some(value.to_owned());
    }
    let (recover, task) = match words.collect::<Vec<&str>>()[..] {
        [task] => (false, task),
        ["--recover", task] => (true, task),
        _ => return None,
    };
    let verb = Verb::Supervise(SuperviseArgs { task: task.to_owned(), recover });
    (!task.starts_with('-')).then_some(Cli { globals, verb })
}

fn root() -> Command {
    // The global options first: their own description would replace the program's.
    Globals::augment_args(Command::new("luzia"))
        .bin_name("luzia")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Make AI agents and scripts that share a host take turns")
        .long_about(
            "luzia makes AI agents and scripts that share a host take turns: at most one task per user at a time \
             (or at most N in any lane), a durable queue for the rest, and always an answer to \"why is it waiting?\".",
        )
        .after_help(ROOT_HELP)
        .subcommand_required(true)
        .subcommand_value_name("VERB")
}

pub(crate) fn read(mut cmd: Command, args: &[String]) -> Result<Cli, clap::Error> {
    let matches = cmd.try_get_matches_from_mut(args)?;
    Ok(Cli { globals: Globals::from_arg_matches(&matches)?, verb: Verb::from_arg_matches(&matches)? })
}

const ROOT_HELP: &str = "\
Examples:
  luzia demo
  luzia enqueue -u alice -- make test
  luzia run -u alice -- make test
  luzia dispatch --drain
  luzia explain task_12

Exit codes:
  0   done; yes; free; queued
  1   the answer is no
  2   usage; nothing was changed
  75  busy, try again
  all of them: luzia-exit-codes(7)";

#[cfg(test)]
mod tests;

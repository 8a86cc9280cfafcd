//! The commands that are called most: their options are defined without those of the other commands.

use super::super::commands::locks::{acquire::AcquireArgs, check::CheckArgs, lock::LockArgs, release::ReleaseArgs};
use super::super::commands::look::{explain::ExplainArgs, list::ListArgs, status::StatusArgs};
use super::super::commands::queue::{enqueue::EnqueueArgs, run::RunArgs, wait::WaitArgs};
use super::super::commands::steps::{get::GetArgs, set::SetArgs};
use super::DispatchArgs;
use clap::{Args, Command};

/// The names, as the first words of a command line have them.
#[cfg(test)]
pub const NAMES: [&str; 13] = [
    "enqueue", "run", "wait", "acquire", "check", "lock", "release", "explain", "list", "status", "dispatch", "get",
    "set",
];

/// The definition of a command that is called often. It has the options of the whole definition and none of its words.
pub fn definition(name: &str) -> Option<Command> {
    let define = match name {
        "enqueue" => EnqueueArgs::augment_args,
        "run" => RunArgs::augment_args,
        "wait" => WaitArgs::augment_args,
        "acquire" => AcquireArgs::augment_args,
        "check" => CheckArgs::augment_args,
        "lock" => LockArgs::augment_args,
        "release" => ReleaseArgs::augment_args,
        "explain" => ExplainArgs::augment_args,
        "list" => ListArgs::augment_args,
        "status" => StatusArgs::augment_args,
        "dispatch" => DispatchArgs::augment_args,
        "get" => GetArgs::augment_args,
        "set" => SetArgs::augment_args,
        _ => return None,
    };
    Some(define(Command::new(name.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_command_is_defined_as_in_the_whole() {
        let mut whole = super::super::command();
        whole.build();
        for name in NAMES {
            let mut alone = Command::new("luzia").subcommand(definition(name).expect(name));
            alone.build();
            let options = |command: &Command| -> Vec<String> {
                let one = command.find_subcommand(name).expect(name);
                let own = one.get_arguments().filter(|option| !option.is_global_set() && option.get_id() != "help");
                own.map(|option| format!("{option:?}")).collect()
            };
            assert_eq!(options(&alone), options(&whole), "{name}");
        }
    }
}

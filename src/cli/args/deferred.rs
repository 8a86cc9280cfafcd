//! Defines the options of a command only when clap reaches that command.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use std::ops::Deref;

/// Arguments whose definition is built on demand. A command line uses one of 24 commands; without this, each start would
/// define the options of all of them.
#[derive(Clone, Debug)]
pub struct Deferred<T>(pub T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            // The line in the list of commands is also the first line of the command's own help.
            let about = command.get_about().cloned().unwrap_or_default();
            T::augment_args(command).about(about)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

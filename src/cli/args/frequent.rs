//! The most frequent command lines, read without clap, which takes a third of the time of an `enqueue`: `enqueue`, `run` and
//! `lock` with options whose values are texts that no rule of the command line restricts. Any other line, and each that is
//! refused, is for clap.

use super::{Cli, Command, Deferred, Globals};
use crate::cli::commands::locks::lock::LockArgs;
use crate::cli::commands::queue::enqueue::EnqueueArgs;
use crate::cli::commands::queue::run::RunArgs;
use crate::request::TaskRequest;

/// The place of the value of an option.
enum Place<'a> {
    /// The option is given once at most.
    One(&'a mut Option<String>),
    /// The option may be repeated.
    Each(&'a mut Vec<String>),
    /// The option has no value.
    Flag(&'a mut bool),
}

/// Reads a frequent command line; `None` for any other.
pub(super) fn read(args: &[String]) -> Option<Cli> {
    let (verb, words) = args.get(1..)?.split_first()?;
    let mut globals = Globals::default();
    let command = match verb.as_str() {
        "enqueue" => {
            let mut given = EnqueueArgs::default();
            given.task.command = options(words, &mut given.task, of_task, &mut globals)?;
            Command::Enqueue(Deferred(given))
        }
        "run" => {
            let mut given = RunArgs::default();
            given.task.command = options(words, &mut given.task, of_task, &mut globals)?;
            Command::Run(Deferred(given))
        }
        "lock" => {
            let mut given = LockArgs::default();
            given.command = options(words, &mut given, of_lock, &mut globals)?;
            Command::Lock(Deferred(given))
        }
        _ => return None,
    };
    Some(Cli { globals, command })
}

fn of_task<'a>(task: &'a mut TaskRequest, name: &str) -> Option<Place<'a>> {
    Some(match name {
        "-u" | "--user" => Place::One(&mut task.user),
        "-p" | "--project" => Place::One(&mut task.project),
        "-l" | "--lane" => Place::Each(&mut task.lanes),
        "--thread" => Place::Each(&mut task.threads),
        "--key" => Place::One(&mut task.key),
        "--timeout" => Place::One(&mut task.timeout),
        "--label" => Place::One(&mut task.label),
        "--cwd" => Place::One(&mut task.cwd),
        _ => return None,
    })
}

fn of_lock<'a>(lock: &'a mut LockArgs, name: &str) -> Option<Place<'a>> {
    Some(match name {
        "-u" | "--user" => Place::One(&mut lock.user),
        "-l" | "--lane" => Place::Each(&mut lock.lane),
        _ => return None,
    })
}

fn of_all<'a>(globals: &'a mut Globals, name: &str) -> Option<Place<'a>> {
    Some(match name {
        "--state-dir" => Place::One(&mut globals.state_dir),
        "--store" => Place::One(&mut globals.store),
        "--json" => Place::Flag(&mut globals.json),
        "-q" | "--quiet" => Place::Flag(&mut globals.quiet),
        _ => return None,
    })
}

/// Puts the options in their places, and returns the command behind them. `place_of` finds the place of an option of the verb.
fn options<T>(
    words: &[String],
    given: &mut T,
    place_of: for<'a> fn(&'a mut T, &str) -> Option<Place<'a>>,
    globals: &mut Globals,
) -> Option<Vec<String>> {
    let mut words = words.iter();
    let text = |words: &mut std::slice::Iter<String>| words.next().filter(|text| !text.starts_with('-')).cloned();
    loop {
        let rest = words.as_slice();
        let word = words.next()?;
        if word == "--" {
            return (!words.as_slice().is_empty()).then(|| words.as_slice().to_vec());
        }
        if !word.starts_with('-') {
            // clap takes a `--` among the words of a command for its own.
            return (!rest.iter().any(|word| word == "--")).then(|| rest.to_vec());
        }
        match place_of(given, word).or_else(|| of_all(globals, word))? {
            Place::One(place) if place.is_none() => *place = Some(text(&mut words)?),
            Place::Each(places) => places.push(text(&mut words)?),
            Place::Flag(place) => *place = true,
            Place::One(_) => return None,
        }
    }
}

//! Positions of the words on a command line that clap has refused.

use crate::cli::args::{Globals, OutputFormat, command};
use clap::{Args, Command};

/// The first word that is not an option or the value of one: the verb, if it is one.
pub(super) fn verb_of(args: &[String]) -> Option<&str> {
    let globals = Globals::augment_args(Command::new("luzia"));
    verb_position(args, &globals).map(|at| args[at].as_str())
}

/// The command that a line names, the verb of a verb included: its words, e.g. `luzia shim rm`, and its definition. For a
/// line without a command, that of `luzia`.
pub(in crate::cli::args) fn meant(args: &[String]) -> (String, Command) {
    let mut found = command();
    found.build();
    let (globals, mut words, mut at) = (found.clone(), "luzia".to_owned(), 0);
    while let Some(step) = verb_position(&args[at..], &globals) {
        at += step;
        if words == "luzia" && args[at] == "help" {
            continue;
        }
        let Some(next) = found.find_subcommand(&args[at]).cloned() else { break };
        words = format!("{words} {}", next.get_name());
        found = next;
    }
    (words, found)
}

pub(super) fn has_trailing_command(verb: &Command) -> bool {
    verb.get_positionals().any(clap::Arg::is_trailing_var_arg_set)
}

/// The verb if it is one of ours, aliases included.
pub(super) fn known_verb(args: &[String]) -> Option<&str> {
    verb_of(args).filter(|word| command().find_subcommand(word).is_some())
}

/// Whether the caller wants the error as JSON: looks at the words before the command word only, like clap.
pub(super) fn wants_json(args: &[String]) -> bool {
    let mut cmd = command();
    cmd.build();
    let verb_at = verb_position(args, &cmd);
    let (head, tail) = args.split_at(verb_at.map_or(args.len(), |at| at + 1));
    let verb = verb_at.and_then(|at| cmd.find_subcommand(&args[at]));
    let after_verb = verb.is_some_and(|verb| json_among(tail, verb, has_trailing_command(verb)));
    let loose = verb.is_none() && json_among(tail, &cmd, false);
    json_among(head.get(1..).unwrap_or_default(), &cmd, false) || after_verb || loose
}

/// Whether `--json`, `-o json` or `-o jsonl` is among the options of `args`.
fn json_among(args: &[String], cmd: &Command, ends_at_word: bool) -> bool {
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" || (ends_at_word && !is_option(word)) {
            return false;
        }
        let Some((name, attached)) = valued_option(word, cmd) else {
            if word == "--json" {
                return true;
            }
            continue;
        };
        let value = attached.or_else(|| words.next());
        if name == "output" && value.is_some_and(is_json_format) {
            return true;
        }
    }
    false
}

fn is_json_format(word: &str) -> bool {
    [OutputFormat::Json, OutputFormat::Jsonl].iter().any(|format| format.word() == word)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Position of the verb: the first word that is neither an option of `cmd` nor the value of one.
fn verb_position(args: &[String], cmd: &Command) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = args.get(at) {
        if word == "--" {
            return None;
        }
        if !is_option(word) {
            return Some(at);
        }
        let value_follows = matches!(valued_option(word, cmd), Some((_, None)));
        at += if value_follows { 2 } else { 1 };
    }
    None
}

/// The option in `word` that takes a value, and the value if it is attached (`--output=json`, `-ojson`, `-qo json`).
fn valued_option<'a>(word: &'a str, cmd: &'a Command) -> Option<(&'a str, Option<&'a str>)> {
    let takes_value = |arg: &&clap::Arg| arg.get_action().takes_values();
    if let Some(long) = word.strip_prefix("--") {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let arg = cmd.get_arguments().filter(takes_value).find(|arg| arg.get_long() == Some(name))?;
        return Some((arg.get_id().as_str(), attached));
    }
    let cluster = word.strip_prefix('-')?;
    for (at, letter) in cluster.char_indices() {
        let found = cmd.get_arguments().filter(takes_value).find(|arg| arg.get_short() == Some(letter));
        if let Some(arg) = found {
            let rest = &cluster[at + letter.len_utf8()..];
            let attached = rest.strip_prefix('=').unwrap_or(rest);
            return Some((arg.get_id().as_str(), (!attached.is_empty()).then_some(attached)));
        }
    }
    None
}

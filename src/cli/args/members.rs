//! The members of a line of `--from`, for the help of `enqueue`: made from the options that they are.

use crate::request::{TaskRequest, members};
use clap::{Arg, ArgAction, Args, Command};

/// The place of the list in a help text.
const PLACE: &str = "{members}\n";
/// The column at which the kind of a value begins.
const KIND: usize = 26;
/// The most columns of the names of a kind.
const WIDTH: usize = 78;

/// What is written below the options of a command, with the list of members in its place.
pub fn after_help(command: &Command) -> String {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if text.contains(PLACE) { text.replace(PLACE, &list()) } else { text }
}

/// The members, those with the same kind of value together.
fn list() -> String {
    let names = members::names::<TaskRequest>();
    let task = TaskRequest::augment_args(Command::new("line"));
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for member in task.get_arguments().filter(|option| names.contains(&option.get_id().as_str())) {
        let (kind, name) = (kind(member), member.get_id().as_str());
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, names)) => names.push(name),
            None => kinds.push((kind, vec![name])),
        }
    }
    kinds.iter().map(|(kind, names)| entry(kind, names)).collect()
}

/// The kind of value of a member.
fn kind(member: &Arg) -> String {
    let words: Vec<String> =
        member.get_possible_values().iter().map(|word| format!("\"{}\"", word.get_name())).collect();
    let value = member.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (member.get_action(), words.as_slice(), value) {
        (ArgAction::SetTrue, ..) => "true or false",
        (_, [first @ .., last], _) => return format!("{} or {last}", first.join(", ")),
        (.., "CMD") => "an array of strings: the command and its arguments",
        (.., "FILE") => "an array, as in the file of --steps",
        (.., "DIR") if member.get_num_args().is_some_and(|count| count.min_values() == 0) => {
            "true, or a string: a directory"
        }
        (.., "K=V") => "an object of strings, or an array of \"K=V\"",
        (.., "N") => "a whole number",
        (.., "DUR") => "a string as DUR, or a number of seconds",
        (.., "SHARE") => "a number from 0 to 1",
        (ArgAction::Append, ..) => "an array of strings or numbers, or one of them alone",
        _ => "a string",
    }
    .to_owned()
}

/// The names, and behind or below them their kind.
fn entry(kind: &str, names: &[&str]) -> String {
    let mut lines = vec![String::new()];
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < WIDTH => *line += &format!(" {name}{comma}"),
            _ => lines.push(format!(" {name}{comma}")),
        }
    }
    let names = lines.join("\n ");
    match lines.as_slice() {
        [only] if only.len() + 2 < KIND => format!(" {names:width$}{kind}\n", width = KIND - 1),
        _ => format!(" {names}\n{:KIND$}{kind}\n", ""),
    }
}

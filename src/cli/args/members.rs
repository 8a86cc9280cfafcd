//! The text below the options of a command: the members of a line of `--from`, made from the matching options, and the end of
//! each list of exit codes.

use crate::request::members::{Shape, of_task};
use clap::Command;

/// The place of the list in a help text.
const PLACE: &str = "{members}\n";
/// The column at which the kind of a value begins.
const KIND: usize = 26;
/// The most columns of the names of a kind.
const WIDTH: usize = 78;

/// The last line of a list of exit codes.
const OTHERS: &str = "\n  others as in luzia-exit-codes(7)";

/// The text below the options of a command, with the list of members in its place. A list of exit codes ends with the page that
/// has the others, if the command has others.
pub fn after_help(command: &Command) -> String {
    let mut text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if text.contains("\nExit codes:\n") && !text.ends_with("always") && !text.ends_with("(7)") {
        text += OTHERS;
    }
    if text.contains(PLACE) { text.replace(PLACE, &list()) } else { text }
}

/// The members, those with the same kind of value together.
fn list() -> String {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for member in of_task() {
        let kind = kind(&member.shape);
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, names)) => names.push(member.name),
            None => kinds.push((kind, vec![member.name])),
        }
    }
    kinds.iter().map(|(kind, names)| entry(kind, names)).collect()
}

fn kind(shape: &Shape) -> String {
    let text = match shape {
        Shape::Choice(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let (last, others) = quoted.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
            return format!("{} or {last}", others.join(", "));
        }
        Shape::Text => "a string",
        Shape::Texts => "an array of strings or numbers, or one of them alone",
        Shape::Flag => "true or false",
        Shape::Count => "a whole number",
        Shape::Duration => "a string as DUR, or a number of seconds",
        Shape::Share => "a number from 0 to 1",
        Shape::Directory => "true, or a string: a directory",
        Shape::Variables => "an object of strings, or an array of \"K=V\"",
        Shape::Steps => "an array, as in the file of --steps",
        Shape::Command => "an array of strings: the command and its arguments",
    };
    text.to_owned()
}

/// The names of members, and behind or below the names their kind.
fn entry(kind: &str, names: &[String]) -> String {
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

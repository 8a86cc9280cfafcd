//! The members of a task request and the shape of their values, made from the options. Help texts and schemas are made of
//! them.

use super::{TaskRequest, members};
use clap::{Arg, ArgAction, Args, Command};

/// A member of a request, or an argument of a tool.
pub struct Member {
    /// Its name in JSON.
    pub name: String,
    /// Its option, without hyphens. The command has none.
    pub option: Option<String>,
    /// The first line of its help.
    pub about: String,
    /// The shape of its value.
    pub shape: Shape,
}

/// Shape of the value of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// Texts, or a single text.
    Texts,
    /// One of these words.
    Choice(Vec<String>),
    /// True or false.
    Flag,
    /// A whole number.
    Count,
    /// A length of time.
    Duration,
    /// A number from 0 to 1.
    Share,
    /// A directory, or true for the one of the command.
    Directory,
    /// Variables with their values.
    Variables,
    /// Steps, as in the file of `--steps`.
    Steps,
    /// A command and its arguments.
    Command,
}

/// The members of a task request, in the order of the help.
pub fn of_task() -> Vec<Member> {
    let names = members::names::<TaskRequest>();
    let options = TaskRequest::augment_args(Command::new("task"));
    let member = |option: &Arg| {
        let name = names.iter().find(|name| **name == option.get_id().as_str())?;
        Some(Member {
            name: (*name).to_owned(),
            option: option.get_long().map(str::to_owned),
            about: option.get_help().map(ToString::to_string).unwrap_or_default(),
            shape: shape(option),
        })
    };
    options.get_arguments().filter_map(member).collect()
}

fn shape(option: &Arg) -> Shape {
    let words: Vec<String> = option.get_possible_values().iter().map(|word| word.get_name().to_owned()).collect();
    let value = option.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (option.get_action(), value) {
        (ArgAction::SetTrue, _) => Shape::Flag,
        _ if !words.is_empty() => Shape::Choice(words),
        (_, "CMD") => Shape::Command,
        (_, "FILE") => Shape::Steps,
        (_, "DIR") if option.get_num_args().is_some_and(|count| count.min_values() == 0) => Shape::Directory,
        (_, "K=V") => Shape::Variables,
        (_, "N") => Shape::Count,
        (_, "DUR") => Shape::Duration,
        (_, "SHARE") => Shape::Share,
        (ArgAction::Append, _) => Shape::Texts,
        _ => Shape::Text,
    }
}

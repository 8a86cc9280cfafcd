//! The members of requests. [`read`] reads a JSON object into a request: a mistake is a sentence that names the member.
//! [`of_task`] gives the members of a task request with the shapes of their values, made from the options. Help texts and
//! schemas are made of them.

use super::TaskRequest;
use clap::{Arg, ArgAction, Args, Command};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

/// Reads the members, in their order. A name may have `-` for `_`. A name that is given twice is a mistake.
pub fn read(members: Vec<(Cow<'_, str>, Value)>) -> Result<TaskRequest, String> {
    let last = RefCell::new(Cow::Borrowed(""));
    let noted = members.into_iter().map(|(name, value)| {
        let field = name.replace('-', "_");
        *last.borrow_mut() = name;
        (field, Given(value))
    });
    TaskRequest::deserialize(MapDeserializer::new(noted)).map_err(|wrong| match wrong {
        Wrong::Unknown(_) => format!("\"{}\" is not an option of a task", last.borrow()),
        Wrong::Twice(field) => format!("\"{field}\" is given twice"),
        Wrong::Value(why) => format!("\"{}\" {why}", last.borrow()),
    })
}

/// The option of a member, e.g. `--start-within` of `start_within`.
pub fn option_of(member: &str) -> String {
    format!("--{}", member.replace('_', "-"))
}

/// A fault of a member.
#[derive(Debug)]
enum Wrong {
    /// The request has no member of this name. Holds the names of all members.
    Unknown(&'static [&'static str]),
    /// The member is given twice. Holds its name.
    Twice(&'static str),
    /// The value of the member is wrong. Holds the sentence without the name.
    Value(String),
}

impl Error for Wrong {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Value(why.to_string())
    }

    fn invalid_type(_: Unexpected, expected: &dyn Expected) -> Self {
        Self::Value(match expected.to_string().as_str() {
            "a boolean" => "must be true or false".to_owned(),
            "u8" | "u32" => "must be a whole number in its range".to_owned(),
            "a sequence" => "must be an array of strings".to_owned(),
            other => format!("must be {other}"),
        })
    }

    fn invalid_value(unexpected: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_field(_: &str, names: &'static [&'static str]) -> Self {
        Self::Unknown(names)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::Twice(field)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(_) => f.write_str("is unknown"),
            Self::Twice(_) => f.write_str("is given twice"),
            Self::Value(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Wrong {}

/// The value of a member. A null is read as a value, and no field accepts it.
struct Given(Value);

impl<'de> Deserializer<'de> for Given {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(is_so) => visitor.visit_bool(is_so),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Given))),
            Value::Object(members) => {
                visitor.visit_map(MapDeserializer::new(members.into_iter().map(|(name, value)| (name, Given(value)))))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, Wrong> for Given {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A member of a request, or an argument of a tool.
pub struct Member {
    /// The name of the member in JSON.
    pub name: String,
    /// The option of the member, without hyphens. The command has none.
    pub option: Option<String>,
    /// The first line of the member's help.
    pub about: String,
    /// The shape of the member's value.
    pub shape: Shape,
}

/// Shape of the value of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// Texts, or a single text.
    Texts,
    /// One of some words.
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
    let none = std::iter::once((String::new(), Given(Value::Null)));
    let names = match TaskRequest::deserialize(MapDeserializer::new(none)) {
        Err(Wrong::Unknown(names)) => names,
        _ => &[],
    };
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

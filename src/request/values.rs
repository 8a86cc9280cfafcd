//! Values of requests: the words that options accept, each with its help; numbers; and values in JSON that are wider than the
//! type of the field, e.g. a duration as a number.

use crate::model::Status;
use crate::model::calendar::Overlap;
use crate::model::task::OnInterrupt;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;
use std::fmt::Display;
use std::str::FromStr;

/// Values of the domain as the words of an option, each with its help.
macro_rules! words {
    ($type:ty { $($value:ident => $help:literal,)* }) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                let help = match self {
                    $(Self::$value => $help,)*
                };
                Some(PossibleValue::new(self.word()).help(help))
            }
        }
    };
}

pub(crate) use words;

words! { Status {
    Pending => "Accepted, not started",
    Running => "Its command runs",
    Waiting => "Waits for an event",
    Completed => "Its command ended with 0",
    Failed => "Its command ended otherwise, or could not run",
    Timeout => "A time limit ended it",
    Cancelled => "Somebody ended it",
}}

words! { Overlap {
    Skip => "It makes no task (the default)",
    Queue => "It makes a task, which waits for its turn (the default with --fill)",
}}

words! { OnInterrupt {
    Retry => "A failure: another attempt follows where one is left (the default)",
    Fail => "The end of the task: its command must not run twice",
}}

/// The treatment of a request with the key of an unfinished task.
#[derive(ValueEnum, Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnConflict {
    /// Queue the new task behind the other
    Queue,
    /// Queue nothing and print the id of the other (the default)
    #[default]
    Skip,
    /// Cancel the last waiting task with the key and the running ones, wait for their end, and queue the new task
    Replace,
    /// Queue nothing and fail
    Reject,
    /// Queue nothing and take the output and the end of the other; with --fresh also of one that has ended
    Join,
}

/// The effect of the end of a parent on an unfinished child.
#[derive(ValueEnum, Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParentDeath {
    /// The task goes on.
    Adopt,
    /// The task is cancelled.
    Cancel,
}

/// Reads one digit, 0 to 9.
pub(crate) fn priority(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(digit - b'0'),
        _ => Err("a priority is one digit from 0 (first) to 9 (last)".into()),
    }
}

/// A type of whole numbers, with its largest number.
pub(crate) trait Whole: FromStr + Display {
    /// The largest number.
    const MOST: Self;
}

macro_rules! whole {
    ($($kind:ty),*) => { $(impl Whole for $kind { const MOST: Self = <$kind>::MAX; })* };
}

whole!(u8, u32, i32, u64, usize);

/// Reads a plain decimal number: digits only, so neither `+1` nor `1e9`.
pub(crate) fn number<T: Whole>(text: &str) -> Result<T, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("a whole number is written in digits".into());
    }
    text.parse().map_err(|_| format!("the range is 0 to {}", T::MOST))
}

/// Reads the number of a process, from 1.
pub(crate) fn pid(text: &str) -> Result<u32, String> {
    let wrong = || String::from("a pid is a whole number from 1 to 2147483647");
    number::<i32>(text).ok().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).ok_or_else(wrong)
}

/// A duration or a share: a text, or a number.
pub fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(D::Error::custom("must be a duration")),
    }
}

/// A directory: a text, or true for the one the command runs in.
pub fn directory<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Bool(is_here) => Ok(is_here.then(|| ".".to_owned())),
        Value::String(text) => Ok(Some(text)),
        _ => Err(D::Error::custom("must be true, or a string")),
    }
}

/// Texts: an array of texts and numbers, or one of them alone.
pub fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    texts(Value::deserialize(from)?)
}

/// Variables: an object of texts, or `K=V` as [`one_or_more`] reads them.
pub fn variables<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let pair = |(key, value): (String, Value)| match key.contains('=') {
        // `A=B` with the value `C` would set the variable `A`.
        true => Err(D::Error::custom(format!("has \"{}\", which is no variable's name", key.escape_debug()))),
        false => match value {
            Value::String(text) => Ok(format!("{key}={text}")),
            _ => Err(D::Error::custom(format!("has \"{}\", whose value must be a string", key.escape_debug()))),
        },
    };
    match Value::deserialize(from)? {
        Value::Object(members) => members.into_iter().map(pair).collect(),
        other => texts(other),
    }
}

/// A word of an option.
pub fn word<'de, D: Deserializer<'de>, T: ValueEnum>(from: D) -> Result<Option<T>, D::Error> {
    let word = String::deserialize(from)?;
    T::from_str(&word, false).map(Some).map_err(|_| {
        let words: Vec<String> =
            T::value_variants().iter().filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned())).collect();
        let (last, others) = words.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
        D::Error::custom(format!("must be {} or {last}", others.join(", ")))
    })
}

/// Any value, as JSON text.
pub fn json_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Some(Value::deserialize(from)?.to_string()))
}

fn texts<E: Error>(value: Value) -> Result<Vec<String>, E> {
    match value {
        Value::Array(items) => items.into_iter().map(text_or_number).collect(),
        Value::String(_) | Value::Number(_) => Ok(vec![text_or_number(value)?]),
        _ => Err(E::custom("must be an array of strings")),
    }
}

fn text_or_number<E: Error>(value: Value) -> Result<String, E> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        other => text(other),
    }
}

fn text<E: Error>(value: Value) -> Result<String, E> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(E::custom("must be a string")),
    }
}

//! Kinds of values in JSON that are wider than the type of the field: a duration may be a number, a list may be one text.

use clap::ValueEnum;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

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
        // Joined with its value, it would name another variable.
        true => Err(D::Error::custom(format!("has \"{}\", which is no variable's name", key.escape_debug()))),
        false => Ok(format!("{key}={}", text(value)?)),
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

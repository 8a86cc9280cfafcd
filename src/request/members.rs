//! Reads the members of a JSON object into a request: a mistake is a sentence that names the member.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::Value;
use std::cell::RefCell;
use std::fmt;

/// Reads the members, in their order. A name may have `-` for `_`; one that is given twice is a mistake.
pub fn read<T: DeserializeOwned>(members: Vec<(String, Value)>) -> Result<T, String> {
    let last = RefCell::new(String::new());
    let noted = members.into_iter().map(|(name, value)| {
        let field = name.replace('-', "_");
        *last.borrow_mut() = name;
        (field, Given(value))
    });
    T::deserialize(MapDeserializer::new(noted)).map_err(|wrong| match wrong {
        Wrong::Unknown(_) => format!("\"{}\" is no option of a task", last.borrow()),
        Wrong::Twice(field) => format!("\"{field}\" is given twice"),
        Wrong::Value(why) => format!("\"{}\" {why}", last.borrow()),
    })
}

/// The names of the members that a request takes.
pub fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    let none = std::iter::once((String::new(), Given(Value::Null)));
    match T::deserialize(MapDeserializer::new(none)) {
        Err(Wrong::Unknown(names)) => names,
        _ => &[],
    }
}

/// The names of the members that a request has: neither absent nor false nor empty.
pub fn given<T: Serialize>(request: &T) -> Vec<String> {
    let is_given =
        |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && *value != Value::Array(Vec::new());
    match serde_json::to_value(request) {
        Ok(Value::Object(members)) => {
            members.into_iter().filter(|(_, value)| is_given(value)).map(|(name, _)| name).collect()
        }
        _ => Vec::new(),
    }
}

/// The option of a member, e.g. `--start-within` of `start_within`.
pub fn option_of(member: &str) -> String {
    format!("--{}", member.replace('_', "-"))
}

/// A fault of a member.
#[derive(Debug)]
enum Wrong {
    /// No field has its name; the names that exist.
    Unknown(&'static [&'static str]),
    /// The field has its value already.
    Twice(&'static str),
    /// Its value: the sentence without the name.
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

/// The value of a member. A null is a value, and the value of no field.
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

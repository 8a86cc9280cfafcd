//! JSON text as a value, with the line and column of a fault.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Reads JSON in which no object has a key twice.
pub(super) fn read(text: &[u8]) -> serde_json::Result<Value> {
    reading(text, Reading { stop: None })
}

/// The error for the value at a path, with its place: serde_json knows the place only while it reads the value.
pub(super) fn error_at(text: &[u8], path: &[String], message: &str) -> Option<serde_json::Error> {
    reading(text, Reading { stop: Some((path, message)) }).err()
}

fn reading(text: &[u8], reading: Reading) -> serde_json::Result<Value> {
    let mut from = serde_json::Deserializer::from_slice(text);
    let value = reading.deserialize(&mut from)?;
    from.end().map(|()| value)
}

#[derive(Clone, Copy)]
struct Reading<'a> {
    /// The rest of the path to the wrong value, and the error.
    stop: Option<(&'a [String], &'a str)>,
}

impl Reading<'_> {
    fn at<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        match self.stop {
            Some(([], message)) => Err(E::custom(message)),
            _ => Ok(value.into()),
        }
    }

    fn below(self, key: &str) -> Self {
        match self.stop {
            Some(([first, rest @ ..], message)) if first == key => Self { stop: Some((rest, message)) },
            _ => Self { stop: None },
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: Error>(self, value: $type) -> Result<Value, E> {
            self.at(value)
        })*
    };
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    scalars!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.at(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.at(Value::Null)?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Self { stop: None })? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.at(Value::Null)?;
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if members.contains_key(&key) {
                return Err(Error::custom(format!("the key {key:?} is given twice")));
            }
            let value = map.next_value_seed(self.below(&key))?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

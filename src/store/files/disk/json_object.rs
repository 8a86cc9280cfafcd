//! JSON objects, for records and the configuration. Knows no file.

use crate::model::record::Object;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Parses a document that is one object.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_str::<Object<T>>(text(bytes)?).map(|object| object.0)
}

/// Checks that JSON is UTF-8. serde_json checks only the strings that a caller deserializes.
pub(crate) fn text(bytes: &[u8]) -> serde_json::Result<&str> {
    std::str::from_utf8(bytes).map_err(serde::de::Error::custom)
}

/// Parses an object as if it lacked the members of some names, and returns the text of each of these members.
pub(crate) fn apart<'de, T: Deserialize<'de>, const N: usize>(
    text: &'de str,
    names: [&str; N],
) -> serde_json::Result<(T, [Option<&'de RawValue>; N])> {
    let (mut texts, mut json) = ([None; N], serde_json::Deserializer::from_str(text));
    let rest = json.deserialize_map(Parted { names: &names, texts: &mut texts, rest: PhantomData })?;
    json.end()?;
    Ok((rest, texts))
}

struct Parted<'a, 'de, T> {
    names: &'a [&'a str],
    texts: &'a mut [Option<&'de RawValue>],
    rest: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parted<'_, 'de, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        let Self { names, texts, .. } = self;
        T::deserialize(MapAccessDeserializer::new(Rest { members, names, texts }))
    }
}

/// The members of other names.
struct Rest<'a, 'de, A> {
    members: A,
    names: &'a [&'a str],
    texts: &'a mut [Option<&'de RawValue>],
}

#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(MemberName(name)) = self.members.next_key()? {
            if let Some(at) = self.names.iter().position(|other| *other == name) {
                self.texts[at] = Some(self.members.next_value()?);
                continue;
            }
            return match name {
                Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
                Cow::Owned(name) => seed.deserialize(name.into_deserializer()),
            }
            .map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.members.next_value_seed(seed)
    }
}

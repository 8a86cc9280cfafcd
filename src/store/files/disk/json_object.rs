//! JSON objects, for records and the configuration. Knows no file.

use crate::model::record::{MemberName, Object};
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

/// The text of an object without members that stand in it, at the highest level, just as they are given: each as its name and
/// as its whole text, both with the comma before it. `None` if one of them is missing or has another value. The text itself may
/// be invalid: the result is valid only if the text is.
pub(crate) fn without(text: &str, members: &[(String, String)]) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut rest, mut kept) = (String::with_capacity(text.len()), 0);
    let (mut at, mut depth, mut is_string, mut found) = (0, 0_usize, false, 0);
    while found < members.len() {
        match *bytes.get(at)? {
            b'\\' if is_string => at += 1,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 1 => {
                if let Some((_, whole)) = members.iter().find(|(name, _)| bytes[at..].starts_with(name.as_bytes())) {
                    let end = at + whole.len();
                    if !begins_with(&bytes[at..], whole.as_bytes()) || !matches!(bytes.get(end), Some(b',' | b'}')) {
                        return None;
                    }
                    rest.push_str(&text[kept..at]);
                    (kept, at, found) = (end, end, found + 1);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    rest.push_str(&text[kept..]);
    (found > 0).then_some(rest)
}

/// `starts_with` for long parts: the C library of a released program (musl) compares byte by byte.
fn begins_with(bytes: &[u8], part: &[u8]) -> bool {
    let (blocks, end) = part.as_chunks::<32>();
    let (start, _) = bytes.as_chunks::<32>();
    let is_long_enough = bytes.len() >= part.len();
    is_long_enough && blocks.iter().eq(&start[..blocks.len()]) && bytes[part.len() - end.len()..].starts_with(end)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_left_out_only_if_each_of_its_bytes_is_equal() {
        for length in [0, 1, 20, 31, 32, 33, 63, 64, 65, 200] {
            let member = (",\"env\":".to_owned(), format!(",\"env\":\"{}\"", "a".repeat(length)));
            let text = |member: &str| format!("{{\"v\":1{member},\"user\":\"b\"}}");
            let members = [member.clone()];
            assert_eq!(without(&text(&member.1), &members).as_deref(), Some(r#"{"v":1,"user":"b"}"#));
            for at in 0..length {
                let mut other = member.1.clone();
                other.replace_range(8 + at..9 + at, "b");
                assert_eq!(without(&text(&other), &members), None, "{length} {at}");
            }
            assert_eq!(without(&text(&member.1)[..7 + member.1.len() - 1], &members), None);
        }
    }
}

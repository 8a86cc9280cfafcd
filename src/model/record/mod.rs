//! The values of the model as members of records, for serde. Knows no file, and of JSON only the members that a later version
//! may add ([`Extra`]) and the text of a value that many records have ([`Shared`]).

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A type that a record stores as its text: parses a text, or returns the reason that it is invalid.
macro_rules! as_text {
    ($type:ty, |$text:ident| $read:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let $text: &str = &std::borrow::Cow::<str>::deserialize(from)?;
                $read.map_err(serde::de::Error::custom)
            }
        }
    };
}

/// A type that a record stores as a word: its word, the parser of words, and the error for any other word.
macro_rules! as_word {
    ($type:ty, $word:expr, $parse:expr, $wrong:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($word(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<str>::deserialize(from)?;
                $parse(&word).ok_or_else(|| serde::de::Error::custom(format_args!("\"{word}\" {}", $wrong)))
            }
        }
    };
}

/// The words of an enum, in the form of files and the command line: one row for each value, in the order of the help.
macro_rules! words {
    ($type:ty { $($value:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order of the help.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The word of the value in files and on the command line.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word),+
                }
            }

            /// The value of a word, if the word is valid.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.word() == word)
            }
        }
    };
}

pub(crate) use {as_text, as_word, words};

/// The version of every record. luzia refuses a higher one and never rewrites it.
pub const FORMAT_VERSION: u64 = 1;

/// The member `v` of a record: [`FORMAT_VERSION`]; any other number is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(FORMAT_VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u64::deserialize(from)? {
            FORMAT_VERSION => Ok(Self),
            0 => Err(D::Error::custom("there was no version 0")),
            _ => Err(D::Error::custom("it is of a newer version")),
        }
    }
}

/// Members of a record that this version does not know. They are written again in their order, behind all others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Extra(Map<String, Value>);

impl Extra {
    /// Whether the record had none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A value that many tasks share, and so do their records: its JSON text is made once.
#[derive(Clone)]
pub struct Shared<T>(Arc<(T, OnceLock<Box<RawValue>>)>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new((value, OnceLock::new())))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.0
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (value, text) = &*self.0;
        if let Some(text) = text.get() {
            return text.serialize(to);
        }
        let made = serde_json::value::to_raw_value(value).map_err(ser::Error::custom)?;
        text.get_or_init(|| made).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::from)
    }
}

/// A JSON object only: serde's derived parsers also accept a list, member by member.
#[derive(Default)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// The members of a JSON object in the order of the text: a map would lose a member that is given twice.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, Value)>);

/// The name of a member, without a copy where the text has no escapes.
#[derive(Deserialize)]
pub(crate) struct MemberName<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((MemberName(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(All)
    }
}

/// Parses a member that is an object, or null.
pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(from).map(|member| member.map(|object| object.0))
}

/// Parses a member that is a note. An invalid note is lost; it does not make the record invalid.
pub(crate) fn note<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Note<T> {
        Read(T),
        Lost(IgnoredAny),
    }
    Note::deserialize(from).map(|note| match note {
        Note::Read(value) => Some(value),
        Note::Lost(_) => None,
    })
}

/// Parses the members of a flattened value. If one of them is missing or invalid, all are lost: if some stayed behind as unknown
/// members, the record would not be the same after it was written and read again.
pub(crate) fn together<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(Together(from)).ok())
}

/// The loss of a value. Its reason has no words, because most records lack most of these values.
#[derive(Debug, thiserror::Error)]
#[error("members are missing or invalid")]
struct Lost;

impl Error for Lost {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Takes every member of a struct before it parses one of them.
struct Together<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Together<D> {
    type Error = Lost;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Lost> {
        let all = ObjectVisitor(PhantomData::<Map<String, Value>>);
        let taken = self.0.deserialize_struct(name, members, all).map_err(Lost::custom)?.0;
        // At least one member is required.
        if taken.is_empty() {
            return Err(Lost);
        }
        Value::Object(taken).deserialize_struct(name, members, visitor).map_err(Lost::custom)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Lost> {
        self.0.deserialize_any(visitor).map_err(Lost::custom)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Whether a member has the value of a record that lacks it.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn is_true(value: &bool) -> bool {
    *value
}

pub(crate) fn yes() -> bool {
    true
}

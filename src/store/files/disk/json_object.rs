//! JSON objects, for records and the configuration. Knows no file.

use crate::model::record::Object;
use serde::de::DeserializeOwned;

/// Parses a document that is one object.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_str::<Object<T>>(text(bytes)?).map(|object| object.0)
}

/// Checks that JSON is UTF-8. serde_json checks only the strings that a caller deserializes.
pub(crate) fn text(bytes: &[u8]) -> serde_json::Result<&str> {
    std::str::from_utf8(bytes).map_err(serde::de::Error::custom)
}

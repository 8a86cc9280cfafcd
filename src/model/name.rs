//! Names from outside, and the one injective encoding of names as file names (contract, section 3).

use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};

/// The longest valid name, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;
/// The longest encoded form; longer ones become a hash.
pub const MAX_ENCODED_BYTES: usize = 160;

/// A name given from outside: a user, a project, a lane's key. 1 to 1024 bytes of UTF-8 without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(String);

/// The reason that a name was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// The name has no characters.
    #[error("a name cannot be empty")]
    Empty,
    /// The name is longer than [`MAX_NAME_BYTES`].
    #[error("a name cannot be longer than {MAX_NAME_BYTES} bytes")]
    TooLong,
    /// The name holds a control character (NUL, newline, escape, …).
    #[error("a name cannot hold control characters")]
    Control,
}

impl Name {
    /// Validates a name from outside.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as part of a file name; see [`encode`].
    pub fn encoded(&self) -> String {
        encode(&self.0)
    }

    /// The name of an encoded form; `None` for a hashed form and for every spelling that [`encode`] does not make.
    pub fn decoded(encoded: &str) -> Option<Self> {
        // Most names are their own encoding.
        if !encoded.is_empty() && encoded.len() <= MAX_ENCODED_BYTES && is_plain(encoded) {
            return Some(Self(encoded.to_owned()));
        }
        let mut bytes = Vec::with_capacity(encoded.len());
        let mut rest = encoded.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'=' {
                let digits = [rest.next()?, rest.next()?];
                bytes.extend(from_hex(std::str::from_utf8(&digits).ok()?)?);
            } else {
                bytes.push(byte);
            }
        }
        let name = Self::new(&String::from_utf8(bytes).ok()?).ok()?;
        (name.encoded() == encoded).then_some(name)
    }
}

super::record::as_text!(Name, |text| Self::new(text));

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Encodes a name for use in a file name. Bytes of `[A-Za-z0-9_.-]` stay. A leading `.` or `-` and every other byte become `=`
/// and two lower-case hex digits. A result over 160 bytes becomes `=h` and the SHA-256 of the name in hex.
pub fn encode(name: &str) -> String {
    if name.len() <= MAX_ENCODED_BYTES && is_plain(name) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len() + 8);
    for (at, byte) in name.bytes().enumerate() {
        if stays(at, byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "={byte:02x}");
        }
    }
    if out.len() <= MAX_ENCODED_BYTES {
        return out;
    }
    format!("=h{}", hex(&Sha256::digest(name.as_bytes())))
}

/// The begin of a text from outside, for a message about it.
pub fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Whether a text is so many of the digits that [`hex`] writes.
pub fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Parses the form that [`hex`] makes.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16).filter(|_| !digit.is_ascii_uppercase());
    let byte = |pair: &[u8]| u8::try_from(value(pair.first()?)? * 16 + value(pair.get(1)?)?).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// Whether an encoded form is a hash, so that the name itself must be read from the record beside it.
pub fn is_hashed(encoded: &str) -> bool {
    encoded.strip_prefix("=h").is_some_and(|digits| is_hex(digits, 64))
}

/// Whether no byte of a text changes when it is encoded.
fn is_plain(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| stays(at, byte))
}

/// Whether a byte at a place of a name stays when the name is encoded.
fn stays(at: usize, byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || (at > 0 && (byte == b'.' || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, encoded: &str) {
        assert_eq!(encode(name), encoded);
        assert_eq!(Name::decoded(encoded).as_ref().map(Name::as_str), Some(name));
    }

    #[test]
    fn contract_vectors() {
        check("alice", "alice");
        check("telegram:user123", "telegram=3auser123");
        check("..", "=2e.");
        check(".hidden", "=2ehidden");
        check("-rf", "=2drf");
        check("a=b", "a=3db");
        check("Ünï", "=c3=9cn=c3=af");
        check("thread/123", "thread=2f123");
    }

    #[test]
    fn other_spellings_of_a_name_are_not_decoded() {
        for wrong in ["=61", "=2E.", ".", "-x", "=3", "=", "=zz", "=h00", "a/b", ""] {
            assert_eq!(Name::decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn long_names_become_a_hash_and_stay_apart() {
        let (a, b) = ("😀".repeat(64), "😀".repeat(65));
        assert!(is_hashed(&encode(&a)));
        assert_ne!(encode(&a), encode(&b));
        assert_eq!(Name::decoded(&encode(&a)), None);
        assert_eq!(encode(&"x".repeat(160)).len(), 160);
        assert!(is_hashed(&encode(&"x".repeat(161))));
    }

    #[test]
    fn refused_names() {
        assert_eq!(Name::new(""), Err(NameError::Empty));
        assert_eq!(Name::new(&"x".repeat(1025)), Err(NameError::TooLong));
        assert!(Name::new(&"x".repeat(1024)).is_ok());
        for control in ["a\nb", "a\0", "\u{1b}[31m", "\u{85}"] {
            assert_eq!(Name::new(control), Err(NameError::Control));
        }
    }

    proptest! {
        #[test]
        fn encoding_is_reversible_and_safe_as_a_file_name(name in "\\PC{1,40}") {
            let encoded = encode(&name);
            prop_assert!(encoded.len() <= MAX_ENCODED_BYTES);
            prop_assert!(!encoded.starts_with(['.', '-']));
            prop_assert!(encoded.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-=".contains(&b)));
            if let (false, Ok(name)) = (is_hashed(&encoded), Name::new(&name)) {
                prop_assert_eq!(Name::decoded(&encoded), Some(name));
            }
        }
    }
}

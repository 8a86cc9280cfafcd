//! The numbers that options accept.

use std::fmt::Display;
use std::str::FromStr;

/// Reads one digit, 0 to 9.
pub(crate) fn priority(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(digit - b'0'),
        _ => Err("a priority is one digit from 0 (first) to 9 (last)".into()),
    }
}

/// A kind of whole number, with the largest one that its values are read up to.
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

//! Text from outside made safe to print: nothing a name, a command or a log holds can move the cursor or turn text around.
//!
//! Pure; must not decide where text goes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes every control character (C0, DEL and C1), line separator and bidirectional control: `\n`, `\x1b`, `\u{202e}`.
/// The result is one line.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    escape_but(text, |_| false)
}

/// As [`escape_controls`], but newlines and tabs stay: for the output of commands and other text of several lines.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_but(text, |c| matches!(c, '\n' | '\t'))
}

/// Whether a character acts on a terminal instead of being shown.
pub(super) fn is_hostile(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape_but(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let bad = |c: char| is_hostile(c) && !stays(c);
    let Some(first) = text.find(bad) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            _ if !bad(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a String cannot fail.
            '\0'..='\u{ff}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_are_shown_not_obeyed() {
        for (text, shown) in [
            ("plain ünï 😀", "plain ünï 😀"),
            ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
            ("a\nb\tc\rd\0", "a\\nb\\tc\\rd\\x00"),
            ("\u{7f}\u{80}\u{9b}31m", "\\x7f\\x80\\x9b31m"),
            ("a\u{202e}b\u{2066}\u{2069}\u{2028}", "a\\u{202e}b\\u{2066}\\u{2069}\\u{2028}"),
        ] {
            assert_eq!(escape_controls(text), shown);
        }
        assert!(matches!(escape_controls("plain"), Cow::Borrowed(_)));
        assert_eq!(escape_lines("a\n\tb\x1b"), "a\n\tb\\x1b");
    }

    proptest! {
        #[test]
        fn nothing_hostile_is_left(text in "\\PC*|(?s:.{0,20})") {
            prop_assert!(!escape_controls(&text).chars().any(is_hostile));
        }
    }
}

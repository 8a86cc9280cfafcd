//! Makes text from outside safe to print: no name, command or log can move the cursor or reverse the text.
//!
//! Pure; must not decide where text goes.

use crate::model::who::is_unseen;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes every control character (C0, DEL and C1), line separator, direction character and invisible character: `\n`,
/// `\x1b`, `\u{202e}`, `\u{200b}`. The result is one line.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    escape_but(text, |_, _| false)
}

/// As [`escape_controls`], but newlines and tabs stay: for text of several lines.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_but(text, |c, _| matches!(c, '\n' | '\t'))
}

/// As [`escape_lines`], for the output of a command: the line ends of a terminal stay, and the joiners of scripts and
/// pictures.
pub fn escape_output(text: &str) -> Cow<'_, str> {
    escape_but(text, |c, rest| {
        matches!(c, '\n' | '\t' | '\u{200c}' | '\u{200d}') || c == '\r' && rest.starts_with('\n')
    })
}

/// The output of a command, in pieces that end anywhere.
#[derive(Default)]
pub struct Pieces {
    /// The beginning of a character, or of a line end, whose rest has not arrived.
    held: Vec<u8>,
}

impl Pieces {
    /// The complete part of a piece, as [`escape_output`] shows it.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let rest = self.held.split_off(whole(&self.held));
        let shown = escape_output(&String::from_utf8_lossy(&self.held)).into_owned().into_bytes();
        self.held = rest;
        shown
    }

    /// The rest at the end.
    pub fn end(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        escape_output(&String::from_utf8_lossy(&held)).into_owned().into_bytes()
    }
}

/// Number of bytes that can be shown before more arrive.
fn whole(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return bytes.len() - 1;
    }
    let begin =
        bytes.iter().rev().take(3).position(|byte| byte & 0xc0 != 0x80).map_or(0, |back| bytes.len() - 1 - back);
    match std::str::from_utf8(&bytes[begin..]) {
        Err(error) if error.error_len().is_none() => begin,
        _ => bytes.len(),
    }
}

fn escape_but(text: &str, stays: impl Fn(char, &str) -> bool) -> Cow<'_, str> {
    // Most texts are plain.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let bad = |(at, c): &(usize, char)| is_unseen(*c) && !stays(*c, &text[at + c.len_utf8()..]);
    let Some((first, _)) = text.char_indices().find(bad) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices() {
        match c {
            _ if !bad(&(first + at, c)) => out.push(c),
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
        assert_eq!(escape_lines("a\n\tb\x1b\r\n"), "a\n\tb\\x1b\\r\n");
        assert_eq!(escape_controls("a\u{200b}b\u{200d}\u{61c}\u{e0041}"), "a\\u{200b}b\\u{200d}\\u{61c}\\u{e0041}");
        assert_eq!(
            escape_output("a\r\n50%\r99%\u{200d}\u{202e}\x1b[1m\r"),
            "a\r\n50%\\r99%\u{200d}\\u{202e}\\x1b[1m\\r"
        );
    }

    #[test]
    fn a_piece_may_end_in_a_character() {
        let mut pieces = Pieces::default();
        let parts: [(&[u8], &str); 7] = [
            (b"a\xe2\x80", "a"),
            (b"\xaeb\r", "\\u{202e}b"),
            (b"\nc\r", "\r\nc"),
            (b"d\xff\xc3", "\\rd\u{fffd}"),
            (b"(", "\u{fffd}("),
            (b"\x1b]0;x", "\\x1b]0;x"),
            (b"\x07\xf0\x9f", "\\x07"),
        ];
        for (bytes, shown) in parts {
            assert_eq!(String::from_utf8_lossy(&pieces.take(bytes)), shown);
        }
        assert_eq!(String::from_utf8_lossy(&pieces.end()), "\u{fffd}");
        assert!(pieces.end().is_empty());
    }

    proptest! {
        #[test]
        fn nothing_hostile_is_left(text in "\\PC*|(?s:.{0,20})") {
            prop_assert!(!escape_controls(&text).chars().any(is_unseen));
        }

        #[test]
        fn pieces_show_what_the_whole_shows(text in "(\\PC|\r|\n|\u{1b}|é|\u{202e}){0,20}", cuts in prop::collection::vec(0usize..60, 0..5)) {
            let (mut pieces, mut shown, mut from) = (Pieces::default(), Vec::new(), 0);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            for cut in cuts.into_iter().chain([text.len()]) {
                shown.extend(pieces.take(&text.as_bytes()[from..cut]));
                from = cut;
            }
            shown.extend(pieces.end());
            let shown = String::from_utf8_lossy(&shown).into_owned();
            prop_assert_eq!(shown, escape_output(&text).into_owned());
        }
    }
}

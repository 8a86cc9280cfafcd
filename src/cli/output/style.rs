//! Colour and the wording of times on a terminal.
//!
//! Pure: the caller passes in whether there is a terminal, and the environment; neither is looked up.

use crate::cli::args::ColorWhen;
use crate::model::Timestamp;
use crate::model::time::format_duration;
use std::borrow::Cow;

/// The variables of the environment about colour.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColorHints {
    /// `NO_COLOR`; any text but the empty one means no colour.
    pub no_color: Option<String>,
    /// `CLICOLOR_FORCE`; any text but the empty one and `0` means colour also in a pipe.
    pub clicolor_force: Option<String>,
    /// `TERM`; `dumb` means no colour.
    pub term: Option<String>,
    /// Whether the stream is a terminal.
    pub is_terminal: bool,
}

/// Style of the text on one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether escape sequences are used.
    pub color: bool,
}

/// Kind of a piece of text, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Of less weight.
    Faint,
    /// Good.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
}

impl Style {
    /// No escape sequences.
    pub const PLAIN: Self = Self { color: false };

    /// `--color` first. If that decides nothing: NO_COLOR, then CLICOLOR_FORCE, then whether there is a terminal.
    pub fn choose(when: ColorWhen, hints: &ColorHints) -> Self {
        let is_set = |value: &Option<String>| value.as_deref().is_some_and(|text| !text.is_empty());
        let forced = is_set(&hints.clicolor_force) && hints.clicolor_force.as_deref() != Some("0");
        let color = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto if is_set(&hints.no_color) => false,
            ColorWhen::Auto if forced => true,
            ColorWhen::Auto => hints.is_terminal && hints.term.as_deref() != Some("dumb"),
        };
        Self { color }
    }

    /// Styles text that is already escaped.
    pub fn paint<'a>(self, tone: Tone, text: &'a str) -> Cow<'a, str> {
        let code = match tone {
            Tone::Plain => return Cow::Borrowed(text),
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "31",
        };
        if self.color && !text.is_empty() {
            Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// Time since a moment, e.g. `5m12s`; `in 3s` for a moment in the future.
pub fn age(now: Timestamp, at: Timestamp) -> String {
    let ms = now.ms_since(at);
    let length = format_duration(ms.unsigned_abs());
    if ms < 0 { format!("in {length}") } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(when: ColorWhen, no_color: Option<&str>, force: Option<&str>, is_terminal: bool, color: bool) {
        let hints = ColorHints {
            no_color: no_color.map(str::to_owned),
            clicolor_force: force.map(str::to_owned),
            term: None,
            is_terminal,
        };
        assert_eq!(Style::choose(when, &hints).color, color, "{when:?} {hints:?}");
    }

    #[test]
    fn colour_obeys_the_option_then_the_environment_then_the_terminal() {
        use ColorWhen::{Always, Auto, Never};
        check(Auto, None, None, true, true);
        check(Auto, None, None, false, false);
        check(Auto, Some("1"), None, true, false);
        check(Auto, Some(""), None, true, true);
        check(Auto, None, Some("1"), false, true);
        check(Auto, None, Some("0"), false, false);
        check(Auto, Some("1"), Some("1"), true, false);
        check(Always, Some("1"), None, false, true);
        check(Never, None, Some("1"), true, false);
    }

    #[test]
    fn a_dumb_terminal_has_no_colour() {
        let hints = ColorHints { term: Some("dumb".into()), is_terminal: true, ..ColorHints::default() };
        assert!(!Style::choose(ColorWhen::Auto, &hints).color);
    }

    #[test]
    fn ages_are_short() {
        let at = Timestamp(1_000_000);
        assert_eq!(age(Timestamp(1_312_000), at), "5m12s");
        assert_eq!(age(Timestamp(997_000), at), "in 3s");
        assert_eq!(age(Timestamp(i64::MAX), Timestamp(i64::MIN)), format_duration(i64::MAX.unsigned_abs()));
    }

    #[test]
    fn plain_text_stays_plain() {
        assert_eq!(Style::PLAIN.paint(Tone::Bad, "x"), "x");
        assert_eq!(Style { color: true }.paint(Tone::Bad, "x"), "\x1b[31mx\x1b[0m");
    }
}

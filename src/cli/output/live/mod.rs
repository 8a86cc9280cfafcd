//! One line in place on a terminal, gone before anything else is written there.

pub mod waiting;

use unicode_width::UnicodeWidthChar;

/// Puts the cursor at the beginning of the line and erases the line.
const ERASE: &[u8] = b"\r\x1b[2K";
/// The cells of a bar between its brackets.
const CELLS: usize = 24;

/// The last line of a terminal, as far as this process has written it.
#[derive(Default)]
pub struct Live {
    is_drawn: bool,
    /// Whether the output of a command has not ended its line.
    is_mid_line: bool,
}

impl Live {
    /// The bytes that show a text in place of the one before it. A terminal that is narrower than `width` by now cuts the text and
    /// does not wrap it.
    pub fn draw(&mut self, text: &str, width: u16) -> Vec<u8> {
        if self.is_mid_line {
            return Vec::new();
        }
        self.is_drawn = true;
        [ERASE, b"\x1b[?7l", cut(text, usize::from(width).saturating_sub(1)).as_bytes(), b"\x1b[?7h"].concat()
    }

    /// The bytes that remove the line.
    pub fn erase(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.is_drawn) { ERASE } else { b"" }
    }

    /// Notes that bytes go to the terminal.
    pub fn passed(&mut self, bytes: &[u8]) {
        self.is_mid_line = bytes.last().map_or(self.is_mid_line, |last| *last != b'\n');
    }
}

/// The part of a text that has room in so many cells.
fn cut(text: &str, cells: usize) -> &str {
    let mut left = cells;
    let fits = |c: char| {
        let wide = c.width().unwrap_or(0);
        let is_in = wide <= left;
        left = left.saturating_sub(wide);
        is_in
    };
    let end = text.char_indices().zip(text.chars().map(fits)).find(|(_, is_in)| !is_in);
    end.map_or(text, |((at, _), _)| &text[..at])
}

/// A bar for a part of a whole, and both numbers.
pub fn bar(part: u64, whole: u64) -> String {
    let cells = u64::try_from(CELLS).unwrap_or(0).saturating_mul(part.min(whole)).checked_div(whole).unwrap_or(0);
    let full = usize::try_from(cells).unwrap_or(CELLS);
    format!("[{}{}] {part}/{whole}", "=".repeat(full), " ".repeat(CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_replaces_the_one_before_and_never_the_output_of_a_command() {
        let mut live = Live::default();
        assert_eq!(live.erase(), b"");
        assert_eq!(live.draw("abc", 80), b"\r\x1b[2K\x1b[?7labc\x1b[?7h");
        assert_eq!([live.erase(), live.erase()], [ERASE, b""]);
        live.passed(b"50 %");
        assert_eq!(live.draw("abc", 80), b"");
        live.passed(b"");
        assert_eq!(live.draw("abc", 80), b"");
        live.passed(b"\n");
        assert!(!live.draw("abc", 80).is_empty());
    }

    #[test]
    fn a_line_is_narrower_than_the_terminal_and_a_bar_has_one_width() {
        for (text, cells, wanted) in
            [("abc", 3, "abc"), ("abc", 2, "ab"), ("漢字", 3, "漢"), ("", 0, ""), ("e\u{301}f", 1, "e\u{301}")]
        {
            assert_eq!(cut(text, cells), wanted);
        }
        assert_eq!(bar(0, 0), format!("[{}] 0/0", " ".repeat(CELLS)));
        assert_eq!(bar(3, 6), format!("[{}{}] 3/6", "=".repeat(12), " ".repeat(12)));
        assert!(bar(9, 6).starts_with(&format!("[{}]", "=".repeat(CELLS))));
    }
}

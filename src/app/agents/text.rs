//! Places in texts, and the lines for agents between two marks.

use super::texts::{BEGIN, END, block};

/// Why a text cannot be read, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The fault.
    pub message: String,
}

/// A fault at a byte of a text.
pub fn at(text: &str, offset: usize, message: &str) -> Broken {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Broken {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.to_owned(),
    }
}

/// The text with the lines for agents at its end, or in the place of older ones between the same marks.
pub fn with_block(text: &str) -> String {
    let block = block();
    if let Some((from, to)) = block_in(text) {
        return format!("{}{block}{}", &text[..from], &text[to..]);
    }
    let gap = match text {
        "" => "",
        _ if text.ends_with("\n\n") => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{block}\n")
}

/// The text without these lines, and without the blank line before them.
pub fn without_block(text: &str) -> String {
    let Some((from, to)) = block_in(text) else { return text.to_owned() };
    let rest = text[to..].strip_prefix('\n').unwrap_or(&text[to..]);
    let before = &text[..from];
    let before = if before.ends_with("\n\n") && rest.is_empty() { &before[..before.len() - 1] } else { before };
    format!("{before}{rest}")
}

/// The place of these lines: from their first mark to the end of their last one.
fn block_in(text: &str) -> Option<(usize, usize)> {
    let from = text.find(BEGIN)?;
    Some((from, from + text[from..].find(END)? + END.len()))
}

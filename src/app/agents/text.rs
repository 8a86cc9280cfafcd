//! Places in texts, and a block of lines between two marks.

/// Why a text cannot be read, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
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

/// The text with a block of lines at its end, or in the place of an older block between the same marks.
pub fn with_block(text: &str, block: &str, begin: &str, end: &str) -> String {
    if let Some((from, to)) = block_in(text, begin, end) {
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

/// The text without the block, and without the blank line before it.
pub fn without_block(text: &str, begin: &str, end: &str) -> String {
    let Some((from, to)) = block_in(text, begin, end) else { return text.to_owned() };
    let rest = text[to..].strip_prefix('\n').unwrap_or(&text[to..]);
    let before = &text[..from];
    let before = if before.ends_with("\n\n") && rest.is_empty() { &before[..before.len() - 1] } else { before };
    format!("{before}{rest}")
}

/// Where a block stands: from its first mark to the end of its last one.
fn block_in(text: &str, begin: &str, end: &str) -> Option<(usize, usize)> {
    let from = text.find(begin)?;
    let to = from + text[from..].find(end)? + end.len();
    Some((from, to))
}

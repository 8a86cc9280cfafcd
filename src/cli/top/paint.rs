//! The bytes that turn one frame on a terminal into another. They use sixteen colours at most.

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write as _;

/// The bytes from one frame to the next. A frame of another size begins on an empty screen.
pub fn bytes(before: &Buffer, after: &Buffer) -> String {
    let is_new = before.area != after.area;
    let empty = Buffer::empty(after.area);
    let (mut out, mut next, mut style) = (String::new(), None, String::new());
    if is_new {
        out.push_str("\x1b[0m\x1b[2J");
    }
    for (x, y, cell) in (if is_new { &empty } else { before }).diff(after) {
        if next != Some((x, y)) {
            let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
        }
        let wanted = rendition(cell);
        if wanted != style {
            let _ = write!(out, "\x1b[{wanted}m");
            style = wanted;
        }
        out.push_str(cell.symbol());
        // The width of a terminal and ours may differ for a character that is not ASCII.
        next = cell.symbol().is_ascii().then_some((x + 1, y));
    }
    if !style.is_empty() {
        out.push_str("\x1b[0m");
    }
    out
}

/// The parameters of SGR (ECMA-48) for a cell.
fn rendition(cell: &Cell) -> String {
    let colour = match cell.fg {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Yellow => ";33",
        _ => "",
    };
    let attributes = [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")];
    let set = attributes.into_iter().filter(|(modifier, _)| cell.modifier.contains(*modifier));
    std::iter::once("0").chain(set.map(|(_, code)| code)).chain([colour]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;

    #[test]
    fn only_what_differs_is_written() {
        let before = Buffer::with_lines(["abc", "def"]);
        let mut after = Buffer::with_lines(["abc", "xyf"]);
        assert_eq!(bytes(&before, &before), "");
        assert_eq!(bytes(&before, &after), "\x1b[2;1H\x1b[0mxy\x1b[0m");
        after.set_style(Rect::new(0, 0, 1, 1), Style::new().fg(Color::Red).add_modifier(Modifier::REVERSED));
        assert!(bytes(&before, &after).starts_with("\x1b[1;1H\x1b[0;7;31ma\x1b[2;1H\x1b[0mxy"));
        assert!(bytes(&Buffer::empty(Rect::ZERO), &before).starts_with("\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabc"));
    }
}

//! Tables: fitted to the width of a terminal, or uncut in a pipe.
//!
//! Makes text; must not print and must not choose the content of a cell. Every cell is escaped here.

use super::escape::escape_controls;
use super::style::{Style, Tone};
use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Row, presets};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Text of an empty cell, so that columns can be counted.
const EMPTY: &str = "-";
/// The least width in which a last column is cut instead of left to the terminal.
const LEAST_WIDTH: u16 = 20;
/// Width in characters up to which a column keeps its width on later pages.
const MOST_CARRIED: u16 = 80;

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// The heading, in capitals.
    pub title: &'static str,
    /// Whether the column is left out unless `-o wide` is asked for.
    pub is_wide: bool,
    /// Rank. On a terminal too narrow for the table, columns of a higher rank are left out first; those of rank 0 never.
    pub rank: u8,
}

impl Column {
    /// A column that is always shown.
    pub const fn new(title: &'static str) -> Self {
        Self { title, is_wide: false, rank: 0 }
    }

    /// A column of `-o wide`.
    pub const fn wide(title: &'static str) -> Self {
        Self { title, is_wide: true, rank: 0 }
    }

    /// The column with a rank.
    pub const fn ranked(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// Target of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The width of the terminal; `None` in a pipe.
    pub width: Option<u16>,
    /// Whether the columns of `-o wide` are shown.
    pub wide: bool,
    /// Colour.
    pub style: Style,
}

/// Rows under headings. The first column names the thing of its row (`-o name`); the last one is cut when a terminal
/// is too narrow, so text of any length belongs there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<(String, Tone)>>,
    /// The widths of the columns on the pages before this one; empty on the first.
    widths: Vec<u16>,
    /// The columns that the first page left out because the terminal is too narrow.
    dropped: Vec<usize>,
    /// Whether the headings are left out.
    is_headless: bool,
}

impl Table {
    /// A table without rows, all of whose columns are always shown.
    pub fn of(titles: &[&'static str]) -> Self {
        Self::new(&titles.iter().copied().map(Column::new).collect::<Vec<_>>())
    }

    /// A table without rows.
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
            widths: Vec::new(),
            dropped: Vec::new(),
            is_headless: false,
        }
    }

    /// The table without its headings.
    pub fn without_headings(self) -> Self {
        Self { is_headless: true, ..self }
    }

    /// Adds a row, one text a column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.toned_row(cells.into_iter().map(|text| (text.into(), Tone::Plain)));
    }

    /// Adds a row whose cells have tones. Missing cells are empty, further ones are left out.
    pub fn toned_row(&mut self, cells: impl IntoIterator<Item = (String, Tone)>) {
        let mut row: Vec<(String, Tone)> = cells.into_iter().collect();
        row.resize_with(self.columns.len(), Default::default);
        self.rows.push(row);
    }

    /// Whether there is nothing to show but headings.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// One page of a longer table, which is empty afterwards. Only the first page has headings, and columns never get
    /// narrower from one page to the next.
    pub fn page(&mut self, layout: Layout) -> String {
        let is_first = self.widths.is_empty();
        if self.rows.is_empty() && !is_first {
            return String::new();
        }
        if is_first {
            self.dropped = self.too_many(layout);
        }
        let (text, widths) = self.laid_out(layout, &self.dropped);
        self.widths = widths.into_iter().map(|width| width.min(MOST_CARRIED)).collect();
        self.rows.clear();
        if is_first && !self.is_headless { text } else { without_first_line(&text) }
    }

    /// Text over a column: its title, or on a later page a text as wide as the column was before.
    fn heading(&self, at: usize) -> Cow<'static, str> {
        match self.widths.get(at) {
            Some(width) => "-".repeat(usize::from(*width)).into(),
            None => self.columns[at].title.into(),
        }
    }

    /// The table, each line with a newline at its end.
    pub fn render(&self, layout: Layout) -> String {
        let text = self.laid_out(layout, &self.too_many(layout)).0;
        if self.is_headless { without_first_line(&text) } else { text }
    }

    fn asked_for(&self, layout: Layout) -> Vec<usize> {
        (0..self.columns.len()).filter(|at| layout.wide || !self.columns[*at].is_wide).collect()
    }

    /// The columns that do not fit on a terminal: by rank, as many as needed.
    fn too_many(&self, layout: Layout) -> Vec<usize> {
        let mut shown = self.asked_for(layout);
        let mut dropped = Vec::new();
        let Some(room) = layout.width.filter(|width| *width >= LEAST_WIDTH).map(u32::from) else { return dropped };
        if shown.iter().all(|at| self.columns[*at].rank == 0) {
            return dropped;
        }
        let widths = self.bare(&shown, Style::PLAIN, usize::from(MOST_CARRIED)).column_max_content_widths();
        let mut needed: Vec<u32> = widths.into_iter().map(|width| u32::from(width) + 2).collect();
        if let Some(last) = needed.last_mut() {
            // The last column is cut rather than shown without the others.
            *last = (*last - 2).min(u32::from(LEAST_WIDTH));
        }
        while needed.iter().sum::<u32>() > room {
            let ranks = shown.iter().enumerate().map(|(place, at)| (self.columns[*at].rank, place));
            let Some((_, place)) = ranks.filter(|(rank, _)| *rank > 0).max() else { break };
            dropped.push(shown.remove(place));
            needed.remove(place);
        }
        dropped
    }

    /// The text, and the widths of all columns; no widths for a text without layout.
    fn laid_out(&self, layout: Layout, dropped: &[usize]) -> (String, Vec<u16>) {
        let mut widths = vec![0; self.columns.len()];
        let mut shown = self.asked_for(layout);
        shown.retain(|at| !dropped.contains(at));
        let Some((last, body)) = shown.split_last() else {
            return (String::new(), widths);
        };
        let is_fitted = layout.width.is_some_and(|width| width >= LEAST_WIDTH);
        if !is_fitted && !layout.style.color {
            return (self.plain(&shown, &mut widths), widths);
        }
        let (text, table) = match layout.width {
            Some(width) if width >= LEAST_WIDTH => {
                let table = self.fitted(&shown, width, layout.style);
                (lines(&table), table)
            }
            Some(_) | None => {
                let body = self.bare(body, layout.style, usize::MAX);
                (self.whole(&body, *last, layout.style), body)
            }
        };
        for (at, width) in shown.iter().zip(table.column_max_content_widths()) {
            widths[*at] = width;
        }
        (text, widths)
    }

    /// The first column only, one a line (`-o name`).
    pub fn names(&self) -> String {
        self.rows.iter().filter_map(|row| row.first()).map(|(text, _)| format!("{}\n", escape_controls(text))).collect()
    }

    /// One line a row, the last column cut at `width`.
    fn fitted(&self, shown: &[usize], width: u16, style: Style) -> comfy_table::Table {
        let mut table = self.bare(shown, style, usize::from(width));
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width)
            .set_truncation_indicator("…")
            .set_constraints(shown.iter().skip(1).map(|_| ColumnConstraint::ContentWidth));
        if let Some(last) = table.column_mut(shown.len() - 1) {
            last.set_padding((0, 0));
        }
        // A delimiter that no escaped cell holds: the last column is cut anywhere, not at a word.
        table.set_delimiter('\n');
        table
    }

    /// Every cell whole, without colour: the same text as [`Self::whole`], at a fraction of its cost for a long list. Sets the
    /// widths of the columns.
    fn plain(&self, shown: &[usize], widths: &mut [u16]) -> String {
        let mut lines: Vec<Vec<Cow<str>>> = vec![shown.iter().map(|at| self.heading(*at)).collect()];
        for row in &self.rows {
            lines.push(shown.iter().map(|at| shown_text(&row[*at].0)).collect());
        }
        let body = &shown[..shown.len() - 1];
        for (place, at) in body.iter().enumerate() {
            widths[*at] = lines.iter().map(|line| width_of(&line[place])).max().unwrap_or(0);
        }
        let mut out = String::new();
        for line in &lines {
            let mut left = String::new();
            for (cell, at) in line.iter().zip(body) {
                left.push_str(cell);
                left.extend(std::iter::repeat_n(' ', usize::from(widths[*at] - width_of(cell)) + 2));
            }
            push_line(&mut out, &left, &line[body.len()]);
        }
        out
    }

    /// Every cell whole. The last column is not given to the layout, which knows widths up to 65535 only.
    fn whole(&self, body: &comfy_table::Table, last: usize, style: Style) -> String {
        let heading = self.heading(last);
        let heading = style.paint(Tone::Strong, &heading);
        let cells = self.rows.iter().map(|row| {
            let (text, tone) = &row[last];
            style.paint(*tone, &shown_text(text)).into_owned()
        });
        let right = std::iter::once(heading.into_owned()).chain(cells);
        let mut out = String::new();
        if body.column_iter().next().is_none() {
            right.for_each(|cell| push_line(&mut out, "", &cell));
        } else {
            body.lines().zip(right).for_each(|(line, cell)| push_line(&mut out, &line, &cell));
        }
        out
    }

    /// The requested columns, without borders, two spaces apart. Cells are cut at `most` characters, because the layout takes
    /// quadratic time for long ones.
    fn bare(&self, shown: &[usize], style: Style, most: usize) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::NOTHING).force_no_tty();
        if style.color {
            table.enforce_styling();
        }
        let heading = |at: &usize| cell(&self.heading(*at), Tone::Strong);
        let mut headings = Row::from(shown.iter().map(heading));
        headings.max_height(1);
        table.set_header(headings);
        for row in &self.rows {
            let mut line = Row::from(shown.iter().map(|at| {
                let (text, tone) = &row[*at];
                cell(&cut(shown_text(text), most), *tone)
            }));
            line.max_height(1);
            table.add_row(line);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table
    }
}

fn without_first_line(text: &str) -> String {
    text.split_once('\n').map_or(String::new(), |(_, rows)| rows.to_owned())
}

fn shown_text(text: &str) -> Cow<'_, str> {
    if text.is_empty() { EMPTY.into() } else { escape_controls(text) }
}

/// Number of columns of a terminal that a text without control characters takes.
fn width_of(text: &str) -> u16 {
    let width = if text.is_ascii() { text.len() } else { text.width() };
    u16::try_from(width).unwrap_or(u16::MAX)
}

fn cut(text: Cow<str>, most: usize) -> Cow<str> {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text,
    }
}

fn cell(text: &str, tone: Tone) -> Cell {
    let cell = Cell::new(text);
    match tone {
        Tone::Plain => cell,
        Tone::Strong => cell.add_attribute(Attribute::Bold),
        Tone::Faint => cell.add_attribute(Attribute::Dim),
        Tone::Good => cell.fg(Color::DarkGreen),
        Tone::Warn => cell.fg(Color::DarkYellow),
        Tone::Bad => cell.fg(Color::DarkRed),
    }
}

fn lines(table: &comfy_table::Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        push_line(&mut out, &line, "");
    }
    out
}

fn push_line(out: &mut String, left: &str, right: &str) {
    let start = out.len();
    out.push_str(left);
    out.push_str(right);
    out.truncate(start + out[start..].trim_end_matches(' ').len());
    out.push('\n');
}

#[cfg(test)]
mod tests;

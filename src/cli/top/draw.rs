//! One frame of the screen. Pure.

use super::actions::Care;
use super::keys::bar;
use super::state::{Detail, Page, Pane, Prompt, State, argument};
use crate::app::estimate::rough;
use crate::app::query::glance::{LaneUse, TaskNow, Which};
use crate::app::shell_word;
use crate::cli::commands::locks::lanes::state as lane_state;
use crate::cli::commands::look::list::columns;
use crate::cli::output::brief::length;
use crate::cli::output::escape::{escape_controls, escape_lines, escape_output};
use crate::cli::output::style::Tone;
use crate::cli::output::table::{Column, Layout, Table};
use crate::cli::output::task::tone;
use crate::model::Status;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most lines of a question or a sentence.
const MOST_SAID: usize = 4;

const LANE_COLUMNS: [&str; 5] = ["LANE", "USED", "QUEUE", "OLDEST", "STATE"];
/// The columns of tasks, with their ranks. They have the texts of `luzia list`.
const TASK_COLUMNS: [(&str, u8); 9] = [
    ("ID", 0),
    ("USER", 0),
    ("STATUS", 0),
    ("PRIO", 4),
    ("RAN", 3),
    ("WAITED", 2),
    ("START", 1),
    ("REASON", 0),
    ("COMMAND", 0),
];

/// The heights of the two tables, without their headings.
fn heights(state: &State) -> [usize; 2] {
    let room = usize::from(state.size.1).saturating_sub(6);
    let lanes = state.lanes().len().min(room / 3).max(1);
    [lanes, room.saturating_sub(lanes)]
}

/// The rows that are shown of a table, with the chosen one in the middle where that is possible.
fn window(at: usize, length: usize, height: usize) -> Range<usize> {
    let first = at.saturating_sub(height / 2).min(length.saturating_sub(height));
    first..length.min(first + height)
}

/// The tasks on the screen.
pub fn shown_tasks(state: &State) -> Range<usize> {
    window(state.at[1], state.tasks().len(), heights(state)[1])
}

/// Draws a frame.
pub fn draw(state: &State, buffer: &mut Buffer) {
    let area = buffer.area;
    let mut canvas = Canvas { buffer, color: state.color, y: 0 };
    canvas.line(&header(state), Tone::Strong);
    match &state.page {
        Page::Rows => rows(state, &mut canvas),
        Page::Detail(detail) => draw_detail(detail, &mut canvas),
    }
    let (text, tone) = prompt(state);
    let lines = folded(&text, usize::from(area.width));
    let most = lines.len().clamp(1, MOST_SAID);
    canvas.y = area.height.saturating_sub(1 + u16::try_from(most).unwrap_or(1));
    lines.iter().take(most).for_each(|line| canvas.whole_line(line, tone));
    canvas.y = area.height.saturating_sub(1);
    canvas.line(&bar(usize::from(area.width)), Tone::Faint);
}

/// The frame, and the row that is written next.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    color: bool,
    y: u16,
}

impl Canvas<'_> {
    /// Number of rows before the last two.
    fn room(&self) -> usize {
        usize::from(self.buffer.area.height.saturating_sub(2).saturating_sub(self.y))
    }

    /// Writes one row, cut at the edge. The text holds no control characters.
    fn line(&mut self, text: &str, tone: Tone) {
        let area = self.buffer.area;
        if self.y < area.height {
            let style = style(tone, self.color);
            self.buffer.set_stringn(area.x, area.y + self.y, text, usize::from(area.width), style);
            self.y += 1;
        }
    }

    /// Writes one row in the place of all that is there.
    fn whole_line(&mut self, text: &str, tone: Tone) {
        let row = Rect::new(0, self.y, self.buffer.area.width, 1).intersection(self.buffer.area);
        self.buffer.set_style(row, Style::reset());
        self.line(&format!("{text:<width$}", width = usize::from(row.width)), tone);
    }

    /// Writes a table with the tones of a column, and marks the chosen row.
    fn table(&mut self, table: &Table, column: &str, tones: &[Tone], chosen: Option<usize>) {
        let area = self.buffer.area;
        let text = table.render(Layout { width: Some(area.width), ..Layout::default() });
        let (heading, rows) = text.split_once('\n').unwrap_or((&text, ""));
        let at = heading.find(column).map_or(area.width, |at| u16::try_from(at).unwrap_or(area.width));
        self.line(heading, Tone::Strong);
        for (row, line) in rows.lines().enumerate() {
            let y = self.y;
            self.line(line, Tone::Plain);
            if let Some(tone) = tones.get(row).filter(|_| at < area.width) {
                let cells = Rect::new(at, y, 9, 1).intersection(area);
                self.buffer.set_style(cells, style(*tone, self.color));
            }
            if chosen == Some(row) {
                let row = Rect::new(0, y, area.width, 1).intersection(area);
                self.buffer.set_style(row, Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }
}

/// The sixteen colours of every terminal are enough; without colour, weight is left.
fn style(tone: Tone, color: bool) -> Style {
    let style = Style::new();
    let colour = |colour| if color { style.fg(colour) } else { style };
    match tone {
        Tone::Plain => style,
        Tone::Strong => style.add_modifier(Modifier::BOLD),
        Tone::Faint => style.add_modifier(Modifier::DIM),
        Tone::Good => colour(Color::Green),
        Tone::Warn => colour(Color::Yellow),
        Tone::Bad => colour(Color::Red),
    }
}

fn header(state: &State) -> String {
    let count = |status: Status| state.seen.tasks.iter().filter(|now| now.task.status() == status).count();
    let (used, max) = state.seen.slots;
    let more = if state.seen.has_more { "+" } else { "" };
    let tasks = match state.which {
        Which::Started => "reading the queue".to_owned(),
        Which::Unfinished => {
            let (runs, waits) = (count(Status::Running) + count(Status::Waiting), count(Status::Pending));
            format!("{runs} started, {waits}{more} waiting")
        }
        Which::Ended => format!("{} over", state.seen.tasks.len()),
    };
    let unread = if state.seen.unread > 0 { format!(", {} unreadable", state.seen.unread) } else { String::new() };
    format!("luzia top  {used}/{max} slots, {tasks}{unread}, {} lanes", state.seen.lanes.len())
}

fn rows(state: &State, canvas: &mut Canvas<'_>) {
    let [lanes_height, tasks_height] = heights(state);
    let chosen = |pane: Pane, window: &Range<usize>| {
        (state.pane == pane).then(|| state.at[pane as usize].saturating_sub(window.start))
    };
    let lanes = state.lanes();
    let shown = window(state.at[0], lanes.len(), lanes_height);
    let mut table = Table::new(&LANE_COLUMNS.map(Column::new));
    lanes[shown.clone()].iter().for_each(|lane| table.row(lane_cells(lane, state)));
    let tones: Vec<Tone> = lanes[shown.clone()].iter().map(|lane| lane_tone(lane)).collect();
    canvas.table(&table, "STATE", &tones, chosen(Pane::Lanes, &shown));
    canvas.y = u16::try_from(lanes_height + 3).unwrap_or(u16::MAX);
    let tasks = state.tasks();
    let shown = window(state.at[1], tasks.len(), tasks_height);
    let mut table = Table::new(&TASK_COLUMNS.map(|(title, rank)| Column::new(title).ranked(rank)));
    tasks[shown.clone()].iter().for_each(|now| table.row(task_cells(now, state)));
    let tones: Vec<Tone> = tasks[shown.clone()].iter().map(|now| tone(now.task.status())).collect();
    canvas.table(&table, "STATUS", &tones, chosen(Pane::Tasks, &shown));
    if tasks.is_empty() && state.which != Which::Started {
        canvas.line(if state.filter.is_empty() { "no task" } else { "no task with this text" }, Tone::Faint);
    }
}

fn lane_cells(lane: &LaneUse, state: &State) -> [String; 5] {
    let row = &lane.row;
    let max = if row.max == u32::MAX { "-".to_owned() } else { row.max.to_string() };
    let more = if state.seen.has_more { "+" } else { "" };
    let oldest = lane.oldest.map_or_else(String::new, |since| length(state.now.ms_since(since)));
    let name = state.names.shown(&row.name);
    [name, format!("{}/{max}", row.active), format!("{}{more}", row.queue), oldest, lane_state(row).to_owned()]
}

fn lane_tone(lane: &LaneUse) -> Tone {
    match lane_state(&lane.row) {
        "free" | "full" => Tone::Plain,
        _ => Tone::Warn,
    }
}

fn task_cells(now: &TaskNow, state: &State) -> Vec<String> {
    let why = (now.obstacle.as_ref(), now.wait.as_ref());
    let cell = |title: &str| match (title, &now.estimate) {
        ("START", Some(estimate)) if now.task.status() == Status::Pending => {
            format!("in {}", rough(estimate.p50_ms))
        }
        _ => columns::cell(title, &now.task, why, now.stuck, &state.names, state.now).0,
    };
    TASK_COLUMNS.iter().map(|(title, _)| cell(title)).collect()
}

/// The explanation in the upper half at most, and the end of the log below it.
fn draw_detail(detail: &Detail, canvas: &mut Canvas<'_>) {
    let width = usize::from(canvas.buffer.area.width);
    let name = detail.thing.as_ref().map(|thing| shell_word(argument(thing)));
    canvas.line(&name.as_ref().map_or_else(|| "keys".to_owned(), |name| format!("luzia explain {name}")), Tone::Strong);
    let why = folded(&escape_lines(&detail.explain), width);
    if detail.log.is_empty() {
        let room = canvas.room();
        let first = detail.back.min(why.len().saturating_sub(room));
        why[first..].iter().take(room).for_each(|line| canvas.line(line, Tone::Plain));
        return;
    }
    why.iter().take(canvas.room() / 2).for_each(|line| canvas.line(line, Tone::Plain));
    let before = if detail.back > 0 { format!(", {} lines before its end", detail.back) } else { String::new() };
    canvas.line(&format!("luzia logs -f {}{before}", name.unwrap_or_default()), Tone::Strong);
    let log = folded(&escape_output(&detail.log), width);
    let room = canvas.room();
    let end = log.len().saturating_sub(detail.back).max(room.min(log.len()));
    log[end.saturating_sub(room)..end].iter().for_each(|line| canvas.line(line, Tone::Plain));
}

/// The lines of a text. One that is too long is broken at its last space, where that leaves half of the line.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut folded = Vec::new();
    for line in text.lines() {
        let (mut piece, mut used) = (String::new(), 0);
        for c in line.replace('\t', "    ").chars() {
            let cells = c.width().unwrap_or(0);
            if used + cells > width && used > 0 {
                let rest = piece.rfind(' ').filter(|at| *at > piece.len() / 2).map(|at| piece.split_off(at + 1));
                folded.push(std::mem::replace(&mut piece, rest.unwrap_or_default()));
                used = piece.width();
            }
            piece.push(c);
            used += cells;
        }
        folded.push(piece);
    }
    folded
}

/// The line of a command.
pub fn line_of(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(shell_word).collect();
    format!("luzia {}", words.join(" "))
}

/// The lines above the bar: a question, or a sentence.
fn prompt(state: &State) -> (String, Tone) {
    match &state.prompt {
        Prompt::None if !state.said.is_empty() => (escape_controls(&state.said).into_owned(), Tone::Warn),
        Prompt::None if !state.filter.is_empty() => {
            (format!("filter: {}", escape_controls(&state.filter)), Tone::Faint)
        }
        Prompt::None => (String::new(), Tone::Plain),
        Prompt::Filter => (format!("filter: {}_", escape_controls(&state.filter)), Tone::Strong),
        Prompt::Ask(ask) => {
            let answer = match ask.care {
                Care::Word => format!("type yes and Enter: {}_", escape_controls(&ask.typed)),
                Care::Key => "y or n".to_owned(),
            };
            let fact = if ask.fact.is_empty() { String::new() } else { format!("\n{}", escape_controls(&ask.fact)) };
            (format!("{}?  {answer}{fact}", line_of(&ask.words)), Tone::Bad)
        }
    }
}

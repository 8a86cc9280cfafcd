//! Pictures as SVG: bars with labels that fit, colours for light and dark, and round moments. Pure.

pub mod spreads;
pub mod timeline;

use crate::model::Timestamp;
use crate::model::sorted::sort;
use crate::model::who::is_unseen;
use std::fmt::Write as _;

/// The families of all texts: the characters of each have one width.
const FAMILY: &str = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";
const FONT: i64 = 12;
const WIDTH: i64 = 1200;
/// The left edge of the bars; left of it stand their names.
const LEFT: i64 = 200;
const ROW: i64 = 22;
const BAR: i64 = 18;
/// The first row of bars.
const TOP: i64 = 86;
/// The empty space at each end of a label.
const PAD: i64 = 4;

/// The meaning of a bar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A run that is over.
    Ran,
    /// A run that goes on.
    Runs,
    /// A run that failed, or was interrupted.
    Failed,
    /// A run that was cancelled.
    Cancelled,
    /// A lock without a task.
    Lock,
    /// A lane that a task has borrowed.
    Loan,
    /// A task that waits for an event and keeps the lane.
    Rests,
    /// A task that waits for the lane.
    Waits,
}

/// The class of a kind in the picture, its words in the legend, and its ground, edge and text: light, then dark.
struct Look(&'static str, &'static str, [&'static str; 3], [&'static str; 3]);

/// In the order of [`Kind`].
const LOOKS: [Look; 8] = [
    Look("ran", "ran", ["#d0e4fb", "#1f6feb", "#0b2e5c"], ["#12355f", "#58a6ff", "#cfe3ff"]),
    Look("runs", "runs", ["#d3f0d8", "#1a7f37", "#0c3b1a"], ["#12402a", "#3fb950", "#c9f2d3"]),
    Look("failed", "failed or interrupted", ["#ffd9d6", "#cf222e", "#6e0b14"], ["#5c1a1f", "#ff7b72", "#ffdcd7"]),
    Look("cancelled", "cancelled", ["#e6e8eb", "#6e7781", "#2f363d"], ["#30363d", "#8b949e", "#d6dbe1"]),
    Look("lock", "lock", ["#e9dcfb", "#8250df", "#3b1a78"], ["#3b2568", "#a371f7", "#e8dcff"]),
    Look("loan", "on loan", ["#fff1c2", "#9a6700", "#4d3300"], ["#4f3a06", "#d29922", "#ffe9a8"]),
    Look("rests", "waits for an event", ["#d8f1f2", "#1b7c83", "#0b3f43"], ["#0f4247", "#39c5cf", "#c9f1f3"]),
    Look("waits", "waits for its turn", ["#f6f8fa", "#8c959f", "#424a53"], ["#1c2128", "#6e7681", "#b6bec8"]),
];
/// The ground of the page, its texts, its lesser texts, and its lines: light, then dark.
const PAGE: [[&str; 4]; 2] =
    [["#ffffff", "#1f2328", "#57606a", "#d8dee4"], ["#0d1117", "#e6edf3", "#9da7b3", "#30363d"]];

const SECOND: i64 = 1000;
const DAY: i64 = 86_400 * SECOND;
/// The distances of two moments at the axis: in milliseconds, then in seconds.
const SHORT_STEPS: [i64; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const STEPS: [i64; 26] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000,
    864_000, 1_296_000, 2_592_000, 8_640_000, 25_920_000, 86_400_000,
];

/// A bar in a picture.
pub struct Bar<'a> {
    /// The meaning of the bar.
    pub kind: Kind,
    /// The bar's left and right edges.
    pub x: (i64, i64),
    /// The row of the bar.
    pub y: i64,
    /// The label of the bar. What does not fit is cut, but not in the first word.
    pub label: &'a str,
    /// Further lines for a reader who points at it.
    pub told: &'a str,
    /// The bar's beginning and its end in milliseconds from the left edge of the picture.
    pub span: (i64, i64),
}

/// A picture to which its parts are added.
#[derive(Default)]
pub struct Sheet {
    body: String,
    legend: Vec<(Kind, &'static str)>,
}

impl Sheet {
    /// Adds a bar, which cuts off whatever is wider. The legend names its kind, by `word` if it is given.
    pub fn bar(&mut self, bar: &Bar, word: Option<&'static str>) {
        let Look(class, usual, ..) = LOOKS[bar.kind as usize];
        let entry = (bar.kind, word.unwrap_or(usual));
        if !self.legend.contains(&entry) {
            self.legend.push(entry);
        }
        let width = (bar.x.1 - bar.x.0).max(2);
        let label = xml(&short_label(bar.label, width - 2 * PAD));
        let text = if label.is_empty() { label } else { format!("<text x=\"{PAD}\" y=\"{}\">{label}</text>", BAR - 5) };
        let (x, y, told) = (bar.x.0, bar.y + 2, bar.told.lines().map(xml).collect::<Vec<_>>().join("\n"));
        let _ = writeln!(
            self.body,
            "<svg class=\"b {class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\" data-f=\"{}\" \
             data-t=\"{}\"><title>{}\n{told}</title><rect width=\"100%\" height=\"100%\"/>{text}</svg>",
            bar.span.0,
            bar.span.1,
            xml(bar.label)
        );
    }

    /// Adds a name at the left of a row, and with `is_first` a line above it.
    pub fn name(&mut self, y: i64, name: &str, is_first: bool) {
        let (class, width) = (if is_first { "name" } else { "faint" }, LEFT - 16);
        if is_first {
            let y = y - 2;
            let _ = writeln!(self.body, "<line x1=\"0\" y1=\"{y}\" x2=\"{WIDTH}\" y2=\"{y}\"/>");
        }
        let (full, shown) = (xml(name), xml(&fit(name, width)));
        let _ = writeln!(
            self.body,
            "<svg x=\"8\" y=\"{}\" width=\"{width}\" height=\"{BAR}\"><title>{full}</title><text class=\"{class}\" \
             x=\"0\" y=\"{}\">{shown}</text></svg>",
            y + 2,
            BAR - 5
        );
    }

    /// Adds a text of the page.
    pub fn text(&mut self, x: i64, y: i64, text: &str) {
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\">{}</text>", xml(text));
    }

    /// The picture: its heading, a grid with a word at each line, and the bars. `more` are attributes of its root.
    pub fn picture(&self, (title, head): (&str, &str), height: i64, ticks: &[(i64, String)], more: &str) -> String {
        let mut top = format!(
            "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text x=\"8\" y=\"20\">{}</text>\n",
            xml(head)
        );
        let (mut x, y) = (8, 32);
        let mut legend = self.legend.clone();
        sort(&mut legend);
        for (kind, word) in legend {
            let class = LOOKS[kind as usize].0;
            let _ = writeln!(
                top,
                "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\"/></g><text class=\"faint\" \
                 x=\"{}\" y=\"{}\">{word}</text>",
                x + 20,
                y + 11
            );
            x += 20 + text_width(word) + 16;
        }
        top += "<g id=\"ticks\">";
        for (x, word) in ticks {
            let _ = write!(
                top,
                "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{height}\"/><text class=\"faint\" x=\"{x}\" y=\"{}\" \
                 text-anchor=\"middle\">{word}</text>",
                TOP - 12,
                TOP - 18
            );
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} \
             {height}\" role=\"img\"{more}>\n<title>{title}</title>\n<style>{}</style>\n{top}</g>\n{}</svg>\n",
            style(),
            self.body
        )
    }
}

/// A picture as a file of its own.
pub fn file(picture: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{picture}")
}

fn style() -> String {
    let rules = |at: usize| {
        let [ground, text, faint, line] = PAGE[at];
        let mut rules = format!(".page{{fill:{ground}}}text{{fill:{text}}}.faint{{fill:{faint}}}line{{stroke:{line}}}");
        for Look(class, _, light, dark) in &LOOKS {
            let [fill, edge, text] = [light, dark][at];
            let _ = write!(rules, ".{class} rect{{fill:{fill};stroke:{edge}}}.{class} text{{fill:{text}}}");
        }
        rules
    };
    format!(
        "text{{font:{FONT}px {FAMILY}}}.name{{font-weight:bold}}rect{{stroke-width:2}}.loan rect,.waits \
         rect{{stroke-dasharray:5 3}}{}@media(prefers-color-scheme:dark){{{}}}",
        rules(0),
        rules(1)
    )
}

/// The most that a text is wide. A character that the families of [`FAMILY`] may lack comes from another one, and is wider.
fn text_width(text: &str) -> i64 {
    let hundredths = |c: char| if c < '\u{530}' || c == '…' { 62 } else { 130 };
    (text.chars().map(hundredths).sum::<i64>() * FONT + 99) / 100
}

/// A text that is not wider than `width`, with `…` where it is cut.
fn fit(text: &str, width: i64) -> String {
    let text = seen(text);
    if text_width(&text) <= width {
        return text;
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if text_width(&cut) + text_width("…") > width {
            cut.pop();
            break;
        }
    }
    if cut.is_empty() { cut } else { cut + "…" }
}

/// The part of a label that fits. A number is never cut: a part of it would be another number.
fn short_label(label: &str, width: i64) -> String {
    let first = label.split(' ').next().unwrap_or(label);
    let number = first.strip_prefix("task_").unwrap_or(first);
    let fits = |text: &str| text_width(&seen(text)) <= width;
    match () {
        () if fits(label) || fits(&format!("{first} .…")) => fit(label, width),
        () if fits(first) => seen(first),
        () if fits(number) => seen(number),
        () => String::new(),
    }
}

/// The distances of two moments at the axis, in milliseconds.
fn steps() -> impl Iterator<Item = i64> {
    SHORT_STEPS.into_iter().chain(STEPS.map(|seconds| seconds * SECOND))
}

/// The moments at an axis of so many pixels: multiples of the shortest round step whose words have room.
fn moments(begin: Timestamp, length: i64, pixels: i64) -> Vec<(Timestamp, String)> {
    let step = steps().find(|step| step.saturating_mul(pixels) / length >= 100).unwrap_or(length.max(1));
    let first = begin.0.div_euclid(step).saturating_add(i64::from(begin.0.rem_euclid(step) > 0)).saturating_mul(step);
    let moments = (0..=length / step).map(|number| Timestamp(first.saturating_add(number * step)));
    moments.filter(|at| at.ms_since(begin) <= length).map(|at| (at, moment(at, step))).collect()
}

/// The word of a moment: the day at midnight, else the time of day in UTC, as exact as the step.
fn moment(at: Timestamp, step: i64) -> String {
    let text = at.to_string();
    let part = match step {
        _ if step >= DAY || step >= 60 * SECOND && at.0 % DAY == 0 => 5..10,
        1..SECOND => 11..23,
        SECOND..60_000 => 11..19,
        _ => 11..16,
    };
    text.get(part).unwrap_or(&text).to_owned()
}

/// Text without control characters. One that is invisible, or that reverses text, is shown as its number.
fn seen(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}') {
            true => seen.extend(c.escape_unicode()),
            false => seen.push(c),
        }
    }
    seen
}

/// Text for XML 1.0.
fn xml(text: &str) -> String {
    seen(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

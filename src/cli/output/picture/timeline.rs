//! The holds of lanes as a picture, and as a page with that picture. Decides nothing about them.

use super::{BAR, Bar, Kind, LEFT, ROW, Sheet, TOP, moments, steps};
use crate::app::query::events::{Hold, by_lane, rows};
use crate::model::sorted::sort_by_key;
use crate::model::time::format_duration;
use crate::model::{TaskId, Timestamp};

/// The width of the bars; the word of the last moment goes beyond it.
const PLOT: i64 = 950;
/// The length of the longest wait that is left out, in pixels.
const SHORTEST: i64 = 14;
/// The most rows of waits of a lane.
const MOST_WAITS: usize = 6;
const SCRIPT: &str = include_str!("timeline.js");

/// A part of a row.
struct Span {
    row: usize,
    from: Timestamp,
    to: Timestamp,
    kind: Kind,
    label: String,
}

/// The part of time that is shown.
struct Scale {
    begin: Timestamp,
    end: Timestamp,
}

impl Scale {
    /// From the first wait to the last end, or to `now` where a hold lasts.
    fn of(holds: &[Hold], since: Timestamp, now: Timestamp) -> Self {
        let lasts = holds.iter().any(|hold| hold.to.is_none());
        let last = holds.iter().filter_map(|hold| hold.to).max().filter(|_| !lasts);
        let end = last.unwrap_or(now).max(since);
        Self { begin: holds.iter().map(|hold| hold.asked).min().unwrap_or(since).clamp(since, end), end }
    }

    fn length(&self) -> i64 {
        self.end.ms_since(self.begin).max(1)
    }

    fn x(&self, at: Timestamp) -> i64 {
        let ms = i128::from(at.clamp(self.begin, self.end).ms_since(self.begin)) * i128::from(PLOT);
        LEFT + i64::try_from(ms / i128::from(self.length())).unwrap_or(PLOT)
    }

    fn draw(&self, sheet: &mut Sheet, y: i64, span: &Span) {
        let ms = |at: Timestamp| at.clamp(self.begin, self.end).ms_since(self.begin);
        let length = format_duration(span.to.saturating_ms_since(span.from));
        let what = super::LOOKS[span.kind as usize].1;
        let told = format!("{what}, {length}\n{} to {}", span.from, span.to);
        let (x, span_ms) = ((self.x(span.from), self.x(span.to)), (ms(span.from), ms(span.to)));
        let y = y + i64::try_from(span.row).unwrap_or(0) * ROW;
        sheet.bar(&Bar { kind: span.kind, x, y, label: &span.label, told: &told, span: span_ms }, None);
    }
}

/// A picture: for each lane the rows of its holds, then those of its loans, then those of the waits for it.
pub fn svg(holds: &[Hold], since: Timestamp, now: Timestamp) -> String {
    super::file(&picture(holds, since, now))
}

/// A page with the picture, in which a reader can zoom. It loads nothing.
pub fn html(holds: &[Hold], since: Timestamp, now: Timestamp) -> String {
    let steps: Vec<i64> = steps().collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>luzia \
         timeline</title>\n<style>body{{margin:0;color-scheme:light dark}}#tip{{position:fixed;margin:0;padding:4px \
         8px;font:12px monospace;white-space:pre;background:Canvas;color:CanvasText;border:1px solid;pointer-events:none}}\
         </style>\n</head>\n<body>\n{}<p id=\"tip\" hidden></p>\n<script>\nconst STEPS = {steps:?}, LEFT = {LEFT}, PLOT = \
         {PLOT}, TOP = {TOP}\n{SCRIPT}</script>\n</body>\n</html>\n",
        picture(holds, since, now)
    )
}

fn picture(holds: &[Hold], since: Timestamp, now: Timestamp) -> String {
    let scale = Scale::of(holds, since, now);
    let (mut sheet, mut y) = (Sheet::default(), TOP);
    for (lane, holds) in by_lane(holds) {
        let (loans, own): (Vec<&Hold>, Vec<&Hold>) = holds.iter().partition(|hold| hold.lender.is_some());
        let (waits, left_out) = waits(&holds, &scale);
        let more = if left_out > 0 { format!("waits, +{left_out} not shown") } else { "waits".to_owned() };
        let mut name = lane.as_ref();
        for (caption, spans) in [("", spans(&own, &scale)), ("loans", spans(&loans, &scale)), (&more, waits)] {
            let Some(last) = spans.iter().map(|span| span.row).max() else { continue };
            if name.is_empty() {
                sheet.name(y, &format!("  {caption}"), false);
            } else {
                sheet.name(y, std::mem::take(&mut name), true);
            }
            spans.iter().for_each(|span| scale.draw(&mut sheet, y, span));
            y += i64::try_from(last + 1).unwrap_or(1) * ROW;
        }
        y += ROW - BAR;
    }
    let ticks = moments(scale.begin, scale.length(), PLOT);
    let ticks: Vec<(i64, String)> = ticks.into_iter().map(|(at, word)| (scale.x(at), word)).collect();
    let (begin, end) = (scale.begin.to_string(), scale.end.to_string());
    let nothing = if holds.is_empty() { ": no lane was held" } else { "" };
    let head = format!("luzia timeline, {begin} to {end}{nothing}");
    let more = format!(" data-begin=\"{}\" data-length=\"{}\"", scale.begin.0, scale.length());
    sheet.picture(("luzia timeline", &head), y + 8, &ticks, &more)
}

/// The holds, each divided by the times in which its task waited for an event.
fn spans(holds: &[&Hold], scale: &Scale) -> Vec<Span> {
    let mut spans = Vec::new();
    for (hold, row) in holds.iter().zip(rows(holds.iter().map(|hold| hold.span(scale.end)))) {
        let ((mut at, to), kind) = (hold.span(scale.end), kind_of(hold));
        let first = spans.len();
        let mut part = |from, to, kind| spans.push(Span { row, from, to, kind, label: label(hold, kind) });
        for (from, until) in &hold.waits {
            let from = (*from).clamp(at, to);
            let until = until.unwrap_or(to).clamp(from, to);
            if from > at {
                part(at, from, kind);
            }
            part(from, until, Kind::Rests);
            at = until;
        }
        if at < to || spans.len() == first {
            spans.push(Span { row, from: at, to, kind, label: label(hold, kind) });
        }
    }
    spans
}

/// The waits for a lane that are long enough to be seen, and the number of those that had no row. A task that takes other lanes,
/// too, waits beside those, and not beside the lane of all tasks.
fn waits(holds: &[&Hold], scale: &Scale) -> (Vec<Span>, usize) {
    let is_seen = |hold: &&&Hold| scale.x(hold.from) - scale.x(hold.asked) > SHORTEST && !hold.is_global();
    let mut waits: Vec<&Hold> = holds.iter().filter(is_seen).copied().collect();
    sort_by_key(&mut waits, |hold| (hold.asked, hold.from));
    let rows = rows(waits.iter().map(|hold| (hold.asked, hold.from)));
    let span = |(hold, row): (&&Hold, usize)| {
        let (kind, label) = (Kind::Waits, label(hold, Kind::Waits));
        (row < MOST_WAITS).then_some(Span { row, from: hold.asked, to: hold.from, kind, label })
    };
    let spans: Vec<Span> = waits.iter().zip(rows).filter_map(span).collect();
    let left_out = waits.len() - spans.len();
    (spans, left_out)
}

fn kind_of(hold: &Hold) -> Kind {
    match hold.end.as_str() {
        "failed" | "timeout" | "interrupted" => Kind::Failed,
        "cancelled" => Kind::Cancelled,
        _ if hold.lender.is_some() => Kind::Loan,
        _ if TaskId::parse(&hold.holder).is_none() => Kind::Lock,
        _ if hold.to.is_none() => Kind::Runs,
        _ => Kind::Ran,
    }
}

/// The holder, its user where the lane does not name that, its host, and the reason why the bar is no usual one.
fn label(hold: &Hold, kind: Kind) -> String {
    let is_own = hold.lane.strip_prefix("user:") == hold.user.as_deref();
    let user = hold.user.as_deref().filter(|_| !is_own).map(|user| format!(" {user}"));
    let host = hold.host.as_ref().map(|host| format!(" on {host}"));
    let lender = hold.lender.as_ref().map(|lender| format!(" in the lane of {lender}"));
    let end = matches!(kind, Kind::Failed | Kind::Cancelled).then(|| format!(" {}", hold.end));
    let parts = [user, host, lender, end].into_iter().flatten();
    std::iter::once(hold.holder.clone()).chain(parts).collect()
}

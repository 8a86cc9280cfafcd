//! Runs as bars over time, a line a user. Pure; decides nothing about them.

use super::escape::escape_controls;
use crate::app::demo::{Closed, Run};
use std::collections::BTreeMap;

/// Most columns of the part with the bars.
const WIDEST: usize = 100;
const NARROWEST: usize = 20;
/// Columns of a bar with a short number.
const SHORT: usize = 8;

/// The runs in a text of lines not longer than `width`, with a ruler of seconds above. A bar begins with the number of its task,
/// if that is short or has room before the next bar, and ends with `|`, or with `x` where the supervisor was killed. Where two runs
/// of a user overlap, the later one has a line of its own.
pub fn timeline(runs: &[Run], width: usize) -> String {
    let Some(begin) = runs.iter().map(|run| run.from_ms).min() else { return String::new() };
    let end = runs.iter().map(|run| run.to_ms).max().unwrap_or(begin).max(begin + 1);
    let mut rows: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        rows.entry(run.user.as_str()).or_default().push(run);
    }
    let label = rows.keys().map(|user| escape_controls(user).chars().count()).max().unwrap_or(0);
    let columns = width.saturating_sub(label + 2).clamp(NARROWEST, WIDEST);
    let scale = Scale { begin, length: end - begin, columns };
    let mut text = format!("{:label$}  {}\n", "", scale.ruler());
    for (user, mut runs) in rows {
        let mut name = escape_controls(user).into_owned();
        while !runs.is_empty() {
            let (line, rest) = scale.line(&runs);
            text.push_str(format!("{name:label$}  {line}").trim_end());
            text.push('\n');
            (runs, name) = (rest, String::new());
        }
    }
    text
}

struct Scale {
    begin: u64,
    length: u64,
    columns: usize,
}

impl Scale {
    /// The column of a moment.
    fn column(&self, ms: u64) -> usize {
        let columns = u64::try_from(self.columns).unwrap_or(u64::MAX);
        let at = (ms - self.begin).saturating_mul(columns) / self.length;
        usize::try_from(at).unwrap_or(usize::MAX).min(self.columns)
    }

    /// Marks at whole seconds, as many as have room.
    fn ruler(&self) -> String {
        let mut line = String::new();
        for second in 0..=self.length / 1000 {
            let mark = format!("{second}s");
            let at = self.column(self.begin + second * 1000);
            if (line.is_empty() || at > line.len()) && at + mark.len() <= self.columns {
                line.push_str(&" ".repeat(at - line.len()));
                line.push_str(&mark);
            }
        }
        line
    }

    /// Draws those runs in one line that do not cover each other, and returns the rest.
    fn line<'a>(&self, runs: &[&'a Run]) -> (String, Vec<&'a Run>) {
        let (mut line, mut rest) = (String::new(), Vec::new());
        let mut last_end = None;
        for (at, run) in runs.iter().enumerate() {
            if last_end.is_some_and(|end| run.from_ms < end) {
                rest.push(*run);
                continue;
            }
            last_end = Some(run.to_ms);
            // Two short runs in a row may want the same column: the later one moves.
            let from = self.column(run.from_ms).max(line.len());
            let next = runs[at + 1..].iter().find(|next| next.from_ms >= run.to_ms);
            let room = next.map_or(usize::MAX, |next| self.column(next.from_ms).saturating_sub(from));
            let bar = bar(run, self.column(run.to_ms).saturating_sub(from), room);
            line.push_str(&" ".repeat(from - line.len()));
            line.push_str(&bar);
        }
        (line, rest)
    }
}

/// A bar of some columns. Its number may go on behind it: a short one always, another one if it ends before the next bar.
fn bar(run: &Run, columns: usize, room: usize) -> String {
    let number = Some(run.task.0.to_string()).filter(|number| number.len() < room.max(SHORT)).unwrap_or_default();
    let end = match run.closed {
        Closed::Ended => '|',
        Closed::Recovered => 'x',
        Closed::Open => '>',
    };
    let fill = "=".repeat(columns.saturating_sub(number.len() + 1));
    format!("{number}{fill}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::demo::runs_of_lines;

    fn check(lines: &[(&str, u64)], width: usize, wanted: &str) {
        assert_eq!(timeline(&runs_of_lines(lines), width), wanted);
    }

    #[test]
    fn bars_stand_where_their_runs_were() {
        check(
            &[
                ("dispatched 1 alice", 5000),
                ("dispatched 5 bob", 5000),
                ("recovered 1 alice", 6000),
                ("dispatched 2 alice", 6000),
                ("ended 5 bob", 7000),
                ("ended 2 alice", 9000),
            ],
            27,
            "       0s   1s   2s   3s\nalice  1===x2=============|\nbob    5========|\n",
        );
    }

    #[test]
    fn runs_that_overlap_are_both_seen() {
        check(
            &[
                ("dispatched 1 alice", 0),
                ("dispatched 2 alice", 1000),
                ("ended 1 alice", 2000),
                ("ended 2 alice", 4000),
            ],
            27,
            "       0s   1s   2s   3s\nalice  1========|\n            2=============|\n",
        );
    }

    #[test]
    fn a_number_that_has_no_room_is_left_out() {
        check(
            &[
                ("dispatched 1099511627776 a", 0),
                ("ended 1099511627776 a", 1000),
                ("dispatched 7 a", 1000),
                ("ended 7 a", 3000),
                ("dispatched 1099511627777 a", 3000),
                ("ended 1099511627777 a", 4000),
            ],
            23,
            "   0s   1s   2s   3s\na  ====|7========|1099511627777|\n",
        );
    }

    #[test]
    fn nothing_is_nothing_and_a_moment_is_something() {
        check(&[], 80, "");
        check(&[("dispatched 1 a", 7), ("ended 1 a", 7)], 1, "   0s\na  1|\n");
    }
}

//! The lines of the hint. The header has the time of the listing and the time up to which use was decayed, in milliseconds, the
//! number of heads, and for each tier whether other heads come after these. Then come the heads, `<priority> <used> <grant>
//! <queue>`, and what was appended: `+<priority> <queue>` announces a lane, and `-<number>` strikes a line. Heads and
//! announcements have numbers from 0, in their order.

use super::HeadsView;
use crate::model::queue::{FirstHead, FirstHeads, Usage};
use crate::model::{Priority, Tier, Timestamp};
use std::fmt::Write as _;
use std::ops::Range;

const HEADER: &str = "luzia-heads 1 ";

/// The parsed lines.
pub(super) struct Lines {
    text: String,
    pub made: Timestamp,
    pub decayed_to: Timestamp,
    has_more: [bool; 3],
    /// Number of heads of the listing.
    listed: usize,
    lines: Vec<Line>,
}

struct Line {
    priority: Priority,
    used: Usage,
    queue: Range<usize>,
    is_live: bool,
}

/// The text of a hint.
pub(super) fn of(made: Timestamp, decayed_to: Timestamp, first: &FirstHeads) -> String {
    let count: usize = first.iter().map(|(heads, _)| heads.len()).sum();
    let [high, normal, low] = [0, 1, 2].map(|at: usize| u8::from(first[at].1));
    let mut text = format!("{HEADER}{} {} {count} {high} {normal} {low}\n", made.0, decayed_to.0);
    for FirstHead { priority, used, queue } in first.iter().flat_map(|(heads, _)| heads) {
        let _ = writeln!(text, "{} {} {} {queue}", priority.number(), used.used_us, used.last_grant);
    }
    text
}

/// The line that announces a lane.
pub(super) fn announcement(priority: Priority, queue: &str) -> String {
    format!("+{} {queue}\n", priority.number())
}

/// The announcements among appended lines.
pub(super) fn announcements(appended: &str) -> String {
    appended.split_inclusive('\n').filter(|line| line.starts_with('+') && line.ends_with('\n')).collect()
}

impl Lines {
    /// Parses the whole text; `None` if it is torn, damaged, or of another version.
    pub fn parse(text: String) -> Option<Self> {
        let whole = text.strip_suffix('\n')?.strip_prefix(HEADER)?;
        let (header, body) = whole.split_once('\n').unwrap_or((whole, ""));
        let mut numbers = header.split(' ');
        let mut next = || numbers.next();
        let (made, decayed_to) = (Timestamp(next()?.parse().ok()?), Timestamp(next()?.parse().ok()?));
        let listed: usize = next()?.parse().ok()?;
        let mut has_more = [false; 3];
        for more in &mut has_more {
            *more = next()?.parse::<u8>().ok()? == 1;
        }
        let mut at = text.len() - body.len() - 1;
        let mut lines: Vec<Line> = Vec::new();
        for line in body.split('\n').filter(|_| !body.is_empty()) {
            let end = at + line.len();
            if let Some(number) = line.strip_prefix('-') {
                lines.get_mut(number.parse::<usize>().ok()?)?.is_live = false;
            } else {
                let (announced, is_listed) = (line.strip_prefix('+'), lines.len() < listed);
                let (priority, rest) =
                    announced.unwrap_or(line).split_once(' ').filter(|_| announced.is_none() == is_listed)?;
                let (used, queue) = if is_listed { used_in(rest)? } else { (Usage::default(), rest) };
                let priority = Priority::new(priority.parse().ok()?)?;
                lines.push(Line { priority, used, queue: end - queue.len()..end, is_live: true });
            }
            at = end + 1;
        }
        (lines.len() >= listed).then_some(Self { text, made, decayed_to, has_more, listed, lines })
    }

    /// Number of announced lanes that were not struck.
    pub fn announced(&self) -> usize {
        self.lines[self.listed..].iter().filter(|line| line.is_live).count()
    }

    pub fn view(&self, most: usize) -> HeadsView {
        let mut view = HeadsView::default();
        for tier in Tier::ALL {
            let heads: Vec<&Line> = self.heads(tier).collect();
            let mut live = heads.iter().enumerate().filter(|(_, line)| line.is_live).map(|(at, _)| at);
            let mut looked_at: Vec<usize> = live.by_ref().take(most).collect();
            let mut next = live.next();
            // The queues of a user are looked at together, since they take turns.
            while let (Some(at), Some(last)) = (next, looked_at.last())
                && user_stem(self.queue(heads[at])) == user_stem(self.queue(heads[*last]))
            {
                looked_at.push(at);
                next = live.next();
            }
            let end = next.unwrap_or(heads.len());
            let is_cut = next.is_some() || self.has_more[tier.index()];
            view.last[tier.index()] = is_cut.then(|| heads[..end].last().map(|line| self.first_head(line)));
            let announced =
                self.lines[self.listed..].iter().filter(|line| line.is_live && line.priority.tier() == tier);
            for line in looked_at.into_iter().map(|at| heads[at]).chain(announced) {
                let lanes = view.lanes.entry(tier).or_default();
                let best = lanes.entry(self.queue(line).to_owned()).or_insert(line.priority);
                *best = line.priority.min(*best);
            }
        }
        view
    }

    pub fn last(&self, tier: Tier) -> Option<Option<FirstHead>> {
        self.has_more[tier.index()].then(|| self.heads(tier).last().map(|line| self.first_head(line)))
    }

    pub fn strike(&mut self, tier: Tier, queue: &str, changes: &mut String) {
        for (number, line) in self.lines.iter_mut().enumerate() {
            if line.is_live && line.priority.tier() == tier && &self.text[line.queue.clone()] == queue {
                line.is_live = false;
                let _ = writeln!(changes, "-{number}");
            }
        }
    }

    /// The heads of the listing in a tier, in their order.
    fn heads(&self, tier: Tier) -> impl Iterator<Item = &Line> {
        self.lines[..self.listed].iter().filter(move |line| line.priority.tier() == tier)
    }

    fn first_head(&self, line: &Line) -> FirstHead {
        FirstHead { priority: line.priority, used: line.used, queue: self.queue(line).to_owned() }
    }

    fn queue(&self, line: &Line) -> &str {
        &self.text[line.queue.clone()]
    }
}

/// Reads `<used> <grant> <queue>`.
fn used_in(text: &str) -> Option<(Usage, &str)> {
    let (used_us, rest) = text.split_once(' ')?;
    let (last_grant, queue) = rest.split_once(' ')?;
    Some((Usage { used_us: used_us.parse().ok()?, last_grant: last_grant.parse().ok()? }, queue))
}

fn user_stem(queue: &str) -> &str {
    queue.split('~').next().unwrap_or(queue)
}

//! Lanes as people on a terminal see them: with the path of a repository, a work tree or a directory in place of the digits of
//! its lane, and without the lane of all running tasks. Pipes and JSON have the names.

use crate::app::{App, names};
use crate::cli::args::OutputFormat;
use crate::cli::output::console::Console;
use crate::model::sorted::map_of;
use std::collections::BTreeMap;

/// The kinds of lanes that are digits of a directory, and the kind of `luzia name` that reads its path.
const KINDS: [(&str, &str); 3] = [("git", "@git-dir:"), ("tree", "@tree:"), ("dir", "@dir:")];

/// The texts that a stream shows in place of lanes.
#[derive(Default)]
pub struct Lanes {
    /// By the name of a lane: the argument of `-l` that names the lane by its path.
    paths: BTreeMap<String, String>,
    hides_global: bool,
}

impl Lanes {
    /// The lanes for standard output.
    pub fn of_out(app: &App, console: &Console) -> Self {
        let is_for_people = console.streams.is_out_terminal && !console.is_json();
        let hides_global = is_for_people && console.format != OutputFormat::Wide;
        Self { hides_global, ..Self::of(app, is_for_people) }
    }

    /// The lanes for standard error.
    pub fn of_err(app: &App, console: &Console) -> Self {
        Self::of(app, console.streams.is_err_terminal && !console.is_json())
    }

    fn of(app: &App, is_for_people: bool) -> Self {
        let places = if is_for_people { names::places(app) } else { BTreeMap::new() };
        let known = places.into_iter().filter_map(|(lane, path)| argument(&lane, &path).map(|shown| (lane, shown)));
        Self { paths: map_of(known), hides_global: false }
    }

    /// Whether a lane has no row and no place in a cell.
    pub fn hides(&self, lane: &str) -> bool {
        self.hides_global && lane == "global"
    }

    /// A text with the argument that holds the path in place of each lane that is known by one.
    pub fn shown(&self, text: &str) -> String {
        if self.paths.is_empty() {
            return text.to_owned();
        }
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '-';
        let pieces = text.split_inclusive(|c| !is_of_name(c)).map(|piece| {
            let word = piece.trim_end_matches(|c| !is_of_name(c));
            let rest = &piece[word.len()..];
            self.paths.get(word).map_or_else(|| piece.to_owned(), |shown| format!("{shown}{rest}"))
        });
        pieces.collect()
    }
}

/// The argument of a command that means a lane and holds its path: of a repository, that of its work tree.
fn argument(lane: &str, path: &str) -> Option<String> {
    let (kind, _) = lane.split_once(':')?;
    let (_, word) = KINDS.iter().find(|(of, _)| *of == kind)?;
    let path = if kind == "git" { path.strip_suffix("/.git").unwrap_or(path) } else { path };
    Some(format!("{word}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_of_digits_is_shown_by_its_path() {
        let place = |lane: &str, path: &str| (lane.to_owned(), argument(lane, path).expect("a directory"));
        let paths = [place("git:0123456789abcdef", "/w/app/.git"), place("tree:00000000000000aa", "/w/a b")];
        let lanes = Lanes { paths: BTreeMap::from(paths), hides_global: true };
        assert_eq!(lanes.shown("waits for task_1 (git:0123456789abcdef)"), "waits for task_1 (@git-dir:/w/app)");
        assert_eq!(lanes.shown("lane:x,tree:00000000000000aa"), "lane:x,@tree:/w/a b");
        assert_eq!(
            lanes.shown("git:0123456789abcdeé tree:00000000000000ab"),
            "git:0123456789abcdeé tree:00000000000000ab"
        );
        assert!(lanes.hides("global") && !lanes.hides("user:global") && !Lanes::default().hides("global"));
        assert_eq!(argument("port:80", "/x"), None);
    }
}

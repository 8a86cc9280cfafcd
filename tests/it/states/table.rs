//! The state table as `docs/states.md` has it, read from the page itself.

use super::Walked;
use super::combination::{Combination, Lock, Outcome, PLACES, Tree};
use luzia::policy::recovery::Action;

const PAGE: &str = include_str!("../../../docs/states.md");
const HEAD: &str = "| supervisor.lock | result.json | a copy in | none in | started.json | tree.lock | cancel.json \
                    | action | copies then | lock then | run/<id>/ then |";

/// One row.
#[derive(Debug)]
pub struct Row {
    /// As it stands on the page.
    pub text: String,
    cells: Vec<String>,
}

/// The rows of the page.
pub fn rows() -> Vec<Row> {
    let (_, below) = PAGE.split_once(HEAD).expect("the state table has its head");
    let rows: Vec<Row> = below.lines().skip(2).take_while(|line| line.starts_with('|')).map(row).collect();
    assert!(rows.len() > 5, "{rows:#?}");
    rows
}

fn row(line: &str) -> Row {
    let inner = line.trim().trim_matches('|').replace('`', "");
    let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
    assert_eq!(cells.len(), 11, "{line}");
    Row { text: line.to_owned(), cells }
}

fn names(cell: &str) -> Vec<&'static str> {
    let place = |word: &str| PLACES.into_iter().find(|place| *place == word);
    let words = cell.split(", ").filter(|word| *word != "–");
    words.map(|word| place(word).unwrap_or_else(|| panic!("\"{word}\" is no place"))).collect()
}

impl Row {
    fn cell(&self, at: usize) -> &str {
        &self.cells[at]
    }

    fn is_one_of(&self, at: usize, now: &str, known: &[&str]) -> bool {
        let cell = self.cell(at);
        assert!(cell == "any" || known.contains(&cell), "\"{cell}\" in {}", self.text);
        cell == "any" || cell == now
    }

    /// Whether a combination is one of this row.
    pub fn fits(&self, one: Combination) -> bool {
        let yes_or_no = |value: bool| if value { "yes" } else { "no" };
        let result = match one.result {
            Outcome::None | Outcome::Torn => "no",
            Outcome::Over => "over",
            Outcome::Again => "again",
            Outcome::Waits => "waits",
        };
        let supervisor = if one.is_supervised { "held" } else { "free" };
        let tree = if one.tree == Tree::Held { "held" } else { "free" };
        let has = |cell: &str| if cell == "any" { Vec::new() } else { names(cell) };
        self.is_one_of(0, supervisor, &["held", "free"])
            && self.is_one_of(1, result, &["no", "over", "again", "waits"])
            && has(self.cell(2)).iter().all(|place| one.copies.has(place))
            && has(self.cell(3)).iter().all(|place| !one.copies.has(place))
            && self.is_one_of(4, yes_or_no(one.is_started), &["yes", "no"])
            && self.is_one_of(5, tree, &["held", "free"])
            && self.is_one_of(6, yes_or_no(one.is_cancelled), &["yes", "no"])
    }

    /// What a walk over a combination of this row must see.
    pub fn expected(&self, one: Combination) -> Walked {
        let before = one.copies.names();
        let copies = match self.cell(8) {
            "the same" => before,
            "the same, but running and waiting" => {
                before.into_iter().filter(|place| !["running", "waiting"].contains(place)).collect()
            }
            cell => names(cell),
        };
        let action = match self.cell(7) {
            "leave alone" => None,
            "FinishEnd" => Some(Action::FinishEnd),
            "Interrupt" => Some(Action::Interrupt),
            "Unclaim" => Some(Action::Unclaim),
            "Discard" => Some(Action::Discard),
            "StayWaiting" => Some(Action::StayWaiting),
            other => panic!("\"{other}\" is no action"),
        };
        let stays = |at: usize, gone: &str| match self.cell(at) {
            "stays" => true,
            "kept" => one.names_lock(),
            cell if cell == gone => false,
            other => panic!("\"{other}\" in {}", self.text),
        };
        Walked {
            action,
            copies,
            is_locked: one.lock == Lock::Whole && stays(9, "released"),
            has_run_dir: stays(10, "removed"),
            has_tree: one.tree == Tree::Held && action.is_none(),
            error: None,
        }
    }
}

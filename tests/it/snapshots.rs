//! The texts that people read, compared with committed ones: help, tables, and `explain`.
//!
//! `INSTA_UPDATE=always cargo test --test it snapshots` rewrites them.

use crate::support::Place;
use insta::assert_snapshot;
use serde_json::json;

/// The commands with a help text of their own. The help of `enqueue` and `run` has 350 lines each, which are in their manual
/// pages as well, and those are compared whole (`generated`).
const COMMANDS: [&str; 25] = [
    "wait",
    "cancel",
    "retry",
    "list",
    "show",
    "logs",
    "explain",
    "status",
    "lock",
    "acquire",
    "renew",
    "release",
    "check",
    "list-locks",
    "check-project",
    "name",
    "dispatch",
    "daemon",
    "cleanup-stale",
    "config",
    "doctor",
    "demo",
    "shim",
    "agent",
    "completions",
];

/// Replaces what differs between two runs: paths, moments, lengths of time, and the widths of columns.
fn normal(place: &Place, text: &str) -> String {
    let text = text.replace(place.state().to_str().unwrap(), "STATE_DIR");
    let of_line = |line: &str| line.split_whitespace().map(of_word).collect::<Vec<_>>().join(" ");
    text.lines().map(|line| of_line(line) + "\n").collect()
}

/// A word, or TIME or AGE in its place; punctuation around it stays.
fn of_word(word: &str) -> String {
    let inner = word.trim_matches(|c: char| "(),;:".contains(c));
    let unit = inner.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_age = !unit.is_empty()
        && inner.len() > unit.len()
        && inner.chars().all(|c| c.is_ascii_digit() || "dhms".contains(c))
        && inner.starts_with(|c: char| c.is_ascii_digit());
    let is_time = inner.len() >= 20 && inner.starts_with("20") && inner.ends_with('Z') && inner.contains('T');
    match (is_age, is_time) {
        (true, _) => word.replace(inner, "AGE"),
        (_, true) => word.replace(inner, "TIME"),
        (false, false) => word.to_owned(),
    }
}

#[test]
fn help_of_luzia() {
    let place = Place::new();
    assert_snapshot!(place.ok(&["--help"]).out);
    assert_snapshot!(place.ok(&["help", "all"]).out);
}

#[test]
fn help_of_each_command() {
    let place = Place::new();
    for command in COMMANDS {
        assert_snapshot!(format!("help_{command}"), place.ok(&[command, "--help"]).out);
    }
    let listed = place.ok(&["help", "all"]).out;
    assert!(COMMANDS.iter().all(|command| listed.contains(&format!("\n  {command} "))), "{listed}");
}

#[test]
fn the_long_helps_are_set_out_by_subject_and_fit_a_terminal() {
    const FIRST: [&str; 4] = ["Arguments:", "Options:", "Steps:", "Preemption:"];
    let place = Place::new();
    for (command, last) in [
        ("enqueue", &["Examples:", "Steps:", "An unfinished task has the key:", "Lines of --from:", "Exit codes:"][..]),
        ("run", &["Examples:", "Variables of the command:", "Exit codes:"][..]),
    ] {
        let help = place.ok(&[command, "--help"]).out;
        let headings: Vec<&str> =
            help.lines().filter(|line| line.ends_with(':') && line.starts_with(char::is_uppercase)).collect();
        assert_eq!(headings, [&FIRST[..], last].concat(), "{command}");
        assert!(help.contains(&format!("\nUsage: luzia {command} [OPTIONS] [--] <CMD>...\n")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command}");
    }
}

#[test]
fn tables_of_an_empty_and_a_filled_queue() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    assert_snapshot!("list_empty", normal(&place, &place.ok(&["list"]).out));
    assert_snapshot!("status_empty", normal(&place, &place.ok(&["status"]).out));
    place.enqueue(&["-u", "alice", "--label", "tests", "--", "make", "test"]);
    place.enqueue(&["-u", "alice", "--priority", "7", "--", "echo", "a b"]);
    place.enqueue(&["-u", "bob", "-l", "cron", "--after", "task_1", "--", "true"]);
    assert_snapshot!("list_filled", normal(&place, &place.ok(&["list"]).out));
    assert_snapshot!("list_wide", normal(&place, &place.ok(&["list", "-o", "wide"]).out));
    assert_snapshot!("status_filled", normal(&place, &place.ok(&["status"]).out));
    for target in ["task_1", "task_2", "task_3", "alice", "carol"] {
        assert_snapshot!(format!("explain_{target}"), normal(&place, &place.ok(&["explain", target]).out));
    }
}

#[test]
fn moments_and_lengths_of_time_are_replaced_and_nothing_else() {
    for (word, expected) in [
        ("12ms", "AGE"),
        ("(1h30m)", "(AGE)"),
        ("2026-01-31T08:00:00.000Z,", "TIME,"),
        ("task_1", "task_1"),
        ("5", "5"),
        ("ms", "ms"),
    ] {
        assert_eq!(of_word(word), expected);
    }
}

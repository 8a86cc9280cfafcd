//! `docs/known-attacks.md` answers every attack by name, and the tests that it names exist.

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/known-attacks.md");

fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim_start);
            while let Some(line) = lines.next() {
                // `#[test]`, possibly with further attributes or comments, then the function.
                let Some(line) = (line == "#[test]").then(|| lines.find(|line| line.starts_with("fn "))).flatten()
                else {
                    continue;
                };
                let name = line.split("fn ").nth(1).unwrap().split('(').next().unwrap();
                found.insert(name.to_owned());
            }
        }
    }
}

/// The names of tests on the page: words in back quotes with at least three underscores and no dot or slash.
fn named() -> BTreeSet<String> {
    let words = PAGE.split('`').skip(1).step_by(2);
    let is_test = |word: &&str| {
        let plain = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        plain && word.matches('_').count() >= 3
    };
    words.filter(is_test).map(str::to_owned).collect()
}

#[test]
fn every_test_that_known_attacks_names_exists_and_every_test_here_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut all, mut here) = (BTreeSet::new(), BTreeSet::new());
    functions(&root.join("tests"), &mut all);
    functions(&root.join("src"), &mut all);
    functions(&root.join("tests/it/threats"), &mut here);
    let named = named();
    assert!(named.len() > 30, "{named:?}");
    let missing: Vec<_> = named.difference(&all).collect();
    assert!(missing.is_empty(), "docs/known-attacks.md names tests that do not exist: {missing:#?}");
    for about_the_page in [
        "every_test_that_known_attacks_names_exists_and_every_test_here_is_named",
        "every_attack_on_the_page_has_a_test_or_says_that_it_is_a_limit",
    ] {
        here.remove(about_the_page);
    }
    let unnamed: Vec<_> = here.difference(&named).collect();
    assert!(unnamed.is_empty(), "docs/known-attacks.md does not name {unnamed:#?}");
}

#[test]
fn every_attack_on_the_page_has_a_test_or_says_that_it_is_a_limit() {
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack")).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    for row in rows {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        assert!(last.contains('`') || last.contains("limit") || last.contains("absent"), "no test and no limit: {row}");
    }
}

//! What code and documents cite is in the repository: pages, sections, rows, promises, decisions, tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sources and documents of the repository by path.
fn texts() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = ["src", "tests", "fuzz/fuzzed", "fuzz/targets", "docs", "benches"]
        .iter()
        .map(|folder| root().join(folder))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs" || end == "md") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    for name in ["README.md", "CONTRIBUTING.md", "SECURITY.md"] {
        found.insert(name.to_owned(), page(name));
    }
    assert!(found.len() > 300, "{}", found.len());
    found
}

/// The words of a text, each with what follows it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = rest.find(is_inner)?;
        let end = rest[begin..].find(|c| !is_inner(c)).map_or(rest.len(), |length| begin + length);
        let word = rest[begin..end].trim_end_matches(['.', '-', '/']);
        rest = &rest[end..];
        Some((word, rest))
    })
}

fn is_row(word: &str) -> bool {
    let (section, number) = match word.split_once('.') {
        Some((section, number)) => (section.strip_prefix('S'), number.strip_prefix('F').unwrap_or(number)),
        None => (word.strip_prefix('X').filter(|_| word.len() < 4), "0"),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    section.is_some_and(is_number) && is_number(number)
}

#[test]
fn every_row_that_is_cited_is_on_the_page_of_rows() {
    let known: BTreeSet<String> = page("docs/rows.md")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| ")?.split(' ').next()?.to_owned()))
        .collect();
    assert!(known.contains("S3.11") && known.contains("X1") && known.contains("S3.F4"), "{known:?}");
    let mut wrong = Vec::new();
    for (file, text) in texts() {
        let rows = words(&text).map(|(word, _)| word).filter(|word| is_row(word));
        wrong.extend(rows.filter(|row| !known.contains(*row)).map(|row| format!("{file} cites {row}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page is named by its path from the root, or from the folder of the page that names it, or from `docs/`.
#[test]
fn every_page_that_is_named_exists() {
    let mut wrong = Vec::new();
    // That test cites the pages of other projects.
    for (file, text) in texts().into_iter().filter(|(file, _)| file != "tests/it/agents.rs") {
        let named = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.ends_with(".md") && !name.contains(['*', ' ', '<', '{']));
        for name in
            named.filter(|name| !["AGENTS.md", "CLAUDE.md", "GEMINI.md"].contains(&name.rsplit('/').next().unwrap()))
        {
            let own = Path::new(&file).parent().unwrap();
            let places = [PathBuf::from(name), own.join(name), Path::new("docs").join(name)];
            if !name.contains("NNN") && !places.iter().any(|place| root().join(place).exists()) {
                wrong.push(format!("{file} names {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_section_and_promise_of_the_contract_that_is_cited_exists() {
    let contract = page("docs/contract.md");
    let mut wrong = Vec::new();
    for (file, text) in texts() {
        for (at, found) in text.match_indices("contract, section ") {
            let number: String = text[at + found.len()..].chars().take_while(char::is_ascii_digit).collect();
            if !number.is_empty() && !contract.contains(&format!("\n## {number}. ")) {
                wrong.push(format!("{file} cites section {number}"));
            }
        }
        for (at, found) in text.match_indices("contract P") {
            let number: String = text[at + found.len()..].chars().take_while(char::is_ascii_digit).collect();
            if !number.is_empty() && !contract.contains(&format!("\n| P{number} ")) {
                wrong.push(format!("{file} cites P{number}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_decision_has_a_number_of_its_own_and_a_short_page() {
    let mut numbers = BTreeMap::new();
    let contents = page("docs/decisions/README.md");
    for entry in fs::read_dir(root().join("docs/decisions")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "README.md" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let number = name.split('-').next().unwrap().to_owned();
        assert!(number.len() == 3 && text.starts_with(&format!("# {number}")), "{name}");
        assert!(text.lines().count() <= 20, "{name} has {} lines", text.lines().count());
        assert!(["Context", "Choice", "Price"].iter().all(|part| text.contains(part)), "{name}");
        let listed = contents.matches(&format!("\n- [{number}]({name}): ")).count();
        assert_eq!(listed, 1, "{name} stands {listed} times in docs/decisions/README.md, under its room");
        assert_eq!(numbers.insert(number, name.clone()), None, "{name}");
    }
    assert_eq!(contents.matches("\n- [").count(), numbers.len(), "docs/decisions/README.md lists a page that is gone");
    let mut wrong = Vec::new();
    for (file, text) in texts() {
        for (_, rest) in words(&text).filter(|(word, _)| *word == "decision") {
            let number: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
            if number.len() == 3 && !numbers.contains_key(&number) {
                wrong.push(format!("{file} cites decision {number}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_view_from_above_is_short() {
    for (name, most) in [("src/ARCHITECTURE.md", 120), ("README.md", 150)] {
        assert!(page(name).lines().count() <= most, "{name}");
    }
}

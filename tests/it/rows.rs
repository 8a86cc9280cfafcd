//! `docs/rows.md` has every row, with its status and a test that shows it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The sections of the page: the start of each row, and how many rows it has, without and with an F.
const SECTIONS: [(&str, usize, usize); 6] =
    [("S0.", 38, 0), ("S1.", 52, 0), ("S2.", 34, 5), ("S3.", 48, 5), ("S4.", 20, 0), ("X", 32, 0)];

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rows.md")).expect("the page")
}

/// The names of the rows in the order of the page.
fn wanted() -> Vec<String> {
    let rows = |(section, plain, future): (&'static str, usize, usize)| {
        let names = (1..=plain).map(move |n| format!("{section}{n}"));
        names.chain((1..=future).map(move |n| format!("{section}F{n}")))
    };
    SECTIONS.into_iter().flat_map(rows).collect()
}

/// The tests of the sources below a folder that run without `--ignored`, by the paths that `cargo test` prints.
fn tests_below(folder: &Path, room: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_str().expect("text");
        let inner = if ["main", "lib", "mod"].contains(&name) { room.to_owned() } else { format!("{room}{name}::") };
        if path.is_dir() {
            tests_below(&path, &inner, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.extend(tests_of(&fs::read_to_string(&path).expect("a source"), &inner));
        }
    }
}

/// The tests of one source, below the path of its module.
fn tests_of(text: &str, module: &str) -> Vec<String> {
    // The modules around a line: the line that closes each, and its path.
    let mut around: Vec<(String, String)> = Vec::new();
    let (mut is_test, mut found) = (false, Vec::new());
    for line in text.lines() {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        let path = around.last().map_or(module, |(_, path)| path).to_owned();
        if around.last().is_some_and(|(end, _)| line == end) {
            around.pop();
        } else if let Some(name) = words.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            around.push((format!("{indent}}}"), format!("{path}{name}::")));
        } else if words == "#[test]" {
            is_test = true;
        } else if let Some(name) = words.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
            found.extend(is_test.then(|| format!("{path}{name}")));
            is_test = false;
        }
    }
    found
}

/// Every test that the page may name: those of `tests/it`, and those of the library behind `lib: `.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut library) = (BTreeSet::new(), BTreeSet::new());
    tests_below(&root.join("tests/it"), "", &mut found);
    tests_below(&root.join("src"), "lib: ", &mut library);
    tests_below(&root.join("fuzz"), "lib: ", &mut library);
    assert!(found.len() > 1000 && library.len() > 300, "{} and {}", found.len(), library.len());
    found.extend(library);
    found
}

/// What is wrong with the page.
fn faults(page: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let is_row = |line: &&str| line.starts_with("| S") || line.starts_with("| X");
    // A bar within a cell is written `\|`.
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(is_row)
        .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim_matches([' ', '|'])).collect())
        .collect();
    let mut wrong = Vec::new();
    let (found, wanted): (Vec<&str>, Vec<String>) = (rows.iter().map(|row| row[0]).collect(), wanted());
    if let Some(at) =
        (0..found.len().max(wanted.len())).find(|at| found.get(*at).copied() != wanted.get(*at).map(String::as_str))
    {
        wrong.push(format!("row {} is {:?} where {:?} belongs", at + 1, found.get(at), wanted.get(at)));
    }
    for row in &rows {
        let [name, _, status, shown] = row[..] else {
            wrong.push(format!("{} has {} cells, and 4 are wanted", row[0], row.len()));
            continue;
        };
        let has_reason =
            |word: &str| status.strip_prefix(word).is_some_and(|rest| rest.len() > 2 && rest.starts_with(": "));
        if status != "works" && !has_reason("half") && !has_reason("wrong") {
            wrong
                .push(format!("{name} has the status {status:?}: works, or half or wrong with a colon and the reason"));
        }
        let named: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            wrong.push(format!("{name} names no test"));
        }
        let missing = named.into_iter().filter(|test| !tests.contains(*test));
        wrong.extend(missing.map(|test| format!("{name} names the test {test}, which does not exist or is ignored")));
    }
    wrong
}

#[test]
fn every_row_has_a_status_and_a_test_that_exists() {
    assert_eq!(wanted().iter().filter(|row| row.starts_with('S')).count(), 202);
    let wrong = faults(&page(), &tests());
    assert!(wrong.is_empty(), "docs/rows.md:\n{}", wrong.join("\n"));
}

#[test]
fn a_row_that_is_lost_or_has_no_status_or_no_test_is_noticed() {
    let (page, tests) = (page(), tests());
    let line = page.lines().find(|line| line.starts_with("| S3.11 ")).expect("a row");
    let test = line.split('`').nth(1).expect("a test");
    for (changed, told) in [
        (String::new(), "S3.11"),
        (line.replace("| works |", "| |"), "S3.11 has"),
        (line.replace("| works |", "| good |"), "S3.11 has the status \"good\""),
        (line.replace("| works |", "| half |"), "S3.11 has the status \"half\""),
        (line.replace(test, "rows::no_such_test"), "S3.11 names the test rows::no_such_test, which does not exist"),
        (line.replace('`', ""), "S3.11 names no test"),
        (format!("{line}\n{line}"), "S3.11"),
    ] {
        assert_ne!(changed, line, "{told}");
        let wrong = faults(&page.replace(line, &changed), &tests);
        assert!(wrong.iter().any(|fault| fault.contains(told)), "{told}: {wrong:?}");
    }
    let text = "#[test]\nfn a() {}\nmod tests {\n    fn b() {\n    }\n    #[test]\n    fn c() {}\n}\n#[test]\nfn d() {}\nfn e() {}";
    assert_eq!(tests_of(text, "x::"), ["x::a", "x::tests::c", "x::d"]);
}

//! Plain technical English: words and openings that CONTRIBUTING.md bans, in sources, names of tests, and documents.

use std::fs;
use std::path::PathBuf;

/// Words that are never used, in lower case, and what to write instead.
const BANNED: [(&str, &str); 4] = [
    (concat!("who", "ever"), "name the actor: the process, the caller, the next pass"),
    (concat!("is no", "ne"), "say what is absent, or what something is instead"),
    (concat!("for wa", "nt of"), "because there is no"),
    (concat!("is ha", "d"), "use a verb that says what happens"),
];

/// The opening that a reader cannot understand without the neighbour above.
const OPENING: &str = concat!("The sa", "me");

/// Words that open no comment of the program, nor a line of its help: "the holder" says at once what "who holds" says at its end.
const QUESTIONS: [&str; 5] = ["What", "Who", "Whom", "Whose", "How"];

/// The folders and files that are looked through, and those in them that quote what is banned.
const PLACES: [&str; 13] = [
    "src",
    "crates",
    "tests",
    "docs",
    "man",
    "packaging",
    "examples",
    "fuzz/fuzzed",
    "fuzz/targets",
    "benches",
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
];
const QUOTES: [&str; 1] = ["docs/rows.md"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn texts() -> Vec<(String, String)> {
    let (mut found, mut paths) = (Vec::new(), PLACES.map(|place| root().join(place)).to_vec());
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if !QUOTES.contains(&name.as_str()) && !name.ends_with(".proptest-regressions") {
                found.push((name, text));
            }
        }
    }
    found
}

/// What is wrong with a line.
fn fault(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    for (words, instead) in BANNED {
        let whole = lower.match_indices(words).any(|(at, found)| {
            !is_letter(lower[..at].chars().next_back()) && !is_letter(lower[at + found.len()..].chars().next())
        });
        // A name of a test or of a type may have it as a part, with other signs around it.
        if whole || (words == BANNED[0].0 && lower.replace('_', " ").contains(words)) {
            return Some(format!("\"{words}\": {instead}"));
        }
    }
    let text = line.trim_start().trim_start_matches(['/', '!', '-', '|', '*', '"', ' ']);
    let opens = text.strip_prefix(OPENING).is_some_and(|rest| !is_letter(rest.chars().next()));
    opens.then(|| format!("\"{OPENING}\" at the beginning: name the thing"))
}

/// The fault of a comment of the program that opens as a question does.
fn question(file: &str, line: &str) -> Option<String> {
    let is_program = ["src/", "crates/", "fuzz/"].iter().any(|folder| file.starts_with(folder));
    let comment = line.trim_start().strip_prefix("//").filter(|_| is_program && file.ends_with(".rs"))?;
    let first = comment.trim_start_matches(['/', '!', ' ']).split(|c: char| !c.is_alphabetic()).next()?;
    QUESTIONS.contains(&first).then(|| format!("a comment begins with \"{first}\": begin with the thing or a verb"))
}

#[test]
fn banned_words_are_not_used() {
    let mut wrong = Vec::new();
    for (file, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            let why = fault(line).or_else(|| question(&file, line));
            wrong.extend(why.map(|why| format!("{file}:{}: {why}\n    {}", number + 1, line.trim())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rule_notices_what_it_bans_and_nothing_else() {
    let with = |begin: &str, word: &str, end: &str| format!("{begin}{word}{end}");
    assert!(
        question("src/a.rs", "    /// Who holds it.").is_some()
            && question("src/a.rs", "    /// The holder.").is_none()
    );
    assert!(question("tests/it/a.rs", "// How it ends").is_none() && question("src/a.rs", "// Whole files").is_none());
    for line in [
        with("// W", &BANNED[0].0[1..], " waits"),
        with("fn ", BANNED[0].0, "_waits() {"),
        with("/// `None` where there ", BANNED[1].0, "."),
        with("left out ", BANNED[2].0, " room"),
        with("/// ", OPENING, " of many folders."),
        with("- ", OPENING, " holds for it"),
    ] {
        assert!(fault(&line).is_some(), "{line}");
    }
    for line in ["// One of the same kind is nonetheless allowed.", "this handle", "at the same time", "// Theirs"] {
        assert_eq!(fault(line), None, "{line}");
    }
}

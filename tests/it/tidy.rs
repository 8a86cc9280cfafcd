//! The house rules, checked: who may name whom, how long a file and a function may be, what a dependency's owner is.

use std::fs;
use std::path::{Path, PathBuf};

/// A room, and the rooms it may name (`src/ARCHITECTURE.md`).
const MAY_NAME: [(&str, &[&str]); 10] = [
    ("model", &[]),
    ("request", &["model"]),
    ("policy", &["model"]),
    ("os", &["model"]),
    ("store", &["model", "os"]),
    ("supervise", &["model", "policy", "os", "store"]),
    ("app", &["model", "request", "policy", "os", "store", "supervise"]),
    ("fleet", &["model", "request", "policy", "os", "store", "app"]),
    ("cli", &["model", "request", "app"]),
    // In `fuzz/`: no room may name it.
    ("fuzzed", &[]),
];

/// What unit tests borrow from a room that their file may not name: files, and the room. Never add one.
const TESTS_MAY_NAME: [(&str, &str); 8] = [
    ("src/policy/admission.rs", "store"),
    ("src/policy/hold/mod.rs", "store"),
    ("src/policy/loans/mod.rs", "store"),
    ("src/policy/outcome.rs", "store"),
    ("src/policy/requests/mod.rs", "store"),
    ("src/policy/steps/course.rs", "store"),
    ("src/cli/output/brief.rs", "store"),
    ("src/cli/output/messages.rs", "store"),
];

/// The ordered folders of `app`, the lowest first. A folder imports those before it, and files that stand in no folder.
const APP_ORDER: [&str; 11] =
    ["capacity", "admission", "estimate", "lifecycle", "waits", "fleet", "pass", "query", "locks", "steps", "queue"];

/// The files that connect the commands to the real operating system and the store.
const WIRES: [&str; 15] = [
    "src/cli/account_files.rs",
    "src/cli/agent/setup.rs",
    "src/cli/context.rs",
    "src/cli/configuration.rs",
    "src/cli/entry.rs",
    "src/cli/fleet.rs",
    "src/cli/fleet/own.rs",
    "src/cli/fleet/trial.rs",
    "src/cli/agent/hook.rs",
    "src/cli/input.rs",
    "src/cli/mcp_server.rs",
    "src/cli/result_file.rs",
    "src/cli/shim.rs",
    "src/cli/signals.rs",
    "src/cli/top/mod.rs",
];

/// A crate, and the only files that may name it.
const OWNERS: [(&str, &[&str]); 8] = [
    ("fs2", &["src/os/real/files/handle.rs"]),
    ("chrono", &["src/model/time.rs", "src/os/real/clock.rs"]),
    ("croner", &["src/model/calendar/pattern.rs"]),
    ("directories", &["src/store/state_dir.rs"]),
    ("jiff", &["src/model/calendar/zone.rs"]),
    ("postgres", &["src/fleet/"]),
    ("regex_lite", &["src/app/waits/output.rs"]),
    ("tempfile", &["src/os/real/files/temporary.rs"]),
];

const LONGEST_FILE: usize = 500;
const LONGEST_FUNCTION: usize = 70;
/// The most lines of all the sources of one folder, those of its subfolders not counted.
const LARGEST_FOLDER: usize = 2500;

/// The folders from which the path of a test is counted.
const WITH_TESTS: [&str; 4] = ["tests/it", "tests/os", "src", "fuzz"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(root()).expect("below the root").to_str().expect("a name").to_owned();
            found.push((name, fs::read_to_string(&path).expect("a source")));
        }
    }
    found.sort();
    found
}

/// The part of a source before its unit tests, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let body = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    body.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The code of a source without comments: that of the program, and that of its unit tests.
fn parts(text: &str) -> (String, String) {
    let at = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let bare = |part: &str| {
        part.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
    };
    (bare(&text[..at]), bare(&text[at..]))
}

fn room_of(file: &str) -> Option<&str> {
    file.strip_prefix("src/")?.split(['/', '.']).next()
}

/// The first words after each `crate::`, also of the members of `crate::{a::X, b::Y}`.
fn named_rooms(code: &str) -> Vec<&str> {
    code.match_indices("crate::").flat_map(|(at, start)| firsts(&code[at + start.len()..])).collect()
}

/// The first word of a path, or that of each member of a group in braces.
fn firsts(path: &str) -> Vec<&str> {
    let word = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let Some(group) = path.strip_prefix('{') else { return vec![&path[..word(path)]] };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                let member = group[start..at].trim();
                found.extend(Some(&member[..word(member)]).filter(|first| !first.is_empty()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

#[test]
fn no_folder_of_app_imports_one_above_it() {
    let rank = |folder: &str| APP_ORDER.iter().position(|one| *one == folder);
    let mut upward = Vec::new();
    for (file, text) in sources(&root().join("src/app")) {
        let Some(own) = file.strip_prefix("src/app/").and_then(|path| path.split(['/', '.']).next()).and_then(rank)
        else {
            continue;
        };
        let body = parts(&text).0;
        for named in body.match_indices("crate::app::").flat_map(|(at, start)| firsts(&body[at + start.len()..])) {
            if rank(named).is_some_and(|above| above > own) {
                upward.push((file.clone(), named.to_owned()));
            }
        }
    }
    assert!(upward.is_empty(), "imports from a lower folder of src/app to a higher one: {upward:?}");
}

#[test]
fn no_room_names_one_above_or_beside_it() {
    let mut wrong = Vec::new();
    for (file, text) in sources(&root().join("src")) {
        let Some((room, allowed)) = MAY_NAME.into_iter().find(|(room, _)| room_of(&file) == Some(*room)) else {
            continue;
        };
        let (body, tests) = parts(&text);
        for (part, is_test) in [(body, false), (tests, true)] {
            for named in named_rooms(&part) {
                let is_room = MAY_NAME.iter().any(|(room, _)| *room == named);
                let wires = WIRES.contains(&file.as_str()) && (named == "os" || named == "store" || named == "fleet");
                let is_borrowed = is_test && TESTS_MAY_NAME.contains(&(file.as_str(), named));
                if is_room && named != room && !allowed.contains(&named) && !wires && !is_borrowed {
                    wrong.push(format!("{file} names {named}{}", if is_test { " in its tests" } else { "" }));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that must not be:\n{}", wrong.join("\n"));
}

#[test]
fn only_the_real_operating_system_touches_the_outside_world() {
    let outside = [
        "std::fs::read",
        "std::fs::write",
        "std::process::Command",
        "std::env::",
        "std::thread",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources(&root().join("src")) {
        if file.starts_with("src/os/real/") || file == "src/main.rs" {
            continue;
        }
        for line in code(&text) {
            wrong.extend(outside.iter().filter(|word| line.contains(*word)).map(|word| format!("{file}: {word}")));
        }
    }
    assert!(wrong.is_empty(), "calls that belong to os/real:\n{}", wrong.join("\n"));
}

/// The standard library has code of its own for each order and each type that it sorts (decision 454).
#[test]
fn lists_are_sorted_by_an_order_in_one_file() {
    let sorts =
        ["by(", "by_key(", "by_cached_key("].map(|how| [format!(".sort_{how}"), format!(".sort_unstable_{how}")]);
    let mut wrong = Vec::new();
    for (file, text) in sources(&root().join("src")) {
        let is_of_tests = file.ends_with("/tests.rs") || file.contains("/tests/");
        if is_of_tests || file == "src/model/sorted.rs" {
            continue;
        }
        for line in code(&text) {
            wrong.extend(
                sorts.iter().flatten().filter(|word| line.contains(*word)).map(|word| format!("{file}: {word}")),
            );
        }
    }
    assert!(wrong.is_empty(), "call model::sorted instead:\n{}", wrong.join("\n"));
}

#[test]
fn a_risky_dependency_has_one_owner() {
    let mut wrong = Vec::new();
    for (file, text) in sources(&root().join("src")) {
        for (name, owners) in OWNERS {
            let path = format!("{name}::");
            let is_owner = owners.iter().any(|owner| file.starts_with(owner));
            let uses = code(&text).any(|line| {
                line.match_indices(&path)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
            });
            if uses && !is_owner {
                wrong.push(format!("{file} names {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Records are the types of the model by serde; which text they are is for others to say.
#[test]
fn only_one_file_of_the_model_names_serde_json() {
    let names = |(_, text): &(String, String)| code(text).any(|line| line.contains("serde_json"));
    let files: Vec<String> =
        sources(&root().join("src/model")).into_iter().filter(names).map(|(file, _)| file).collect();
    assert_eq!(files, ["src/model/record/mod.rs"]);
}

/// An emptied environment has no `HOME`, and luzia then looks for the account's own.
#[test]
fn every_process_of_a_test_has_a_home() {
    const GIVE: [&str; 3] = ["at_home(", "home_variables(", "get_envs()"];
    let cleared = format!(".env_{}()", "clear");
    for (file, text) in sources(&root().join("tests")) {
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.contains(&cleared)) {
            let near = &lines[at.saturating_sub(1)..(at + 8).min(lines.len())];
            let has_home = near.iter().any(|line| GIVE.iter().any(|give| line.contains(give)));
            assert!(has_home, "{file}:{}: give the process a home", at + 1);
        }
    }
}

#[test]
fn files_and_functions_stay_short() {
    let mut wrong = Vec::new();
    for folder in ["src", "tests", "fuzz/fuzzed"] {
        for (file, text) in sources(&root().join(folder)) {
            let lines = text.lines().count();
            if lines > LONGEST_FILE {
                wrong.push(format!("{file} has {lines} lines"));
            }
            wrong.extend(
                long_functions(&text).into_iter().map(|(name, lines)| format!("{file}: {name} has {lines} lines")),
            );
        }
    }
    assert!(wrong.is_empty(), "longer than {LONGEST_FILE} or {LONGEST_FUNCTION} lines:\n{}", wrong.join("\n"));
}

#[test]
fn folders_stay_small() {
    let mut sizes = std::collections::BTreeMap::<String, usize>::new();
    for (file, text) in sources(&root().join("src")) {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        *sizes.entry(folder).or_default() += text.lines().count();
    }
    for (folder, lines) in &sizes {
        assert!(*lines <= LARGEST_FOLDER, "{folder} has {lines} lines, more than {LARGEST_FOLDER}: split it");
    }
}

/// Functions longer than the limit: from the line with `fn` to the brace that closes it at the same indentation.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let is_function =
            ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "].iter().any(|start| trimmed.starts_with(start));
        // A function of a trait may have no body.
        let head = lines[at..].iter().find(|line| line.ends_with(['{', '}', ';']));
        if !is_function || head.is_none_or(|line| line.ends_with(';')) {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - trimmed.len()]);
        let Some(length) = lines[at..].iter().position(|line| *line == end) else { continue };
        if length + 1 > LONGEST_FUNCTION {
            long.push((trimmed.chars().take(60).collect(), length + 1));
        }
    }
    long
}

#[test]
fn every_module_says_what_it_is_for() {
    let bare: Vec<String> = ["src", "fuzz/fuzzed"]
        .into_iter()
        .flat_map(|folder| sources(&root().join(folder)))
        .filter(|(_, text)| !text.starts_with("//!") && !text.starts_with("#!["))
        .map(|(file, _)| file)
        .collect();
    assert!(bare.is_empty(), "no head: {}", bare.join(", "));
}

/// Whether `name` is a room of tests that has some, or one test in such a room: `kill`, `sim::locks`, `policy::ending::x`.
fn is_test(name: &str) -> bool {
    let has_tests = |path: &str| {
        let start = format!("{path}/");
        WITH_TESTS.iter().any(|folder| {
            sources(&root().join(folder)).iter().any(|(file, text)| {
                let module = file.trim_start_matches(folder).trim_start_matches('/').trim_end_matches(".rs");
                let module = module.trim_end_matches("/mod");
                (module == path || module.starts_with(&start)) && text.contains("#[test]")
            })
        })
    };
    let has_test = |path: &str, test: &str| {
        let mut files = WITH_TESTS.iter().flat_map(|folder| ["", "/mod"].map(|end| format!("{folder}/{path}{end}.rs")));
        files.any(|file| {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            text.contains(&format!("#[test]\nfn {test}() {{")) || text.contains(&format!("#[test]\n    fn {test}() {{"))
        })
    };
    let path = name.replace("::", "/");
    has_tests(&path) || name.rsplit_once("::").is_some_and(|(room, test)| has_test(&room.replace("::", "/"), test))
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/guarantees.md")).expect("the page on guarantees");
    let table = page.split("## Promises").nth(1).expect("the table of promises");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| P"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let promises: Vec<&str> = rows.iter().filter_map(|row| row[0].split(' ').next()).collect();
    assert_eq!(promises, ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13"]);
    for row in &rows {
        let named: Vec<&str> = row[2].split('`').skip(1).step_by(2).collect();
        let missing: Vec<&&str> = named.iter().filter(|name| !is_test(name)).collect();
        assert!(!named.is_empty() && missing.is_empty(), "{}: no such test: {missing:?}", row[0]);
    }
}

#[test]
fn the_rules_notice_what_breaks_them() {
    for (name, exists) in [
        ("tidy", true),
        ("tidy::the_rules_notice_what_breaks_them", true),
        ("tidy::is_test", false),
        ("policy::outcome", true),
        ("sim::locks", true),
        ("trees", true),
        ("sim::pool", false),
        ("nothing", false),
    ] {
        assert_eq!(is_test(name), exists, "{name}");
    }
    assert_eq!(named_rooms("use crate::store::X; crate::app::y()"), ["store", "app"]);
    let group = "use crate::{\n    app::{A, b::C},\n    store,\n    os::real::D,\n};\nuse crate::model::E;";
    assert_eq!(named_rooms(group), ["app", "store", "os", "model"]);
    assert_eq!(parts("a\n// b\n#[cfg(test)]\nmod tests {\n    c\n}\n").1, "#[cfg(test)]\nmod tests {\n    c\n}\n");
    let long = format!("fn f() {{\n{}}}\n", "    x();\n".repeat(70));
    assert_eq!(long_functions(&long).len(), 1);
    assert!(long_functions("fn f() {\n    x();\n}\n").is_empty());
    let declared = format!("trait T {{\n{}    fn g() {{\n    }}\n}}\n", "    fn f(\n    ) -> u8;\n".repeat(40));
    assert!(long_functions(&declared).is_empty());
}

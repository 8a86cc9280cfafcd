//! What documents tell people to type: every command of luzia in them is one, the examples run, and the oldest compiler that
//! `Cargo.toml` names is enough for every dependency.

use crate::support::Place;
use luzia::cli::args;
use luzia::cli::args::ParseStop;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = ["docs", "packaging", "examples", "man"].map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.insert(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned(), text);
            }
        }
    }
    for name in ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
        found.insert(name.to_owned(), fs::read_to_string(root().join(name)).unwrap());
    }
    found
}

/// The words of a shell line, as far as the first sign that ends a command.
fn words(line: &str) -> Vec<String> {
    let (mut found, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '|' | '<' | '>' | ';' | '&' | ')' | '#') if word.is_none() || c != '#' => break,
            (None, c) if c.is_whitespace() => found.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    found
}

/// The commands of luzia in a line of a shell: the words behind each `luzia` that begins one.
fn commands(line: &str) -> Vec<Vec<String>> {
    let line = line.split(" # ").next().unwrap_or(line);
    let begins = line.match_indices("luzia ").filter(|(at, _)| {
        let before = line[..*at].trim_end();
        let opens = ["", "$", "\"$", "(", "|", "&&", ";", "!", "sudo", "do", "then", "-- "];
        (*at == 0 || line[..*at].ends_with([' ', '(', '`']))
            && opens.iter().any(|open| before.ends_with(open))
            && (before.is_empty() || before.ends_with(['$', '(', '|', '&', ';', '!', '`']) || before.ends_with("sudo"))
    });
    begins.map(|(at, _)| words(&line[at..])).filter(|words| words.len() > 1).collect()
}

/// Whether the command line is one. Capitals such as TASK stand for a value of the reader's.
fn refusal(words: &[String]) -> Option<String> {
    let value = |word: &String| match word.as_str() {
        "TASK" => "task_1".to_owned(),
        "…" | "..." => "x".to_owned(),
        "$$" => "1".to_owned(),
        _ => word.clone(),
    };
    match args::parse(words.iter().map(|word| OsString::from(value(word))).collect()) {
        Err(ParseStop::Usage(usage)) => Some(usage.message),
        Ok(_) | Err(_) => None,
    }
}

#[test]
fn every_command_of_the_documents_is_one() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (file, text) in documents() {
        // The lines of a terminal or a script; help of commands, which manual pages show, has them without a prompt.
        let is_script = file.ends_with(".sh") || file.ends_with("crontab") || file.starts_with("packaging/cron.d");
        let is_page = file.ends_with(".1") || file.ends_with(".7");
        let (mut is_console, mut is_example) = (false, false);
        for line in text.lines() {
            if line.starts_with("```") {
                is_console = !is_console && ["```console", "```sh", "```bash"].contains(&line.trim());
                continue;
            }
            if line.starts_with(".SH") {
                is_example = line == ".SH EXAMPLES";
            } else if line == ".EX" || line == ".EE" {
                is_example = line == ".EX";
            }
            let plain = line.replace("\\-", "-").replace("\\e", "\\");
            let of_page = is_page && is_example && plain.starts_with("luzia ");
            if is_console || of_page || (is_script && !line.trim_start().starts_with('#')) {
                for command in commands(plain.trim_start_matches("$ ")) {
                    count += 1;
                    wrong.extend(refusal(&command).map(|why| format!("{file}: {command:?}: {why}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 150, "{count} commands were found");
}

#[test]
fn the_reader_of_commands_finds_what_a_shell_would_start() {
    for (line, wanted) in [
        ("luzia list -a | head", vec![vec!["luzia", "list", "-a"]]),
        (
            "$ id=$(luzia enqueue -u ci -- make) && luzia wait \"$id\"   # until it is over",
            vec![vec!["luzia", "enqueue", "-u", "ci", "--", "make"], vec!["luzia", "wait", "$id"]],
        ),
        ("luzia run --shell 'a && b' > file", vec![vec!["luzia", "run", "--shell", "a && b"]]),
        ("the state directory of luzia is here", vec![]),
    ] {
        assert_eq!(commands(line), wanted, "{line}");
    }
    assert_eq!(
        refusal(&["luzia".into(), "list".into(), "--nosuch".into()]).as_deref(),
        Some("there is no option \"--nosuch\"")
    );
    assert_eq!(refusal(&["luzia".into(), "show".into(), "TASK".into()]), None);
}

#[test]
fn the_example_for_ci_runs_one_build_a_commit_and_gives_its_code() {
    let place = Place::new();
    let script = root().join("examples/ci.sh");
    let step = |commit: &str, command: &str| {
        let line = format!("PATH=${{LUZIA%/*}}:$PATH; export PATH; sh {} sh -c '{command}'", script.display());
        place.spawn(place.shell(&line).env("CI_COMMIT", commit)).end()
    };
    let ran = step("abc", "echo built; exit 3").coded(3);
    assert!(ran.out.contains("built"), "{} {}", ran.out, ran.err);
    assert_eq!(place.show("task_1")["key"], "build-abc");
    let ran = step("abd", "echo fine").coded(0);
    assert!(ran.out.contains("fine"), "{}", ran.out);
}

#[test]
fn the_example_for_cron_has_lines_that_run_without_a_word() {
    let place = Place::new();
    let text = fs::read_to_string(root().join("examples/crontab")).unwrap();
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("luzia ")).filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() >= 2, "{text}");
    for line in lines {
        let command = line.splitn(6, ' ').nth(5).unwrap();
        let shell = format!("PATH=${{LUZIA%/*}}:$PATH; export PATH; {command}");
        let ran = place.spawn(&mut place.shell(&shell)).end().coded(0);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{line}");
    }
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_luzia_names() {
    let number = |text: &str| text.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<u32>>();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    command.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let oldest = number(env!("CARGO_PKG_RUST_VERSION"));
    for package in packages {
        if let Some(needed) = package["rust_version"].as_str() {
            let name = format!("{} {}", package["name"], package["version"]);
            assert!(number(needed)[..2] <= oldest[..2], "{name} needs Rust {needed}");
        }
    }
}

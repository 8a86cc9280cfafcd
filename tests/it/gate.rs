//! What `.ci/run` and `tests/soak` rely on.

use crate::support::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

fn sources(folder: &Path) -> String {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(path).unwrap_or_default() })
        .collect()
}

#[test]
fn tests_that_run_alone_have_the_last_names() {
    let main = text("tests/it/main.rs");
    let modules = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(['{', ';']));
    let last = modules.map(str::trim).max().unwrap();
    assert_eq!(last, "z_alone");
}

#[test]
fn each_unsteady_test_exists() {
    let all = ["tests", "src", "fuzz/fuzzed"].map(|folder| sources(&Path::new(ROOT).join(folder))).concat();
    for line in text("tests/unsteady.txt").lines() {
        let test = line.split(' ').next().unwrap().rsplit("::").next().unwrap();
        assert!(all.contains(&format!("fn {test}(")), "there is no test {line}; take the line away");
    }
}

#[test]
fn what_the_models_are_about_exists() {
    let inputs = text("tests/models/inputs");
    assert!(inputs.lines().count() > 3);
    for path in inputs.lines() {
        assert!(Path::new(ROOT).join(path).exists(), "tests/models/inputs names {path}, which is not there");
    }
}

/// The gate chooses what to run by what a change touches: a commit that is not known must not read as "nothing changed".
#[test]
fn planted_faults_since_a_commit_that_is_not_known_are_refused() {
    let name = "planted_faults_since_a_commit_that_is_not_known_are_refused";
    if Command::new("git").arg("--version").output().is_err() {
        return skip(name, "git(1)");
    }
    let run = Path::new(ROOT).join("tests/mutants/run");
    let refused = Command::new("bash").arg(run).args(["--since", "nowhere"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no commit nowhere"), "{refused:?}");
}

#[test]
fn no_test_is_ignored() {
    let all = ["tests/it", "src", "fuzz/fuzzed"].map(|folder| sources(&Path::new(ROOT).join(folder))).concat();
    let attribute = concat!("#[", "ignore");
    let ignored = all.lines().find(|line| line.trim_start().starts_with(attribute));
    assert_eq!(ignored, None, "what takes long belongs to tests/soak");
}

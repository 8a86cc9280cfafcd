//! The planted faults (`tests/mutants/*.patch`): each still applies to the sources and names a test. That the test notices
//! the fault is shown by `tests/mutants/run`, which builds luzia once for each.

use crate::support::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn patches() -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join("tests/mutants")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "patch")).collect()
}

/// The values of a line of the head, which ends where the changes begin.
fn header<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = text.lines().take_while(|line| !line.starts_with("---"));
    head.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).collect()
}

#[test]
fn each_planted_fault_applies_to_the_sources() {
    let name = "each_planted_fault_applies_to_the_sources";
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip(name, "git(1)");
    }
    assert!(patches().len() >= 6);
    for patch in patches() {
        let output =
            Command::new("git").current_dir(ROOT).args(["apply", "--check", "-v"]).arg(&patch).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // git passes over a file that it does not find in the repository around, and says so.
        let applies = output.status.success() && said.contains("Checking patch src/") && !said.contains("Skipped");
        assert!(applies, "{} does not apply; make it anew:\n{said}", patch.display());
    }
}

#[test]
fn each_planted_fault_names_the_test_that_notices_it_and_what_that_says() {
    for patch in patches() {
        let text = fs::read_to_string(&patch).unwrap();
        let (tests, says) = (header(&text, "Test"), header(&text, "Says"));
        assert!(tests.len() == 1 && !says.is_empty(), "{}", patch.display());
        let (module, test) = tests[0].rsplit_once("::").unwrap();
        let file = format!("{ROOT}/tests/it/{}.rs", module.replace("::", "/"));
        let source = fs::read_to_string(&file).unwrap_or_default();
        assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{} names no test of {file}", patch.display());
    }
}

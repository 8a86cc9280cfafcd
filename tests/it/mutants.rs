//! The planted faults (`tests/mutants/*.patch`): all together apply to the sources, and each names a test. That the test notices
//! the fault is shown by `tests/mutants/run`, which builds luzia with all of them once.

use crate::support::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn patches() -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join("tests/mutants")).unwrap().map(|entry| entry.unwrap().path());
    let mut patches: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "patch")).collect();
    patches.sort();
    patches
}

/// The values of a line of the head, which ends where the changes begin.
fn header<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = text.lines().take_while(|line| !line.starts_with("--- ") && !line.starts_with("diff "));
    head.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).collect()
}

#[test]
fn all_planted_faults_together_apply_to_the_sources() {
    let name = "all_planted_faults_together_apply_to_the_sources";
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip(name, "git(1)");
    }
    let copy = tempfile::tempdir().unwrap();
    assert!(patches().len() >= 6);
    for patch in patches() {
        let text = fs::read_to_string(&patch).unwrap();
        for file in text.lines().filter_map(|line| line.strip_prefix("+++ b/")) {
            let to = copy.path().join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            if !to.exists() {
                fs::copy(Path::new(ROOT).join(file), to).unwrap();
            }
        }
        let mut apply = Command::new("git");
        apply.current_dir(copy.path()).env("GIT_CEILING_DIRECTORIES", copy.path().parent().unwrap());
        let output = apply.arg("apply").arg(&patch).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} does not apply; make it anew:\n{said}", patch.display());
    }
}

#[test]
fn each_planted_fault_is_chosen_by_the_name_of_its_patch() {
    for patch in patches() {
        let text = fs::read_to_string(&patch).unwrap();
        let added: String = text.lines().filter(|line| line.starts_with('+')).collect();
        let names: Vec<&str> =
            added.split("crate::fault(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let own = patch.file_stem().unwrap().to_str().unwrap();
        assert!(!names.is_empty() && names.iter().all(|name| *name == own), "{}: {names:?}", patch.display());
    }
}

#[test]
fn each_planted_fault_names_the_test_that_notices_it_and_what_that_says() {
    for patch in patches() {
        let text = fs::read_to_string(&patch).unwrap();
        let (tests, says) = (header(&text, "Test"), header(&text, "Says"));
        assert!(tests.len() == 1 && !says.is_empty(), "{}", patch.display());
        let (module, test) = tests[0].rsplit_once("::").unwrap();
        let module = module.strip_prefix("z_alone::").unwrap_or(module);
        let file = format!("{ROOT}/tests/it/{}.rs", module.replace("::", "/"));
        let source = fs::read_to_string(&file).unwrap_or_default();
        assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{} names no test of {file}", patch.display());
    }
}

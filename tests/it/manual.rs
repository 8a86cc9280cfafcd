//! The manual pages as man(1), apropos(1) and mandoc(1) read them.

use crate::support::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}

#[test]
fn mandoc_finds_nothing_to_warn_of() {
    if !is_there("mandoc") {
        return skip("mandoc_finds_nothing_to_warn_of", "mandoc(1)");
    }
    let output = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).args(pages()).output().unwrap();
    let found = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && found.is_empty(), "{found}");
}

#[test]
fn every_page_has_the_sections_that_readers_look_for() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for section in ["NAME", "DESCRIPTION", "FILES", "ENVIRONMENT", "SEE ALSO"] {
            let heads = [format!("\n.SH {section}\n"), format!("\n.SH \"{section}\"\n")];
            assert!(heads.iter().any(|head| text.contains(head)), "{page:?} has no {section}");
        }
        let version = concat!("\"luzia ", env!("CARGO_PKG_VERSION"), "\"");
        assert!(text.lines().any(|line| line.starts_with(".TH ") && line.contains(version)), "{page:?}: the version");
    }
}

/// Each reference to a page of luzia's leads to one.
#[test]
fn references_between_pages_lead_somewhere() {
    let names: Vec<String> =
        pages().iter().map(|page| page.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap().replace("\\-", "-").replace("\\fR(", " (");
        for (at, _) in text.match_indices("luzia") {
            let end = text[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(0);
            let (name, rest) = text[at..].split_at(end);
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            let Some(section) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else { continue };
            if section.0.len() == 1 && section.0.chars().all(|c| c.is_ascii_digit()) {
                let wanted = format!("{name}.{}", section.0);
                assert!(names.contains(&wanted), "{page:?} refers to {name}({})", section.0);
            }
        }
    }
}

#[test]
fn apropos_finds_luzia_by_the_words_of_other_tools() {
    let name = "apropos_finds_luzia_by_the_words_of_other_tools";
    // makewhatis(8) and mapropos(1) come with mandoc.
    if !is_there("mapropos") || !Path::new("/usr/sbin/makewhatis").exists() {
        return skip(name, "mandoc(1)");
    }
    let dir = tempfile::tempdir().unwrap();
    for page in pages() {
        let section = page.extension().unwrap().to_str().unwrap();
        let folder = dir.path().join(format!("man{section}"));
        fs::create_dir_all(&folder).unwrap();
        fs::copy(&page, folder.join(page.file_name().unwrap())).unwrap();
    }
    let made = Command::new("/usr/sbin/makewhatis").arg(dir.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (word, page) in [
        ("flock", "luzia-lock"),
        ("mutex", "luzia-lock"),
        ("semaphore", "luzia-acquire"),
        ("queue", "luzia-enqueue"),
        ("job", "luzia-run"),
        ("lease", "luzia-acquire"),
        ("batch", "luzia-enqueue"),
        ("timer", "luzia-cron"),
        ("configuration", "luzia-config"),
        ("upgrade", "luzia-deploy"),
    ] {
        let output = Command::new("mapropos").args(["-M"]).arg(dir.path()).arg(word).output().unwrap();
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(found.contains(page), "apropos {word}: {found}");
    }
}

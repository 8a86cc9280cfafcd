//! Completions and manual pages are what the code says they are.
//!
//! `UPDATE_GENERATED=1 cargo test generated` rewrites the committed files.

use clap::Command;
use clap_complete::Generator;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use luzia::cli::commands::operate::completions;
use luzia::cli::{args, exit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directories whose files are generated, and the endings of those that are.
const PLACES: [(&str, &[&str]); 2] = [("completions", &[""]), ("man", &[".1"])];

#[test]
fn generated_files_are_up_to_date() {
    let wanted = generated();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        update(&wanted);
    }
    let mut wrong: Vec<String> = stray(&wanted);
    for (path, text) in &wanted {
        if std::fs::read_to_string(root().join(path)).ok().as_ref() != Some(text) {
            wrong.push(path.clone());
        }
    }
    assert!(wrong.is_empty(), "run `UPDATE_GENERATED=1 cargo test generated` and commit: {wrong:?}");
}

#[test]
fn generated_pages_hide_what_luzia_starts_itself() {
    for (path, text) in generated() {
        assert!(!text.contains("supervise TASK") && !text.contains("exec-task"), "{path}");
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{path}");
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every generated file by its path from the root.
fn generated() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for shell in completions::SHELLS {
        let path = format!("completions/{}", shell.file_name("luzia"));
        files.insert(path, completions::script(shell));
    }
    let mut cmd = args::command().disable_help_subcommand(true);
    cmd.build();
    pages(&cmd, &mut files);
    files.insert("man/luzia-exit-codes.7".into(), exit::manual_page());
    files.insert("man/luzia-agents.7".into(), luzia::cli::agent::manual_page());
    files
}

fn pages(cmd: &Command, files: &mut BTreeMap<String, String>) {
    let name = cmd.get_display_name().unwrap_or(cmd.get_name());
    files.insert(format!("man/{name}.1"), page(cmd));
    for verb in cmd.get_subcommands() {
        pages(verb, files);
    }
}

fn page(cmd: &Command) -> String {
    let man = Man::new(cmd.clone()).date("").source(concat!("luzia ", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out).unwrap();
    man.render_name_section(&mut out).unwrap();
    out.extend(synopsis(cmd));
    man.render_description_section(&mut out).unwrap();
    man.render_options_section(&mut out).unwrap();
    if cmd.has_subcommands() {
        man.render_subcommands_section(&mut out).unwrap();
    }
    out.extend(after(cmd));
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn synopsis(cmd: &Command) -> Vec<u8> {
    let usage = cmd.clone().render_usage().to_string();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for line in usage.lines() {
        roff.text([roman(line.trim_start_matches("Usage:").trim())]);
        roff.control("br", []);
    }
    bytes(&roff)
}

/// Examples, exit codes and whatever else stands at the end of the help, environment and references.
fn after(cmd: &Command) -> Vec<u8> {
    let help = cmd.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for section in help.split("\n\n") {
        let (title, lines) = section.split_once(":\n").unwrap();
        let heading = if title == "Exit codes" { "EXIT STATUS".to_owned() } else { title.to_uppercase() };
        block(&mut roff, &heading, lines);
    }
    if cmd.get_name() == "luzia" {
        environment(&mut roff);
    }
    roff.control("SH", ["SEE ALSO"]);
    let own = if cmd.get_name() == "luzia" { "" } else { "luzia(1), " };
    roff.text([roman(format!("{own}luzia-exit-codes(7), luzia-spool(5)"))]);
    bytes(&roff)
}

fn block(roff: &mut Roff, heading: &str, lines: &str) {
    roff.control("SH", [heading]);
    roff.control("nf", []);
    for line in lines.trim_end().lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

fn environment(roff: &mut Roff) {
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in [
        ("LUZIA_STATE_DIR", "The state directory, as an absolute path, unless --state-dir is given."),
        (
            "STATE_DIRECTORY",
            "The state directory when LUZIA_STATE_DIR is not set, as systemd names it; its first entry counts.",
        ),
        ("LUZIA_CONFIG", "The configuration file, unless --config is given."),
        ("NO_COLOR", "When not empty: no colour, unless --color is given."),
        ("CLICOLOR_FORCE", "When neither empty nor 0: colour in a pipe too."),
    ] {
        roff.control("TP", []);
        roff.text([clap_mangen::roff::bold(name)]);
        roff.text([roman(meaning)]);
    }
}

fn bytes(roff: &Roff) -> Vec<u8> {
    let mut out = Vec::new();
    roff.to_writer(&mut out).unwrap();
    out
}

fn update(wanted: &BTreeMap<String, String>) {
    for path in stray(wanted) {
        std::fs::remove_file(root().join(path)).unwrap();
    }
    for (path, text) in wanted {
        let path = root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Files that look generated, but are not any more.
fn stray(wanted: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, endings) in PLACES {
        for name in names(&root().join(place)) {
            let path = format!("{place}/{name}");
            let is_ours = endings.iter().any(|ending| name.ends_with(ending));
            if is_ours && !wanted.contains_key(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn names(place: &Path) -> Vec<String> {
    std::fs::read_dir(place)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

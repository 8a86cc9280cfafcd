//! The page of a command, from the definition that its help is made of.

use super::roff::{references, text, tidied};
use super::{title, words};
use crate::cli::args;
use clap::Command;
use clap_mangen::Man;
use std::collections::BTreeMap;

/// The pages of luzia and of every command, by file name.
pub(super) fn all() -> BTreeMap<String, String> {
    let mut root = args::command().disable_help_subcommand(true);
    root.build();
    let mut pages = BTreeMap::new();
    add(&root, &mut pages);
    pages
}

fn add(command: &Command, pages: &mut BTreeMap<String, String>) {
    if command.is_hide_set() {
        return;
    }
    pages.insert(format!("{}.1", name(command)), page(command));
    for verb in command.get_subcommands() {
        add(verb, pages);
    }
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn page(command: &Command) -> String {
    let (name, man) = (name(command), Man::new(command.clone()));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let also = words::also(name).map(|words| format!(" ({words})")).unwrap_or_default();
    let mut page = title(name, 1);
    page += &format!(".SH NAME\n{} \\- {}\n", text(name), text(&format!("{about}{also}")));
    page += &synopsis(command);
    page += &written(|out| man.render_description_section(out));
    page += &written(|out| man.render_options_section(out));
    if command.has_subcommands() {
        page += &written(|out| man.render_subcommands_section(out));
    }
    page += &after(command);
    page += &listed("FILES", words::FILES.into_iter());
    page += &listed("ENVIRONMENT", words::environment(name));
    page += ".SH SEE ALSO\n";
    page += &references(&words::related(name));
    tidied(&page)
}

/// The text of a section by clap_mangen. Writing to memory cannot fail.
fn written(section: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    let _ = section(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let lines: Vec<String> = usage.lines().map(|line| text(line.trim_start_matches("Usage:").trim())).collect();
    format!(".SH SYNOPSIS\n{}\n", lines.join("\n.br\n"))
}

/// Examples, exit codes and all other text at the end of the help.
fn after(command: &Command) -> String {
    let help = args::after_help(command);
    let section = |section: &str| {
        let (title, lines) = section.split_once(":\n")?;
        let title = if title == "Exit codes" { "EXIT STATUS".to_owned() } else { title.to_uppercase() };
        let lines: String =
            lines.lines().map(|line| format!("{}\n", text(line.strip_prefix("  ").unwrap_or(line)))).collect();
        Some(format!(".SH {title}\n.nf\n{lines}.fi\n"))
    };
    help.split("\n\n").filter_map(section).collect()
}

fn listed<'a>(heading: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let entry = |(name, meaning): (&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", text(name), text(meaning));
    format!(".SH {heading}\n{}", entries.map(entry).collect::<String>())
}

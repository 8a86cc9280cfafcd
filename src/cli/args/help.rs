//! The help texts: the commands in groups, and the global options in `luzia --help` only.

use super::{Globals, command, usage};
use clap::builder::StyledStr;
use clap::{Args, Command};

/// The groups of `luzia --help`.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("Queue", &["enqueue", "run", "attach", "wait", "cancel", "pause", "resume", "edit", "move", "retry", "cron"]),
    ("Inside a task", &["step", "set", "get", "beat", "await", "emit", "finish"]),
    (
        "Look",
        &[
            "list", "show", "tree", "logs", "explain", "status", "events", "stats", "simulate", "timeline", "top",
            "metrics",
        ],
    ),
    (
        "Locks",
        &["lock", "guard", "acquire", "renew", "release", "check", "list-locks", "lanes", "check-project", "name"],
    ),
    (
        "Operate",
        &[
            "dispatch",
            "daemon",
            "cleanup-stale",
            "config",
            "hook",
            "doctor",
            "demo",
            "shim",
            "agent",
            "mcp",
            "schema",
            "completions",
            "install-docs",
        ],
    ),
];

/// The help that the command line asks for. `rendered` is the help as clap has written it.
pub(super) fn help(args: &[String], rendered: &str) -> StyledStr {
    let (words, mut own) = usage::meant(args);
    if words == "luzia" {
        return of_root(rendered);
    }
    // clap has decided between the short and the long form.
    let is_short = own.render_help().to_string() == rendered;
    for global in Globals::augment_args(Command::new("luzia")).get_arguments() {
        own = own.mut_arg(global.get_id(), |argument| argument.hide(true));
    }
    let after = own.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut own = own.after_help(format!("{after}\n\nGlobal options: luzia --help"));
    if is_short { own.render_help() } else { own.render_long_help() }
}

fn of_root(rendered: &str) -> StyledStr {
    let mut plain = command();
    let is_short = plain.render_help().to_string() == rendered;
    let mut grouped = command().help_template(template(&plain));
    if is_short { grouped.render_help() } else { grouped.render_long_help() }
}

fn template(root: &Command) -> String {
    let width = root.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or(0);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        text += &format!("\n{group}:\n");
        for one in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<&str> = one.get_visible_aliases().collect();
            let also = if aliases.is_empty() { String::new() } else { format!(" (also: {})", aliases.join(", ")) };
            text += &format!("  {:width$}  {about}{also}\n", one.get_name());
        }
    }
    text + "\nGlobal options:\n{options}{after-help}\n"
}

//! The help texts: the first page, all verbs in groups, and the options of one.

use super::{Globals, after_help, command, usage};
use crate::cli::verbs::Group;
use clap::builder::StyledStr;
use clap::{Arg, Args, Command};

/// The verbs for a first hour with luzia.
const FIRST: [&str; 6] = ["run", "lock", "list", "explain", "logs", "cancel"];

const FIRST_EXAMPLES: &str = "\
Examples:
  luzia run -l build -- make test    one build at a time; the others wait
  luzia explain last                 why the newest task waits
  luzia lock -l @tree -- git pull    no other agent is in this work tree";

/// The options of `luzia run -h` and `luzia enqueue -h`.
const EVERYDAY: [&str; 12] =
    ["user", "lane", "repo", "priority", "in", "at", "after", "timeout", "retries", "key", "shell", "yield-after"];

/// The help that the command line asks for. `rendered` is the help as clap has written it.
pub(super) fn help(args: &[String], rendered: &str) -> StyledStr {
    let (words, mut own) = usage::meant(args);
    if words == "luzia" {
        return first_page();
    }
    // clap has decided between the short and the long form.
    let is_short = own.render_help().to_string() == rendered;
    for global in Globals::augment_args(Command::new("luzia")).get_arguments() {
        own = own.mut_arg(global.get_id(), |argument| argument.hide(true));
    }
    let mut after = after_help(&own);
    if is_short && matches!(own.get_name(), "run" | "enqueue") {
        let is_rare = |argument: &Arg| {
            let long = argument.get_long().filter(|long| !EVERYDAY.contains(long));
            long.is_some_and(|long| long != "help") && !argument.is_hide_set()
        };
        let rare: Vec<_> = own.get_arguments().filter(|argument| is_rare(argument)).map(Arg::get_id).cloned().collect();
        after = format!("{} more options, and examples: {words} --help", rare.len());
        for id in rare {
            own = own.mut_arg(id, |argument| argument.hide(true));
        }
    }
    let mut own = own.after_help(format!("{after}\n\nGlobal options: luzia help all"));
    if is_short { own.render_help() } else { own.render_long_help() }
}

/// The line of a verb: its name and what it does.
fn line(root: &Command, name: &str, width: usize) -> String {
    let Some(one) = root.find_subcommand(name) else { return String::new() };
    let about = one.get_about().map(ToString::to_string).unwrap_or_default();
    let aliases: Vec<&str> = one.get_visible_aliases().collect();
    let also = if aliases.is_empty() { String::new() } else { format!(" (also: {})", aliases.join(", ")) };
    format!("  {:width$}  {about}{also}\n", one.get_name())
}

/// Text of `luzia --help`.
fn first_page() -> StyledStr {
    let root = command();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\nStart here:\n");
    for name in FIRST {
        text += &line(&root, name, 7);
    }
    text += &format!("\n{FIRST_EXAMPLES}\n\nAll verbs:\n");
    for (group, heading) in Group::ALL {
        text += &wrapped(&format!("  {heading:13}  "), group.words());
    }
    text += "\n`luzia help all` has a line for each, and the global options; `luzia VERB --help` explains one.\n";
    command().help_template(text).render_help()
}

/// Names in lines of at most 100 characters, the first after a heading.
fn wrapped(heading: &str, names: impl Iterator<Item = &'static str>) -> String {
    let (mut text, mut width) = (heading.to_owned(), heading.len());
    for name in names {
        if width + name.len() >= 100 {
            text += &format!("\n{:indent$}", "", indent = heading.len());
            width = heading.len();
        }
        text += &format!("{name} ");
        width += name.len() + 1;
    }
    format!("{}\n", text.trim_end())
}

/// Text of `luzia help all`: each verb in its group, and the global options.
pub(super) fn all() -> StyledStr {
    let root = command();
    let width = root.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or(0);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, heading) in Group::ALL {
        text += &format!("\n{heading}:\n");
        group.words().for_each(|name| text += &line(&root, name, width));
    }
    command().help_template(text + "\nGlobal options:\n{options}{after-help}\n").render_long_help()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, usage};
    use crate::cli::verbs::VERBS;

    #[test]
    fn the_first_page_has_six_verbs_and_the_names_of_all() {
        let page = answer(&["--help"]);
        assert!(page.lines().count() <= 40 && page.lines().all(|line| line.chars().count() <= 100), "{page}");
        let start = page.split("Start here:\n").nth(1).expect("it is there");
        let first: Vec<&str> =
            start.lines().take(6).map(|line| line.split_whitespace().next().expect("it is there")).collect();
        assert_eq!(first, ["run", "lock", "list", "explain", "logs", "cancel"]);
        let words: Vec<&str> = page.split("All verbs:").nth(1).expect("it is there").split_whitespace().collect();
        assert!(VERBS.iter().all(|verb| words.contains(&verb.word)), "{page}");
    }

    #[test]
    fn the_short_help_of_a_new_task_is_one_screen() {
        for verb in ["run", "enqueue"] {
            let short = answer(&[verb, "-h"]);
            assert!(short.lines().count() <= 40, "{} lines: {short}", short.lines().count());
            assert!(short.contains("--lane") && short.contains("--retries") && !short.contains("--preempt"), "{short}");
            assert!(short.contains(&format!(" more options, and examples: luzia {verb} --help")), "{short}");
            let long = answer(&[verb, "--help"]);
            let own = long
                .split("\nOptions:\n")
                .nth(1)
                .expect("it is there")
                .split("\nSteps:\n")
                .next()
                .expect("it is there");
            assert!(
                own.contains("      --from ") && !own.contains("      --preempt "),
                "each option is below its own heading: {own}"
            );
        }
    }

    #[test]
    fn the_next_command_is_the_corrected_one_unless_it_harms_what_lives() {
        for (line, next) in [
            (&["runn", "-l", "a b", "--", "true"][..], "luzia run -l 'a b' -- true"),
            (&["output", "task_26"], "luzia logs task_26"),
            (&["tail", "26"], "luzia logs -f 26"),
            (&["rerun", "task_26"], "luzia retry task_26"),
            (&["info", "3"], "luzia show 3"),
            (&["ps"], "luzia list"),
            (&["-o", "json", "ps", "-a"], "luzia list -a"),
            (&["describe"], "luzia --help"),
            (&["submit"], "luzia --help"),
            (&["stop", "5"], "luzia pause --help"),
            (&["kill", "task_26"], "luzia show task_26"),
            (&["kill", "-9", "--", "x"], "luzia cancel --help"),
            (&["freeze", "alice"], "luzia pause --help"),
            (&["zzzzqqq", "1"], "luzia --help"),
            (&["shim", "remove", "make"], "luzia shim --help"),
        ] {
            assert_eq!(usage(line).next, [next], "{line:?}");
        }
    }
}

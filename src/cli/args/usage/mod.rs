//! The answers of clap instead of a command: help, the version, or a usage error.
//!
//! Most errors keep the sentence of clap. This module adds the JSON form, guesses for mistyped words, and the command for
//! help. It never prints and never ends the process.

mod line;
mod meant;
pub(super) mod synonyms;

pub(super) use line::meant;

use super::{Cli, OutputFormat, command, help};
use crate::app::shell_word;
use crate::cli::verbs::{Does, Verb};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, ValueEnum};
use line::{has_trailing_command, known_verb, verb_of, wants_json};
use std::ffi::OsString;
use synonyms::{closest, cut_or_mistyped, of_another_tool, of_several};

/// The reason why there is no command to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseStop {
    /// Help or the version is requested: print it on stdout and exit with 0.
    Answer {
        /// Without colour.
        plain: String,
        /// With the escape sequences of a terminal.
        styled: String,
    },
    /// The command line cannot be parsed: report that on stderr and exit with 2.
    Usage(Usage),
}

impl ParseStop {
    pub(super) fn answer(text: &str) -> Self {
        Self::Answer { plain: text.to_owned(), styled: text.to_owned() }
    }
}

/// A refused command line. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The mistake: lower case, no full stop.
    pub message: String,
    /// The hint.
    pub hint: Option<String>,
    /// Command lines that help.
    pub next: Vec<String>,
    /// Whether the caller wants the error as JSON.
    pub json: bool,
}

/// The arguments as text; anything that is not UTF-8 is refused before clap sees it.
pub(super) fn utf8(args: Vec<OsString>) -> Result<Vec<String>, ParseStop> {
    let mut texts = Vec::with_capacity(args.len().max(1));
    for (at, arg) in args.iter().enumerate() {
        match arg.to_str() {
            Some(text) => texts.push(text.to_owned()),
            None if at == 0 => texts.push("luzia".to_owned()),
            None => {
                let lossy: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
                return Err(ParseStop::Usage(Usage {
                    message: format!("argument {at} is not UTF-8: {}", quoted(&lossy[at])),
                    hint: Some(
                        "names, texts and commands are UTF-8; a file with such a name can be reached from a script"
                            .into(),
                    ),
                    next: Vec::new(),
                    json: wants_json(&lossy),
                }));
            }
        }
    }
    Ok(texts)
}

/// Checks what clap cannot: options that exclude each other anywhere on the line.
pub(super) fn checked(cli: Cli, args: &[String]) -> Result<Cli, ParseStop> {
    if let Some(usage) = meant::nameless_step(&cli, args) {
        return Err(ParseStop::Usage(usage));
    }
    match cli.globals.output {
        Some(format) if cli.globals.json && !format.is_json() => Err(ParseStop::Usage(Usage {
            message: format!("--json and -o {} exclude each other", format.word()),
            hint: Some("give one of them".into()),
            next: vec![help_of(args)],
            json: true,
        })),
        Some(format) if format.only_verb().is_some_and(|verb| verb != cli.command.name()) => {
            let verb = format.only_verb().unwrap_or_default();
            Err(ParseStop::Usage(Usage {
                message: format!("-o {} works with `luzia {verb}` only", format.word()),
                hint: Some("other verbs take table, wide, json, jsonl or name".into()),
                next: vec![help_of(args)],
                json: false,
            }))
        }
        _ => Ok(cli),
    }
}

/// Turns an answer or an error of clap into ours.
pub(super) fn explain(error: &clap::Error, args: &[String]) -> ParseStop {
    let rendered = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayVersion => return ParseStop::answer(&rendered),
        ErrorKind::DisplayHelp => return helped(args, &rendered),
        ErrorKind::InvalidSubcommand if asks_help_for_help(args) => return helped(args, ""),
        ErrorKind::InvalidSubcommand
            if verb_of(args) == Some("help") && args.last().is_some_and(|word| word == "all") =>
        {
            return answered(&help::all());
        }
        _ => {}
    }
    let (message, hint, corrected) = match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_verb(error, args),
        ErrorKind::MissingRequiredArgument => missing(&context(error, ContextKind::InvalidArg), args),
        ErrorKind::UnknownArgument => unknown_argument(error, args),
        _ => {
            let (message, hint) = words(error, args);
            (message, hint, None)
        }
    };
    let next = vec![corrected.unwrap_or_else(|| help_of(args))];
    ParseStop::Usage(Usage { message, hint, next, json: wants_json(args) })
}

fn helped(args: &[String], rendered: &str) -> ParseStop {
    answered(&help::help(args, rendered))
}

fn answered(text: &StyledStr) -> ParseStop {
    ParseStop::Answer { plain: text.to_string(), styled: text.ansi().to_string() }
}

/// `luzia help --help`: for clap, `--help` would be the name of a command there.
fn asks_help_for_help(args: &[String]) -> bool {
    verb_of(args) == Some("help") && args.iter().any(|word| word == "--help" || word == "-h")
}

fn words(error: &clap::Error, args: &[String]) -> (String, Option<String>) {
    let invalid = context(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => no_verb(args),
        ErrorKind::ArgumentConflict => {
            let is_user = invalid.first().is_some_and(|argument| argument.starts_with("--user"));
            let is_repeated = context(error, ContextKind::PriorArg).first() == invalid.first();
            let hint = match is_user && is_repeated {
                true => "a task belongs to one user; `--lane` names further lanes",
                false => "give one of them",
            };
            (first_paragraph(error), Some(hint.into()))
        }
        _ => {
            let mut valid = context(error, ContextKind::ValidValue);
            if invalid.first().is_some_and(|argument| argument.starts_with("--output")) {
                let own = OutputFormat::value_variants().iter().filter(|one| one.only_verb() == known_verb(args));
                valid.extend(own.filter(|one| one.only_verb().is_some()).map(|one| one.word()));
            }
            let given = context(error, ContextKind::InvalidValue).first().copied().unwrap_or_default();
            let meant = closest(given, valid.iter().copied()).map(|word| format!("did you mean \"{word}\"? "));
            let hint = format!("{}one of: {}", meant.unwrap_or_default(), valid.join(", "));
            (as_typed(first_paragraph(error), args), (!valid.is_empty()).then_some(hint))
        }
    }
}

/// A message with the spelling of an option on the command line: clap names an option by its first name.
fn as_typed(message: String, args: &[String]) -> String {
    let is_typed = |name: &&str| args.iter().any(|word| word.split('=').next() == Some(&format!("--{name}")));
    let (_, definition) = meant(args);
    let mut spellings = definition.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_all_aliases()?)));
    let told = |name: &str| format!("'--{name} <");
    match spellings.find(|(name, _)| message.contains(&told(name)) && !is_typed(name)) {
        Some((name, aliases)) => match aliases.into_iter().find(is_typed) {
            Some(typed) => message.replacen(&told(name), &told(typed), 1),
            None => message,
        },
        None => message,
    }
}

/// The message, the hint and the next command.
type Words = (String, Option<String>, Option<String>);

/// The words for a word that is no verb.
fn unknown_verb(error: &clap::Error, args: &[String]) -> Words {
    let word = context(error, ContextKind::InvalidSubcommand).first().copied().unwrap_or_default();
    let whole = command().disable_help_subcommand(true);
    let Some(mut parent) = known_verb(args).and_then(|verb| whole.find_subcommand(verb).cloned()) else {
        let message = format!("there is no verb {}", quoted(word));
        if let Some((hint, next)) = of_several(word) {
            return (message, hint, next);
        }
        let guess = of_another_tool(word).unwrap_or_else(|| cut_or_mistyped(word, whole.get_subcommands()));
        let next = guess.1.and_then(|line| corrected(&line, word, args));
        return (message, guess.0, next);
    };
    parent.build();
    let verb = parent.get_name();
    let message = format!("luzia {verb} has no verb {}", quoted(word));
    let proposed = meant::hint_for_verb(verb, word)
        .or_else(|| cut_or_mistyped(word, parent.get_subcommands()).0)
        .or_else(|| meant::hint_for_lane(verb, word));
    let next = proposed.as_deref().and_then(meant::command_in);
    (message, proposed, next)
}

/// The command line with the verb that was meant, which `line` has. For a verb that harms running work, the verb that shows
/// the task, or its help.
fn corrected(line: &str, word: &str, args: &[String]) -> Option<String> {
    let at = args.iter().position(|arg| arg == word)?;
    let is_own =
        |part: &&str| part.starts_with(|first: char| first.is_ascii_lowercase() || first == '-') && *part != "--";
    let own: Vec<&str> = line.split(' ').take_while(is_own).collect();
    let rest = &args[at + 1..];
    if Verb::does(own.get(1)?, Does::Harms) {
        let task = rest.iter().find_map(|arg| crate::model::TaskId::parse(arg));
        return Some(task.map_or_else(|| format!("luzia {} --help", own[1]), |task| format!("luzia show {task}")));
    }
    let is_plain = |arg: &String| arg.len() <= 200 && !arg.chars().any(char::is_control);
    let is_whole =
        rest.len() <= 20 && rest.iter().all(is_plain) && (!rest.is_empty() || own.len() == line.split(' ').count());
    is_whole.then(|| {
        let words = own.into_iter().map(str::to_owned).chain(rest.iter().map(crate::app::shell_word));
        words.collect::<Vec<String>>().join(" ")
    })
}

fn unknown_argument(error: &clap::Error, args: &[String]) -> Words {
    let name = context(error, ContextKind::InvalidArg).first().copied().unwrap_or_default();
    let verb = known_verb(args);
    let what = if name.starts_with('-') { "there is no option" } else { "unexpected argument" };
    let message = format!("{what} {}", quoted(name));
    if let Some(hint) = meant::hint(verb, name) {
        let next = meant::command_in(&hint);
        return (message, Some(hint), next);
    }
    let (line, definition) = meant(args);
    if !name.starts_with('-') {
        let hint = match verb {
            Some("list" | "status") => {
                let word = shell_word(name.chars().take(80).collect::<String>());
                format!(
                    "`luzia list -u {word}` lists the tasks of a user, -l LANE those of a lane; `luzia show TASK` shows one"
                )
            }
            Some(verb @ ("show" | "logs")) => format!("`luzia {verb}` takes one task"),
            _ if has_text(&definition, args) => "put a text of several words in quotes".to_owned(),
            _ => taken_by(&line, &definition),
        };
        return (message, Some(hint), None);
    }
    let options = definition.get_arguments().filter(|argument| !argument.is_hide_set()).filter_map(clap::Arg::get_long);
    let hint = match closest(name.trim_start_matches('-'), options) {
        _ if verb == Some("pause") && name == "--yield" => {
            Some("a paused task keeps its slots; leave --yield out to stop it".to_owned())
        }
        Some(option) if name.starts_with("--") => Some(format!("did you mean --{option}?")),
        _ if has_trailing_command(&definition) => {
            Some("put `--` before a command whose name begins with a hyphen".to_owned())
        }
        _ => None,
    };
    (message, hint, None)
}

/// Whether an option that takes a text was given.
fn has_text(definition: &Command, args: &[String]) -> bool {
    let takes_text =
        |arg: &&clap::Arg| arg.get_value_names().is_some_and(|names| names.iter().any(|name| *name == "TEXT"));
    let mut texts = definition.get_arguments().filter(takes_text).filter_map(clap::Arg::get_long);
    texts.any(|long| args.iter().any(|word| word.strip_prefix("--") == Some(long)))
}

/// The hint for a `luzia cron add` that lacks an argument.
const CRON_LINE: &str = "the cron line comes after the name: luzia cron add NAME '0 3 * * *' -- CMD";

/// Arguments that a command takes beside its options.
fn taken_by(line: &str, definition: &Command) -> String {
    let names: Vec<String> = definition.get_positionals().map(ToString::to_string).collect();
    match names.as_slice() {
        [] => format!("`{line}` takes options only"),
        names => format!("`{line}` takes {}", names.join(" ")),
    }
}

fn missing(names: &[&str], args: &[String]) -> Words {
    let line = meant(args).0;
    if names.iter().any(|name| name.contains("CMD")) {
        let is_given = args.iter().position(|word| word == "--").is_some_and(|at| at + 1 < args.len());
        let (fault, hint) = match line == "luzia cron add" {
            true if is_given => ("no cron line given", CRON_LINE),
            true => ("no command given", CRON_LINE),
            false => ("no command given", "the command comes last: luzia VERB [OPTIONS] -- CMD ARG…"),
        };
        return (fault.into(), Some(hint.into()), None);
    }
    let hint = names.iter().any(|name| name.starts_with("<TASK>")).then(|| match line.as_str() {
        "luzia cancel" | "luzia edit" | "luzia move" => "`luzia list` shows the tasks that are not over".to_owned(),
        _ => "`luzia list -a` shows every task".to_owned(),
    });
    // clap writes a choice of options as `<--task <ID>|--session [<KEY>]>`. A value that may be missing is not named.
    let plain = |option: &'_ str| option.split(" [").next().unwrap_or(option).to_owned();
    let named = |name: &&str| match name.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        Some(choice) if choice.starts_with("--") => choice.split('|').map(plain).collect::<Vec<_>>().join(" or "),
        _ => (*name).to_owned(),
    };
    let next = hint.as_deref().and_then(meant::command_in);
    (format!("missing: {}", names.iter().map(named).collect::<Vec<_>>().join(", ")), hint, next)
}

fn no_verb(args: &[String]) -> (String, Option<String>) {
    match known_verb(args) {
        Some(verb) => (format!("luzia {verb} needs a verb after it"), None),
        None => {
            let hint = "begin with run, lock, list, explain, logs or cancel; `luzia demo` shows what luzia does";
            ("no verb given".into(), Some(hint.into()))
        }
    }
}

/// The sentence of clap, on one line and not longer than people read.
fn first_paragraph(error: &clap::Error) -> String {
    const LONGEST: usize = 300;
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.split("\n\n").next().unwrap_or_default().lines().filter(|line| !line.contains("[possible values"));
    let line = lines.map(str::trim).collect::<Vec<&str>>().join(" ");
    let line = if line.is_empty() { "the command line cannot be read".to_owned() } else { line };
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The members of a piece of context, whatever form clap chose for it.
fn context(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one],
        Some(ContextValue::Strings(several)) => several.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("\"{short}\"")
}

fn help_of(args: &[String]) -> String {
    format!("{} --help", meant(args).0)
}
